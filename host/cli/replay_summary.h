/* What `tracehost replay` says at its end, on stderr. */
#ifndef TH_REPLAY_SUMMARY_H
#define TH_REPLAY_SUMMARY_H

#include "host/replay/replay.h"

/*
 * Everything that was lost, skipped, refused or taken away, a line each; nothing if there is
 * nothing to tell. With ALL also what went well, and the speed.
 */
void th_replay_summary(const struct th_tracing *tracing, const struct th_player_counts *counts,
                       bool all, double seconds);

#endif
