/* The table of live tracees: an array of places in pages, by the index of the id. */
#include "live_table.h"

#include "live.h"

#include "host/base/memory.h"
#include "host/process/process.h"

enum {
    PAGE = 4096, /* places */
    PAGES = TH_HOST_MOST / PAGE,
    FOUND = 1 /* bit of a place: a thread has found the tracee */
};

/*
 * A place holds the address of a tracee, and the bit FOUND; 0: free.
 *
 * Release when a tracee is added: the tracee is complete; and when it is removed: its last use in
 * this table. Acquire when a place is read or marked: the tracee is read afterwards. The end of a
 * tracee that was found is ordered after its uses by the lock.
 */
struct th_live_page {
    _Atomic uintptr_t places[PAGE];
};

void th_live_table_begin(struct th_live_table *table)
{
    table->pages = th_alloc_zero(PAGES * sizeof *table->pages);
}

bool th_live_table_end(struct th_live_table *table)
{
    bool empty = true;

    for (size_t i = 0; table->pages && i < PAGES; i++) {
        struct th_live_page *page = atomic_load_explicit(&table->pages[i], memory_order_relaxed);
        for (size_t k = 0; page && k < PAGE; k++)
            empty &= atomic_load_explicit(&page->places[k], memory_order_relaxed) == 0;
        th_free(page);
    }
    th_free(table->pages);
    table->pages = NULL;
    return empty;
}

/* Makes a page at PLACE, if no other thread makes one first. Returns the page. */
static struct th_live_page *make_page(struct th_live_page *_Atomic *place)
{
    struct th_live_page *page = th_alloc_zero(sizeof *page), *there = NULL;

    if (atomic_compare_exchange_strong_explicit(place, &there, page, memory_order_acq_rel,
                                                memory_order_acquire))
        return page;
    th_free(page);
    return there;
}

/* Returns the place of ID; NULL: its page is missing, and MAKES is false or ID is no identifier of
 * the host. */
static _Atomic uintptr_t *place_of(const struct th_live_table *table, th_term id, bool makes)
{
    uint32_t index = th_process_host_index(id);
    struct th_live_page *page;

    if (!table->pages || index >= TH_HOST_MOST)
        return NULL;
    page = atomic_load_explicit(&table->pages[index / PAGE], memory_order_acquire);
    if (__builtin_expect(!page && makes, 0))
        page = make_page(&table->pages[index / PAGE]);
    return page ? &page->places[index % PAGE] : NULL;
}

void th_live_table_add(struct th_live_table *table, struct th_live_tracee *tracee)
{
    _Atomic uintptr_t *place = place_of(table, tracee->id, true);

    if (!place)
        th_bug("a live process or port has no identifier of the host");
    atomic_store_explicit(place, (uintptr_t)tracee, memory_order_release);
}

bool th_live_table_remove(struct th_live_table *table, struct th_live_tracee *tracee)
{
    uintptr_t there = (uintptr_t)tracee;

    return atomic_compare_exchange_strong_explicit(place_of(table, tracee->id, false), &there, 0,
                                                   memory_order_release, memory_order_relaxed);
}

void th_live_table_remove_found(struct th_live_table *table, struct th_live_tracee *tracee)
{
    uintptr_t there = (uintptr_t)tracee | FOUND;

    if (!th_live_table_remove(table, tracee))
        atomic_compare_exchange_strong_explicit(place_of(table, tracee->id, false), &there, 0,
                                                memory_order_release, memory_order_relaxed);
}

struct th_live_tracee *th_live_table_find(const struct th_live_table *table, th_term id)
{
    _Atomic uintptr_t *place = place_of(table, id, false);
    uintptr_t there = place ? atomic_load_explicit(place, memory_order_relaxed) : 0;
    struct th_live_tracee *tracee;

    while (there && !atomic_compare_exchange_weak_explicit(
                        place, &there, there | FOUND, memory_order_acquire, memory_order_relaxed))
        continue; /* THERE is what the place holds now */
    tracee = (struct th_live_tracee *)(there & ~(uintptr_t)FOUND);
    return tracee && tracee->id == id ? tracee : NULL;
}
