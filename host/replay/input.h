/*
 * Bytes of a file, pipe or socket, in order, through a buffer that grows only as data arrives.
 */
#ifndef TH_INPUT_H
#define TH_INPUT_H

#include "host/base/base.h"

#include <string.h>

/* Readable bytes behind the last one of the buffer: what is read of them means nothing, but whole
 * words can be loaded without a look at the end. */
enum { TH_INPUT_SLACK = 16 };

struct th_input {
    unsigned char *data;
    size_t begin,
        end;         /* the bytes that are there and not yet taken: data[begin] to data[end - 1] */
    size_t capacity; /* of data, slack left out */
    size_t most;     /* what it grows to at most, unless more is wanted in one piece */
    uint64_t offset; /* of data[0] in the file */
    int fd;
    bool ended;   /* nothing comes after data[end - 1] */
    bool stopped; /* it ended because of *stop */
    int error;    /* errno of the read that ended it, 0: the end of the file */
    char *name;   /* for messages */

    /* NULL, or looked at while it waits for bytes, twice a second and when a signal comes: not 0
     * ends the input. Relaxed: it stands for itself. */
    const volatile int *stop;

    /* NULL, or called with CONTEXT before it waits for bytes, and twice a second while it does. */
    void (*waiting)(void *context);
    void *context;
};

/* Opens the file NAME, "-": stdin. TH_MALFORMED with the cause, which does not tell the name; then
 * the input is at its end. */
enum th_status th_replay_input_open(struct th_input *input, const char *name);

/* The same for an open file descriptor, which is closed with the input (stdin is not). */
void th_replay_input_attach(struct th_input *input, int fd, const char *name);

/* Closes; it is at its end then. An input of zeros is allowed. */
void th_replay_input_close(struct th_input *input);

/* Reads until WANTED bytes are there, or the end. Waits no longer than for these. */
void th_replay_input_fill(struct th_input *input, size_t wanted);

/* Takes SIZE bytes as they come. False if it ends before: then all were taken. */
bool th_replay_input_skip(struct th_input *input, uint64_t size);

/* Bytes that are there. */
static inline size_t th_replay_input_there(const struct th_input *input)
{
    return input->end - input->begin;
}

/* True if WANTED bytes are there, or have come now. */
static inline bool th_replay_input_have(struct th_input *input, size_t wanted)
{
    if (__builtin_expect(th_replay_input_there(input) >= wanted, 1))
        return true;
    th_replay_input_fill(input, wanted);
    return th_replay_input_there(input) >= wanted;
}

/* The next byte; valid until the next call of th_replay_input_fill(). */
static inline const unsigned char *th_replay_input_bytes(const struct th_input *input)
{
    return input->data + input->begin;
}

/* Where the next byte stands in the file. */
static inline uint64_t th_replay_input_position(const struct th_input *input)
{
    return input->offset + input->begin;
}

/* Takes SIZE bytes that are there. */
static inline void th_replay_input_take(struct th_input *input, size_t size)
{
    input->begin += size;
}

#endif
