/*
 * Libraries that a test compiles as it wants them. Each is a file, and so a library, of its own.
 *
 *   struct th_library *library = compiled_open("gcc", "-O2", "#include <erl_nif.h>\n ...");
 *   void *f = compiled_function(library, "f");
 *   th_library_release(library);
 */
#ifndef COMPILED_H
#define COMPILED_H

#include "host/library/library.h"

/* True if there is such a compiler. */
bool compiled_by(const char *compiler);

/* A file made from the text SOURCE, or the file of that name if it ends in ".c" or ".cc". COMPILER
 * NULL: $CC. Fails the test if there is a fault. The caller removes it and frees the path. */
char *compiled_file(const char *compiler, const char *flags, const char *source);

/* The same, opened, and the file removed. */
struct th_library *compiled_open(const char *compiler, const char *flags, const char *source);

/* The label of the function NAME: of the library's table, or one of its TH_FUNCTIONs. NULL: it has
 * none. */
void *compiled_function(const struct th_library *library, const char *name);

#endif
