/*
 * Integers of any size: their magnitudes as limbs, and their digits.
 *
 * Digits cost the square of their count (packed 64 bits at a time) up to some thousand, from there
 * on less: two and a half million decimal digits take half a second. Whoever reads untrusted text
 * bounds the count.
 */
#ifndef TH_BIG_H
#define TH_BIG_H

#include "env.h"
#include "host/base/base.h"

/* The order of two magnitudes without zero limbs at their ends: below, equal to or above 0. */
int th_big_compare_magnitudes(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count);

/* The order of any integer and a finite float, by their exact values. */
int th_big_compare_float(th_term integer, double d);

/* Appends any integer in decimal, with '-' in front where it is negative. */
void th_big_to_decimal(struct th_buffer *out, th_term integer);

/*
 * The integer that COUNT digits in RADIX (2 to 36; letters of either case) stand for, negative if
 * NEGATIVE. TH_NONE if COUNT is 0 or a character is no digit of the radix.
 */
th_term th_big_from_digits(th_env *env, bool negative, const char *digits, size_t count,
                           unsigned radix);

#endif
