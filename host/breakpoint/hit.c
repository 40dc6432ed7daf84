#include "hit.h"

#include "accounting.h"
#include "generic_bp.h"
#include "meta.h"
#include "tally.h"

/* One more. Relaxed, a load and a store: the word is this thread's; who sums reads it any time. */
static void count(uint32_t tally)
{
    _Atomic uint64_t *word = th_tally_word(tally);

    atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* KINDS but LOCAL and GLOBAL. */
static uint32_t obey_others(struct th_hit *hit, struct th_generic_bp *bp, uint32_t kinds)
{
    uint32_t asked = 0;

    if (kinds & TH_BP_META)
        asked |= th_bp_meta_hit(hit, bp->session);
    if (kinds & TH_BP_COUNT)
        count(hit->data->count);
    if (kinds & (TH_BP_TIME | TH_BP_MEMORY) && th_account_call(hit, bp, hit->data, kinds))
        asked |= TH_HIT_ACCOUNTED;
    return asked;
}

uint32_t th_breakpoint_hit(struct th_site *site, struct th_hit *hit)
{
    uint32_t asked = 0;
    struct th_generic_bp *bp;
    unsigned generation;

    hit->site = site;
    th_progress_enter();
    generation = th_bp_generation();
    for (bp = atomic_load_explicit(&site->first, memory_order_acquire); bp;
         bp = atomic_load_explicit(&bp->next, memory_order_acquire)) {
        const struct th_bp_data *data = &bp->data[generation];
        uint32_t kinds = th_bp_active(data) & hit->kinds;

        if (!kinds)
            continue;
        hit->breakpoint = bp;
        hit->data = data;
        if (kinds & (TH_BP_LOCAL | TH_BP_GLOBAL))
            asked |= bp->session->hooks->call(hit, bp->session, data->spec,
                                              kinds & (TH_BP_LOCAL | TH_BP_GLOBAL));
        if (kinds & ~(uint32_t)(TH_BP_LOCAL | TH_BP_GLOBAL))
            asked |= obey_others(hit, bp, kinds);
    }
    th_progress_leave();
    return asked;
}
