/* The digits of long integers, inside term/. */
#ifndef TH_DIGITS_INTERNAL_H
#define TH_DIGITS_INTERNAL_H

#include "host/base/base.h"

#include <stdint.h>

/*
 * Long numbers from one base into another, in less than quadratic time.
 *
 * A number is cut into blocks of the base that it comes in. Each block becomes digits of the other
 * base by itself, quadratically. Then neighbours are joined, high * power + low, in rounds, each of
 * which joins twice as much; so there is nothing to divide in either direction. The products are
 * made by transforms (digits_internal.h).
 */

enum { TH_POSITIONS_BLOCK = 512 }; /* digits of a block's value */

struct th_positions {
    uint32_t base;    /* that of the digits, at most 2^20 */
    size_t blocks;    /* of the number */
    uint32_t *digits; /* the result: the lowest first, `count` of them, zeros at the end or not */
    size_t count;
    /* Writes the value of block I, of which 0 is the lowest, to DIGITS, which are 0. I == `blocks`
     * stands for the power by which blocks differ. */
    void (*read)(const struct th_positions *positions, size_t i, uint32_t *digits);
    const void *of;
};

/* Makes DIGITS, which the caller frees with free(), from the other fields. False if there is no
 * memory, or the number is too long for the products to be exact: from 2^24 digits of base 10^6 on.
 */
bool th_term_positions_convert(struct th_positions *positions);

/*
 * Products of many digits in less than quadratic time: number-theoretic transforms modulo the prime
 * 2^64 - 2^32 + 1, whose roots of unity reach to order 2^32.
 *
 * Two numbers whose digits are at most D, COUNT of them, have a product whose sums of digits are
 * exact if COUNT * D * D is below the prime: digits of 20 bits may be 2^23 of each.
 *
 * One thread at a time.
 */

struct th_transform {
    size_t size;     /* most values of one transform, a power of two */
    uint64_t *roots; /* those of order 2 * N from [N] on, for each power of two N below SIZE */
};

/* For transforms of up to SIZE values, a power of two from 2 on. False if there is no memory. */
bool th_term_transform_begin(struct th_transform *transform, size_t size);
void th_term_transform_end(struct th_transform *transform);

/* Transforms COUNT values in place: from values in their order to transformed ones in an order of
 * their own, and back. COUNT is a power of two up to the SIZE of th_term_transform_begin(). */
void th_term_transform_forward(const struct th_transform *transform, uint64_t *values,
                               size_t count);
void th_term_transform_back(const struct th_transform *transform, uint64_t *values, size_t count);

/* A[i] *= B[i], of transformed values. A may be B. */
void th_term_transform_multiply(uint64_t *a, const uint64_t *b, size_t count);

#endif
