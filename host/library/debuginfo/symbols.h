/*
 * The functions that a file's symbol table names.
 *
 * They are claims of the file, which are compared with and not followed: names and numbers are as
 * they stand there. Names are copies, so the library may be closed.
 */
#ifndef TH_LIBRARY_SYMBOLS_H
#define TH_LIBRARY_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

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
