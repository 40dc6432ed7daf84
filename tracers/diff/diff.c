/*
 * diff: compares the calls of two recordings; diff.h describes how.
 *
 * State: see ../output.h; and
 *
 *     keep      file that gets the side of this recording, for a later `before`
 *     before    such a file, with which this recording is compared
 *     format    text or json
 *     json      a second output, in JSON
 *     flame     file that gets a differential flame graph
 *     top       number of differences, and of functions, that the text shows; 0: all
 *
 * Without `before` nothing is compared, and the output is empty.
 */
#define TRACER_DECLARES                                                                        \
    {"before", TH_SETTING_INPUT, NULL, NULL, "side with which this recording is compared"},    \
        {"keep", TH_SETTING_OUTPUT, NULL, NULL, "file that gets the side of this recording"},  \
        {"format", TH_SETTING_WORD, "text json", "text", "how the differences are written"},   \
        {"json", TH_SETTING_OUTPUT, NULL, NULL, "file that gets the differences as JSON"},     \
        {"flame", TH_SETTING_OUTPUT, NULL, NULL, "file that gets a differential flame graph"}, \
        {"top", TH_SETTING_NUMBER, NULL, "10",                                                 \
         "how many differences, and how many functions, the text shows, 0 for all that are kept"},
#define TRACER_WHOLE
#include "../kit/output.h"
#include "../kit/tracee.h"
#include "gather.h"

/* Returns the data of this state, made at its first event. NULL if there is no memory. */
static struct gathered *gathered_of(ErlNifEnv *env, ERL_NIF_TERM state)
{
    struct output *output = output_of(env, state);

    if (!output)
        return NULL;
    pthread_mutex_lock(&outputs.lock);
    if (!output->kept)
        output->kept = gather_begin();
    pthread_mutex_unlock(&outputs.lock);
    if (!output->kept)
        output_lose();
    return output->kept;
}

static void take(struct event *event, void (*gather)(const struct event *event))
{
    event->tracee = tracee_word(event->env, event->tracee);
    if (!event->gathered || !enif_is_pid(event->env, event->tracee))
        return;
    pthread_mutex_lock(&event->gathered->lock);
    gather(event);
    pthread_mutex_unlock(&event->gathered->lock);
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

TH_TRACER_TRACE(call)
{
    take(&(struct event){env, gathered_of(env, state), tracee, tag, term, opts}, gather_call);
}

TH_TRACER_ENABLED(procs)
{
    return tag == TH_TRACER_ATOM(env, spawn) || tag == TH_TRACER_ATOM(env, spawned) ||
                   tag == TH_TRACER_ATOM(env, register) || tag == TH_TRACER_ATOM(env, exit)
               ? TH_TRACER_ATOM(env, trace)
               : TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(procs)
{
    take(&(struct event){env, gathered_of(env, state), tracee, tag, term, opts}, gather_life);
}

/* --- The end --- */

/* Returns the file of the setting KEY, opened; NULL if there is no such setting, or if the file cannot
 * be opened, which is reported. */
static FILE *open_more(ErlNifEnv *env, const struct output *output, const char *key)
{
    struct output_file *file;
    char path[4096];

    if (!output->state || !output_setting(output->env, output->state, key, path, sizeof path))
        return NULL;
    file = output_file_of(path);
    if (!file) {
        output_report(env, path, errno);
        return NULL;
    }
    output_file_begin(file);
    return file->file;
}

static void report_losses(const struct side *side, const char *word)
{
    for (size_t i = 0; i < LOSSES; i++)
        if (side->lost[i] && i != LOST_MEMORY)
            fprintf(stderr, "diff: %s: %s: %llu\n", word, loss_names[i],
                    (unsigned long long)side->lost[i]);
}

static void report_unknown(const struct comparison *comparison)
{
    if (comparison->flat && comparison->sides[0].side->calls_used &&
        comparison->sides[1].side->calls_used)
        fputs("diff: one of the recordings has no ends of calls: nesting, results and times are "
              "not compared\n",
              stderr);
    if (comparison->undecided)
        fprintf(stderr, "diff: calls whose end is known on one side only: %llu\n",
                (unsigned long long)comparison->undecided);
}

static void write_all(ErlNifEnv *env, struct output *output, const struct comparison *comparison)
{
    unsigned top = output->state ? output_number(output->env, output->state, "top") : 10;
    FILE *json = open_more(env, output, "json"), *flame = open_more(env, output, "flame");

    if (output_choice(output->env, output->state, "format"))
        write_json(output->file, comparison);
    else
        write_text(output->file, comparison, output->colour, top);
    if (json)
        write_json(json, comparison);
    if (flame && !write_flames(env, flame, comparison))
        output_fail(env, "cannot write the flame graph: out of memory");
}

static void compare(ErlNifEnv *env, struct output *output, const struct side *before,
                    const struct side *after)
{
    struct comparison comparison = {.sides = {{.side = before}, {.side = after}}};

    if (woods_build(&comparison) && match_processes(&comparison) && compare_trees(&comparison) &&
        compare_times(&comparison)) {
        write_all(env, output, &comparison);
        report_losses(before, "before");
        report_losses(after, "after");
        report_unknown(&comparison);
    } else {
        output_abandon(env, output);
    }
    woods_free(&comparison.sides[0]);
    woods_free(&comparison.sides[1]);
    free(comparison.functions);
}

static void end_output(ErlNifEnv *env, struct output *output)
{
    static const struct side nothing;
    struct gathered *gathered = output->kept;
    const struct side *after = gathered ? &gathered->side : &nothing;
    char path[4096], text[4096 + 200];
    struct side before;
    const char *reason;
    FILE *keep = open_more(env, output, "keep");

    if (gathered)
        gather_end(gathered);
    output_report_lost(env, "events", after->lost[LOST_MEMORY]);
    if (keep)
        side_write(after, keep); /* kit/output.h reports a failure */
    if (output->state && output_setting(output->env, output->state, "before", path, sizeof path)) {
        reason = side_map(&before, path);
        snprintf(text, sizeof text, "cannot compare with %s: %s", path, reason ? reason : "");
        if (reason)
            output_fail(env, text);
        else
            compare(env, output, &before, after);
        side_free(&before);
    } else if (!keep) {
        fputs("diff: nothing is compared: set keep=FILE for one recording, and before=FILE for the "
              "other\n",
              stderr);
    }
    if (gathered)
        gather_free(gathered);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = output_end(); output; output = output->next)
        end_output(env, output);
    output_close_all(env);
}

/* For an Erlang node; see ../README.md. */
static ErlNifFunc callbacks[] = {{"enabled", 3, enabled, 0},
                                 {"trace", 5, trace, 0},
                                 {"enabled_call", 3, enabled_call, 0},
                                 {"trace_call", 5, trace_call, 0},
                                 {"enabled_procs", 3, enabled_procs, 0},
                                 {"trace_procs", 5, trace_procs, 0}};
ERL_NIF_INIT(tracehost_diff, callbacks, NULL, NULL, NULL, unload)
