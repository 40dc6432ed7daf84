/* Operators: comparisons, truth values, lists, integers of any size and floats. */
#include "evaluation.h"

static th_term boolean(bool b)
{
    return b ? TH_AM(true) : TH_AM(false);
}

static bool is_boolean(th_term t)
{
    return t == TH_AM(true) || t == TH_AM(false);
}

/* --- Numbers ---------------------------------------------------------------------------------- */

/* TH_NONE if it cannot be computed, TH_NUMBER_LARGE if it is not. */
static th_term compute(th_env *env, enum th_operator op, th_term a, th_term b)
{
    switch (op) {
    case TH_OPERATOR_PLUS:
        return th_number_add(env, a, b);
    case TH_OPERATOR_MINUS:
        return th_number_subtract(env, a, b);
    default:
        return th_number_multiply(env, a, b);
    }
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
        t = compute(&e->heap, op, v[0], v[1]);
        if (t == TH_NUMBER_LARGE)
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
    if (!th_is_number(operand))
        return raise_operator(e, "badarith", op, &operand, 1);
    return op == TH_OPERATOR_MINUS ? th_number_negate(&e->heap, operand) : operand;
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
