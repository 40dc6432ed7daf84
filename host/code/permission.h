/*
 * The code modification permission, which a change of breakpoints or a load of code needs.
 *
 * One modification at a time has the permission: its staged data is its own, and nothing else
 * changes between two of its steps. The permission is no lock, and a request never blocks: a
 * request carries a continuation, which is called when its turn comes. The holder releases the
 * permission to the next request. No thread owns the permission: one may seize it, another release
 * it.
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
 * Requests the permission and calls GRANTED(SELF) with it: before this returns (true), or in the
 * thread that releases the permission of the last request before SELF (false; GRANTED may have been
 * called by then).
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
 * If a step requires that all threads have left the data that they looked at, the step before it
 * returns true. No thread is stopped meanwhile, and the requesting thread waits only if it chooses
 * to and may.
 */

struct th_modification {
    /* Takes the next step. True: call again, after a grace period. Must not block. */
    bool (*step)(struct th_modification *self);
    /* Called after the last step and the release. May free SELF; must not block. */
    void (*done)(struct th_modification *self);
    unsigned rounds; /* number of grace periods waited for; the caller sets 0 */

    bool queued; /* the caller sets false; all below is permission.c's */
    struct th_permission_turn turn;
    struct th_later later;
};

/* Starts SELF, which goes on by itself; returns at once. True: SELF is done. Thread: any. */
bool th_code_modification_start(struct th_modification *self);

/*
 * Runs SELF and waits until it is done; returns true. The steps run in the calling thread, which
 * waits for grace periods itself: several times as fast as th_code_modification_start(). If the
 * thread may not wait (th_code_permission_may_wait()), SELF is started; false: SELF is pending.
 */
bool th_code_modification_run(struct th_modification *self);

/* Runs SELF, which is done on return.
 * Thread: one that may wait and holds the permission, which it keeps. */
void th_code_modification_run_held(struct th_modification *self);

/* Queues the request of SELF now; th_code_modification_run() must follow soon. For a caller that
 * orders modifications by a lock which must not be held while it waits.
 * Thread: one that may wait. */
void th_code_modification_queue(struct th_modification *self);

#endif
