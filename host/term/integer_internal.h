/* Integers of any size, inside term/: limbs.c has arithmetic and order, digits.c has text. */
#ifndef TH_INTEGER_INTERNAL_H
#define TH_INTEGER_INTERNAL_H

#include "env.h"
#include "make.h"

struct th_limbs;
struct th_buffer;

/*
 * Arithmetic on magnitudes. The caller provides room for each result, which may end with zero
 * limbs.
 */

/* Compares two magnitudes: below, equal to or above 0. */
int th_term_limbs_compare(const struct th_limbs *a, const struct th_limbs *b);

/* Adds. A has at least as many limbs as B. SUM has room for one limb more than A has. */
void th_term_limbs_add(uint64_t *sum, const struct th_limbs *a, const struct th_limbs *b);

/* Subtracts. A's magnitude is not below B's. DIFFERENCE has room for A's limbs. */
void th_term_limbs_subtract(uint64_t *difference, const struct th_limbs *a,
                            const struct th_limbs *b);

/* Multiplies. PRODUCT has room for the limbs of A and B together. */
void th_term_limbs_multiply(uint64_t *product, const struct th_limbs *a, const struct th_limbs *b);

/*
 * Divides A's magnitude by B's, which is not 0 and has at most as many limbs. QUOTIENT has room for
 * A's limbs less B's, and one. REST has room for A's limbs and one: the remainder is in its first
 * limbs, as many as B has. DIVISOR has room for B's limbs.
 */
void th_term_limbs_divide(uint64_t *quotient, uint64_t *rest, uint64_t *divisor,
                          const struct th_limbs *a, const struct th_limbs *b);

/* Limb I of L in two's complement, which is infinite to the left. LOWEST is the first limb of L
 * that is not 0, as th_term_limbs_lowest() returns it. */
size_t th_term_limbs_lowest(const struct th_limbs *l);
static inline uint64_t th_term_limbs_complement(const struct th_limbs *l, size_t lowest, size_t i)
{
    uint64_t limb = i < l->count ? l->limbs[i] : 0;

    return !l->negative ? limb : i > lowest ? ~limb : -limb;
}

/* Shifts the magnitude of A up, or down, by SHIFT bits. th_term_limbs_down() returns true if a 1
 * bit was lost. Room of TO: up, SHIFT / 64 + 1 limbs more than A; down, SHIFT / 64 limbs fewer than
 * A, which must have more than SHIFT / 64 limbs. */
void th_term_limbs_up(uint64_t *to, const struct th_limbs *a, size_t shift);
bool th_term_limbs_down(uint64_t *to, const struct th_limbs *a, size_t shift);

/*
 * Conversion of long numbers from one base to another, in less than quadratic time.
 *
 * A number is cut into blocks of digits of the source base. Each block is converted to the target
 * base by itself, quadratically. Then rounds join neighbours, high * power + low; each round
 * doubles the size of the parts. So neither direction needs a division. Transforms compute the
 * products.
 */

enum { TH_POSITIONS_BLOCK = 512 }; /* digits of a block's value */

struct th_positions {
    uint32_t base;    /* of the digits, at most 2^20 */
    size_t blocks;    /* of the number */
    uint32_t *digits; /* result: COUNT digits, the lowest first, perhaps with zeros at the end */
    size_t count;
    /* Writes the value of block I, 0 being the lowest, to DIGITS, which are 0. For I == `blocks`,
     * writes the power by which neighbouring blocks differ. */
    void (*read)(const struct th_positions *positions, size_t i, uint32_t *digits);
    const void *of;
};

/* Computes `digits` and `count` from the other fields.
 * Owner: the caller frees `digits` with free().
 * Errors: false if there is no memory, or the number is too long for exact products: if it needs
 * more than 2^24 digits of base 10^6. */
bool th_term_positions_convert(struct th_positions *positions);

/*
 * Order and digits of integers of any size.
 *
 * The time for digits is quadratic (64 bits at a time) up to some thousand digits, and less than
 * quadratic above: two and a half million decimal digits take half a second. Readers of untrusted
 * text limit the count.
 */

/* Compares any integer and a finite float by their exact values. */
int th_term_big_compare_float(th_term integer, double d);

/* The value of a digit; 36, which no radix allows, for other characters. */
unsigned th_term_digit_value(char c);

/* Appends any integer in decimal, a negative one with '-'. */
void th_term_big_to_decimal(struct th_buffer *out, th_term integer);

/*
 * Returns the integer of COUNT digits in RADIX (2 to 36; letters of either case), negative if
 * NEGATIVE. TH_NONE if COUNT is 0 or a character is no digit of the radix.
 */
th_term th_term_big_from_digits(th_env *env, bool negative, const char *digits, size_t count,
                                unsigned radix);

#endif
