/*
 * The merge of the outputs of several workers, each of which plays the same events for one tracer.
 * The result is that of one process, in which the tracers get each event in turn.
 *
 * 1. Each worker sends frames by a pipe, with the place at which they were written: the stream and
 *    the record, or a step of the end. A worker's places never decrease.
 * 2. The supervisor reads the place at which a worker is, then drains the worker's pipe. All that the
 *    worker writes later has that place, or a later one.
 * 3. The next frame is that with the least place; at one place, that of the first worker. It is
 *    written once every other worker has a frame, or has ended, or is known to be beyond: at a later
 *    place, or at the same place and after the frame's worker in order.
 * 4. A worker's pipe is not read while HELD_BYTES of its frames are held. So a worker that is ahead
 *    waits in write().
 *
 * No deadlock: if a frame waits for worker W, then W has no frame (3). So W's pipe is read (4), and W
 * does not wait for the supervisor. W goes on, and either sends a frame or passes the place.
 *
 * Messages about the streams come from each worker, as each reads the streams. Such frames are of the
 * channel TH_CRASH_COMMON: at one place those of the first worker that has any are written, and
 * others are dropped, as are those at earlier places.
 *
 * A worker that plays again after a death sends no text of places up to that of the death: all of it
 * was sent before.
 */
#include "supervisor_internal.h"

#include "host/base/memory.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HELD_BYTES = 4 << 20, /* limit of the frames that are held for a worker */
    READ_BYTES = 64 << 10,
    WRITE_BYTES = 64 << 10
};

struct source {
    int pipe;   /* -1: closed */
    bool ended; /* nothing comes any more */
    char *data; /* frames; the last one may be incomplete */
    size_t begin, end, capacity;
    uint64_t last;   /* place of the last frame that was taken */
    uint64_t passed; /* later frames are of this place or a later one */
};

struct th_crash_merge {
    size_t count;
    /* Bytes for one descriptor, in the order of the output. */
    char out[WRITE_BYTES + PIPE_BUF];
    size_t out_begin, out_end;
    int descriptor;
    int error;                             /* errno of the first write to stdout that failed */
    size_t write_limit[STDERR_FILENO + 1]; /* bytes that a ready descriptor takes without a wait */
    uint64_t common_place;                 /* of the last frame of TH_CRASH_COMMON */
    size_t common_worker;                  /* its sender; the number of workers: none yet */
    struct source sources[];
};

struct th_crash_merge *th_crash_merge_begin(size_t count)
{
    struct th_crash_merge *merge = th_alloc_zero(sizeof *merge + count * sizeof merge->sources[0]);

    merge->count = merge->common_worker = count;
    for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++) {
        struct stat about;
        merge->write_limit[i] =
            fstat(i, &about) == 0 && S_ISREG(about.st_mode) ? WRITE_BYTES : PIPE_BUF;
    }
    for (size_t i = 0; i < count; i++)
        merge->sources[i].pipe = -1;
    return merge;
}

void th_crash_merge_add(struct th_crash_merge *merge, size_t worker, int pipe)
{
    struct source *source = &merge->sources[worker];

    source->pipe = pipe;
    source->last = source->passed = 0;
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Reads once. Returns false if there is nothing to read at present, or no more. */
static bool read_source(struct source *source)
{
    ssize_t size;

    if (source->begin > 0) {
        memmove(source->data, source->data + source->begin, source->end - source->begin);
        source->end -= source->begin;
        source->begin = 0;
    }
    if (source->capacity - source->end < READ_BYTES) {
        source->capacity = 2 * source->capacity + READ_BYTES;
        source->data = th_realloc(source->data, source->capacity);
    }
    size = read(source->pipe, source->data + source->end, READ_BYTES);
    if (size == 0) { /* the worker has ended, or a library has closed the descriptor */
        close(source->pipe);
        source->pipe = -1;
    }
    source->end += size > 0 ? (size_t)size : 0;
    return size > 0 || (size < 0 && errno == EINTR);
}

bool th_crash_merge_read(struct th_crash_merge *merge, size_t worker, uint64_t place)
{
    struct source *source = &merge->sources[worker];
    size_t before = source->end - source->begin;

    while (source->pipe >= 0 && source->end - source->begin < HELD_BYTES && read_source(source))
        ;
    if (source->end - source->begin < HELD_BYTES) /* the pipe was drained */
        source->passed = place;
    return source->end - source->begin != before;
}

void th_crash_merge_end(struct th_crash_merge *merge, size_t worker, bool last)
{
    struct source *source = &merge->sources[worker];

    while (source->pipe >= 0 && read_source(source))
        ;
    if (source->pipe >= 0)
        close(source->pipe);
    source->pipe = -1;
    source->passed = 0;
    source->ended = last;
}

void th_crash_merge_leave(struct th_crash_merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        if (merge->sources[i].pipe >= 0)
            close(merge->sources[i].pipe);
        th_free(merge->sources[i].data);
    }
    th_free(merge);
}

/* --- The order -------------------------------------------------------------------------------- */

/* Reads the head of SOURCE's next frame. Returns false if no frame is complete. A library may have
 * written any bytes to the pipe: a frame that cannot be is left out, with all that follows. */
static bool next_frame(struct source *source, struct th_crash_frame *frame)
{
    size_t size = source->end - source->begin;

    if (size < sizeof *frame)
        return false;
    memcpy(frame, source->data + source->begin, sizeof *frame);
    if (frame->size > PIPE_BUF || frame->channel > TH_CRASH_COMMON) {
        source->begin = source->end;
        return false;
    }
    if (frame->place < source->last)
        frame->place = source->last;
    return size - sizeof *frame >= frame->size;
}

/* Returns the number of the worker whose frame is the next, and sets FRAME; COUNT: it is not known
 * yet, or there is none. *LEFT: there are frames. */
static size_t choose(struct th_crash_merge *merge, struct th_crash_frame *frame, bool *left)
{
    size_t best = merge->count;

    for (size_t i = 0; i < merge->count; i++) {
        struct th_crash_frame other;
        if (next_frame(&merge->sources[i], &other) &&
            (best == merge->count || other.place < frame->place)) {
            best = i;
            *frame = other;
        }
    }
    *left = best < merge->count;
    for (size_t i = 0; i < merge->count && *left; i++) {
        const struct source *source = &merge->sources[i];
        struct th_crash_frame other;
        if (i == best || source->ended || next_frame(&merge->sources[i], &other))
            continue;
        if (source->passed < frame->place || (source->passed == frame->place && i < best))
            return merge->count;
    }
    return best;
}

/* --- Writing ---------------------------------------------------------------------------------- */

static void fail(struct th_crash_merge *merge)
{
    if (merge->descriptor == STDOUT_FILENO && !merge->error)
        merge->error = errno;
    merge->out_begin = merge->out_end = 0;
}

/* Writes pending bytes as far as that needs no wait. Returns true if none is left. */
static bool write_out(struct th_crash_merge *merge)
{
    while (merge->out_begin < merge->out_end) {
        struct pollfd ready = {.fd = merge->descriptor, .events = POLLOUT};
        size_t size = merge->out_end - merge->out_begin;
        ssize_t written;
        if (poll(&ready, 1, 0) == 0)
            return false;
        if (size > merge->write_limit[merge->descriptor])
            size = merge->write_limit[merge->descriptor];
        written = write(merge->descriptor, merge->out + merge->out_begin, size);
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            fail(merge);
        else if (written > 0)
            merge->out_begin += (size_t)written;
    }
    merge->out_begin = merge->out_end = 0;
    return true;
}

/* Returns whether the frame of WORKER is written: a common message is written once. */
static bool is_frame_wanted(struct th_crash_merge *merge, size_t worker,
                            const struct th_crash_frame *frame)
{
    if (frame->channel == TH_CRASH_STDOUT)
        return !merge->error;
    if (frame->channel == TH_CRASH_STDERR)
        return true;
    if (frame->place < merge->common_place ||
        (frame->place == merge->common_place && merge->common_worker < merge->count &&
         worker != merge->common_worker))
        return false;
    merge->common_place = frame->place;
    merge->common_worker = worker;
    return true;
}

bool th_crash_merge_write(struct th_crash_merge *merge)
{
    struct th_crash_frame frame = {0};
    bool left = true;
    size_t worker;

    while ((worker = choose(merge, &frame, &left)) < merge->count) {
        struct source *source = &merge->sources[worker];
        int descriptor = frame.channel == TH_CRASH_STDOUT ? STDOUT_FILENO : STDERR_FILENO;
        if ((merge->descriptor != descriptor || merge->out_end > WRITE_BYTES) && !write_out(merge))
            return true;
        merge->descriptor = descriptor;
        if (is_frame_wanted(merge, worker, &frame)) {
            memcpy(merge->out + merge->out_end, source->data + source->begin + sizeof frame,
                   frame.size);
            merge->out_end += frame.size;
        }
        source->last = frame.place;
        source->begin += sizeof frame + frame.size;
    }
    return !write_out(merge) || left;
}

size_t th_crash_merge_poll(const struct th_crash_merge *merge, bool pipes, struct pollfd *polled)
{
    size_t count = 0;

    for (size_t i = 0; i < merge->count && pipes; i++) {
        const struct source *source = &merge->sources[i];
        if (source->pipe >= 0 && source->end - source->begin < HELD_BYTES)
            polled[count++] = (struct pollfd){.fd = source->pipe, .events = POLLIN};
    }
    if (merge->out_begin < merge->out_end)
        polled[count++] = (struct pollfd){.fd = merge->descriptor, .events = POLLOUT};
    return count;
}

int th_crash_merge_error(const struct th_crash_merge *merge)
{
    return merge->error;
}
