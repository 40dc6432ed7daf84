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

static uint32_t offer(struct th_hit *hit, uint32_t kind)
{
    struct th_bp_session *session = hit->breakpoint->session;

    return session->hooks->call(hit, session, hit->data->spec, kind);
}

/* All kinds, one after the other. On its own, so that what is only local or global saves fewer
 * registers. */
static __attribute__((noinline)) uint32_t obey(struct th_hit *hit, uint32_t kinds)
{
    struct th_generic_bp *bp = hit->breakpoint;
    uint32_t asked = 0;

    if (kinds & (TH_BP_LOCAL | TH_BP_GLOBAL))
        asked |= offer(hit, kinds & (TH_BP_LOCAL | TH_BP_GLOBAL));
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
    size_t generation; /* as an offset, which is one addition in the loop */

    hit->site = site;
    th_progress_enter();
    generation = th_bp_generation() * sizeof(struct th_bp_data);
    for (bp = atomic_load_explicit(&site->first, memory_order_acquire); bp;
         bp = atomic_load_explicit(&bp->next, memory_order_acquire)) {
        const struct th_bp_data *data = (const void *)((const char *)bp->data + generation);
        uint32_t kinds = th_bp_active(data) & hit->kinds;

        hit->breakpoint = bp;
        hit->data = data;
        if (kinds & ~(uint32_t)(TH_BP_LOCAL | TH_BP_GLOBAL))
            asked |= obey(hit, kinds);
        else if (kinds)
            asked |= offer(hit, kinds);
    }
    th_progress_leave();
    return asked;
}
