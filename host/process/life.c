/*
 * Pages of bits, found by hash.
 *
 * Identifiers are handed out in sequence, so the low bits of their number choose a bit in a page
 * and the rest finds the page. Pages and the array that finds them are only ever added, published
 * with a release store and read with an acquire load: a reader meets a page after it was cleared
 * and given its key. When the array is three quarters full, a larger one is filled and published;
 * old ones are kept, as a reader may be in one, and sizes double, so that all of them together are
 * smaller than the newest. A new world clears the bits and keeps the pages.
 */
#include "life.h"

#include "host/base/base.h"

#include <stdatomic.h>

enum { PAGE_BITS = 256, PAGE_WORDS = PAGE_BITS / 64, FIRST_PLACES = 64 };

struct page {
    uint64_t key;
    /* Relaxed: a bit stands for itself, nothing else is read because of it. */
    _Atomic uint64_t bits[TH_LIFE_FACTS][PAGE_WORDS];
};

struct places {
    struct places *older;
    size_t mask;
    struct page *_Atomic pages[];
};

static struct places *_Atomic places; /* written by the world's thread only */
static size_t page_count;             /* used by it only */

struct bit {
    uint64_t key; /* of the page; never 0 */
    size_t word;
    uint64_t mask;
};

static struct bit locate(th_term id)
{
    bool port = th_is_local_port(id);
    uint64_t number = th_local_pid_number(id) | (uint64_t)th_local_pid_serial(id) << 28;
    struct bit bit;

    if (port)
        number = th_local_port_id(id);
    bit.key = number / PAGE_BITS << 2 | (uint64_t)port << 1 | 1;
    bit.word = number % PAGE_BITS / 64;
    bit.mask = (uint64_t)1 << number % 64;
    return bit;
}

/* The place of a page, or the free one where it would stand. */
static struct page *_Atomic *find_place(struct places *table, uint64_t key, struct page **page)
{
    for (size_t i = th_mix(key) & table->mask;; i = (i + 1) & table->mask) {
        *page = atomic_load_explicit(&table->pages[i], memory_order_acquire);
        if (!*page || (*page)->key == key)
            return &table->pages[i];
    }
}

static struct places *new_places(size_t count, struct places *older)
{
    struct places *table = th_alloc_zero(sizeof *table + count * sizeof table->pages[0]);

    table->older = older;
    table->mask = count - 1;
    return table;
}

static struct places *grow(struct places *old)
{
    struct places *table = new_places(old ? 2 * (old->mask + 1) : FIRST_PLACES, old);

    for (size_t i = 0; old && i <= old->mask; i++) {
        struct page *page = atomic_load_explicit(&old->pages[i], memory_order_relaxed);
        struct page *none;
        if (page)
            atomic_store_explicit(find_place(table, page->key, &none), page, memory_order_relaxed);
    }
    atomic_store_explicit(&places, table, memory_order_release);
    return table;
}

/* The page of KEY, made if it is not there. */
static struct page *need_page(uint64_t key)
{
    struct places *table = atomic_load_explicit(&places, memory_order_relaxed);
    struct page *_Atomic *place;
    struct page *page;

    if (!table || 4 * page_count >= 3 * (table->mask + 1))
        table = grow(table);
    place = find_place(table, key, &page);
    if (!page) {
        page = th_alloc_zero(sizeof *page);
        page->key = key;
        page_count++;
        atomic_store_explicit(place, page, memory_order_release);
    }
    return page;
}

bool th_life_note(th_term id, enum th_life fact)
{
    struct bit bit = locate(id);
    _Atomic uint64_t *word = &need_page(bit.key)->bits[fact][bit.word];
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

    atomic_store_explicit(word, old | bit.mask, memory_order_relaxed);
    return !(old & bit.mask);
}

bool th_life_ended(th_term id)
{
    struct places *table = atomic_load_explicit(&places, memory_order_acquire);
    struct bit bit = locate(id);
    struct page *page;

    if (!table)
        return false;
    find_place(table, bit.key, &page);
    return page &&
           atomic_load_explicit(&page->bits[TH_LIFE_ENDED][bit.word], memory_order_relaxed) &
               bit.mask;
}

void th_life_reset(void)
{
    struct places *table = atomic_load_explicit(&places, memory_order_relaxed);

    for (size_t i = 0; table && i <= table->mask; i++) {
        struct page *page = atomic_load_explicit(&table->pages[i], memory_order_relaxed);
        for (size_t word = 0; page && word < PAGE_WORDS; word++) {
            atomic_store_explicit(&page->bits[TH_LIFE_SEEN][word], 0, memory_order_relaxed);
            atomic_store_explicit(&page->bits[TH_LIFE_ENDED][word], 0, memory_order_relaxed);
        }
    }
}
