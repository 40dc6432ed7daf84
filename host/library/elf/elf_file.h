/*
 * Reads a shared object as data, in the way of the dynamic loader.
 *
 * The loader trusts a file: a truncated file, or one with wrong tables, kills the process that
 * opens it. So all that the loader follows is followed here first, and each step is checked to stay
 * inside the file: program headers, the dynamic section, symbols, strings, hash tables,
 * relocations, versions. Section headers, which the loader does not read, lead to data that only
 * this host uses. The behaviour of the code cannot be checked.
 *
 * Inner header of library/.
 * Errors: all functions that fail start an error chain with TH_REFUSED.
 */
#ifndef TH_LIBRARY_ELF_FILE_H
#define TH_LIBRARY_ELF_FILE_H

#include "host/base/error.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct th_extents;
struct th_examination;

/* A part of the file that the loader maps. */
struct th_elf_segment {
    uint64_t address, memory_size; /* in memory, from the library's base */
    uint64_t offset, file_size;    /* the part that is in the file; zeros follow in memory */
    bool readable, writable, executable;
};

struct th_elf {
    int fd;
    Elf *elf;
    struct stat identity;
    struct th_elf_segment *segments; /* ascending, not overlapping */
    size_t segment_count, segment_capacity;
    Elf_Data *dynamic; /* entries up to DT_NULL */
    size_t dynamic_count;
    bool executable_stack;
    bool thread_storage; /* has thread-local variables */
    bool static_tls;     /* a relocation needs them at a fixed distance from the thread's pointer */
    Elf_Data *strings;
    Elf_Data *symbols;
    size_t symbol_count; /* including symbol 0, which is none */
    bool *referred;      /* for each symbol: a relocation refers to it */
};

/* Opens the file for reading and checks its header.
 * Owner: the caller closes *FD, also after an error, unless it is -1. */
enum th_status th_elf_open_file(const char *path, int *fd, struct stat *identity);

/*
 * Opens and checks the file.
 * Owner: on TH_OK the caller calls th_elf_close(); after an error ELF holds nothing but the
 * identity, if that was read.
 */
enum th_status th_elf_open(struct th_elf *elf, const char *path);
void th_elf_close(struct th_elf *elf);

/* Reads the value of the dynamic entry TAG, the last one if there are several, as the loader does.
 * False: there is none. */
bool th_elf_dynamic(const struct th_elf *elf, int64_t tag, uint64_t *value);

/* Returns the bits of the dynamic entry TAG, 0 if there is none. */
uint64_t th_elf_flags(const struct th_elf *elf, int64_t tag);

/*
 * Reads SIZE bytes from ADDRESS on, as elements of TYPE. NULL if they are not wholly in the part of
 * one segment that comes from the file.
 * Owner: valid until the file is closed.
 */
Elf_Data *th_elf_at(const struct th_elf *elf, uint64_t address, uint64_t size, Elf_Type type);

/* Finds the segment whose memory holds ADDRESS; NULL: none. */
const struct th_elf_segment *th_elf_segment_of(const struct th_elf *elf, uint64_t address);

/* Returns the number of bytes from ADDRESS on that its segment has in the file. */
uint64_t th_elf_bytes_after(const struct th_elf *elf, uint64_t address);

/* True if SIZE bytes from ADDRESS on will be memory of one segment. */
bool th_elf_maps(const struct th_elf *elf, uint64_t address, uint64_t size);

/* Returns the string at OFFSET of the string table; NULL if OFFSET is outside. */
const char *th_elf_string(const struct th_elf *elf, uint64_t offset);

/* Reads symbol I with its name; false if the name is no string of the file. */
bool th_elf_symbol(const struct th_elf *elf, size_t i, GElf_Sym *symbol, const char **name);

/*
 * Finds the sections called NAME, each an array of elements of ELEMENT bytes, and appends them to
 * EXTENTS, which is useless if one is wrong. NAMELESS: the file does not name its sections.
 */
enum th_elf_found { TH_ELF_ABSENT, TH_ELF_FOUND, TH_ELF_WRONG, TH_ELF_NAMELESS };
enum th_elf_found th_elf_sections(const struct th_elf *elf, const char *name, size_t element,
                                  struct th_extents *extents);

/* Starts an error chain: the file is damaged, with a wrong WHAT. */
enum th_status th_elf_refuse_damaged(const char *what);

/* Steps of th_elf_open() in files of their own. Finds symbols and strings. */
enum th_status th_elf_read_symbols(struct th_elf *elf);

/* Checks relocations, which fills `referred`, initialisers and versions. */
enum th_status th_elf_check_tables(struct th_elf *elf);

/* --- Imports of a library (imports.c) --------------------------------------------------------- */

/* Adds an undefined symbol to the imports of E. */
void th_elf_import_add(struct th_examination *e, const char *name, bool weak);

/* TH_REFUSED if E imports functions that no library has; the error names them. */
enum th_status th_elf_imports_check(const struct th_examination *e);

/* Derives `leaves` and `constructors_may_start_threads` of E from its imports. */
void th_elf_imports_note(struct th_examination *e);

/*
 * Returns a reason as `leaves`, from the libraries that E needs, which are open; NULL: none.
 * Libraries of the system and of compilers leave nothing behind and are not examined.
 * Owner: the caller frees the text.
 */
char *th_elf_imports_brought(const struct th_examination *e);

#endif
