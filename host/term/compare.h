/*
 * Order, identity and hashes of terms. All functions are iterative: deep terms cost memory, not
 * stack.
 */
#ifndef TH_COMPARE_H
#define TH_COMPARE_H

#include "word.h"

/*
 * Compares two terms by Erlang's total order: below, equal to or above 0. The order is: number <
 * atom < reference < fun < port < pid < tuple < map < [] < list < bit string. th_compare() is ==:
 * an integer equals the float of its value, compared exactly at any size. th_compare_exact() is =:=
 * and the order of map keys: every integer is smaller than every float.
 *
 * As in OTP 25, 0.0 and -0.0 are identical (from OTP 27 on, they are two terms). Two references are
 * identical, too, if they differ only in the number of zero words at their ends. "This node"
 * compares as nonode@nohost with creation 0, and comes before another node of that very name.
 */
int th_compare(th_term a, th_term b);
int th_compare_exact(th_term a, th_term b);

/* True if A =:= B. (Only two immediates have all tag bits in common in A & B.) */
bool th_identical_slow(th_term a, th_term b);
static inline bool th_identical(th_term a, th_term b)
{
    return a == b || (!th_is_immediate(a & b) && th_identical_slow(a, b));
}

/* erlang:phash2/1 before the modulo: 32 bits. */
uint32_t th_phash2(th_term t);

/* A fast hash, valid in this process only: equal for identical terms; another SALT gives another
 * hash. */
uint64_t th_internal_hash(th_term t, uint64_t salt);

#endif
