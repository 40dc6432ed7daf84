#include "generic_bp.h"

#include "breakpoint_internal.h"
#include "site.h"

#include "host/base/memory.h"

_Alignas(64) _Atomic uint32_t th_breakpoint_active_index;

struct th_generic_bp *th_breakpoint_find(struct th_site *site, const struct th_bp_session *session)
{
    struct th_generic_bp *bp = atomic_load_explicit(&site->first, memory_order_acquire);

    while (bp && bp->session != session)
        bp = atomic_load_explicit(&bp->next, memory_order_acquire);
    return bp;
}

/* --- Lists ------------------------------------------------------------------------------------ */

/* The link that points to BP; for NULL, the end of the list. */
static struct th_generic_bp *_Atomic *link_of(struct th_site *site, const struct th_generic_bp *bp)
{
    struct th_generic_bp *_Atomic *link = &site->first;
    struct th_generic_bp *there;

    while ((there = atomic_load_explicit(link, memory_order_relaxed)) != bp)
        link = &there->next;
    return link;
}

struct th_generic_bp *th_breakpoint_create(struct th_site *site, struct th_bp_session *session)
{
    struct th_generic_bp *bp = th_alloc_zero(sizeof *bp);

    th_breakpoint_shared_take(&session->shared);
    bp->session = session;
    for (size_t i = 0; i < 2; i++) {
        bp->data[i].breakpoint = bp;
        bp->data[i].owner = session->owner;
    }
    bp->site = site;
    bp->place = &session->breakpoints;
    bp->of_session = session->breakpoints;
    if (bp->of_session)
        bp->of_session->place = &bp->of_session;
    session->breakpoints = bp;
    session->count++;
    return bp;
}

void th_breakpoint_link(struct th_generic_bp *bp)
{
    atomic_store_explicit(link_of(bp->site, NULL), bp, memory_order_release);
}

void th_breakpoint_forget(struct th_generic_bp *bp)
{
    *bp->place = bp->of_session;
    if (bp->of_session)
        bp->of_session->place = bp->place;
    bp->session->count--;
}

void th_breakpoint_unlink(struct th_generic_bp *bp)
{
    struct th_generic_bp *next = atomic_load_explicit(&bp->next, memory_order_relaxed);

    /* Release: publishes NEXT to readers that did not come by BP. */
    atomic_store_explicit(link_of(bp->site, bp), next, memory_order_release);
    th_breakpoint_forget(bp);
}

static struct th_shared *shared_of(struct th_bp_meta *meta)
{
    return meta ? &meta->shared : NULL;
}

/* Releases the tallies that only DATA has and not KEPT, the other generation; and DATA's shares. */
static void generic_bp_release(const struct th_bp_data *data, const struct th_bp_data *kept)
{
    if (data->count != kept->count)
        th_breakpoint_tally_free(data->count, NULL);
    if (data->time != kept->time)
        th_breakpoint_tally_free(data->time, th_breakpoint_account_dispose);
    if (data->memory != kept->memory)
        th_breakpoint_tally_free(data->memory, th_breakpoint_account_dispose);
    th_breakpoint_shared_drop(data->spec);
    th_breakpoint_shared_drop(data->meta_spec);
    th_breakpoint_shared_drop(shared_of(data->meta));
}

void th_breakpoint_free(struct th_generic_bp *bp)
{
    static const struct th_bp_data nothing;

    generic_bp_release(&bp->data[0], &bp->data[1]);
    generic_bp_release(&bp->data[1], &nothing);
    th_breakpoint_shared_drop(&bp->session->shared);
    th_free(bp);
}

static void generic_bp_copy(struct th_bp_data *to, const struct th_bp_data *from)
{
    generic_bp_release(to, from);
    *to = *from;
    th_breakpoint_shared_take(to->spec);
    th_breakpoint_shared_take(to->meta_spec);
    th_breakpoint_shared_take(shared_of(to->meta));
}

void th_breakpoint_consolidate(struct th_generic_bp *bp)
{
    unsigned active = th_breakpoint_generation();

    generic_bp_copy(&bp->data[!active], &bp->data[active]);
}

void th_breakpoint_complete(struct th_generic_bp *bp)
{
    unsigned active = th_breakpoint_generation();

    generic_bp_copy(&bp->data[active], &bp->data[!active]);
}

/* --- Staging ---------------------------------------------------------------------------------- */

/* Replaces the tallies of KINDS by new ones, or by none. A tally of the active generation is freed
 * later, when that generation has become the staging one. A tally that was staged earlier in the
 * same change is freed at once: no hit has seen it. */
static void replace_tallies(struct th_generic_bp *bp, uint32_t kinds, bool counts)
{
    const struct th_bp_data *active = &bp->data[th_breakpoint_generation()];
    struct th_bp_data *data = &bp->data[!th_breakpoint_generation()];
    const struct {
        uint32_t kind, active, *place;
    } tallies[] = {
        {TH_BP_COUNT, active->count, &data->count},
        {TH_BP_TIME, active->time, &data->time},
        {TH_BP_MEMORY, active->memory, &data->memory},
    };

    for (size_t i = 0; i < sizeof tallies / sizeof tallies[0]; i++) {
        if (!(kinds & tallies[i].kind))
            continue;
        if (*tallies[i].place != tallies[i].active)
            th_breakpoint_tally_free(*tallies[i].place, NULL);
        *tallies[i].place = counts ? th_breakpoint_tally_create() : 0;
    }
}

static void generic_bp_clear(struct th_generic_bp *bp, uint32_t kinds)
{
    struct th_bp_data *data = &bp->data[!th_breakpoint_generation()];

    data->flags &= ~(kinds | kinds << TH_BP_ACTIVE_SHIFT);
    if (kinds & (TH_BP_LOCAL | TH_BP_GLOBAL) && !(data->flags & (TH_BP_LOCAL | TH_BP_GLOBAL))) {
        th_breakpoint_shared_drop(data->spec);
        data->spec = NULL;
    }
    if (kinds & TH_BP_META) {
        th_breakpoint_shared_drop(data->meta_spec);
        th_breakpoint_shared_drop(shared_of(data->meta));
        data->meta_spec = NULL;
        data->meta = NULL;
    }
    replace_tallies(bp, kinds, false);
}

static void activate(struct th_generic_bp *bp, uint32_t kinds, uint64_t serial)
{
    struct th_bp_data *data = &bp->data[!th_breakpoint_generation()];

    data->flags |= kinds | kinds << TH_BP_ACTIVE_SHIFT;
    data->serial = serial;
    replace_tallies(bp, kinds, true);
}

void th_breakpoint_stage(struct th_generic_bp *bp, const struct th_bp_setting *setting,
                         uint64_t serial)
{
    struct th_bp_data *data = &bp->data[!th_breakpoint_generation()];

    generic_bp_clear(bp, setting->clear);
    if (setting->set && !bp->session->ended) {
        if (setting->set & (TH_BP_LOCAL | TH_BP_GLOBAL)) {
            generic_bp_clear(bp, TH_BP_LOCAL | TH_BP_GLOBAL);
            data->spec = th_breakpoint_shared_take(setting->spec);
        }
        if (setting->set & TH_BP_META) {
            th_breakpoint_shared_drop(data->meta_spec);
            th_breakpoint_shared_drop(shared_of(data->meta));
            data->meta_spec = th_breakpoint_shared_take(setting->meta_spec);
            data->meta = th_breakpoint_meta_create(setting->meta_tracer);
        }
        activate(bp, setting->set, serial);
    }
    data->flags &= ~(setting->pause << TH_BP_ACTIVE_SHIFT);
    if (setting->restart & th_breakpoint_kinds(data))
        activate(bp, setting->restart & th_breakpoint_kinds(data), serial);
}
