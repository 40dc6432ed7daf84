/*
 * The files that tell where a library's code comes from: the library itself, and the one into which
 * its debug information was put when it was stripped. Inner header of library/.
 *
 * debug_file.c tries the two ways in which distributions name such files. libdwfl, which finds them
 * by itself, is not used, as it asks servers for them.
 *
 * They are read, not mapped, as somebody may write to them, and closed again at once: their content
 * is in memory then.
 */
#ifndef TH_DEBUG_FILE_H
#define TH_DEBUG_FILE_H

#include <elfutils/libdw.h>
#include <gelf.h>

struct th_symbols;
struct th_examination;

struct th_debug_file {
    Elf *elf;     /* NULL: there is none */
    Dwarf *dwarf; /* NULL: it has no lines */
};

/* OWN is the library that was examined, if that file is still there; SEPARATE what was stripped
 * from it, if OWN has no lines: looked for below FOLDER, and beside the library, or beside what the
 * library is a copy of. */
void th_debuginfo_files_open(const struct th_examination *facts, const char *folder,
                             struct th_debug_file *own, struct th_debug_file *separate);
void th_debuginfo_file_close(struct th_debug_file *file);

/* The library that was examined, for reading; below 0: that file is not there any more. */
int th_debuginfo_own_open(const struct th_examination *facts);

/* The functions of ELF's symbol table of TYPE, SHT_SYMTAB or SHT_DYNSYM, if there is one: into
 * SYMBOLS, which has none yet. ELF may be NULL. */
void th_debuginfo_symbols_read(struct th_symbols *symbols, Elf *elf, GElf_Word type);

#endif
