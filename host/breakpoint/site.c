#include "site.h"

#include "breakpoint_session.h"

#include "host/base/base.h"
#include "host/code/code.h"

#include <pthread.h>

enum { SITES = 256 /* allocated at once */ };

/* The lock guards `free_sites`, linked by `place`, and `all_sites`; it is held for a few
 * instructions, and no other lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_site *free_sites;

static void add_free(struct th_site *site)
{
    site->place = free_sites;
    free_sites = site;
}

/* Begins with a pointer to the one allocated before. */
static void *all_sites;

/* Never freed: see site.h. */
static void make_sites(void)
{
    enum { ALIGNMENT = sizeof(struct th_site) };
    void **memory = th_alloc_zero((SITES + 1) * sizeof(struct th_site));
    uintptr_t after = (uintptr_t)(memory + 1);
    struct th_site *sites = (struct th_site *)((after + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);

    _Static_assert(sizeof(struct th_site) == 64, "a site is a cache line");
    *memory = all_sites;
    all_sites = memory;
    for (size_t i = SITES; i-- > 0;)
        add_free(&sites[i]);
}

struct th_site *th_breakpoint_site_create(const struct th_site_operations *operations,
                                          void *function, void *place)
{
    struct th_site *site;

    pthread_mutex_lock(&lock);
    if (!free_sites)
        make_sites();
    site = free_sites;
    free_sites = site->place;
    pthread_mutex_unlock(&lock);
    site->operations = operations;
    site->function = function;
    site->place = place;
    return site;
}

void th_breakpoint_site_end(struct th_site *site)
{
    site->ends++;
}

static void drop(struct th_later *later)
{
    struct th_site *site = (struct th_site *)((char *)later - offsetof(struct th_site, later));

    pthread_mutex_lock(&lock);
    add_free(site);
    pthread_mutex_unlock(&lock);
}

void th_breakpoint_site_drop(struct th_site *site)
{
    if (atomic_load_explicit(&site->first, memory_order_relaxed))
        th_bug("a %s site is dropped that has breakpoints", site->operations->kind);
    th_progress_later(&site->later, drop);
}

/* --- Virtual sites ---------------------------------------------------------------------------- */

static void arm(struct th_site *const *sites, size_t count)
{
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit(&sites[i]->armed, 1, memory_order_relaxed);
}

static void disarm(struct th_site *const *sites, size_t count)
{
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit(&sites[i]->armed, 0, memory_order_relaxed);
}

static bool is_armed(const struct th_site *site)
{
    return th_breakpoint_site_is_armed(site);
}

const struct th_site_operations th_breakpoint_site_virtual = {
    .kind = "virtual", .kinds = TH_BP_ALL, .arm = arm, .disarm = disarm, .is_armed = is_armed};

/* --- Export sites ----------------------------------------------------------------------------- */

static void arm_exports(struct th_site *const *sites, size_t count)
{
    for (size_t i = 0; i < count; i++)
        th_code_export_arm(sites[i]->place, true);
}

static void disarm_exports(struct th_site *const *sites, size_t count)
{
    for (size_t i = 0; i < count; i++)
        th_code_export_arm(sites[i]->place, false);
}

static bool export_is_armed(const struct th_site *site)
{
    return th_code_export_word(site->place) & TH_EXPORT_ARMED;
}

const struct th_site_operations th_breakpoint_site_export = {.kind = "export",
                                                             .kinds = TH_BP_ALL & ~TH_BP_LOCAL,
                                                             .arm = arm_exports,
                                                             .disarm = disarm_exports,
                                                             .is_armed = export_is_armed};
