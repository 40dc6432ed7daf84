#include "replay_internal.h"

#include "unpack.h"

#include "host/base/memory.h"
#include "host/term/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_CAPACITY = 256 * 1024, /* small enough to stay in the second-level cache */
    LOOK_UP_MS = 500
};

enum th_status th_replay_input_open(struct th_input *input, const char *name)
{
    struct stat about;
    int fd;

    if (strcmp(name, "-") == 0) {
        th_replay_input_attach(input, STDIN_FILENO, "stdin");
        return TH_OK;
    }
    *input = (struct th_input){.fd = -1, .ended = true};
    /* Without O_NONBLOCK, open() of a named pipe would wait for a writer and ignore *stop. */
    fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return th_error_raise(TH_MALFORMED, "%s", strerror(errno));
    if (fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) {
        close(fd);
        return th_error_raise(TH_MALFORMED, "the path is a folder");
    }
    th_replay_input_attach(input, fd, name);
    return TH_OK;
}

void th_replay_input_attach(struct th_input *input, int fd, const char *name)
{
    *input = (struct th_input){.fd = fd, .name = th_strdup(name)};
}

unsigned char *th_replay_input_replace(struct th_input *input, uint64_t position, size_t size)
{
    unsigned char *data = input->data;

    if (size > input->capacity || !data)
        data = th_may_realloc(input->data, size + TH_INPUT_SLACK);
    if (!data)
        return NULL;
    input->data = data;
    input->capacity = size > input->capacity ? size : input->capacity;
    input->offset = position;
    input->begin = 0;
    input->end = size;
    return data;
}

void th_replay_input_close(struct th_input *input)
{
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    if (input->spool)
        th_replay_spool_close(input->spool);
    th_replay_unpack_end(input->unpack);
    th_free(input->name);
    th_free(input->data);
    th_buffer_free(&input->kept);
    *input = (struct th_input){.fd = -1, .ended = true};
}

/* Moves the remaining bytes to the front; doubles the buffer only if it is full. Returns false if
 * memory is short. */
static bool make_input_room(struct th_input *input, size_t wanted)
{
    size_t there = th_replay_input_there(input);
    size_t most = wanted > input->most ? wanted : input->most;
    size_t capacity = FIRST_CAPACITY;
    unsigned char *data;

    if (input->begin > 0) {
        memmove(input->data, input->data + input->begin, there);
        input->offset += input->begin;
        input->begin = 0;
        input->end = there;
    }
    if (there < input->capacity)
        return true;
    if (input->capacity > 0)
        capacity = input->capacity < most / 2 ? 2 * input->capacity : most;
    data = th_may_realloc(input->data, capacity + TH_INPUT_SLACK);
    if (!data)
        return false;
    input->data = data;
    input->capacity = capacity;
    return true;
}

/* Returns the number of bytes to read into the room of INPUT, of which WANTED must be available. 0:
 * the limit is reached, and no piece lies across it. */
static size_t input_room(const struct th_input *input, size_t wanted)
{
    size_t room = input->capacity - input->end, there = th_replay_input_there(input);
    uint64_t reached = input->offset + input->end;

    if (!input->limit)
        return room;
    if (reached >= input->limit)
        return there == 0 ? 0 : wanted - there < room ? wanted - there : room;
    return input->limit - reached < room ? (size_t)(input->limit - reached) : room;
}

/*
 * Waits for bytes, at most LIMIT milliseconds; -1: without a limit. Returns false if *stop is set, or
 * after the limit. The wait is in poll(), not in read(), as a signal ends poll() even if its handler
 * was installed with SA_RESTART; poll() has a timeout, as the signal may come just before it.
 */
static bool wait_for_input(struct th_input *input, int limit)
{
    struct pollfd wait = {.fd = input->spool ? th_replay_spool_news() : input->fd,
                          .events = POLLIN};
    int64_t end = th_clock_real_monotonic() + limit * INT64_C(1000000), left;
    int ready, patience;

    for (unsigned rounds = 0;; rounds++) {
        input->stopped = input->stop && __atomic_load_n(input->stop, __ATOMIC_RELAXED);
        if (input->stopped)
            return false;
        if (input->spool && th_replay_spool_is_ready(input->spool, input->offset + input->end))
            return true;
        if ((input->unpack && th_replay_unpack_is_ready(input->unpack)) || input->kept.size > 0)
            return true;
        if (rounds > 0 && input->waiting)
            input->waiting(input->context);
        patience = input->waiting && rounds == 0   ? 0 /* available bytes need no wait */
                   : input->stop || input->waiting ? LOOK_UP_MS
                                                   : -1;
        left = limit < 0 ? INT64_MAX : end - th_clock_real_monotonic();
        if (left < patience * INT64_C(1000000) || (patience < 0 && limit >= 0))
            patience = left > 0 ? (int)(left / 1000000) + 1 : 0;
        ready = poll(&wait, 1, patience);
        if (ready > 0 && input->spool)
            th_replay_spool_hear();
        else if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
        if (left <= 0)
            return false;
    }
}

static ssize_t read_input(struct th_input *input, size_t size)
{
    unsigned char *to = input->data + input->end;

    if (input->kept.size > 0) {
        size = size < input->kept.size ? size : input->kept.size;
        memcpy(to, input->kept.data, size);
        input->kept.size -= size;
        memmove(input->kept.data, input->kept.data + size, input->kept.size);
        return (ssize_t)size;
    }
    if (input->spool)
        return th_replay_spool_read(input->spool, input->fd, to, size, input->offset + input->end,
                                    th_replay_input_position(input));
    if (input->unpack)
        return th_replay_unpack_read(input->unpack, input->fd, to, size);
    return read(input->fd, to, size);
}

void th_replay_input_fill(struct th_input *input, size_t wanted)
{
    while (th_replay_input_there(input) < wanted && !input->ended) {
        size_t room;
        ssize_t got;
        if (!wait_for_input(input, -1)) {
            input->ended = true;
            return;
        }
        if (!make_input_room(input, wanted)) {
            input->error = ENOMEM;
            input->ended = true;
            return;
        }
        room = input_room(input, wanted);
        got = room ? read_input(input, room) : 0;
        if (got > 0) {
            input->end += (size_t)got;
        } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
            input->error = got < 0 ? errno : 0;
            input->ended = true;
        }
    }
}

void th_replay_input_begin(struct th_input *input)
{
    th_replay_input_fill(input, 1);
    if (input->spool || input->end == 0 || !th_replay_unpack_begins(input->data, input->end))
        return;
    th_replay_input_fill(input, TH_UNPACK_SHOWN);
    if (input->end < TH_UNPACK_SHOWN || !th_replay_unpack_begins(input->data, input->end))
        return;
    input->unpack = th_replay_unpack_begin(input->data, input->end);
    if (!input->unpack) {
        input->error = ENOMEM;
        input->ended = true;
    } else if (!input->stopped) {
        input->ended = false;
    }
    input->end = 0;
    th_replay_input_fill(input, 1);
}

bool th_replay_input_await(struct th_input *input, int milliseconds)
{
    return input->ended || th_replay_input_there(input) > 0 ||
           wait_for_input(input, milliseconds) || input->stopped;
}

const char *th_replay_input_fault(const struct th_input *input)
{
    const char *fault = input->spool    ? th_replay_spool_fault(input->spool)
                        : input->unpack ? th_replay_unpack_fault(input->unpack)
                                        : NULL;

    return fault ? fault : strerror(input->error);
}

bool th_replay_input_skip(struct th_input *input, uint64_t size)
{
    while (size > 0 && th_replay_input_have(input, 1)) {
        size_t there = th_replay_input_there(input);
        size_t taken = there < size ? there : (size_t)size;
        th_replay_input_take(input, taken);
        size -= taken;
    }
    return size == 0;
}
