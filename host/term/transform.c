#include "digits_internal.h"

#include <stdlib.h>

#define PRIME 0xFFFFFFFF00000001u
#define EXCESS 0xFFFFFFFFu /* 2^64 modulo the prime */

enum { GENERATOR = 7, SMALL = 1 << 12 }; /* values of SMALL transforms stay in a cache */

/* --- Arithmetic modulo the prime: all values are below it --------------------------------------
 *
 * Conditions are masks, as no branch could be predicted. */

static inline uint64_t if_true(bool condition, uint64_t value)
{
    return value & -(uint64_t)condition;
}

static inline uint64_t subtract(uint64_t a, uint64_t b)
{
    return a - b + if_true(a < b, PRIME);
}

static inline uint64_t add(uint64_t a, uint64_t b)
{
    return subtract(a, PRIME - b);
}

/* With 2^64 as 2^32 - 1 and 2^96 as -1. */
static inline uint64_t multiply(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    uint64_t low = (uint64_t)product, high = (uint64_t)(product >> 64);
    uint64_t less = high >> 32, more = (high & EXCESS) * EXCESS;
    uint64_t result = low - less - if_true(low < less, EXCESS) + more;

    result += if_true(result < more, EXCESS);
    return result - if_true(result >= PRIME, PRIME);
}

static uint64_t power(uint64_t base, uint64_t exponent)
{
    uint64_t result = 1;

    for (; exponent > 0; exponent >>= 1, base = multiply(base, base))
        if (exponent & 1)
            result = multiply(result, base);
    return result;
}

/* --- Transforms ------------------------------------------------------------------------------- */

bool th_term_transform_begin(struct th_transform *transform, size_t size)
{
    uint64_t *roots = malloc(size * sizeof *roots);

    *transform = (struct th_transform){size, roots};
    if (!roots)
        return false;
    for (size_t n = 1; n < size; n *= 2) {
        uint64_t root = power(GENERATOR, (PRIME - 1) / (2 * n));
        roots[n] = 1;
        for (size_t i = 1; i < n; i++)
            roots[n + i] = multiply(roots[n + i - 1], root);
    }
    return true;
}

void th_term_transform_end(struct th_transform *transform)
{
    free(transform->roots);
}

/* One round of butterflies, by decimation in frequency. */
static inline void split(const uint64_t *roots, uint64_t *values, size_t half)
{
    for (size_t i = 0; i < half; i++) {
        uint64_t a = values[i], b = values[half + i];
        values[i] = add(a, b);
        values[half + i] = multiply(subtract(a, b), roots[i]);
    }
}

/* What undoes it, but for a factor of two. The inverse of root I is minus root HALF - I. */
static inline void join(const uint64_t *roots, uint64_t *values, size_t half)
{
    for (size_t i = 0; i < half; i++) {
        uint64_t a = values[i], b = values[half + i];
        b = i == 0 ? b : subtract(0, multiply(b, roots[half - i]));
        values[i] = add(a, b);
        values[half + i] = subtract(a, b);
    }
}

void th_term_transform_forward(const struct th_transform *transform, uint64_t *values, size_t count)
{
    if (count > SMALL) {
        split(transform->roots + count / 2, values, count / 2);
        th_term_transform_forward(transform, values, count / 2);
        th_term_transform_forward(transform, values + count / 2, count / 2);
        return;
    }
    for (size_t half = count / 2; half > 0; half /= 2)
        for (size_t i = 0; i < count; i += 2 * half)
            split(transform->roots + half, values + i, half);
}

static void join_all(const struct th_transform *transform, uint64_t *values, size_t count)
{
    if (count > SMALL) {
        join_all(transform, values, count / 2);
        join_all(transform, values + count / 2, count / 2);
        join(transform->roots + count / 2, values, count / 2);
        return;
    }
    for (size_t half = 1; half < count; half *= 2)
        for (size_t i = 0; i < count; i += 2 * half)
            join(transform->roots + half, values + i, half);
}

void th_term_transform_back(const struct th_transform *transform, uint64_t *values, size_t count)
{
    uint64_t scale = PRIME - (PRIME - 1) / count; /* 1 / count */

    join_all(transform, values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = multiply(values[i], scale);
}

void th_term_transform_multiply(uint64_t *a, const uint64_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        a[i] = multiply(a[i], b[i]);
}
