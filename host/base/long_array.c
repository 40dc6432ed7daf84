#include "long_array.h"

#include "memory.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

enum { SHORT = 512 * 1024 };

static bool get_memory(void *addresses, size_t size)
{
    return mprotect(addresses, size, PROT_READ | PROT_WRITE) == 0;
}

static void *reserve_addresses(size_t size, size_t most)
{
    void *addresses =
        mmap(NULL, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (addresses == MAP_FAILED)
        return NULL;
    if (get_memory(addresses, size))
        return addresses;
    munmap(addresses, most);
    return NULL;
}

void *th_long_array_grow(void *memory, size_t had, size_t wanted, size_t most)
{
    void *larger;

    if (wanted <= SHORT)
        return th_realloc(memory, wanted);
    if (had > SHORT)
        return get_memory(memory, wanted) ? memory : NULL;
    larger = reserve_addresses(wanted, most);
    if (larger && had > 0)
        memcpy(larger, memory, had);
    if (larger)
        th_free(memory);
    return larger;
}

void th_long_array_free(void *memory, size_t has, size_t most)
{
    if (has > SHORT)
        munmap(memory, most);
    else
        th_free(memory);
}
