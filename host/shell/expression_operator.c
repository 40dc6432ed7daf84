/* Operators: comparisons, booleans, lists, integers of any size, and floats. */
#include "shell_internal.h"

#include "host/term/compare.h"
#include "host/term/make.h"
#include "host/term/number.h"

#include <stdlib.h>

/* --- Numbers ---------------------------------------------------------------------------------- */

/* Operators on two numbers, from number.h; NULL for others. */
static th_term (*const computing[TH_OPERATOR_COUNT])(th_env *env, th_term a, th_term b) = {
    [TH_OPERATOR_PLUS] = th_number_add,        [TH_OPERATOR_MINUS] = th_number_subtract,
    [TH_OPERATOR_TIMES] = th_number_multiply,  [TH_OPERATOR_DIVIDE] = th_number_divide,
    [TH_OPERATOR_DIV] = th_number_quotient,    [TH_OPERATOR_REM] = th_number_remainder,
    [TH_OPERATOR_BAND] = th_number_and,        [TH_OPERATOR_BOR] = th_number_or,
    [TH_OPERATOR_BXOR] = th_number_xor,        [TH_OPERATOR_BSL] = th_number_shift_left,
    [TH_OPERATOR_BSR] = th_number_shift_right,
};

static th_term raise_operator(struct th_evaluation *e, const char *reason, enum th_operator op,
                              const th_term operands[], size_t count)
{
    return th_shell_raise_from(e, th_atom(reason), TH_NONE, th_atom(th_shell_operator_texts[op]),
                               operands, count);
}

/* --- Lists ------------------------------------------------------------------------------------ */

/* Returns the elements of a proper list; NULL for any other term. Owner: the caller frees the
 * array. */
static th_term *take_elements(th_term list, size_t *count)
{
    th_term *elements;
    size_t i = 0;

    if (!th_get_list_length(list, count))
        return NULL;
    elements = th_alloc((*count + 1) * sizeof *elements);
    for (; th_is_list(list); list = th_cell(list)[1])
        elements[i++] = th_cell(list)[0];
    return elements;
}

/* Returns LIST ++ TAIL; TH_NONE if LIST is no proper list. */
static th_term expression_operator_append(th_env *env, th_term list, th_term tail)
{
    size_t count;
    th_term *elements = take_elements(list, &count);

    if (!elements)
        return TH_NONE;
    while (count > 0)
        tail = th_make_cons(env, elements[--count], tail);
    th_free(elements);
    return tail;
}

/* A term to be removed COUNT times. */
struct removal {
    th_term term;
    size_t count;
};

static int compare_removals(const void *a, const void *b)
{
    return th_compare_exact(((const struct removal *)a)->term, ((const struct removal *)b)->term);
}

/* Returns LIST -- TAKEN; TH_NONE if one is no proper list. */
static th_term expression_operator_subtract(th_env *env, th_term list, th_term taken)
{
    size_t count, taken_count, kept = 0, sorted = 0;
    th_term *elements = take_elements(list, &count);
    th_term *removed = elements ? take_elements(taken, &taken_count) : NULL, result = TH_NONE;
    struct removal *removals;

    if (removed) {
        removals = th_alloc((taken_count + 1) * sizeof *removals);
        for (size_t i = 0; i < taken_count; i++)
            removals[i] = (struct removal){removed[i], 1};
        qsort(removals, taken_count, sizeof *removals, compare_removals);
        for (size_t i = 0; i < taken_count; i++) { /* each term once */
            if (sorted > 0 && compare_removals(&removals[sorted - 1], &removals[i]) == 0)
                removals[sorted - 1].count++;
            else
                removals[sorted++] = removals[i];
        }
        for (size_t i = 0; i < count; i++) {
            const struct removal key = {elements[i], 0};
            struct removal *found =
                bsearch(&key, removals, sorted, sizeof *removals, compare_removals);
            if (found && found->count > 0)
                found->count--;
            else
                elements[kept++] = elements[i];
        }
        result = th_make_list(env, elements, kept);
        th_free(removals);
    }
    th_free(removed);
    th_free(elements);
    return result;
}

/* --- Operators -------------------------------------------------------------------------------- */

static bool expression_operator_compare(enum th_operator op, th_term a, th_term b)
{
    bool exact = op == TH_OPERATOR_IDENTICAL || op == TH_OPERATOR_DIFFERENT;
    int order = exact ? !th_identical(a, b) : th_compare(a, b);

    switch (op) {
    case TH_OPERATOR_EQUAL:
    case TH_OPERATOR_IDENTICAL:
        return order == 0;
    case TH_OPERATOR_UNEQUAL:
    case TH_OPERATOR_DIFFERENT:
        return order != 0;
    case TH_OPERATOR_LESS:
        return order < 0;
    case TH_OPERATOR_AT_MOST:
        return order <= 0;
    case TH_OPERATOR_GREATER:
        return order > 0;
    default:
        return order >= 0;
    }
}

static th_term apply_binary(struct th_evaluation *e, enum th_operator op, const th_term v[2])
{
    bool first = v[0] == TH_AM(true), second = v[1] == TH_AM(true);
    const char *reason = "badarg";
    th_term t = TH_NONE;

    switch (op) {
    case TH_OPERATOR_APPEND:
        t = expression_operator_append(&e->heap, v[0], v[1]);
        break;
    case TH_OPERATOR_LESS_ALL:
        t = expression_operator_subtract(&e->heap, v[0], v[1]);
        break;
    case TH_OPERATOR_AND:
    case TH_OPERATOR_OR:
    case TH_OPERATOR_XOR:
        if (th_shell_is_boolean(v[0]) && th_shell_is_boolean(v[1]))
            t = th_shell_boolean(op == TH_OPERATOR_AND  ? first && second
                                 : op == TH_OPERATOR_OR ? first || second
                                                        : first != second);
        break;
    default:
        if (!computing[op])
            return th_shell_boolean(expression_operator_compare(op, v[0], v[1]));
        t = computing[op](&e->heap, v[0], v[1]);
        reason = "badarith";
        /* A shift of integers fails only if the result is too large. */
        if (t == TH_NUMBER_LARGE || ((op == TH_OPERATOR_BSL || op == TH_OPERATOR_BSR) &&
                                     th_is_integer(v[0]) && th_is_integer(v[1])))
            reason = "system_limit";
        if (t == TH_NUMBER_LARGE)
            t = TH_NONE;
    }
    return t != TH_NONE ? t : raise_operator(e, reason, op, v, 2);
}

th_term th_shell_apply_operator(struct th_evaluation *e, const struct th_node *node,
                                const th_term values[])
{
    enum th_operator op = node->op;
    th_term operand = values[0];

    if (node->kind == TH_NODE_BINARY)
        return apply_binary(e, op, values);
    if (op == TH_OPERATOR_NOT)
        return th_shell_is_boolean(operand) ? th_shell_boolean(operand == TH_AM(false))
                                            : raise_operator(e, "badarg", op, values, 1);
    if (op == TH_OPERATOR_BNOT ? !th_is_integer(operand) : !th_is_number(operand))
        return raise_operator(e, "badarith", op, values, 1);
    if (op == TH_OPERATOR_BNOT)
        return th_number_not(&e->heap, operand);
    return op == TH_OPERATOR_MINUS ? th_number_negate(&e->heap, operand) : operand;
}
