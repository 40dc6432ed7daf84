/*
 * The spool: several processes, here called readers, read streams that can be read once only: stdin,
 * pipes, connections. Each reads such a stream as a file, from its beginning, at its own pace.
 *
 * 1. th_replay_spool_begin() makes a file without a name for each such stream, maps shared memory and
 *    forks the spool, a process that runs no library. Then the readers are forked.
 * 2. The spool takes the streams in turn. When a reader opens the stream, the spool opens it and
 *    copies its bytes to the file. It publishes how many there are, and the end or the error.
 * 3. A reader reads the file up to the published number. There it waits until a pipe of its own has a
 *    byte: the spool writes one to each reader after each publication. If the spool dies, the pipe
 *    is at its end.
 * 4. A reader publishes how far it has read. If the slowest reader is TH_SPOOL_AHEAD bytes behind, the
 *    spool does not read on until that reader writes a byte to the spool's pipe. So the source of
 *    the stream waits, as it does for a single reader.
 * 5. If more than TH_SPOOL_KEPT bytes lie before the record at which the slowest reader is, the spool
 *    gives the oldest back to the file system. From then on a reader cannot begin again; a worker
 *    that follows a dead one begins at the record of the death. So a file takes TH_SPOOL_KEPT and
 *    TH_SPOOL_AHEAD bytes at most, and the record that is being read. A file system that cannot give
 *    back parts of a file keeps all.
 * 6. When no reader reads the stream any more, the spool closes it.
 *
 * The spool ends after the last stream, with its parent, and when no other process has its pipe.
 * A terminal that the spool reads in the background stops its process group, so all processes.
 */
#ifndef TH_SPOOL_H
#define TH_SPOOL_H

#include "host/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TH_SPOOL_KEPT ((uint64_t)1 << 30)    /* bytes before the slowest reader */
#define TH_SPOOL_AHEAD ((uint64_t)256 << 20) /* bytes that the slowest reader has not read */

struct th_node_options;

struct th_spool_limits {
    uint64_t kept, ahead; /* instead of TH_SPOOL_KEPT and TH_SPOOL_AHEAD; for tests */
};

/*
 * Forks the spool for READERS processes that will read the COUNT streams NAMES; does nothing if all
 * of these are files. NODE (see struct th_reader_options) and LIMITS may be NULL.
 * Owner: NAMES and the names must stay valid.
 * Order: before the readers are forked, and before there are threads.
 * Errors: TH_USAGE for a wrap set of pipes; TH_FAILED with the cause.
 */
enum th_status th_replay_spool_begin(const char *const *names, size_t count, size_t readers,
                                     const struct th_node_options *node,
                                     const struct th_spool_limits *limits);

/* Makes the calling process reader number READER, or its successor: th_replay_reader_open() of a
 * stream that can be read once then reads the spool. It finds the streams in the order of their
 * names. */
void th_replay_spool_enter(size_t reader);

/* Notes that no process reads as READER any more. Process: the parent of the readers. */
void th_replay_spool_leave(size_t reader);

/* Ends the spool, of which no reader has been forked: the streams can be read as without it. */
void th_replay_spool_end(void);

/* Prepares a successor of READER, which has ended, or has closed all streams and will open them again.
 * Returns whether the successor can read all streams from their beginning; that stays so until it has
 * opened them. Process: the parent of the readers, or a reader for itself. */
bool th_replay_spool_again(size_t reader);

#endif
