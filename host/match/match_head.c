/* Compiles heads: patterns that take the arguments apart. */
#include "match_internal.h"

#include "host/term/map.h"

static bool is_anything(th_term t)
{
    return t == TH_AM(anything);
}

bool th_match_descend(struct th_match_compiler *c, th_term t)
{
    if (c->depth == TH_MATCH_DEPTH) {
        th_match_add_fault(c, t, "It is nested more than %d deep.", TH_MATCH_DEPTH);
        return false;
    }
    c->depth++;
    return true;
}

static bool compile_pattern(struct th_match_compiler *c, th_term pattern, size_t level);

/* Compiles the pattern of a part of the open value; CODE gets the part. */
static bool compile_part(struct th_match_compiler *c, th_term pattern, enum th_match_code code,
                         size_t level, size_t operand)
{
    if (is_anything(pattern))
        return false;
    th_match_emit(c, code, level, operand);
    return compile_pattern(c, pattern, level + 1);
}

static bool compile_tuple_pattern(struct th_match_compiler *c, th_term tuple, size_t level)
{
    bool constant = true;

    th_match_emit(c, TH_CODE_TUPLE, level, th_tuple_arity(tuple));
    for (size_t i = 0; i < th_tuple_arity(tuple); i++)
        constant &= compile_part(c, th_tuple_elements(tuple)[i], TH_CODE_ELEMENT, level, i);
    return constant;
}

/* Cell by cell; the tail of a cell is opened at the same level. */
static bool compile_list_pattern(struct th_match_compiler *c, th_term list, size_t level)
{
    bool constant = true;

    for (;;) {
        th_match_emit(c, TH_CODE_CELL, level, 0);
        constant &= compile_part(c, th_cell(list)[0], TH_CODE_LIST_HEAD, level, 0);
        list = th_cell(list)[1];
        if (!th_is_list(list))
            return compile_part(c, list, TH_CODE_LIST_TAIL, level, 0) && constant;
        th_match_emit(c, TH_CODE_LIST_TAIL, level, 0);
    }
}

/* The named keys must be there; there may be others. */
static void compile_map_pattern(struct th_match_compiler *c, th_term map, size_t level)
{
    th_match_emit(c, TH_CODE_MAP, level, th_map_size(map));
    for (size_t i = 0; i < th_map_size(map); i++) {
        th_term key = th_map_keys(map)[i];
        th_match_emit(c, TH_CODE_KEY, level, th_match_constant(c, key));
        if (!is_anything(th_map_values(map)[i]))
            compile_pattern(c, th_map_values(map)[i], level + 1);
    }
}

/*
 * Compiles a test of the current value. True if only one term matches: such a pattern is compared
 * as a whole, and the code for its parts is dropped.
 */
static bool compile_pattern(struct th_match_compiler *c, th_term pattern, size_t level)
{
    size_t start = c->spec->code_count;
    const struct th_match_variable *variable;
    bool constant = false;
    uint32_t number;

    if (is_anything(pattern))
        return false;
    if (th_match_variable_number(pattern, &number)) {
        variable = th_match_find_variable(c, number);
        th_match_emit(c, variable ? TH_CODE_SAME : TH_CODE_BIND, 0,
                      variable ? variable->slot : c->slots);
        if (!variable)
            th_match_add_variable(c, number, (uint32_t)c->slots++);
        return false;
    }
    if (th_is_tuple(pattern) || th_is_list(pattern) || th_is_map(pattern)) {
        if (!th_match_descend(c, pattern))
            return false;
        if (th_is_tuple(pattern))
            constant = compile_tuple_pattern(c, pattern, level);
        else if (th_is_list(pattern))
            constant = compile_list_pattern(c, pattern, level);
        else
            compile_map_pattern(c, pattern, level);
        c->depth--;
        if (!constant)
            return false;
    }
    c->spec->code_count = start;
    th_match_emit(c, TH_CODE_IDENTICAL, 0, th_match_constant(c, pattern));
    return true;
}

/* --- Keys of maps ----------------------------------------------------------------------------- */

/* Terms that are still to be checked, the last one first. */
struct unseen {
    struct unseen_part {
        th_term term;
        size_t item; /* element of the head that contains it, from 1; 0: the head itself */
    } * items;
    size_t count, capacity;
};

static void see_later(struct unseen *unseen, th_term t, size_t item)
{
    if (!th_is_tuple(t) && !th_is_list(t) && !th_is_map(t))
        return;
    TH_ARRAY_GROW(unseen->items, unseen->count, unseen->capacity);
    unseen->items[unseen->count++] = (struct unseen_part){t, item};
}

/* False, with a fault, if a key is a variable or '_'. */
static bool check_keys(struct th_match_compiler *c, struct unseen *unseen, th_term map, size_t item)
{
    for (size_t i = 0; i < th_map_size(map); i++) {
        th_term key = th_map_keys(map)[i];
        bool variable = th_match_variable_number(key, &(uint32_t){0});
        if (variable || is_anything(key)) {
            c->place.item = item;
            th_match_add_fault(c, map, "%s found in map key.",
                               variable ? "Variable" : "Underscore");
            return false;
        }
        see_later(unseen, th_map_values(map)[i], item);
    }
    return true;
}

static bool match_head_check_part(struct th_match_compiler *c, struct unseen *unseen,
                                  struct unseen_part part)
{
    th_term t = part.term;

    if (th_is_map(t))
        return check_keys(c, unseen, t, part.item);
    for (; th_is_list(t); t = th_cell(t)[1])
        see_later(unseen, th_cell(t)[0], part.item);
    if (th_is_map(t))
        return check_keys(c, unseen, t, part.item);
    for (size_t i = 0; th_is_tuple(t) && i < th_tuple_arity(t); i++)
        see_later(unseen, th_tuple_elements(t)[i], part.item);
    return true;
}

/* Checks the keys of all maps in a head, in a BEAM's order: one level after the other, the last
 * part of each first. Ends at the first fault. */
static void check_maps(struct th_match_compiler *c, th_term head)
{
    struct unseen unseen = {0};
    bool good = true;

    if (th_is_map(head))
        see_later(&unseen, head, 0);
    for (size_t i = 0; th_is_tuple(head) && i < th_tuple_arity(head); i++)
        see_later(&unseen, th_tuple_elements(head)[i], i + 1);
    for (size_t i = 1; th_is_list(head); head = th_cell(head)[1], i++)
        see_later(&unseen, th_cell(head)[0], i);
    while (good && unseen.count > 0)
        good = match_head_check_part(c, &unseen, unseen.items[--unseen.count]);
    th_free(unseen.items);
}

/* --- Arguments -------------------------------------------------------------------------------- */

/* A new variable takes an argument as it is, known or not. */
static void compile_argument(struct th_match_compiler *c, th_term pattern, size_t i)
{
    uint32_t number;
    size_t start;

    th_match_mark(c, TH_MATCH_HEAD, i + 1);
    if (is_anything(pattern))
        return;
    if (th_match_variable_number(pattern, &number) && !th_match_find_variable(c, number)) {
        th_match_emit(c, TH_CODE_BIND_ARGUMENT, i, c->slots);
        th_match_add_variable(c, number, (uint32_t)c->slots++);
        return;
    }
    start = th_match_emit(c, TH_CODE_ARGUMENT, i, 0);
    compile_pattern(c, pattern, 0);
    c->spec->code[start].operand = (uint32_t)c->spec->code_count;
}

static void compile_arity(struct th_match_compiler *c, size_t count, bool at_least)
{
    th_match_emit(c, at_least ? TH_CODE_ARITY_LEAST : TH_CODE_ARITY, 0, count);
    if (count > TH_MATCH_SLOTS)
        th_match_add_fault(c, TH_NONE, "It is too large: a head of %zu elements.", count);
}

void th_match_compile_head(struct th_match_compiler *c, th_term head)
{
    th_term rest = head;
    size_t count = 0;
    uint32_t number;

    th_match_mark(c, TH_MATCH_HEAD, 0);
    check_maps(c, head);
    if (c->faults.count > 0)
        return;
    if (th_match_variable_number(head, &number)) {
        th_match_add_variable(c, number, TH_MATCH_WHOLE_TARGET);
    } else if (th_is_tuple(head)) { /* a BEAM takes a tuple for the list of its elements */
        compile_arity(c, th_tuple_arity(head), false);
        for (size_t i = 0; i < th_tuple_arity(head) && !c->faults.count; i++)
            compile_argument(c, th_tuple_elements(head)[i], i);
    } else if (th_is_list(head) || head == TH_NIL) {
        for (; th_is_list(rest); rest = th_cell(rest)[1])
            count++;
        compile_arity(c, count, is_anything(rest));
        for (size_t i = 0; i < count && !c->faults.count; i++, head = th_cell(head)[1])
            compile_argument(c, th_cell(head)[0], i);
    } else if (!is_anything(head)) {
        th_match_add_fault(c, head, "Match head is invalid in this context.");
    }
}
