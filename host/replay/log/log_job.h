/*
 * Jobs: a recording of a log, cut into segments that workers on many machines play with equal options.
 *
 * Segment K has the batches whose Tracehost-Position is in [K * SIZE, (K + 1) * SIZE), without the first
 * batch of the recording. A segment can be played when a batch behind it exists, or when the recording
 * is complete. A job is a recording and a text with all that decides the results; its id is a hash of
 * the text.
 *
 * All that workers share is in the key-value bucket tracehost_NAME of the server, so that a state
 * cannot outlive its mark, nor a mark its state:
 *
 *   RECORDING.JOB.job                the text
 *   RECORDING.JOB.segments.K         a mark, below
 *   RECORDING.JOB.pieces.NONCE.K.N   a part of the state, which is one zstd frame with a checksum
 *
 * A mark is one of
 *
 *   free HOST PID NONCE
 *   claimed HOST PID NONCE
 *   done HOST PID NONCE PIECES BYTES    the state has so many pieces, and bytes when it is plain
 *   unsound HOST PID NONCE              the segment cannot be merged: merge plays the recording itself
 *
 * NONCE is the worker's. A mark is only written in place of the one that its writer has seen (compare
 * and set); the server numbers the writes. The steps of a worker:
 *
 * 1. It claims the first segment that is free, or whose claim has not been written again for the time
 *    LEASE by this worker's own clock: no clocks are compared. It removes the pieces of the former
 *    worker, which cannot mark the segment any more.
 * 2. It writes its claim again every LEASE / 3 while it plays.
 * 3. It stores the pieces. They have names of their own, so that a worker that was stalled writes in
 *    nobody's way.
 * 4. It marks the segment as done: one write, which fails if the claim was taken. Then the pieces are
 *    removed, and the result is dropped.
 *
 * Thread: one at a time uses a job. The client has threads: a process opens a job after it was forked.
 */
#ifndef TH_LOG_JOB_H
#define TH_LOG_JOB_H

#include "log_stream.h"

struct th_log_job;

struct th_log_job_options {
    const char *name; /* of the recording's log */
    const char *text;
    int64_t size;     /* of a segment, in bytes */
    int64_t lease_ns; /* 0: this process is no worker */
    int watch;        /* a socket: waits end if its other end was closed, or has written */
};

/* Opens the job of OPTIONS. A worker makes it if there is none.
 * Owner: th_replay_log_job_end(), whatever the status. OPTIONS must stay valid.
 * Errors: TH_MALFORMED; TH_USAGE with the jobs that there are, if a process that is no worker finds none. */
enum th_status th_replay_log_job_open(const struct th_log_job_options *options,
                                      struct th_log_job **job);
void th_replay_log_job_end(struct th_log_job *job);

/* The id of the recording. */
const char *th_replay_log_job_recording(const struct th_log_job *job);

/* Step 1: waits for a segment. TH_END: all are done, or the wait has ended by `watch`. Errors: TH_FAILED. */
enum th_status th_replay_log_job_claim(struct th_log_job *job, uint64_t *segment);

/* Step 2. TH_END: another worker has the claim. Errors: TH_FAILED. */
enum th_status th_replay_log_job_renew(struct th_log_job *job);

/* Steps 3 and 4 for STATE; NULL: the segment is unsound. TH_END: another worker has the claim. Errors: TH_FAILED. */
enum th_status th_replay_log_job_mark(struct th_log_job *job, const struct th_buffer *state);

/* Gives back the claim, if this worker has one. */
void th_replay_log_job_release(struct th_log_job *job);

/* Finds out for merge: the number of segments, which are all done; the size of the first
 * batch, and the number of records of the recording. *SOUND: the states can be merged.
 * Errors: TH_PARTIAL with what is missing; TH_FAILED. */
enum th_status th_replay_log_job_survey(struct th_log_job *job, uint64_t *segments,
                                        uint64_t *first_bytes, uint64_t *records, bool *sound);

/* Appends the state of SEGMENT to STATE. Errors: TH_PARTIAL if pieces are missing or damaged; TH_FAILED. */
enum th_status th_replay_log_job_get(struct th_log_job *job, uint64_t segment,
                                     struct th_buffer *state);

/* Appends to TEXT, for users, the jobs of the stream of NAME and their workers, and the readers that have
 * positions (log_position.h). Errors: TH_MALFORMED. */
enum th_status th_replay_log_job_list(const struct th_log_name *name, struct th_buffer *text);

/* Removes the job ID of the recording of NAME, with its states. A worker that still plays begins it again.
 * Errors: TH_MALFORMED; TH_USAGE if there is no such job; TH_FAILED. */
enum th_status th_replay_log_job_remove(const struct th_log_name *name, const char *id);

#endif
