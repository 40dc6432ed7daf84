/* Integers of any size, inside term/: limbs.c has the steps of arithmetic and the order, digits.c
 * text. */
#ifndef TH_INTEGER_INTERNAL_H
#define TH_INTEGER_INTERNAL_H

#include "env.h"
#include "make.h"

struct th_limbs;
struct th_buffer;

/*
 * The steps of arithmetic on magnitudes.
 *
 * Results are written to places that the caller gives, with zero limbs at their ends or not.
 */

/* The order of two magnitudes: below, equal to or above 0. */
int th_term_limbs_compare(const struct th_limbs *a, const struct th_limbs *b);

/* A's magnitude has no fewer limbs than B's. SUM has room for one more than A. */
void th_term_limbs_add(uint64_t *sum, const struct th_limbs *a, const struct th_limbs *b);

/* A's magnitude is not below B's. DIFFERENCE has room for as many as A. */
void th_term_limbs_subtract(uint64_t *difference, const struct th_limbs *a,
                            const struct th_limbs *b);

/* PRODUCT has room for as many as A and B together. */
void th_term_limbs_multiply(uint64_t *product, const struct th_limbs *a, const struct th_limbs *b);

/*
 * Divides A's magnitude by B's, which is not 0 and has no more limbs. QUOTIENT has room for A's
 * limbs less B's and one. REST has room for A's and one: the remainder is in its first B's.
 * DIVISOR has room for B's.
 */
void th_term_limbs_divide(uint64_t *quotient, uint64_t *rest, uint64_t *divisor,
                          const struct th_limbs *a, const struct th_limbs *b);

/* Limb I of L in two's complement, which has no end to the left. LOWEST is the first limb of L that
 * is not 0, as th_term_limbs_lowest() returns it. */
size_t th_term_limbs_lowest(const struct th_limbs *l);
static inline uint64_t th_term_limbs_complement(const struct th_limbs *l, size_t lowest, size_t i)
{
    uint64_t limb = i < l->count ? l->limbs[i] : 0;

    return !l->negative ? limb : i > lowest ? ~limb : -limb;
}

/* The magnitude SHIFT bits up or down; down, true if a bit that is not 0 was lost. Room up: SHIFT /
 * 64 + 1 more than A; down: that many less SHIFT / 64, which is below A's count. */
void th_term_limbs_up(uint64_t *to, const struct th_limbs *a, size_t shift);
bool th_term_limbs_down(uint64_t *to, const struct th_limbs *a, size_t shift);

/*
 * Long numbers from one base into another, in less than quadratic time.
 *
 * A number is cut into blocks of the base that it comes in. Each block becomes digits of the other
 * base by itself, quadratically. Then neighbours are joined, high * power + low, in rounds, each of
 * which joins twice as much; so there is nothing to divide in either direction. The products are
 * made by transforms.
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
 * Integers of any size: their magnitudes as limbs, and their digits.
 *
 * Digits cost the square of their count (packed 64 bits at a time) up to some thousand, from there
 * on less: two and a half million decimal digits take half a second. Whoever reads untrusted text
 * bounds the count.
 */

/* The order of any integer and a finite float, by their exact values. */
int th_term_big_compare_float(th_term integer, double d);

/* The value of a digit; no radix has one as large as what other characters get: 36. */
unsigned th_term_digit_value(char c);

/* Appends any integer in decimal, with '-' in front where it is negative. */
void th_term_big_to_decimal(struct th_buffer *out, th_term integer);

/*
 * The integer that COUNT digits in RADIX (2 to 36; letters of either case) stand for, negative if
 * NEGATIVE. TH_NONE if COUNT is 0 or a character is no digit of the radix.
 */
th_term th_term_big_from_digits(th_env *env, bool negative, const char *digits, size_t count,
                                unsigned radix);

#endif
