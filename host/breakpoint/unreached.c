/*
 * A change of functions that no call can reach yet.
 *
 * Such a function's breakpoints are made whole, in both generations, before anybody can find them;
 * what makes them be met is that calls come to the function. So there is no order to keep of what
 * threads see, nothing to be waited for, and th_breakpoint_active_index stays what it is: whichever
 * it is when the first call comes, it says the same.
 *
 *    1. Breakpoints are created and staged one setting after the other, linked to nobody's site.
 *    2. Their active generation becomes what is staged. Those that do nothing in the end go.
 *    3. They are linked to their sites, and counted, in both generations.
 *    4. The sites that have one are armed.
 */
#include "breakpoint_internal.h"

#include "host/base/base.h"

/* 1 */
static void stage(struct th_change *change)
{
    /* Sites to the first breakpoint that was made for them, which the others follow by `next`. */
    struct th_table coming = {0};

    change->serial = th_breakpoint_change_next_serial();
    for (size_t i = 0; i < change->settings.count; i++) {
        const struct th_bp_setting *setting = &change->settings.items[i].setting;
        struct th_generic_bp *first, *bp;
        if (!setting->site || !setting->session)
            th_bug("only settings are made of functions that no call reaches");
        if (th_breakpoint_change_is_void(&change->settings.items[i]))
            continue;
        bp = first = th_hash_table_get(&coming, (uintptr_t)setting->site);
        while (bp && bp->session != setting->session)
            bp = atomic_load_explicit(&bp->next, memory_order_relaxed);
        if (!bp && setting->set && !setting->session->ended &&
            !th_breakpoint_find(setting->site, setting->session)) { /* was it there before? */
            bp = th_breakpoint_create(setting->site, setting->session);
            atomic_store_explicit(&bp->next, first, memory_order_relaxed);
            th_hash_table_set(&coming, (uintptr_t)setting->site, bp);
            TH_ARRAY_GROW(change->touched.items, change->touched.count, change->touched.capacity);
            change->touched.items[change->touched.count++] = bp;
            change->counts.allocated++;
        }
        if (bp)
            th_breakpoint_stage(bp, setting, change->serial);
    }
    th_hash_table_free(&coming);
}

struct th_change_counts th_breakpoint_change_set_unreached(struct th_change *change)
{
    struct th_change_counts counts;

    stage(change);
    for (size_t i = 0; i < change->touched.count; i++) {
        struct th_generic_bp *bp = change->touched.items[i];
        struct th_site *site = bp->site;
        uint32_t active;
        atomic_store_explicit(&bp->next, NULL, memory_order_relaxed);
        th_breakpoint_complete(bp); /* 2 */
        if (!th_breakpoint_kinds(&bp->data[0])) {
            th_breakpoint_forget(bp);
            th_breakpoint_free(bp);
            change->counts.freed++;
            continue;
        }
        th_breakpoint_link(bp); /* 3 */
        active = th_breakpoint_active(&bp->data[0]);
        for (unsigned k = 0; k < 2 && active && site->operations->count; k++)
            site->operations->count(site, k, 0, active);
        th_breakpoint_change_follow_active(change, site, 0, active);
    }
    th_breakpoint_change_write_sites(change, true); /* 4 */
    th_breakpoint_change_unlist_sites(change);
    counts = th_breakpoint_change_counts(change);
    th_breakpoint_change_finish(change);
    return counts;
}
