/*
 * The table of function starts: open addressing, read without a lock. Modules come and go seldom,
 * so each time another table takes its place; the old one is freed after thread progress.
 */
#include "start.h"

#include "host/base/base.h"
#include "host/progress/progress.h"

enum { FEWEST = 64 };

struct starts {
    struct th_later later;
    size_t count, capacity; /* a power of two, at least twice the starts */
    struct start {
        uintptr_t address; /* 0: free */
        const struct th_callee *callee;
    } items[];
};

/* Release: it is filled in; acquire. Written by the thread that adds and removes modules. */
static struct starts *_Atomic table;

/* The place of ADDRESS, or the free one where it belongs. */
static struct start *place_of(struct starts *in, uintptr_t address)
{
    size_t i = th_mix(address) & (in->capacity - 1);

    while (in->items[i].address && in->items[i].address != address)
        i = (i + 1) & (in->capacity - 1);
    return &in->items[i];
}

static void put(struct starts *in, uintptr_t address, const struct th_callee *callee)
{
    struct start *place = place_of(in, address);

    if (place->address)
        return; /* the first one is known by it */
    *place = (struct start){address, callee};
    in->count++;
}

static bool is_among(const struct th_callee *callee, const struct th_callee callees[], size_t count)
{
    return callee >= callees && callee < callees + count;
}

/* Of those that OLD has all but the COUNT ones from WITHOUT on, with room for MORE. */
static struct starts *copy(const struct starts *old, const struct th_callee without[], size_t count,
                           size_t more)
{
    size_t capacity = FEWEST;
    struct starts *made;

    while (capacity < 2 * ((old ? old->count : 0) + more))
        capacity *= 2;
    made = th_alloc_zero(sizeof *made + capacity * sizeof made->items[0]);
    made->capacity = capacity;
    for (size_t i = 0; old && i < old->capacity; i++)
        if (old->items[i].address && !is_among(old->items[i].callee, without, count))
            put(made, old->items[i].address, old->items[i].callee);
    return made;
}

static void free_table(struct th_later *later)
{
    th_free((struct starts *)((char *)later - offsetof(struct starts, later)));
}

static void publish(struct starts *next)
{
    struct starts *old = atomic_exchange_explicit(&table, next, memory_order_acq_rel);

    if (old)
        th_progress_later(&old->later, free_table);
}

void th_code_starts_add(const struct th_callee callees[], size_t count)
{
    struct starts *next = copy(atomic_load_explicit(&table, memory_order_relaxed), NULL, 0, count);

    for (size_t i = 0; i < count; i++)
        if (callees[i].code)
            put(next, (uintptr_t)callees[i].code, &callees[i]);
    publish(next);
}

void th_code_starts_remove(const struct th_callee callees[], size_t count)
{
    publish(copy(atomic_load_explicit(&table, memory_order_relaxed), callees, count, 0));
}

const struct th_callee *th_code_at(uintptr_t address)
{
    struct starts *now = atomic_load_explicit(&table, memory_order_acquire);

    return now && address ? place_of(now, address)->callee : NULL;
}
