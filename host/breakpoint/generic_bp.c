#include "generic_bp.h"

#include "breakpoint_internal.h"
#include "change.h"

#include "host/base/base.h"

_Alignas(64) _Atomic uint32_t th_breakpoint_active_index;

struct th_generic_bp *th_breakpoint_find(struct th_site *site, const struct th_bp_session *session)
{
    struct th_generic_bp *bp = atomic_load_explicit(&site->first, memory_order_acquire);

    while (bp && bp->session != session)
        bp = atomic_load_explicit(&bp->next, memory_order_acquire);
    return bp;
}

/* --- Being there ------------------------------------------------------------------------------ */

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

    /* Release, as it publishes NEXT to those who did not come by BP. */
    atomic_store_explicit(link_of(bp->site, bp), next, memory_order_release);
    th_breakpoint_forget(bp);
}

static struct th_shared *shared_of(struct th_bp_meta *meta)
{
    return meta ? &meta->shared : NULL;
}

static void free_tallies(const struct th_bp_data *data, const struct th_bp_data *kept)
{
    if (data->count != kept->count)
        th_breakpoint_tally_free(data->count, NULL);
    if (data->time != kept->time)
        th_breakpoint_tally_free(data->time, th_breakpoint_account_dispose);
    if (data->memory != kept->memory)
        th_breakpoint_tally_free(data->memory, th_breakpoint_account_dispose);
}

/* Gives back what DATA has and KEPT, the other generation, has not. */
static void release(const struct th_bp_data *data, const struct th_bp_data *kept)
{
    free_tallies(data, kept);
    th_breakpoint_shared_drop(data->spec);
    th_breakpoint_shared_drop(data->meta_spec);
    th_breakpoint_shared_drop(shared_of(data->meta));
}

void th_breakpoint_free(struct th_generic_bp *bp)
{
    static const struct th_bp_data nothing;

    release(&bp->data[0], &bp->data[1]);
    release(&bp->data[1], &nothing);
    th_breakpoint_shared_drop(&bp->session->shared);
    th_free(bp);
}

static void copy(struct th_bp_data *to, const struct th_bp_data *from)
{
    release(to, from);
    *to = *from;
    th_breakpoint_shared_take(to->spec);
    th_breakpoint_shared_take(to->meta_spec);
    th_breakpoint_shared_take(shared_of(to->meta));
}

void th_breakpoint_consolidate(struct th_generic_bp *bp)
{
    unsigned active = th_breakpoint_generation();

    copy(&bp->data[!active], &bp->data[active]);
}

void th_breakpoint_complete(struct th_generic_bp *bp)
{
    unsigned active = th_breakpoint_generation();

    copy(&bp->data[active], &bp->data[!active]);
}

/* --- Staging ---------------------------------------------------------------------------------- */

static struct th_bp_data *staging(struct th_generic_bp *bp)
{
    return &bp->data[!th_breakpoint_generation()];
}

static void replace(struct th_shared **place, struct th_shared *with)
{
    th_breakpoint_shared_drop(*place);
    *place = with;
}

static void replace_meta(struct th_bp_data *data, struct th_bp_meta *with)
{
    th_breakpoint_shared_drop(shared_of(data->meta));
    data->meta = with;
}

/* One that the active generation counts in is freed when it has become the staging one; one that
 * was staged before in the same change nobody has seen. */
static void replace_tally(uint32_t *place, uint32_t active, uint32_t with)
{
    if (*place != active)
        th_breakpoint_tally_free(*place, NULL);
    *place = with;
}

static void replace_tallies(struct th_generic_bp *bp, uint32_t kinds, uint32_t (*with)(void))
{
    const struct th_bp_data *active = &bp->data[th_breakpoint_generation()];
    struct th_bp_data *data = staging(bp);

    if (kinds & TH_BP_COUNT)
        replace_tally(&data->count, active->count, with());
    if (kinds & TH_BP_TIME)
        replace_tally(&data->time, active->time, with());
    if (kinds & TH_BP_MEMORY)
        replace_tally(&data->memory, active->memory, with());
}

static uint32_t no_tally(void)
{
    return 0;
}

void th_breakpoint_clear(struct th_generic_bp *bp, uint32_t kinds)
{
    struct th_bp_data *data = staging(bp);

    data->flags &= ~(kinds | kinds << TH_BP_ACTIVE_SHIFT);
    if (kinds & (TH_BP_LOCAL | TH_BP_GLOBAL) && !(data->flags & (TH_BP_LOCAL | TH_BP_GLOBAL)))
        replace(&data->spec, NULL);
    if (kinds & TH_BP_META) {
        replace(&data->meta_spec, NULL);
        replace_meta(data, NULL);
    }
    replace_tallies(bp, kinds, no_tally);
}

void th_breakpoint_pause(struct th_generic_bp *bp, uint32_t kinds)
{
    staging(bp)->flags &= ~(kinds << TH_BP_ACTIVE_SHIFT);
}

static void activate(struct th_generic_bp *bp, uint32_t kinds, uint64_t serial)
{
    struct th_bp_data *data = staging(bp);

    data->flags |= kinds | kinds << TH_BP_ACTIVE_SHIFT;
    data->serial = serial;
    replace_tallies(bp, kinds, th_breakpoint_tally_create);
}

void th_breakpoint_restart(struct th_generic_bp *bp, uint32_t kinds, uint64_t serial)
{
    activate(bp, kinds & th_breakpoint_kinds(staging(bp)), serial);
}

void th_breakpoint_set(struct th_generic_bp *bp, const struct th_bp_setting *setting,
                       uint64_t serial)
{
    struct th_bp_data *data = staging(bp);

    if (setting->set & (TH_BP_LOCAL | TH_BP_GLOBAL)) {
        th_breakpoint_clear(bp, TH_BP_LOCAL | TH_BP_GLOBAL);
        replace(&data->spec, th_breakpoint_shared_take(setting->spec));
    }
    if (setting->set & TH_BP_META) {
        replace(&data->meta_spec, th_breakpoint_shared_take(setting->meta_spec));
        replace_meta(data, th_breakpoint_meta_create(setting->meta_tracer));
    }
    activate(bp, setting->set, serial);
}
