/*
 * A tracer that writes a line for each event, and dies. Settings: `output`; `at`, the event of its
 * process in which it dies; `how`, the number of the signal that it raises, or 0 for _exit();
 * `pause`, the microseconds for which it sleeps in each event.
 */
#define TRACER_DECLARES                                                                   \
    {"at", TH_SETTING_NUMBER, NULL, "0", "the event in which the tracer dies; 0: none"},  \
        {"how", TH_SETTING_NUMBER, NULL, "0", "the signal; 0: the tracer calls _exit()"}, \
        {"pause", TH_SETTING_NUMBER, NULL, "0", "microseconds in each event"},
#define TRACER_SETTINGS read_settings

struct settings {
    unsigned at, how, pause;
};

#include "tracers/kit/output.h"

#include <signal.h>

static unsigned long events;

static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings)
{
    settings->at = output_number(env, state, "at");
    settings->how = output_number(env, state, "how");
    settings->pause = output_number(env, state, "pause");
}

TH_TRACER_ENABLED(generic)
{
    return output_enabled(env, tag, state, TH_TRACER_ATOM(env, trace));
}

TH_TRACER_TRACE(generic)
{
    struct output *output = output_of(env, state);
    struct line line;

    if (!output)
        return;
    line_start(&line);
    line_add(&line, "event %lu: %#T %#T", ++events, tag, tracee);
    line_end(&line, output->file);
    if (output->settings.pause)
        usleep(output->settings.pause);
    if (events != output->settings.at)
        return;
    if (output->settings.how)
        raise((int)output->settings.how);
    _exit(0);
}

TH_TRACER_UNLOAD()
{
    output_close_all(env);
}

static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(dying, callbacks, NULL, NULL, NULL, unload)
