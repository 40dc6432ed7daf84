#include "site.h"

#include "breakpoint_session.h"

#include "host/base/memory.h"
#include "host/code/export.h"

#include <pthread.h>

enum { SITES = 256 /* allocated at once */ };

/* The lock guards `free_sites`, linked by `place`, and `all_sites`. The lock is held for a few
 * instructions; no other lock is taken under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct th_site *free_sites;

static void add_free(struct th_site *site)
{
    site->place = free_sites;
    free_sites = site;
}

/* The chunks of sites: each begins with a pointer to the chunk before. */
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

static void site_drop(struct th_later *later)
{
    struct th_site *site = (struct th_site *)((char *)later - offsetof(struct th_site, later));

    pthread_mutex_lock(&lock);
    add_free(site);
    pthread_mutex_unlock(&lock);
}

void th_breakpoint_site_drop(struct th_site *site)
{
    if (atomic_load_explicit(&site->first, memory_order_relaxed))
        th_bug("a %s site with breakpoints is dropped", site->operations->kind);
    th_progress_later(&site->later, site_drop);
}

/* --- Arming ----------------------------------------------------------------------------------- */

void th_breakpoint_sites_write(struct th_site *const *sites, size_t count, bool arm)
{
    for (size_t i = 0; i < count; i++)
        atomic_store_explicit(&sites[i]->armed, arm, memory_order_relaxed);
    if (sites[0]->operations->write)
        sites[0]->operations->write(sites, count, arm);
}

const struct th_site_operations th_breakpoint_site_virtual = {.kind = "virtual",
                                                              .kinds = TH_BP_ALL};

static void write_exports(struct th_site *const *sites, size_t count, bool arm)
{
    for (size_t i = 0; i < count; i++)
        th_code_export_arm(sites[i]->place, arm);
}

const struct th_site_operations th_breakpoint_site_export = {
    .kind = "export", .kinds = TH_BP_ALL & ~TH_BP_LOCAL, .write = write_exports};
