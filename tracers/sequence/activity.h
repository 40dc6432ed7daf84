/*
 * The activity of processes between messages: intervals on a scheduler, of processes whose running is
 * traced; intervals in traced calls, of the others. The first call after a message begins a new
 * interval, so that the calls of an interval are those between two messages. An interval in calls is
 * known when the end of its outermost call is known.
 */
#ifndef SEQUENCE_ACTIVITY_H
#define SEQUENCE_ACTIVITY_H

#include "../kit/local.h"
#include "../kit/moment.h"
#include "../kit/stack.h"

enum { INTERVALS_MOST = 1 << 16 };

struct interval {
    ERL_NIF_TERM who;
    uint32_t participant; /* its number; UINT32_MAX: it is not in the diagram; set after the end */
    uint32_t before;      /* the interval before, in the same outermost call; UINT32_MAX: none */
    bool running;         /* on a scheduler; else in traced calls */
    bool known;
    struct moment from, to;
    uint64_t calls;   /* traced calls that began in it */
    struct mfa first; /* function of the first of them; module 0: none */
};

/* Initialised with {0}. */
struct activity {
    struct interval *all; /* those of one process in the order of their times */
    uint32_t count, size;
    uint32_t sent; /* messages so far */
    bool closed;   /* no more intervals begin, as no more messages are drawn */
    uint64_t more; /* intervals beyond INTERVALS_MOST */
    uint64_t lost; /* intervals without memory */
    struct repairs repairs;
};

/* Present activity of a process. Initialised with {0}. */
struct doing {
    struct interval now;
    bool open;      /* `now` has begun */
    uint32_t sent;  /* messages before `now` began */
    bool scheduled; /* its running is traced */
    bool doubtful;  /* the end of a call inside the outermost one was doubtful */
    uint32_t last;  /* the latest interval in the outermost call; UINT32_MAX: none yet */
    struct stack stack;
};

/* Handles an event of WHO's call, or of the end of a call. */
TRACER_LOCAL void activity_call(ErlNifEnv *env, struct activity *activity, struct doing *doing,
                                ERL_NIF_TERM who, ERL_NIF_TERM tag, const struct mfa *mfa,
                                ERL_NIF_TERM opts);

/* Handles an event of WHO's being scheduled in or out. */
TRACER_LOCAL void activity_schedule(struct activity *activity, struct doing *doing,
                                    ERL_NIF_TERM who, bool in, const struct moment *now);

#endif
