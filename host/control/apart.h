/*
 * Commands that take long, each in a thread of its own. Inner header of control/.
 *
 *   th_control_apart_begin(&apart);
 *   task = th_control_apart_start(&apart, setup, &request);
 *   ... apart.done, an eventfd, can be read ...        one or several have ended
 *   th_control_apart_hear(&apart);                             before it is looked which
 *   if (th_control_task_is_done(task))
 *       th_control_task_end(&apart, task, &answer);
 *   th_control_apart_end(&apart);
 *
 * All by one thread, the server's.
 */
#ifndef TH_CONTROL_APART_H
#define TH_CONTROL_APART_H

#include "wire.h"

struct th_control_task;

struct th_control_apart {
    int done; /* an eventfd: written when one has ended */
    struct th_control_task *tasks[TH_CONTROL_APART];
    size_t count;
};

/* 0, or an errno. */
int th_control_apart_begin(struct th_control_apart *apart);

/* Waits for what goes on, and forgets its answers. */
void th_control_apart_end(struct th_control_apart *apart);

/* Carries REQUEST out, which is taken over. NULL if there are too many, or no thread for it: then
 * the chain says so, and REQUEST is the caller's. */
struct th_control_task *th_control_apart_start(struct th_control_apart *apart,
                                               const struct th_control_setup *setup,
                                               const struct th_control_wire_request *request);

/* Takes what was told: it is told of those that end from now on. */
void th_control_apart_hear(const struct th_control_apart *apart);

bool th_control_task_is_done(const struct th_control_task *task);

/* Waits for TASK, adds its answer to OUT, and frees it. */
void th_control_task_end(struct th_control_apart *apart, struct th_control_task *task,
                         struct th_buffer *out);

/* Nobody waits for the answer: it is freed by the first th_control_apart_sweep() that finds it
 * done. */
void th_control_task_abandon(struct th_control_task *task);
void th_control_apart_sweep(struct th_control_apart *apart);

#endif
