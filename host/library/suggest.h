/* Names that may have been meant. */
#ifndef TH_SUGGEST_H
#define TH_SUGGEST_H

#include <stddef.h>

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
