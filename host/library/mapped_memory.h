/*
 * What of a library the loader has mapped, and what there is in the whole process. Inner header of
 * library/.
 */
#ifndef TH_MAPPED_MEMORY_H
#define TH_MAPPED_MEMORY_H

#include "host/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TH_MEMORY_READABLE = 1, TH_MEMORY_EXECUTABLE = 2, TH_MEMORY_WRITABLE = 4 };

struct th_memory_part {
    uintptr_t start;
    size_t size;
    unsigned rights; /* TH_MEMORY_... */
};

/* Start it as {0}. */
struct th_memory {
    uintptr_t base; /* what addresses in the file count from */
    struct th_memory_part *parts;
    size_t count, capacity;
};

/* Of the library that the loader knows by HANDLE, or nothing if it does not say. */
void th_library_memory_of(struct th_memory *memory, void *handle);

/* Lists the memory of the whole process, as the kernel does; nothing if /proc is not there. Memory
 * that other threads map or unmap meanwhile may be listed or not. */
void th_library_memory_of_process(struct th_memory *memory);

void th_library_memory_free(struct th_memory *memory);

/* The part that ADDRESS is in, NULL: none. */
const struct th_memory_part *th_library_memory_part_at(const struct th_memory *memory,
                                                       uintptr_t address);

/* How many bytes from ADDRESS on have those RIGHTS, up to the end of their part. */
size_t th_library_memory_after(const struct th_memory *memory, uintptr_t address, unsigned rights);

/*
 * TH_REFUSED unless the SIZE bytes at ADDRESS, or those of TEXT up to its end, can be read in
 * MEMORY, that of the process: NAME says in the error what of a library would be there. TEXT may be
 * NULL. All can be, if the kernel does not list the memory.
 */
enum th_status th_library_memory_check(const struct th_memory *memory, const char *name,
                                       const void *address, size_t size);
enum th_status th_library_memory_check_text(const struct th_memory *memory, const char *name,
                                            const char *text);

#endif
