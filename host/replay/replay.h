/*
 * The face of replay/: recorded streams are read, written and played.
 *
 *   reader.h   struct th_reader: a file, a wrap set, JSON lines or a running node, as events. Begin
 *              here; replay_internal.h has the table of operations that a format fills.
 *   player.h   struct th_player: hands the events of a reader to the sessions of a tracing, and
 *              keeps the world (process/) in step with them
 *   writer.h   struct th_writer: events as a stream
 *
 * Thread: one thread at a time uses a reader, a player or a writer. A player's steps are made by
 * the thread that replays in its tracing, to which the world belongs.
 * Errors: streams are untrusted. TH_MALFORMED or TH_PARTIAL, with the byte at which the stream
 * broke; the events before that byte were delivered, and lost events are counted.
 */
#ifndef TH_REPLAY_H
#define TH_REPLAY_H

#include "player.h"
#include "reader.h"
#include "writer.h"

#endif
