/*
 * The change sequence: adds, updates and removes breakpoints while all threads go on.
 *
 * Hits obey one of two generations (generic_bp.h). A change writes the other one, the staging
 * generation, and makes it the active one with one store. The steps have the numbers of OTP's
 * erts/emulator/internal_doc/Tracing.md ("To Update and Remove Breakpoints"). "Wait" is for a grace
 * period: until each thread has left the reader section that it is in.
 *
 *    1. Seize the code modification permission: now the staging generation and the lists of
 *       breakpoints are this change's own.
 *    2. Allocate new breakpoints. On a site that is armed already, hits may find them at any time:
 *       they do nothing in the active generation.
 *    3. Stage: write the staging generation of the breakpoints that change. No hit looks there:
 *       step 8 of the change before waited for those that did. Sites that count their active
 *       breakpoints by generation update the count of the staging one.
 *    4. Wait, so that every thread sees the data of a site before it is sent there.
 *    5. Arm the sites that have their first active breakpoint.
 *    6. Wait, so that every thread comes to the breakpoints before they do anything: then all begin
 *       at the same time, as nearly as is possible without stopping threads.
 *    7. Commit: switch th_breakpoint_active_index. From here on, hits obey the change.
 *    8. Wait for hits that had read the index before and obey the old generation. After that the
 *       old generation is the staging one for good, and no hit is on its way to a removed
 *       breakpoint.
 *    9. Uninstall: disarm the sites that have no active breakpoint any more; unlink breakpoints
 *       that have no kind any more.
 *   10. Wait for threads that walk a list from which a breakpoint was unlinked.
 *   11. Consolidate: copy the active generation of the changed breakpoints to the staging one, so
 *       that the next change, which may have other breakpoints, finds all of them ready. Update the
 *       sites' counts, for unlinked breakpoints, too.
 *   12. Deallocate the unlinked breakpoints.
 *   13. Release the permission; the change is done.
 *
 * A change skips the steps that it does not need. A change that arms no site skips 4 to 6: its new
 * data is reached only through the index or the lists, which are read with acquire. A change that
 * unlinks nothing does not wait in 10. So adding waits three times, updating once, removing twice,
 * and adding and removing together four times. Other breakpoints are not visited.
 */
#include "change.h"

#include "breakpoint_internal.h"
#include "generic_bp.h"
#include "site.h"

#include "host/base/buffer.h"
#include "host/base/hash.h"

/* Written with the permission. */
static uint64_t latest_serial;

/* --- Preparation ------------------------------------------------------------------------------ */

struct th_change *th_breakpoint_change_create(void)
{
    return th_alloc_zero(sizeof(struct th_change));
}

static struct th_change_item *add_item(struct th_change *change,
                                       const struct th_bp_setting *setting)
{
    struct th_change_item *item;

    TH_ARRAY_GROW(change->settings.items, change->settings.count, change->settings.capacity);
    item = &change->settings.items[change->settings.count++];
    *item = (struct th_change_item){.setting = *setting};
    if (setting->site)
        item->ends = setting->site->ends;
    if (setting->session)
        th_breakpoint_shared_take(&setting->session->shared);
    th_breakpoint_shared_take(setting->spec);
    th_breakpoint_shared_take(setting->meta_spec);
    th_breakpoint_shared_take(setting->meta_tracer);
    return item;
}

void th_breakpoint_change_add(struct th_change *change, const struct th_bp_setting *setting)
{
    if (setting->set & TH_BP_LOCAL && setting->set & TH_BP_GLOBAL)
        th_bug("a breakpoint is set as local and global");
    add_item(change, setting);
}

void th_breakpoint_change_stand_in(struct th_change *change, struct th_site *site,
                                   struct th_site *native)
{
    add_item(change, &(struct th_bp_setting){.site = site})->native = native;
}

void th_breakpoint_change_end_session(struct th_change *change, struct th_bp_session *session)
{
    add_item(change, &(struct th_bp_setting){.session = session, .clear = TH_BP_ALL})->end = true;
}

struct th_change_counts th_breakpoint_change_counts(const struct th_change *change)
{
    struct th_change_counts counts = change->counts;

    counts.rounds = change->modification.rounds;
    return counts;
}

/* --- 2. Allocate ------------------------------------------------------------------------------ */

static bool is_void(const struct th_change_item *item)
{
    return item->setting.site && item->ends != item->setting.site->ends;
}

static void take_request(void *context, const struct th_bp_setting *setting, uint64_t serial)
{
    add_item(context, setting)->serial = serial;
}

/* Adds a setting of BP's kinds at SITE, except those that the session has there. Thread: in a
 * reader section, as a hit may remove the meta tracer. */
static void stand_in(struct th_change *change, struct th_site *site, const struct th_generic_bp *bp)
{
    const unsigned generation = th_breakpoint_generation();
    const struct th_bp_data *data = &bp->data[generation];
    const struct th_generic_bp *there = th_breakpoint_find(site, bp->session);
    uint32_t set = th_breakpoint_stand_in(th_breakpoint_kinds(data)) & site->operations->kinds;
    struct th_bp_setting setting = {
        .site = site, .session = bp->session, .spec = data->spec, .meta_spec = data->meta_spec};

    if (data->meta)
        setting.meta_tracer = atomic_load_explicit(&data->meta->tracer, memory_order_acquire);
    if (!setting.meta_tracer)
        set &= ~(uint32_t)TH_BP_META;
    if (there)
        set &= ~th_breakpoint_kinds(&there->data[generation]);
    setting.set = set;
    setting.pause = set & ~th_breakpoint_stand_in(th_breakpoint_active(data));
    if (set)
        add_item(change, &setting);
}

static bool allocate(struct th_change *change)
{
    if (change->of_requests)
        th_breakpoint_request_take(take_request, change);
    for (size_t i = 0, had = change->settings.count; i < had; i++) {
        const struct th_change_item item = change->settings.items[i];
        struct th_generic_bp *bp;
        if (!item.native || is_void(&item))
            continue;
        th_progress_enter();
        for (bp = atomic_load_explicit(&item.native->first, memory_order_relaxed); bp;
             bp = atomic_load_explicit(&bp->next, memory_order_relaxed))
            stand_in(change, item.setting.site, bp);
        th_progress_leave();
    }
    for (size_t i = 0; i < change->settings.count; i++) {
        struct th_change_item *item = &change->settings.items[i];
        const struct th_bp_setting *setting = &item->setting;
        struct th_generic_bp *bp;
        if (!setting->site || !setting->session || is_void(item))
            continue;
        bp = th_breakpoint_find(setting->site, setting->session);
        if (bp && item->serial && bp->data[th_breakpoint_generation()].serial != item->serial)
            bp = NULL;
        if (!bp && setting->set && !setting->session->ended) {
            bp = th_breakpoint_create(setting->site, setting->session);
            th_breakpoint_link(bp);
            change->counts.allocated++;
        }
        item->bp = bp;
    }
    return false;
}

/* --- 3. Stage --------------------------------------------------------------------------------- */

/* Updates the site's count in the staging generation after one breakpoint's kinds changed. */
static void tell_count(struct th_site *site, uint32_t before, uint32_t after)
{
    if (before != after && site->operations->count)
        site->operations->count(site, !th_breakpoint_generation(), before, after);
}

static void follow_active(struct th_change *change, struct th_site *site, uint32_t before,
                          uint32_t after)
{
    unsigned had = site->active;

    site->active = had + (after != 0) - (before != 0);
    if (site->listed || (had != 0) == (site->active != 0))
        return;
    site->listed = true;
    TH_ARRAY_GROW(change->sites.items, change->sites.count, change->sites.capacity);
    change->sites.items[change->sites.count++] = site;
}

static void stage_one(struct th_change *change, struct th_generic_bp *bp,
                      const struct th_bp_setting *setting)
{
    const struct th_bp_data *data = &bp->data[!th_breakpoint_generation()];
    uint32_t there = th_breakpoint_kinds(data), before = th_breakpoint_active(data);

    if (!(setting->set | ((setting->clear | setting->pause | setting->restart) & there)))
        return;
    if (!bp->listed) {
        bp->listed = true;
        TH_ARRAY_GROW(change->touched.items, change->touched.count, change->touched.capacity);
        change->touched.items[change->touched.count++] = bp;
        change->counts.visited++;
    }
    th_breakpoint_stage(bp, setting, change->serial);
    tell_count(bp->site, before, th_breakpoint_active(data));
    follow_active(change, bp->site, before, th_breakpoint_active(data));
}

static bool stage(struct th_change *change)
{
    change->serial = ++latest_serial;
    for (size_t i = 0; i < change->settings.count; i++) {
        const struct th_change_item *item = &change->settings.items[i];
        const struct th_bp_setting *setting = &item->setting;
        struct th_bp_session *session = setting->session;
        struct th_generic_bp *bp;
        if (!setting->site) {
            for (bp = session->breakpoints; bp; bp = bp->of_session)
                stage_one(change, bp, setting);
            session->ended |= item->end;
        } else if (!session && !item->native && !is_void(item)) {
            for (bp = atomic_load_explicit(&setting->site->first, memory_order_relaxed); bp;
                 bp = atomic_load_explicit(&bp->next, memory_order_relaxed))
                stage_one(change, bp, setting);
        } else if (item->bp) {
            stage_one(change, item->bp, setting);
        }
    }
    return false;
}

/* --- 4, 5, 6. Arm ----------------------------------------------------------------------------- */

static bool is_to_be_written(const struct th_site *site, bool arm)
{
    return (site->active != 0) == arm && th_breakpoint_site_is_armed(site) != arm;
}

static void write_sites(struct th_change *change, bool arm)
{
    struct th_site **batch =
        change->sites.count ? th_alloc(change->sites.count * sizeof *batch) : NULL;
    size_t count = 0;

    for (size_t i = 0; i < change->sites.count; i++) {
        struct th_site *site = change->sites.items[i];
        if (!is_to_be_written(site, arm))
            continue;
        if (count > 0 && batch[0]->operations != site->operations) {
            th_breakpoint_sites_write(batch, count, arm);
            count = 0;
        }
        batch[count++] = site;
        change->counts.sites_written++;
    }
    if (count > 0)
        th_breakpoint_sites_write(batch, count, arm);
    th_free(batch);
}

static bool wait_for_staged(struct th_change *change)
{
    for (size_t i = 0; i < change->sites.count && !change->arms; i++)
        change->arms = is_to_be_written(change->sites.items[i], true);
    return change->arms;
}

static bool arm(struct th_change *change)
{
    if (change->arms)
        write_sites(change, true);
    return false;
}

static bool wait_for_armed(struct th_change *change)
{
    return change->arms;
}

/* --- 7, 8. Commit ----------------------------------------------------------------------------- */

static bool commit(struct th_change *change)
{
    /* Release: all that was staged comes before it. See generic_bp.h. */
    if (change->touched.count > 0)
        atomic_store_explicit(&th_breakpoint_active_index, !th_breakpoint_generation(),
                              memory_order_release);
    return false;
}

static bool wait_for_hits(struct th_change *change)
{
    return change->touched.count > 0;
}

/* --- 9, 10. Uninstall ------------------------------------------------------------------------- */

static bool is_removed(const struct th_generic_bp *bp)
{
    return !th_breakpoint_kinds(&bp->data[th_breakpoint_generation()]);
}

static bool uninstall(struct th_change *change)
{
    write_sites(change, false);
    for (size_t i = 0; i < change->sites.count; i++)
        change->sites.items[i]->listed = false;
    for (size_t i = 0; i < change->touched.count; i++)
        if (is_removed(change->touched.items[i])) {
            th_breakpoint_unlink(change->touched.items[i]);
            change->counts.freed++;
        }
    return false;
}

static bool wait_for_walkers(struct th_change *change)
{
    return change->counts.freed > 0;
}

/* --- 11, 12. Consolidate, deallocate ---------------------------------------------------------- */

static bool consolidate(struct th_change *change)
{
    for (size_t i = 0; i < change->touched.count; i++) {
        struct th_generic_bp *bp = change->touched.items[i];
        uint32_t before = th_breakpoint_active(&bp->data[!th_breakpoint_generation()]);
        bp->listed = false;
        if (!is_removed(bp))
            th_breakpoint_consolidate(bp);
        tell_count(bp->site, before, th_breakpoint_active(&bp->data[th_breakpoint_generation()]));
    }
    return false;
}

static bool deallocate(struct th_change *change)
{
    for (size_t i = 0; i < change->touched.count; i++)
        if (is_removed(change->touched.items[i]))
            th_breakpoint_free(change->touched.items[i]);
    return false;
}

/* --- The sequence ----------------------------------------------------------------------------- */

/* The steps by their numbers; true: wait. 1 and 13 are in th_code_modification_start(). */
static bool (*const steps[])(struct th_change *change) = {
    [2] = allocate,          [3] = stage,        [4] = wait_for_staged, [5] = arm,
    [6] = wait_for_armed,    [7] = commit,       [8] = wait_for_hits,   [9] = uninstall,
    [10] = wait_for_walkers, [11] = consolidate, [12] = deallocate,
};

static bool change_go_on(struct th_modification *self)
{
    struct th_change *change = (struct th_change *)self;

    while (change->step < sizeof steps / sizeof *steps)
        if (steps[change->step++](change))
            return true;
    return false;
}

static void change_finish(struct th_modification *self)
{
    struct th_change *change = (struct th_change *)self;

    for (size_t i = 0; i < change->settings.count; i++) {
        const struct th_bp_setting *setting = &change->settings.items[i].setting;
        th_breakpoint_shared_drop(setting->spec);
        th_breakpoint_shared_drop(setting->meta_spec);
        th_breakpoint_shared_drop(setting->meta_tracer);
        if (setting->session)
            th_breakpoint_shared_drop(&setting->session->shared);
    }
    if (change->done)
        change->done(change, change->context);
    th_free(change->settings.items);
    th_free(change->touched.items);
    th_free(change->sites.items);
    th_free(change);
}

static void change_prepare(struct th_change *change,
                           void (*done)(struct th_change *change, void *context), void *context)
{
    change->modification.step = change_go_on;
    change->modification.done = change_finish;
    change->done = done;
    change->context = context;
    change->step = 2;
}

void th_breakpoint_change_queue(struct th_change *change)
{
    th_code_modification_queue(&change->modification);
}

bool th_breakpoint_change_run(struct th_change *change,
                              void (*done)(struct th_change *change, void *context), void *context)
{
    change_prepare(change, done, context);
    return th_code_modification_run(&change->modification);
}

bool th_breakpoint_change_start(struct th_change *change,
                                void (*done)(struct th_change *change, void *context),
                                void *context)
{
    change_prepare(change, done, context);
    return th_code_modification_start(&change->modification);
}

static void keep_counts(struct th_change *change, void *counts)
{
    *(struct th_change_counts *)counts = th_breakpoint_change_counts(change);
}

struct th_change_counts th_breakpoint_change_run_held(struct th_change *change)
{
    struct th_change_counts counts;

    change_prepare(change, keep_counts, &counts);
    th_code_modification_run_held(&change->modification);
    return counts;
}

/* --- A change of functions that no call can reach yet ----------------------------------------- */

/*
 * The breakpoints of such a function are completed, in both generations, before a thread can find
 * them; they take effect when calls reach the function. So no order of writes matters, no grace
 * period is needed, and th_breakpoint_active_index does not change: both of its values select the
 * same data when the first call comes.
 *
 *    1. Create the breakpoints and stage the settings one by one, linked to no site.
 *    2. Copy what is staged to the active generation. Free breakpoints without a kind.
 *    3. Link them to their sites and count them, in both generations.
 *    4. Arm the sites that have an active one.
 */

/* 1 */
static void stage_unreached(struct th_change *change)
{
    /* By site: the first breakpoint that was created for it; the others follow by `next`. */
    struct th_table coming = {0};

    change->serial = ++latest_serial;
    for (size_t i = 0; i < change->settings.count; i++) {
        const struct th_bp_setting *setting = &change->settings.items[i].setting;
        struct th_generic_bp *first, *bp;
        if (!setting->site || !setting->session)
            th_bug("a change of functions that no call reaches may only set breakpoints");
        if (is_void(&change->settings.items[i]))
            continue;
        bp = first = th_hash_table_get(&coming, (uintptr_t)setting->site);
        while (bp && bp->session != setting->session)
            bp = atomic_load_explicit(&bp->next, memory_order_relaxed);
        if (!bp && setting->set && !setting->session->ended &&
            !th_breakpoint_find(setting->site, setting->session)) { /* no existing one */
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

    stage_unreached(change);
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
        follow_active(change, site, 0, active);
    }
    write_sites(change, true); /* 4 */
    for (size_t i = 0; i < change->sites.count; i++)
        change->sites.items[i]->listed = false;
    counts = th_breakpoint_change_counts(change);
    change_finish(&change->modification);
    return counts;
}
