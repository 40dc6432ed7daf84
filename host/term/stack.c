#include "stack.h"

#include "host/base/memory.h"

#include <string.h>

void th_stack_grow(struct th_stack *stack, size_t item_size)
{
    bool first = stack->items == stack->first;
    size_t used = stack->capacity * item_size;

    stack->items = th_realloc(first ? NULL : stack->items, 2 * used);
    if (first)
        memcpy(stack->items, stack->first, used);
    stack->capacity *= 2;
}

void th_stack_end(struct th_stack *stack)
{
    if (stack->items != stack->first)
        th_free(stack->items);
}

bool th_stack_try_grow(struct th_stack *stack, size_t item_size)
{
    bool first = stack->items == stack->first;
    size_t used = stack->capacity * item_size;
    void *grown = th_try_realloc(first ? NULL : stack->items, first ? 0 : used, 2 * used);

    if (!grown)
        return false;
    if (first)
        memcpy(grown, stack->first, used);
    stack->items = grown;
    stack->capacity *= 2;
    return true;
}

void th_stack_try_end(struct th_stack *stack, size_t item_size)
{
    if (stack->items != stack->first)
        th_try_free(stack->items, stack->capacity * item_size);
}
