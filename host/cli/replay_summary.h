/* What `tracehost replay` says at its end. */
#ifndef TH_REPLAY_SUMMARY_H
#define TH_REPLAY_SUMMARY_H

#include "host/replay/replay.h"

struct th_replay_totals {
    struct th_player_counts played; /* of all streams together, as are the others */
    uint64_t tracees;
    double seconds;
};

/* Tells on stderr what deserves a word: losses, and answers of tracers that are perhaps not meant.
 */
void th_replay_remarks(const struct th_tracing *tracing);

/* Tells on stderr what became of all events (--stats). */
void th_replay_stats(const struct th_tracing *tracing, const struct th_replay_totals *totals);

#endif
