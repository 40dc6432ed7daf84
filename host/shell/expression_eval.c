/* Evaluates expressions. Recursion follows the tree, whose depth is bounded, and calls of funs,
 * which the thread's stack bounds. */
#include "shell_internal.h"

#include "host/term/make.h"
#include "host/term/map.h"

#include <string.h>

/* --- Constructors ----------------------------------------------------------------------------- */

bool th_shell_evaluate_all(struct th_evaluation *e, struct th_node *const nodes[], size_t count,
                           size_t *first)
{
    *first = e->stacked;
    for (size_t i = 0; i < count; i++) {
        th_term t = th_shell_evaluate(e, nodes[i]);
        if (t == TH_NONE)
            return false;
        th_shell_push(e, t);
    }
    return true;
}

/* Updates a map, which is on the stack, pair by pair. */
static th_term update_map(struct th_evaluation *e, const struct th_node *node)
{
    size_t place = e->stacked - 1, first;

    if (!th_is_map(e->stack[place]))
        return th_shell_raise_pair(e, "badmap", e->stack[place]);
    for (size_t i = 1; i < node->count; i++) {
        const struct th_node *pair = node->parts[i];
        th_term *values;
        if (!th_shell_evaluate_all(e, pair->parts, 2, &first))
            return TH_NONE;
        values = e->stack + first;
        if (pair->exact && th_map_get(e->stack[place], values[0]) == TH_NONE)
            return th_shell_raise_pair(e, "badkey", values[0]);
        e->stack[place] = th_map_put(&e->heap, e->stack[place], values[0], values[1]);
        e->stacked = first;
    }
    e->stacked = place;
    return e->stack[place];
}

static th_term evaluate_map(struct th_evaluation *e, const struct th_node *node)
{
    size_t count = node->count - 1, first = e->stacked, at;
    th_term *terms, map;

    if (node->parts[0]) {
        map = th_shell_evaluate(e, node->parts[0]);
        if (map == TH_NONE)
            return TH_NONE;
        th_shell_push(e, map);
        return update_map(e, node);
    }
    for (size_t i = 1; i < node->count; i++)
        if (!th_shell_evaluate_all(e, node->parts[i]->parts, 2, &at))
            return TH_NONE;
    terms = th_alloc((2 * count + 1) * sizeof *terms);
    for (size_t i = 0; i < count; i++) {
        terms[i] = e->stack[first + 2 * i];
        terms[count + i] = e->stack[first + 2 * i + 1];
    }
    map = th_make_map(&e->heap, terms, terms + count, count, true);
    th_free(terms);
    e->stacked = first;
    return map;
}

th_term th_shell_make_bits(th_env *env, const void *data, size_t bits)
{
    unsigned char *to;
    th_term t = th_make_heap_binary(env, bits, &to);

    if (bits > 0)
        memcpy(to, data, (bits + 7) / 8);
    return t;
}

/* --- Calls ----------------------------------------------------------------------------------- */

th_term th_shell_call_function(struct th_evaluation *e, th_term module, th_term function,
                               const th_term arguments[], size_t count)
{
    th_term result = TH_NONE;
    enum th_called called =
        e->host->call(e->context, module, function, count, arguments, &e->heap, &result);

    if (called == TH_CALLED_RAISED || called == TH_CALLED_EXITED || called == TH_CALLED_THREW) {
        th_shell_raise_from(e, result, module, function, arguments, count);
        e->exception.class = called == TH_CALLED_RAISED   ? TH_CLASS_ERROR
                             : called == TH_CALLED_EXITED ? TH_CLASS_EXIT
                                                          : TH_CLASS_THROW;
        if (e->host->stack)
            e->exception.stack = e->host->stack(e->context);
        return TH_NONE;
    }
    if (called == TH_CALLED_ENDED)
        return th_shell_raise(e, TH_CLASS_EXIT, result);
    if (called == TH_CALLED_UNDEFINED)
        called = th_shell_call_own(e, module, function, count, arguments, &result);
    if (called == TH_CALLED_UNDEFINED)
        return th_shell_raise_from(e, th_atom("undef"), module, function, arguments, count);
    return !th_shell_interrupted(e) && called == TH_CALLED_RETURNED ? result : TH_NONE;
}

/* Evaluates a call without a module: a command, or a fun. */
static th_term evaluate_local_call(struct th_evaluation *e, const struct th_node *node, bool tail)
{
    const struct th_node *function = node->parts[1];
    size_t first;

    if (function->kind == TH_NODE_CONSTANT && th_is_atom(function->value))
        return th_shell_evaluate_command(e, node);
    if (!th_shell_evaluate_all(e, node->parts + 1, node->count - 1, &first))
        return TH_NONE;
    if (!tail)
        return th_shell_apply(e, first);
    e->tail = first;
    return TH_TAIL_CALL;
}

static th_term call_remote(struct th_evaluation *e, const th_term values[], size_t count)
{
    th_term apply[3];

    if (th_is_atom(values[0]) && th_is_atom(values[1]))
        return th_shell_call_function(e, values[0], values[1], values + 2, count);
    apply[0] = values[0];
    apply[1] = values[1];
    apply[2] = th_make_list(&e->heap, values + 2, count);
    th_shell_raise_from(e, TH_AM(badarg), TH_AM(erlang), TH_AM(apply), apply, 3);
    th_shell_add_note(e, th_is_atom(values[0]) ? "argument 2: not an atom"
                                               : "argument 1: not an atom");
    return TH_NONE;
}

/* Evaluates a node whose parts all have values: VALUES. */
static th_term evaluate_with(struct th_evaluation *e, const struct th_node *node,
                             const th_term values[])
{
    size_t count = node->count;
    th_term t = TH_NONE;

    switch ((enum th_node_kind)node->kind) {
    case TH_NODE_LIST:
        t = values[--count];
        while (count > 0)
            t = th_make_cons(&e->heap, values[--count], t);
        return t;
    case TH_NODE_TUPLE:
        return th_make_tuple(&e->heap, values, count);
    case TH_NODE_CALL:
        return call_remote(e, values, count - 2);
    case TH_NODE_EXPORT:
        return th_shell_make_export(e, values);
    case TH_NODE_SEND:
        if (th_shell_call_own(e, TH_AM(erlang), TH_AM(send), 2, values, &t) == TH_CALLED_RETURNED)
            return t;
        return th_shell_raise_from(e, TH_AM(badarg), TH_NONE, th_atom("!"), values, 2);
    default:
        return th_shell_apply_operator(e, node, values);
    }
}

/* --- Branches --------------------------------------------------------------------------------- */

th_term th_shell_evaluate_block(struct th_evaluation *e, const struct th_node *block, bool tail)
{
    size_t last = block->count - 1;

    for (size_t i = 0; i < last; i++)
        if (th_shell_evaluate(e, block->parts[i]) == TH_NONE)
            return TH_NONE;
    return th_shell_evaluate_part(e, block->parts[last], tail);
}

/* Evaluates the first of NODE's clauses, from FIRST on, that T matches. If there is none, raises an
 * exception with TAG. */
static th_term evaluate_clauses(struct th_evaluation *e, const struct th_node *node, size_t first,
                                th_term t, bool tail, const char *tag)
{
    const struct th_node *clause = th_shell_match_clauses(e, node, first, t);

    return clause ? th_shell_evaluate_block(e, clause->parts[2], tail)
                  : th_shell_raise_pair(e, tag, t);
}

/* andalso, orelse: the right operand is evaluated only if it decides the result. */
static th_term evaluate_short(struct th_evaluation *e, const struct th_node *node, bool tail)
{
    th_term left = th_shell_evaluate(e, node->parts[0]);

    if (left == TH_NONE)
        return TH_NONE;
    if (!th_shell_is_boolean(left))
        return th_shell_raise_pair(e, "badarg", left);
    if (left == th_shell_boolean(node->op == TH_OPERATOR_ORELSE))
        return left;
    return th_shell_evaluate_part(e, node->parts[1], tail);
}

/* --- Exceptions ------------------------------------------------------------------------------- */

static th_term evaluate_catch(struct th_evaluation *e, const struct th_node *node)
{
    const struct th_standing standing = th_shell_standing(e);
    th_term t = th_shell_evaluate(e, node->parts[0]);

    if (t != TH_NONE || e->stopped)
        return t;
    th_shell_unwind(e, &standing);
    t = e->exception.reason;
    if (e->exception.class == TH_CLASS_THROW)
        return t;
    if (e->exception.class == TH_CLASS_ERROR)
        t = th_make_tuple_of(&e->heap, t, th_shell_stack(e));
    return th_make_tuple_of(&e->heap, th_atom("EXIT"), t);
}

/* Evaluates the block, and then the clauses of `of` or `catch`. The exception stays if no clause
 * matches. */
static th_term evaluate_protected(struct th_evaluation *e, const struct th_node *node)
{
    const struct th_standing standing = th_shell_standing(e);
    th_term t = th_shell_evaluate_block(e, node->parts[0], false);
    const struct th_node *clause;
    struct th_exception exception;

    if (t != TH_NONE && node->parts[1])
        return evaluate_clauses(e, node->parts[1], 0, t, false, "try_clause");
    if (t != TH_NONE || e->stopped)
        return t;
    th_shell_unwind(e, &standing);
    if (!node->parts[2])
        return TH_NONE;
    exception = e->exception;
    t = th_make_tuple_of(&e->heap, th_atom(th_shell_classes[exception.class]), exception.reason,
                         th_shell_stack(e));
    clause = th_shell_match_clauses(e, node->parts[2], 0, t);
    if (clause)
        return th_shell_evaluate_block(e, clause->parts[2], false);
    e->exception = exception;
    return TH_NONE;
}

/* Evaluates the block of `after`, and restores the exception. */
static th_term evaluate_after_exception(struct th_evaluation *e, const struct th_node *block,
                                        const struct th_standing *standing)
{
    struct th_exception exception = e->exception;
    size_t place = standing->stacked;

    th_shell_unwind(e, standing);
    th_shell_push(e, exception.reason);
    th_shell_push(e, exception.arguments ? exception.arguments : TH_NIL);
    th_shell_push(e, exception.stack ? exception.stack : TH_NIL);
    if (th_shell_evaluate_block(e, block, false) == TH_NONE)
        return TH_NONE;
    e->exception = exception;
    e->exception.reason = e->stack[place];
    if (exception.arguments)
        e->exception.arguments = e->stack[place + 1];
    if (exception.stack)
        e->exception.stack = e->stack[place + 2];
    return TH_NONE;
}

static th_term evaluate_try(struct th_evaluation *e, const struct th_node *node)
{
    const struct th_standing standing = th_shell_standing(e);
    th_term t = evaluate_protected(e, node);

    if (!node->parts[3] || e->stopped)
        return t;
    if (t == TH_NONE)
        return evaluate_after_exception(e, node->parts[3], &standing);
    th_shell_push(e, t);
    if (th_shell_evaluate_block(e, node->parts[3], false) == TH_NONE)
        return TH_NONE;
    return e->stack[--e->stacked];
}

/* ---------------------------------------------------------------------------------------------- */

th_term th_shell_evaluate_part(struct th_evaluation *e, const struct th_node *node, bool tail)
{
    const struct th_binding *binding;
    const struct th_node *clause;
    size_t first;
    th_term t;

    if ((const char *)__builtin_frame_address(0) < e->floor)
        return th_shell_raise_limit(
            e, "calls of funs inside each other take all of the thread's stack");
    switch ((enum th_node_kind)node->kind) {
    case TH_NODE_CONSTANT:
        return th_copy(&e->heap, node->value); /* a binding may outlive the program */
    case TH_NODE_VARIABLE:
        binding = th_shell_find_binding(e, node->value);
        return binding ? binding->value : th_shell_raise_unbound(e, node);
    case TH_NODE_MAP:
        return evaluate_map(e, node);
    case TH_NODE_BITS:
        return th_shell_evaluate_bits(e, node);
    case TH_NODE_FUN:
        return th_shell_evaluate_fun(e, node);
    case TH_NODE_COMPREHENSION:
    case TH_NODE_COMPREHENSION_BITS:
    case TH_NODE_COMPREHENSION_MAP:
        return th_shell_evaluate_comprehension(e, node);
    case TH_NODE_MATCH:
        t = th_shell_evaluate(e, node->parts[1]);
        return t == TH_NONE || th_shell_match(e, node->parts[0], t)
                   ? t
                   : th_shell_raise_pair(e, "badmatch", t);
    case TH_NODE_CATCH:
        return evaluate_catch(e, node);
    case TH_NODE_BLOCK:
        return th_shell_evaluate_block(e, node, tail);
    case TH_NODE_CASE:
        t = th_shell_evaluate(e, node->parts[0]);
        return t == TH_NONE ? TH_NONE : evaluate_clauses(e, node, 1, t, tail, "case_clause");
    case TH_NODE_IF:
        clause = th_shell_match_clauses(e, node, 0, TH_NONE);
        return clause ? th_shell_evaluate_block(e, clause->parts[2], tail)
                      : th_shell_raise(e, TH_CLASS_ERROR, th_atom("if_clause"));
    case TH_NODE_RECEIVE:
        return th_shell_evaluate_receive(e, node, tail);
    case TH_NODE_TRY:
        return evaluate_try(e, node);
    case TH_NODE_BINARY:
        if (node->op == TH_OPERATOR_ORELSE || node->op == TH_OPERATOR_ANDALSO)
            return evaluate_short(e, node, tail);
        break;
    case TH_NODE_CALL:
        if (!node->parts[0])
            return evaluate_local_call(e, node, tail);
        break;
    case TH_NODE_EXPORT:
        if (!node->parts[0]) { /* a shell has no functions of its own */
            th_shell_raise_from(e, TH_AM(undef), th_atom("erl_eval"), node->parts[1]->value, NULL,
                                0);
            e->exception.arguments = node->parts[2]->value;
            return TH_NONE;
        }
        break;
    case TH_NODE_LIST:
    case TH_NODE_TUPLE:
    case TH_NODE_SEND:
    case TH_NODE_UNARY:
        break;
    default:
        th_bug("a node of kind %u has no value", node->kind);
    }
    if (!th_shell_evaluate_all(e, node->parts, node->count, &first))
        return TH_NONE;
    t = evaluate_with(e, node, e->stack + first);
    e->stacked = first;
    return t;
}

th_term th_shell_evaluate(struct th_evaluation *e, const struct th_node *node)
{
    return th_shell_evaluate_part(e, node, false);
}
