#include "replay_summary.h"

#include "host/process/process.h"

/* --- what deserves a word --- */

static void remark(uint64_t count, const char *what)
{
    if (count)
        fprintf(stderr, "tracehost replay: %llu %s\n", (unsigned long long)count, what);
}

static void remark_on(const char *tracer, uint64_t count, const char *what)
{
    if (count)
        fprintf(stderr, "tracehost replay: tracer '%s': %llu %s\n", tracer,
                (unsigned long long)count, what);
}

void th_replay_remarks(const struct th_tracing *tracing)
{
    for (size_t i = 0; i < th_tracing_sessions(tracing); i++) {
        const struct th_session *session = th_tracing_session(tracing, i);
        struct th_session_counts counts = th_session_counts(session);
        const char *name = th_session_name(session);
        if (!th_session_attached(session))
            fprintf(stderr,
                    "tracehost replay: tracer '%s': detached, as it answered 'remove' to "
                    "trace_status\n",
                    name);
        remark_on(name, counts.removed,
                  "tracees were taken from it, as it answered neither 'trace' nor 'discard'");
        remark_on(name, counts.kept,
                  "events were discarded, as it answered neither 'trace' nor 'discard'");
        remark_on(name, counts.refused, "messages or commands to the tracee were refused");
    }
    remark(th_tracing_calls_forgotten(tracing),
           "open calls were forgotten: their returns went to all tracers");
    remark(th_mail_dropped(), "messages were dropped, as nobody runs their receivers");
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
            th_session_attached(session) ? ""
                                         : ", detached, as it answered 'remove' to trace_status");
    row(counts.enabled, "calls of its enabled callbacks");
    row(counts.traced, "calls of its trace callbacks");
    row(counts.status, "calls for trace_status");
    row(counts.discarded, "events that it discarded");
    row(counts.filtered, "events held back by --flags");
    row(counts.untraced, "returns held back, as it had discarded the call");
    row(counts.removed, "tracees taken from it, as it answered neither 'trace' nor 'discard'");
    row(counts.kept, "events discarded, as it answered neither");
    row(counts.refused, "messages or commands to the tracee refused");
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
    row(th_tracing_calls_forgotten(tracing), "open calls forgotten: their returns go to all");
    row(th_mail_dropped(), "messages dropped, as nobody runs their receivers");
    for (size_t i = 0; i < th_tracing_sessions(tracing); i++)
        show_session(th_tracing_session(tracing, i));
}
