/* Names of functions, M:F/A, as text, for comparing calls with a list that a user wrote. */
#ifndef COVERAGE_NAMES_H
#define COVERAGE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define COVERAGE_LOCAL __attribute__((visibility("hidden")))

struct name {
    char *text;
    size_t module; /* length of the module's name in `text` */
    bool called, listed;
};

/* Initialised with {0}. */
struct names {
    struct name *names;
    size_t used, size;
    size_t lost; /* names without memory */
};

/* Returns the length of the M:F/A at the start of TEXT, up to a blank or the end; 0: none. *MODULE
 * gets the length of M. */
COVERAGE_LOCAL size_t name_size(const char *text, size_t *module);

/* Adds a copy of the first SIZE bytes of TEXT. */
COVERAGE_LOCAL void names_add(struct names *names, const char *text, size_t size,
                              const struct name *like);

/* Adds each name at the start of a line of FILE, after optional blanks, with `listed` set. Ignores
 * other lines. Returns the number of names. */
COVERAGE_LOCAL size_t names_read(struct names *names, FILE *file);

/* Sorts the names, so that modules stay together, and merges equal ones. */
COVERAGE_LOCAL void names_sort(struct names *names);

COVERAGE_LOCAL void names_free(struct names *names);

#endif
