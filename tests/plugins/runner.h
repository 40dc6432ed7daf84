/* What the tests and the library `runner` share. */
#ifndef RUNNER_H
#define RUNNER_H

enum { RUNNER_TICKS = 256 };

struct runner {
    _Atomic int open;                /* lets runner:wait/0 go on */
    _Atomic int waiting;             /* runner:wait/0 has begun */
    _Atomic int destroyed;           /* destructors that have run */
    _Atomic int destroyed_on;        /* the type of the thread that ran the latest */
    _Atomic int tick_count;          /* of runner:tick/3 */
    _Atomic int ticks[RUNNER_TICKS]; /* who ticked, in order */
};

/* Its exported variable, "runner". */
extern struct runner runner;

#endif
