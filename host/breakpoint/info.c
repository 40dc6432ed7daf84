#include "info.h"

#include "accounting.h"
#include "generic_bp.h"
#include "tally.h"

#include "host/base/base.h"

static void fill(struct th_bp_info *info, const struct th_bp_data *data)
{
    info->kinds = th_bp_kinds(data);
    info->active = th_bp_active(data);
    info->spec = th_shared_take(data->spec);
    info->meta_spec = th_shared_take(data->meta_spec);
    if (data->meta)
        info->meta_tracer =
            th_shared_take(atomic_load_explicit(&data->meta->tracer, memory_order_acquire));
    if (data->count)
        info->calls = th_tally_sum(data->count);
    if (data->time)
        info->time = th_account_collect(data->time, &info->time_count);
    if (data->memory)
        info->memory = th_account_collect(data->memory, &info->memory_count);
}

bool th_breakpoint_info(struct th_site *site, const struct th_bp_session *session,
                        struct th_bp_info *info)
{
    struct th_generic_bp *bp;
    unsigned generation;

    *info = (struct th_bp_info){0};
    th_progress_enter();
    generation = th_bp_generation();
    bp = th_bp_find(site, session);
    if (bp)
        fill(info, &bp->data[generation]);
    th_progress_leave();
    return info->kinds != 0;
}

void th_bp_info_free(struct th_bp_info *info)
{
    th_shared_drop(info->spec);
    th_shared_drop(info->meta_spec);
    th_shared_drop(info->meta_tracer);
    th_free(info->time);
    th_free(info->memory);
    *info = (struct th_bp_info){0};
}

size_t th_breakpoint_sessions(struct th_site *site, struct th_bp_session **sessions, size_t room)
{
    size_t count = 0;
    struct th_generic_bp *bp;
    unsigned generation;

    th_progress_enter();
    generation = th_bp_generation();
    for (bp = atomic_load_explicit(&site->first, memory_order_acquire); bp;
         bp = atomic_load_explicit(&bp->next, memory_order_acquire)) {
        if (!th_bp_kinds(&bp->data[generation]))
            continue;
        if (count < room) {
            th_shared_take(&bp->session->shared);
            sessions[count] = bp->session;
        }
        count++;
    }
    th_progress_leave();
    return count;
}
