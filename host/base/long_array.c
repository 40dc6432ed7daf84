#include "long_array.h"

#include "memory.h"

#include <string.h>
#include <sys/mman.h>

enum { SHORT = 512 * 1024 };

void *th_long_array_grow(void *memory, size_t had, size_t wanted, size_t most)
{
    void *larger;

    if (wanted <= SHORT)
        return th_realloc(memory, wanted);
    if (had > SHORT)
        return mprotect(memory, wanted, PROT_READ | PROT_WRITE) == 0 ? memory : NULL;

    larger = mmap(NULL, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (larger == MAP_FAILED)
        return NULL;
    if (mprotect(larger, wanted, PROT_READ | PROT_WRITE) != 0) {
        munmap(larger, most);
        return NULL;
    }
    if (had > 0)
        memcpy(larger, memory, had);
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
