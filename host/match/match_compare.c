/* Comparisons. */
#include "match_function.h"

/* Exactly (=:=) or as numbers of the same value are equal (==). */
static bool are_same(th_term a, th_term b, bool exactly)
{
    return exactly ? th_identical(a, b) : th_compare(a, b) == 0;
}

/* Two lists of which not all elements are known: an element that differs, or the length, decides.
 */
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

static th_term equal_operands(const struct th_match_run *run, bool exactly)
{
    th_term a = TH_OPERAND(run, 0), b = TH_OPERAND(run, 1);

    if (th_match_is_partial(run, a) || th_match_is_partial(run, b))
        return compare_partial(a, b, exactly);
    return th_match_value_truth(are_same(a, b, exactly));
}

static th_term opposite_truth(th_term truth)
{
    return truth == TH_VALUE_MAYBE ? truth : th_match_value_truth(truth == TH_AM(false));
}

th_term th_match_equal(struct th_match_run *run)
{
    return equal_operands(run, false);
}

th_term th_match_identical(struct th_match_run *run)
{
    return equal_operands(run, true);
}

th_term th_match_unequal(struct th_match_run *run)
{
    return opposite_truth(equal_operands(run, false));
}

th_term th_match_different(struct th_match_run *run)
{
    return opposite_truth(equal_operands(run, true));
}

/* --- Order ------------------------------------------------------------------------------------ */

static inline int order_operands(const struct th_match_run *run)
{
    th_term a = TH_OPERAND(run, 0), b = TH_OPERAND(run, 1);

    if (th_is_small(a) && th_is_small(b)) /* the tags are the same */
        return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    return th_compare(a, b);
}

th_term th_match_less(struct th_match_run *run)
{
    return th_match_value_truth(order_operands(run) < 0);
}

th_term th_match_at_most(struct th_match_run *run)
{
    return th_match_value_truth(order_operands(run) <= 0);
}

th_term th_match_greater(struct th_match_run *run)
{
    return th_match_value_truth(order_operands(run) > 0);
}

th_term th_match_at_least(struct th_match_run *run)
{
    return th_match_value_truth(order_operands(run) >= 0);
}

/* Of two that are equal, as 1 and 1.0, the first. */
th_term th_match_max(struct th_match_run *run)
{
    return TH_OPERAND(run, order_operands(run) >= 0 ? 0 : 1);
}

th_term th_match_min(struct th_match_run *run)
{
    return TH_OPERAND(run, order_operands(run) <= 0 ? 0 : 1);
}
