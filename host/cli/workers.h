/*
 * Workers: processes, on any machines, that play the segments of one recording in a log
 * (replay/log/log_job.h), and the process that merges their results.
 *
 *   tracehost replay --join nats://HOST/NAME -t count   a worker; it prints nothing
 *   tracehost merge nats://HOST/NAME -t count           prints what one replay prints
 *
 * A worker is several processes, as libnats has threads and tracers may end the program:
 *
 *   supervisor -> main -> keeper             has the connection to the server; claims segments, and renews claims
 *                      -> player             forked before a library is opened: a child of shards.c
 *                         -> branch          plays a segment: its stream is nats://HOST/NAME?begin=...&end=...
 *
 * 1. The main process asks the keeper for a segment, and forks a player, or tells the one that it has.
 * 2. The player goes on in the recording to the segment's beginning: its tracers get all events, or, if they
 *    need none of them, the world alone changes. There it forks a branch, and waits for its end. So a worker reads
 *    what comes before its segments once, not for each of them.
 * 3. The branch sends its results to the main process, which passes them to the keeper.
 * 4. The keeper stores them and marks the segment.
 *
 * A player whose tracers have threads cannot be forked: it plays the segment itself, and ends. So does one that meets damage.
 * A segment that comes before the player's place needs a new player.
 *
 * If a player ends without results (its tracer crashed, or was refused), the main process plays the
 * segment itself: so its supervisor reports the crash, and its messages reach the user. It then ends.
 * If the main process ends, the keeper gives back the claim. If the keeper ends, the worker fails.
 *
 * merge has a keeper, too, which reads the states. Its main process is the parent of shards.c: it plays
 * the first batch of the recording, and merges the states.
 */
#ifndef TH_WORKERS_H
#define TH_WORKERS_H

#include "host/base/error.h"

struct th_replaying;
struct th_shards;

/* Begins REPLAY->join or REPLAY->merge. With join it returns in players, and in a main process that plays a
 * segment itself; a main process whose work is done ends. *SHARDS is NULL if merge must play the whole recording.
 * Order: before other threads, handlers and libraries.
 * Errors: TH_USAGE if the recording or the options allow no workers; others with the cause. */
enum th_status th_cli_workers_begin(struct th_replaying *replay, struct th_shards **shards);

/* The size of a segment, and the time of a lease, by default. */
enum { TH_WORKERS_SEGMENT = 64 << 20 };
#define TH_WORKERS_LEASE INT64_C(10000000000)

#endif
