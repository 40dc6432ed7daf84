/*
 * Changes of breakpoints: a change applies settings for any number of functions and sessions at one
 * instant, while everything runs. change.c has the algorithm.
 *
 *   struct th_change *change = th_breakpoint_change_create();
 *   th_breakpoint_change_add(change, &(struct th_bp_setting){.site = site, .session = session,
 *                                                 .set = TH_BP_LOCAL, .spec = spec});
 *   th_breakpoint_change_run(change, NULL, NULL);
 *
 * When a change is done, each call that begins obeys the change, on any thread, and the breakpoints
 * that it removed are freed.
 */
#ifndef TH_CHANGE_H
#define TH_CHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_change;

/*
 * A setting of the breakpoint of one function and session. CLEAR, SET, PAUSE and RESTART are sets
 * of kinds and apply in this order; an empty set changes nothing. The first kind adds the
 * breakpoint, and the breakpoint is removed with its last kind. Clearing, pausing or restarting a
 * kind that is not set does nothing and is no error.
 */
struct th_bp_setting {
    /* If SITE or SESSION is NULL, CLEAR applies to all breakpoints of the other one that exist when
     * the change runs; then SET, PAUSE and RESTART must be empty. */
    struct th_site *site;
    struct th_bp_session *session;
    uint32_t clear;   /* kinds to remove */
    uint32_t set;     /* kinds to start anew: active, with SPEC, counting from 0; LOCAL or GLOBAL,
                         not both */
    uint32_t pause;   /* kinds that become inactive and keep match specification and counters */
    uint32_t restart; /* kinds that become active again, counting from 0 */
    struct th_shared *spec;        /* for LOCAL or GLOBAL in SET; NULL: none */
    struct th_shared *meta_spec;   /* for META in SET; NULL: none */
    struct th_shared *meta_tracer; /* for META in SET */
};

struct th_change *th_breakpoint_change_create(void);

/* Adds a copy of SETTING, after those added before, and takes shares of all that it points to. */
void th_breakpoint_change_add(struct th_change *change, const struct th_bp_setting *setting);

/* Sets at SITE a copy of each breakpoint, of all sessions, that NATIVE has when the change runs.
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
 * Make the change, drop the shares of its settings, call DONE (may be NULL), and free CHANGE.
 * Changes are made in the order in which they were run, started or queued.
 *
 * th_breakpoint_change_run() waits for the end of the change and returns true. If the thread may
 * not wait (in a callback, a reader section or a continuation), run() starts the change, as
 * th_breakpoint_change_start() does. start() never waits: it returns true if CHANGE was done at
 * once, and false if CHANGE is pending; other threads then make the change.
 *
 * th_breakpoint_change_queue() takes CHANGE's place in the order, and returns at once; then
 * th_breakpoint_change_run() must follow. So a caller can order changes under its own lock, and run
 * them without the lock.
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

/* Makes CHANGE at once, before all changes that are queued, and frees CHANGE.
 * Thread: one that may wait and holds the code modification permission, which the thread keeps. */
struct th_change_counts th_breakpoint_change_run_held(struct th_change *change);

/*
 * Makes CHANGE at once, without a grace period, for sites of functions that no call can reach yet,
 * and frees CHANGE. The first call obeys the change. Each setting needs a site and a session. New
 * breakpoints are added; a setting for a breakpoint that exists already is ignored. If calls can
 * reach the sites after all, they meet the new breakpoints at different times, which does no harm.
 * Thread: with the permission.
 */
struct th_change_counts th_breakpoint_change_set_unreached(struct th_change *change);

#endif
