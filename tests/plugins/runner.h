/* Shared by the tests and the library `runner`. */
#ifndef RUNNER_H
#define RUNNER_H

enum { RUNNER_TICKS = 256 };

struct runner {
    _Atomic int open;                /* lets runner:wait/0 return */
    _Atomic int waiting;             /* number of runner:wait/0 that have started */
    _Atomic int destroyed;           /* number of destructors that have run */
    _Atomic int destroyed_on;        /* type of the thread of the last destructor */
    _Atomic int tick_count;          /* of runner:tick/3 */
    _Atomic int ticks[RUNNER_TICKS]; /* values of Who, in order */
};

/* The library's exported variable "runner". */
extern struct runner runner;

#endif
