/* Compiles guards and bodies. */
#include "match_internal.h"

#include "host/term/make.h"
#include "host/term/map.h"

#include <string.h>

static void push_constant(struct th_match_compiler *c, th_term t)
{
    th_match_emit(c, TH_CODE_CONSTANT, 0, th_match_constant(c, t));
}

/* --- Terms made of values --------------------------------------------------------------------- */

/* True if the code from START on pushes COUNT constants. */
static bool only_constants(const struct th_match_compiler *c, size_t start, size_t count)
{
    if (c->spec->code_count - start != count)
        return false;
    for (size_t i = start; i < c->spec->code_count; i++)
        if (c->spec->code[i].code != TH_CODE_CONSTANT)
            return false;
    return true;
}

/*
 * Makes a term with COUNT elements by CODE, of the PARTS values that the code from START on pushes.
 * If all are constants, the term is made now, and replaces that code as a constant.
 */
static void make_of_values(struct th_match_compiler *c, size_t start, enum th_match_code code,
                           size_t count, size_t parts)
{
    struct th_match_spec *spec = c->spec;
    th_term *values, t; /* the last part that is pushed comes first */

    if (!only_constants(c, start, parts)) {
        th_match_emit(c, code, 0, count);
        return;
    }
    values = th_alloc((parts + 1) * sizeof *values);
    for (size_t i = 0; i < parts; i++)
        values[i] = spec->constants[spec->code[start + parts - 1 - i].operand];
    spec->code_count = start;
    if (code == TH_CODE_MAKE_TUPLE) {
        t = th_make_tuple(&spec->env, values, count);
    } else if (code == TH_CODE_MAKE_MAP) {
        t = th_make_map(&spec->env, values, values + count, count, true);
    } else {
        t = values[0]; /* the tail */
        for (size_t i = 1; i <= count; i++)
            t = th_make_cons(&spec->env, values[i], t);
    }
    push_constant(c, t);
    th_free(values);
}

/* {{A, B, ...}} */
static void compile_tuple_value(struct th_match_compiler *c, th_term tuple, bool body)
{
    size_t start = c->spec->code_count, count = th_tuple_arity(tuple);

    for (size_t i = count; i-- > 0;)
        th_match_compile_expression(c, th_tuple_elements(tuple)[i], body);
    make_of_values(c, start, TH_CODE_MAKE_TUPLE, count, count);
}

static void compile_list_value(struct th_match_compiler *c, th_term list, bool body)
{
    size_t start = c->spec->code_count, count = 0;

    for (; th_is_list(list); list = th_cell(list)[1], count++)
        th_match_compile_expression(c, th_cell(list)[0], body);
    th_match_compile_expression(c, list, body);
    make_of_values(c, start, TH_CODE_MAKE_LIST, count, count + 1);
}

/* The values below, the keys on top. If all values are constants, a BEAM reports all faults of the
 * keys twice. */
static void compile_map_value(struct th_match_compiler *c, th_term map, bool body)
{
    size_t start = c->spec->code_count, count = th_map_size(map), faults, end;
    bool constant;

    for (size_t i = count; i-- > 0;)
        th_match_compile_expression(c, th_map_values(map)[i], body);
    constant = only_constants(c, start, count);
    faults = c->faults.count;
    for (size_t i = count; i-- > 0;)
        th_match_compile_expression(c, th_map_keys(map)[i], body);
    end = c->faults.count;
    for (size_t i = faults; constant && i < end; i++)
        th_match_repeat_fault(c, i);
    make_of_values(c, start, TH_CODE_MAKE_MAP, count, 2 * count);
}

static void push_variable(struct th_match_compiler *c, const struct th_match_variable *variable)
{
    if (variable->slot == TH_MATCH_WHOLE_TARGET)
        th_match_emit(c, TH_CODE_TARGET, 0, 0);
    else
        th_match_emit(c, TH_CODE_VARIABLE, 0, variable->slot);
}

static void compile_atom(struct th_match_compiler *c, th_term atom)
{
    const struct th_match_variable *variable;
    uint32_t number;

    if (atom == TH_AM(target)) {
        th_match_emit(c, TH_CODE_TARGET, 0, 0);
    } else if (atom == TH_AM(bindings)) {
        for (size_t i = 0; i < c->variable_count; i++) /* by rising numbers */
            push_variable(c, &c->variables[i]);
        push_constant(c, TH_NIL);
        th_match_emit(c, TH_CODE_MAKE_LIST, 0, c->variable_count);
    } else if (!th_match_variable_number(atom, &number)) {
        push_constant(c, atom);
    } else {
        variable = th_match_find_variable(c, number);
        if (variable)
            push_variable(c, variable);
        else
            th_match_add_fault(c, atom, "Variable $%u is unbound.", number);
    }
}

/* --- Functions -------------------------------------------------------------------------------- */

/* Adds the fault of a special form with a wrong number of operands. */
static void wrong_count(struct th_match_compiler *c, const struct th_match_function *f,
                        th_term call)
{
    const char *how = "wrong number of arguments";

    if (strcmp(f->name, "const") == 0)
        how = "more than one argument";
    else if (f->most == 0)
        how = "arguments";
    else if (f->most == TH_MATCH_ANY_COUNT)
        how = NULL;
    th_match_add_fault(c, call, "Special form '%s' called %s%s in %s%s", f->name,
                       how ? "with " : "without arguments", how ? how : "", th_match_shown(c, call),
                       f->call == th_match_current_stacktrace ? "" : ".");
}

/* A BEAM's faults use another name for one special form. */
static const char *special_name(const struct th_match_function *f)
{
    return strcmp(f->name, "set_seq_token") == 0 ? "set_seq_trace" : f->name;
}

/* Checks a call. FOUND takes the number of operands, NAMED has the name; both may be NULL. */
static bool check_match_function(struct th_match_compiler *c, const struct th_match_function *found,
                                 const struct th_match_function *named, th_term call, bool body)
{
    const struct th_match_function *f = found ? found : named;
    unsigned other = c->spec->kind == TH_MATCH_SEND      ? TH_TRAIT_NO_SEND
                     : c->spec->kind == TH_MATCH_RECEIVE ? TH_TRAIT_NO_RECEIVE
                                                         : 0;
    th_term name = th_tuple_elements(call)[0];
    size_t count = th_tuple_arity(call) - 1;

    if (!f || (!found && !(f->traits & TH_TRAIT_SPECIAL)))
        th_match_add_fault(c, call, "Function %s/%zu does_not_exist.", th_match_shown(c, name),
                           count);
    else if (f->traits & other)
        th_match_add_fault(c, call, "Special form '%s' used in wrong dialect.", special_name(f));
    else if (!body && f->traits & TH_TRAIT_BODY && f->traits & TH_TRAIT_SPECIAL)
        th_match_add_fault(c, call, "Special form '%s' called in guard context.", special_name(f));
    else if (!body && f->traits & TH_TRAIT_BODY)
        th_match_add_fault(c, call, "Function %s/%zu cannot be called in this context.", f->name,
                           count);
    else if (!found)
        wrong_count(c, f, call);
    else
        return true;
    return false;
}

/* Compiles {'andalso', A, B, C} as A andalso (B andalso C); one operand stands for itself. */
static void compile_short(struct th_match_compiler *c, th_term call, bool body,
                          enum th_match_code code, enum th_match_code join)
{
    const th_term *operands = th_tuple_elements(call);
    size_t last = th_tuple_arity(call) - 1;
    size_t *jumps = th_alloc((last + 1) * sizeof *jumps);

    for (size_t i = 1; i <= last; i++) {
        th_match_compile_expression(c, operands[i], body);
        if (i < last)
            jumps[i] = th_match_emit(c, code, 0, 0);
    }
    for (size_t i = last - 1; i > 0; i--)
        c->spec->code[jumps[i]].operand = (uint32_t)th_match_emit(c, join, 0, 0);
    th_free(jumps);
}

static void compile_call(struct th_match_compiler *c, th_term call, bool body)
{
    const struct th_match_function *named;
    const th_term *words = th_tuple_elements(call);
    size_t count = th_tuple_arity(call) - 1;
    const struct th_match_function *f = th_match_function_find(words[0], count, &named);
    const char *fault = NULL;

    if (!check_match_function(c, f, named, call, body))
        return;
    c->spec->changes |= (f->traits & TH_TRAIT_CHANGES) != 0;
    if (f->call == th_match_current_stacktrace && count == 1) /* a depth */
        fault = !th_is_small(words[1])         ? "non small"
                : th_small_value(words[1]) < 0 ? "negative integer"
                                               : NULL;
    if (fault) {
        th_match_add_fault(c, call, "Special form '%s' called with %s argument.", f->name, fault);
    } else if (f->call) {
        for (size_t i = count; i > 0; i--)
            th_match_compile_expression(c, words[i], body);
        if (count > TH_MATCH_SLOTS)
            th_match_add_fault(c, TH_NONE, "It is too large: a call of %zu operands.", count);
        th_match_emit(c, TH_CODE_CALL, count, (size_t)(f - th_match_functions));
    } else if (strcmp(f->name, "const") == 0) {
        push_constant(c, words[1]);
    } else if (strcmp(f->name, "orelse") == 0) {
        compile_short(c, call, body, TH_CODE_ORELSE, TH_CODE_JOIN_ORELSE);
    } else {
        compile_short(c, call, body, TH_CODE_ANDALSO, TH_CODE_JOIN_ANDALSO);
    }
}

/* Compiles a tuple: a call, {Name, ...}, or a tuple in a tuple, {{A, ...}}, which is a value. */
static void compile_braces(struct th_match_compiler *c, th_term t, bool body)
{
    const th_term *words = th_tuple_elements(t);

    if (th_tuple_arity(t) > 0 && th_is_atom(words[0]) &&
        !th_match_variable_number(words[0], &(uint32_t){0}))
        compile_call(c, t, body);
    else if (th_tuple_arity(t) == 1 && th_is_tuple(words[0]))
        compile_tuple_value(c, words[0], body);
    else
        th_match_add_fault(
            c, t, "%s is neither a function call, nor a tuple (tuples are written {{ ... }}).",
            th_match_shown(c, t));
}

void th_match_compile_expression(struct th_match_compiler *c, th_term t, bool body)
{
    bool braces = th_is_tuple(t);

    if (!braces && !th_is_list(t) && !th_is_map(t)) {
        if (th_is_atom(t))
            compile_atom(c, t);
        else
            push_constant(c, t);
        return;
    }
    if (!th_match_descend(c, t))
        return;
    if (braces)
        compile_braces(c, t, body);
    else if (th_is_list(t))
        compile_list_value(c, t, body);
    else
        compile_map_value(c, t, body);
    c->depth--;
}
