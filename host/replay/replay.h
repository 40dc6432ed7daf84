/*
 * The face of replay/: reads, writes and plays recorded streams.
 *
 *   reader.h   struct th_reader: a file, a wrap set, JSON lines or a running node, as events. Begin
 *              here; replay_internal.h has the table of operations that a format fills.
 *   player.h   struct th_player: delivers the events of a reader to the sessions of a tracing, and
 *              updates the world (process/) with each event
 *   writer.h   struct th_writer: events as a stream
 *   call_filter.h  struct th_call_filter: leaves out calls that were short or deep
 *   call_durations.h  struct th_call_durations: how long each call of a stream lasted
 *   flat_rows.h  struct th_flat_rows: events as rows of CSV and of other tables
 *   kept_records.h  struct th_replay_kept: records in memory, of which parts are played again
 *   log/log_stream.h  recordings as a log on NATS JetStream: names, writers, lists
 *   log/log_job.h  struct th_log_job: segments of such a recording, played by many workers
 *   part.h     struct th_replay_part: a few records whose terms are shrunk (shrink.h)
 *   shrink.h   th_replay_shrink(): smaller terms of an event, while a test holds
 *   generate.h streams with which tracers are tried
 *   spool.h    several processes read streams that can be read once only
 *
 * minimize.h has the search for the smallest part of a recording for which a test holds.
 *
 * Thread: one at a time uses a reader, a player or a writer. The thread that replays in a tracing
 * owns the world, and makes the player's steps.
 * Errors: streams are untrusted. TH_MALFORMED or TH_PARTIAL with the byte of the damage; the events
 * before that byte were delivered, and lost events are counted.
 */
#ifndef TH_REPLAY_H
#define TH_REPLAY_H

#include "call_durations.h"
#include "call_filter.h"
#include "flat_rows.h"
#include "generate.h"
#include "kept_records.h"
#include "log/log_job.h"
#include "log/log_stream.h"
#include "part.h"
#include "player.h"
#include "reader.h"
#include "shrink.h"
#include "spool.h"
#include "writer.h"

#endif
