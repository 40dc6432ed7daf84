/*
 * Where the functions of an open library are, as its file tells: those that it declares with
 * TH_FUNCTION (plugin_api/nif_module.h), and the entries at which the compiler has left room for a
 * breakpoint.
 *
 * The compiler lists such entries in the section `__patchable_function_entries`: addresses of the
 * first NOP, which is as many bytes before the function's label as was asked for. TH_FUNCTION makes
 * the section `tracehost_functions`. The loader does not look at sections, and a file need not have
 * them (it can be stripped of their names); so what they say is checked against what the loader has
 * mapped, and what does not fit is left out, with a remark about the library. Both are found in the
 * file when it is examined, and read in memory once the loader has relocated them.
 *
 * Constant from th_library_open() on, as long as the library is open. Any thread.
 */
#ifndef TH_LIBRARY_CODE_MAP_H
#define TH_LIBRARY_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_library;

/* A function that is called with terms in registers: ENV and ARITY terms, at most five. */
struct th_local {
    const char *name; /* in the library's memory */
    unsigned arity;
    void *code; /* its label */
};

struct th_code_map {
    /* In the order of the section; of several with one name and arity the first, and none that is
     * like a function of the library's table. */
    struct th_local *locals;
    size_t local_count, local_capacity;
    uintptr_t *patchable; /* addresses of the first NOP, ascending, in executable memory */
    size_t patchable_count, patchable_capacity;
    /* Threads may be anywhere in its code already: it has constructors, which may have started
     * them, or was in this process before it was opened. */
    bool threads_started;
};

/* The sections, as the file calls them. */
#define TH_SECTION_PATCHABLE "__patchable_function_entries"
#define TH_SECTION_LOCALS "tracehost_functions"

const struct th_code_map *th_library_code_map(const struct th_library *library);

/* True if the compiler says that FIRST_NOP is one. */
bool th_library_code_map_lists(const struct th_code_map *map, uintptr_t first_nop);

/* True if SIZE bytes from ADDRESS on are executable memory of LIBRARY itself. */
bool th_library_executes(const struct th_library *library, uintptr_t address, size_t size);

/* The protection, PROT_..., that SIZE bytes from ADDRESS on have as executable memory of LIBRARY
 * itself; 0: they are none. */
int th_library_protection(const struct th_library *library, uintptr_t address, size_t size);

/* What addresses in its file count from. */
uintptr_t th_library_base(const struct th_library *library);

/* From where to where its executable memory is, *END being beyond; both 0 if it has none. */
void th_library_code_range(const struct th_library *library, uintptr_t *begin, uintptr_t *end);

/*
 * Called for each library that is opened from now on: its constructors have run, no other code of
 * it has; so its map still has functions that are like those of its table, which is not read yet.
 * The library may be refused after that, and closed again. By the thread that opens it, one call at
 * a time; OPENED runs no code of libraries. NULL: nothing is called. Set it before there are other
 * threads.
 */
void th_library_watch_opened(void (*opened)(const struct th_library *library));

/* --- Mapped memory: of a library, of the whole process ---------------------------------------- */

enum {
    TH_MEMORY_READABLE = 1,
    TH_MEMORY_EXECUTABLE = 2,
    TH_MEMORY_WRITABLE = 4,
    TH_MEMORY_HEAP = 8, /* the process' own, which grow: */
    TH_MEMORY_STACK = 16
};

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

/* Lists the memory of the whole process, as the kernel does; nothing if /proc is not there. Memory
 * that other threads map or unmap meanwhile may be listed or not. */
void th_library_memory_of_process(struct th_memory *memory);

void th_library_memory_free(struct th_memory *memory);

/* How many bytes from ADDRESS on have those RIGHTS, up to the end of their part. */
size_t th_library_memory_after(const struct th_memory *memory, uintptr_t address, unsigned rights);

#endif
