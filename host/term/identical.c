/*
 * Whether two terms are identical: =:=, which is asked far more often than for their order.
 *
 * Both terms are walked at once, pairs of arrays of equal length from their first words to their
 * last. What an array holds last is followed at once; the array goes on the stack only while more
 * of it is left, so that flat terms, and lists, need no stack.
 */
#include "compare.h"

#include "map.h"
#include "stack.h"

#include <string.h>

enum { FIRST_RUNS = 16 };

/* Words of two terms that must be the same or identical terms. */
struct run {
    const th_term *a, *b;
    size_t count;
};

struct walk {
    struct run *runs;
    size_t depth, capacity;
    struct run first[FIRST_RUNS];
};

static void push(struct walk *walk, struct run run)
{
    if (walk->depth == walk->capacity)
        walk->runs = th_stack_grow(walk->runs, walk->first, &walk->capacity, sizeof run);
    walk->runs[walk->depth++] = run;
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
            push(walk, (struct run){th_map_table_values(x) + i, th_map_table_values(y) + k, 1});
    }
    return true;
}

/*
 * What A and B hold, of one kind and size, in *INSIDE: false if they are of different ones. Terms
 * that hold no others are compared here; *INSIDE is then empty.
 */
static bool open_both(struct walk *walk, th_term a, th_term b, struct run *inside)
{
    const th_term *x, *y;

    inside->count = 0;
    if (th_is_list(a) && th_is_list(b))
        *inside = (struct run){th_cell(a), th_cell(b), 2};
    if (!th_is_boxed(a) || !th_is_boxed(b))
        return inside->count > 0;
    x = th_box(a);
    y = th_box(b);
    if (*x != *y && !may_differ_in_header(a))
        return false;
    if (th_is_tuple(a)) {
        *inside = (struct run){x + 1, y + 1, th_header_words(*x)};
        return true;
    }
    if (!th_is_map(a))
        return th_compare_exact(a, b) == 0;
    if (th_map_size(a) != th_map_size(b))
        return false;
    if (th_map_size(a) > TH_MAP_SMALL)
        return open_tables(walk, a, b);
    *inside = (struct run){th_map_keys(a), th_map_keys(b), 2 * th_map_size(a)};
    return true;
}

/* Goes past the words that are the same, and past the first that are not: *A and *B. False if all
 * are the same. */
static bool first_that_differ(struct run *run, th_term *a, th_term *b)
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
static bool walk_both(struct run run)
{
    struct walk walk;
    bool same = true;

    walk.runs = walk.first;
    walk.depth = 0;
    walk.capacity = FIRST_RUNS;
    while (same) {
        struct run inside;
        th_term a, b;

        if (first_that_differ(&run, &a, &b)) {
            same = !th_is_immediate(a & b) && open_both(&walk, a, b, &inside);
            if (run.count > 0)
                push(&walk, run);
            run = inside;
        } else if (walk.depth > 0) {
            run = walk.runs[--walk.depth];
        } else {
            break;
        }
    }
    th_stack_free(walk.runs, walk.first);
    return same;
}

/* What A and B hold, if they are what is compared most: tuples of one size, list cells. */
static inline bool open_usual(th_term a, th_term b, struct run *inside)
{
    if (th_is_tuple(a) && th_is_boxed(b) && *th_box(a) == *th_box(b)) {
        *inside = (struct run){th_tuple_elements(a), th_tuple_elements(b), th_tuple_arity(a)};
        return true;
    }
    if (!th_is_list(a) || !th_is_list(b))
        return false;
    *inside = (struct run){th_cell(a), th_cell(b), 2};
    return true;
}

/* Whether A and B are leaves of one kind and size whose words tell whether they are identical. */
static inline bool are_bare_words(th_term a, th_term b)
{
    return th_is_boxed(a) && th_is_boxed(b) && *th_box(a) == *th_box(b) &&
           (th_subtag(a) == TH_HEAP_BINARY || th_is_big(a));
}

static bool have_same_words(th_term a, th_term b)
{
    return memcmp(th_box(a) + 1, th_box(b) + 1, th_header_words(*th_box(a)) * sizeof a) == 0;
}

/* Goes as far as only what comes last in a term must be followed. */
bool th_identical_slow(th_term a, th_term b)
{
    struct run run;

    while (!th_is_immediate(a & b)) {
        if (are_bare_words(a, b))
            return have_same_words(a, b);
        if (!open_usual(a, b, &run))
            return walk_both((struct run){&a, &b, 1});
        while (run.count > 0 && *run.a == *run.b) {
            run.a++;
            run.b++;
            run.count--;
        }
        if (run.count == 0)
            return true;
        a = *run.a;
        b = *run.b;
        if (run.count > 1 && !th_is_immediate(a & b))
            return walk_both(run);
    }
    return false;
}
