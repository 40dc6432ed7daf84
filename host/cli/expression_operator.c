/* Operators: comparisons, truth values, lists, integers of any size and floats. */
#include "evaluation.h"

#include <math.h>
#include <string.h>

static th_term boolean(bool b)
{
    return b ? TH_AM(true) : TH_AM(false);
}

static bool is_boolean(th_term t)
{
    return t == TH_AM(true) || t == TH_AM(false);
}

static bool is_number(th_term t)
{
    return th_is_integer(t) || th_is_float(t);
}

/* --- Integers --------------------------------------------------------------------------------- */

struct number {
    uint64_t scratch;
    const uint64_t *limbs;
    size_t count;
    bool negative;
};

static void number_of(th_term t, struct number *n)
{
    th_get_limbs(t, &n->scratch, &n->limbs, &n->count, &n->negative);
}

/* Magnitudes, the first having no fewer limbs than the second; SUM has room for one more. */
static void add_limbs(uint64_t *sum, const struct number *a, const struct number *b)
{
    unsigned __int128 carry = 0;

    for (size_t i = 0; i < a->count; i++) {
        carry += (unsigned __int128)a->limbs[i] + (i < b->count ? b->limbs[i] : 0);
        sum[i] = (uint64_t)carry;
        carry >>= 64;
    }
    sum[a->count] = (uint64_t)carry;
}

/* The first magnitude is not below the second. */
static void subtract_limbs(uint64_t *difference, const struct number *a, const struct number *b)
{
    bool borrow = false;

    for (size_t i = 0; i < a->count; i++) {
        uint64_t less = i < b->count ? b->limbs[i] : 0;
        uint64_t limb = a->limbs[i] - less - borrow;
        borrow = borrow ? a->limbs[i] <= less : a->limbs[i] < less;
        difference[i] = limb;
    }
    difference[a->count] = 0;
}

static bool magnitude_below(const struct number *a, const struct number *b)
{
    if (a->count != b->count)
        return a->count < b->count;
    for (size_t i = a->count; i > 0; i--)
        if (a->limbs[i - 1] != b->limbs[i - 1])
            return a->limbs[i - 1] < b->limbs[i - 1];
    return false;
}

static void multiply_limbs(uint64_t *product, const struct number *a, const struct number *b)
{
    memset(product, 0, (a->count + b->count) * sizeof *product);
    for (size_t i = 0; i < a->count; i++) {
        unsigned __int128 carry = 0;
        for (size_t k = 0; k < b->count; k++) {
            carry += (unsigned __int128)a->limbs[i] * b->limbs[k] + product[i + k];
            product[i + k] = (uint64_t)carry;
            carry >>= 64;
        }
        product[i + b->count] = (uint64_t)carry;
    }
}

/* A + B, or A - B with MINUS. */
static th_term add_integers(th_env *env, th_term x, th_term y, bool minus)
{
    struct number first, second, *a = &first, *b = &second;
    uint64_t *limbs;
    th_term t;

    number_of(x, a);
    number_of(y, b);
    b->negative ^= minus;
    if (magnitude_below(a, b)) {
        a = &second;
        b = &first;
    }
    limbs = th_alloc((a->count + 1) * sizeof *limbs);
    if (a->negative == b->negative)
        add_limbs(limbs, a, b);
    else
        subtract_limbs(limbs, a, b);
    t = th_make_integer(env, a->negative, limbs, a->count + 1);
    th_free(limbs);
    return t;
}

static th_term multiply_integers(th_env *env, th_term x, th_term y)
{
    struct number a, b;
    uint64_t *limbs;
    th_term t;

    number_of(x, &a);
    number_of(y, &b);
    limbs = th_alloc((a.count + b.count + 1) * sizeof *limbs);
    multiply_limbs(limbs, &a, &b);
    t = th_make_integer(env, a.negative != b.negative, limbs, a.count + b.count);
    th_free(limbs);
    return t;
}

static bool too_large(th_term t)
{
    return th_is_big(t) && th_header_words(*th_box(t)) > TH_EXPRESSION_LIMBS;
}

/* --- Numbers ---------------------------------------------------------------------------------- */

/* Rounded as the BEAM does, from the lowest limb up; infinite where it is too large. */
static double to_double(th_term t)
{
    struct number n;
    double d = 0;

    if (th_is_float(t))
        return th_float_value(t);
    if (th_is_small(t))
        return (double)th_small_value(t);
    number_of(t, &n);
    for (size_t i = 0; i < n.count; i++)
        d += ldexp((double)n.limbs[i], (int)(64 * i));
    return n.negative ? -d : d;
}

static th_term compute_floats(struct th_evaluation *e, enum th_operator op, double a, double b)
{
    double d = op == TH_OPERATOR_PLUS ? a + b : op == TH_OPERATOR_MINUS ? a - b : a * b;

    return isfinite(a) && isfinite(b) && isfinite(d) ? th_make_float(&e->heap, d) : TH_NONE;
}

/* TH_NONE if it cannot be computed. */
static th_term compute(struct th_evaluation *e, enum th_operator op, th_term a, th_term b)
{
    if (!is_number(a) || !is_number(b))
        return TH_NONE;
    if (th_is_float(a) || th_is_float(b))
        return compute_floats(e, op, to_double(a), to_double(b));
    if (op == TH_OPERATOR_TIMES)
        return multiply_integers(&e->heap, a, b);
    return add_integers(&e->heap, a, b, op == TH_OPERATOR_MINUS);
}

static th_term raise_operator(struct th_evaluation *e, const char *reason, enum th_operator op,
                              const th_term operands[], size_t count)
{
    return th_raise_from(e, th_atom(reason), TH_NONE, th_atom(th_operator_texts[op]), operands,
                         count);
}

/* --- Operators -------------------------------------------------------------------------------- */

static th_term compare(enum th_operator op, th_term a, th_term b)
{
    switch (op) {
    case TH_OPERATOR_EQUAL:
        return boolean(th_compare(a, b) == 0);
    case TH_OPERATOR_UNEQUAL:
        return boolean(th_compare(a, b) != 0);
    case TH_OPERATOR_IDENTICAL:
        return boolean(th_identical(a, b));
    case TH_OPERATOR_DIFFERENT:
        return boolean(!th_identical(a, b));
    case TH_OPERATOR_LESS:
        return boolean(th_compare(a, b) < 0);
    case TH_OPERATOR_AT_MOST:
        return boolean(th_compare(a, b) <= 0);
    case TH_OPERATOR_GREATER:
        return boolean(th_compare(a, b) > 0);
    default:
        return boolean(th_compare(a, b) >= 0);
    }
}

/* LIST ++ TAIL; TH_NONE if LIST is no proper list. */
static th_term append(th_env *env, th_term list, th_term tail)
{
    size_t length, i = 0;
    th_term *elements;

    if (!th_get_list_length(list, &length))
        return TH_NONE;
    elements = th_alloc((length + 1) * sizeof *elements);
    for (; th_is_list(list); list = th_cell(list)[1])
        elements[i++] = th_cell(list)[0];
    for (; i > 0; i--)
        tail = th_make_cons(env, elements[i - 1], tail);
    th_free(elements);
    return tail;
}

static th_term logical(enum th_operator op, th_term a, th_term b)
{
    bool first = a == TH_AM(true), second = b == TH_AM(true);

    if (!is_boolean(a) || !is_boolean(b))
        return TH_NONE;
    return boolean(op == TH_OPERATOR_AND  ? first && second
                   : op == TH_OPERATOR_OR ? first || second
                                          : first != second);
}

static th_term apply_binary(struct th_evaluation *e, enum th_operator op, const th_term v[2])
{
    th_term t;

    switch (op) {
    case TH_OPERATOR_PLUS:
    case TH_OPERATOR_MINUS:
    case TH_OPERATOR_TIMES:
        t = compute(e, op, v[0], v[1]);
        if (t != TH_NONE && too_large(t))
            return raise_operator(e, "system_limit", op, v, 2);
        return t != TH_NONE ? t : raise_operator(e, "badarith", op, v, 2);
    case TH_OPERATOR_APPEND:
        t = append(&e->heap, v[0], v[1]);
        return t != TH_NONE ? t : raise_operator(e, "badarg", op, v, 2);
    case TH_OPERATOR_AND:
    case TH_OPERATOR_OR:
    case TH_OPERATOR_XOR:
        t = logical(op, v[0], v[1]);
        return t != TH_NONE ? t : raise_operator(e, "badarg", op, v, 2);
    default:
        return compare(op, v[0], v[1]);
    }
}

static th_term apply_unary(struct th_evaluation *e, enum th_operator op, th_term operand)
{
    if (op == TH_OPERATOR_NOT)
        return is_boolean(operand) ? boolean(operand == TH_AM(false))
                                   : raise_operator(e, "badarg", op, &operand, 1);
    if (!is_number(operand))
        return raise_operator(e, "badarith", op, &operand, 1);
    return compute(e, op, th_is_float(operand) ? th_make_float(&e->heap, -0.0) : th_small(0),
                   operand);
}

/* andalso, orelse: the right one is only evaluated if it decides. */
static th_term evaluate_short(struct th_evaluation *e, const struct th_node *node)
{
    th_term left = th_evaluate(e, node->parts[0]);

    if (left == TH_NONE)
        return TH_NONE;
    if (!is_boolean(left))
        return th_raise_pair(e, "badarg", left);
    if (left == boolean(node->op == TH_OPERATOR_ORELSE))
        return left;
    return th_evaluate(e, node->parts[1]);
}

th_term th_evaluate_operator(struct th_evaluation *e, const struct th_node *node)
{
    th_term *values, result;

    if (node->op == TH_OPERATOR_ORELSE || node->op == TH_OPERATOR_ANDALSO)
        return evaluate_short(e, node);
    values = th_evaluate_all(e, node->parts, node->count);
    if (!values)
        return TH_NONE;
    result = node->kind == TH_NODE_UNARY ? apply_unary(e, node->op, values[0])
                                         : apply_binary(e, node->op, values);
    th_free(values);
    return result;
}
