/*
 * The position of a reader that goes on where it was: `tracehost replay --resume=READER`.
 *
 * The position is the key RECORDING.readers.READER of the bucket of the stream (log_job.h), with the text
 *
 *   position N HOST PID NONCE
 *
 * N is the number of the record that comes next; all records before have been delivered. NONCE is that of the
 * process that has written the position. The key is only written in place of the text that was seen
 * (compare and set). A process that begins writes N again, with its own nonce: from then on the process
 * before can write no position any more. Without the nonce, two processes that read equally fast would
 * write equal texts, and would not notice each other.
 *
 * Records of the feeder's pipe are counted, as the reader counts them. They are not all records of the
 * log: the world's copies come first, and the feeder adds drop records for gaps.
 */
#ifndef TH_LOG_POSITION_H
#define TH_LOG_POSITION_H

#include "log_job_internal.h"

struct th_log_position {
    struct th_log_job_options options;
    struct th_log_job job;
    char subject[TH_LOG_SUBJECT];
    uint64_t begin, number; /* the position at the beginning; as it was written last */
    uint64_t sequence;      /* of the text */
    /* Places in the pipe behind which numbers are not those of the record before plus one. */
    struct th_log_place {
        uint64_t records, number; /* records before it in the pipe; number of the next one */
    } * places;
    size_t count, capacity;
};

/* Reads the position of READER in RECORDING of LOG, and takes it over. WATCH: see struct th_log_job_options.
 * NAME, LOG and RECORDING must stay valid.
 * Errors: TH_MALFORMED; TH_FAILED. */
enum th_status th_replay_log_position_open(struct th_log_position *position,
                                           const struct th_log_name *name, const struct th_log *log,
                                           char *recording, const char *reader, int watch);

/* Notes that, behind RECORDS records of the pipe, record NUMBER of the log comes next. */
void th_replay_log_position_note(struct th_log_position *position, uint64_t records,
                                 uint64_t number);

/* Writes that the first RECORDS records of the pipe have been delivered.
 * Errors: TH_FAILED, also if another process has taken the position over. */
enum th_status th_replay_log_position_write(struct th_log_position *position, uint64_t records);

/* Appends to TEXT, for users, the readers that have positions in JOB's bucket. RECORDING: "*": of all recordings. */
void th_replay_log_position_list(struct th_log_job *job, const char *recording,
                                 struct th_buffer *text);

#endif
