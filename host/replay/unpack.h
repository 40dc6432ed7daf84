/*
 * Compressed streams, as plain bytes: gzip (RFC 1952; several members one after the other are one
 * stream) and zstd (RFC 8878; several frames, and skippable frames between them, are one stream).
 *
 * The first bytes decide, not the name. Sizes that headers claim are not used, so memory does not
 * depend on them: gzip takes 32 KiB, zstd at most TH_UNPACK_WINDOW and what surrounds it, as `zstd -d`.
 * Bytes that come before damage, or before a torn end, are given. Both formats have checksums, but
 * behind the bytes that they are of: these have been given when a checksum does not hold.
 * Thread: one at a time.
 */
#ifndef TH_UNPACK_H
#define TH_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    TH_UNPACK_SHOWN = 4,       /* bytes that show whether a stream is compressed */
    TH_UNPACK_WINDOW_LOG = 27, /* of zstd: a frame that needs more is refused */
    TH_UNPACK_WINDOW = 1 << TH_UNPACK_WINDOW_LOG
};

struct th_unpack;

/* Returns true if a compressed stream may begin with the SIZE bytes at DATA. With TH_UNPACK_SHOWN
 * bytes, it does. */
bool th_replay_unpack_begins(const unsigned char *data, size_t size);

/* Begins a stream whose first SIZE bytes, for which th_replay_unpack_begins() is true, were read
 * already; they are copied. Returns NULL if there is no memory. */
struct th_unpack *th_replay_unpack_begin(const unsigned char *first, size_t size);

/* As read(): the next plain bytes of FD. Calls read() once at most.
 * Errors: -1 with errno: EAGAIN if no plain byte has come out yet; EBADMSG if the stream is damaged or
 * torn, th_replay_unpack_fault() tells how. */
ssize_t th_replay_unpack_read(struct th_unpack *unpack, int fd, void *to, size_t size);

/* Returns whether plain bytes may be had without a byte of the file. */
bool th_replay_unpack_is_ready(const struct th_unpack *unpack);

/* Returns "gzip" or "zstd". */
const char *th_replay_unpack_format(const struct th_unpack *unpack);

/* Returns what is wrong with the compressed bytes; NULL: nothing that is known. */
const char *th_replay_unpack_fault(const struct th_unpack *unpack);

/* UNPACK may be NULL. */
void th_replay_unpack_end(struct th_unpack *unpack);

#endif
