/*
 * Finds the function, file and line of code of an open library, as far as its file has them.
 *
 * Lines come from DWARF: the library's own, else that of a separate file, which is found by
 * build-id or debug link, as in debuggers, on this machine only; no network is used. Functions are
 * ELF symbols, also static ones that were kept. Code without any of these has an offset, for which
 * `addr2line -e LIBRARY` may find more.
 *
 * A line is in the function's own source. Code that was inlined into the function has the line of
 * its call, so that the line does not depend on the compiler's inlining. The start of a function
 * has the line of its head, or of the brace after, as the compiler decides.
 *
 * Meant for reports, not for events: the first question about a library reads all of its debug
 * information; the first about an address may take milliseconds, depending on the size of its
 * compilation unit. Later answers to the same question come from a table. Any content of the file
 * gets an answer.
 *
 * Lines belong to libraries, not to modules, as tracers have lines, too. They are freed when the
 * library is closed.
 *
 * Thread: any, one at a time; others wait. Not in a signal handler.
 */
#ifndef TH_LIBRARY_LINE_H
#define TH_LIBRARY_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_library;

/* The source of an address; NULL or 0 for unknown parts.
 * Owner: texts live until the library is closed. */
struct th_line {
    uintptr_t offset;     /* in bytes from the library's base */
    const char *function; /* a symbol */
    uintptr_t inside;     /* in bytes from the function's start */
    const char *file;     /* path as given to the compiler, or relative to the compiler's folder */
    unsigned line;        /* from 1; 0: FILE is NULL, too */
    /* The same of the code itself, where it was inlined into the function; else as FILE and LINE. */
    const char *code_file;
    unsigned code_line;
};

/*
 * Finds the line of ADDRESS, which is inside an instruction of LIBRARY; for a caller, pass its
 * return address less one byte. False if ADDRESS is not in its code; LINE is then all zero.
 * Owner: LIBRARY is in use.
 */
bool th_library_line(const struct th_library *library, uintptr_t address, struct th_line *line);

/* Finds the library in use whose code holds ADDRESS, and adds a user to it; NULL: none.
 * Owner: the caller releases the result.
 * Thread: any. */
struct th_library *th_library_at(uintptr_t address);

/* Sets the folder of files with debug information, /usr/lib/debug by default.
 * Owner: FOLDER must stay valid.
 * Order: before the first th_library_line(). */
void th_library_set_debug_folder(const char *folder);

/*
 * The symbols of a file's symbol table.
 *
 * They are claims of the file: names and numbers are copied as they are, compared, and never used
 * as pointers. As names are copies, the library may be closed.
 */

struct th_library;

struct th_symbol {
    uint64_t address, size; /* in bytes, from the library's base */
    const char *name;       /* not empty */
};

/* Initialise with {0}. */
struct th_symbols {
    struct th_symbol *items; /* ascending */
    size_t count, capacity;
    char *names;
};

/* Reads the functions (KIND: STT_FUNC of elf.h) or the variables (STT_OBJECT) of LIBRARY's own file:
 * its whole symbol table, static ones included, or else its exports. None if the file is gone or was
 * replaced.
 * Thread: any. */
void th_library_symbols(const struct th_library *library, int kind, struct th_symbols *symbols);
void th_debuginfo_symbols_free(struct th_symbols *symbols);

/* Finds the symbol that contains ADDRESS; NULL: none. */
const struct th_symbol *th_debuginfo_symbols_find(const struct th_symbols *symbols,
                                                  uint64_t address);

#endif
