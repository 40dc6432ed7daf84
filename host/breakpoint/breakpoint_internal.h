/* Shared by the files of breakpoint/: changes, tallies, requests of hits. Inner header. */
#ifndef TH_BREAKPOINT_INTERNAL_H
#define TH_BREAKPOINT_INTERNAL_H

#include "breakpoint_session.h"
#include "change.h"

#include "host/code/permission.h"

#include <stdatomic.h>
#include <stdint.h>

struct th_bp_data;

/* --- Changes (change.c) ----------------------------------------------------------------------- */

struct th_change_item {
    /* Site NULL: clears all breakpoints of the session; session NULL: clears those of the site. */
    struct th_bp_setting setting;
    struct th_generic_bp *bp; /* NULL: none */
    uint64_t serial;          /* not 0: void if the breakpoint's serial is another */
    uint32_t ends;            /* `ends` of the site at addition: void if it differs later */
    struct th_site *native;   /* source of th_breakpoint_change_stand_in(); NULL: none */
    bool end;                 /* ends the session */
};

struct th_change {
    struct th_modification modification; /* the first member */
    void (*done)(struct th_change *change, void *context);
    void *context;
    unsigned step;
    bool of_requests; /* collects the requests of hits when it has the permission */
    bool arms;        /* there are sites to be armed */
    uint64_t serial;  /* number of the change, for th_bp_data.serial */
    struct {
        struct th_change_item *items;
        size_t count, capacity;
    } settings;
    struct {
        struct th_generic_bp **items;
        size_t count, capacity;
    } touched; /* changed breakpoints, each once */
    struct {
        struct th_site **items;
        size_t count, capacity;
    } sites; /* sites whose count of active breakpoints came to 0, or from 0, each once */
    struct th_change_counts counts;
};

/* --- Tallies (tally.c) ------------------------------------------------------------------------ */

/*
 * Tallies: counters that each thread writes for itself, so that hits share no cache line; a reader
 * adds them up.
 *
 * A tally is a number. Each thread has a word for it, zero at first, in pages that are allocated
 * when the thread first counts there. A thread that ends leaves its words to a thread that begins
 * later. A word may also be a pointer to data of the thread.
 *
 * Counting takes plain loads and stores, no atomic read-modify-write. If the counting of a
 * breakpoint begins anew, it gets another tally, so that old and new calls are never mixed.
 */

/* Creates a tally, never 0, whose words are zero. Thread: with the code modification permission. */
uint32_t th_breakpoint_tally_create(void);

/* Frees TALLY (0: nothing), and sets its words to 0. DISPOSE (may be NULL) gets each word that was
 * not 0.
 * Thread: with the code modification permission.
 * Order: if a hit may have seen TALLY, after the grace period that follows its replacement. */
void th_breakpoint_tally_free(uint32_t tally, void (*dispose)(uint64_t word));

/*
 * Returns the calling thread's word, which only this thread writes, with plain (relaxed) stores. A
 * word that is a pointer is published with release.
 * Thread: any, in a reader section.
 */
_Atomic uint64_t *th_breakpoint_tally_word(uint32_t tally);

/* Calls VISIT in a reader section with each thread's word, which its thread may be writing. Thread:
 * any. */
void th_breakpoint_tally_each(uint32_t tally, void (*visit)(_Atomic uint64_t *word, void *context),
                              void *context);

/* Adds up the words of all threads. Exact for all that happened before the call. */
uint64_t th_breakpoint_tally_sum(uint32_t tally);

/* --- The results of call_time and call_memory (account.c) ------------------------------------- */

/* The results are in tallies, whose words point to a table for each thread. */

/* Accounts for a hit of BP's KINDS (time, memory). True if the session traces the process. */
bool th_breakpoint_account_call(struct th_hit *hit, const struct th_generic_bp *bp,
                                const struct th_bp_data *data, uint32_t kinds);

/* Frees a thread's table: for th_breakpoint_tally_free(). */
void th_breakpoint_account_dispose(uint64_t word);

/* --- Requests of hits, collected in one change (request.c) ------------------------------------ */

/* A meta breakpoint whose tracer is gone is cleared by a request of the hit that finds it. */

/* Creates a meta tracer.
 * Owner: the caller gets a share; the result takes one of TRACER (or NULL). */
struct th_bp_meta *th_breakpoint_meta_create(struct th_shared *tracer);

/* Calls the hook for a meta breakpoint that was hit, unless its tracer is gone. */
uint32_t th_breakpoint_meta_hit(struct th_hit *hit, struct th_bp_session *session);

/* Requests that KINDS of the breakpoint of HIT are cleared. Thread: inside a hit. */
void th_breakpoint_request_clear(struct th_hit *hit, uint32_t kinds);

/* Calls TAKE with each pending request, and removes the request. SERIAL is the th_bp_data.serial
 * that the hit saw; if the breakpoint's serial is another one now, the request is void.
 * Thread: with the code modification permission. */
void th_breakpoint_request_take(void (*take)(void *context, const struct th_bp_setting *setting,
                                             uint64_t serial),
                                void *context);

/* --- Part of generic_bp.h --------------------------------------------------------------------- */

/* Returns the kinds at an export site that stands in for a native one with breakpoints of KINDS. */
static inline uint32_t th_breakpoint_stand_in(uint32_t kinds)
{
    return kinds & TH_BP_LOCAL ? (kinds & ~(uint32_t)TH_BP_LOCAL) | TH_BP_GLOBAL : kinds;
}

/* Creates a breakpoint that does nothing in either generation, in the list of SESSION; links BP as
 * the last of its site. */
struct th_generic_bp *th_breakpoint_create(struct th_site *site, struct th_bp_session *session);
void th_breakpoint_link(struct th_generic_bp *bp);

/* Removes BP from the lists of its site and session; its `next` stays. Forget: for a BP that was
 * never linked, from the session's list alone. */
void th_breakpoint_unlink(struct th_generic_bp *bp);
void th_breakpoint_forget(struct th_generic_bp *bp);

/* Frees BP. Order: after a grace period. */
void th_breakpoint_free(struct th_generic_bp *bp);

/* Copies the active generation to the staging one. Order: no hit is in the staging one. */
void th_breakpoint_consolidate(struct th_generic_bp *bp);

/* Copies the staging generation to the active one. Order: no hit can have found BP. */
void th_breakpoint_complete(struct th_generic_bp *bp);

/* Applies SETTING to the staging generation. If SETTING sets or restarts a kind, the serial becomes
 * SERIAL. */
struct th_bp_setting;
void th_breakpoint_stage(struct th_generic_bp *bp, const struct th_bp_setting *setting,
                         uint64_t serial);

#endif
