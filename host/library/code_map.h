/*
 * The code map of an open library, from its file: the functions that it declares with TH_FUNCTION
 * (plugin_api/nif_module.h), and the entries at which the compiler has left room for a breakpoint.
 *
 * The compiler lists such entries in the section `__patchable_function_entries`: the address of the
 * first NOP, which lies before the function's label if the compiler's option says so. TH_FUNCTION
 * makes the section `tracehost_functions`. The loader ignores sections, and a file need not have
 * them (their names can be stripped). So their content is checked against the memory that the
 * loader has mapped; wrong parts are left out, with a remark about the library. Both sections are
 * found in the file when it is examined, and read in memory after the loader has relocated them.
 *
 * Thread: any. The map is constant from th_library_open() on, while the library is open.
 */
#ifndef TH_LIBRARY_CODE_MAP_H
#define TH_LIBRARY_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_library;

/* A function whose terms are passed in registers: ENV and ARITY terms, at most five. */
struct th_local {
    const char *name; /* in the library's memory */
    unsigned arity;
    void *code; /* its label */
};

struct th_code_map {
    /* In the order of the section; of several with one name and arity the first, and none with the
     * name and arity of a function in the library's table. */
    struct th_local *locals;
    size_t local_count, local_capacity;
    uintptr_t *patchable; /* addresses of the first NOP, ascending, in executable memory */
    size_t patchable_count, patchable_capacity;
    /* Threads may be anywhere in its code already: it has constructors that may have started some,
     * or was in this process before it was opened. */
    bool threads_started;
};

/* The names of the sections. */
#define TH_SECTION_PATCHABLE "__patchable_function_entries"
#define TH_SECTION_LOCALS "tracehost_functions"

const struct th_code_map *th_library_code_map(const struct th_library *library);

/* True if the compiler has listed FIRST_NOP. */
bool th_library_code_map_lists(const struct th_code_map *map, uintptr_t first_nop);

/* True if SIZE bytes from ADDRESS on are executable memory of LIBRARY itself. */
bool th_library_executes(const struct th_library *library, uintptr_t address, size_t size);

/* The protection of code whose branches by register must lead to `bti` (PROT_BTI, arm64), and which
 * loses this property if mprotect() is called without it. 0: this machine has no such protection. */
#ifdef __aarch64__
enum { TH_PROT_BTI = 0x10 };
#else
enum { TH_PROT_BTI = 0 };
#endif

/* Returns the protection, PROT_... and TH_PROT_BTI, of SIZE bytes from ADDRESS on, if they are
 * executable memory of LIBRARY itself; else 0. */
int th_library_protection(const struct th_library *library, uintptr_t address, size_t size);

/* Returns the start of the function whose label is CODE as unwinders and debug information see it.
 * That is the label, but gcc 12 begins entries of the unwind table and lines of the source after the
 * NOPs that stand at a label on arm64. */
uintptr_t th_library_unwound_start(uintptr_t code);

/* Returns the address at which the file's address 0 is mapped. */
uintptr_t th_library_base(const struct th_library *library);

/* Finds the range of the executable memory, *END exclusive; both 0 if there is none. */
void th_library_code_range(const struct th_library *library, uintptr_t *begin, uintptr_t *end);

/*
 * Sets OPENED (NULL: none), which is called for each library that is opened later, after its
 * constructors have run and before other code of it. The library's table is not read yet, so its
 * map may still have functions of the same names. The library may be refused and closed after that.
 * Thread: set before other threads start. OPENED runs in the thread that opens the library, one
 * call at a time, and must not run code of libraries.
 */
void th_library_watch_opened(void (*opened)(const struct th_library *library));

/* --- Mapped memory: of a library, of the whole process ---------------------------------------- */

enum {
    TH_MEMORY_READABLE = 1,
    TH_MEMORY_EXECUTABLE = 2,
    TH_MEMORY_WRITABLE = 4,
    TH_MEMORY_HEAP = 8, /* of the process; grows, as does the next */
    TH_MEMORY_STACK = 16,
    TH_MEMORY_GUARDED = 32 /* of a library whose code the loader has mapped with TH_PROT_BTI */
};

struct th_memory_part {
    uintptr_t start;
    size_t size;
    unsigned rights; /* TH_MEMORY_... */
};

/* Initialise with {0}. */
struct th_memory {
    uintptr_t base; /* address at which the file's address 0 is mapped */
    struct th_memory_part *parts;
    size_t count, capacity;
};

/* Lists the memory of the whole process, from the kernel; nothing if there is no /proc. Memory that
 * other threads map or unmap meanwhile may be missing or listed. */
void th_library_memory_of_process(struct th_memory *memory);

void th_library_memory_free(struct th_memory *memory);

/* Returns the number of bytes from ADDRESS to the end of its part, if this has RIGHTS; else 0. */
size_t th_library_memory_after(const struct th_memory *memory, uintptr_t address, unsigned rights);

#endif
