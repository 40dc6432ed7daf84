/*
 * Two terms side by side, from where they begin to differ: for identity and order. Inside term/
 * only.
 */
#ifndef TH_COMPARE_INTERNAL_H
#define TH_COMPARE_INTERNAL_H

#include "word.h"

/* COUNT words of each of two terms, the first of which are not the same. */
struct th_rest {
    const th_term *a, *b;
    size_t count;
};

static inline bool th_term_are_tuples_of_one_size(th_term a, th_term b)
{
    return th_is_boxed(a) && th_is_boxed(b) && *th_term_box(a) == *th_term_box(b) &&
           th_term_subtag(a) == TH_TUPLE;
}

static inline bool th_term_are_lists(th_term a, th_term b)
{
    return th_is_list(a) && th_is_list(b);
}

/* The rest of two tuples of one size, from their first words that differ. */
static inline struct th_rest th_term_rest_of_tuples(th_term a, th_term b)
{
    const th_term *x = th_tuple_elements(a);
    const th_term *y = th_tuple_elements(b);
    size_t arity = th_tuple_arity(a);
    size_t i = 0;

    while (i < arity && x[i] == y[i])
        i++;
    return (struct th_rest){x + i, y + i, arity - i};
}

/* The rest of two lists: cells with different heads, or their tails where one is no list. */
static inline struct th_rest th_term_rest_of_lists(th_term a, th_term b)
{
    const th_term *x, *y;

    do {
        x = th_cell(a);
        y = th_cell(b);
        if (x[0] != y[0])
            return (struct th_rest){x, y, 2};
        a = x[1];
        b = y[1];
    } while (a != b && th_term_are_lists(a, b));
    return (struct th_rest){x + 1, y + 1, a != b};
}

/* The rest of A and B, if they are what is compared most: tuples of one size, or lists. */
static inline bool th_term_rest_of(th_term a, th_term b, struct th_rest *rest)
{
    if (th_term_are_tuples_of_one_size(a, b))
        *rest = th_term_rest_of_tuples(a, b);
    else if (th_term_are_lists(a, b))
        *rest = th_term_rest_of_lists(a, b);
    else
        return false;
    return true;
}

/* th_internal_hash() for keys of large maps, which must be plain (map_internal.h): *PLAIN is set to
 * false for others, and the result means nothing. */
uint64_t th_key_hash(th_term t, bool *plain);

#endif
