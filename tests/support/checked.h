/*
 * Calls functions of the library `sins` with the checker on, in the way a scheduler calls them.
 *
 *   checked_begin("clean");
 *   checked_call("give_kept", "[]");
 *   checked_expect(1, "sins:give_kept(): ...\n");
 */
#ifndef CHECKED_H
#define CHECKED_H

#include "host/runtime/runtime.h"

#include <stdio.h>

/* Redirects stderr to a file, starts the checker and loads the library with INFO.
 * checked_begin_clean() is the set-up function of CHECKED(). */
void checked_begin(const char *info);
int checked_begin_clean(void **state);

/* Restores stderr after a test; the teardown function of CHECKED(). */
int checked_give_up(void **state);

#define CHECKED(test) cmocka_unit_test_setup_teardown(test, checked_begin_clean, checked_give_up)

/* The findings that the checker has written so far. */
extern FILE *checked_said;

/*
 * Calls sins:FUNCTION; LIST is the text of its argument list. Returns the text of the result, or
 * "raised " and the reason.
 * checked_call_as() reports the call under NAME, as for a scheduled function. checked_perform()
 * appends the result to TEXT, for use by many threads.
 * Owner: the result is valid until the next call.
 */
const char *checked_call(const char *function, const char *list);
const char *checked_call_as(const char *function, const char *list, const char *name);
void checked_perform(const char *function, const char *list, const char *name,
                     struct th_buffer *text);

/* Ends the run and returns all findings, without prefixes. The caller frees the text. */
char *checked_end(uint64_t *findings);

/* Ends the run and asserts that the findings are COUNT and their text is LINES. */
void checked_expect(uint64_t count, const char *lines);

#endif
