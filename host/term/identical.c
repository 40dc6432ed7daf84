/*
 * Whether two terms are identical: =:=, which is asked far more often than for their order.
 *
 * Both terms are walked at once, pairs of arrays of equal length from their first words to their
 * last. What an array holds last is followed at once; the array goes on the stack only while more
 * of it is left, so that flat terms, and lists, need no stack.
 */
#include "compare.h"

#include "compare_internal.h"
#include "map_internal.h"
#include "stack.h"

#include <string.h>

enum { FIRST_RUNS = 16 };

struct walk {
    struct th_stack stack; /* of runs */
    struct th_rest first[FIRST_RUNS];
};

static void push(struct walk *walk, struct th_rest run)
{
    *(struct th_rest *)th_stack_push(&walk->stack, sizeof run) = run;
}

/* Bit strings and references can be identical with different headers; others cannot. */
static bool may_differ_in_header(th_term t)
{
    return th_is_bitstring(t) || th_is_ref(t);
}

/* Large maps of one size: the keys now, the values later. Keys that stand in a hashed table are
 * compared without their order, and hold no maps, so that there is no recursion. */
static bool open_tables(struct walk *walk, th_term a, th_term b)
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
            push(walk, (struct th_rest){th_map_table_values(x) + i, th_map_table_values(y) + k, 1});
    }
    return true;
}

/*
 * What A and B hold, of one kind and size, in *INSIDE: false if they are of different ones. Terms
 * that hold no others are compared here; *INSIDE is then empty.
 */
static bool open_both(struct walk *walk, th_term a, th_term b, struct th_rest *inside)
{
    const th_term *x, *y;

    inside->count = 0;
    if (th_is_list(a) && th_is_list(b))
        *inside = (struct th_rest){th_cell(a), th_cell(b), 2};
    if (!th_is_boxed(a) || !th_is_boxed(b))
        return inside->count > 0;
    x = th_term_box(a);
    y = th_term_box(b);
    if (*x != *y && !may_differ_in_header(a))
        return false;
    if (th_is_tuple(a)) {
        *inside = (struct th_rest){x + 1, y + 1, th_header_words(*x)};
        return true;
    }
    if (!th_is_map(a))
        return th_compare_exact(a, b) == 0;
    if (th_map_size(a) != th_map_size(b))
        return false;
    if (th_map_size(a) > TH_MAP_SMALL)
        return open_tables(walk, a, b);
    *inside = (struct th_rest){th_map_keys(a), th_map_keys(b), 2 * th_map_size(a)};
    return true;
}

/* Goes past the words that are the same, and past the first that are not: *A and *B. False if all
 * are the same. */
static bool first_that_differ(struct th_rest *run, th_term *a, th_term *b)
{
    while (run->count > 0) {
        *a = *run->a++;
        *b = *run->b++;
        run->count--;
        if (*a != *b)
            return true;
    }
    return false;
}

/* Whether the words of RUN, and all that they hold, are the same. */
__attribute__((noinline)) static bool walk_both(struct th_rest run)
{
    struct walk walk;
    bool same = true;

    th_stack_begin(&walk.stack, walk.first, FIRST_RUNS);
    for (;;) {
        struct th_rest inside;
        th_term a, b;

        if (first_that_differ(&run, &a, &b)) {
            if (th_is_immediate(a & b) || !open_both(&walk, a, b, &inside)) {
                same = false;
                break;
            }
            if (run.count > 0)
                push(&walk, run);
            run = inside;
        } else if (walk.stack.depth > 0) {
            run = *(struct th_rest *)th_stack_top(&walk.stack, sizeof run);
            walk.stack.depth--;
        } else {
            break;
        }
    }
    th_stack_end(&walk.stack);
    return same;
}

/* Whether A and B are leaves of one kind and size whose words tell whether they are identical. */
static inline bool are_bare_words(th_term a, th_term b)
{
    return th_is_boxed(a) && th_is_boxed(b) && *th_term_box(a) == *th_term_box(b) &&
           (th_term_subtag(a) == TH_HEAP_BINARY || th_is_big(a));
}

static bool have_same_words(th_term a, th_term b)
{
    return memcmp(th_term_box(a) + 1, th_term_box(b) + 1,
                  th_header_words(*th_term_box(a)) * sizeof a) == 0;
}

/* Neither tuples of one size nor lists: what is seldom asked for. */
__attribute__((noinline)) static bool are_others_identical(th_term a, th_term b)
{
    return are_bare_words(a, b) ? have_same_words(a, b) : walk_both((struct th_rest){&a, &b, 1});
}

/* Goes as far as only what comes last in a term must be followed. A and B are not both immediates.
 */
bool th_identical_slow(th_term a, th_term b)
{
    do {
        struct th_rest rest;

        if (!th_term_rest_of(a, b, &rest))
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
