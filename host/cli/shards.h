/*
 * Plays a stream in shares: `tracehost replay --shards=N`, and, with workers on other machines in place of
 * children, `replay --join` and `merge` (workers.h).
 *
 * 1. th_cli_shards_fork() makes N - 1 children before any library is opened. Each process then
 *    begins its tracers as a replay without shares does.
 * 2. Shares are cut at records, so that each takes about the same time. A child passes over the
 *    records before its share: only those that change the world are read (replay/cut.c).
 * 3. At the end of its share a child sends its counts and the terms that its tracers save, and waits
 *    for the parent, as its tracers' files may be in use.
 * 4. The parent plays the first share. At its end it adds what the children have sent, in their
 *    order, and ends as a replay without shares does.
 *
 * If a share has met anything that could make a difference (damage, a message on stderr, a tracer
 * that failed or crashed), nothing is merged: the parent plays the rest of the stream itself. So
 * results, messages and the exit status are those of a replay without shares.
 */
#ifndef TH_SHARDS_H
#define TH_SHARDS_H

#include "host/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct th_player_counts;
struct th_player_options;
struct th_reader;
struct th_recording;
struct th_replaying;
struct th_shards;
struct th_tracing;

/* Step 1, for replay->shards shares. *SHARDS is NULL if there is one share alone.
 * Order: before other threads, handlers and libraries.
 * Errors: TH_USAGE with the reason if the stream cannot be cut, or options need the whole of it. */
enum th_status th_cli_shards_fork(struct th_replaying *replay, struct th_shards **shards);

/* True in a child. SHARDS may be NULL. */
bool th_cli_shards_is_child(const struct th_shards *shards);

/* Checks that the tracers can be merged, and prepares the stream for them.
 * Order: before the stream is opened. Errors: TH_USAGE with the name of one that cannot. */
enum th_status th_cli_shards_check(const struct th_shards *shards,
                                   const struct th_tracing *tracing);

/* Step 2: prepares READER and OPTIONS for th_replay_play(), which counts in COUNTS. */
void th_cli_shards_limit(struct th_shards *shards, struct th_tracing *tracing,
                         struct th_reader *reader, struct th_player_options *options,
                         struct th_player_counts *counts);

/* Step 4, for th_player_options.has_more: merges the shares, or returns true if the parent must play
 * the rest. */
bool th_cli_shards_has_more(struct th_shards *shards, struct th_recording *recording);

/* Step 3. Returns in the parent alone.
 * Errors: TH_FAILED if the tracers' figures could not be merged. */
enum th_status th_cli_shards_deliver(struct th_shards *shards);

/* Returns the number of shares whose results were merged; 1 if the parent has played all. SHARDS may
 * be NULL. */
size_t th_cli_shards_merged(const struct th_shards *shards);

/* For struct th_player_options. */
bool th_cli_shards_passes_on(struct th_shards *shards);

/* Ends the children. In a child, which has then failed to deliver its share, with STATUS: ends the
 * process. SHARDS may be NULL. */
void th_cli_shards_end(struct th_shards *shards, int status);

#endif
