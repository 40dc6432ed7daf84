/*
 * Opens libraries that were built for the tests. FILE is relative to $BUILD_DIR. Each error fails
 * the test.
 */
#ifndef LOADED_H
#define LOADED_H

#include "host/library/library.h"

#include "tests/tracers/hooked.h"

/* Opens a library, such as a tracer to attach, without loading it. The caller releases it. */
struct th_library *loaded_open(const char *file);

/* Opens a library and loads it; load() gets INFO. The caller releases the library. */
struct th_library *loaded_plugin(const char *file, th_term info);

/* Returns the address of the exported variable NAME of FILE, which must be open. */
void *loaded_variable(const char *file, const char *name);

/* Makes HOOK the function behind all callbacks of tests/tracers/hooked.so, which must be open.
 * Returns the previous function.
 * Thread: if HOOK is already set, nothing is written, so callbacks may run meanwhile. */
hooked_function *loaded_hook(hooked_function *hook);

#endif
