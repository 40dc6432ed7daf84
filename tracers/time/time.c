/*
 * time: time that calls took, by function or by process and function; see ../timing.h.
 *
 * A table is printed when the tracer is unloaded; ../README.md describes its contents.
 *
 * State: see ../output.h; and
 *
 *     by        function, or process: figures of each process and function
 *     frames    number of open calls kept for a process; 1000000 without it
 *     format    table, json or csv
 *     top       number of rows shown; 0: all; 20 without it, and all in JSON and CSV
 */
#define TRACER_DECLARES                                                                        \
    {"by", TH_SETTING_WORD, "function process", "function",                                    \
     "what the figures are of: functions, or each process and function"},                      \
        {"format", TH_SETTING_WORD, "table json csv", "table", "how the figures are written"}, \
        {"frames", TH_SETTING_NUMBER, NULL, "1000000",                                         \
         "how many open calls of a process are remembered"},                                   \
        {"top", TH_SETTING_NUMBER, NULL, "20",                                                 \
         "how many rows are shown, 0 for all; all in JSON and CSV without it"},
#define TRACER_SETTINGS read_settings
#define TRACER_WHOLE
#define TRACER_PART struct gathered
#include "../kit/labels.h"
#include "../kit/timing.h"
#include "report.h"

struct settings {
    unsigned by, format, top;
    struct calls calls;
    struct tracees labels; /* of the processes, if the figures are by process */
    struct timing_clock clock;
};

/* Figures gathered by one thread. */
struct gathered {
    struct figures_table figures;
    uint64_t strays;  /* ends of calls whose begin was not seen */
    uint64_t running; /* events of the group running_procs */
    struct untimed untimed;
};

#include "../kit/part.h"
#include "../kit/past.h"
#include "../kit/share.h"
#include "../kit/tracee.h"

unsigned char th_tracer_past = 30;

enum { BY_FUNCTION, BY_PROCESS };

static void read_settings(ErlNifEnv *env, ERL_NIF_TERM state, struct settings *settings)
{
    settings->format = output_choice(env, state, "format");
    settings->by = output_choice(env, state, "by");
    settings->top = 0;
    if (!output_has_number(env, state, "top", &settings->top) && settings->format == TABLE_TEXT)
        settings->top = output_number(env, state, "top");
    calls_init(&settings->calls, output_number(env, state, "frames"));
}

/* Returns the settings and figures with which an event of TRACEE is timed: PART is the thread's. */
static struct timing timing_of(ErlNifEnv *env, struct part *part, ERL_NIF_TERM tracee)
{
    struct settings *settings = &part->output->settings;
    ERL_NIF_TERM process = tracee_word(env, tracee);

    if (settings->by == BY_PROCESS)
        labels_note(&settings->labels, process);
    return (struct timing){.env = env,
                           .calls = &settings->calls,
                           .figures = past_is_played() ? NULL : &part->own.figures,
                           .by_process = settings->by == BY_PROCESS,
                           .process = process};
}

/* --- Callbacks --- */

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
    bool called = tag == TH_TRACER_ATOM(env, call);
    bool thrown = tag == TH_TRACER_ATOM(env, exception_from);
    bool returned_to = tag == TH_TRACER_ATOM(env, return_to);
    struct part *part;
    struct timing timing;
    struct count function = {0};
    struct moment moment;
    struct mfa to;

    if ((!called && !thrown && !returned_to && tag != TH_TRACER_ATOM(env, return_from)) ||
        !(part = part_of(env, state)) ||
        !(returned_to ? mfa_read(env, term, &to) : counts_read_function(env, term, &function)))
        return;
    timing = timing_of(env, part, tracee);
    timing.function = function;
    moment = moment_take(env, opts, ERL_NIF_NSEC);
    timing.now = timing_time(&part->output->settings.clock, &moment, &part->own.untimed);
    if (called)
        timing.caller = mfa_of_caller(env, opts);
    if (called)
        timing_begin(&timing, 0);
    else if (returned_to)
        timing_return_to(&timing, &to);
    else
        part->own.strays += !timing_end(&timing, thrown);
}

/* A process that exits has no open calls any more. */
TH_TRACER_ENABLED(procs)
{
    return tag == TH_TRACER_ATOM(env, exit) ? TH_TRACER_ATOM(env, trace)
                                            : TH_TRACER_ATOM(env, discard);
}

TH_TRACER_TRACE(procs)
{
    struct part *part = part_of(env, state);
    struct timing timing;

    if (!part || tag != TH_TRACER_ATOM(env, exit))
        return;
    timing = timing_of(env, part, tracee);
    timing_exit(&timing);
}

TH_TRACER_ENABLED(running_procs)
{
    return TH_TRACER_ATOM(env, trace);
}

TH_TRACER_TRACE(running_procs)
{
    struct part *part = part_of(env, state);
    struct timing timing;
    struct moment moment;

    if (!part)
        return;
    timing = timing_of(env, part, tracee);
    moment = moment_take(env, opts, ERL_NIF_NSEC);
    timing.now = timing_time(&part->output->settings.clock, &moment, &part->own.untimed);
    timing_running(&timing, tag);
    part->own.running++;
}

/* --- Shares --- */

TH_TRACER_PAST_CALLS()
{
    struct part *part = part_of(env, state);
    struct settings *settings = part ? &part->output->settings : NULL;
    struct shard *shard = NULL;

    for (size_t i = 0; part && i < count; i++) {
        const struct th_past_event *event = &events[i];
        struct moment moment = moment_of_past(env, event);
        int64_t now = timing_time(&settings->clock, &moment, &part->own.untimed);
        if (i == 0 || event->tracee != event[-1].tracee) {
            if (shard)
                calls_leave(shard);
            shard = calls_enter(&settings->calls, event->tracee);
        }
        part->own.strays += !calls_past(shard, event, now);
    }
    if (shard)
        calls_leave(shard);
}

/* The shards whose calls had a loss or a doubt: {Index, [Forgotten, Lost, Doubtful, Unwatched], Doubted}. */
static ERL_NIF_TERM save_shards(ErlNifEnv *env, const struct calls *calls)
{
    ERL_NIF_TERM list = enif_make_list(env, 0);

    for (unsigned i = 0; i < SHARDS; i++) {
        const struct shard *shard = &calls->shards[i];
        const uint64_t *const numbers[] = {&shard->forgotten, &shard->lost, &shard->doubtful,
                                           &shard->unwatched};
        if (shard->forgotten || shard->lost || shard->doubtful || shard->unwatched)
            list = enif_make_list_cell(env,
                                       enif_make_tuple3(env, enif_make_uint(env, i),
                                                        past_save_numbers(env, 4, numbers),
                                                        past_save_mfa(env, &shard->doubted)),
                                       list);
    }
    return list;
}

static bool take_shards(ErlNifEnv *env, struct calls *calls, ERL_NIF_TERM list)
{
    const ERL_NIF_TERM *elements;
    struct shard *shard;
    ERL_NIF_TERM head;
    unsigned i;
    int size;

    while (enif_get_list_cell(env, list, &head, &list)) {
        if (!enif_get_tuple(env, head, &size, &elements) || size != 3 ||
            !enif_get_uint(env, elements[0], &i) || i >= SHARDS)
            return false;
        shard = &calls->shards[i];
        if (!past_take_numbers(env, elements[1], 4,
                               (uint64_t *const[]){&shard->forgotten, &shard->lost,
                                                   &shard->doubtful, &shard->unwatched}) ||
            !past_take_mfa(env, elements[2], &shard->doubted))
            return false;
    }
    return true;
}

/* {Figures, [Strays, Running, Untimed, Others], Shards, Labels}: the figures of the share, the other counts from the
 * beginning of the recording. */
static ERL_NIF_TERM save_output(ErlNifEnv *env, struct output *output)
{
    struct part *part = share_part(output);
    ERL_NIF_TERM figures =
        part && !part->own.figures.lost ? figures_save(env, &part->own.figures) : 0;
    const uint64_t *const numbers[] = {&part->own.strays, &part->own.running,
                                       &part->own.untimed.stampless, &part->own.untimed.others};

    if (!figures)
        return 0;
    figures_free(&part->own.figures);
    part->own.figures = (struct figures_table){0};
    return enif_make_tuple4(env, figures, past_save_numbers(env, 4, numbers),
                            save_shards(env, &output->settings.calls),
                            labels_save(env, &output->settings.labels));
}

static bool merge_output(ErlNifEnv *env, struct output *output, ERL_NIF_TERM saved)
{
    struct part *part = share_part(output);
    const ERL_NIF_TERM *elements;
    int size;

    return part && enif_get_tuple(env, saved, &size, &elements) && size == 4 &&
           figures_take(env, &part->own.figures, elements[0]) &&
           past_take_numbers(env, elements[1], 4,
                             (uint64_t *const[]){&part->own.strays, &part->own.running,
                                                 &part->own.untimed.stampless,
                                                 &part->own.untimed.others}) &&
           take_shards(env, &output->settings.calls, elements[2]) &&
           labels_take(env, &output->settings.labels, elements[3]);
}

TH_TRACER_SAVE()
{
    return parts.lost ? 0 : share_save(env, save_output);
}

TH_TRACER_MERGE()
{
    return share_merge(env, saved, merge_output);
}

/* --- The end --- */

static void remark(const char *what, uint64_t count)
{
    if (count)
        fprintf(stderr, "time: %s: %llu\n", what, (unsigned long long)count);
}

static void remark_no_ends(const struct figures_table *table)
{
    uint64_t calls = 0, ended = 0;

    for (size_t i = 0; i < table->used; i++) {
        calls += table->slots[i]->calls;
        ended += table->slots[i]->ended;
    }
    if (calls && !ended)
        timing_tell_no_ends("time");
}

static void report_output(ErlNifEnv *env, struct output *output)
{
    struct settings *settings = &output->settings;
    uint64_t strays = 0, running = 0;
    struct losses losses = {0};
    struct untimed untimed = {0};
    struct figures_table all = {0};
    struct repairs repairs = {0};

    for (struct part *part = parts.first; part; part = part->next)
        if (part->output == output) {
            figures_move(&all, &part->own.figures);
            strays += part->own.strays;
            running += part->own.running;
            untimed.stampless += part->own.untimed.stampless;
            untimed.others += part->own.untimed.others;
        }
    calls_losses(&settings->calls, &losses, &repairs);
    report(output->file, &all, settings->format,
           settings->by == BY_PROCESS ? &settings->labels : NULL, running, settings->top);
    remark_no_ends(&all);
    timing_tell_untimed("time", &untimed);
    remark("open calls forgotten, as there were more than `frames`", losses.forgotten);
    remark(CALLS_UNWATCHED, losses.unwatched);
    remark("ends of unknown calls", strays);
    stack_tell_doubts("time", &repairs);
    output_report_lost(env, "events", losses.lost + all.lost);
    figures_free(&all);
    labels_free(&settings->labels);
    calls_free(&settings->calls);
}

TH_TRACER_UNLOAD()
{
    for (struct output *output = output_end(); output; output = output->next)
        report_output(env, output);
    output_report_lost(env, "events", parts.lost);
    parts_free();
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
ERL_NIF_INIT(tracehost_time, callbacks, NULL, NULL, NULL, unload)
