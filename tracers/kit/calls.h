/*
 * The calls that are open: for each process that has any, a stack.
 *
 * A return_from or exception_from ends a call of its function. A return_to names the function that
 * runs then, which need not be traced, and ends the call on top and the tail calls below it:
 *
 * 1. If a call of that function is open, all calls above the nearest one end.
 * 2. If it is `undefined`, all calls end, as nobody called the first function.
 * 3. Else it is not traced. If it is the caller of an open call, the calls from the nearest such
 * one upwards end. Those below it that have the same caller may have been tail calls, and are
 *    `doubted`; the others are open, as a tail call keeps the caller.
 * 4. Without callers only the call on top ends for certain: all calls below it are doubted.
 *
 * A function that was returned to may itself have ended, if another call of it is open below that
 * can have been returned to: so the nearest one is doubted then, and the calls between them. A call
 * that is doubted may have ended earlier than a return_to says: its own return_from or
 * exception_from still tells its end, but no return_to does, unless no other call is open. So what
 * is told is exact, here where stack.h guesses.
 *
 * An exception that passes a function that is not traced ends calls without a return_to. Callers
 * tell of most of these calls, which are doubted, too: a call whose caller is another than the
 * function that was returned to, or is not the caller of a later call that is not its own. Without
 * callers such a call seems to be open still.
 *
 * If a return_from or exception_from came just before, the call on top has ended already: the
 * return_to ends only what 1. and 2. say.
 *
 * A process's own thread tells of it, but that may be another one each time, so its stack is used
 * under a lock, which the processes of one shard share.
 */
#ifndef TRACER_CALLS_H
#define TRACER_CALLS_H

#include "counts.h"
#include "figures.h"
#include "stack.h"

#include <pthread.h>

/* Of an event without a time. */
#define TIME_NONE INT64_MIN

enum {
    SHARDS = 64,
    DOUBTED_MOST = 1024, /* calls of one process that are open and doubted; more are let go */
};

struct open_call {
    struct mfa mfa, caller; /* the caller's module is 0 if it is not known */
    uint32_t mark;          /* the tracer's own */
    bool doubted;
    int64_t began;    /* nanoseconds, or TIME_NONE */
    uint64_t callees; /* nanoseconds that calls took which this one made */
};

struct process_calls {
    struct process_calls *next; /* in its bucket, or among the unused */
    ERL_NIF_TERM word;
    struct open_call *frames;
    size_t used, size;
    size_t doubted;     /* the lowest ones, which are doubted */
    size_t alone;       /* others that are */
    bool returned;      /* the latest event was a return_from or exception_from */
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
    uint64_t doubtful;  /* returns by which calls became doubted */
    struct mfa doubted; /* the function that the first of these returned to */
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
    bool told;      /* false: events told of the end of a call further out only, or it is doubted */
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

/* CALLER's module is 0 if it is not known. FUNCTION's figures do not matter. A stack that is full
 * forgets its older half: so a loop of calls that never return costs no more than that. False, and
 * lost, if there is no memory. */
TRACER_LOCAL bool calls_begin(struct shard *shard, ERL_NIF_TERM process,
                              const struct count *function, const struct mfa *caller, int64_t now,
                              uint32_t mark);

/* Takes the next call off the stack that the end of FUNCTION ends: first those that it made and
 * that are open still, in the end itself, which is told. False, and nothing is taken, if no call of
 * FUNCTION is open. */
TRACER_LOCAL bool calls_end(struct shard *shard, ERL_NIF_TERM process, const struct count *function,
                            int64_t now, struct ended *ended);

/* Decides which calls a return_to to TO ends: all but the lowest ones, whose number is returned. */
TRACER_LOCAL size_t calls_return_to(struct shard *shard, ERL_NIF_TERM process,
                                    const struct mfa *to);

/* Takes the next call off the stack that has more than LEFT; false when there are no more. */
TRACER_LOCAL bool calls_end_above(struct shard *shard, ERL_NIF_TERM process, size_t left,
                                  int64_t now, struct ended *ended);

/* Adds the shard's returns by which calls became doubted. */
static inline void calls_doubtful(const struct shard *shard, struct repairs *repairs)
{
    if (!repairs->doubtful)
        repairs->doubted = shard->doubted;
    repairs->doubtful += shard->doubtful;
}

/* Takes the next call off the stack of a process that ends; false when there are no more. */
TRACER_LOCAL bool calls_exit(struct shard *shard, ERL_NIF_TERM process, struct ended *ended);

#endif
