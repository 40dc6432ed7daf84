/*
 * The way of most hits through th_breakpoint_hit(), for trace/, which takes it in place where each
 * instruction counts: no struct th_hit, no call through the hooks.
 *
 * Most sites have one breakpoint, and that is local or global and no more.
 */
#ifndef TH_FAST_HIT_H
#define TH_FAST_HIT_H

#include "generic_bp.h"
#include "site.h"

struct th_fast_hit {
    uint32_t kinds; /* of the breakpoint that the call meets; 0: nothing is met */
    struct th_generic_bp *breakpoint;
    const struct th_bp_data *data;
};

/*
 * Finds the one breakpoint of SITE, for a call that meets breakpoints of KINDS. False: there are
 * more. That there is no second one is seen before a hook is called: one that is added meanwhile
 * does nothing in this generation. In a read section, which also covers what is done then.
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

/* The same in place of th_breakpoint_hit(): HIT leads to what hooks->call() gets, as it is local or
 * global and no more. False: the hit is th_breakpoint_hit()'s, as are all hits where nothing is
 * optimized (mode=debug), so that a debugger that stops there sees each. */
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
