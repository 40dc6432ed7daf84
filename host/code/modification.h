/*
 * Modifications of code that go on step by step, with thread progress in between: changes of
 * breakpoints, loading.
 *
 * A modification seizes the permission, takes its steps, releases the permission and says that it
 * is done. Where a step must not be taken before every thread has left what it looked at, the step
 * before it answers "after thread progress". Nobody is stopped meanwhile; and whoever asked is not
 * blocked, unless it wants to be and may.
 */
#ifndef TH_MODIFICATION_H
#define TH_MODIFICATION_H

#include "permission.h"
#include "host/progress/progress.h"

struct th_modification {
    /* Goes on. True: it is to be called again, after thread progress. Must not block. */
    bool (*step)(struct th_modification *self);
    /* It is over, and the permission released. May free SELF; must not block. */
    void (*done)(struct th_modification *self);
    unsigned rounds; /* of thread progress that it has waited for: start it with 0 */

    bool queued; /* start it with false; the rest is modification.c's */
    struct th_permission_turn turn;
    struct th_later later;
};

/* Begins, and goes on by itself. Returns at once: true if it is done already. Any thread. */
bool th_code_modification_start(struct th_modification *self);

/*
 * The same, and waits until it is done; true. In that case it takes its steps in this thread, which
 * waits for progress itself: several times as fast. Where the thread may not wait
 * (th_code_permission_may_wait()) it is started; false if that leaves it pending.
 */
bool th_code_modification_run(struct th_modification *self);

/* The same for who has the permission already, and keeps it: it is done when this returns. Only
 * where the thread may wait. */
void th_code_modification_run_held(struct th_modification *self);

/* Takes its place among the modifications now, th_code_modification_run() following soon: for who
 * keeps them in order by a lock that must not be held while waiting. Only where the thread may
 * wait. */
void th_code_modification_queue(struct th_modification *self);

#endif
