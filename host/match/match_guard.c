/* Tests of types, truth values, comparisons. */
#include "match_internal.h"

#include "host/term/compare.h"
#include "host/term/make.h"

th_term th_match_is_type(struct th_match_run *run)
{
    return th_match_value_truth(run->function->test(*run->top));
}

/* {is_function, Term, Arity}: MAYBE for an unknown term, if the arity does not raise. */
th_term th_match_is_function_of(struct th_match_run *run)
{
    th_term t = TH_OPERAND(run, 0), arity = TH_OPERAND(run, 1);

    if (th_match_value_known(arity) &&
        (!th_is_integer(arity) || th_compare(arity, th_small(0)) < 0))
        return TH_VALUE_RAISED;
    if (!th_match_value_known(arity) || th_match_value_may_raise(t))
        return TH_VALUE_UNSURE;
    return th_match_value_known(t) ? th_match_value_truth(th_is_fun_of(t, arity)) : TH_VALUE_MAYBE;
}

/* {is_record, Term, Name, Size}: MAYBE for an unknown term, if name and size are valid. */
th_term th_match_is_record(struct th_match_run *run)
{
    th_term t = TH_OPERAND(run, 0), name = TH_OPERAND(run, 1), size = TH_OPERAND(run, 2);

    if ((th_match_value_known(name) && !th_is_atom(name)) ||
        (th_match_value_known(size) && !th_is_small(size)))
        return TH_VALUE_RAISED;
    if (!th_match_value_known(name) || !th_match_value_known(size) || th_match_value_may_raise(t))
        return TH_VALUE_UNSURE;
    if (!th_match_value_known(t))
        return TH_VALUE_MAYBE;
    return th_match_value_truth(th_is_tuple(t) && th_tuple_arity(t) > 0 &&
                                (int64_t)th_tuple_arity(t) == th_small_value(size) &&
                                th_tuple_elements(t)[0] == name);
}

/* --- Truth values ----------------------------------------------------------------------------- */

th_term th_match_not(struct th_match_run *run)
{
    th_term t = TH_OPERAND(run, 0);

    if (th_match_value_is_boolean(t))
        return th_match_value_truth(t == TH_AM(false));
    if (th_match_value_known(t))
        return TH_VALUE_RAISED;
    return t == TH_VALUE_MAYBE ? TH_VALUE_MAYBE : TH_VALUE_UNSURE;
}

/* Values among the operands of a function of truth values. */
struct operands {
    bool other;     /* a term other than a truth value: an exception */
    bool uncertain; /* may be such a term */
    bool is_true, is_false, maybe, unknown, not_true;
};

static struct operands survey(const struct th_match_run *run)
{
    struct operands o = {0};

    for (size_t i = 0; i < run->operands; i++) {
        th_term t = TH_OPERAND(run, i);
        o.is_true |= t == TH_AM(true);
        o.is_false |= t == TH_AM(false);
        o.maybe |= t == TH_VALUE_MAYBE;
        o.unknown |= t == TH_VALUE_UNKNOWN || t == TH_VALUE_UNSURE;
        o.not_true |= t == TH_VALUE_NOT_TRUE;
        o.other |= th_match_value_known(t) && !th_match_value_is_boolean(t);
    }
    o.uncertain = o.unknown || o.not_true;
    return o;
}

th_term th_match_xor(struct th_match_run *run)
{
    struct operands o = survey(run);

    if (o.other)
        return TH_VALUE_RAISED;
    if (o.uncertain)
        return TH_VALUE_UNSURE;
    return o.maybe ? TH_VALUE_MAYBE : th_match_value_truth(o.is_true && o.is_false);
}

/* All operands are computed, and must be truth values. */
th_term th_match_and(struct th_match_run *run)
{
    struct operands o = survey(run);

    if (o.other)
        return TH_VALUE_RAISED;
    if (o.uncertain)
        return o.is_false || o.not_true ? TH_VALUE_NOT_TRUE : TH_VALUE_UNSURE;
    if (o.maybe && !o.is_false)
        return TH_VALUE_MAYBE;
    return th_match_value_truth(!o.is_false);
}

th_term th_match_or(struct th_match_run *run)
{
    struct operands o = survey(run);

    if (o.other)
        return TH_VALUE_RAISED;
    if (o.uncertain)
        return o.is_true || o.maybe || o.unknown ? TH_VALUE_UNSURE : TH_VALUE_NOT_TRUE;
    if (o.maybe && !o.is_true)
        return TH_VALUE_MAYBE;
    return th_match_value_truth(o.is_true);
}

static bool may_be_true(th_term t)
{
    return t == TH_AM(true) || t == TH_VALUE_MAYBE || t == TH_VALUE_UNKNOWN || t == TH_VALUE_UNSURE;
}

/* If LEFT is not MAYBE, it may also be a term that raises an exception. */
th_term th_match_value_andalso(th_term left, th_term right)
{
    if (left == TH_AM(true))
        return right;
    if (left == TH_VALUE_MAYBE && right == TH_AM(false))
        return right;
    if (!may_be_true(right))
        return TH_VALUE_NOT_TRUE;
    if (left != TH_VALUE_MAYBE || right == TH_VALUE_UNSURE)
        return TH_VALUE_UNSURE;
    return right == TH_VALUE_UNKNOWN ? TH_VALUE_UNKNOWN : TH_VALUE_MAYBE;
}

th_term th_match_value_orelse(th_term left, th_term right)
{
    if (left == TH_AM(false))
        return right;
    if (left == TH_VALUE_NOT_TRUE && !may_be_true(right))
        return TH_VALUE_NOT_TRUE;
    if (left != TH_VALUE_MAYBE)
        return TH_VALUE_UNSURE;
    if (th_match_value_is_truth(right))
        return right == TH_AM(true) ? right : TH_VALUE_MAYBE;
    return th_match_value_known(right) || right == TH_VALUE_UNKNOWN ? TH_VALUE_UNKNOWN
                                                                    : TH_VALUE_UNSURE;
}

/* --- Comparisons ------------------------------------------------------------------------------ */

/* Returns the order of A and B, an enum th_match_relation; numbers by their value. */
static inline unsigned relation(th_term a, th_term b)
{
    int order;

    if (th_is_small(a) && th_is_small(b)) /* the tags are the same */
        order = ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    else
        order = th_compare(a, b);
    return order < 0 ? TH_MATCH_LESS : order == 0 ? TH_MATCH_EQUAL : TH_MATCH_GREATER;
}

/* Compares exactly (=:=), or with numbers of the same value equal (==). */
static bool are_same(th_term a, th_term b, bool exactly)
{
    return exactly ? th_identical(a, b) : th_compare(a, b) == 0;
}

/* Compares lists with unknown elements: an element that differs, or the length, decides. */
static th_term compare_partial(th_term a, th_term b, bool exactly)
{
    bool maybe = false;

    for (; a != b && th_is_list(a) && th_is_list(b); a = th_cell(a)[1], b = th_cell(b)[1]) {
        th_term left = th_cell(a)[0], right = th_cell(b)[0];
        if (!th_match_value_known(left) || !th_match_value_known(right))
            maybe = true;
        else if (!are_same(left, right, exactly))
            return TH_AM(false);
    }
    if (a != b && !are_same(a, b, exactly))
        return TH_AM(false);
    return maybe ? TH_VALUE_MAYBE : TH_AM(true);
}

th_term th_match_compare(struct th_match_run *run)
{
    const struct th_match_function *f = run->function;
    th_term a = TH_OPERAND(run, 0), b = TH_OPERAND(run, 1), truth;

    if (th_match_is_partial(run, a) || th_match_is_partial(run, b))
        truth = compare_partial(a, b, f->exactly);
    else if (f->exactly)
        truth = th_match_value_truth(th_identical(a, b));
    else
        return th_match_value_truth(f->accepts & relation(a, b));
    if (truth == TH_VALUE_MAYBE || f->accepts == TH_MATCH_EQUAL)
        return truth;
    return th_match_value_truth(truth == TH_AM(false));
}

th_term th_match_either(struct th_match_run *run)
{
    th_term a = TH_OPERAND(run, 0), b = TH_OPERAND(run, 1);

    return run->function->accepts & relation(a, b) ? a : b;
}
