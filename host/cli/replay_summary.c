#include "replay_summary.h"

#include "host/process/process.h"

#define DETACHED "detached, as it answered 'remove' to trace_status"
#define REMOVED "tracees taken from it, as it answered neither 'trace' nor 'discard'"
#define KEPT "events discarded, as it answered neither 'trace' nor 'discard'"
#define REFUSED "messages or commands to the tracee refused"
#define FORGOTTEN "open calls forgotten: their returns go to all tracers"
#define UNREAD "messages dropped, as nobody runs their receivers"

/* --- what deserves a word --- */

static void remark(const char *what, uint64_t count)
{
    if (count)
        fprintf(stderr, "tracehost replay: %s: %llu\n", what, (unsigned long long)count);
}

static void remark_on(const char *tracer, const char *what, uint64_t count)
{
    if (count)
        fprintf(stderr, "tracehost replay: tracer '%s': %s: %llu\n", tracer, what,
                (unsigned long long)count);
}

static void remark_on_session(const struct th_session *session)
{
    struct th_session_counts counts = th_session_counts(session);
    const char *name = th_session_name(session);

    if (!th_session_attached(session))
        fprintf(stderr, "tracehost replay: tracer '%s': " DETACHED "\n", name);
    remark_on(name, REMOVED, counts.removed);
    remark_on(name, KEPT, counts.kept);
    remark_on(name, REFUSED, counts.refused);
}

void th_replay_remarks(const struct th_tracing *tracing)
{
    for (size_t i = 0; i < th_tracing_sessions(tracing); i++)
        remark_on_session(th_tracing_session(tracing, i));
    remark(FORGOTTEN, th_tracing_calls_forgotten(tracing));
    remark(UNREAD, th_mail_dropped());
}

/* --- all --- */

static void row(uint64_t count, const char *what)
{
    fprintf(stderr, "%12llu  %s\n", (unsigned long long)count, what);
}

static void show_session(const struct th_session *session)
{
    struct th_session_counts counts = th_session_counts(session);

    fprintf(stderr, "tracer '%s'%s\n", th_session_name(session),
            th_session_attached(session) ? "" : ", " DETACHED);
    row(counts.enabled, "calls of its enabled callbacks");
    row(counts.traced, "calls of its trace callbacks");
    row(counts.status, "calls for trace_status");
    row(counts.discarded, "events that it discarded");
    row(counts.filtered, "events held back by --flags");
    row(counts.untraced, "returns held back, as it had discarded the call");
    row(counts.removed, REMOVED);
    row(counts.kept, KEPT);
    row(counts.refused, REFUSED);
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
    row(th_mail_dropped(), UNREAD);
    for (size_t i = 0; i < th_tracing_sessions(tracing); i++)
        show_session(th_tracing_session(tracing, i));
}
