/* Builds modules in many versions from tests/plugins/version.c. */
#ifndef VERSIONS_H
#define VERSIONS_H

#include "host/code/code.h"

/* Creates a file with a library of the module NAME, which is as long as "version_0000".
 * Owner: the caller removes the file and frees the path. */
char *version_file(const char *name);

/* Opens and prepares a library of the module NAME, as long as "version_0000", from a file of its
 * own. The argument of its load() is its version. */
struct th_instance *version_prepare(const char *name);

/* Prepares and finishes the modules NAMES as version NUMBER, or with INFO, an Erlang text. Returns
 * the status.
 * Errors: after a refusal, all are dropped. */
enum th_status version_load(const char *const names[], size_t count, long number);
enum th_status version_load_info(const char *const names[], size_t count, const char *info);

#endif
