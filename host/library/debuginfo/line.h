/*
 * Where code of an open library is in its source: function, file and line, as far as its file says.
 *
 * Lines are what DWARF says: the library's own, else that of the file with its debug information
 * that is found by its build-id or its debug link, as debuggers do, on this machine alone: nothing
 * is ever asked of a network. Functions are ELF symbols, static ones too where they were kept. What
 * is known of nothing is known as an offset, from which `addr2line -e LIBRARY` tells more where
 * there is more.
 *
 * A line is one of the function's own source: for code that was inlined into it, it is where it
 * would have been called, so that it does not depend on what the compiler has inlined. Where a
 * function begins it is that of its head, or of the brace after it, as the compiler sees that.
 *
 * This is for reports and for who asks for lines, not for the way of an event: the first question
 * of a library reads all of its debug information, and the first of an address may take
 * milliseconds, as much more as there is in its compilation unit. What was asked once is answered
 * from a table. Whatever is in the file, there is an answer.
 *
 * Lines belong to libraries and not to modules, as tracers have lines, too. What was read of a
 * library goes when that is closed.
 *
 * Any thread; one at a time is served, and the others wait. Not in a signal handler.
 */
#ifndef TH_LIBRARY_LINE_H
#define TH_LIBRARY_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_library;

/* What is not known is NULL, or 0. The texts stay until the library is closed. */
struct th_line {
    uintptr_t offset;     /* in the library: the address as its file counts */
    const char *function; /* a symbol */
    uintptr_t inside;     /* how far from its beginning */
    const char *file;     /* as it was given to the compiler, or from where that ran */
    unsigned line;        /* from 1; 0: FILE is NULL, too */
};

/*
 * ADDRESS is in an instruction of LIBRARY, which is in use: of a caller, that is one byte before
 * where a call returns to. False if it is none of its code; then only the offset, 0, is set.
 */
bool th_library_line(const struct th_library *library, uintptr_t address, struct th_line *line);

/* The library in use whose code ADDRESS is in, with one user more; NULL: there is none. Any
 * thread. */
struct th_library *th_library_at(uintptr_t address);

/* Where files with debug information are kept: /usr/lib/debug, unless this says otherwise. FOLDER
 * must stay. Before the first question. */
void th_library_set_debug_folder(const char *folder);

/*
 * The functions that a file's symbol table names.
 *
 * They are claims of the file, which are compared with and not followed: names and numbers are as
 * they stand there. Names are copies, so the library may be closed.
 */

struct th_library;

struct th_symbol {
    uint64_t address, size; /* as the file counts */
    const char *name;       /* not empty */
};

/* Start it as {0}. */
struct th_symbols {
    struct th_symbol *items; /* ascending */
    size_t count, capacity;
    char *names;
};

/* Of LIBRARY's own file: its whole table, static functions included, else what it exports. None, if
 * the file is not there any more, or another. Reads the file's sections; any thread. */
void th_library_symbols(const struct th_library *library, struct th_symbols *symbols);
void th_debuginfo_symbols_free(struct th_symbols *symbols);

/* The function that has ADDRESS in it; NULL: none has. */
const struct th_symbol *th_debuginfo_symbols_find(const struct th_symbols *symbols,
                                                  uint64_t address);

#endif
