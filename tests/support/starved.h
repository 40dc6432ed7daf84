/*
 * Checks in a thread that gets no memory any more.
 */
#ifndef TESTS_STARVED_H
#define TESTS_STARVED_H

#include <stdbool.h>

/* Whether HOLDS answers true in a new thread, of a child, in which every malloc() fails. Skips the
 * test where a sanitizer ends a program that has no memory. */
bool holds_without_memory(bool (*holds)(void));

#endif
