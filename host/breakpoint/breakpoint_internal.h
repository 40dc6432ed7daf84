/* What the files of breakpoint/ share: changes, tallies, requests of hits. Inner header. */
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
    /* Site NULL: all breakpoints of the session, to be cleared; session NULL: those of the site. */
    struct th_bp_setting setting;
    struct th_generic_bp *bp; /* NULL: there is none */
    uint64_t serial;          /* not 0: only if the breakpoint is of this setting */
    uint32_t ends;            /* of the site, then: if it has ended since, the setting is void */
    struct th_site *native;   /* for which the setting's site is to stand in; NULL: none */
    bool end;                 /* the session's end */
};

struct th_change {
    struct th_modification modification; /* the first member */
    void (*done)(struct th_change *change, void *context);
    void *context;
    unsigned step;
    bool of_requests; /* takes them when it has the permission */
    bool arms;        /* there are sites to be armed */
    uint64_t serial;  /* of what it sets */
    struct {
        struct th_change_item *items;
        size_t count, capacity;
    } settings;
    struct {
        struct th_generic_bp **items;
        size_t count, capacity;
    } touched; /* breakpoints that it is about, each once */
    struct {
        struct th_site **items;
        size_t count, capacity;
    } sites; /* of which the number of active breakpoints came to 0, or from 0, each once */
    struct th_change_counts counts;
};

/* --- Tallies (tally.c) ------------------------------------------------------------------------ */

/*
 * Words that each thread counts in on its own, so that hits share no cache line; summed
 * when asked.
 *
 * A tally is a number. Each thread has a word of it, zero at first, in pages that are allocated
 * when it first counts there. A thread that ends leaves its words behind, to be gone on with by
 * one that begins. A word may as well be a pointer to something of that thread's own.
 *
 * Counting takes no atomic operation but plain loads and stores. A breakpoint whose counting begins
 * anew gets another tally, so that calls from before and after are never mixed.
 */

/* A tally whose words are zero; never 0. With the code modification permission. */
uint32_t th_breakpoint_tally_create(void);

/* Nobody counts or reads there any more. DISPOSE (NULL: nothing) gets each word that is not 0. With
 * the code modification permission, after thread progress. 0 is allowed, and nothing. */
void th_breakpoint_tally_free(uint32_t tally, void (*dispose)(uint64_t word));

/*
 * The calling thread's word; in a read section. Only this thread writes it, with plain (relaxed)
 * stores. A word that is a pointer is published with release.
 */
_Atomic uint64_t *th_breakpoint_tally_word(uint32_t tally);

/* Calls VISIT in a read section with each thread's word: the thread may write there meanwhile. Any
 * thread. */
void th_breakpoint_tally_each(uint32_t tally, void (*visit)(_Atomic uint64_t *word, void *context),
                              void *context);

/* What all threads have counted. Exact for what happened before the call. */
uint64_t th_breakpoint_tally_sum(uint32_t tally);

/* --- The results of call_time and call_memory (account.c) ------------------------------------- */

/* They are in tallies: each thread's word is a table. */

/* A breakpoint of these KINDS (time, memory) was hit. True if the call is accounted for. */
bool th_breakpoint_account_call(struct th_hit *hit, const struct th_generic_bp *bp,
                                const struct th_bp_data *data, uint32_t kinds);

/* Frees a thread's table: for th_breakpoint_tally_free(). */
void th_breakpoint_account_dispose(uint64_t word);

/* --- What hits ask for: collected, and done in one change (request.c) ------------------------- */

/* The tracer of a meta breakpoint, and how it goes: by itself, when a hit has found it gone. */

/* The caller's share; takes one of TRACER, which may be NULL: nobody. */
struct th_bp_meta *th_breakpoint_meta_create(struct th_shared *tracer);

/* Calls the hook for a meta breakpoint that was hit, unless its tracer is gone. */
uint32_t th_breakpoint_meta_hit(struct th_hit *hit, struct th_bp_session *session);

/* The kinds of the breakpoint that was hit are to be cleared. From inside of a hit. */
void th_breakpoint_request_clear(struct th_hit *hit, uint32_t kinds);

/* All that was asked for and not taken yet. SERIAL of a setting: th_bp_data.serial of the
 * breakpoint that was hit; another is not meant. With the code modification permission. */
void th_breakpoint_request_take(void (*take)(void *context, const struct th_bp_setting *setting,
                                             uint64_t serial),
                                void *context);

/* --- Of generic_bp.h -------------------------------------------------------------------------- */

/* The kinds that breakpoints of KINDS, of a native site, have at the site of the export entry that
 * stands in for the native one. */
static inline uint32_t th_breakpoint_stand_in(uint32_t kinds)
{
    return kinds & TH_BP_LOCAL ? (kinds & ~(uint32_t)TH_BP_LOCAL) | TH_BP_GLOBAL : kinds;
}

/* A breakpoint that does nothing in either generation, of its session; and the last of its site,
 * once it is linked there. */
struct th_generic_bp *th_breakpoint_create(struct th_site *site, struct th_bp_session *session);
void th_breakpoint_link(struct th_generic_bp *bp);

/* Takes it from its site and session; it still leads on to the site's next. Forget: one that was
 * never linked from its session alone. */
void th_breakpoint_unlink(struct th_generic_bp *bp);
void th_breakpoint_forget(struct th_generic_bp *bp);

/* After thread progress. */
void th_breakpoint_free(struct th_generic_bp *bp);

/* Makes the staging generation what the active one is. No hit may be in the former. */
void th_breakpoint_consolidate(struct th_generic_bp *bp);

/* The other way round: what is staged is what the active generation does, too. No hit may have
 * found it. */
void th_breakpoint_complete(struct th_generic_bp *bp);

/* Stages SETTING: what it says is done to the data of the staging generation. What it activates has
 * that SERIAL. */
struct th_bp_setting;
void th_breakpoint_stage(struct th_generic_bp *bp, const struct th_bp_setting *setting,
                         uint64_t serial);

#endif
