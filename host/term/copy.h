/* Deep copies, and the room that they take. */
#ifndef TH_COPY_H
#define TH_COPY_H

#include "env.h"
#include "word.h"

/* Deep copies from one environment to another. Iterative. */

/* T, built anew in ENV; immediates as they are. Shared binaries and magic references take a further
 * share. Terms that T refers to twice are copied twice, as the BEAM does. */
th_term th_copy(th_env *env, th_term t);

/* The same without an environment: T, built anew in WORDS, of which there are COUNT, just
 * th_term_words(T). Shares that the copy holds are hung on *OFFHEAP; whoever has WORDS releases
 * them. */
th_term th_copy_into(th_term *words, size_t count, struct th_offheap **offheap, th_term t);

/* How much room a term takes. */

/* The words that a copy of T takes, without the word that is T itself: 0 for an immediate. What is
 * referred to twice counts twice; what is shared, as the bytes of a shared binary, does not count.
 * Iterative. */
size_t th_term_words(th_term t);

/* The same, but it stops counting soon after MOST: what refers to one thing again and again can
 * have a copy of any size. */
size_t th_term_words_up_to(th_term t, size_t most);

#endif
