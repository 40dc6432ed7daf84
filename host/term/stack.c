#include "stack.h"

#include "host/base/base.h"

#include <string.h>

void *th_stack_grow(void *items, const void *first, size_t *capacity, size_t item_size)
{
    size_t used = *capacity * item_size;
    void *grown = th_realloc(items == first ? NULL : items, 2 * used);

    if (items == first)
        memcpy(grown, first, used);
    *capacity *= 2;
    return grown;
}

void th_stack_free(void *items, const void *first)
{
    if (items != first)
        th_free(items);
}
