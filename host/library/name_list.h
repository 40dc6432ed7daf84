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

/* Names that may have been meant. */

/* The longest name that is compared; longer ones are like nothing. */
enum { TH_SUGGEST_MAX = 64 };

/*
 * How many slips of the pen lie between A and B: letters left out, put in, exchanged for another,
 * or two neighbours swapped. More than TH_SUGGEST_MAX if one of them is too long to compare.
 */
size_t th_library_suggest_distance(const char *a, const char *b);

/*
 * The one of COUNT names that is most like NAME, NULL if none is so near that it may have been
 * meant: one slip in every three letters, or one of the two begins with the other. A name that
 * differs in nothing but capitals is the nearest.
 */
const char *th_library_suggest_nearest(const char *name, const char *const *names, size_t count);

/* "; did you mean 'NEAREST'?" for the end of a message, "" if there is none. Owner: the caller, who
 * frees the text with th_free(). */
char *th_library_suggest_question(const char *name, const char *const *names, size_t count);

#endif
