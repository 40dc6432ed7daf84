/*
 * What only term/ sees.
 */
#ifndef TH_TERM_INTERNAL_H
#define TH_TERM_INTERNAL_H

#include "env.h"

#include "host/base/error.h"

struct th_segments;
struct th_scanner;

/* --- Of env.h --------------------------------------------------------------------------------- */

/* th_env_take() for what is read, from the budget of base/memory.h: NULL, with an error raised, if
 * that is exceeded. */
th_term *th_env_try_grow(th_env *env, size_t words);
static inline th_term *th_env_try(th_env *env, size_t words)
{
    th_term *place = env->top;

    if (__builtin_expect((size_t)(env->limit - place) < words, 0))
        return th_env_try_grow(env, words);
    if (!place)
        __builtin_unreachable(); /* so that compilers leave out the caller's check */
    env->top = place + words;
    return place;
}

/* --- Of make.h -------------------------------------------------------------------------------- */

/* The words that it takes. */
static inline size_t th_term_heap_binary_words(size_t bits)
{
    return 2 + bits / 64 + (bits % 64 != 0);
}

/* --- Of text_segment.h ------------------------------------------------------------------------ */

/*
 * Adds a segment whose value was just read, at PLACE: VALUE, or the scanner's characters if it is
 * TH_NONE. Reads what may follow the value, ":Size" and "/Types", and the token behind it.
 */
enum th_status th_text_segment_add(struct th_segments *b, struct th_scanner *s, const char *place,
                                   th_term value);

#endif
