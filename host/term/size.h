/* How much room a term takes. */
#ifndef TH_SIZE_H
#define TH_SIZE_H

#include "word.h"

/* The words that a copy of T takes, without the word that is T itself: 0 for an immediate. What is
 * referred to twice counts twice; what is shared, as the bytes of a shared binary, does not count.
 * Iterative. */
size_t th_term_words(th_term t);

/* The same, but it stops counting soon after MOST: what refers to one thing again and again can
 * have a copy of any size. */
size_t th_term_words_up_to(th_term t, size_t most);

#endif
