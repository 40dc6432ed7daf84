/*
 * Changes of breakpoints: settings for any number of functions and sessions, to be in force at one
 * instant, while everything runs. change.c tells how.
 *
 *   struct th_change *change = th_breakpoint_change_create();
 *   th_breakpoint_change_add(change, &(struct th_bp_setting){.site = site, .session = session,
 *                                                 .set = TH_BP_LOCAL, .spec = spec});
 *   th_breakpoint_change_run(change, NULL, NULL);
 *
 * Once a change is done, each call that begins obeys it, on any thread; and what it removed is
 * free.
 */
#ifndef TH_CHANGE_H
#define TH_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_change;

/*
 * What is to become of the breakpoint of one function and session. Each field is a set of kinds;
 * those that are empty change nothing; they are done in this order. A breakpoint is added with its
 * first kind and removed with its last. What is not there cannot be cleared, paused or restarted,
 * and that is no fault.
 */
struct th_bp_setting {
    /* Either may be NULL: then CLEAR is for all breakpoints that the session, or the site, has when
     * it is the change's turn, and there is nothing else. */
    struct th_site *site;
    struct th_bp_session *session;
    uint32_t clear;
    uint32_t set;     /* begins anew: active, with the match specification given, counting from 0 */
    uint32_t pause;   /* keeps match specification and counters, and is not obeyed */
    uint32_t restart; /* active again; counting from 0 */
    struct th_shared *spec;        /* for setting LOCAL or GLOBAL; NULL: none */
    struct th_shared *meta_spec;   /* for setting META; likewise */
    struct th_shared *meta_tracer; /* for setting META */
};

struct th_change *th_breakpoint_change_create(void);

/* Copies the setting and takes shares of what is in it. Settings are done in the order in which
 * they were added. */
void th_breakpoint_change_add(struct th_change *change, const struct th_bp_setting *setting);

/* Sets at SITE the breakpoints that NATIVE has when it is the change's turn, whosever they are and
 * as they are, GLOBAL in the place of LOCAL: but for kinds that a session has at SITE already. */
void th_breakpoint_change_stand_in(struct th_change *change, struct th_site *site,
                                   struct th_site *native);

/* Removes all breakpoints that the session has when it is the change's turn. Afterwards it never
 * gets any again, from no other change. */
void th_breakpoint_change_end_session(struct th_change *change, struct th_bp_session *session);

/* What a change costs. */
struct th_change_counts {
    size_t visited;       /* breakpoints that were looked at after they had been found */
    size_t allocated;     /* breakpoints */
    size_t freed;         /* likewise */
    size_t sites_written; /* armed, and disarmed */
    unsigned rounds;      /* of waiting for thread progress */
};

/* While DONE is being called. */
struct th_change_counts th_breakpoint_change_counts(const struct th_change *change);

/*
 * Makes the change, lets go of all that was in its settings, calls DONE (NULL: nothing), and frees
 * CHANGE. DONE must neither block nor wait.
 *
 * th_breakpoint_change_run() returns true when it is done; where the thread may not wait, which is
 * in a callback, a read section or a continuation, false: it is pending, and is done without the
 * thread. Not while holding a lock that somebody takes in a hook, nor from work that
 * th_progress_later() does. th_breakpoint_change_start() never waits: true if it was done at once.
 * Any thread.
 *
 * Changes are made in the order in which they were run or started. th_breakpoint_change_queue()
 * before th_breakpoint_change_run() takes the place already then, and does not wait: so that
 * whoever hands in changes under a lock of its own, which gives them their order, runs them without
 * it. Only where the thread may wait (th_code_permission_may_wait()).
 */
bool th_breakpoint_change_run(struct th_change *change,
                              void (*done)(struct th_change *change, void *context), void *context);
void th_breakpoint_change_queue(struct th_change *change);
bool th_breakpoint_change_start(struct th_change *change,
                                void (*done)(struct th_change *change, void *context),
                                void *context);

/* The same as th_breakpoint_change_run() for who has the code modification permission already, and
 * keeps it: it comes before all that are queued. Only where the thread may wait. */
struct th_change_counts th_breakpoint_change_run_held(struct th_change *change);

/*
 * The same, at once and without a round of thread progress, for sites of functions that no call can
 * reach yet: it is all in force when this returns, so that the first call obeys it. It adds
 * breakpoints; those that were there before it leaves as they are, whatever the change says of
 * them. By who has the permission.
 *
 * Where calls can come to the sites after all, they meet what is added, the one sooner, the other
 * later, and nothing is wrong with that.
 */
struct th_change_counts th_breakpoint_change_set_unreached(struct th_change *change);

#endif
