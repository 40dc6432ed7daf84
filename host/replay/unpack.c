#include "unpack.h"

#include "packed/packed.h"

#include "host/base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    RAW_BYTES = 128 * 1024,
    GZIP_WINDOW = 15 + 16, /* bits; 16: gzip, as zlib.h has it */
    FRAME_HEAD = 5         /* least bytes of a frame that tell more */
};

struct th_unpack {
    ZSTD_DCtx *zstd; /* NULL: gzip */
    z_stream gzip;
    bool full;   /* more plain bytes may be had from those that were taken */
    bool inside; /* of a member or frame */
    size_t
        next; /* zstd: bytes to its next block; a fault in a block loses what one call would give */
    bool ended; /* FD has no more bytes */
    /* The first compressed bytes, and the last ones, which tell whether a packed recording has its end. */
    unsigned char first[TH_PACKED_MARK_SIZE], last[sizeof(uint32_t)];
    size_t first_size;
    char fault[120];
    size_t begin, end; /* of the bytes in `raw` that were not taken */
    size_t capacity;   /* of `raw` */
    unsigned char raw[];
};

static const unsigned char gzip_magic[] = {0x1F, 0x8B}, zstd_magic[] = {0x28, 0xB5, 0x2F, 0xFD},
                           skippable_magic[] = {0x2A, 0x4D, 0x18}; /* from the second byte on */

static bool begins_as(const unsigned char *data, size_t size, const unsigned char *magic,
                      size_t magic_size)
{
    return memcmp(data, magic, size < magic_size ? size : magic_size) == 0;
}

/* Returns whether a zstd frame, or a skippable one, may begin with the SIZE bytes at DATA. */
static bool begins_zstd(const unsigned char *data, size_t size)
{
    return begins_as(data, size, zstd_magic, sizeof zstd_magic) ||
           ((data[0] & 0xF0) == 0x50 &&
            begins_as(data + 1, size - 1, skippable_magic, sizeof skippable_magic));
}

bool th_replay_unpack_begins(const unsigned char *data, size_t size)
{
    return size > 0 &&
           (begins_as(data, size, gzip_magic, sizeof gzip_magic) || begins_zstd(data, size));
}

/* Notes that SIZE more bytes, at DATA, are there. */
static void keep_ends(struct th_unpack *unpack, const unsigned char *data, size_t size)
{
    size_t room = sizeof unpack->first - unpack->first_size, most = sizeof unpack->last;

    memcpy(unpack->first + unpack->first_size, data, size < room ? size : room);
    unpack->first_size += size < room ? size : room;
    if (size < most)
        memmove(unpack->last, unpack->last + size, most - size);
    else
        data += size - most;
    size = size < most ? size : most;
    memcpy(unpack->last + most - size, data, size);
}

/* Returns whether the stream is a packed recording whose last part is not there. */
static bool lacks_end(const struct th_unpack *unpack)
{
    return unpack->first_size == sizeof unpack->first && th_replay_packed_is_mark(unpack->first) &&
           th_replay_packed_get32(unpack->last) != TH_PACKED_FOOT_MAGIC;
}

struct th_unpack *th_replay_unpack_begin(const unsigned char *first, size_t size)
{
    size_t capacity = size > RAW_BYTES ? size : RAW_BYTES;
    struct th_unpack *made = th_may_realloc(NULL, sizeof *made + capacity);
    bool begun;

    if (!made)
        return NULL;
    *made = (struct th_unpack){.capacity = capacity};
    memcpy(made->raw, first, size);
    keep_ends(made, first, size);
    made->end = size;
    made->next = FRAME_HEAD;
    if (begins_zstd(first, size)) {
        made->zstd = ZSTD_createDCtx();
        begun = made->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(made->zstd, ZSTD_d_windowLogMax,
                                                                   TH_UNPACK_WINDOW_LOG));
    } else {
        begun = inflateInit2(&made->gzip, GZIP_WINDOW) == Z_OK;
    }
    if (begun)
        return made;
    th_replay_unpack_end(made);
    return NULL;
}

void th_replay_unpack_end(struct th_unpack *unpack)
{
    if (!unpack)
        return;
    ZSTD_freeDCtx(unpack->zstd);
    inflateEnd(&unpack->gzip);
    th_free(unpack);
}

bool th_replay_unpack_is_ready(const struct th_unpack *unpack)
{
    return unpack->full || unpack->begin < unpack->end;
}

const char *th_replay_unpack_format(const struct th_unpack *unpack)
{
    return unpack->zstd ? "zstd" : "gzip";
}

const char *th_replay_unpack_fault(const struct th_unpack *unpack)
{
    return *unpack->fault ? unpack->fault : NULL;
}

static ssize_t unpack_fails(struct th_unpack *unpack, const char *how, const char *why)
{
    snprintf(unpack->fault, sizeof unpack->fault, "the compressed data (%s) %s%s%s",
             th_replay_unpack_format(unpack), how, *why ? ": " : "", why);
    errno = EBADMSG;
    return -1;
}

static ssize_t unpack_zstd(struct th_unpack *unpack, void *to, size_t size)
{
    size_t there = unpack->end - unpack->begin, wanted;
    ZSTD_inBuffer in = {unpack->raw + unpack->begin, there < unpack->next ? there : unpack->next,
                        0};
    ZSTD_outBuffer out = {to, size, 0};

    wanted = ZSTD_decompressStream(unpack->zstd, &out, &in);

    if (ZSTD_isError(wanted) && ZSTD_getErrorCode(wanted) == ZSTD_error_memory_allocation) {
        errno = ENOMEM;
        return -1;
    }
    if (ZSTD_isError(wanted))
        return unpack_fails(unpack, "are damaged", ZSTD_getErrorName(wanted));
    unpack->begin += in.pos;
    unpack->inside = wanted > 0;
    unpack->next = wanted > 0 ? wanted : FRAME_HEAD;
    unpack->full = out.pos == size;
    return (ssize_t)out.pos;
}

/* Zeros may follow the last member, as on a tape; gzip ignores them, too. */
static void skip_zeros(struct th_unpack *unpack)
{
    while (unpack->begin < unpack->end && !unpack->raw[unpack->begin])
        unpack->begin++;
}

static ssize_t unpack_gzip(struct th_unpack *unpack, void *to, size_t size)
{
    z_stream *gzip = &unpack->gzip;
    int status;

    if (!unpack->inside)
        skip_zeros(unpack);
    if (!unpack->full && unpack->begin == unpack->end)
        return 0;
    unpack->inside = true;
    gzip->next_in = unpack->raw + unpack->begin;
    gzip->avail_in = (unsigned)(unpack->end - unpack->begin);
    gzip->next_out = to;
    gzip->avail_out = size < UINT32_MAX ? (unsigned)size : UINT32_MAX;
    size = gzip->avail_out;
    status = inflate(gzip, Z_NO_FLUSH);
    unpack->begin = unpack->end - gzip->avail_in;
    if (status == Z_MEM_ERROR) {
        errno = ENOMEM;
        return -1;
    }
    if (status == Z_STREAM_END) {
        unpack->inside = false;
        inflateReset(gzip);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
        if (gzip->avail_out == size)
            return unpack_fails(unpack, "are damaged", gzip->msg ? gzip->msg : zError(status));
        unpack->full = true; /* the next call gives no byte, and this status again */
        return (ssize_t)(size - gzip->avail_out);
    }
    unpack->full = gzip->avail_out == 0 && unpack->inside;
    return (ssize_t)(size - gzip->avail_out);
}

ssize_t th_replay_unpack_read(struct th_unpack *unpack, int fd, void *to, size_t size)
{
    bool read_once = false;

    for (;;) {
        ssize_t got;
        while (th_replay_unpack_is_ready(unpack)) {
            got = unpack->zstd ? unpack_zstd(unpack, to, size) : unpack_gzip(unpack, to, size);
            if (got != 0)
                return got;
        }
        if (unpack->ended && unpack->inside)
            return unpack_fails(unpack, "are cut off", "");
        if (unpack->ended && lacks_end(unpack)) {
            snprintf(unpack->fault, sizeof unpack->fault, "%s", TH_PACKED_NO_END);
            errno = EBADMSG;
            return -1;
        }
        if (unpack->ended)
            return 0;
        if (read_once) {
            errno = EAGAIN;
            return -1;
        }
        got = read(fd, unpack->raw, unpack->capacity);
        if (got < 0)
            return -1;
        read_once = true;
        keep_ends(unpack, unpack->raw, (size_t)got);
        unpack->begin = 0;
        unpack->end = (size_t)got;
        unpack->ended = got == 0;
    }
}
