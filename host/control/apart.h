/*
 * Commands that take long, each in a thread of its own. Inner header of control/.
 *
 *   th_apart_begin(&apart);
 *   errand = th_apart_start(&apart, setup, &request);
 *   ... apart.done, an eventfd, can be read ...        one or several have ended
 *   th_apart_hear(&apart);                             before it is looked which
 *   if (th_errand_is_done(errand))
 *       th_errand_end(&apart, errand, &answer);
 *   th_apart_end(&apart);
 *
 * All by one thread, the server's.
 */
#ifndef TH_CONTROL_APART_H
#define TH_CONTROL_APART_H

#include "wire.h"

struct th_errand;

struct th_apart {
    int done; /* an eventfd: written when one has ended */
    struct th_errand *errands[TH_CONTROL_APART];
    size_t count;
};

/* 0, or an errno. */
int th_apart_begin(struct th_apart *apart);

/* Waits for what goes on, and forgets its answers. */
void th_apart_end(struct th_apart *apart);

/* Carries REQUEST out, which is taken over. NULL if there are too many, or no thread for it: then
 * the chain says so, and REQUEST is the caller's. */
struct th_errand *th_apart_start(struct th_apart *apart, const struct th_control_setup *setup,
                                 const struct th_wire_request *request);

/* Takes what was told: it is told of those that end from now on. */
void th_apart_hear(const struct th_apart *apart);

bool th_errand_is_done(const struct th_errand *errand);

/* Waits for ERRAND, adds its answer to OUT, and frees it. */
void th_errand_end(struct th_apart *apart, struct th_errand *errand, struct th_buffer *out);

/* Nobody waits for the answer: it is freed by the first th_apart_sweep() that finds it done. */
void th_errand_abandon(struct th_errand *errand);
void th_apart_sweep(struct th_apart *apart);

#endif
