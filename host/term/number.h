/*
 * Arithmetic of Erlang's operators and number BIFs: integers of any size, and floats.
 *
 * Results are built in ENV. TH_NONE: Erlang refuses the operation (badarith, badarg, or a shift
 * beyond any system's limit). TH_NUMBER_LARGE, which is no term either: a BEAM might compute the
 * result, but this host does not, as a product or shift has more than TH_NUMBER_LIMBS limbs, or an
 * operand of an integer division has. So no call takes longer than the product of two integers of
 * that size.
 *
 * A float that is not finite is refused, as in Erlang; -0.0 is a value of its own.
 */
#ifndef TH_NUMBER_H
#define TH_NUMBER_H

#include "env.h"

enum { TH_NUMBER_LIMBS = 1024 /* of 64 bits */ };

#define TH_NUMBER_LARGE ((th_term)0x40)

static inline bool th_is_number(th_term t)
{
    return th_is_integer(t) || th_is_float(t);
}

/* Two numbers: + - * / */
th_term th_number_add(th_env *env, th_term a, th_term b);
th_term th_number_subtract(th_env *env, th_term a, th_term b);
th_term th_number_multiply(th_env *env, th_term a, th_term b);
th_term th_number_divide(th_env *env, th_term a, th_term b);

/* Two integers: div, rem (with the sign of A) */
th_term th_number_quotient(th_env *env, th_term a, th_term b);
th_term th_number_remainder(th_env *env, th_term a, th_term b);

/* Integers in two's complement: band, bor, bxor, bnot, bsl, bsr. A negative COUNT shifts in the
 * other direction. */
th_term th_number_and(th_env *env, th_term a, th_term b);
th_term th_number_or(th_env *env, th_term a, th_term b);
th_term th_number_xor(th_env *env, th_term a, th_term b);
th_term th_number_not(th_env *env, th_term a);
th_term th_number_shift_left(th_env *env, th_term a, th_term count);
th_term th_number_shift_right(th_env *env, th_term a, th_term count);

/* One number: unary -, abs, float */
th_term th_number_negate(th_env *env, th_term a);
th_term th_number_absolute(th_env *env, th_term a);
th_term th_number_float(th_env *env, th_term a);

/* The integer next to a number. TH_ROUND_NEAREST: halves are rounded away from 0. */
enum th_rounding { TH_ROUND_NEAREST, TH_ROUND_TOWARDS_ZERO, TH_ROUND_DOWN, TH_ROUND_UP };
th_term th_number_round(th_env *env, th_term a, enum th_rounding rounding);

#endif
