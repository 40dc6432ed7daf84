/*
 * A hash table from 64-bit keys to pointers: processes by pid, functions by index, libraries by
 * name atom. Open addressing, linear probes, power-of-two sizes, deletion without tombstones.
 *
 * Start it as `struct th_table t = {0}`. Key 0 is not allowed (no term and no pointer is 0). The
 * table owns its slots, never the values. One thread at a time.
 */
#ifndef TH_HASH_H
#define TH_HASH_H

#include <stddef.h>
#include <stdint.h>

struct th_table {
    struct th_slot {
        uint64_t key; /* 0: free */
        void *value;
    } * slots;
    size_t count;
    size_t capacity; /* 0 or a power of two */
};

/* Mixes the bits of X: each bit of the result depends on each bit of X. */
static inline uint64_t th_hash_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15u; /* the golden ratio, as 64 bits */
    x ^= x >> 32;
    return x;
}

/* Hashes a name by FNV-1a, folded by th_hash_mix(). */
uint64_t th_hash_bytes(const void *data, size_t size);

/* The value of KEY, NULL if there is none. */
void *th_hash_table_get(const struct th_table *t, uint64_t key);

/* Sets the value of KEY and returns the former value, NULL if there was none. */
void *th_hash_table_set(struct th_table *t, uint64_t key, void *value);

/* Removes KEY and returns its value, NULL if there was none. May move other slots. */
void *th_hash_table_remove(struct th_table *t, uint64_t key);

/*
 * Returns the next used slot from *POSITION on, NULL at the end. *POSITION is 0 at first. The order
 * of slots has no meaning. Setting or removing keys while walking is not allowed.
 */
struct th_slot *th_hash_table_next(const struct th_table *t, size_t *position);

/* Frees the slots; T is empty and can be used again. */
void th_hash_table_free(struct th_table *t);

#endif
