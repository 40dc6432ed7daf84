/*
 * Long numbers from one base into another, in less than quadratic time.
 *
 * A number is cut into blocks of the base that it comes in. Each block becomes digits of the other
 * base by itself, quadratically. Then neighbours are joined, high * power + low, in rounds, each of
 * which joins twice as much; so there is nothing to divide in either direction. The products are
 * made by transforms (transform.h).
 */
#ifndef TH_DIGITS_INTERNAL_H
#define TH_DIGITS_INTERNAL_H

#include "host/base/base.h"

#include <stdint.h>

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
bool th_positions_convert(struct th_positions *positions);

#endif
