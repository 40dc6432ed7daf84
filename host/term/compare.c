/*
 * The order of terms, and identity.
 *
 * A walk compares two terms side by side. A stack holds the runs that are not compared yet: pairs
 * of arrays of equal length (the elements of two tuples, the keys of two maps); the first pair that
 * is not equal decides. A run leaves the stack with its last pair, so long lists need no room.
 */
#include "compare.h"

#include "atom.h"
#include "integer_internal.h"
#include "make.h"
#include "map.h"
#include "map_internal.h"
#include "stack.h"

#include <string.h>

enum { FIRST_RUNS = 16 };

struct run {
    const th_term *a, *b;
    const uint32_t *a_order, *b_order; /* the positions to visit, NULL: 0, 1, ... */
    size_t next, count;                /* next < count */
    bool exact;
};

struct walk {
    struct th_stack stack;         /* of runs */
    struct th_sorted_keys *sorted; /* the memory of the runs' orders */
    struct run first[FIRST_RUNS];
};

/* COUNT words of each of two terms, of which the first differ. */
struct rest {
    const th_term *a, *b;
    size_t count;
};

/* Returns the rest of two lists: cells with different heads, or the tails if one is no list. */
static inline struct rest rest_of_lists(th_term a, th_term b)
{
    const th_term *x, *y;

    do {
        x = th_cell(a);
        y = th_cell(b);
        if (x[0] != y[0])
            return (struct rest){x, y, 2};
        a = x[1];
        b = y[1];
    } while (a != b && th_is_list(a) && th_is_list(b));
    return (struct rest){x + 1, y + 1, a != b};
}

/* Finds the rest of A and B if both have the most frequent types: tuples of one size, from the
 * first different words on, or lists. */
static inline bool find_rest(th_term a, th_term b, struct rest *rest)
{
    if (th_is_boxed(a) && th_is_boxed(b) && *th_term_box(a) == *th_term_box(b) &&
        th_term_subtag(a) == TH_TUPLE) {
        const th_term *x = th_tuple_elements(a);
        const th_term *y = th_tuple_elements(b);
        size_t arity = th_tuple_arity(a);
        size_t i = 0;

        while (i < arity && x[i] == y[i])
            i++;
        *rest = (struct rest){x + i, y + i, arity - i};
        return true;
    }
    if (!th_is_list(a) || !th_is_list(b))
        return false;
    *rest = rest_of_lists(a, b);
    return true;
}

/* In the order of types. */
enum rank { NUMBER, ATOM, REF, FUN, PORT, PID, TUPLE, MAP, NIL, LIST, BITS };

static enum rank rank_of(th_term t)
{
    static const unsigned char boxed[16] = {
        [TH_TUPLE >> 2] = TUPLE,      [TH_POS_BIG >> 2] = NUMBER,
        [TH_NEG_BIG >> 2] = NUMBER,   [TH_REF >> 2] = REF,
        [TH_FUN >> 2] = FUN,          [TH_FLOAT >> 2] = NUMBER,
        [TH_EXPORT >> 2] = FUN,       [TH_SHARED_BINARY >> 2] = BITS,
        [TH_HEAP_BINARY >> 2] = BITS, [TH_SUB_BINARY >> 2] = BITS,
        [TH_EXTERNAL_PID >> 2] = PID, [TH_EXTERNAL_PORT >> 2] = PORT,
        [TH_MAP >> 2] = MAP,
    };

    if (th_is_boxed(t))
        return (enum rank)boxed[th_term_subtag(t) >> 2];
    if (th_is_list(t))
        return LIST;
    if (th_is_small(t))
        return NUMBER;
    if (th_is_atom(t))
        return ATOM;
    return th_is_local_pid(t) ? PID : th_is_local_port(t) ? PORT : NIL;
}

static int order_of(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static void compare_push(struct walk *walk, struct run run)
{
    if (run.count == 0)
        return;
    *(struct run *)th_stack_push(&walk->stack, sizeof run) = run;
}

static int compare_small(th_term a, th_term b)
{
    return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
}

static int compare_integers(th_term a, th_term b)
{
    struct th_limbs x, y;
    int order;

    if (th_is_small(a) && th_is_small(b))
        return compare_small(a, b);
    th_get_limbs(a, &x);
    th_get_limbs(b, &y);
    if (x.negative != y.negative)
        return x.negative ? -1 : 1;
    order = th_term_limbs_compare(&x, &y);
    return x.negative ? -order : order;
}

static int compare_numbers(th_term a, th_term b, bool exact)
{
    bool a_float = th_is_float(a);
    bool b_float = th_is_float(b);

    if (a_float && b_float)
        return (th_float_value(a) > th_float_value(b)) - (th_float_value(a) < th_float_value(b));
    if (!a_float && !b_float)
        return compare_integers(a, b);
    if (exact)
        return a_float ? 1 : -1;
    return a_float ? -th_term_big_compare_float(b, th_float_value(a))
                   : th_term_big_compare_float(a, th_float_value(b));
}

/* Compares nodes by name, then by creation; 0, this node, as compare.h defines. */
static int compare_nodes(th_term a, uint32_t a_creation, th_term b, uint32_t b_creation)
{
    int order = th_atom_compare(a ? a : TH_AM(nonode), b ? b : TH_AM(nonode));

    if (order == 0)
        order = order_of(a_creation, b_creation);
    return order ? order : (a != TH_NONE) - (b != TH_NONE);
}

static int compare_refs(th_term a, th_term b)
{
    struct th_ref_parts x, y;
    int order;

    th_get_ref(a, &x);
    th_get_ref(b, &y);
    order = compare_nodes(x.node, x.creation, y.node, y.creation);
    for (size_t i = TH_REF_WORDS; order == 0 && i-- > 0;)
        order = order_of(x.words[i], y.words[i]);
    return order;
}

static int compare_ports(th_term a, th_term b)
{
    struct th_port_parts x, y;
    int order;

    th_get_port(a, &x);
    th_get_port(b, &y);
    order = compare_nodes(x.node, x.creation, y.node, y.creation);
    return order ? order : order_of(x.id, y.id);
}

/* Compares pids by number before node, unlike ports and references. */
static int compare_pids(th_term a, th_term b)
{
    struct th_pid_parts x, y;
    int order;

    th_get_pid(a, &x);
    th_get_pid(b, &y);
    order = order_of((uint64_t)x.serial << 32 | x.number, (uint64_t)y.serial << 32 | y.number);
    return order ? order : compare_nodes(x.node, x.creation, y.node, y.creation);
}

/* Funs come before exports. Arity and unique value come last: the BEAM compares them for =:=
 * only. */
static int compare_funs(struct walk *walk, th_term a, th_term b, bool exact)
{
    const th_term *words = th_term_box(a), *others = th_term_box(b);
    struct th_fun_parts x, y;
    int order;

    if (th_term_is(a, TH_EXPORT) != th_term_is(b, TH_EXPORT))
        return th_term_is(a, TH_EXPORT) ? 1 : -1;
    order = th_atom_compare(words[1], others[1]); /* the module of both kinds */
    if (th_term_is(a, TH_EXPORT)) {
        if (order == 0)
            order = th_atom_compare(words[2], others[2]);
        return order ? order : compare_small(words[3], others[3]);
    }
    th_get_fun(a, &x);
    th_get_fun(b, &y);
    if (order == 0)
        order = order_of(x.index, y.index);
    if (order == 0)
        order = compare_integers(x.old_unique, y.old_unique);
    if (order == 0)
        order = order_of(x.free_count, y.free_count);
    if (order == 0)
        order = order_of(x.arity, y.arity);
    if (order == 0)
        order = memcmp(x.unique, y.unique, sizeof x.unique);
    if (order == 0)
        compare_push(walk, (struct run){x.free, y.free, NULL, NULL, 0, x.free_count, exact});
    return order;
}

static int compare_bits(th_term a, th_term b)
{
    const unsigned char *x = th_bits_data(a), *y = th_bits_data(b);
    size_t x_bits = th_bits_size(a), y_bits = th_bits_size(b), common;
    int order;

    common = x_bits < y_bits ? x_bits : y_bits;
    order = common < 8 ? 0 : memcmp(x, y, common / 8);
    if (order == 0 && common % 8)
        order = (x[common / 8] >> (8 - common % 8)) - (y[common / 8] >> (8 - common % 8));
    return order ? order : order_of(x_bits, y_bits);
}

/* Compares by size, then by all keys, always exactly, then by the values in the order of the
 * keys. */
static int compare_maps(struct walk *walk, th_term a, th_term b, bool exact)
{
    size_t count = th_map_size(a);
    struct run run = {.count = count, .exact = exact};

    if (count != th_map_size(b))
        return count < th_map_size(b) ? -1 : 1;
    if (memcmp(th_map_keys(a), th_map_keys(b), count * sizeof a) == 0 &&
        memcmp(th_map_values(a), th_map_values(b), count * sizeof a) == 0)
        return 0; /* the usual case for a map and its copy */
    run.a_order = th_map_order(a, &walk->sorted);
    run.b_order = th_map_order(b, &walk->sorted);
    run.a = th_map_values(a);
    run.b = th_map_values(b);
    compare_push(walk, run);
    run.a = th_map_keys(a);
    run.b = th_map_keys(b);
    run.exact = true;
    compare_push(walk, run);
    return 0;
}

/* Compares two terms without their parts; pushes the parts. */
static int compare_shallow(struct walk *walk, th_term a, th_term b, bool exact)
{
    enum rank rank = rank_of(a);
    enum rank other = rank_of(b);
    struct rest rest;
    size_t count;

    if (rank != other)
        return rank < other ? -1 : 1;
    switch (rank) {
    case NUMBER:
        return compare_numbers(a, b, exact);
    case ATOM:
        return th_atom_compare(a, b);
    case REF:
        return compare_refs(a, b);
    case FUN:
        return compare_funs(walk, a, b, exact);
    case PORT:
        return compare_ports(a, b);
    case PID:
        return compare_pids(a, b);
    case TUPLE:
        count = th_tuple_arity(a);
        if (count == th_tuple_arity(b))
            compare_push(walk, (struct run){.a = th_tuple_elements(a),
                                            .b = th_tuple_elements(b),
                                            .count = count,
                                            .exact = exact});
        return order_of(count, th_tuple_arity(b));
    case MAP:
        return compare_maps(walk, a, b, exact);
    case LIST:
        rest = rest_of_lists(a, b);
        compare_push(walk,
                     (struct run){.a = rest.a, .b = rest.b, .count = rest.count, .exact = exact});
        return 0;
    case BITS:
        return compare_bits(a, b);
    case NIL:
        break;
    }
    return 0;
}

__attribute__((noinline)) static int compare(th_term a, th_term b, bool exact)
{
    struct walk walk;
    int order;

    th_stack_begin(&walk.stack, walk.first, FIRST_RUNS);
    walk.sorted = NULL;
    while ((order = a == b ? 0 : compare_shallow(&walk, a, b, exact)) == 0 &&
           walk.stack.depth > 0) {
        struct run *run = th_stack_top(&walk.stack, sizeof *run);
        size_t i = run->next++;

        a = run->a[run->a_order ? run->a_order[i] : i];
        b = run->b[run->b_order ? run->b_order[i] : i];
        exact = run->exact;
        walk.stack.depth -= run->next == run->count;
    }
    th_stack_end(&walk.stack);
    th_sorted_keys_free(walk.sorted);
    return order;
}

/* True, with *ORDER set, if A and B, which differ, have the most frequent types of keys and
 * elements, which need no walk. */
static inline bool are_simple(th_term a, th_term b, int *order)
{
    if (th_is_small(a) && th_is_small(b))
        *order = compare_small(a, b);
    else if (th_is_atom(a) && th_is_atom(b))
        *order = th_atom_compare(a, b);
    else
        return false;
    return true;
}

/* Continues while only the last part of each term is left to compare; else starts a walk. */
static inline int compare_quickly(th_term a, th_term b, bool exact)
{
    int order = 0;

    while (a != b && !are_simple(a, b, &order)) {
        struct rest rest;

        if (!find_rest(a, b, &rest))
            return compare(a, b, exact);
        if (rest.count == 0)
            return 0;
        if (rest.count > 1 && !are_simple(*rest.a, *rest.b, &order))
            return compare(a, b, exact);
        a = *rest.a;
        b = *rest.b;
    }
    return order;
}

int th_compare(th_term a, th_term b)
{
    return compare_quickly(a, b, false);
}

int th_compare_exact(th_term a, th_term b)
{
    return compare_quickly(a, b, true);
}

/* --- Identity --------------------------------------------------------------------------------- */

/*
 * =:= is far more frequent than the order, so it has a walk of its own. The walk compares two terms
 * side by side, as pairs of arrays of equal length, from the first word to the last. The last part
 * of an array is followed at once; an array goes on the stack only if more of it is left. So flat
 * terms and lists need no stack.
 */

/* Compares large maps of one size: the keys now, the values later. Keys of a hashed table are
 * compared without their order, and contain no maps, so that there is no recursion. */
static bool open_tables(struct th_stack *stack, th_term a, th_term b)
{
    struct th_map_table *x = th_map_table(a);
    struct th_map_table *y = th_map_table(b);
    size_t count = th_map_size(a);

    if (!th_map_table_is_hashed(x) || !th_map_table_is_hashed(y))
        return th_compare_exact(a, b) == 0;
    for (size_t i = 0; i < count; i++) {
        ptrdiff_t k =
            x->words[i] == y->words[i] ? (ptrdiff_t)i : th_map_table_find(y, count, x->words[i]);
        if (k == TH_NOT_THERE)
            return false;
        if (th_map_table_values(x)[i] != th_map_table_values(y)[k])
            *(struct rest *)th_stack_push(stack, sizeof(struct rest)) =
                (struct rest){th_map_table_values(x) + i, th_map_table_values(y) + k, 1};
    }
    return true;
}

/*
 * Stores the parts of A and B in *INSIDE if the terms have one kind and size; returns false if they
 * differ. Terms without parts are compared here; *INSIDE is empty then.
 */
static bool open_both(struct th_stack *stack, th_term a, th_term b, struct rest *inside)
{
    const th_term *x = th_term_box(a), *y = th_term_box(b);

    *inside = (struct rest){th_cell(a), th_cell(b), 2};
    if (th_is_list(a) && th_is_list(b))
        return true;
    inside->count = 0;
    if (!th_is_boxed(a) || !th_is_boxed(b))
        return false;
    /* Only these may differ in *x. */
    if (*x != *y && !th_is_bitstring(a) && !th_is_ref(a) && !(th_is_map(a) && th_is_map(b)))
        return false;
    if (th_is_tuple(a)) {
        *inside = (struct rest){x + 1, y + 1, th_header_words(*x)};
        return true;
    }
    if (!th_is_map(a))
        return th_compare_exact(a, b) == 0;
    if (th_map_size(a) != th_map_size(b))
        return false;
    if (th_map_size(a) > TH_MAP_SMALL)
        return open_tables(stack, a, b);
    *inside = (struct rest){th_map_keys(a), th_map_keys(b), 2 * th_map_size(a)};
    return true;
}

/* True if the words of RUN, and all their parts, are identical. */
__attribute__((noinline)) static bool walk_both(struct rest run)
{
    struct rest first[FIRST_RUNS];
    struct th_stack stack;
    bool same = true;

    th_stack_begin(&stack, first, FIRST_RUNS);
    while (same) {
        struct rest inside;
        th_term a, b;

        if (run.count > 0) {
            a = *run.a++;
            b = *run.b++;
            run.count--;
            if (a == b)
                continue;
            same = !th_is_immediate(a & b) && open_both(&stack, a, b, &inside);
            if (!same)
                break;
            if (run.count > 0)
                *(struct rest *)th_stack_push(&stack, sizeof run) = run;
            run = inside;
        } else if (stack.depth > 0) {
            run = *(struct rest *)th_stack_top(&stack, sizeof run);
            stack.depth--;
        } else {
            break;
        }
    }
    th_stack_end(&stack);
    return same;
}

/* Handles the rare types, neither tuples of one size nor lists. For heap binaries and bignums with
 * the same header, the words decide. */
__attribute__((noinline)) static bool are_others_identical(th_term a, th_term b)
{
    if (th_is_boxed(a) && th_is_boxed(b) && *th_term_box(a) == *th_term_box(b) &&
        (th_term_subtag(a) == TH_HEAP_BINARY || th_is_big(a)))
        return memcmp(th_term_box(a) + 1, th_term_box(b) + 1,
                      th_header_words(*th_term_box(a)) * sizeof a) == 0;
    return walk_both((struct rest){&a, &b, 1});
}

/* Continues while only the last part of each term is left to compare. A and B are not both
 * immediates. */
bool th_identical_slow(th_term a, th_term b)
{
    do {
        struct rest rest;

        if (!find_rest(a, b, &rest))
            return are_others_identical(a, b);
        if (rest.count == 0)
            return true;
        a = *rest.a;
        b = *rest.b;
        if (rest.count > 1 && !th_is_immediate(a & b))
            return walk_both(rest);
    } while (!th_is_immediate(a & b));
    return false;
}
