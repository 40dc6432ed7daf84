/*
 * A shared object as the dynamic loader would see it, read as data.
 *
 * The loader trusts a file: one that is cut short or whose tables point astray kills the process
 * that opens it. So everything that the loader follows is followed here first, with each step
 * checked to stay inside the file: program headers, the dynamic section, symbols, strings, hash
 * tables, relocations, versions. Section headers, which the loader does not read, serve to find
 * what only this host looks for. What the file's code does once it runs is nobody's guess.
 *
 * Inner header of library/. All functions that fail start an error chain with TH_REFUSED.
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
    uint64_t address, memory_size; /* where it will lie, from the library's base */
    uint64_t offset, file_size;    /* what of it comes from the file; zeros follow */
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
    Elf_Data *strings;
    Elf_Data *symbols;
    size_t symbol_count; /* the first is no symbol */
    bool *referred;      /* for each symbol: a relocation refers to it */
};

/* Opens the file for reading and looks at its header. *FD is -1 if it cannot be opened; the caller
 * closes it, also on failure. */
enum th_status th_elf_open_file(const char *path, int *fd, struct stat *identity);

/*
 * Opens and checks the file. On failure ELF holds nothing but, perhaps, the identity; on success
 * th_elf_close() ends it.
 */
enum th_status th_elf_open(struct th_elf *elf, const char *path);
void th_elf_close(struct th_elf *elf);

/* The value of the dynamic entry TAG, the last if there are many as for the loader; false if there
 * is none. */
bool th_elf_dynamic(const struct th_elf *elf, int64_t tag, uint64_t *value);

/* The bits of the dynamic entry TAG, 0 if there is none. */
uint64_t th_elf_flags(const struct th_elf *elf, int64_t tag);

/*
 * SIZE bytes from ADDRESS on, as elements of TYPE, valid until the file is closed; NULL if they are
 * not wholly in the part of one segment that comes from the file.
 */
Elf_Data *th_elf_at(const struct th_elf *elf, uint64_t address, uint64_t size, Elf_Type type);

/* The segment whose memory ADDRESS is in, or NULL. */
const struct th_elf_segment *th_elf_segment_of(const struct th_elf *elf, uint64_t address);

/* How many bytes of the segment that ADDRESS lies in come from the file and follow it. */
uint64_t th_elf_bytes_after(const struct th_elf *elf, uint64_t address);

/* True if SIZE bytes from ADDRESS on will be memory of one segment. */
bool th_elf_maps(const struct th_elf *elf, uint64_t address, uint64_t size);

/* The string at OFFSET of the string table, NULL if that is outside the table. */
const char *th_elf_string(const struct th_elf *elf, uint64_t offset);

/* Symbol I with its name; false if the name is no string of the file. */
bool th_elf_symbol(const struct th_elf *elf, size_t i, GElf_Sym *symbol, const char **name);

/*
 * The sections called NAME, each an array of ELEMENT bytes; appended to EXTENTS, which is of no use
 * if one is wrong. NAMELESS: the file does not say what its sections are called.
 */
enum th_elf_found { TH_ELF_ABSENT, TH_ELF_FOUND, TH_ELF_WRONG, TH_ELF_NAMELESS };
enum th_elf_found th_elf_sections(const struct th_elf *elf, const char *name, size_t element,
                                  struct th_extents *extents);

/* Starts a chain: the file is damaged, WHAT is wrong. */
enum th_status th_elf_refuse_damaged(const char *what);

/* The steps of th_elf_open() that have files of their own. Finds symbols and strings. */
enum th_status th_elf_read_symbols(struct th_elf *elf);

/* Walks relocations, which fills `referred`, initialisers and versions. */
enum th_status th_elf_check_tables(struct th_elf *elf);

/* What a library needs from others. Inner header of library/. */

/* Appends an undefined symbol to what E imports. */
void th_elf_import_add(struct th_examination *e, const char *name, bool weak);

/* TH_REFUSED, naming them all, if E imports functions that nobody has. */
enum th_status th_elf_imports_check(const struct th_examination *e);

/* Fills in what its imports let E do: `leaves` and `constructors_may_start_threads`. */
void th_elf_imports_note(struct th_examination *e);

/*
 * The same as `leaves` for the libraries that E needs, which are open: a text that the caller
 * frees, or NULL. Those of the system and of compilers are known to leave nothing behind by
 * themselves, and are not looked into.
 */
char *th_elf_imports_brought(const struct th_examination *e);

#endif
