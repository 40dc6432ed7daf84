/*
 * Libraries that were built for the tests: FILE is below $BUILD_DIR. What goes wrong fails the
 * test.
 */
#ifndef LOADED_H
#define LOADED_H

#include "host/library/library.h"

#include "tests/tracers/hooked.h"

/* Opened, not loaded: a tracer that is to be attached. The caller releases it. */
struct th_library *loaded_open(const char *file);

/* Opened and loaded: load() gets INFO. The caller releases it. */
struct th_library *loaded_plugin(const char *file, th_term info);

/* The address of the exported variable NAME of a library that is open. */
void *loaded_variable(const char *file, const char *name);

/* Has HOOK be all callbacks of tests/tracers/hooked.so, which is open, and returns what was before.
 * Nothing is written if it was HOOK: then callbacks may run. */
hooked_function *loaded_hook(hooked_function *hook);

#endif
