#include "stack.h"

#include "host/base/base.h"

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
