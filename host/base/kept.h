/*
 * Buffers of outputs that outlive the process: the supervisor writes what a dead worker had not
 * written yet.
 *
 * A buffer lies in the region (shared.h). Bytes that nobody has written are TH_KEPT_FREE: the last
 * other byte is the end of the output. So the owner fills each part again that it has written to
 * the descriptor. (Output whose last byte happens to be TH_KEPT_FREE loses this byte after a death;
 * no UTF-8 text contains it.)
 */
#ifndef TH_KEPT_H
#define TH_KEPT_H

#include <stdbool.h>
#include <stddef.h>

enum { TH_KEPT_FREE = 0xFB };

struct th_kept;

/* Returns a buffer of SIZE bytes for output to DESCRIPTOR, which the supervisor then has, too. NULL:
 * there is no supervisor, or no room. Owner: the caller ends the buffer by th_kept_end(), before it
 * closes DESCRIPTOR: a reader of a pipe sees the end when all have closed it. Thread: any. */
char *th_kept_begin(int descriptor, size_t size);
void th_kept_end(char *buffer);

/* Notes that the SIZE bytes at DATA, if they are in BUFFER, were written or dropped. TORN: the
 * owner keeps more bytes elsewhere, which come before those in BUFFER: the supervisor then writes
 * nothing. Thread: one at a time. */
void th_kept_written(char *buffer, const char *data, size_t size, bool torn);

/* The output is compressed: the supervisor writes the rest of BUFFER as a gzip member. */
void th_kept_gzip(char *buffer);

/* Gives stdout such a buffer. Its kind and size are those that the C library would choose; it still
 * writes to STDOUT_FILENO. Order: in the worker, before anything is written. */
void th_kept_stdout(void);

/* True once something was written to stdout, with or without such a buffer. */
bool th_kept_stdout_is_used(void);

/* --- For the supervisor ----------------------------------------------------------------------- */

/* The message that begins a buffer, with its descriptor, or ends it, without. */
struct th_kept_message {
    const struct th_kept *kept; /* NULL: see th_crash_set_held() */
};

/* Writes the rest of a dead worker's buffer to DESCRIPTOR. Returns the number of bytes that were
 * lost: the buffer was torn, or the write failed. */
size_t th_kept_rescue(const struct th_kept *kept, int descriptor);

#endif
