/*
 * The code modification permission.
 *
 * Whoever changes breakpoints or loads code has it, one at a time: what is staged is then one's
 * own, and nothing else changes between two steps. It is no lock: nobody who asks for it is ever
 * blocked. Who asks hands in a continuation, which is called when it is its turn; who has done
 * passes the permission on. It belongs to no thread: one may seize it, another release it.
 *
 *   static struct th_permission_request request;
 *   th_code_permission_seize(&request, granted);            returns at once
 *   static void granted(struct th_permission_request *request)
 *   {
 *       ... modify, or hand the rest to th_progress_later() ...
 *       th_code_permission_release();                       now, or whenever the rest is done
 *   }
 */
#ifndef TH_PERMISSION_H
#define TH_PERMISSION_H

#include "host/progress/progress.h"

#include <semaphore.h>
#include <stdbool.h>

/* Somebody who waits for the permission; part of what is to be done with it. */
struct th_permission_request {
    struct th_permission_request *next; /* in the queue; under its lock */
    void (*granted)(struct th_permission_request *self);
};

/*
 * Has GRANTED(SELF) called with the permission: at once, before this returns (true), or when all
 * who asked before have released it, by the thread of the last of them (false; it may have been
 * called by then). Any thread, in read sections and callbacks, too; so GRANTED must neither block
 * nor wait. SELF is the caller's and must stay until GRANTED is called, which may free it.
 */
bool th_code_permission_seize(struct th_permission_request *self,
                              void (*granted)(struct th_permission_request *self));

/*
 * Passes the permission on and calls whoever has it then. However many wait and release it at once,
 * the stack does not grow. By whoever has the permission, on any thread.
 */
void th_code_permission_release(void);

/*
 * Waits until the permission is granted. Only where th_code_permission_may_wait(); else a bug that
 * is told.
 */
struct th_permission_turn {
    struct th_permission_request request; /* the first member */
    sem_t granted;
};
void th_code_permission_wait(void);

/*
 * True if the calling thread may wait for the permission, and for thread progress: it is neither in
 * a read section (so, in no callback of a tracer) nor in a continuation that was granted the
 * permission. Not known here, and on the caller: work that th_progress_later() does must not wait.
 */
bool th_code_permission_may_wait(void);

/* --- Modifications in steps ------------------------------------------------------------------- */

/*
 * Modifications of code that go on step by step, with thread progress in between: changes of
 * breakpoints, loading.
 *
 * A modification seizes the permission, takes its steps, releases the permission and says that it
 * is done. Where a step must not be taken before every thread has left what it looked at, the step
 * before it answers "after thread progress". Nobody is stopped meanwhile; and whoever asked is not
 * blocked, unless it wants to be and may.
 */

struct th_modification {
    /* Goes on. True: it is to be called again, after thread progress. Must not block. */
    bool (*step)(struct th_modification *self);
    /* It is over, and the permission released. May free SELF; must not block. */
    void (*done)(struct th_modification *self);
    unsigned rounds; /* of thread progress that it has waited for: start it with 0 */

    bool queued; /* start it with false; the rest is permission.c's */
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
