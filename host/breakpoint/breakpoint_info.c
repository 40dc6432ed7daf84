#include "breakpoint_info.h"

#include "accounting.h"
#include "generic_bp.h"
#include "tally.h"

#include "host/base/base.h"

static void take_first(struct th_shared **found, struct th_shared *there)
{
    if (!*found)
        *found = th_breakpoint_shared_take(there);
}

/* Adds what is there to what has been found. */
static void fill(struct th_bp_info *info, const struct th_bp_data *data)
{
    info->kinds |= th_breakpoint_kinds(data);
    info->active |= th_breakpoint_active(data);
    take_first(&info->spec, data->spec);
    take_first(&info->meta_spec, data->meta_spec);
    if (data->meta)
        take_first(&info->meta_tracer,
                   atomic_load_explicit(&data->meta->tracer, memory_order_acquire));
    if (data->count)
        info->calls += th_breakpoint_tally_sum(data->count);
}

/* Adds the times and the memory of both, by process, to INFO. */
static void collect(struct th_bp_info *info, const struct th_bp_data *one,
                    const struct th_bp_data *other)
{
    info->time = th_breakpoint_account_collect(one->time, other->time, &info->time_count);
    info->memory = th_breakpoint_account_collect(one->memory, other->memory, &info->memory_count);
}

bool th_breakpoint_info(struct th_site *site, const struct th_bp_session *session,
                        struct th_bp_info *info)
{
    return th_breakpoint_info_of_two(site, NULL, session, info);
}

bool th_breakpoint_info_of_two(struct th_site *one, struct th_site *other,
                               const struct th_bp_session *session, struct th_bp_info *info)
{
    static const struct th_bp_data nothing;
    struct th_site *const sites[] = {one, other};
    const struct th_bp_data *data[] = {&nothing, &nothing};
    unsigned generation;

    *info = (struct th_bp_info){0};
    th_progress_enter();
    generation =
        th_breakpoint_generation(); /* which stays what hits of now obey, until this has left */
    for (size_t i = 0; i < 2; i++) {
        const struct th_generic_bp *bp = sites[i] ? th_breakpoint_find(sites[i], session) : NULL;
        if (bp)
            data[i] = &bp->data[generation];
        fill(info, data[i]);
    }
    collect(info, data[0], data[1]);
    th_progress_leave();
    return info->kinds != 0;
}

void th_breakpoint_info_free(struct th_bp_info *info)
{
    th_breakpoint_shared_drop(info->spec);
    th_breakpoint_shared_drop(info->meta_spec);
    th_breakpoint_shared_drop(info->meta_tracer);
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
    generation = th_breakpoint_generation();
    for (bp = atomic_load_explicit(&site->first, memory_order_acquire); bp;
         bp = atomic_load_explicit(&bp->next, memory_order_acquire)) {
        if (!th_breakpoint_kinds(&bp->data[generation]))
            continue;
        if (count < room) {
            th_breakpoint_shared_take(&bp->session->shared);
            sessions[count] = bp->session;
        }
        count++;
    }
    th_progress_leave();
    return count;
}
