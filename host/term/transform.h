/*
 * Products of many digits in less than quadratic time: number-theoretic transforms modulo the prime
 * 2^64 - 2^32 + 1, whose roots of unity reach to order 2^32.
 *
 * Two numbers whose digits are at most D, COUNT of them, have a product whose sums of digits are
 * exact if COUNT * D * D is below the prime: digits of 20 bits may be 2^23 of each.
 *
 * One thread at a time.
 */
#ifndef TH_TRANSFORM_H
#define TH_TRANSFORM_H

#include "host/base/base.h"

#include <stdint.h>

struct th_transform {
    size_t size;     /* most values of one transform, a power of two */
    uint64_t *roots; /* those of order 2 * N from [N] on, for each power of two N below SIZE */
};

/* For transforms of up to SIZE values, a power of two from 2 on. False if there is no memory. */
bool th_transform_begin(struct th_transform *transform, size_t size);
void th_transform_end(struct th_transform *transform);

/* Transforms COUNT values in place: from values in their order to transformed ones in an order of
 * their own, and back. COUNT is a power of two up to the SIZE of th_transform_begin(). */
void th_transform_forward(const struct th_transform *transform, uint64_t *values, size_t count);
void th_transform_back(const struct th_transform *transform, uint64_t *values, size_t count);

/* A[i] *= B[i], of transformed values. A may be B. */
void th_transform_multiply(uint64_t *a, const uint64_t *b, size_t count);

#endif
