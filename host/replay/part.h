/*
 * A part of a recording whose events can be changed: a few records, decoded.
 */
#ifndef TH_PART_H
#define TH_PART_H

#include "writer.h"

#include "host/base/buffer.h"
#include "host/trace/event.h"

struct th_part_record {
    th_env *env;            /* has the terms of `event` */
    struct th_event event;  /* source NULL: no sound trace message */
    struct th_buffer bytes; /* the record, as it is written */
};

/* The source of events whose members are the only copy of their terms: the terms can be changed. */
extern const struct th_event_source th_replay_part_source;

struct th_replay_part {
    struct th_writer_options how;
    struct th_part_record *records;
    size_t count, capacity;
};

/* Reads the records of STREAM, to be written as HOW says. SCHEDULER_ID as in struct
 * th_reader_options. A record that is no sound trace message stays as it is.
 * Errors: TH_FAILED if a record cannot be written so, or STREAM cannot be kept in memory. */
enum th_status th_replay_part_read(struct th_replay_part *part, const struct th_buffer *stream,
                                   const struct th_writer_options *how, bool scheduler_id);

/* Appends the stream of PART to STREAM. */
void th_replay_part_write(const struct th_replay_part *part, struct th_buffer *stream);

/* Shrinks the terms of all records, the last record first, while TRIAL holds for the stream; TRIAL
 * holds for PART. Terms of one record take at most MOST bytes. Ends early if TRIAL sets *STOPPED. */
void th_replay_part_shrink(struct th_replay_part *part, size_t most, const bool *stopped,
                           bool (*trial)(void *context, const struct th_buffer *stream),
                           void *context);

void th_replay_part_free(struct th_replay_part *part);

#endif
