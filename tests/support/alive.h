/*
 * Provides processes and the functions m:f0/1, m:f1/1, ... of this host for the tests of live
 * events. The tracing is that of scene.h, shared between threads.
 */
#ifndef ALIVE_H
#define ALIVE_H

#include "scene.h"

enum { ALIVE_FUNCTIONS = 4 };

struct alive {
    struct th_live_tracee process; /* the first member */
    uint64_t words;                /* words that the process has allocated */
};

extern struct th_traceable_function alive_functions[ALIVE_FUNCTIONS];

/* Begins a scene without sessions, then begins the functions. */
void alive_begin(void);
void alive_end(void);

/* Starts the process <0.N.4096>. PARENT may be NULL. LINKED: with a link to PARENT.
 * Owner: alive_exit() ends and frees the process. */
struct alive *alive_spawn(unsigned n, struct alive *parent, bool linked);
void alive_exit(struct alive *process);

/* Calls m:fI(ARGUMENT) externally, from an unknown caller. If the site is not armed, no event is
 * raised and the result is empty, as in a traced function. */
struct th_live_requests alive_call(struct alive *process, unsigned i, th_term argument);

/* Like alive_call(), with the `external` and `caller` of AS. */
struct th_live_requests alive_call_as(struct alive *process, unsigned i, th_term argument,
                                      const struct th_call_event *as);

/* Ends a call of m:fI/1, which returns the atom VALUE or raises error:VALUE. */
void alive_return(struct alive *process, unsigned i, struct th_live_requests *wants,
                  const char *value);
void alive_raise(struct alive *process, unsigned i, struct th_live_requests *wants,
                 const char *value);

/* Reports that control is back in m:fI/1. */
void alive_return_to(struct alive *process, unsigned i);

#endif
