/*
 * Changes of breakpoints: a change applies settings for any number of functions and sessions at one
 * instant, while everything runs. change.c has the algorithm.
 *
 *   struct th_change *change = th_breakpoint_change_create();
 *   th_breakpoint_change_add(change, &(struct th_bp_setting){.site = site, .session = session,
 *                                                 .set = TH_BP_LOCAL, .spec = spec});
 *   th_breakpoint_change_run(change, NULL, NULL);
 *
 * When a change is done, each call that begins obeys it, on any thread, and all that it removed is
 * free.
 */
#ifndef TH_CHANGE_H
#define TH_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_change;

/*
 * A setting of the breakpoint of one function and session. Each field is a set of kinds; an empty
 * one changes nothing. The fields apply in this order. The first kind adds the breakpoint; without
 * its last kind it is removed. Clearing, pausing or restarting a kind that is not set does nothing
 * and is no error.
 */
struct th_bp_setting {
    /* If one is NULL, CLEAR applies to all breakpoints that the other has when the change runs, and
     * the other fields are empty. */
    struct th_site *site;
    struct th_bp_session *session;
    uint32_t clear;   /* kinds to remove */
    uint32_t set;     /* kinds to start anew: active, with SPEC, counting from 0 */
    uint32_t pause;   /* kinds that become inactive and keep match specification and counters */
    uint32_t restart; /* kinds that become active again, counting from 0 */
    struct th_shared *spec;        /* for LOCAL or GLOBAL in SET; NULL: none */
    struct th_shared *meta_spec;   /* for META in SET; NULL: none */
    struct th_shared *meta_tracer; /* for META in SET */
};

struct th_change *th_breakpoint_change_create(void);

/* Adds a copy of SETTING, after those added before, and takes shares of all that it points to. */
void th_breakpoint_change_add(struct th_change *change, const struct th_bp_setting *setting);

/* Sets at SITE a copy of each breakpoint that NATIVE has, of all sessions, when the change runs;
 * LOCAL becomes GLOBAL. Kinds that a session has at SITE already stay as they are. */
void th_breakpoint_change_stand_in(struct th_change *change, struct th_site *site,
                                   struct th_site *native);

/* Removes all breakpoints that SESSION has when the change runs. SESSION gets no breakpoints after
 * that, from any change. */
void th_breakpoint_change_end_session(struct th_change *change, struct th_bp_session *session);

/* The cost of a change. */
struct th_change_counts {
    size_t visited;       /* breakpoints that were changed */
    size_t allocated;     /* breakpoints */
    size_t freed;         /* breakpoints */
    size_t sites_written; /* sites that were armed or disarmed */
    unsigned rounds;      /* grace periods that were waited for */
};

/* Returns the costs of CHANGE. Order: while DONE runs. */
struct th_change_counts th_breakpoint_change_counts(const struct th_change *change);

/*
 * Makes the change, drops the shares of its settings, calls DONE (may be NULL), and frees CHANGE.
 * Changes are made in the order in which they were run or started, or queued.
 *
 * th_breakpoint_change_run() waits and returns true. In a thread that may not wait (in a callback,
 * a reader section or a continuation) it returns false if CHANGE is pending; other threads then do
 * the rest. th_breakpoint_change_start() never waits: true if CHANGE was done at once.
 *
 * th_breakpoint_change_queue(), followed by th_breakpoint_change_run(), takes the place in the
 * order and does not wait. So a caller can order changes by its own lock and run them without it.
 *
 * Thread: any; DONE must neither block nor wait. run() must not be called under a lock that a hook
 * takes, nor by work of th_progress_later(). queue() needs a thread that may wait
 * (th_code_permission_may_wait()).
 */
bool th_breakpoint_change_run(struct th_change *change,
                              void (*done)(struct th_change *change, void *context), void *context);
void th_breakpoint_change_queue(struct th_change *change);
bool th_breakpoint_change_start(struct th_change *change,
                                void (*done)(struct th_change *change, void *context),
                                void *context);

/* Makes the change at once, before all that are queued.
 * Thread: one that may wait and holds the code modification permission, which it keeps. */
struct th_change_counts th_breakpoint_change_run_held(struct th_change *change);

/*
 * Makes the change at once, without a grace period, for sites of functions that no call can reach
 * yet. All is in force on return, so the first call obeys it. Each setting needs a site and a
 * session. Breakpoints are added; existing ones stay as they are, even if the change names them. If
 * calls do reach the sites, they meet the new breakpoints at different times, which does no harm.
 * Thread: with the permission.
 */
struct th_change_counts th_breakpoint_change_set_unreached(struct th_change *change);

#endif
