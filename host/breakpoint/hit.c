#include "hit.h"

#include "breakpoint_internal.h"
#include "fast_hit.h"
#include "generic_bp.h"
#include "site.h"

#include "host/base/thread.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)

static uint32_t hit_offer(struct th_hit *hit, uint32_t kind)
{
    struct th_bp_session *session = hit->breakpoint->session;

    return session->hooks->call(hit, session, hit->data->spec, kind);
}

/* Obeys all kinds, one after the other. */
static __attribute__((noinline)) uint32_t obey_all(struct th_hit *hit, uint32_t kinds)
{
    struct th_generic_bp *bp = hit->breakpoint;
    uint32_t asked = 0;

    if (kinds & (TH_BP_LOCAL | TH_BP_GLOBAL))
        asked |= hit_offer(hit, kinds & (TH_BP_LOCAL | TH_BP_GLOBAL));
    if (kinds & TH_BP_META)
        asked |= th_breakpoint_meta_hit(hit, bp->session);
    if (kinds & TH_BP_COUNT)
        th_thread_count(th_breakpoint_tally_word(hit->data->count));
    if (kinds & (TH_BP_TIME | TH_BP_MEMORY) &&
        th_breakpoint_account_call(hit, bp, hit->data, kinds))
        asked |= TH_HIT_ACCOUNTED;
    return asked;
}

/* Obeys KINDS, the active kinds of DATA that the call meets. */
static inline uint32_t hit_obey(struct th_generic_bp *bp, const struct th_bp_data *data,
                                uint32_t kinds, struct th_hit *hit)
{
    if (!LIKELY(kinds))
        return 0;
    hit->breakpoint = bp;
    hit->data = data;
    if (!LIKELY(kinds <= (TH_BP_LOCAL | TH_BP_GLOBAL)))
        return obey_all(hit, kinds);
    return hit_offer(hit, kinds);
}

static struct th_generic_bp *next_of(struct th_generic_bp *bp)
{
    return atomic_load_explicit(&bp->next, memory_order_acquire);
}

static uint32_t obey_one(struct th_generic_bp *bp, struct th_hit *hit, size_t generation)
{
    const struct th_bp_data *data = &bp->data[generation];

    return hit_obey(bp, data, th_breakpoint_active(data) & hit->kinds, hit);
}

static __attribute__((noinline)) uint32_t obey_each(struct th_site *site, struct th_hit *hit)
{
    const size_t generation = th_breakpoint_generation();
    struct th_generic_bp *bp = atomic_load_explicit(&site->first, memory_order_acquire);
    uint32_t asked = 0;

    for (; bp; bp = next_of(bp))
        asked |= obey_one(bp, hit, generation);
    return asked;
}

/* Thread: in a reader section. */
static inline uint32_t hit_meet(struct th_site *site, struct th_hit *hit)
{
    struct th_fast_hit single;

    hit->site = site;
    if (!LIKELY(th_breakpoint_find_single(site, hit->kinds, &single)))
        return obey_each(site, hit);
    return hit_obey(single.breakpoint, single.data, single.kinds, hit);
}

/* A thread's first hit, and each hit where th_progress_enter_quickly() is not available. */
static __attribute__((noinline)) uint32_t enter_and_meet(struct th_site *site, struct th_hit *hit)
{
    uint32_t asked;

    th_progress_enter();
    asked = hit_meet(site, hit);
    th_progress_leave();
    return asked;
}

/* On the most frequent path nothing is live across the call of the hook, so no register is saved;
 * longer work is in functions of its own. */
uint32_t th_breakpoint_hit(struct th_site *site, struct th_hit *hit)
{
    unsigned long *word = th_progress_enter_quickly();
    uint32_t asked;

    if (!word)
        return enter_and_meet(site, hit);
    asked = hit_meet(site, hit);
    th_progress_leave_quickly(word);
    return asked;
}

/* --- Before another site ---------------------------------------------------------------------- */

uint32_t th_breakpoint_hit_before(struct th_site *site, struct th_site *next, struct th_hit *hit)
{
    const uint32_t kinds = hit->kinds;
    size_t generation;
    uint32_t asked = 0;

    th_progress_enter();
    generation = th_breakpoint_generation();
    hit->site = site;
    for (struct th_generic_bp *bp = atomic_load_explicit(&site->first, memory_order_acquire); bp;
         bp = next_of(bp)) {
        const struct th_generic_bp *there = th_breakpoint_find(next, bp->session);
        hit->kinds = kinds;
        if (there)
            hit->kinds &= ~th_breakpoint_stand_in(th_breakpoint_kinds(&there->data[generation]));
        asked |= obey_one(bp, hit, generation);
    }
    th_progress_leave();
    return asked;
}
