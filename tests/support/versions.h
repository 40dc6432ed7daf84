/* Modules in many versions, made of tests/plugins/version.c. */
#ifndef VERSIONS_H
#define VERSIONS_H

#include "host/code/code.h"

/* The path of a file of its own, which is a library of the module NAME, as long as "version_0000".
 * The caller removes the file, and frees the path. */
char *version_file(const char *name);

/* A library of the module NAME, as long as "version_0000", from a file of its own: open, and
 * prepared. What it is loaded with tells which version it is. */
struct th_instance *version_prepare(const char *name);

/* Finishes a list of them, as version NUMBER, or with INFO, Erlang's text. The status; what was
 * refused is dropped. */
enum th_status version_load(const char *const names[], size_t count, long number);
enum th_status version_load_info(const char *const names[], size_t count, const char *info);

#endif
