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

/* Sites to the first breakpoint that was made for them, which the others follow by `next`. */
struct coming {
    struct th_table of_site;
};

static struct th_generic_bp *next_of(const struct th_generic_bp *bp)
{
    return atomic_load_explicit(&bp->next, memory_order_relaxed);
}

static struct th_generic_bp *find(const struct coming *coming, const struct th_bp_setting *setting)
{
    struct th_generic_bp *bp = th_hash_table_get(&coming->of_site, (uintptr_t)setting->site);

    while (bp && bp->session != setting->session)
        bp = next_of(bp);
    return bp;
}

static struct th_generic_bp *make(struct th_change *change, struct coming *coming,
                                  const struct th_bp_setting *setting)
{
    struct th_generic_bp *bp = th_breakpoint_create(setting->site, setting->session);

    atomic_store_explicit(&bp->next, th_hash_table_get(&coming->of_site, (uintptr_t)setting->site),
                          memory_order_relaxed);
    th_hash_table_set(&coming->of_site, (uintptr_t)setting->site, bp);
    TH_ARRAY_GROW(change->touched.items, change->touched.count, change->touched.capacity);
    change->touched.items[change->touched.count++] = bp;
    change->counts.allocated++;
    return bp;
}

/* NULL: there is none, and is to be none; or it was there before. */
static struct th_generic_bp *find_or_make(struct th_change *change, struct coming *coming,
                                          const struct th_bp_setting *setting)
{
    struct th_generic_bp *bp = find(coming, setting);

    if (bp || !setting->set || setting->session->ended ||
        th_breakpoint_find(setting->site, setting->session))
        return bp;
    return make(change, coming, setting);
}

/* 1 */
static void stage(struct th_change *change)
{
    struct coming coming = {{0}};

    change->serial = th_breakpoint_change_next_serial();
    for (size_t i = 0; i < change->settings.count; i++) {
        const struct th_bp_setting *setting = &change->settings.items[i].setting;
        struct th_generic_bp *bp = NULL;
        if (!setting->site || !setting->session)
            th_bug("only settings are made of functions that no call reaches");
        if (!th_breakpoint_change_is_void(&change->settings.items[i]))
            bp = find_or_make(change, &coming, setting);
        if (!bp)
            continue;
        th_breakpoint_clear(bp, setting->clear);
        if (setting->set)
            th_breakpoint_set(bp, setting, change->serial);
        th_breakpoint_pause(bp, setting->pause);
        th_breakpoint_restart(bp, setting->restart, change->serial);
    }
    th_hash_table_free(&coming.of_site);
}

/* 3 */
static void link_and_count(struct th_change *change, struct th_generic_bp *bp)
{
    const struct th_site_operations *operations = bp->site->operations;
    uint32_t active = th_breakpoint_active(&bp->data[0]);

    th_breakpoint_link(bp);
    for (unsigned generation = 0; generation < 2 && active && operations->count; generation++)
        operations->count(bp->site, generation, 0, active);
    th_breakpoint_change_follow_active(change, bp->site, 0, active);
}

struct th_change_counts th_breakpoint_change_set_unreached(struct th_change *change)
{
    struct th_change_counts counts;

    stage(change);
    for (size_t i = 0; i < change->touched.count; i++) {
        struct th_generic_bp *bp = change->touched.items[i];
        atomic_store_explicit(&bp->next, NULL, memory_order_relaxed);
        th_breakpoint_complete(bp);
        if (th_breakpoint_kinds(&bp->data[0])) {
            link_and_count(change, bp);
            continue;
        }
        th_breakpoint_forget(bp);
        th_breakpoint_free(bp);
        change->counts.freed++;
    }
    th_breakpoint_change_write_sites(change, true);
    th_breakpoint_change_unlist_sites(change);
    counts = th_breakpoint_change_counts(change);
    th_breakpoint_change_finish(change);
    return counts;
}
