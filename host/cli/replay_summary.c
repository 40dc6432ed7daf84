#include "replay_summary.h"

#include "host/process/process.h"

/* "NAME: N TEXT" if there is anything to tell. */
static void tell(const char *name, uint64_t count, bool always, const char *text)
{
    if (count || always)
        fprintf(stderr, "%s: %llu %s\n", name, (unsigned long long)count, text);
}

static void tell_session(const struct th_session *session, bool all)
{
    struct th_session_counts counts = th_session_counts(session);
    const char *name = th_session_name(session);

    if (all) {
        tell(name, counts.enabled, true, "calls of enabled callbacks");
        tell(name, counts.traced, true, "calls of trace callbacks");
        tell(name, counts.status, true, "calls for trace_status");
        tell(name, counts.discarded, true, "events discarded by it");
        tell(name, counts.filtered, true, "events held back by its flags");
        tell(name, counts.untraced, true, "returns held back, as it had discarded the call");
    }
    if (!th_session_attached(session))
        fprintf(stderr, "%s: detached, as it answered 'remove' to trace_status\n", name);
    tell(name, counts.removed, all, "tracees taken from it, as it answered 'remove' or no atom");
    tell(name, counts.kept, all, "such answers that only discard, by the event's tag");
    tell(name, counts.refused, all, "messages or commands to the tracee refused");
}

void th_replay_summary(const struct th_tracing *tracing, const struct th_player_counts *counts,
                       bool all, double seconds)
{
    struct th_world_counts world = th_world_counts();

    if (all) {
        tell("records", counts->records, true, "read");
        tell("records", counts->played, true, "played");
        fprintf(stderr, "speed: %.3f s, %.0f records/s\n", seconds,
                seconds > 0 ? (double)counts->records / seconds : 0);
        tell("tracees", world.seen, true, "seen in the last stream");
    }
    tell("records", counts->skipped, all, "outside of --from and --to");
    tell("records", counts->malformed, all, "skipped, as they are malformed");
    tell("streams", counts->damages, all, "places cut off or damaged");
    tell("recorder", counts->lost, all, "events dropped while recording");
    for (size_t i = 0; i < th_tracing_sessions(tracing); i++)
        tell_session(th_tracing_session(tracing, i), all);
    tell("calls", th_tracing_calls_forgotten(tracing), all,
         "forgotten while open: their returns go to all tracers");
    tell("mail", th_mail_dropped(), all, "messages dropped, as nobody runs their receivers");
}
