/*
 * Funs: parses, creates and applies them.
 *
 * The free variables of a fun's term are a reference that keeps the source, and then names and
 * values of the captured variables. So a fun may be copied, sent, and kept by a library, longer
 * than its program lives. A fun that was encoded and decoded again has lost its code.
 *
 * A call in the last position of a fun is a tail call: the body's value is TH_TAIL_CALL, and the
 * loop in th_shell_apply() continues with the values on the stack. Other calls are nested C calls;
 * th_shell_evaluate_part() bounds their depth.
 */
#include "shell_internal.h"

#include "host/term/make.h"

#include <string.h>

enum { MOST_ARGUMENTS = 255 };

/* --- Parsing ---------------------------------------------------------------------------------- */

/* At '(': parses a clause from its arguments on. Their number must be *ARITY, unless *ARITY is
 * negative. */
static struct th_node *expression_fun_parse_clause(struct th_expression_parser *p, const char *at,
                                                   int *arity)
{
    size_t first = p->count;
    struct th_node *arguments;

    th_shell_expect(p, "(");
    th_shell_parse_elements(p, ")");
    arguments = th_shell_make_node(p, TH_NODE_TUPLE, at, first);
    if (arguments->count > MOST_ARGUMENTS)
        return th_shell_fail(p, at, "expected at most %d arguments", MOST_ARGUMENTS);
    if (*arity >= 0 && arguments->count != (size_t)*arity)
        return th_shell_fail(p, at, "expected as many arguments as in the first clause");
    *arity = (int)arguments->count;
    return th_shell_parse_clause_rest(p, arguments);
}

/* At the '(' of the first clause. If NAME is not NULL, the same variable must precede each
 * clause. */
static struct th_node *parse_clauses(struct th_expression_parser *p, const char *at,
                                     struct th_node *name)
{
    size_t first = p->count;
    const char *clause_at = p->scanner.start;
    struct th_node *fun;
    int arity = -1;

    th_shell_push_part(p, name);
    th_shell_push_part(p, expression_fun_parse_clause(p, clause_at, &arity));
    while (th_shell_skip(p, ";")) {
        clause_at = p->scanner.start;
        if (name && p->scanner.token != TH_TOKEN_VARIABLE)
            th_shell_fail_here(p, "the fun's name, as in front of the first clause");
        else if (name && th_shell_parse_variable(p)->value != name->value)
            th_shell_fail(p, clause_at, "expected the fun's name, as in front of the first clause");
        clause_at = p->scanner.start;
        th_shell_push_part(p, expression_fun_parse_clause(p, clause_at, &arity));
    }
    th_shell_parse_end(p);
    fun = th_shell_make_node(p, TH_NODE_FUN, at, first);
    th_shell_source_add_fun(p->source, fun);
    return fun;
}

/* Parses a module or a function: an atom, which may be a reserved word, or a variable. */
static struct th_node *parse_name(struct th_expression_parser *p)
{
    const struct th_scanner *s = &p->scanner;
    bool word = s->token == TH_TOKEN_RESERVED || s->token == TH_TOKEN_FUN;

    if (s->token == TH_TOKEN_VARIABLE)
        return th_shell_parse_variable(p);
    if (!word && !(s->token == TH_TOKEN_TERM && th_is_atom(s->value)))
        return th_shell_fail_here(p, "clauses, Module:Function/Arity or Function/Arity");
    return th_shell_parse_constant(p, s->value);
}

/* Parses after NAME, at ':' or '/'. */
static struct th_node *parse_export(struct th_expression_parser *p, const char *at,
                                    struct th_node *name)
{
    struct th_node *function = name, *module = NULL, *arity;
    const struct th_scanner *s = &p->scanner;
    bool constant;
    int64_t count;

    if (th_shell_skip(p, ":")) {
        module = name;
        function = parse_name(p);
    }
    th_shell_expect(p, "/");
    if (s->token == TH_TOKEN_VARIABLE)
        arity = th_shell_parse_variable(p);
    else if (s->token == TH_TOKEN_TERM && th_get_int64(s->value, &count) && count >= 0 &&
             count <= MOST_ARGUMENTS)
        arity = th_shell_parse_constant(p, s->value);
    else
        arity = th_shell_fail_here(p, "an arity from 0 to 255");
    constant = function->kind == TH_NODE_CONSTANT && arity->kind == TH_NODE_CONSTANT;
    if (!module && !constant)
        return th_shell_fail(p, at, "expected constants in fun Function/Arity");
    if (module && constant && module->kind == TH_NODE_CONSTANT)
        return th_shell_make_leaf(p, TH_NODE_CONSTANT, at,
                                  th_make_export(&p->source->env, module->value, function->value,
                                                 (uint32_t)th_small_value(arity->value)));
    return th_shell_make_node_of(p, TH_NODE_EXPORT, at,
                                 (struct th_node *[]){module, function, arity}, 3);
}

struct th_node *th_shell_parse_fun(struct th_expression_parser *p, const char *at)
{
    struct th_node *name;

    if (th_shell_at(p, "("))
        return parse_clauses(p, at, NULL);
    name = parse_name(p);
    if (name->kind == TH_NODE_VARIABLE && th_shell_at(p, "("))
        return parse_clauses(p, at, name);
    return parse_export(p, at, name);
}

/* --- Creating --------------------------------------------------------------------------------- */

static void release_source(struct th_offheap *self)
{
    th_shell_source_drop((struct th_source *)th_magic_owner(self));
}

th_term th_shell_evaluate_fun(struct th_evaluation *e, const struct th_node *node)
{
    struct th_source *source = e->source;
    uint32_t index = (uint32_t)th_small_value(node->value);
    const struct th_fun_source *fun = &source->funs[index];
    th_term *free = th_alloc((2 * fun->name_count + 1) * sizeof *free), t;
    struct th_fun_parts parts = {
        .module = th_atom("tracehost"),
        .arity = (uint32_t)node->parts[1]->parts[0]->count,
        .index = index,
        .old_index = th_small(index),
        .old_unique = th_make_uint64(&e->heap, source->number),
        .creator = e->host->self(e->context),
        .free = free,
    };

    memcpy(parts.unique, &source->number, sizeof source->number);
    th_shell_source_keep(&source->magic);
    free[parts.free_count++] = th_make_magic(&e->heap, &source->magic, release_source);
    for (size_t i = e->scope; i < e->count; i++) { /* names and values of captured variables */
        const struct th_binding *binding = &e->bindings[i];
        size_t k = 0;
        while (k < fun->name_count && fun->names[k] != binding->name)
            k++;
        if (k == fun->name_count || th_shell_find_binding(e, binding->name) != binding)
            continue; /* a later binding hides it */
        free[parts.free_count++] = binding->name;
        free[parts.free_count++] = binding->value;
    }
    t = th_make_fun(&e->heap, &parts);
    th_free(free);
    return t;
}

th_term th_shell_make_export(struct th_evaluation *e, const th_term parts[3])
{
    const char *wrong = !th_is_atom(parts[0])      ? "argument 1: not an atom"
                        : !th_is_atom(parts[1])    ? "argument 2: not an atom"
                        : !th_is_integer(parts[2]) ? "argument 3: not an integer"
                        : !th_is_small(parts[2]) || th_small_value(parts[2]) < 0 ||
                                th_small_value(parts[2]) > MOST_ARGUMENTS
                            ? "argument 3: out of range"
                            : NULL;

    if (!wrong)
        return th_make_export(&e->heap, parts[0], parts[1], (uint32_t)th_small_value(parts[2]));
    th_shell_raise_from(e, TH_AM(badarg), TH_AM(erlang), th_atom("make_fun"), parts, 3);
    th_shell_add_note(e, wrong);
    return TH_NONE;
}

/* --- Applying --------------------------------------------------------------------------------- */

static th_term raise_arity(struct th_evaluation *e, size_t first)
{
    th_term arguments = th_make_list(&e->heap, e->stack + first + 1, e->stacked - first - 1);

    return th_shell_raise_pair(e, "badarity",
                               th_make_tuple_of(&e->heap, e->stack[first], arguments));
}

/* Applies a fun whose source is known. Its captured variables, its name and its arguments are the
 * only visible bindings. */
static th_term apply_source(struct th_evaluation *e, size_t first, struct th_source *source,
                            const struct th_fun_parts *parts)
{
    const struct th_node *node = source->funs[parts->index].node, *clause;
    th_term arguments;

    if (e->stacked - first - 1 != parts->arity)
        return raise_arity(e, first);
    e->source = source;
    e->scope = e->fresh = e->count;
    for (size_t i = 1; i < parts->free_count; i += 2)
        th_shell_bind(e, parts->free[i], parts->free[i + 1]);
    if (node->parts[0])
        th_shell_bind(e, node->parts[0]->value, e->stack[first]);
    arguments = th_make_tuple(&e->heap, e->stack + first + 1, parts->arity);
    e->fresh = e->count;
    clause = th_shell_match_clauses(e, node, 1, arguments);
    e->fresh = e->scope;
    if (!clause)
        return th_shell_raise_from(e, th_atom("function_clause"), th_atom("erl_eval"),
                                   th_atom("-inside-an-interpreted-fun-"), e->stack + first + 1,
                                   e->stacked - first - 1);
    e->stacked = first + 1; /* the fun stays on the stack, and keeps the source */
    return th_shell_evaluate_part(e, clause->parts[2], true);
}

static th_term apply_once(struct th_evaluation *e, size_t first)
{
    th_term fun = e->stack[first], module, function;
    size_t count = e->stacked - first - 1;
    struct th_source *source = NULL;
    struct th_fun_parts parts;
    uint32_t arity;

    if (th_get_fun(fun, &parts) && parts.free_count % 2 == 1)
        source = (struct th_source *)th_magic_object_of(parts.free[0], release_source);
    if (source && parts.index < source->fun_count) /* made here, with its source */
        return apply_source(e, first, source, &parts);
    if (!th_get_export(fun, &module, &function, &arity))
        return th_shell_raise_pair(e, "badfun", fun);
    if (arity != count)
        return raise_arity(e, first);
    return th_shell_call_function(e, module, function, e->stack + first + 1, count);
}

th_term th_shell_apply(struct th_evaluation *e, size_t first)
{
    const struct th_standing standing = th_shell_standing(e);
    size_t count;
    th_term t;

    for (;;) {
        if (!th_shell_pause(e))
            return TH_NONE;
        t = apply_once(e, first);
        if (t == TH_NONE)
            return TH_NONE;
        count = e->stacked - e->tail;
        th_shell_unwind(e, &standing);
        if (t != TH_TAIL_CALL)
            break;
        memmove(e->stack + first, e->stack + e->tail, count * sizeof *e->stack);
        e->stacked = first + count;
    }
    e->stacked = first;
    return t;
}
