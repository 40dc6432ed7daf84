#include "breakpoint_internal.h"

#include "host/base/buffer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { PAGE = 512 /* words */ };

struct page {
    _Atomic uint64_t words[PAGE];
};

/* The pages of a thread. A full directory is replaced and freed after a grace period. */
struct directory {
    struct th_later later; /* the first member */
    size_t count;
    struct page *_Atomic pages[]; /* release: the page is zeroed; written by the thread */
};

/* A thread's state. Never freed: a thread that begins takes one that is not `taken`. */
struct counter {
    struct counter *next;                /* written before publication */
    bool taken;                          /* in use by a thread; under the lock */
    struct directory *_Atomic directory; /* release: complete; written by the thread */
};

/* Release: the counter is complete; acquire. Written under the lock, which also guards `taken`; no
 * other lock is taken under it. */
static struct counter *_Atomic counters;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct counter *own;

/* --- Threads ---------------------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_thread_end;

static void tally_leave(void *counter)
{
    pthread_mutex_lock(&lock);
    ((struct counter *)counter)->taken = false;
    pthread_mutex_unlock(&lock);
    own = NULL; /* thread-specific destructors that run later may count, too */
}

static void tally_make_key(void)
{
    if (pthread_key_create(&at_thread_end, tally_leave) != 0)
        th_give_up("out of thread-specific keys");
}

static struct counter *tally_begin(void)
{
    struct counter *first, *counter;

    pthread_once(&once, tally_make_key);
    pthread_mutex_lock(&lock);
    counter = first = atomic_load_explicit(&counters, memory_order_relaxed);
    while (counter && counter->taken)
        counter = counter->next;
    if (!counter) {
        counter = th_alloc_zero(sizeof *counter);
        counter->next = first;
        atomic_store_explicit(&counters, counter, memory_order_release);
    }
    counter->taken = true;
    own = counter;
    pthread_mutex_unlock(&lock);
    pthread_setspecific(at_thread_end, counter);
    return counter;
}

/* --- Words ------------------------------------------------------------------------------------ */

static void free_directory(struct th_later *later)
{
    th_free(later);
}

static struct directory *tally_grow(struct counter *counter, size_t page)
{
    struct directory *old = atomic_load_explicit(&counter->directory, memory_order_relaxed);
    size_t had = old ? old->count : 0, count = had ? had : 16;
    struct directory *new;

    while (count <= page)
        count *= 2;
    new = th_alloc_zero(sizeof *new + count * sizeof new->pages[0]);
    new->count = count;
    for (size_t i = 0; i < had; i++)
        atomic_init(&new->pages[i], atomic_load_explicit(&old->pages[i], memory_order_relaxed));
    atomic_store_explicit(&counter->directory, new, memory_order_release);
    if (old)
        th_progress_later(&old->later, free_directory);
    return new;
}

_Atomic uint64_t *th_breakpoint_tally_word(uint32_t tally)
{
    size_t i = tally / PAGE;
    struct counter *counter = own ? own : tally_begin();
    /* Relaxed: both are this thread's own, or its predecessor's, which left under the lock. */
    struct directory *directory = atomic_load_explicit(&counter->directory, memory_order_relaxed);
    struct page *page;

    if (!directory || i >= directory->count)
        directory = tally_grow(counter, i);
    page = atomic_load_explicit(&directory->pages[i], memory_order_relaxed);
    if (!page) {
        page = th_alloc_zero(sizeof *page);
        atomic_store_explicit(&directory->pages[i], page, memory_order_release);
    }
    return &page->words[tally % PAGE];
}

void th_breakpoint_tally_each(uint32_t tally, void (*visit)(_Atomic uint64_t *word, void *context),
                              void *context)
{
    const size_t page = tally / PAGE;

    th_progress_enter();
    for (struct counter *c = atomic_load_explicit(&counters, memory_order_acquire); c;
         c = c->next) {
        struct directory *directory = atomic_load_explicit(&c->directory, memory_order_acquire);
        struct page *words =
            directory && page < directory->count
                ? atomic_load_explicit(&directory->pages[page], memory_order_acquire)
                : NULL;
        if (words)
            visit(&words->words[tally % PAGE], context);
    }
    th_progress_leave();
}

/* Relaxed: a count publishes no other data. */
static void tally_add(_Atomic uint64_t *word, void *sum)
{
    *(uint64_t *)sum += atomic_load_explicit(word, memory_order_relaxed);
}

uint64_t th_breakpoint_tally_sum(uint32_t tally)
{
    uint64_t sum = 0;

    th_breakpoint_tally_each(tally, tally_add, &sum);
    return sum;
}

/* --- Tallies, with the permission ------------------------------------------------------------- */

static struct {
    uint32_t *items;
    size_t count, capacity;
    uint32_t next; /* the highest tally so far */
} unused;

uint32_t th_breakpoint_tally_create(void)
{
    if (unused.count > 0)
        return unused.items[--unused.count];
    if (unused.next == UINT32_MAX)
        th_bug("there are too many counters");
    return ++unused.next;
}

/* Relaxed: earlier writers are done; later ones get the tally by a commit, which orders this. */
static void tally_clear(_Atomic uint64_t *word, void *context)
{
    void (*dispose)(uint64_t word) = *(void (**)(uint64_t))context;
    uint64_t value = atomic_load_explicit(word, memory_order_relaxed);

    if (value && dispose)
        dispose(value);
    atomic_store_explicit(word, 0, memory_order_relaxed);
}

void th_breakpoint_tally_free(uint32_t tally, void (*dispose)(uint64_t word))
{
    if (tally == 0)
        return;
    th_breakpoint_tally_each(tally, tally_clear, &dispose);
    TH_ARRAY_GROW(unused.items, unused.count, unused.capacity);
    unused.items[unused.count++] = tally;
}
