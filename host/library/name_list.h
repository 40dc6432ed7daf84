/*
 * A list of strings of its own: what a library imports, needs, or is remarked on.
 *
 * Start it as `struct th_names n = {0}`. One thread at a time.
 */
#ifndef TH_NAME_LIST_H
#define TH_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct th_names {
    char **items;
    size_t count;
    size_t capacity;
};

/* Appends a copy of NAME. */
void th_library_names_add(struct th_names *names, const char *name);

/* Appends NAME itself, which th_free() will free: for what th_printf() made. */
void th_library_names_take(struct th_names *names, char *name);

bool th_library_names_contain(const struct th_names *names, const char *name);

/* "a, b and c"; the caller frees it. At most LIMIT names, then "and N more". */
char *th_library_names_join(const struct th_names *names, size_t limit);

/* Frees the strings; NAMES is empty and can be used again. */
void th_library_names_free(struct th_names *names);

#endif
