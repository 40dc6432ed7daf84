/*
 * The most frequent path of th_breakpoint_hit(), inlined into trace/, where each instruction
 * counts: no struct th_hit, no call through the hooks.
 *
 * Most sites have one breakpoint, of kind local or global and no other.
 */
#ifndef TH_FAST_HIT_H
#define TH_FAST_HIT_H

#include "generic_bp.h"
#include "site.h"

struct th_fast_hit {
    uint32_t kinds; /* kinds that the call meets; 0: none */
    struct th_generic_bp *breakpoint;
    const struct th_bp_data *data;
};

/*
 * Finds the only breakpoint of SITE, for a call that meets breakpoints of KINDS. Returns false if
 * SITE has several. If SITE has none, or its breakpoint is not active for KINDS, HIT->kinds is 0.
 * A breakpoint that is added after this check does nothing in this generation.
 * Thread: in a reader section that also covers the use of HIT.
 */
static inline bool th_breakpoint_find_single(struct th_site *site, uint32_t kinds,
                                             struct th_fast_hit *hit)
{
    const size_t generation = th_breakpoint_generation();
    struct th_generic_bp *bp = atomic_load_explicit(&site->first, memory_order_acquire);

    *hit = (struct th_fast_hit){.kinds = 0};
    if (__builtin_expect(!bp, 0))
        return true;
    if (__builtin_expect(atomic_load_explicit(&bp->next, memory_order_acquire) != NULL, 0))
        return false;
    hit->breakpoint = bp;
    hit->data = &bp->data[generation];
    hit->kinds = th_breakpoint_active(hit->data) & kinds;
    return true;
}

/* Like th_breakpoint_find_single(), but also returns false if the breakpoint is active for another
 * kind than local and global. After true, the caller does the work of hooks->call() for HIT itself,
 * or nothing if HIT->kinds is 0; after false, the caller calls th_breakpoint_hit(). In programs
 * that are not optimized (mode=debug) always returns false: so a debugger that stops in
 * th_breakpoint_hit() sees each hit. */
static inline bool th_breakpoint_fast_hit(struct th_site *site, uint32_t kinds,
                                          struct th_fast_hit *hit)
{
#ifdef __OPTIMIZE__
    return th_breakpoint_find_single(site, kinds, hit) &&
           __builtin_expect(hit->kinds <= (TH_BP_LOCAL | TH_BP_GLOBAL), 1);
#else
    (void)site;
    (void)kinds;
    (void)hit;
    return false;
#endif
}

#endif
