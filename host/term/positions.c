/* Conversion of long numbers from one base to another (integer_internal.h), and its products. */
#include "integer_internal.h"

#include <stdlib.h>

/* --- Products --------------------------------------------------------------------------------- */

/*
 * Products of long numbers in less than quadratic time: number-theoretic transforms modulo the
 * prime 2^64 - 2^32 + 1, which has roots of unity up to order 2^32.
 *
 * The product of two numbers of COUNT digits, each at most D, has exact digit sums if COUNT * D * D
 * is below the prime: up to 2^23 digits of 20 bits.
 */
#define PRIME 0xFFFFFFFF00000001u
#define EXCESS 0xFFFFFFFFu /* 2^64 modulo the prime */

enum { GENERATOR = 7, SMALL = 1 << 12 }; /* values of SMALL transforms stay in a cache */

/* --- Arithmetic modulo the prime -------------------------------------------------------------- */

/* All values are below the prime. Conditions are masks, as a branch would be unpredictable. */

static inline uint64_t if_true(bool condition, uint64_t value)
{
    return value & -(uint64_t)condition;
}

static inline uint64_t positions_subtract(uint64_t a, uint64_t b)
{
    return a - b + if_true(a < b, PRIME);
}

static inline uint64_t positions_add(uint64_t a, uint64_t b)
{
    return positions_subtract(a, PRIME - b);
}

/* Uses 2^64 = 2^32 - 1 and 2^96 = -1, modulo the prime. */
static inline uint64_t positions_multiply(uint64_t a, uint64_t b)
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

    for (; exponent > 0; exponent >>= 1, base = positions_multiply(base, base))
        if (exponent & 1)
            result = positions_multiply(result, base);
    return result;
}

/* --- Transforms ------------------------------------------------------------------------------- */

/* Computes the roots for transforms of up to SIZE values, a power of two from 2 on: from [N] on the
 * roots of order 2 * N, for each power of two N below SIZE. */
static void find_roots(uint64_t *roots, size_t size)
{
    for (size_t n = 1; n < size; n *= 2) {
        uint64_t root = power(GENERATOR, (PRIME - 1) / (2 * n));
        roots[n] = 1;
        for (size_t i = 1; i < n; i++)
            roots[n + i] = positions_multiply(roots[n + i - 1], root);
    }
}

/* One round of butterflies, by decimation in frequency. */
static inline void split(const uint64_t *roots, uint64_t *values, size_t half)
{
    for (size_t i = 0; i < half; i++) {
        uint64_t a = values[i], b = values[half + i];
        values[i] = positions_add(a, b);
        values[half + i] = positions_multiply(positions_subtract(a, b), roots[i]);
    }
}

/* Inverts split(), up to a factor of two. The inverse of root I is minus root HALF - I. */
static inline void join(const uint64_t *roots, uint64_t *values, size_t half)
{
    for (size_t i = 0; i < half; i++) {
        uint64_t a = values[i], b = values[half + i];
        b = i == 0 ? b : positions_subtract(0, positions_multiply(b, roots[half - i]));
        values[i] = positions_add(a, b);
        values[half + i] = positions_subtract(a, b);
    }
}

static void transform_forward(const uint64_t *roots, uint64_t *values, size_t count)
{
    if (count > SMALL) {
        split(roots + count / 2, values, count / 2);
        transform_forward(roots, values, count / 2);
        transform_forward(roots, values + count / 2, count / 2);
        return;
    }
    for (size_t half = count / 2; half > 0; half /= 2)
        for (size_t i = 0; i < count; i += 2 * half)
            split(roots + half, values + i, half);
}

static void join_all(const uint64_t *roots, uint64_t *values, size_t count)
{
    if (count > SMALL) {
        join_all(roots, values, count / 2);
        join_all(roots, values + count / 2, count / 2);
        join(roots + count / 2, values, count / 2);
        return;
    }
    for (size_t half = 1; half < count; half *= 2)
        for (size_t i = 0; i < count; i += 2 * half)
            join(roots + half, values + i, half);
}

static void transform_back(const uint64_t *roots, uint64_t *values, size_t count)
{
    uint64_t scale = PRIME - (PRIME - 1) / count; /* 1 / count */

    join_all(roots, values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = positions_multiply(values[i], scale);
}

static void multiply_all(uint64_t *a, const uint64_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        a[i] = positions_multiply(a[i], b[i]);
}

/* --- Conversion ------------------------------------------------------------------------------- */

#define MOST_SUM ((uint64_t)1 << 63) /* of products of digits, and their carry */

static void positions_load(uint64_t *values, const uint32_t *digits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = digits[i];
        values[count + i] = 0;
    }
}

/* DIGITS = VALUES, sums that are below 2^63, + DIGITS below LOW. */
static void carry_all(uint32_t base, uint32_t *digits, size_t low, const uint64_t *values,
                      size_t count)
{
    uint64_t carry = 0;

    for (size_t i = 0; i < count; i++) {
        carry += values[i] + (i < low ? digits[i] : 0);
        digits[i] = (uint32_t)(carry % base);
        carry /= base;
    }
}

static void join_blocks(struct th_positions *positions, uint32_t *power_digits, uint64_t *roots,
                        uint64_t *power, uint64_t *values)
{
    size_t used = positions->blocks * TH_POSITIONS_BLOCK;

    for (size_t i = 0; i < positions->blocks; i++)
        positions->read(positions, i, positions->digits + i * TH_POSITIONS_BLOCK);
    positions->read(positions, positions->blocks, power_digits);
    find_roots(roots, positions->count);
    for (size_t width = TH_POSITIONS_BLOCK; width < positions->count; width *= 2) {
        positions_load(power, power_digits, width);
        transform_forward(roots, power, 2 * width);

        /* The WIDTH digits from AT on, and as many above them, which the power multiplies. */
        for (size_t at = 0; at + width < used; at += 2 * width) {
            positions_load(values, positions->digits + at + width, width);
            transform_forward(roots, values, 2 * width);
            multiply_all(values, power, 2 * width);
            transform_back(roots, values, 2 * width);
            carry_all(positions->base, positions->digits + at, width, values, 2 * width);
        }
        if (2 * width == positions->count)
            break;

        /* The power becomes that of neighbours of twice the width. */
        multiply_all(power, power, 2 * width);
        transform_back(roots, power, 2 * width);
        carry_all(positions->base, power_digits, 0, power, 2 * width);
    }
}

bool th_term_positions_convert(struct th_positions *positions)
{
    size_t count = TH_POSITIONS_BLOCK;
    uint32_t *power_digits;           /* of the power by which neighbours differ */
    uint64_t *roots, *power, *values; /* the power transformed; the current product */
    bool good;

    while (count < positions->blocks * TH_POSITIONS_BLOCK)
        count *= 2;
    if (count / 2 >= MOST_SUM / positions->base / positions->base)
        return false;
    positions->count = count;
    positions->digits = calloc(count, sizeof *positions->digits);
    power_digits = calloc(count, sizeof *power_digits);
    roots = malloc(count * sizeof *roots);
    power = malloc(count * sizeof *power);
    values = malloc(count * sizeof *values);
    good = positions->digits && power_digits && roots && power && values;
    if (good)
        join_blocks(positions, power_digits, roots, power, values);
    free(values);
    free(power);
    free(roots);
    free(power_digits);
    if (!good) {
        free(positions->digits);
        positions->digits = NULL;
    }
    return good;
}
