#include "held.h"

#include "../kit/loss.h"

#include <stdlib.h>
#include <string.h>

/* Marks of the tracer need a bit of a number. */
enum { SLOTS_MOST = 1 << 30 };

/* Doubles the slots. False if there is no memory. */
static bool grow_forest(struct forest *forest)
{
    uint32_t size = forest->size ? 2 * forest->size : 64;
    struct held *slots = size <= SLOTS_MOST ? realloc(forest->slots, size * sizeof *slots) : NULL;

    if (!slots) {
        loss_add();
        return false;
    }
    forest->slots = slots;
    forest->size = size;
    forest->used += !forest->used; /* number 0 is none */
    return true;
}

uint32_t held_add(struct forest *forest, uint32_t parent, const struct mfa *mfa, uint32_t depth)
{
    uint32_t number = forest->unused;
    struct held *above;

    if (number)
        forest->unused = forest->slots[number].next;
    else if (forest->used < forest->size || grow_forest(forest))
        number = forest->used++;
    else
        return 0;
    forest->slots[number] =
        (struct held){.mfa = *mfa, .parent = parent, .depth = depth, .weight = 1, .calls = 1};
    if (!parent)
        return number;
    above = &forest->slots[parent];
    forest->slots[number].before = above->last;
    if (above->last)
        forest->slots[above->last].next = number;
    else
        above->first = number;
    above->last = number;
    return number;
}

uint32_t held_next(const struct forest *forest, uint32_t root, uint32_t number)
{
    const struct held *slots = forest->slots;

    if (slots[number].first)
        return slots[number].first;
    while (number != root && !slots[number].next)
        number = slots[number].parent;
    return number == root ? 0 : slots[number].next;
}

/* Frees the slot. Returns its weight. */
static size_t free_slot(struct forest *forest, uint32_t number)
{
    struct held *held = &forest->slots[number];

    free(held->arguments);
    free(held->outcome);
    held->arguments = held->outcome = NULL;
    held->next = forest->unused;
    forest->unused = number;
    return held->weight;
}

static void unlink_slot(struct forest *forest, uint32_t number)
{
    struct held *held = &forest->slots[number], *above = &forest->slots[held->parent];

    if (held->before)
        forest->slots[held->before].next = held->next;
    else if (held->parent)
        above->first = held->next;
    if (held->next)
        forest->slots[held->next].before = held->before;
    else if (held->parent)
        above->last = held->before;
}

size_t held_drop(struct forest *forest, uint32_t number, uint64_t *calls)
{
    uint32_t at = number, after;
    struct held *slots = forest->slots;
    size_t weight = 0;

    unlink_slot(forest, number);
    /* Calls are freed before their callers. */
    for (;;) {
        while (slots[at].first)
            at = slots[at].first;
        after = slots[at].parent;
        if (at != number)
            slots[after].first = slots[at].next;
        *calls += slots[at].calls;
        weight += free_slot(forest, at);
        if (at == number)
            return weight;
        at = after;
    }
}

/* --- Rows of repeated calls --- */

static uint32_t mix(uint32_t shape, uint64_t more)
{
    return (uint32_t)(((shape ^ more) * 0x9E3779B97F4A7C15) >> 29);
}

/* Returns whether two calls may be in one row, without a look at the calls they made. */
static bool are_alike(const struct held *a, const struct held *b)
{
    return a->shape == b->shape && a->depth == b->depth && a->end == b->end &&
           a->timed == b->timed && mfa_same(&a->mfa, &b->mfa);
}

/* Returns whether A and B, siblings, have the same calls. */
static bool have_same_shape(const struct forest *forest, uint32_t a, uint32_t b)
{
    const struct held *slots = forest->slots;
    uint32_t in_a = a, in_b = b;

    if (!slots[a].foldable || !slots[b].foldable)
        return false;
    while (in_a && in_b && are_alike(&slots[in_a], &slots[in_b])) {
        in_a = held_next(forest, a, in_a);
        in_b = held_next(forest, b, in_b);
    }
    return !in_a && !in_b;
}

/* Adds the figures of MORE to those of ROW. Returns the weight that was freed. */
static size_t add_to_row(struct held *row, const struct held *more)
{
    size_t weight = row->weight - 1;

    free(row->arguments);
    free(row->outcome);
    row->arguments = row->outcome = NULL;
    row->weight = 1;
    row->calls += more->calls;
    row->times.took += more->times.took;
    row->times.own += more->times.own;
    row->times.total += more->times.total;
    schedule_add(&row->times.spent, more->times.spent);
    schedule_add(&row->times.own_spent, more->times.own_spent);
    if (more->shortest < row->shortest)
        row->shortest = more->shortest;
    if (more->longest > row->longest)
        row->longest = more->longest;
    return weight;
}

size_t held_finish(struct forest *forest, uint32_t number, bool fold)
{
    struct held *slots = forest->slots, *held = &slots[number];
    uint32_t to = held->before;
    size_t weight = 0;
    uint64_t calls = 0;

    held->foldable = fold && !held->thrown;
    held->shape = mix(mix(held->mfa.arity, held->mfa.module), held->mfa.function);
    for (uint32_t i = held->first; i; i = slots[i].next) {
        held->foldable &= slots[i].foldable;
        held->shape = mix(held->shape, slots[i].shape);
    }
    if (!to || held->next || !have_same_shape(forest, to, number))
        return 0;
    for (uint32_t row = to, more = number; row; row = held_next(forest, to, row)) {
        weight += add_to_row(&slots[row], &slots[more]);
        more = held_next(forest, number, more);
    }
    return weight + held_drop(forest, number, &calls);
}

void held_free(struct forest *forest)
{
    free(forest->slots);
    *forest = (struct forest){0};
}
