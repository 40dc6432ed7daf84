/*
 * The breakpoint that most sites have: one, that is local or global and no more. For trace/, which
 * obeys it in place where each instruction counts: no struct th_hit, no call through the hooks.
 */
#ifndef TH_FAST_HIT_H
#define TH_FAST_HIT_H

#include "generic_bp.h"

struct th_bp_single {
    uint32_t kind; /* 0: nothing is met */
    struct th_generic_bp *breakpoint;
    const struct th_bp_data *data;
};

/*
 * What a call that meets breakpoints of KINDS finds at SITE, if there is at most one breakpoint and
 * that is such a one: SINGLE leads to what hooks->call() would be handed, which is all that
 * th_breakpoint_hit() would do. False: it is more, and th_breakpoint_hit()'s. In a read section,
 * which also covers what is done then.
 */
static inline bool th_breakpoint_is_single(struct th_site *site, uint32_t kinds,
                                           struct th_bp_single *single)
{
    const size_t generation = th_bp_generation();
    struct th_generic_bp *bp = atomic_load_explicit(&site->first, memory_order_acquire);
    const struct th_bp_data *data;
    uint32_t met;

    single->kind = 0;
    if (!bp)
        return true;
    if (__builtin_expect(atomic_load_explicit(&bp->next, memory_order_acquire) != NULL, 0))
        return false;
    data = &bp->data[generation];
    met = th_bp_active(data) & kinds;
    if (__builtin_expect(met > (TH_BP_LOCAL | TH_BP_GLOBAL), 0))
        return false;
    single->kind = met;
    single->breakpoint = bp;
    single->data = data;
    return true;
}

#endif
