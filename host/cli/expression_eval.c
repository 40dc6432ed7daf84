/* The values of expressions. Recursion follows the tree, which has a bounded depth. */
#include "evaluation.h"

#include <string.h>

/* --- Constructors ----------------------------------------------------------------------------- */

th_term *th_evaluate_all(struct th_evaluation *e, struct th_node *const nodes[], size_t count)
{
    th_term *values = th_alloc((count + 1) * sizeof *values);

    for (size_t i = 0; i < count; i++) {
        values[i] = th_evaluate(e, nodes[i]);
        if (values[i] == TH_NONE) {
            th_free(values);
            return NULL;
        }
    }
    return values;
}

static th_term evaluate_list(struct th_evaluation *e, const struct th_node *list)
{
    th_term *values = th_evaluate_all(e, list->parts, list->count);
    th_term t;

    if (!values)
        return TH_NONE;
    t = values[list->count - 1];
    for (size_t i = list->count - 1; i > 0; i--)
        t = th_make_cons(&e->heap, values[i - 1], t);
    th_free(values);
    return t;
}

static th_term evaluate_tuple(struct th_evaluation *e, const struct th_node *tuple)
{
    th_term *values = th_evaluate_all(e, tuple->parts, tuple->count);
    th_term t = values ? th_make_tuple(&e->heap, values, tuple->count) : TH_NONE;

    th_free(values);
    return t;
}

/* Puts the pairs into an old map, one by one. */
static th_term update_map(struct th_evaluation *e, const struct th_node *node, th_term map)
{
    if (!th_is_map(map))
        return th_raise_pair(e, "badmap", map);
    for (size_t i = 1; i < node->count; i++) {
        const struct th_node *pair = node->parts[i];
        th_term key = th_evaluate(e, pair->parts[0]), value;
        if (key == TH_NONE)
            return TH_NONE;
        value = th_evaluate(e, pair->parts[1]);
        if (value == TH_NONE)
            return TH_NONE;
        if (pair->exact && th_map_get(map, key) == TH_NONE)
            return th_raise_pair(e, "badkey", key);
        map = th_map_put(&e->heap, map, key, value);
    }
    return map;
}

static th_term evaluate_map(struct th_evaluation *e, const struct th_node *node)
{
    size_t count = node->count - 1;
    th_term *terms, map = TH_NONE;
    bool good = true;

    if (node->parts[0]) {
        map = th_evaluate(e, node->parts[0]);
        return map == TH_NONE ? TH_NONE : update_map(e, node, map);
    }
    terms = th_alloc((2 * count + 1) * sizeof *terms);
    for (size_t i = 0; good && i < count; i++) {
        terms[i] = th_evaluate(e, node->parts[i + 1]->parts[0]);
        good = terms[i] != TH_NONE;
        if (good)
            terms[count + i] = th_evaluate(e, node->parts[i + 1]->parts[1]);
        good = good && terms[count + i] != TH_NONE;
    }
    if (good)
        map = th_make_map(&e->heap, terms, terms + count, count, true);
    th_free(terms);
    return map;
}

th_term th_make_bits(th_env *env, const void *data, size_t bits)
{
    unsigned char *to;
    th_term t = th_make_heap_binary(env, bits, &to);

    if (bits > 0)
        memcpy(to, data, (bits + 7) / 8);
    return t;
}

/* --- Variables, matches, calls ---------------------------------------------------------------- */

static th_term evaluate_variable(struct th_evaluation *e, const struct th_node *node)
{
    struct th_binding *binding = th_binding_find(e, node->value);

    if (binding)
        return binding->value;
    th_raise_pair(e, "unbound", node->value);
    e->exception.unbound = node->at;
    return TH_NONE;
}

static th_term evaluate_match(struct th_evaluation *e, const struct th_node *node)
{
    th_term t = th_evaluate(e, node->parts[1]);

    if (t == TH_NONE || th_match(e, node->parts[0], t))
        return t;
    return th_raise_pair(e, "badmatch", t);
}

static th_term raise_undefined(struct th_evaluation *e, th_term module, th_term function,
                               const th_term arguments[], size_t count)
{
    return th_raise_from(e, th_atom("undef"), module, function, arguments, count);
}

static enum th_class class_of(enum th_called called)
{
    return called == TH_CALLED_RAISED   ? TH_CLASS_ERROR
           : called == TH_CALLED_EXITED ? TH_CLASS_EXIT
                                        : TH_CLASS_THROW;
}

static th_term call_function(struct th_evaluation *e, th_term module, th_term function,
                             const th_term arguments[], size_t count)
{
    th_term result = TH_NONE;
    enum th_called called =
        e->host->call(e->context, module, function, count, arguments, &e->heap, &result);

    if (called == TH_CALLED_RAISED || called == TH_CALLED_EXITED || called == TH_CALLED_THREW) {
        th_raise_from(e, result, module, function, arguments, count);
        e->exception.class = class_of(called);
        return TH_NONE;
    }
    if (called == TH_CALLED_ENDED)
        return th_evaluation_raise(e, TH_CLASS_EXIT, result);
    if (called == TH_CALLED_UNDEFINED)
        called = th_function_call(e, module, function, count, arguments, &result);
    if (called == TH_CALLED_UNDEFINED)
        return raise_undefined(e, module, function, arguments, count);
    if (e->host->interrupted(e->context))
        e->stopped = true;
    return called == TH_CALLED_RETURNED && !e->stopped ? result : TH_NONE;
}

static th_term evaluate_call(struct th_evaluation *e, const struct th_node *node)
{
    th_term *values, result;
    size_t count = node->count - 2;

    if (!node->parts[0])
        return th_evaluate_command(e, node);
    values = th_evaluate_all(e, node->parts, node->count);
    if (!values)
        return TH_NONE;
    if (th_is_atom(values[0]) && th_is_atom(values[1])) {
        result = call_function(e, values[0], values[1], values + 2, count);
    } else {
        th_term apply[3] = {values[0], values[1], th_make_list(&e->heap, values + 2, count)};
        result = th_raise_from(e, TH_AM(badarg), TH_AM(erlang), TH_AM(apply), apply, 3);
        th_exception_note(e, th_is_atom(values[0]) ? "argument 2: not an atom"
                                                   : "argument 1: not an atom");
    }
    th_free(values);
    return result;
}

/* --- Branches --------------------------------------------------------------------------------- */

th_term th_evaluate_block(struct th_evaluation *e, const struct th_node *block)
{
    th_term t = TH_NONE;

    for (size_t i = 0; i < block->count; i++) {
        t = th_evaluate(e, block->parts[i]);
        if (t == TH_NONE)
            break;
    }
    return t;
}

static th_term evaluate_case(struct th_evaluation *e, const struct th_node *node)
{
    th_term t = th_evaluate(e, node->parts[0]);
    const struct th_node *clause;

    if (t == TH_NONE)
        return TH_NONE;
    clause = th_match_clauses(e, node, 1, t);
    return clause ? th_evaluate_block(e, clause->parts[2]) : th_raise_pair(e, "case_clause", t);
}

static th_term evaluate_if(struct th_evaluation *e, const struct th_node *node)
{
    const struct th_node *clause = th_match_clauses(e, node, 0, TH_NONE);

    return clause ? th_evaluate_block(e, clause->parts[2])
                  : th_evaluation_raise(e, TH_CLASS_ERROR, th_atom("if_clause"));
}

/* --- Exceptions ------------------------------------------------------------------------------- */

static th_term evaluate_catch(struct th_evaluation *e, const struct th_node *node)
{
    size_t bound = e->count;
    th_term t = th_evaluate(e, node->parts[0]);

    if (t != TH_NONE || e->stopped)
        return t;
    if (e->count > bound)
        e->count = bound;
    t = e->exception.reason;
    if (e->exception.class == TH_CLASS_THROW)
        return t;
    if (e->exception.class == TH_CLASS_ERROR)
        t = th_make_tuple_of(&e->heap, t, th_exception_stack(e));
    return th_make_tuple_of(&e->heap, th_atom("EXIT"), t);
}

/* What the clauses of `catch` make of the exception; it goes on if none of them wants it. */
static th_term handle_exception(struct th_evaluation *e, const struct th_node *clauses)
{
    static const char *const classes[] = {"error", "exit", "throw"};
    struct th_exception exception = e->exception;
    th_term caught = th_make_tuple_of(&e->heap, th_atom(classes[exception.class]), exception.reason,
                                      th_exception_stack(e));
    const struct th_node *clause = th_match_clauses(e, clauses, 0, caught);

    if (clause)
        return th_evaluate_block(e, clause->parts[2]);
    e->exception = exception;
    return TH_NONE;
}

static th_term evaluate_protected(struct th_evaluation *e, const struct th_node *node)
{
    size_t bound = e->count;
    th_term t = th_evaluate_block(e, node->parts[0]);

    if (t != TH_NONE && node->parts[1]) {
        const struct th_node *clause = th_match_clauses(e, node->parts[1], 0, t);
        return clause ? th_evaluate_block(e, clause->parts[2]) : th_raise_pair(e, "try_clause", t);
    }
    if (t != TH_NONE || e->stopped)
        return t;
    if (e->count > bound)
        e->count = bound;
    return node->parts[2] ? handle_exception(e, node->parts[2]) : TH_NONE;
}

static th_term evaluate_try(struct th_evaluation *e, const struct th_node *node)
{
    th_term t = evaluate_protected(e, node);
    struct th_exception exception = e->exception;

    if (!node->parts[3] || e->stopped)
        return t;
    if (th_evaluate_block(e, node->parts[3]) == TH_NONE)
        return TH_NONE;
    e->exception = exception;
    return t;
}

static th_term evaluate_send(struct th_evaluation *e, const struct th_node *node)
{
    th_term *values = th_evaluate_all(e, node->parts, node->count);
    th_term result = TH_NONE;

    if (!values)
        return TH_NONE;
    if (th_function_call(e, TH_AM(erlang), TH_AM(send), 2, values, &result) == TH_CALLED_RAISED) {
        th_raise_from(e, TH_AM(badarg), TH_NONE, th_atom("!"), values, 2);
        result = TH_NONE;
    }
    th_free(values);
    return result;
}

/* ---------------------------------------------------------------------------------------------- */

th_term th_evaluate(struct th_evaluation *e, const struct th_node *node)
{
    switch ((enum th_node_kind)node->kind) {
    case TH_NODE_CONSTANT:
        return th_copy(&e->heap, node->value); /* a binding may outlive the program */
    case TH_NODE_VARIABLE:
        return evaluate_variable(e, node);
    case TH_NODE_LIST:
        return evaluate_list(e, node);
    case TH_NODE_TUPLE:
        return evaluate_tuple(e, node);
    case TH_NODE_MAP:
        return evaluate_map(e, node);
    case TH_NODE_BITS:
        return th_evaluate_bits(e, node);
    case TH_NODE_CALL:
        return evaluate_call(e, node);
    case TH_NODE_MATCH:
        return evaluate_match(e, node);
    case TH_NODE_SEND:
        return evaluate_send(e, node);
    case TH_NODE_UNARY:
    case TH_NODE_BINARY:
        return th_evaluate_operator(e, node);
    case TH_NODE_CATCH:
        return evaluate_catch(e, node);
    case TH_NODE_BLOCK:
        return th_evaluate_block(e, node);
    case TH_NODE_CASE:
        return evaluate_case(e, node);
    case TH_NODE_IF:
        return evaluate_if(e, node);
    case TH_NODE_RECEIVE:
        return th_evaluate_receive(e, node);
    case TH_NODE_TRY:
        return evaluate_try(e, node);
    default:
        th_bug("a node of kind %u has no value", node->kind);
    }
}
