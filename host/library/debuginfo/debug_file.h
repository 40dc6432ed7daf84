/*
 * Opens the files with the debug information of a library: the library itself, and the separate
 * file for a library that was stripped. Inner header of library/.
 *
 * debug_file.c tries the two ways in which distributions name separate files. libdwfl is not used,
 * as it would ask servers.
 *
 * The files are read, not mapped, as other programs may write to them, and closed at once.
 */
#ifndef TH_DEBUG_FILE_H
#define TH_DEBUG_FILE_H

#include <elfutils/libdw.h>
#include <gelf.h>

struct th_symbols;
struct th_examination;

struct th_debug_file {
    Elf *elf;     /* NULL: no file */
    Dwarf *dwarf; /* NULL: no lines */
};

/* Opens OWN, the examined library, if that file still exists; and if OWN has no lines, SEPARATE,
 * which is searched below FOLDER and beside the library (or beside the original of a copy). Owner:
 * the caller closes both. */
void th_debuginfo_files_open(const struct th_examination *facts, const char *folder,
                             struct th_debug_file *own, struct th_debug_file *separate);
void th_debuginfo_file_close(struct th_debug_file *file);

/* Opens the examined library for reading; below 0 if that file does not exist any more. */
int th_debuginfo_own_open(const struct th_examination *facts);

/* Reads the symbols of KIND, STT_FUNC or STT_OBJECT, of ELF's table TYPE, SHT_SYMTAB or SHT_DYNSYM,
 * if there is one, into SYMBOLS, which is empty. ELF may be NULL. */
void th_debuginfo_symbols_read(struct th_symbols *symbols, Elf *elf, GElf_Word type, int kind);

#endif
