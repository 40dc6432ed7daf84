/*
 * Builds streams from Erlang text or bytes for the tests of replay/, reads them and returns the
 * records as text.
 */
#ifndef STREAM_H
#define STREAM_H

#include "host/replay/replay.h"

/* Appends a record: any OP, PAYLOAD and SIZE; a message, given as Erlang text; a drop record. */
void stream_add_record(struct th_buffer *stream, unsigned op, uint32_t size, const void *payload,
                       size_t bytes);
void stream_add_message(struct th_buffer *stream, const char *term);
void stream_add_drop(struct th_buffer *stream, uint32_t dropped);

/* Appends the content of FILE. A missing file fails the test. */
void stream_add_file(struct th_buffer *stream, const char *file);

/* Opens a reader of BYTES bytes at DATA under the name "stream". OPTIONS may be NULL. */
enum th_status stream_open(const void *data, size_t bytes, const struct th_reader_options *options,
                           struct th_reader **reader);

/*
 * Reads to the end and returns one line a record:
 *   2@94 {trace,<0.1.0>,call,{m,f,1}}    number of the record, its byte, its whole term
 *   2@94 other {trace,1}                 a record that is no trace message
 *   malformed: OUTERMOST: CAUSE: CAUSE   likewise "partial: "
 * The text is valid until the next call.
 */
const char *stream_tell(struct th_reader *reader);

/* Opens STREAM, calls stream_tell() and closes the reader. If the stream cannot be opened, the
 * result is "refused: CHAIN". */
const char *stream_read(const struct th_buffer *stream);

/* Returns the thread's chain of causes as one line, outermost first, and clears the chain. */
const char *stream_causes(void);

/* Calls TEST with each .trace file in samples/recordings. Fewer than 25 files fail the test. */
void stream_each_sample(void (*test)(const char *file));

#endif
