/*
 * Records that are kept in memory, so that a part of a recording can be played again.
 *
 * The bytes of the records stay as they stand in the stream. Records of a stream of another format
 * are converted: a list has one format.
 */
#ifndef TH_KEPT_RECORDS_H
#define TH_KEPT_RECORDS_H

#include "minimize.h"
#include "writer.h"

#include "host/base/buffer.h"

struct th_reader;
struct th_reader_options;

struct th_replay_kept {
    struct th_writer_options how; /* format, and the node of the records */
    struct th_buffer bytes;
    size_t *ends; /* in `bytes`, of each record */
    struct th_replay_classes *classes;
    size_t count, capacity, classes_capacity;
    size_t most; /* limit of `bytes` */
};

/* Appends EVENT, the latest record of READER, of which nothing is decoded yet; EVENT stays so.
 * Errors: TH_FAILED if there are more bytes than `most`; TH_MALFORMED if EVENT must be converted
 * and is damaged. */
enum th_status th_replay_kept_add(struct th_replay_kept *kept, const struct th_reader *reader,
                                  const struct th_event *event);

/* Appends the records that READER reads next, until there are at least ENOUGH bytes. Damaged records
 * are left out.
 * Errors: TH_FAILED if there are more bytes than `most`. */
enum th_status th_replay_kept_read(struct th_replay_kept *kept, struct th_reader *reader,
                                   size_t enough);

/* Appends a stream of the RECORDS, COUNT indices in ascending order, to STREAM. */
void th_replay_kept_write(const struct th_replay_kept *kept, const size_t records[], size_t count,
                          struct th_buffer *stream);

void th_replay_kept_free(struct th_replay_kept *kept);

/* Opens a reader of STREAM's bytes; NAME is for messages, OPTIONS may be NULL.
 * Owner: the reader has a copy of the bytes.
 * Errors: TH_FAILED if the system has no memory for them; those of th_replay_reader_attach(). */
enum th_status th_replay_kept_open(const struct th_buffer *stream, const char *name,
                                   const struct th_reader_options *options,
                                   struct th_reader **reader);

#endif
