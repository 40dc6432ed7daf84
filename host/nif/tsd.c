/*
 * Thread-specific data: as many keys as memory allows, in every thread, whoever made it. Keys begin
 * at 1, as libraries are known to take 0 for "not made yet". A value is gone once its key was
 * destroyed or its thread has ended; no destructor is called.
 *
 * A key is the number of a slot. The slot has a generation, which is odd while the key exists and
 * grows when the key is made or destroyed. Each thread has an array of values, each with the
 * generation that its slot had then: a value of another generation is that of an earlier key. The
 * C library's own keys would do the same, but there are 1024 of them for the whole program.
 */
#include "nif.h"

#include "host/base/base.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct slot {
    _Atomic uint64_t generation; /* relaxed: who hands a key to another thread synchronises */
    size_t next_free;            /* while no key has the slot; guarded by `lock` */
};

/* Page I has FIRST_PAGE << I slots, and stays where it is. Release by who makes it; acquire. */
enum { FIRST_PAGE = 256, PAGES = 23 };
static struct slot *_Atomic pages[PAGES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the two below */
static size_t made;                                      /* slots that have had a key */
static size_t first_free = SIZE_MAX;

struct value {
    uint64_t generation;
    void *data;
};

struct values {
    size_t count;
    struct value all[];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t own; /* struct values, of the thread; written once */

static void make_own(void)
{
    if (pthread_key_create(&own, th_free) != 0)
        abort(); /* the program has taken all the C library's keys */
}

/* The place of the slot NUMBER in its page. */
static size_t place_of(size_t number, unsigned *page)
{
    size_t in_units = number / FIRST_PAGE + 1;

    *page = (unsigned)(63 - __builtin_clzl(in_units));
    return number - FIRST_PAGE * (((size_t)1 << *page) - 1);
}

/* The slot of a number; NULL if no key has had it. */
static struct slot *slot_at(size_t number)
{
    unsigned page;
    size_t place = place_of(number, &page);
    struct slot *slots;

    if (page >= PAGES)
        return NULL;
    slots = atomic_load_explicit(&pages[page], memory_order_acquire);
    return slots ? &slots[place] : NULL;
}

/* Under the lock; NULL: no memory, or no numbers. */
static struct slot *new_slot(size_t *number)
{
    unsigned page;
    struct slot *slots;

    if (first_free != SIZE_MAX) {
        *number = first_free;
        first_free = slot_at(first_free)->next_free;
        return slot_at(*number);
    }
    if (made == INT_MAX)
        return NULL;
    if (place_of(made, &page) == 0) {
        slots = calloc((size_t)FIRST_PAGE << page, sizeof *slots);
        if (!slots)
            return NULL;
        atomic_store_explicit(&pages[page], slots, memory_order_release);
    }
    *number = made++;
    return slot_at(*number);
}

int enif_tsd_key_create(char *name, ErlNifTSDKey *key)
{
    size_t number = 0;
    struct slot *slot;

    (void)name;
    pthread_once(&once, make_own);
    pthread_mutex_lock(&lock);
    slot = new_slot(&number);
    if (slot)
        atomic_fetch_add_explicit(&slot->generation, 1, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    if (!slot)
        return ENOMEM;
    *key = (ErlNifTSDKey)number + 1;
    return 0;
}

/* The slot of KEY and its generation; NULL if there is no such key. */
static struct slot *slot_of(ErlNifTSDKey key, uint64_t *generation)
{
    struct slot *slot = key > 0 ? slot_at((size_t)key - 1) : NULL;

    if (!slot)
        return NULL;
    *generation = atomic_load_explicit(&slot->generation, memory_order_relaxed);
    return *generation % 2 ? slot : NULL;
}

void enif_tsd_key_destroy(ErlNifTSDKey key)
{
    uint64_t generation;
    struct slot *slot;

    pthread_mutex_lock(&lock);
    slot = slot_of(key, &generation);
    if (slot) {
        atomic_store_explicit(&slot->generation, generation + 1, memory_order_relaxed);
        slot->next_free = first_free;
        first_free = (size_t)key - 1;
    }
    pthread_mutex_unlock(&lock);
}

/* The calling thread's values, at least COUNT of them. A thread that cannot have them ends the
 * program, as in a BEAM: the API knows no failure here. */
static struct values *values_for(size_t count)
{
    struct values *values = pthread_getspecific(own);
    size_t before = values ? values->count : 0;

    if (count <= before)
        return values;
    count += count / 2;
    values = th_realloc(values, sizeof *values + count * sizeof values->all[0]);
    memset(values->all + before, 0, (count - before) * sizeof values->all[0]);
    values->count = count;
    pthread_setspecific(own, values);
    return values;
}

void enif_tsd_set(ErlNifTSDKey key, void *data)
{
    uint64_t generation;

    if (slot_of(key, &generation))
        values_for((size_t)key)->all[key - 1] = (struct value){generation, data};
}

void *enif_tsd_get(ErlNifTSDKey key)
{
    uint64_t generation;
    const struct values *values = slot_of(key, &generation) ? pthread_getspecific(own) : NULL;

    if (!values || (size_t)key > values->count || values->all[key - 1].generation != generation)
        return NULL;
    return values->all[key - 1].data;
}
