/* The state of a feeder, the process that reads a recording of a log: log_feed.c has its steps. */
#ifndef TH_LOG_FEED_H
#define TH_LOG_FEED_H

#include "log_position.h"

#include <signal.h>

struct th_log_request {
    struct th_log_name name;
    const char *reader; /* NULL: the process does not go on where a reader was */
};

struct th_log_feed {
    const struct th_log_name *name;
    const char *reader;              /* as in the request */
    struct th_log_position position; /* of `reader` */
    struct th_log log;
    int out, status;
    char *recording, *subject, *world;
    uint64_t sequence; /* of the next message in the stream, at least */
    uint64_t number;   /* of the next record */
    uint64_t records;  /* written to OUT */
    uint64_t place;    /* in bytes, that is sought; 0: none */
    uint64_t before;   /* bytes of records that come before those of the segment, or of `reader` */
    /* Records of the world are fed from this sequence and this number on; they must have so many bytes. */
    uint64_t world_sequence, world_number, copies;
    bool complete;
    bool passed_end; /* the batch at end= has come */
    bool closed;     /* nobody reads OUT */
    struct th_buffer plain;
    uint64_t lost, gaps; /* records; places */
    uint64_t first_lost; /* number of the first one */
    uint64_t damaged;    /* messages that are no batches */
    char fault[256];     /* of the first of them */
};

/* A signal asks for the end of the stream. Written by the handler of signals. */
extern volatile sig_atomic_t th_replay_log_feed_stopped;

/* As engine->get(), again and again while the server does not answer. TRACEHOST_LOG_AGAIN: the patience has
 * ended, or the stream is to end. */
enum tracehost_log_result th_replay_log_feed_get(struct th_log_feed *feed, const char *subject,
                                                 uint64_t sequence,
                                                 struct tracehost_log_message *message);

/* Writes COUNT records, SIZE bytes at DATA, to the pipe. Returns false if nobody reads them. */
bool th_replay_log_feed_records(struct th_log_feed *feed, const unsigned char *data, size_t size,
                                uint64_t count);

/* Counts the message SEQUENCE of the stream as damaged, and keeps the reason, from the chain, of the first one. */
void th_replay_log_feed_note_damage(struct th_log_feed *feed, uint64_t sequence);

/* Step 1, without the world's records. Errors: TH_MALFORMED; TH_FAILED. */
enum th_status th_replay_log_feed_begin(struct th_log_feed *feed);

/* Writes the records of the world before the record NUMBER. MEASURES: does not write them, but notes in
 * feed->copies how many bytes they have. Returns false if nobody reads them, if they have other bytes than
 * feed->copies, which begin= and a reader that goes on count on, or if they cannot be measured. */
bool th_replay_log_feed_world(struct th_log_feed *feed, uint64_t number, bool measures);

#endif
