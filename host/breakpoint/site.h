/*
 * Sites: where the breakpoints of one function hang, those of all sessions.
 *
 * A site is armed while one of its breakpoints is active. What arming is depends on the kind of the
 * site. Of an export site it is a bit of what external calls read. Of a virtual one, a function
 * that is known only from a recording, nothing but `armed` is written; whoever takes a call along
 * looks at it first:
 *
 *   if (th_breakpoint_site_is_armed(site))
 *       asked = th_breakpoint_hit(site, &hit);
 *
 * Sites are type-stable: their memory stays that of sites for ever, as threads look at `armed`, or
 * come from a machine instruction, outside of read sections.
 */
#ifndef TH_SITE_H
#define TH_SITE_H

#include "host/progress/progress.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_generic_bp;
struct th_site;

/*
 * A kind of site. write() is called with the code modification permission, for any number of sites
 * of this kind, so that what is costly (making code writable, membarrier) is done once for all. It
 * writes one word of a site, so that a thread that runs there sees it written or not written. It
 * cannot fail: a site where it cannot be done must not be created. It is in force for each thread,
 * at the latest, from its next read section after thread progress.
 */
struct th_site_operations {
    const char *kind;
    uint32_t kinds; /* of breakpoints that it can have: of enum th_bp_kind */
    /* Arms or disarms SITES. NULL: there is nothing to write but their `armed`. */
    void (*write)(struct th_site *const *sites, size_t count, bool arm);
    /* NULL, or: in GENERATION, the one that hits do not obey now, a breakpoint of the site is
     * active as AFTER, of enum th_bp_kind, says, and no more as BEFORE does. As it is staged and as
     * it is consolidated (change.c, steps 3 and 11); with the permission. */
    void (*count)(struct th_site *site, unsigned generation, uint32_t before, uint32_t after);
};

/* Of a function that is known only from a recording. */
extern const struct th_site_operations th_breakpoint_site_virtual;

/* Of a function that other modules call, in any library: armed is the word of its export entry,
 * which is the site's `place`, and which external calls read anyway. No other calls come there, so
 * it has no local breakpoints. */
extern const struct th_site_operations th_breakpoint_site_export;

/* One cache line. */
struct th_site {
    /* Not 0 if armed. Relaxed, written by th_breakpoint_sites_write(): who sees it late is waited
     * for by the change, and what there is to find is read again by the hit, which orders it
     * itself. */
    _Alignas(64) _Atomic uint32_t armed;
    /* How many breakpoints are active, as staged; if it stands in the change's list. With the code
     * modification permission. */
    uint32_t active : 31, listed : 1;
    /* Linked by `next`, in the order in which they were added. Release: a breakpoint that can be
     * found is complete; acquire, in read sections. Written with the permission. */
    struct th_generic_bp *_Atomic first;
    const struct th_site_operations *operations;
    void *function;        /* what the site is of: its owner's */
    void *place;           /* where that kind of site is armed: its own */
    struct th_later later; /* when it is dropped */
    /* How often it has ended. Written by who has the permission and, besides, the lock under which
     * the owner puts changes together; read by who has one of them. */
    uint32_t ends;
};

/* FUNCTION and PLACE are what the owner wants to find there. Any thread. */
struct th_site *th_breakpoint_site_create(const struct th_site_operations *operations,
                                          void *function, void *place);

/* Arms or disarms the COUNT SITES, which are of one kind; COUNT is not 0. With the permission. */
void th_breakpoint_sites_write(struct th_site *const *sites, size_t count, bool arm);

/*
 * The function of SITE was removed, or is there again. Cancels what changes that are queued, or
 * being put together, say of SITE: when their turn comes, SITE may be another function's. With the
 * permission; and with the lock, if the owner has one, under which it puts changes together.
 */
void th_breakpoint_site_end(struct th_site *site);

/* Nobody will look for the site any more, and it has no breakpoints. It may be created again, as
 * another, after thread progress. */
void th_breakpoint_site_drop(struct th_site *site);

static inline bool th_breakpoint_site_is_armed(const struct th_site *site)
{
    return __builtin_expect(atomic_load_explicit(&site->armed, memory_order_relaxed) != 0, 0);
}

/* Perhaps true: it has a breakpoint, active or not. Relaxed: for who asks that of a breakpoint
 * which was there long before. */
static inline bool th_breakpoint_site_has_any(const struct th_site *site)
{
    return atomic_load_explicit(&site->first, memory_order_relaxed) != NULL;
}

#endif
