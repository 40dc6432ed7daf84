#include "hash.h"

#include "memory.h"

static size_t home_of(const struct th_table *t, uint64_t key)
{
    return th_hash_mix(key) & (t->capacity - 1);
}

/* Returns the slot that holds KEY, or the free slot where KEY belongs. */
static struct th_slot *find_slot(const struct th_table *t, uint64_t key)
{
    size_t i = home_of(t, key);

    while (t->slots[i].key && t->slots[i].key != key)
        i = (i + 1) & (t->capacity - 1);
    return &t->slots[i];
}

static void grow_table(struct th_table *t)
{
    struct th_table old = *t;
    struct th_slot *slot;
    size_t position = 0;

    t->capacity = old.capacity ? 2 * old.capacity : 16;
    t->slots = th_alloc_zero(t->capacity * sizeof *t->slots);
    while ((slot = th_hash_table_next(&old, &position)))
        *find_slot(t, slot->key) = *slot;
    th_free(old.slots);
}

uint64_t th_hash_bytes(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t hash = 0xCBF29CE484222325u; /* FNV-1a's offset basis and prime */

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    return th_hash_mix(hash);
}

void *th_hash_table_get(const struct th_table *t, uint64_t key)
{
    return t->capacity ? find_slot(t, key)->value : NULL;
}

void *th_hash_table_set(struct th_table *t, uint64_t key, void *value)
{
    struct th_slot *slot;
    void *old;

    if (4 * t->count >= 3 * t->capacity)
        grow_table(t);
    slot = find_slot(t, key);
    old = slot->value;
    t->count += slot->key == 0;
    *slot = (struct th_slot){key, value};
    return old;
}

void *th_hash_table_remove(struct th_table *t, uint64_t key)
{
    size_t mask = t->capacity - 1;
    struct th_slot *slot = t->capacity ? find_slot(t, key) : NULL;
    void *value;
    size_t hole;

    if (!slot || !slot->key)
        return NULL;
    value = slot->value;
    hole = (size_t)(slot - t->slots);
    /* Close the hole: move each slot of the run behind the hole that may stand there. */
    for (size_t i = (hole + 1) & mask; t->slots[i].key; i = (i + 1) & mask) {
        size_t home = home_of(t, t->slots[i].key);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            t->slots[hole] = t->slots[i];
            hole = i;
        }
    }
    t->slots[hole] = (struct th_slot){0, NULL};
    t->count--;
    return value;
}

struct th_slot *th_hash_table_next(const struct th_table *t, size_t *position)
{
    while (*position < t->capacity) {
        struct th_slot *slot = &t->slots[(*position)++];
        if (slot->key)
            return slot;
    }
    return NULL;
}

void th_hash_table_free(struct th_table *t)
{
    th_free(t->slots);
    *t = (struct th_table){0};
}
