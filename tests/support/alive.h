/*
 * Processes and functions of this host for the tests of live events: the tracing of scene.h,
 * shared; functions m:f0/1, m:f1/1, ...
 */
#ifndef ALIVE_H
#define ALIVE_H

#include "scene.h"

enum { ALIVE_FUNCTIONS = 4 };

struct alive {
    struct th_live_tracee process; /* the first member */
    uint64_t words;                /* that it has allocated */
};

extern struct th_traceable_function alive_functions[ALIVE_FUNCTIONS];

/* Begins a scene without sessions, and the functions. */
void alive_begin(void);
void alive_end(void);

/* <0.N.4096>; PARENT may be NULL. */
struct alive *alive_spawn(unsigned n, struct alive *parent, bool linked);
void alive_exit(struct alive *process);

/* A call of m:fI(ARGUMENT), an external one with a caller that nobody knows; it goes by the site as
 * a function would. */
struct th_live_requests alive_call(struct alive *process, unsigned i, th_term argument);

/* The same, with CALL's `external` and `caller`. */
struct th_live_requests alive_call_as(struct alive *process, unsigned i, th_term argument,
                                      const struct th_call_event *as);

/* m:fI/1 returns VALUE, an atom; raises error:VALUE. */
void alive_return(struct alive *process, unsigned i, struct th_live_requests *wants,
                  const char *value);
void alive_raise(struct alive *process, unsigned i, struct th_live_requests *wants,
                 const char *value);

/* Control is in m:fI/1 again. */
void alive_return_to(struct alive *process, unsigned i);

#endif
