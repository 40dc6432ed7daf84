#include "trace_summary.h"

#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/crash/supervisor.h"
#include "host/process/process.h"
#include "host/term/text.h"
#include "host/trace/live/live.h"
#include "host/trace/pattern.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define DETACHED "detached, as it answered 'remove' to trace_status"

/* A count, and the rules for --stats and for remarks. */
struct row {
    const char *what;
    enum { NEVER, IF_ANY, ALWAYS } in_stats;
    bool remarked; /* a remark is printed if the count is not 0 */
    uint64_t count;
};

void th_cli_trace_report(const char *command, const char *what, uint64_t count)
{
    if (count)
        fprintf(stderr, "tracehost %s: %s: %llu\n", command, what, (unsigned long long)count);
}

void th_cli_trace_stats_row(uint64_t count, const char *what)
{
    fprintf(stderr, "%12llu  %s\n", (unsigned long long)count, what);
}

/* Prints the tracer's name, and its session's if that has a title. */
static void show_name(const struct th_session *session)
{
    if (th_trace_session_title(session))
        fprintf(stderr, "session '%s', ", th_trace_session_title(session));
    fprintf(stderr, "tracer '%s'", th_trace_session_name(session));
}

/* Prints the rows of --stats. */
static void show_rows(const struct row rows[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].in_stats == ALWAYS || (rows[i].in_stats == IF_ANY && rows[i].count))
            th_cli_trace_stats_row(rows[i].count, rows[i].what);
}

/* --- A session -------------------------------------------------------------------------------- */

struct breakpoints {
    uint64_t local, global;
};

static void count_breakpoints(void *context, const struct th_mfa *function,
                              const struct th_bp_info *info)
{
    struct breakpoints *breakpoints = context;

    (void)function;
    breakpoints->local += (info->kinds & TH_BP_LOCAL) != 0;
    breakpoints->global += (info->kinds & TH_BP_GLOBAL) != 0;
}

static void show_callbacks(const struct th_session_counts *counts)
{
    th_cli_trace_stats_row(counts->enabled, "calls of its enabled callbacks");
    th_cli_trace_stats_row(counts->traced, "calls of its trace callbacks");
    th_cli_trace_stats_row(counts->status, "calls for trace_status");
    th_cli_trace_stats_row(counts->discarded, "events that it discarded");
}

static void show_session(const struct th_session *session, const struct th_session_counts *counts,
                         const struct row rows[], size_t count)
{
    struct th_meta_tracer_counts meta;

    show_name(session);
    fprintf(stderr, "%s\n",
            th_trace_session_failed(session)     ? ", detached, as it failed"
            : th_trace_session_attached(session) ? ""
                                                 : ", " DETACHED);
    show_callbacks(counts);
    show_rows(rows, count);
    for (size_t i = 0; th_trace_session_meta_tracer(session, i, &meta); i++) {
        show_name(session);
        fprintf(stderr, ", meta tracer '%s'\n", meta.name);
        show_callbacks(&meta.counts);
        th_cli_trace_stats_row(meta.counts.removed,
                               "breakpoints that it left, as it answered 'remove'");
    }
}

static void begin_remark(const char *command, const struct th_session *session, const char *what)
{
    fprintf(stderr, "tracehost %s: ", command);
    show_name(session);
    fprintf(stderr, ": %s", what);
}

/* Prints remarks for COMMAND; NULL: a part of --stats. */
static void tell_session(const char *command, const struct th_session *session)
{
    const struct th_session_counts counts = th_trace_session_counts(session);
    const struct th_pattern_counts p = th_trace_session_pattern_counts(session);
    const struct th_message_counts m = th_trace_session_message_counts(session);
    const int of_functions = th_trace_session_patterned(session) ? ALWAYS : NEVER;
    const int of_functions_if = of_functions ? IF_ANY : NEVER;
    const int of_messages = th_trace_session_message_patterned(session) ? ALWAYS : NEVER;
    const char *unsure =
        "actions of match specifications skipped, as a value that they need is unknown";
    const char *doubtful = "returns delivered, skipped or timed in doubt, as the recording does "
                           "not show which calls they end (dbg:tpl(MODULE, cx) records that)";
    const char *untraced = counts.silenced
                               ? "returns held back, as the call was discarded or silent"
                               : "returns held back, as the call was discarded";
    struct breakpoints breakpoints = {0};

    if (!command && of_functions)
        th_trace_session_functions(session, count_breakpoints, &breakpoints);
    const struct row rows[] = {
        {"events held back by --flags", ALWAYS, false, counts.filtered},
        {"calls held back, as their tracee was silent", IF_ANY, false, counts.silenced},
        {untraced, ALWAYS, false, counts.untraced},
        {doubtful, IF_ANY, false, p.returns_doubtful},
        {"tracees removed from the tracer, as it answered neither 'trace' nor 'discard'", ALWAYS,
         true, counts.removed},
        {"events discarded, as it answered neither 'trace' nor 'discard'", ALWAYS, true,
         counts.kept},
        {"messages or commands to the tracee refused", ALWAYS, true, counts.refused},
        {"functions whose calls are traced", of_functions, false, breakpoints.local},
        {"functions of which external calls are traced", of_functions, false, breakpoints.global},
        {"callers unknown", of_functions, true, p.callers_unknown},
        {"lines of callers unknown", of_functions, true, p.lines_unknown},
        {"undecided matches", of_functions, false, p.undecided},
        {"undecided matches", NEVER, true, p.undecided + m.undecided},
        {unsure, of_functions, false, p.actions_unsure},
        {unsure, NEVER, true, p.actions_unsure + m.actions_unsure},
        {"calls skipped by global patterns, as they may be local", of_functions, true,
         p.external_unknown},
        {"calls not timed, as they have no time stamp", of_functions, true, p.untimed},
        {"returns unknown, though calls have ended", of_functions, true, p.returns_unknown},
        {doubtful, NEVER, true, p.returns_doubtful},
        {"breakpoints whose meta tracer is gone, as it answered 'remove'", of_functions_if, true,
         p.meta_removed},
        {"returns not delivered, as the meta tracer that requested them is gone", of_functions_if,
         true, p.meta_untold},
        {"messages skipped by patterns", of_messages, false, m.unmatched},
        {"messages held back, as their process was silent", of_messages ? IF_ANY : NEVER, false,
         m.silenced},
        {"undecided matches of messages", of_messages, false, m.undecided},
        {unsure, of_messages, false, m.actions_unsure},
    };
    const size_t count = sizeof rows / sizeof rows[0];

    if (!command)
        show_session(session, &counts, rows, count);
    if (command && !th_trace_session_attached(session) && !th_trace_session_failed(session))
        begin_remark(command, session, DETACHED "\n");
    for (size_t i = 0; command && i < count; i++)
        if (rows[i].remarked && rows[i].count) {
            begin_remark(command, session, rows[i].what);
            fprintf(stderr, ": %llu\n", (unsigned long long)rows[i].count);
        }
}

/* --- The summary ------------------------------------------------------------------------------ */

void th_cli_trace_summary(const char *command, const struct th_tracing *tracing)
{
    const struct th_execution_counts e = th_trace_execution_counts(tracing);
    const struct th_live_counts live = th_live_counts(tracing);
    const uint64_t forgotten = th_trace_calls_forgotten(tracing);
    const uint64_t unread = th_process_mail_dropped();
    const uint64_t no_returns = e.returns ? 0 : e.wanted;
    /* Facts that the call stacks of processes could not determine, apart from each session's own
     * counts; and events of this host that were not delivered. No remark on returns if no session
     * has requested them. */
    const struct row rows[] = {
        {"open calls forgotten: their returns go to all tracers", ALWAYS, true, forgotten},
        {"callers about which calls and returns disagree", IF_ANY, true, e.callers_disputed},
        {"return frames not kept", IF_ANY, true, e.not_kept},
        {"returns of calls whose frames were not kept", IF_ANY, true, e.late},
        {"returns of calls that were not recorded", IF_ANY, e.wanted > 0, e.unmatched},
        {"returns that also ended other calls, whose own returns are missing", IF_ANY, e.wanted > 0,
         e.repaired},
        {"return frames lost together with events", IF_ANY, true, e.lost},
        {"returns unknown, as the recording has none", IF_ANY, true, no_returns},
        {"calls and events skipped, as callbacks caused them", IF_ANY, true, live.suppressed},
        {"calls skipped, as their threads run no process", IF_ANY, true, live.strangers},
        {"messages dropped, as their receivers do not run here", ALWAYS, true, unread},
    };
    const size_t count = sizeof rows / sizeof rows[0];

    th_crash_set_common(true);
    if (!command)
        show_rows(rows, count);
    th_crash_set_common(false);
    th_crash_next_place();
    for (size_t i = 0; i < th_trace_sessions(tracing); i++)
        if (command || th_trace_session_has_tracer(th_trace_session(tracing, i)))
            tell_session(command, th_trace_session(tracing, i));
    th_crash_next_place();
    th_crash_set_common(true);
    for (size_t i = 0; command && i < count; i++)
        if (rows[i].remarked)
            th_cli_trace_report(command, rows[i].what, rows[i].count);
    th_crash_set_common(false);
}

/* --- Patterns without functions --------------------------------------------------------------- */

/* The sessions of one option have the same patterns: each line is printed once. */
struct waiting {
    const char *command;
    struct th_buffer told; /* the printed patterns, each between newlines */
};

static void tell_waiting(void *context, const struct th_pattern *pattern)
{
    struct waiting *waiting = context;
    struct th_buffer text = {0};
    char *line;

    th_trace_pattern_show(&text, pattern);
    line = th_printf("\n%s\n", th_buffer_text(&text));
    if (!waiting->told.size || !strstr(th_buffer_text(&waiting->told), line)) {
        th_buffer_printf(&waiting->told, "%s", line);
        fprintf(stderr, "tracehost %s: -p %s: no such function was loaded\n", waiting->command,
                th_buffer_text(&text));
    }
    th_free(line);
    th_buffer_free(&text);
}

void th_cli_trace_waiting(const char *command, const struct th_tracing *tracing)
{
    struct waiting waiting = {.command = command};

    for (size_t i = 0; i < th_trace_sessions(tracing); i++)
        th_trace_session_waiting(th_trace_session(tracing, i), tell_waiting, &waiting);
    th_buffer_free(&waiting.told);
}

/* --- Counts of patterns ----------------------------------------------------------------------- */

enum { FEW = 4 /* limit up to which functions without calls are shown one by one */ };

struct counted {
    struct th_mfa name;
    uint32_t kinds;
    uint64_t calls;
    struct usage {
        struct th_bp_usage *items; /* one for each process */
        size_t count;
        uint64_t calls;
        int64_t amount; /* sum: nanoseconds or words */
    } time, memory;
};

struct counts {
    struct counted *items;
    size_t count, capacity;
    uint32_t kinds; /* union of all kinds */
};

static struct usage trace_summary_copy(const struct th_bp_usage *items, size_t count)
{
    struct usage usage = {.count = count};

    if (!count)
        return usage;
    usage.items = th_alloc(count * sizeof *items);
    memcpy(usage.items, items, count * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        usage.calls += items[i].calls;
        usage.amount += items[i].amount;
    }
    return usage;
}

static void trace_summary_collect(void *context, const struct th_mfa *name,
                                  const struct th_bp_info *info)
{
    struct counts *counts = context;

    struct counted one = {*name, info->kinds & TH_BP_COUNTING, info->calls, {0}, {0}};

    if (!one.kinds)
        return;
    one.time = trace_summary_copy(info->time, info->time_count);
    one.memory = trace_summary_copy(info->memory, info->memory_count);
    if (!(one.kinds & TH_BP_COUNT))
        one.calls = one.kinds & TH_BP_TIME ? one.time.calls : one.memory.calls;
    counts->kinds |= one.kinds;
    TH_ARRAY_GROW(counts->items, counts->count, counts->capacity);
    counts->items[counts->count++] = one;
}

/* Orders by time, if it was measured, then by calls, most first, then by name. */
static int trace_summary_compare(const void *a, const void *b)
{
    const struct counted *one = a, *other = b;
    int order =
        strcmp(th_atom_name(one->name.module)->text, th_atom_name(other->name.module)->text);

    if (one->time.amount != other->time.amount)
        return one->time.amount < other->time.amount ? 1 : -1;
    if (one->calls != other->calls)
        return one->calls < other->calls ? 1 : -1;
    if (!order)
        order = strcmp(th_atom_name(one->name.function)->text,
                       th_atom_name(other->name.function)->text);
    return order ? order
                 : (one->name.arity > other->name.arity) - (one->name.arity < other->name.arity);
}

/* Prints the table. Functions without calls come last, as a number if there are many. SEVERAL:
 * there are other sessions. */
static void trace_summary_show(const struct th_session *session, const struct counts *counts,
                               bool several)
{
    struct th_buffer out = {0};
    size_t shown = 0;

    if (th_trace_session_title(session))
        th_buffer_printf(&out, "session '%s'\n", th_trace_session_title(session));
    else if (several)
        th_buffer_printf(&out, "tracer '%s'\n", th_trace_session_name(session));
    th_buffer_add_text(&out, "       calls");
    th_buffer_add_text(&out, counts->kinds & TH_BP_TIME ? "       seconds" : "");
    th_buffer_add_text(&out, counts->kinds & TH_BP_MEMORY ? "         words" : "");
    th_buffer_add_text(&out, "  function\n");
    while (shown < counts->count && counts->items[shown].calls)
        shown++;
    if (counts->count - shown <= FEW)
        shown = counts->count;
    for (size_t i = 0; i < shown; i++) {
        const struct counted *one = &counts->items[i];
        th_buffer_printf(&out, "%12llu", (unsigned long long)one->calls);
        if (one->kinds & TH_BP_TIME)
            th_buffer_printf(&out, "%14.6f", (double)one->time.amount / 1e9);
        else if (counts->kinds & TH_BP_TIME)
            th_buffer_printf(&out, "%14s", "-");
        if (one->kinds & TH_BP_MEMORY)
            th_buffer_printf(&out, "%14lld", (long long)one->memory.amount);
        else if (counts->kinds & TH_BP_MEMORY)
            th_buffer_printf(&out, "%14s", "-");
        th_buffer_add_text(&out, "  ");
        th_trace_function_show(&out, &one->name);
        th_buffer_add_byte(&out, '\n');
    }
    if (shown < counts->count)
        th_buffer_printf(&out, "%12d  %zu more functions\n", 0, counts->count - shown);
    fputs(th_buffer_text(&out), stdout);
    th_buffer_free(&out);
}

/* UNIT is the key of the amounts. */
static json_t *json_usage(const struct usage *usage, const char *unit)
{
    json_t *array = json_array();

    for (size_t i = 0; i < usage->count; i++) {
        struct th_buffer process = {0};
        th_text_print(&process, usage->items[i].process);
        json_array_append_new(array,
                              json_pack("{s:s, s:I, s:I}", "process", th_buffer_text(&process),
                                        "calls", (json_int_t)usage->items[i].calls, unit,
                                        (json_int_t)usage->items[i].amount));
        th_buffer_free(&process);
    }
    return array;
}

static void show_json(const struct th_session *session, const struct counts *counts)
{
    json_t *functions = json_array();

    for (size_t i = 0; i < counts->count; i++) {
        const struct counted *one = &counts->items[i];
        struct th_buffer name = {0};
        json_t *object;
        th_trace_function_print(&name, &one->name);
        object = json_pack("{s:s, s:I}", "function", th_buffer_text(&name), "calls",
                           (json_int_t)one->calls);
        if (one->kinds & TH_BP_TIME)
            json_object_set_new(object, "time", json_usage(&one->time, "ns"));
        if (one->kinds & TH_BP_MEMORY)
            json_object_set_new(object, "memory", json_usage(&one->memory, "words"));
        th_buffer_free(&name);
        json_array_append_new(functions, object);
    }
    th_cli_command_print_json(json_pack("{s:s?, s:s, s:o}", "session",
                                        th_trace_session_title(session), "tracer",
                                        th_trace_session_name(session), "functions", functions),
                              JSON_COMPACT);
}

void th_cli_trace_results(const struct th_tracing *tracing, bool json, bool is_part)
{
    size_t sessions = th_trace_sessions(tracing);

    for (size_t i = 0; i < sessions; i++) {
        const struct th_session *session = th_trace_session(tracing, i);
        struct counts counts = {0};

        th_trace_session_functions(session, trace_summary_collect, &counts);
        if (counts.count)
            qsort(counts.items, counts.count, sizeof *counts.items, trace_summary_compare);
        if (counts.count && json)
            show_json(session, &counts);
        else if (counts.count)
            trace_summary_show(session, &counts, is_part || sessions > 1);
        for (size_t k = 0; k < counts.count; k++) {
            th_free(counts.items[k].time.items);
            th_free(counts.items[k].memory.items);
        }
        th_free(counts.items);
    }
}
