/*
 * Compiles libraries for a test, with any compiler and flags. Each library is a file of its own.
 *
 *   struct th_library *library = compiled_open("gcc", "-O2", "#include <erl_nif.h>\n ...");
 *   void *f = compiled_function(library, "f");
 *   th_library_release(library);
 */
#ifndef COMPILED_H
#define COMPILED_H

#include "host/library/library.h"

/* True if PATH has COMPILER. */
bool compiled_by(const char *compiler);

/* Compiles the text SOURCE, or the file SOURCE if that name ends in ".c" or ".cc", and returns the
 * path of the library. If COMPILER is NULL, $CC is used.
 * Owner: the caller removes the file and frees the path.
 * Errors: the test fails. */
char *compiled_file(const char *compiler, const char *flags, const char *source);

/* Compiles SOURCE, opens the library and removes the file. */
struct th_library *compiled_open(const char *compiler, const char *flags, const char *source);

/* Returns the code of the function NAME of the library's table, or the label of a TH_FUNCTION; NULL
 * if neither exists. */
void *compiled_function(const struct th_library *library, const char *name);

#endif
