/* Arithmetic. What is too large to be computed here is not sure. */
#include "match_function.h"

static th_term value_of_number(th_term number)
{
    if (number == TH_NUMBER_LARGE)
        return TH_VALUE_UNSURE;
    return number == TH_NONE ? TH_VALUE_RAISED : number;
}

#define UNARY(name, compute)                                           \
    th_term th_match_##name(struct th_match_run *run)                  \
    {                                                                  \
        return value_of_number(compute(run->env, TH_OPERAND(run, 0))); \
    }

#define BINARY(name, compute)                                                              \
    th_term th_match_##name(struct th_match_run *run)                                      \
    {                                                                                      \
        return value_of_number(compute(run->env, TH_OPERAND(run, 0), TH_OPERAND(run, 1))); \
    }

#define ROUNDING(name, way)                                                         \
    th_term th_match_##name(struct th_match_run *run)                               \
    {                                                                               \
        return value_of_number(th_number_round(run->env, TH_OPERAND(run, 0), way)); \
    }

UNARY(abs, th_number_absolute)
UNARY(bnot, th_number_not)
UNARY(float, th_number_float)
BINARY(band, th_number_and)
BINARY(bor, th_number_or)
BINARY(bsl, th_number_shift_left)
BINARY(bsr, th_number_shift_right)
BINARY(bxor, th_number_xor)
BINARY(div, th_number_quotient)
BINARY(divide, th_number_divide)
BINARY(rem, th_number_remainder)
BINARY(times, th_number_multiply)
ROUNDING(ceil, TH_ROUND_UP)
ROUNDING(floor, TH_ROUND_DOWN)
ROUNDING(round, TH_ROUND_NEAREST)
ROUNDING(trunc, TH_ROUND_TOWARDS_ZERO)

th_term th_match_plus(struct th_match_run *run)
{
    if (run->operands == 2)
        return value_of_number(th_number_add(run->env, TH_OPERAND(run, 0), TH_OPERAND(run, 1)));
    return th_is_number(*run->top) ? *run->top : TH_VALUE_RAISED;
}

th_term th_match_minus(struct th_match_run *run)
{
    if (run->operands == 2)
        return value_of_number(
            th_number_subtract(run->env, TH_OPERAND(run, 0), TH_OPERAND(run, 1)));
    return value_of_number(th_number_negate(run->env, *run->top));
}
