/* Memory of libraries: plain malloc, so that it is not counted as the host's and may run out. */
#include "nif.h"

void *enif_alloc(size_t size)
{
    return malloc(size ? size : 1);
}

void *enif_realloc(void *ptr, size_t size)
{
    return realloc(ptr, size ? size : 1);
}

void enif_free(void *ptr)
{
    free(ptr);
}
