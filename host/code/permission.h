/*
 * The code modification permission, which a change of breakpoints or a load of code needs.
 *
 * One modification at a time has the permission: no other modification writes staged data, or
 * changes code or breakpoints, between two of its steps. The permission is no lock, and a request
 * never blocks: each request has a continuation, GRANTED, which is called when the request gets the
 * permission. The holder's release passes the permission to the next request. No thread owns the
 * permission: one thread may seize it, and another release it.
 *
 *   static struct th_permission_request request;
 *   th_code_permission_seize(&request, granted);            returns at once
 *   static void granted(struct th_permission_request *request)
 *   {
 *       ... modify, or pass the rest to th_progress_later() ...
 *       th_code_permission_release();                       now, or when the rest is done
 *   }
 */
#ifndef TH_PERMISSION_H
#define TH_PERMISSION_H

#include "host/progress/progress.h"

#include <semaphore.h>
#include <stdbool.h>

/* A request for the permission; a member of the data of the modification. */
struct th_permission_request {
    struct th_permission_request *next; /* in the queue; under the queue's lock */
    void (*granted)(struct th_permission_request *self);
};

/*
 * Requests the permission for SELF. If the permission is free, calls GRANTED(SELF) and returns
 * true. If not, queues SELF and returns false; then the thread that releases the permission calls
 * GRANTED(SELF), maybe before this function returns.
 * Owner: SELF is the caller's and must stay until GRANTED is called, which may free SELF.
 * Thread: any, in reader sections and callbacks, too; so GRANTED must neither block nor wait.
 */
bool th_code_permission_seize(struct th_permission_request *self,
                              void (*granted)(struct th_permission_request *self));

/*
 * Releases the permission and calls GRANTED of the next request. A release inside a GRANTED leaves
 * the call to its outer release, so the stack does not grow with the number of requests.
 * Thread: any; the caller holds the permission.
 */
void th_code_permission_release(void);

/*
 * Waits until the permission is granted to the caller.
 * Thread: one that may wait (th_code_permission_may_wait()); else the program ends with a report of
 * a bug.
 */
struct th_permission_turn {
    struct th_permission_request request; /* the first member */
    sem_t granted;
};
void th_code_permission_wait(void);

/*
 * True if the calling thread may wait for the permission and for a grace period: it is neither in a
 * reader section (so, in no callback of a tracer) nor in a continuation that holds the permission.
 * Not checked: work of th_progress_later() must not wait, either.
 */
bool th_code_permission_may_wait(void);

/* --- Modifications in steps ------------------------------------------------------------------- */

/*
 * Changes of breakpoints and loads of code are modifications: they go on step by step, with grace
 * periods in between.
 *
 * A modification seizes the permission, takes its steps, releases the permission and calls done().
 * If a step needs a grace period before it, the step before returns true. No thread is stopped
 * meanwhile, and the requesting thread waits only in th_code_modification_run().
 */

struct th_modification {
    /* Takes the next steps, up to one that needs a grace period before it: then returns true, and
     * is called again after the grace period. False: all steps are taken. Must not block. */
    bool (*step)(struct th_modification *self);
    /* Called after the last step and the release. May free SELF; must not block. */
    void (*done)(struct th_modification *self);
    unsigned rounds; /* number of grace periods waited for; the caller sets 0 */

    bool queued; /* the caller sets false; all below is permission.c's */
    struct th_permission_turn turn;
    struct th_later later;
};

/* Starts SELF, which goes on by itself; returns at once. True: SELF is done. False: SELF is pending
 * (other threads may complete SELF at any time).
 * Thread: any. */
bool th_code_modification_start(struct th_modification *self);

/*
 * Runs SELF, waits until SELF is done, and returns true. The calling thread takes the steps and
 * waits for grace periods itself: this is several times as fast as th_code_modification_start(). If
 * the thread may not wait (th_code_permission_may_wait()), this is th_code_modification_start().
 */
bool th_code_modification_run(struct th_modification *self);

/* Runs SELF, which is done on return.
 * Thread: one that may wait and holds the permission, which the thread keeps. */
void th_code_modification_run_held(struct th_modification *self);

/* Queues the request of SELF and returns at once; th_code_modification_run() must follow soon, as
 * SELF delays all later requests. For a caller that orders modifications under a lock, and must not
 * hold the lock while the modification waits.
 * Thread: one that may wait. */
void th_code_modification_queue(struct th_modification *self);

#endif
