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

uint32_t held_add(struct forest *forest, uint32_t parent, const struct mfa *mfa)
{
    uint32_t number = forest->unused;
    struct held *above;

    if (number)
        forest->unused = forest->slots[number].next;
    else if (forest->used < forest->size || grow_forest(forest))
        number = forest->used++;
    else
        return 0;
    forest->slots[number] = (struct held){.mfa = *mfa, .parent = parent, .weight = 1, .calls = 1};
    if (!parent)
        return number;
    above = &forest->slots[parent];
    forest->slots[number].before = above->last;
    if (above->last)
        forest->slots[above->last].next = number;
    else
        above->first = number;
    above->last = number;
    above->loose++;
    return number;
}

uint32_t held_next(const struct forest *forest, uint32_t root, uint32_t number, uint32_t *depth)
{
    const struct held *slots = forest->slots;

    if (slots[number].first) {
        ++*depth;
        return slots[number].first;
    }
    while (number != root && !slots[number].next) {
        --*depth;
        number = slots[number].parent;
    }
    return number == root ? 0 : slots[number].next;
}

void held_measure(struct forest *forest, uint32_t root)
{
    uint32_t depth = forest->slots[root].depth;

    for (uint32_t i = root; i; i = held_next(forest, root, i, &depth))
        forest->slots[i].depth = depth;
}

/* Frees the slot. Returns its weight. */
static size_t free_slot(struct forest *forest, uint32_t number)
{
    struct held *held = &forest->slots[number];

    free(held->arguments);
    free(held->outcome);
    held->arguments = held->outcome = NULL;
    held->mfa.module = 0;
    held->next = forest->unused;
    forest->unused = number;
    return held->weight;
}

static void unlink_slot(struct forest *forest, uint32_t number)
{
    struct held *slots = forest->slots, *held = &slots[number], *above = &slots[held->parent];

    if (held->parent && above->sure == number)
        above->sure = held->before;
    if (held->before)
        slots[held->before].next = held->next;
    else if (held->parent)
        above->first = held->next;
    if (held->next)
        slots[held->next].before = held->before;
    else if (held->parent)
        above->last = held->before;
    if (!held->next && held->before)
        slots[held->before].parent = held->parent;
}

size_t held_drop(struct forest *forest, uint32_t number, uint64_t *calls)
{
    struct held *slots = forest->slots;
    uint32_t at = number, left = 0; /* head of the list of calls to free */
    size_t weight = 0;

    unlink_slot(forest, number);
    slots[number].next = 0;
    for (; at; at = left) {
        left = slots[at].next;
        if (slots[at].first) {
            slots[slots[at].last].next = left;
            left = slots[at].first;
        }
        *calls += slots[at].calls;
        weight += free_slot(forest, at);
    }
    return weight;
}

uint32_t held_part(struct forest *forest, uint32_t number)
{
    struct held *slots = forest->slots, *held = &slots[number];
    uint32_t first = held->sure ? slots[held->sure].next : held->first, last = held->last;
    uint32_t moved = held->loose;

    held->loose = 0;
    if (!first)
        return 0;
    held->last = held->sure;
    if (held->sure) {
        slots[held->sure].next = 0;
        slots[held->sure].parent = number;
    } else {
        held->first = 0;
    }
    slots[first].before = number;
    slots[last].next = held->next;
    slots[last].parent = held->parent;
    if (held->next)
        slots[held->next].before = last;
    else
        slots[held->parent].last = last;
    held->next = first;
    return moved;
}

/* --- Rows of repeated calls --- */

static uint32_t mix(uint32_t shape, uint64_t more)
{
    return (uint32_t)(((shape ^ more) * 0x9E3779B97F4A7C15) >> 29);
}

/* Returns whether two calls may be in one row, without a look at the calls they made. */
static bool are_alike(const struct held *a, const struct held *b)
{
    return a->shape == b->shape && a->end == b->end && a->timed == b->timed &&
           mfa_same(&a->mfa, &b->mfa);
}

/* Returns whether A and B, siblings, have the same calls. */
static bool have_same_shape(const struct forest *forest, uint32_t a, uint32_t b)
{
    const struct held *slots = forest->slots;
    uint32_t in_a = a, in_b = b, depth_a = slots[a].depth, depth_b = slots[b].depth;

    if (!slots[a].foldable || !slots[b].foldable)
        return false;
    while (in_a && in_b && depth_a == depth_b && are_alike(&slots[in_a], &slots[in_b])) {
        in_a = held_next(forest, a, in_a, &depth_a);
        in_b = held_next(forest, b, in_b, &depth_b);
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

/* Makes NUMBER a part of the row before it, if both are alike. Returns the weight that was freed. */
static size_t join_row(struct forest *forest, uint32_t number)
{
    struct held *slots = forest->slots;
    uint32_t to = slots[number].before, depth = 0;
    size_t weight = 0;
    uint64_t calls = 0;

    if (!to || !have_same_shape(forest, to, number))
        return 0;
    for (uint32_t row = to, more = number; row; row = held_next(forest, to, row, &depth)) {
        weight += add_to_row(&slots[row], &slots[more]);
        more = held_next(forest, number, more, &depth);
    }
    return weight + held_drop(forest, number, &calls);
}

/* The same for a call in PARENT, whose calls are still added. A row is all inside of PARENT, or all behind
 * `sure`. */
static size_t join_row_in(struct forest *forest, uint32_t parent, uint32_t number)
{
    if (!number || forest->slots[number].before == forest->slots[parent].sure)
        return 0;
    forest->slots[number].parent = parent;
    return join_row(forest, number);
}

size_t held_is_open(struct forest *forest, uint32_t number)
{
    struct held *held = &forest->slots[number];
    uint32_t behind = held->sure ? forest->slots[held->sure].next : 0;

    held->sure = held->last;
    held->loose = 0;
    return join_row_in(forest, number, behind);
}

/* Computes what rows are found by. */
static void sum_up(struct forest *forest, uint32_t number, bool fold)
{
    struct held *slots = forest->slots, *held = &slots[number];

    held->foldable = fold && held->end != HELD_OPEN && !held->thrown;
    held->shape = mix(mix(held->mfa.arity, held->mfa.module), held->mfa.function);
    held->shape = mix(held->shape, 2 * held->end + held->timed);
    for (uint32_t i = held->first; i; i = slots[i].next) {
        held->foldable &= slots[i].foldable;
        held->shape = mix(held->shape, slots[i].shape);
    }
}

size_t held_finish(struct forest *forest, uint32_t number, uint32_t after, bool fold)
{
    struct held *held = &forest->slots[number];
    uint32_t parent = held->parent, moved = held->next == after ? 0 : held->next;
    size_t weight = held->end == HELD_TOLD ? held_is_open(forest, number) : 0;

    sum_up(forest, number, fold);
    weight += join_row_in(forest, parent, number);
    weight += join_row_in(forest, parent, moved);
    return weight + join_row_in(forest, parent, after);
}

/* Returns the first call of the tree of NUMBER if callers come after the calls they made. */
static uint32_t innermost(const struct forest *forest, uint32_t number)
{
    while (forest->slots[number].first)
        number = forest->slots[number].first;
    return number;
}

size_t held_cut(struct forest *forest, uint32_t root, uint32_t limit, bool fold, uint64_t *calls)
{
    struct held *slots = forest->slots;
    uint32_t depth = 0, next;
    size_t weight = 0;

    if (slots[root].depth >= limit)
        return held_drop(forest, root, calls);
    for (uint32_t i = root; i; i = held_next(forest, root, i, &depth))
        while (slots[i].first && slots[i].depth + 1 >= limit) {
            slots[slots[i].first].parent = i;
            weight += held_drop(forest, slots[i].first, calls);
        }
    for (uint32_t i = innermost(forest, root); i; i = next) {
        next = i == root ? 0 : slots[i].next ? innermost(forest, slots[i].next) : slots[i].parent;
        sum_up(forest, i, fold);
        weight += join_row(forest, i);
    }
    return weight;
}

void held_free(struct forest *forest)
{
    free(forest->slots);
    *forest = (struct forest){0};
}
