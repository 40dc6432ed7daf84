/*
 * Pages of bits.
 *
 * Pages and the array that finds them by hash are only ever added, published with a release store
 * and read with an acquire load: a reader meets a page after it was cleared and given its key. When
 * the array is three quarters full, a larger one is filled and published; old ones are kept, as a
 * reader may be in one, and sizes double, so that all of them together are smaller than the newest.
 * A new world clears the bits and keeps the pages.
 */
#include "process_internal.h"

enum { FIRST_PLACES = 64 };

struct places {
    struct places *older;
    size_t mask;
    struct th_life_page *_Atomic pages[];
};

struct th_life_page *_Atomic th_process_life_direct[2][TH_LIFE_DIRECT];

static struct places *_Atomic places; /* written by the world's thread only, as what follows */
static size_t place_count;            /* pages found by hash */
static struct th_life_page *all;

/* Never 0, as the place is not direct. */
static uint64_t life_key(struct th_life_place place)
{
    return place.page << 1 | place.port;
}

/* The place of a page, or the free one where it would stand. */
static struct th_life_page *_Atomic *find_life_place(struct places *table, uint64_t key,
                                                     struct th_life_page **page)
{
    for (size_t i = th_hash_mix(key) & table->mask;; i = (i + 1) & table->mask) {
        *page = atomic_load_explicit(&table->pages[i], memory_order_acquire);
        if (!*page || (*page)->key == key)
            return &table->pages[i];
    }
}

static struct places *grow_places(struct places *old)
{
    size_t count = old ? 2 * (old->mask + 1) : FIRST_PLACES;
    struct places *table = th_alloc_zero(sizeof *table + count * sizeof table->pages[0]);

    table->older = old;
    table->mask = count - 1;
    for (size_t i = 0; old && i <= old->mask; i++) {
        struct th_life_page *page = atomic_load_explicit(&old->pages[i], memory_order_relaxed);
        struct th_life_page *none;
        if (page)
            atomic_store_explicit(find_life_place(table, page->key, &none), page,
                                  memory_order_relaxed);
    }
    atomic_store_explicit(&places, table, memory_order_release);
    return table;
}

bool th_process_life_note(th_term id, enum th_life fact)
{
    struct th_life_place place = th_process_life_place(id);
    struct places *table = atomic_load_explicit(&places, memory_order_relaxed);
    struct th_life_page *_Atomic *where;
    uint64_t mask = (uint64_t)1 << place.bit % 64;
    struct th_life_page *page;
    _Atomic uint64_t *word;
    uint64_t old;

    if (place.page < TH_LIFE_DIRECT) {
        where = &th_process_life_direct[place.port][place.page];
    } else {
        if (!table || 4 * place_count >= 3 * (table->mask + 1))
            table = grow_places(table);
        where = find_life_place(table, life_key(place), &page);
        place_count += !page;
    }
    page = atomic_load_explicit(where, memory_order_relaxed);
    if (!page) {
        page = th_alloc_zero(sizeof *page);
        page->key = life_key(place);
        page->next = all;
        all = page;
        atomic_store_explicit(where, page, memory_order_release);
    }
    word = &page->bits[fact][place.bit / 64];
    old = atomic_load_explicit(word, memory_order_relaxed);
    atomic_store_explicit(word, old | mask, memory_order_relaxed);
    return !(old & mask);
}

const struct th_life_page *th_process_life_find(struct th_life_place place)
{
    struct places *table = atomic_load_explicit(&places, memory_order_acquire);
    struct th_life_page *page = NULL;

    if (table)
        find_life_place(table, life_key(place), &page);
    return page;
}

void th_process_life_reset(void)
{
    for (struct th_life_page *page = all; page; page = page->next) {
        for (size_t word = 0; word < TH_LIFE_PAGE_BITS / 64; word++) {
            atomic_store_explicit(&page->bits[TH_LIFE_SEEN][word], 0, memory_order_relaxed);
            atomic_store_explicit(&page->bits[TH_LIFE_ENDED][word], 0, memory_order_relaxed);
        }
    }
}
