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
 *
 * In two steps: th_code_permission_queue() takes a place in the queue, and neither blocks nor
 * waits, so that it may be done under a lock which keeps an order of things;
 * th_code_permission_await(), with the same TURN, waits until it is granted.
 */
struct th_permission_turn {
    struct th_permission_request request; /* the first member */
    sem_t granted;
};
void th_code_permission_wait(void);
void th_code_permission_queue(struct th_permission_turn *turn);
void th_code_permission_await(struct th_permission_turn *turn);

/*
 * True if the calling thread may wait for the permission, and for thread progress: it is neither in
 * a read section (so, in no callback of a tracer) nor in a continuation that was granted the
 * permission. Not known here, and on the caller: work that th_progress_later() does must not wait.
 */
bool th_code_permission_may_wait(void);

/* The calling thread does what others wait for, until th_code_permission_end(): it may not wait.
 * They nest. */
void th_code_permission_begin(void);
void th_code_permission_end(void);

#endif
