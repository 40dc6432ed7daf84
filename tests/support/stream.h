/*
 * Streams for the tests of replay/: built from Erlang text or bytes, read through, told as text.
 */
#ifndef STREAM_H
#define STREAM_H

#include "host/replay/replay.h"

/* Appends a record of a trace port: any OP, payload and size; a message given as Erlang text. */
void stream_add_record(struct th_buffer *stream, unsigned op, uint32_t size, const void *payload,
                       size_t bytes);
void stream_add_message(struct th_buffer *stream, const char *term);
void stream_add_drop(struct th_buffer *stream, uint32_t dropped);

/* Appends the content of a file; fails the test if it is not there. */
void stream_add_file(struct th_buffer *stream, const char *file);

/* A reader of BYTES bytes at DATA, called "stream". OPTIONS may be NULL. */
enum th_status stream_open(const void *data, size_t bytes, const struct th_reader_options *options,
                           struct th_reader **reader);

/*
 * Reads to the end and tells what came, a line each:
 *   2@94 {trace,<0.1.0>,call,{m,f,1}}    a record: its number, its byte, the whole of it
 *   2@94 other {trace,1}                 one that is no trace message
 *   malformed: OUTERMOST: CAUSE: CAUSE   likewise "partial: "
 * The text is valid until the next call.
 */
const char *stream_tell(struct th_reader *reader);

/* stream_open(), stream_tell(), th_replay_reader_close(); "refused: CHAIN" if it is not opened. */
const char *stream_read(const struct th_buffer *stream);

/* The thread's chain of causes as one line, outermost first; then there is none. */
const char *stream_causes(void);

/* Calls TEST with the name of each file in samples/recordings that ends in .trace; fails the test
 * if there are not many. */
void stream_each_sample(void (*test)(const char *file));

#endif
