/* Patterns and guards. */
#include "shell_internal.h"

static bool match_variable(struct th_evaluation *e, th_term name, th_term t)
{
    const struct th_binding *binding = th_shell_find_binding(e, name);

    if (binding && binding >= e->bindings + e->fresh)
        return th_identical(binding->value, t);
    th_shell_bind(e, name, t);
    return true;
}

static bool match_tuple(struct th_evaluation *e, const struct th_node *pattern, th_term t)
{
    if (!th_is_tuple(t) || th_tuple_arity(t) != pattern->count)
        return false;
    for (size_t i = 0; i < pattern->count; i++)
        if (!th_shell_match(e, pattern->parts[i], th_tuple_elements(t)[i]))
            return false;
    return true;
}

static bool match_list(struct th_evaluation *e, const struct th_node *pattern, th_term t)
{
    for (size_t i = 0; i + 1 < pattern->count; i++) {
        if (!th_is_list(t) || !th_shell_match(e, pattern->parts[i], th_cell(t)[0]))
            return false;
        t = th_cell(t)[1];
    }
    return th_shell_match(e, pattern->parts[pattern->count - 1], t);
}

static bool match_map(struct th_evaluation *e, const struct th_node *pattern, th_term t)
{
    if (!th_is_map(t))
        return false;
    for (size_t i = 1; i < pattern->count; i++) {
        const struct th_node *pair = pattern->parts[i];
        th_term key = th_shell_evaluate(e, pair->parts[0]);
        th_term value = key == TH_NONE ? TH_NONE : th_map_get(t, key);
        if (value == TH_NONE || !th_shell_match(e, pair->parts[1], value))
            return false;
    }
    return true;
}

bool th_shell_match(struct th_evaluation *e, const struct th_node *pattern, th_term t)
{
    switch ((enum th_node_kind)pattern->kind) {
    case TH_NODE_ANY:
        return true;
    case TH_NODE_CONSTANT:
        return th_identical(pattern->value, t);
    case TH_NODE_VARIABLE:
        return match_variable(e, pattern->value, t);
    case TH_NODE_TUPLE:
        return match_tuple(e, pattern, t);
    case TH_NODE_LIST:
        return match_list(e, pattern, t);
    case TH_NODE_MAP:
        return match_map(e, pattern, t);
    case TH_NODE_BITS:
        return th_shell_match_bits(e, pattern, t);
    case TH_NODE_MATCH:
        return th_shell_match(e, pattern->parts[0], t) && th_shell_match(e, pattern->parts[1], t);
    default:
        th_bug("a node of kind %u is no pattern", pattern->kind);
    }
}

/* One alternative of a guard. A test that raises an exception does not hold. */
static bool tests_hold(struct th_evaluation *e, const struct th_node *tests)
{
    for (size_t i = 0; i < tests->count; i++)
        if (th_shell_evaluate(e, tests->parts[i]) != TH_AM(true))
            return false;
    return true;
}

static bool guard_holds(struct th_evaluation *e, const struct th_node *guard)
{
    for (size_t i = 0; i < guard->count; i++)
        if (tests_hold(e, guard->parts[i]))
            return true;
    return false;
}

const struct th_node *th_shell_match_clauses(struct th_evaluation *e, const struct th_node *node,
                                             size_t first, th_term t)
{
    size_t bound = e->count, stacked = e->stacked;

    for (size_t i = first; i < node->count; i++) {
        const struct th_node *clause = node->parts[i];
        if ((!clause->parts[0] || th_shell_match(e, clause->parts[0], t)) &&
            (!clause->parts[1] || guard_holds(e, clause->parts[1])))
            return clause;
        e->count = bound;
        e->stacked = stacked; /* a test may have raised an exception */
    }
    return NULL;
}
