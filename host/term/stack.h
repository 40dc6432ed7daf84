/*
 * Stacks for following terms without recursion: they begin in an array of the function that walks,
 * so that usual terms cost no allocation, and move to the heap when a term is deeper.
 *
 *     struct item first[16];
 *     struct th_stack stack;
 *     th_stack_begin(&stack, first, 16);
 *     *(struct item *)th_stack_push(&stack, sizeof(struct item)) = ...
 *     while (stack.depth > 0) {
 *         struct item *item = th_stack_top(&stack, sizeof *item);
 *         ... stack.depth-- ...
 *     }
 *     th_stack_end(&stack);
 *
 * Inside term/ only.
 */
#ifndef TH_STACK_H
#define TH_STACK_H

#include <stdbool.h>
#include <stddef.h>

struct th_stack {
    void *items, *first; /* first: the array that it began in */
    size_t depth, capacity;
};

static inline void th_stack_begin(struct th_stack *stack, void *first, size_t capacity)
{
    stack->items = first;
    stack->first = first;
    stack->depth = 0;
    stack->capacity = capacity;
}

/* Doubles a full stack of items of ITEM_SIZE bytes. */
void th_stack_grow(struct th_stack *stack, size_t item_size);

/* The same, th_stack_push() and th_stack_end(), for what is read, from the budget of base/memory.h:
 * false or NULL, with an error raised, if that is exceeded. */
bool th_stack_try_grow(struct th_stack *stack, size_t item_size);
void th_stack_try_end(struct th_stack *stack, size_t item_size);

/* The place of a new item of ITEM_SIZE bytes. Items move. */
static inline void *th_stack_push(struct th_stack *stack, size_t item_size)
{
    if (stack->depth == stack->capacity)
        th_stack_grow(stack, item_size);
    return (char *)stack->items + stack->depth++ * item_size;
}

static inline void *th_stack_try_push(struct th_stack *stack, size_t item_size)
{
    return stack->depth < stack->capacity || th_stack_try_grow(stack, item_size)
               ? th_stack_push(stack, item_size)
               : NULL;
}

/* The newest item; there is one. */
static inline void *th_stack_top(const struct th_stack *stack, size_t item_size)
{
    return (char *)stack->items + (stack->depth - 1) * item_size;
}

void th_stack_end(struct th_stack *stack);

#endif
