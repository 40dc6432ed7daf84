/*
 * Stacks for walking terms without recursion. A stack begins in an array of the function that
 * walks, so usual terms cost no allocation; it moves to the heap when a term is deeper.
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
    void *items, *first; /* first: the array in which the stack began */
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

/* As th_stack_grow(), th_stack_push() and th_stack_end(), with memory from the budget of
 * base/memory.h, for input that is read.
 * Errors: false or NULL, with an error raised, if the budget is exceeded or the system refuses
 * memory. */
bool th_stack_try_grow(struct th_stack *stack, size_t item_size);
void th_stack_try_end(struct th_stack *stack, size_t item_size);

/* Returns the address of a new item of ITEM_SIZE bytes. The other items may move. */
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

/* The newest item; the stack must not be empty. */
static inline void *th_stack_top(const struct th_stack *stack, size_t item_size)
{
    return (char *)stack->items + (stack->depth - 1) * item_size;
}

void th_stack_end(struct th_stack *stack);

#endif
