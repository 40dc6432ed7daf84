/*
 * A list of strings: the imports of a library, the libraries that it needs, remarks about it.
 *
 * Initialise with `struct th_names n = {0}`.
 * Owner: the list owns its strings.
 * Thread: one at a time.
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

/* Appends NAME itself. Owner: the list, which frees NAME with th_free(). */
void th_library_names_take(struct th_names *names, char *name);

bool th_library_names_contain(const struct th_names *names, const char *name);

/* Returns "a, b and c", at most LIMIT names, then "and N more". Owner: the caller frees it. */
char *th_library_names_join(const struct th_names *names, size_t limit);

/* Frees the strings; NAMES is then empty and may be used again. */
void th_library_names_free(struct th_names *names);

/* Suggestions for misspelt names. */

/* The longest name that is compared, in bytes; a longer one is similar to none. */
enum { TH_SUGGEST_MAX = 64 };

/*
 * Returns the number of typing errors between A and B: letters missing, added or replaced, or two
 * neighbours swapped. More than TH_SUGGEST_MAX if a name is too long.
 */
size_t th_library_suggest_distance(const char *a, const char *b);

/*
 * Returns the one of COUNT names that is most similar to NAME; NULL if none is similar enough: at
 * most one error in every three letters, or one name begins with the other (of three letters or
 * more). A name that differs only in capitals is the nearest.
 */
const char *th_library_suggest_nearest(const char *name, const char *const *names, size_t count);

/* Returns "; did you mean 'NEAREST'?" for the end of a message, "" if th_library_suggest_nearest()
 * finds no name.
 * Owner: the caller frees the text with th_free(). */
char *th_library_suggest_question(const char *name, const char *const *names, size_t count);

#endif
