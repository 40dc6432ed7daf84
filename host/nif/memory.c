/* Memory of libraries: plain malloc, so that it is not counted as the host's and may run out. */
#include "nif.h"

#include "host/runtime/runtime.h"

void *enif_alloc(size_t size)
{
    void *memory = malloc(size ? size : 1);

    th_check_got(TH_CHECK_MEMORY, memory, size, NULL, "enif_alloc");
    return memory;
}

void *enif_realloc(void *ptr, size_t size)
{
    void *memory;

    if (ptr && !th_check_gave(TH_CHECK_MEMORY, ptr, "enif_realloc"))
        return NULL;
    memory = realloc(ptr, size ? size : 1);
    th_check_got(TH_CHECK_MEMORY, memory ? memory : ptr, size, NULL, "enif_realloc");
    return memory;
}

void enif_free(void *ptr)
{
    if (!th_check_on())
        free(ptr);
    else if (ptr && th_check_gave(TH_CHECK_MEMORY, ptr, "enif_free"))
        th_check_free(ptr);
}
