/* Runs a check in a thread that gets no memory. */
#ifndef TESTS_STARVED_H
#define TESTS_STARVED_H

#include <stdbool.h>

/* Returns the result of HOLDS, which runs in a new thread of a child process in which each malloc()
 * fails. Skips the test under a sanitizer, which has an allocator of its own. */
bool holds_without_memory(bool (*holds)(void));

#endif
