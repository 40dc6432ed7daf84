/* The parts of a job that several files of jobs share. */
#ifndef TH_LOG_JOB_INTERNAL_H
#define TH_LOG_JOB_INTERNAL_H

#include "log_job.h"

enum { TH_LOG_SUBJECT = 512 }; /* bytes of a subject's text */

enum th_log_mark { TH_LOG_FREE, TH_LOG_CLAIMED, TH_LOG_DONE, TH_LOG_UNSOUND };

struct th_log_entry {
    enum th_log_mark mark;
    char host[65], nonce[TH_LOG_ID];
    long pid;
    uint64_t pieces, bytes;
    uint64_t sequence; /* 0: there is none */
};

/* A segment that this worker does not have, as far as it knows. */
struct th_log_seen {
    bool done;
    uint64_t sequence; /* of the claim */
    int64_t since;     /* when this worker saw it first */
};

struct th_log_job {
    const struct th_log_job_options *options;
    struct th_log_name name;
    struct th_log log;
    char *recording, *records; /* records: the subject */
    char *bucket, *stream;     /* stream: of the bucket */
    char id[TH_LOG_ID], nonce[TH_LOG_ID];
    struct th_log_entry self; /* host, pid, nonce of this worker */
    struct th_log_batch last; /* of the recording, as far as it was seen; its texts are not valid */
    struct th_log_seen *seen;
    size_t seen_count;

    bool holds; /* a claim of `segment`, written as `sequence` at `renewed` */
    uint64_t segment, sequence;
    int64_t renewed;
};

/* Raises TH_FAILED with the client's reason. */
enum th_status th_replay_log_job_fails(const struct th_log_job *job);

/* Does as engine->get(), again and again for a minute while the server does not answer. */
enum tracehost_log_result th_replay_log_job_get_message(struct th_log_job *job, const char *stream,
                                                        const char *subject, uint64_t sequence,
                                                        struct tracehost_log_message *message);

/* Writes VALUE in place of the message *SEQUENCE of SUBJECT, whose sequence it becomes. If an answer was
 * lost, the message that is there may be the one that was written. PATIENT: tries again while the server does not answer.
 * TH_END: another one has written; *SEQUENCE is that one's. Errors: TH_FAILED. */
enum th_status th_replay_log_job_write(struct th_log_job *job, const char *subject,
                                       const char *value, uint64_t *sequence, bool patient);

/* Sets the host, the pid and a random nonce of JOB. */
void th_replay_log_job_identify(struct th_log_job *job);

/* Writes the subject of a key of JOB to SUBJECT. */
void th_replay_log_job_subject(const struct th_log_job *job, char subject[TH_LOG_SUBJECT],
                               const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Reads a mark. A damaged one is that of a segment that is free. */
void th_replay_log_job_read_mark(const struct tracehost_log_message *message,
                                 struct th_log_entry *entry);

/* Reads the mark of SEGMENT; without one the segment is free. Errors: TH_FAILED. */
enum th_status th_replay_log_job_get_mark(struct th_log_job *job, uint64_t segment,
                                          struct th_log_entry *entry);

/* Opens the bucket of the stream. TH_END: there is none. Errors: TH_MALFORMED. */
enum th_status th_replay_log_job_open_bucket(struct th_log_job *job, bool make);

/* Looks how far the recording has come. A last message that is no batch is passed over: there will be another.
 * Errors: TH_FAILED. */
enum th_status th_replay_log_job_look(struct th_log_job *job);

/* Returns the number of segments that can be played. SIZE: of a segment, in bytes. */
uint64_t th_replay_log_job_segments(const struct th_log_job *job, int64_t size);

#endif
