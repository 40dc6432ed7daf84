/*
 * The calls that are open: for each process that has any, a stack.
 *
 * A process's own thread tells of it, but that may be another one each time, so its stack is used
 * under a lock, which the processes of one shard share.
 */
#ifndef TRACER_CALLS_H
#define TRACER_CALLS_H

#include "counts.h"
#include "figures.h"

#include <pthread.h>

/* Of an event without a time. */
#define TIME_NONE INT64_MIN

enum { SHARDS = 64 };

struct open_call {
    ERL_NIF_TERM module, function;
    unsigned arity;
    uint32_t mark;    /* the tracer's own */
    int64_t began;    /* nanoseconds, or TIME_NONE */
    uint64_t callees; /* nanoseconds that calls took which this one made */
};

struct process_calls {
    struct process_calls *next; /* in its bucket, or among the unused */
    ERL_NIF_TERM word;
    struct open_call *frames;
    size_t used, size;
    struct counts open; /* by function, how many of the frames are its */
};

/* All under `lock`. */
struct shard {
    pthread_mutex_t lock;
    struct calls *calls;            /* all of them */
    struct process_calls **buckets; /* a power of two of them */
    size_t processes, size;
    struct process_calls *unused;
    size_t frames_max;
    uint64_t forgotten; /* calls that full stacks let go of */
    uint64_t lost;      /* calls that there was no memory to keep */
};

/* Start it with calls_init(). */
struct calls {
    struct shard shards[SHARDS];
    /* Called with OF for a call that a full stack lets go of, under its lock; or NULL. */
    void (*forgets)(void *of, const struct open_call *call);
    void *of;
};

/* How a call ended. */
struct ended {
    struct open_call frame;
    bool told;      /* false: events told of the end of a call further out only */
    bool outermost; /* none of the same function is open further out */
    int64_t took;   /* nanoseconds; TIME_NONE if it is not told or has no times */
};

/* The nanoseconds of a call that was told to end, less those of the calls that it made. */
static inline uint64_t ended_own(const struct ended *ended)
{
    uint64_t took = (uint64_t)ended->took;

    return took > ended->frame.callees ? took - ended->frame.callees : 0;
}

/* FRAMES_MAX is how many calls of one process are kept, two at least. */
TRACER_LOCAL void calls_init(struct calls *calls, size_t frames_max);
TRACER_LOCAL void calls_free(struct calls *calls);

/* The shard of a process, locked, until calls_leave(). */
TRACER_LOCAL struct shard *calls_enter(struct calls *calls, ERL_NIF_TERM process);
TRACER_LOCAL void calls_leave(struct shard *shard);

/* FUNCTION's figures do not matter. A stack that is full forgets its older half: so a loop of calls
 * that never return costs no more than that. False, and lost, if there is no memory. */
TRACER_LOCAL bool calls_begin(struct shard *shard, ERL_NIF_TERM process,
                              const struct count *function, int64_t now, uint32_t mark);

/* Takes the next call off the stack that the end of FUNCTION ends: first those that it made and
 * that are open still, in the end itself, which is told. False, and nothing is taken, if no call of
 * FUNCTION is open. */
TRACER_LOCAL bool calls_end(struct shard *shard, ERL_NIF_TERM process, const struct count *function,
                            int64_t now, struct ended *ended);

/* Takes the next call off the stack of a process that ends; false when there are no more. */
TRACER_LOCAL bool calls_exit(struct shard *shard, ERL_NIF_TERM process, struct ended *ended);

#endif
