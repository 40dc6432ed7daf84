/*
 * Functions of the library `sins`, called as a scheduler calls them while the checker is on.
 *
 *   checked_begin("clean");
 *   checked_call("give_kept", "[]");
 *   checked_expect(1, "sins:give_kept(): ...\n");
 */
#ifndef CHECKED_H
#define CHECKED_H

#include "host/runtime/runtime.h"

#include <stdio.h>

/* Starts the checker, and loads the library with INFO. _clean: for CHECKED(). */
void checked_begin(const char *info);
int checked_begin_clean(void **state);

/* For after a test: what is on stderr is seen again. */
int checked_give_up(void **state);

#define CHECKED(test) cmocka_unit_test_setup_teardown(test, checked_begin_clean, checked_give_up)

/* What the checker says meanwhile. */
extern FILE *checked_said;

/*
 * Calls sins:FUNCTION(ARGUMENTS), these as a list. What came: the result, or `raised` and the
 * reason; valid until the next call. _as: as a function called NAME, that was scheduled. _perform,
 * for many threads, appends what came to TEXT.
 */
const char *checked_call(const char *function, const char *list);
const char *checked_call_as(const char *function, const char *list, const char *name);
void checked_perform(const char *function, const char *list, const char *name,
                     struct th_buffer *text);

/* Ends the run. All that was said, without what stands at the beginning of each line; the caller
 * frees it. */
char *checked_end(uint64_t *findings);

/* Ends it: exactly LINES were said, COUNT findings. */
void checked_expect(uint64_t count, const char *lines);

#endif
