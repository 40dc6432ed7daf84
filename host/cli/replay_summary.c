#include "replay_summary.h"

#include "host/process/process.h"

#define DETACHED "detached, as it answered 'remove' to trace_status"
#define REMOVED "tracees taken from it, as it answered neither 'trace' nor 'discard'"
#define KEPT "events discarded, as it answered neither 'trace' nor 'discard'"
#define REFUSED "messages or commands to the tracee refused"
#define FORGOTTEN "open calls forgotten: their returns go to all tracers"
#define UNDECIDED "undecided matches"
#define CALLERS "callers unknown"
#define LINES "lines of callers unknown"
#define UNSURE "actions of match specifications left out, as what they depend on is unknown"
#define EXTERNAL "calls left out of global patterns, as they may be local"
#define UNTIMED "calls not timed, as they have no time stamp"
#define UNTOLD "returns unknown, though calls have ended"
#define DISPUTED "callers disputed by the calls and returns"
#define META_REMOVED "breakpoints whose meta tracer is gone, as it answered 'remove'"
#define NOT_KEPT "return frames not kept"
#define LATE "returns of calls whose frames were not kept"
#define UNMATCHED "returns of calls that were not recorded"
#define REPAIRED "returns that ended other calls, too, which have none of their own"
#define LOST "return frames lost, as events were"
#define NO_RETURNS "returns unknown, as the recording has none"
#define LEFT_OUT "messages left out by patterns"
#define SILENT "messages held back, as their process was silent"
#define UNDECIDED_MESSAGES "undecided matches of messages"
#define UNREAD "messages dropped, as nobody runs their receivers"

/* --- what deserves a word --- */

static void remark(const char *what, uint64_t count)
{
    if (count)
        fprintf(stderr, "tracehost replay: %s: %llu\n", what, (unsigned long long)count);
}

/* Whom a line is about: the tracer, and its session if that has a name. */
static void show_name(const struct th_session *session)
{
    if (th_session_title(session))
        fprintf(stderr, "session '%s', ", th_session_title(session));
    fprintf(stderr, "tracer '%s'", th_session_name(session));
}

static void remark_on(const struct th_session *session, const char *what, uint64_t count)
{
    if (!count)
        return;
    fputs("tracehost replay: ", stderr);
    show_name(session);
    fprintf(stderr, ": %s: %llu\n", what, (unsigned long long)count);
}

static void remark_on_session(const struct th_session *session)
{
    struct th_session_counts counts = th_session_counts(session);
    struct th_pattern_counts patterns = th_session_pattern_counts(session);
    struct th_message_counts messages = th_session_message_counts(session);

    if (!th_session_attached(session)) {
        fputs("tracehost replay: ", stderr);
        show_name(session);
        fputs(": " DETACHED "\n", stderr);
    }
    remark_on(session, REMOVED, counts.removed);
    remark_on(session, KEPT, counts.kept);
    remark_on(session, REFUSED, counts.refused);
    remark_on(session, CALLERS, patterns.callers_unknown);
    remark_on(session, LINES, patterns.lines_unknown);
    remark_on(session, UNDECIDED, patterns.undecided + messages.undecided);
    remark_on(session, UNSURE, patterns.actions_unsure + messages.actions_unsure);
    remark_on(session, EXTERNAL, patterns.external_unknown);
    remark_on(session, UNTIMED, patterns.untimed);
    remark_on(session, UNTOLD, patterns.returns_unknown);
    remark_on(session, META_REMOVED, patterns.meta_removed);
}

/* What the stacks of processes could not tell, but for what each session says of itself. */
static void tell_execution(struct th_execution_counts counts,
                           void (*tell)(const char *what, uint64_t count))
{
    tell(DISPUTED, counts.callers_disputed);
    tell(NOT_KEPT, counts.not_kept);
    tell(LATE, counts.late);
    tell(UNMATCHED, counts.unmatched);
    tell(REPAIRED, counts.repaired);
    tell(LOST, counts.lost);
    tell(NO_RETURNS, counts.returns ? 0 : counts.wanted);
}

void th_replay_remarks(const struct th_tracing *tracing)
{
    struct th_execution_counts execution = th_tracing_execution_counts(tracing);

    if (!execution.wanted) /* nobody has asked for returns */
        execution.unmatched = execution.repaired = 0;
    for (size_t i = 0; i < th_tracing_sessions(tracing); i++)
        remark_on_session(th_tracing_session(tracing, i));
    remark(FORGOTTEN, th_tracing_calls_forgotten(tracing));
    tell_execution(execution, remark);
    remark(UNREAD, th_mail_dropped());
}

/* --- all --- */

static void row(uint64_t count, const char *what)
{
    fprintf(stderr, "%12llu  %s\n", (unsigned long long)count, what);
}

static void show(const char *what, uint64_t count)
{
    if (count)
        row(count, what);
}

static void show_patterns(struct th_pattern_counts counts)
{
    row(counts.callers_unknown, CALLERS);
    row(counts.lines_unknown, LINES);
    row(counts.undecided, UNDECIDED);
    row(counts.actions_unsure, UNSURE);
    row(counts.external_unknown, EXTERNAL);
    row(counts.untimed, UNTIMED);
    row(counts.returns_unknown, UNTOLD);
    if (counts.meta_removed)
        row(counts.meta_removed, META_REMOVED);
}

static void show_messages(struct th_message_counts counts)
{
    row(counts.unmatched, LEFT_OUT);
    if (counts.silenced)
        row(counts.silenced, SILENT);
    row(counts.undecided, UNDECIDED_MESSAGES);
    row(counts.actions_unsure, UNSURE);
}

static void show_session(const struct th_session *session)
{
    struct th_session_counts counts = th_session_counts(session);

    show_name(session);
    fprintf(stderr, "%s\n", th_session_attached(session) ? "" : ", " DETACHED);
    row(counts.enabled, "calls of its enabled callbacks");
    row(counts.traced, "calls of its trace callbacks");
    row(counts.status, "calls for trace_status");
    row(counts.discarded, "events that it discarded");
    row(counts.filtered, "events held back by --flags");
    if (counts.silenced)
        row(counts.silenced, "calls held back, as their tracee was silent");
    row(counts.untraced, counts.silenced
                             ? "returns held back, as it had discarded the call or that was silent"
                             : "returns held back, as it had discarded the call");
    row(counts.removed, REMOVED);
    row(counts.kept, KEPT);
    row(counts.refused, REFUSED);
    if (th_session_patterned(session))
        show_patterns(th_session_pattern_counts(session));
    if (th_session_message_patterned(session))
        show_messages(th_session_message_counts(session));
}

void th_replay_stats(const struct th_tracing *tracing, const struct th_replay_totals *totals)
{
    const struct th_player_counts *played = &totals->played;
    double seconds = totals->seconds;

    fprintf(stderr, "played in %.3f s, %.0f records/s\n", seconds,
            seconds > 0 ? (double)played->records / seconds : 0);
    row(played->records, "records read");
    row(played->played, "events played");
    row(played->skipped, "events outside of --from and --to");
    row(played->malformed, "records skipped, as they are damaged");
    row(played->damages, "places where a stream is cut off or damaged");
    row(played->lost, "events dropped by the recorder");
    row(totals->tracees, "tracees seen");
    row(th_tracing_calls_forgotten(tracing), FORGOTTEN);
    tell_execution(th_tracing_execution_counts(tracing), show);
    row(th_mail_dropped(), UNREAD);
    for (size_t i = 0; i < th_tracing_sessions(tracing); i++)
        show_session(th_tracing_session(tracing, i));
}
