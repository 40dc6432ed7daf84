/* Deep copies from one environment to another. Iterative. */
#ifndef TH_COPY_H
#define TH_COPY_H

#include "env.h"

/* T, built anew in ENV; immediates as they are. Shared binaries and magic references take a further
 * share. Terms that T refers to twice are copied twice, as the BEAM does. */
th_term th_copy(th_env *env, th_term t);

/* The same without an environment: T, built anew in WORDS, of which there are COUNT, just
 * th_term_words(T). Shares that the copy holds are hung on *OFFHEAP; whoever has WORDS releases
 * them. */
th_term th_copy_into(th_term *words, size_t count, struct th_offheap **offheap, th_term t);

#endif
