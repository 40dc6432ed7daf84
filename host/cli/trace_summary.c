#include "trace_summary.h"

#include "host/process/process.h"

#include <string.h>

#define DETACHED "detached, as it answered 'remove' to trace_status"
#define FAILED "detached, as it failed"
#define REMOVED "tracees taken from it, as it answered neither 'trace' nor 'discard'"
#define KEPT "events discarded, as it answered neither 'trace' nor 'discard'"
#define REFUSED "messages or commands to the tracee refused"
#define FORGOTTEN "open calls forgotten: their returns go to all tracers"
#define UNDECIDED "undecided matches"
#define LOCAL "functions whose calls are traced"
#define GLOBAL "functions of which external calls are traced"
#define CALLERS "callers unknown"
#define LINES "lines of callers unknown"
#define UNSURE "actions of match specifications left out, as what they depend on is unknown"
#define EXTERNAL "calls left out of global patterns, as they may be local"
#define UNTIMED "calls not timed, as they have no time stamp"
#define UNTOLD "returns unknown, though calls have ended"
#define DOUBTFUL                                                                                 \
    "returns sent, left out or timed in doubt, as the recording does not tell which calls they " \
    "end (dbg:tpl(MODULE, cx) records that)"
#define DISPUTED "callers disputed by the calls and returns"
#define META_REMOVED "breakpoints whose meta tracer is gone, as it answered 'remove'"
#define META_LEFT "breakpoints that it left, as it answered 'remove'"
#define META_UNTOLD "returns not told, as the meta tracer that asked for them is gone"
#define NOT_KEPT "return frames not kept"
#define LATE "returns of calls whose frames were not kept"
#define UNMATCHED "returns of calls that were not recorded"
#define REPAIRED "returns that ended other calls, too, which have none of their own"
#define LOST "return frames lost, as events were"
#define NO_RETURNS "returns unknown, as the recording has none"
#define LEFT_OUT "messages left out by patterns"
#define SILENT "messages held back, as their process was silent"
#define UNDECIDED_MESSAGES "undecided matches of messages"
#define SUPPRESSED "calls and events left out, as callbacks caused them"
#define STRANGERS "calls left out, as threads made them that run no process"
#define UNREAD "messages dropped, as nobody runs their receivers"

/* --- what deserves a word --- */

void th_cli_trace_tell(const char *command, const char *what, uint64_t count)
{
    if (count && command)
        fprintf(stderr, "tracehost %s: %s: %llu\n", command, what, (unsigned long long)count);
    else if (count)
        th_cli_trace_stats_row(count, what);
}

/* Whom a line is about: the tracer, and its session if that has a name. */
static void show_name(const struct th_session *session)
{
    if (th_trace_session_title(session))
        fprintf(stderr, "session '%s', ", th_trace_session_title(session));
    fprintf(stderr, "tracer '%s'", th_trace_session_name(session));
}

static void remark_on(const char *command, const struct th_session *session, const char *what,
                      uint64_t count)
{
    if (!count)
        return;
    fprintf(stderr, "tracehost %s: ", command);
    show_name(session);
    fprintf(stderr, ": %s: %llu\n", what, (unsigned long long)count);
}

static void remark_on_session(const char *command, const struct th_session *session)
{
    struct th_session_counts counts = th_trace_session_counts(session);
    struct th_pattern_counts patterns = th_trace_session_pattern_counts(session);
    struct th_message_counts messages = th_trace_session_message_counts(session);

    if (!th_trace_session_attached(session) && !th_trace_session_failed(session)) {
        fprintf(stderr, "tracehost %s: ", command);
        show_name(session);
        fputs(": " DETACHED "\n", stderr);
    }
    remark_on(command, session, REMOVED, counts.removed);
    remark_on(command, session, KEPT, counts.kept);
    remark_on(command, session, REFUSED, counts.refused);
    remark_on(command, session, CALLERS, patterns.callers_unknown);
    remark_on(command, session, LINES, patterns.lines_unknown);
    remark_on(command, session, UNDECIDED, patterns.undecided + messages.undecided);
    remark_on(command, session, UNSURE, patterns.actions_unsure + messages.actions_unsure);
    remark_on(command, session, EXTERNAL, patterns.external_unknown);
    remark_on(command, session, UNTIMED, patterns.untimed);
    remark_on(command, session, UNTOLD, patterns.returns_unknown);
    remark_on(command, session, DOUBTFUL, patterns.returns_doubtful);
    remark_on(command, session, META_REMOVED, patterns.meta_removed);
    remark_on(command, session, META_UNTOLD, patterns.meta_untold);
}

/* The sessions of one option have the same patterns: each line comes once. */
struct waiting {
    const char *command;
    struct th_buffer told; /* the patterns, each between line ends */
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
        fprintf(stderr, "tracehost %s: -p %s: no such function came\n", waiting->command,
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

/* What the stacks of processes could not tell, but for what each session says of itself. */
static void tell_execution(const char *command, struct th_execution_counts counts)
{
    th_cli_trace_tell(command, DISPUTED, counts.callers_disputed);
    th_cli_trace_tell(command, NOT_KEPT, counts.not_kept);
    th_cli_trace_tell(command, LATE, counts.late);
    th_cli_trace_tell(command, UNMATCHED, counts.unmatched);
    th_cli_trace_tell(command, REPAIRED, counts.repaired);
    th_cli_trace_tell(command, LOST, counts.lost);
    th_cli_trace_tell(command, NO_RETURNS, counts.returns ? 0 : counts.wanted);
}

/* What happened in this host, and nobody was told. */
static void tell_live(const char *command, struct th_live_counts counts)
{
    th_cli_trace_tell(command, SUPPRESSED, counts.suppressed);
    th_cli_trace_tell(command, STRANGERS, counts.strangers);
}

void th_cli_trace_remarks(const char *command, const struct th_tracing *tracing)
{
    struct th_execution_counts execution = th_trace_execution_counts(tracing);

    if (!execution.wanted) /* nobody has asked for returns */
        execution.unmatched = execution.repaired = 0;
    for (size_t i = 0; i < th_trace_sessions(tracing); i++)
        remark_on_session(command, th_trace_session(tracing, i));
    th_cli_trace_tell(command, FORGOTTEN, th_trace_calls_forgotten(tracing));
    tell_execution(command, execution);
    tell_live(command, th_live_counts(tracing));
    th_cli_trace_tell(command, UNREAD, th_process_mail_dropped());
}

/* --- all --- */

void th_cli_trace_stats_row(uint64_t count, const char *what)
{
    fprintf(stderr, "%12llu  %s\n", (unsigned long long)count, what);
}

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

static void show_breakpoints(const struct th_session *session)
{
    struct breakpoints breakpoints = {0};

    th_trace_session_functions(session, count_breakpoints, &breakpoints);
    th_cli_trace_stats_row(breakpoints.local, LOCAL);
    th_cli_trace_stats_row(breakpoints.global, GLOBAL);
}

static void show_patterns(struct th_pattern_counts counts)
{
    th_cli_trace_stats_row(counts.callers_unknown, CALLERS);
    th_cli_trace_stats_row(counts.lines_unknown, LINES);
    th_cli_trace_stats_row(counts.undecided, UNDECIDED);
    th_cli_trace_stats_row(counts.actions_unsure, UNSURE);
    th_cli_trace_stats_row(counts.external_unknown, EXTERNAL);
    th_cli_trace_stats_row(counts.untimed, UNTIMED);
    th_cli_trace_stats_row(counts.returns_unknown, UNTOLD);
    if (counts.meta_removed)
        th_cli_trace_stats_row(counts.meta_removed, META_REMOVED);
    if (counts.meta_untold)
        th_cli_trace_stats_row(counts.meta_untold, META_UNTOLD);
}

static void show_messages(struct th_message_counts counts)
{
    th_cli_trace_stats_row(counts.unmatched, LEFT_OUT);
    if (counts.silenced)
        th_cli_trace_stats_row(counts.silenced, SILENT);
    th_cli_trace_stats_row(counts.undecided, UNDECIDED_MESSAGES);
    th_cli_trace_stats_row(counts.actions_unsure, UNSURE);
}

static void show_callbacks(const struct th_session_counts *counts)
{
    th_cli_trace_stats_row(counts->enabled, "calls of its enabled callbacks");
    th_cli_trace_stats_row(counts->traced, "calls of its trace callbacks");
    th_cli_trace_stats_row(counts->status, "calls for trace_status");
    th_cli_trace_stats_row(counts->discarded, "events that it discarded");
}

static void show_meta_tracers(const struct th_session *session)
{
    struct th_meta_tracer_counts meta;

    for (size_t i = 0; th_trace_session_meta_tracer(session, i, &meta); i++) {
        show_name(session);
        fprintf(stderr, ", meta tracer '%s'\n", meta.name);
        show_callbacks(&meta.counts);
        th_cli_trace_stats_row(meta.counts.removed, META_LEFT);
    }
}

static void show_session(const struct th_session *session)
{
    struct th_session_counts counts = th_trace_session_counts(session);

    show_name(session);
    fprintf(stderr, "%s\n",
            th_trace_session_failed(session)     ? ", " FAILED
            : th_trace_session_attached(session) ? ""
                                                 : ", " DETACHED);
    show_callbacks(&counts);
    th_cli_trace_stats_row(counts.filtered, "events held back by --flags");
    if (counts.silenced)
        th_cli_trace_stats_row(counts.silenced, "calls held back, as their tracee was silent");
    th_cli_trace_stats_row(
        counts.untraced, counts.silenced
                             ? "returns held back, as it had discarded the call or that was silent"
                             : "returns held back, as it had discarded the call");
    if (th_trace_session_pattern_counts(session).returns_doubtful)
        th_cli_trace_stats_row(th_trace_session_pattern_counts(session).returns_doubtful, DOUBTFUL);
    th_cli_trace_stats_row(counts.removed, REMOVED);
    th_cli_trace_stats_row(counts.kept, KEPT);
    th_cli_trace_stats_row(counts.refused, REFUSED);
    if (th_trace_session_patterned(session)) {
        show_breakpoints(session);
        show_patterns(th_trace_session_pattern_counts(session));
    }
    if (th_trace_session_message_patterned(session))
        show_messages(th_trace_session_message_counts(session));
    show_meta_tracers(session);
}

void th_cli_trace_stats(const struct th_tracing *tracing)
{
    th_cli_trace_stats_row(th_trace_calls_forgotten(tracing), FORGOTTEN);
    tell_execution(NULL, th_trace_execution_counts(tracing));
    tell_live(NULL, th_live_counts(tracing));
    th_cli_trace_stats_row(th_process_mail_dropped(), UNREAD);
    for (size_t i = 0; i < th_trace_sessions(tracing); i++)
        if (th_trace_session_has_tracer(th_trace_session(tracing, i)))
            show_session(th_trace_session(tracing, i));
}
