/*
 * A tracer that writes a line for each event, with the name `wlme` if that is registered, and dies.
 * Settings: `output`; `at`, the event of its process in which it dies; `every` and `seed`, the times of
 * records at which it dies; `how`, the number of the signal that it raises, or 0 for _exit(); `pause`,
 * the microseconds for which it sleeps in each event; `unload`, 1 for a tracer that dies in unload().
 * $DYING_TAG is a tag of events in which it dies. If $DYING_TURNS names a file, each process takes away
 * the file's first line, a number, in place of `at`: so the tracer does not repeat. $DYING_EARLY likewise, for deaths in enabled(). $DYING_REMOVES is a
 * file that a tracer removes as it dies.
 */
#define TRACER_DECLARES                                                                     \
    {"at", TH_SETTING_NUMBER, NULL, "0", "the event in which the tracer dies; 0: none"},    \
        {"every", TH_SETTING_NUMBER, NULL, "0", "the tracer dies at one of so many times"}, \
        {"seed", TH_SETTING_NUMBER, NULL, "0", "chooses these times"},                      \
        {"how", TH_SETTING_NUMBER, NULL, "0", "the signal; 0: the tracer calls _exit()"},   \
        {"pause", TH_SETTING_NUMBER, NULL, "0", "microseconds in each event"},              \
        {"unload", TH_SETTING_NUMBER, NULL, "0", "the tracer dies in unload()"},
#define TRACER_SETTINGS read_settings

struct settings {
    unsigned at, every, seed, pause;
};

#include "tracers/kit/output.h"

#include <signal.h>

#include "time_of_death.h"

static unsigned long events;
static unsigned how, dies_in_unload;

/* Returns the number in the first line of the file $NAME, which loses the line; AT: there is no such
 * file. */
static unsigned take_turn(const char *name, unsigned at)
{
    const char *path = getenv(name);
    FILE *file = path ? fopen(path, "r+") : NULL;
    char rest[256];
    size_t size;

    if (!file)
        return at;
    if (fscanf(file, "%u\n", &at) != 1)
        at = 0;
    size = fread(rest, 1, sizeof rest, file);
    rewind(file);
    fwrite(rest, 1, size, file);
    fflush(file);
    if (ftruncate(fileno(file), (off_t)size) != 0)
        abort();
    fclose(file);
    return at;
}

static _Noreturn void die(void)
{
    const char *removed = getenv("DYING_REMOVES");

    if (removed)
        unlink(removed);
    if (how)
        raise((int)how);
    _exit(0);
}

static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings)
{
    settings->at = take_turn("DYING_TURNS", output_number(env, state, "at"));
    settings->every = output_number(env, state, "every");
    settings->seed = output_number(env, state, "seed");
    how = output_number(env, state, "how");
    settings->pause = output_number(env, state, "pause");
    dies_in_unload = output_number(env, state, "unload");
}

TH_TRACER_ENABLED(generic)
{
    static unsigned asked, early;

    if (tag != TH_TRACER_ATOM(env, trace_status)) {
        if (!asked++)
            early = take_turn("DYING_EARLY", 0);
        if (asked == early)
            die();
    }
    return output_enabled(env, tag, state, TH_TRACER_ATOM(env, trace));
}

TH_TRACER_TRACE(generic)
{
    struct output *output = output_of(env, state);
    const char *fatal_tag = getenv("DYING_TAG");
    struct line line;
    ErlNifPid named;
    char name[32];

    if (!output)
        return;
    line_start(&line);
    line_add(&line, "event %lu: %#T %#T", ++events, tag, tracee);
    if (enif_whereis_pid(env, TH_TRACER_ATOM(env, wlme), &named))
        line_add(&line, " wlme");
    line_end(&line, output->file);
    if (output->settings.pause) {
        fflush(output->file); /* tells that the pause begins */
        usleep(output->settings.pause);
    }
    enif_snprintf(name, sizeof name, "%T", tag);
    if (events == output->settings.at || (fatal_tag && strcmp(name, fatal_tag) == 0) ||
        is_time_of_death(output->settings.every, output->settings.seed))
        die();
}

TH_TRACER_UNLOAD()
{
    if (dies_in_unload)
        die();
    output_close_all(env);
}

static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};
ERL_NIF_INIT(dying, callbacks, NULL, NULL, NULL, unload)
