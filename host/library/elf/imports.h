/* What a library needs from others. Inner header of library/. */
#ifndef TH_LIBRARY_IMPORTS_H
#define TH_LIBRARY_IMPORTS_H

#include "host/library/examine.h"

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
