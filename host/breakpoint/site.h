/*
 * Sites: a site holds the breakpoints of one function, those of all sessions.
 *
 * A site is armed while one of its breakpoints is active. The kind of the site decides how it is
 * armed. An export site sets a bit in the word that external calls read. A virtual site, of a
 * function that is known only from a recording, has no code to change: only `armed` is written, and
 * the host reads `armed` first when it handles a call of the function:
 *
 *   if (th_breakpoint_site_is_armed(site))
 *       asked = th_breakpoint_hit(site, &hit);
 *
 * Sites are type-stable: their memory always holds sites, as threads read `armed`, or arrive from a
 * machine instruction, outside of reader sections.
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
 * of this kind, so that expensive parts (making code writable, membarrier) are done once for all.
 * One word of each site is written, so a thread that runs there sees the old or the new word. No
 * write may fail: a site that cannot be written must not be created. A thread obeys the new word
 * from its first reader section after a grace period on, at the latest.
 */
struct th_site_operations {
    const char *kind;
    uint32_t kinds; /* allowed kinds of breakpoints, bits of enum th_bp_kind */
    /* Arms or disarms SITES. NULL: no word needs writing except `armed`. */
    void (*write)(struct th_site *const *sites, size_t count, bool arm);
    /* May be NULL. Reports a change of the active kinds of one breakpoint in GENERATION, the
     * staging one, from BEFORE to AFTER (bits of enum th_bp_kind). Called after the breakpoint was
     * staged and after it was consolidated (change.c, steps 3 and 11). With the permission. */
    void (*count)(struct th_site *site, unsigned generation, uint32_t before, uint32_t after);
};

/* The kind of a function that is known only from a recording. */
extern const struct th_site_operations th_breakpoint_site_virtual;

/* The kind of a function that other modules call, in any library. The site's `place` is the export
 * entry, whose word external calls read anyway; arming changes that word. Other calls do not pass
 * the entry, so there are no local breakpoints. */
extern const struct th_site_operations th_breakpoint_site_export;

/* A site. One cache line. */
struct th_site {
    /* Not 0 if armed. Relaxed, written by th_breakpoint_sites_write(): the change waits for threads
     * that see it late, and a hit reads the breakpoints again, with an order of its own. */
    _Alignas(64) _Atomic uint32_t armed;
    /* Number of active breakpoints, as staged; flag: in the change's list. With the code
     * modification permission. */
    uint32_t active : 31, listed : 1;
    /* The list, by `next`, in the order of addition. Release: a breakpoint in the list is complete;
     * acquire, in reader sections. Written with the permission. */
    struct th_generic_bp *_Atomic first;
    const struct th_site_operations *operations;
    void *function;        /* the function, in the owner's form */
    void *place;           /* the place to arm, in the form of the kind */
    struct th_later later; /* used by th_breakpoint_site_drop() */
    /* Number of th_breakpoint_site_end() calls. Written with both the permission and the lock under
     * which the owner prepares changes; read with one of the two. */
    uint32_t ends;
};

/* Creates a site; FUNCTION and PLACE become its members. Thread: any. */
struct th_site *th_breakpoint_site_create(const struct th_site_operations *operations,
                                          void *function, void *place);

/* Arms or disarms COUNT (not 0) SITES of one kind. Thread: with the permission. */
void th_breakpoint_sites_write(struct th_site *const *sites, size_t count, bool arm);

/*
 * Cancels the settings of SITE in changes that are queued or in preparation, because its function
 * was removed or has come back: when the changes run, SITE may belong to another function. Thread:
 * with the permission, and with the lock under which the owner prepares changes, if there is one.
 */
void th_breakpoint_site_end(struct th_site *site);

/* Drops SITE, which has no breakpoints. After a grace period its memory may become another site.
 * Thread: any.
 * Order: no thread will look SITE up any more. */
void th_breakpoint_site_drop(struct th_site *site);

static inline bool th_breakpoint_site_is_armed(const struct th_site *site)
{
    return __builtin_expect(atomic_load_explicit(&site->armed, memory_order_relaxed) != 0, 0);
}

/* True, as a hint that may be stale, if the site has a breakpoint, active or not. Relaxed: for
 * breakpoints that were linked long before. */
static inline bool th_breakpoint_site_has_any(const struct th_site *site)
{
    return atomic_load_explicit(&site->first, memory_order_relaxed) != NULL;
}

#endif
