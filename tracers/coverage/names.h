/* Names of functions, M:F/A, as text: what was called is compared with a list that somebody wrote.
 */
#ifndef COVERAGE_NAMES_H
#define COVERAGE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define COVERAGE_LOCAL __attribute__((visibility("hidden")))

struct name {
    char *text;
    size_t module; /* how much of it is the module's name */
    bool called, listed;
};

/* Start it as {0}. */
struct names {
    struct name *names;
    size_t used, size;
    size_t lost; /* there was no memory for them */
};

/* How long the M:F/A is that TEXT begins with, up to a blank or the end; 0: it is none. *MODULE
 * becomes how long M is. */
COVERAGE_LOCAL size_t name_size(const char *text, size_t *module);

/* Adds a copy of the first SIZE bytes of TEXT. */
COVERAGE_LOCAL void names_add(struct names *names, const char *text, size_t size,
                              const struct name *like);

/* Adds, as listed, the names with which lines of FILE begin, blanks before them or not; other lines
 * mean nothing. Returns how many there were. */
COVERAGE_LOCAL size_t names_read(struct names *names, FILE *file);

/* Makes one of those that are equal, and sorts them: modules stay together. */
COVERAGE_LOCAL void names_sort(struct names *names);

COVERAGE_LOCAL void names_free(struct names *names);

#endif
