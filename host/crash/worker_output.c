/*
 * The output of one of several workers: stdout and stderr send frames to the supervisor, which
 * merges them (worker_merge.c). The descriptors stay as they are, so that isatty() and the like
 * have the same results.
 *
 * The streams have no buffer: no byte is lost if the worker dies, and each byte has the place at
 * which it was written.
 */
#include "supervisor_internal.h"

#include "host/trace/event.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FRAME_BYTES = PIPE_BUF - sizeof(struct th_crash_frame) };

/* Written before there are threads. */
static int to_merge = -1;
static const struct th_self *player;
static uint64_t written_before; /* place up to which a worker before this one has sent all text */

static volatile bool
    common; /* main thread only; another thread that writes may read either value */
static _Atomic uint64_t last_place; /* relaxed: only keeps a thread's places in order */

uint64_t th_crash_place_of(const struct th_shared_region *region, const struct th_self *main)
{
    enum { NUMBER_BITS = TH_CRASH_NUMBER_BITS };
    /* Acquire: what was written before the place, or before the number, happens before. */
    uint64_t place = atomic_load_explicit(&region->place, memory_order_acquire), number = 0;
    const struct th_event *played;

    if (!place || place << (64 - NUMBER_BITS) || !main)
        return place;
    played = __atomic_load_n(&main->played, __ATOMIC_ACQUIRE);
    if (th_shared_holds(region, played, sizeof *played))
        number = __atomic_load_n(&played->number, __ATOMIC_ACQUIRE);
    /* The stream may have ended meanwhile: then the number may be one of the next stream. */
    if (atomic_load_explicit(&region->place, memory_order_acquire) != place)
        return place;
    return place | (number & (((uint64_t)1 << NUMBER_BITS) - 1));
}

void th_crash_set_place(uint64_t place)
{
    /* Release: frames that were sent before belong to earlier places. */
    if (th_shared_here)
        atomic_store_explicit(&th_shared_here->place, place, memory_order_release);
}

void th_crash_next_place(void)
{
    if (th_shared_here)
        th_crash_set_place(atomic_load_explicit(&th_shared_here->place, memory_order_relaxed) + 1);
}

bool th_crash_set_common(bool on)
{
    bool before = common;

    common = on;
    return before;
}

/* Places never decrease in one worker: at a damage the number may be that of the record before. */
static uint64_t place_now(void)
{
    uint64_t place = th_crash_place_of(th_shared_here, player);
    uint64_t last = atomic_load_explicit(&last_place, memory_order_relaxed);

    if (place < last)
        return last;
    atomic_store_explicit(&last_place, place, memory_order_relaxed);
    return place;
}

/* A child that a library forked writes to the descriptor: the supervisor does not wait for it. */
static ssize_t send_or_write(const struct th_crash_frame *frame, const char *data)
{
    struct iovec parts[] = {{(void *)(uintptr_t)frame, sizeof *frame},
                            {(void *)(uintptr_t)data, frame->size}};
    bool child = th_shared_here->worker != getpid();
    ssize_t sent;

    do
        sent = child ? write(frame->channel == TH_CRASH_STDOUT ? STDOUT_FILENO : STDERR_FILENO,
                             data, frame->size)
                     : writev(to_merge, parts, 2);
    while (sent < 0 && errno == EINTR);
    return child || sent < 0 ? sent : (ssize_t)frame->size;
}

static ssize_t send_text(void *cookie, const char *data, size_t size)
{
    struct th_crash_frame frame = {.place = place_now(), .channel = TH_CRASH_STDOUT};
    size_t done = 0;
    ssize_t sent = 0;

    if (frame.place <= written_before && written_before)
        return (ssize_t)size;
    if (cookie)
        frame.channel = common ? TH_CRASH_COMMON : TH_CRASH_STDERR;
    else
        th_crash_page()->wrote = true;
    while (done < size && sent >= 0) {
        frame.size = (uint32_t)(size - done < FRAME_BYTES ? size - done : FRAME_BYTES);
        sent = send_or_write(&frame, data + done);
        done += sent > 0 ? (size_t)sent : 0;
    }
    /* Release: the frame is in the pipe before a later place or number is seen. */
    atomic_thread_fence(memory_order_release);
    return (ssize_t)done;
}

static FILE *open_frame_stream(void *cookie, int descriptor)
{
    static const cookie_io_functions_t functions = {.write = send_text};
    FILE *file = fopencookie(cookie, "w", functions);

    if (!file)
        return NULL;
    setvbuf(file, NULL, _IONBF, 0);
    file->_fileno = descriptor; /* as in base/kept.c */
    return file;
}

void th_crash_send_output(int pipe, uint64_t written)
{
    static char is_stderr;
    FILE *out = open_frame_stream(NULL, STDOUT_FILENO),
         *errors = open_frame_stream(&is_stderr, STDERR_FILENO);

    to_merge = pipe;
    written_before = written;
    player = &th_self;
    if (out)
        stdout = out;
    if (errors)
        stderr = errors;
}
