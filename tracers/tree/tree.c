/*
 * tree: calls as trees, each with its duration.
 *
 *     duration  process    call
 *    14.000 us  <0.89.0>   ex:mid(err)
 *     9.000 us  <0.89.0>     ex:caught(err)
 *
 * The tree of an outermost call is printed when that call ends; README.md describes the lines. Calls
 * end as in `time`, see ../kit/calls.h, and a call is inside of the nearest call that was certainly
 * open, see held.h. One lock for each state protects all its data.
 */
#define TRACER_DECLARES                                                                        \
    {"args", TH_SETTING_WORD, TERM_ARGS, "bounded",                                            \
     "how much is shown of arguments, results and reasons"},                                   \
        {"results", TH_SETTING_WORD, "no yes", "no", "whether results are shown"},             \
        {"own", TH_SETTING_WORD, "no yes", "no", "whether there is a column of own times"},    \
        {"fold", TH_SETTING_WORD, "no yes", "yes",                                             \
         "whether calls of one function with the same calls inside become one line"},          \
        {"by", TH_SETTING_WORD, "together process", "together",                                \
         "order of trees: by the ends of outermost calls, or the processes apart"},            \
        {"depth", TH_SETTING_NUMBER, NULL, "0", "how many levels of calls are shown; 0: all"}, \
        {"min", TH_SETTING_TIME, NULL, "0", "shorter calls are not shown"},                    \
        {"only", TH_SETTING_TEXT, NULL, NULL,                                                  \
         "m:f or m:f/a: only trees of calls of this function are shown"},                      \
        {"format", TH_SETTING_WORD, "text json", "text",                                       \
         "lines for people, or a JSON object for each of them"},                               \
        {"held", TH_SETTING_NUMBER, NULL, "100000",                                            \
         "how many calls of one process wait for the end of their outermost call"},            \
        {"all", TH_SETTING_NUMBER, NULL, "1000000", "how many calls of all processes wait"},   \
        {"frames", TH_SETTING_NUMBER, NULL, "1000000",                                         \
         "how many open calls of a process are remembered"},
#define TRACER_SETTINGS read_settings
#define TRACER_GATHERS
#include "trees.h"

#include "../kit/output.h"
#include "../kit/tracee.h"

enum { TOGETHER, BY_PROCESS };

static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings)
{
    settings->args = output_choice(env, state, "args");
    settings->results = output_choice(env, state, "results");
    settings->fold = output_choice(env, state, "fold");
    settings->depth = output_number(env, state, "depth");
    settings->min = output_time(env, state, "min");
    if (!state || !output_setting(env, state, "only", settings->only, sizeof settings->only))
        settings->only[0] = 0;
    settings->held = output_number(env, state, "held");
    settings->all = output_number(env, state, "all");
    settings->print.format = output_choice(env, state, "format") ? PRINT_JSON : PRINT_TEXT;
    settings->print.own = output_choice(env, state, "own");
    settings->print.by_process = output_choice(env, state, "by") == BY_PROCESS;
    trees_init(settings, output_number(env, state, "frames"));
}

/* --- Callbacks --- */

/* Begins an event of TRACEE; false if there is no output or no memory. end_event() must follow. */
static bool begin_event(ErlNifEnv *env, ERL_NIF_TERM state, ERL_NIF_TERM tracee,
                        struct event *event)
{
    struct output *output = output_of(env, state);

    if (!output)
        return false;
    *event = (struct event){.env = env, .settings = &output->settings};
    pthread_mutex_lock(&event->settings->lock);
    event->settings->print.file = output->file;
    event->settings->print.colour = output->colour;
    event->process = trees_process(event->settings, tracee_word(env, tracee));
    if (!event->process)
        pthread_mutex_unlock(&event->settings->lock);
    return event->process;
}

static void end_event(const struct event *event)
{
    trees_free_if_idle(event->settings, event->process);
    pthread_mutex_unlock(&event->settings->lock);
}

static struct timing timing_of(struct event *event)
{
    return (struct timing){.env = event->env,
                           .calls = &event->settings->calls,
                           .process = event->process->tracee.term,
                           .ended = trees_call_ended,
                           .of = event};
}

TH_TRACER_ENABLED(generic)
{
    return output_enabled(env, tag, state, TH_TRACER_ATOM(env, discard));
}

TH_TRACER_TRACE(generic)
{
}

TH_TRACER_ENABLED(call)
{
    return TH_TRACER_ATOM(env, trace);
}

/* Handles a return_from or exception_from. */
static void end_call(struct event *event, const struct timing *timing, ERL_NIF_TERM opts,
                     bool thrown)
{
    struct settings *settings = event->settings;

    event->thrown = thrown;
    if ((!thrown && !settings->results) ||
        !enif_get_map_value(event->env, opts, TH_TRACER_ATOM(event->env, extra), &event->outcome))
        event->outcome = 0;
    settings->strays += !timing_end(timing, thrown);
}

TH_TRACER_TRACE(call)
{
    bool called = tag == TH_TRACER_ATOM(env, call);
    bool thrown = tag == TH_TRACER_ATOM(env, exception_from);
    bool returned_to = tag == TH_TRACER_ATOM(env, return_to);
    struct count function = {0};
    struct timing timing;
    struct moment moment;
    struct event event;
    struct mfa to;

    if ((!called && !thrown && !returned_to && tag != TH_TRACER_ATOM(env, return_from)) ||
        !(returned_to ? mfa_read(env, term, &to) : counts_read_function(env, term, &function)) ||
        !begin_event(env, state, tracee, &event))
        return;
    timing = timing_of(&event);
    timing.function = function;
    moment = moment_take(env, opts, ERL_NIF_NSEC);
    timing.now = timing_time(&event.settings->clock, &moment, &event.settings->untimed);
    if (called) {
        timing.caller = mfa_of_caller(env, opts);
        trees_begin_call(&event, &timing, term);
    } else if (returned_to) {
        timing_return_to(&timing, &to);
        trees_returned_to(&event, &to);
    } else {
        end_call(&event, &timing, opts, thrown);
    }
    end_event(&event);
}

TH_TRACER_ENABLED(procs)
{
    return tag == TH_TRACER_ATOM(env, register) || tag == TH_TRACER_ATOM(env, exit)
               ? TH_TRACER_ATOM(env, trace)
               : TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(procs)
{
    struct timing timing;
    struct event event;

    if ((tag != TH_TRACER_ATOM(env, register) && tag != TH_TRACER_ATOM(env, exit)) ||
        !begin_event(env, state, tracee, &event))
        return;
    timing = timing_of(&event);
    if (tag == TH_TRACER_ATOM(env, exit)) {
        timing_exit(&timing);
        print_forget(&event.settings->print, event.process->tracee.term);
        event.process->named = false;
    } else if (enif_is_atom(env, term)) {
        event.process->tracee.name = term;
        event.process->named = true;
    }
    end_event(&event);
}

TH_TRACER_ENABLED(running_procs)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(running_procs)
{
    struct timing timing;
    struct moment moment;
    struct event event;

    if (!begin_event(env, state, tracee, &event))
        return;
    timing = timing_of(&event);
    moment = moment_take(env, opts, ERL_NIF_NSEC);
    timing.now = timing_time(&event.settings->clock, &moment, &event.settings->untimed);
    timing_running(&timing, tag);
    event.settings->print.begun &= event.settings->print.running;
    event.settings->print.running = true;
    end_event(&event);
}

/* --- The end --- */

static void remark(const char *what, uint64_t count)
{
    if (count)
        fprintf(stderr, "tree: %s: %llu\n", what, (unsigned long long)count);
}

static void print_remarks(ErlNifEnv *env, struct settings *settings)
{
    struct repairs repairs = {0};
    struct losses losses = {0};

    calls_losses(&settings->calls, &losses, &repairs);
    if (settings->calls_all && !settings->told)
        timing_tell_no_ends("tree");
    if (settings->only[0] && settings->outside && !settings->shown)
        fprintf(stderr,
                "tree: no call of %s is in the recording; `only` is written as names are shown: "
                "m:f or m:f/1\n",
                settings->only);
    timing_tell_untimed("tree", &settings->untimed);
    remark("calls outside of `only`, not shown", settings->outside);
    remark("calls deeper than `depth`, not shown", settings->deeper);
    remark("calls shorter than `min`, or inside of such calls, not shown", settings->shorter);
    remark("calls printed before they ended, as more were held than `held` or `all`",
           settings->early);
    remark("calls shown beside open calls that may have ended, or contain them", settings->apart);
    remark("open calls forgotten, as there were more than `frames`", losses.forgotten);
    remark(CALLS_UNWATCHED, losses.unwatched);
    remark("ends of unknown calls", settings->strays);
    stack_tell_doubts("tree", &repairs);
    output_report_lost(env, "events", losses.lost);
}

static void finish_output(ErlNifEnv *env, struct output *output)
{
    struct settings *settings = &output->settings;

    trees_print_held(settings);
    print_remarks(env, settings);
    trees_free(settings);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = output_end(); output; output = output->next)
        finish_output(env, output);
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0},
                                 {"trace", 5, trace, 0},
                                 {"enabled_call", 3, enabled_call, 0},
                                 {"trace_call", 5, trace_call, 0},
                                 {"enabled_procs", 3, enabled_procs, 0},
                                 {"trace_procs", 5, trace_procs, 0},
                                 {"enabled_running_procs", 3, enabled_running_procs, 0},
                                 {"trace_running_procs", 5, trace_running_procs, 0}};
ERL_NIF_INIT(tracehost_tree, callbacks, NULL, NULL, NULL, unload)
