/* What a library needs from others. Inner header of library/. */
#ifndef TH_LIBRARY_IMPORTS_H
#define TH_LIBRARY_IMPORTS_H

#include "host/library/examine.h"

/* Appends an undefined symbol to what E imports. */
void th_import_add(struct th_examination *e, const char *name, bool weak);

/* TH_REFUSED, naming them all, if E imports functions that nobody has. */
enum th_status th_imports_check(const struct th_examination *e);

/* Notes what those that are known let it do: `exit_hook` and `starts_threads`. */
void th_imports_note(struct th_examination *e);

#endif
