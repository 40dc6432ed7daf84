/*
 * Open calls: a stack for each process that has any.
 *
 * A return_from or exception_from ends a call of its function. A return_to names the function that
 * runs next, which need not be traced, and ends the call on top and the tail calls below it:
 *
 * 1. If a call of that function is open, all calls above the nearest one end.
 * 2. If that function is `undefined`, all calls end, as no function called the first one.
 * 3. Otherwise it is not traced. If it is the caller of an open call, the calls from the nearest
 *    such call upwards end. Calls below that have the same caller may have been tail calls, and are
 *    `doubted`; the others stay open, as a tail call keeps the caller.
 * 4. Without callers only the call on top certainly ends: all calls below it are doubted.
 *
 * The call of a function that was returned to may itself have ended, if another call of this
 * function is open further down: then the nearest one, and the calls between the two, are doubted.
 * A doubted call may have ended earlier than a return_to indicates: its own return_from or
 * exception_from still reports its end, but a return_to does not, unless no other call is open. So
 * the ends reported here are exact, while stack.h guesses.
 *
 * An exception that passes a function that is not traced ends calls without a return_to. Callers
 * reveal most of these calls, which are doubted, too: a call whose caller is not the function that
 * was returned to, or not the caller of a later call that it did not make. Without callers such a
 * call seems to be open still.
 *
 * If a return_from or exception_from came just before, the call on top has ended already: the
 * return_to ends calls by rules 1 and 2 only; by neither, it makes all open calls doubted.
 *
 * The events of a process come from its own thread, which can be a different one each time; so the
 * stack is used under a lock, which the processes of one shard share.
 */
#ifndef TRACER_CALLS_H
#define TRACER_CALLS_H

#include "counts.h"
#include "figures.h"
#include "schedule.h"
#include "stack.h"

#include <pthread.h>

enum {
    SHARDS = 64,
    /* Maximum of doubted open calls of one process; if there are more, all its open calls are
     * dropped. A server has thousands if calls of traced functions have no ends. More than this
     * makes a return_to slow, which may look at all open calls. */
    DOUBTED_MOST = 16384,
    /* Processes without open calls that a shard keeps because it knows whether they are on a
     * scheduler; the times of others are unknown until their next `in` or `out`. */
    SCHEDULED_MOST = 1024,
};

struct open_call {
    struct mfa mfa, caller; /* the caller's module is 0 if the caller is unknown */
    uint32_t mark;          /* data of the tracer */
    uint32_t open;          /* index of its function in the slots of process_calls.open */
    bool doubted;
    int64_t began;        /* nanoseconds, or TIME_NONE */
    uint64_t callees;     /* nanoseconds of the calls that this call made */
    struct spent before;  /* of its process, when it began */
    struct spent by_them; /* the part of `callees` on and off a scheduler */
};

struct process_calls {
    struct process_calls *next; /* next in its bucket, or among the unused */
    ERL_NIF_TERM word;
    struct open_call *frames;
    size_t used, size;
    size_t doubted; /* number of the lowest frames, all of which are doubted */
    size_t alone;   /* number of other doubted frames */
    bool returned;  /* the latest event was a return_from or exception_from */
    struct schedule schedule;
    struct counts open; /* number of open frames by function */
};

/* Protected by `lock`. */
struct shard {
    pthread_mutex_t lock;
    struct calls *calls;            /* the calls that contain this shard */
    struct process_calls **buckets; /* array of `size` buckets, a power of two */
    size_t processes, size;
    struct process_calls *latest; /* process of the latest event; NULL: none, or it was dropped */
    struct process_calls *unused;
    size_t frames_max;
    uint64_t forgotten; /* calls dropped from full stacks */
    uint64_t lost;      /* calls not kept for want of memory */
    uint64_t unwatched; /* times that a process was dropped beyond SCHEDULED_MOST */
    uint64_t doubtful;  /* returns that made calls doubted */
    struct mfa doubted; /* function to which the first of these returned */
};

/* Initialised by calls_init(). */
struct calls {
    struct shard shards[SHARDS];
    /* Called with OF for each call dropped from a full stack, under its lock; or NULL. */
    void (*forgets)(void *of, const struct open_call *call);
    void *of;
};

/* The end of a call. */
struct ended {
    struct open_call frame;
    bool told;          /* false if only the end of an outer call was reported, or the call is
                       doubted */
    bool outermost;     /* no outer call of the same function is open */
    int64_t took;       /* nanoseconds; TIME_NONE if `told` is false or times are missing */
    struct spent spent; /* the part of `took` on and off a scheduler */
};

/* Returns the nanoseconds of a call whose end is known, without those of the calls that it made. */
static inline uint64_t ended_own(const struct ended *ended)
{
    uint64_t took = (uint64_t)ended->took;

    return took > ended->frame.callees ? took - ended->frame.callees : 0;
}

/* Returns the part of ended_own() on and off a scheduler. */
static inline struct spent ended_own_spent(const struct ended *ended)
{
    return schedule_since(ended->spent, ended->frame.by_them, ended_own(ended));
}

/* FRAMES_MAX: number of calls kept for each process, at least two. */
TRACER_LOCAL void calls_init(struct calls *calls, size_t frames_max);
TRACER_LOCAL void calls_free(struct calls *calls);

/* Locks and returns the shard of a process, until calls_leave(). */
TRACER_LOCAL struct shard *calls_enter(struct calls *calls, ERL_NIF_TERM process);
TRACER_LOCAL void calls_leave(struct shard *shard);

/* Returns the shard of a process, for the holder of a lock of all CALLS. */
TRACER_LOCAL struct shard *calls_shard(struct calls *calls, ERL_NIF_TERM process);

/* Returns the open calls of PROCESS; NULL or none of them if there are none. Valid until the shard's next event. */
TRACER_LOCAL struct process_calls *calls_of(struct shard *shard, ERL_NIF_TERM process);

/* Returns the innermost of the lowest COUNT open calls that is not doubted, and so contains what is
 * called on them. NULL: each of them may have ended. */
static inline struct open_call *calls_around(const struct process_calls *process, size_t count)
{
    while (count > process->doubted && process->frames[count - 1].doubted)
        count--;
    return count > process->doubted ? &process->frames[count - 1] : NULL;
}

/* Begins a call of FUNCTION, whose figures are not used. CALLER's module is 0 if the caller is
 * unknown. If the stack has FRAMES_MAX calls, its older half is dropped first: so a loop of calls
 * that never return has a limited cost. If there is no memory, returns false, and counts the call
 * in `lost`. */
TRACER_LOCAL bool calls_begin(struct shard *shard, ERL_NIF_TERM process,
                              const struct count *function, const struct mfa *caller, int64_t now,
                              uint32_t mark);

/* Pops the next call that the end of FUNCTION ends: first the calls that it made and that are still
 * open, last its own call, with `told`. False, and no change, if no call of FUNCTION is open. */
TRACER_LOCAL bool calls_end(struct shard *shard, ERL_NIF_TERM process, const struct count *function,
                            int64_t now, struct ended *ended);

/* Decides which calls a return_to to TO ends: all but the lowest ones, whose number it returns. */
TRACER_LOCAL size_t calls_return_to(struct shard *shard, ERL_NIF_TERM process,
                                    const struct mfa *to);

/* Pops the top call of a stack with more than LEFT calls; false if there is none. */
TRACER_LOCAL bool calls_end_above(struct shard *shard, ERL_NIF_TERM process, size_t left,
                                  int64_t now, struct ended *ended);

/* Handles an event of a process that comes by past_calls(): begins or ends calls without figures.
 * NOW: its time, or TIME_NONE. False for a return_from or exception_from whose call is not open. */
TRACER_LOCAL bool calls_past(struct shard *shard, const struct th_past_event *event, int64_t now);

/* Handles an `in`, `out` or the like at NOW. EXITED: it is the last one of PROCESS. */
TRACER_LOCAL void calls_schedule(struct shard *shard, ERL_NIF_TERM process, bool in, bool exited,
                                 int64_t now);

/* Meaning of `unwatched`. */
#define CALLS_UNWATCHED                                                                           \
    "times that a process was forgotten between its calls, as too many are scheduled; its times " \
    "on schedulers are unknown until the next `in` or `out`"

/* Losses of all shards. */
struct losses {
    uint64_t lost;      /* calls not kept for want of memory */
    uint64_t forgotten; /* calls dropped from full stacks */
    uint64_t unwatched; /* see CALLS_UNWATCHED */
};

/* Adds the losses to LOSSES, the returns that made calls doubted to REPAIRS. */
static inline void calls_losses(const struct calls *calls, struct losses *losses,
                                struct repairs *repairs)
{
    for (size_t i = 0; i < SHARDS; i++) {
        const struct shard *shard = &calls->shards[i];
        losses->lost += shard->lost;
        losses->forgotten += shard->forgotten;
        losses->unwatched += shard->unwatched;
        if (!repairs->doubtful)
            repairs->doubted = shard->doubted;
        repairs->doubtful += shard->doubtful;
    }
}

/* Pops the next call of a process that ends; false if there is none, and the process is forgotten. */
TRACER_LOCAL bool calls_exit(struct shard *shard, ERL_NIF_TERM process, struct ended *ended);

#endif
