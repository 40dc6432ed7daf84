/*
 * Order, identity and hashes. All are iterative: deep terms cost memory, not stack.
 */
#ifndef TH_COMPARE_H
#define TH_COMPARE_H

#include "word.h"

/*
 * Erlang's total order: number < atom < reference < fun < port < pid < tuple < map < [] < list <
 * bit string. Below, equal to or above 0. With th_compare() an integer equals the float of its
 * value (==), exactly compared whatever its size; with th_compare_exact() every integer is smaller
 * than every float (the order of map keys, and =:=).
 *
 * As in OTP 25, 0.0 and -0.0 are identical (they are two terms from OTP 27 on), and references
 * are, if they differ only in the number of zero words at their ends. "This node" is compared as
 * nonode@nohost with creation 0, and comes before another node of that very name.
 */
int th_compare(th_term a, th_term b);
int th_compare_exact(th_term a, th_term b);

/* =:= (The tags of two immediates, and of no others, have all bits in common.) */
bool th_identical_slow(th_term a, th_term b);
static inline bool th_identical(th_term a, th_term b)
{
    return a == b || (!th_is_immediate(a & b) && th_identical_slow(a, b));
}

/* erlang:phash2/1 before it is taken modulo its range: 32 bits. */
uint32_t th_phash2(th_term t);

/* Fast, of this process only: equal for identical terms, different with different SALT. */
uint64_t th_internal_hash(th_term t, uint64_t salt);

#endif
