/*
 * Functions of several headers that only term/ uses.
 */
#ifndef TH_TERM_INTERNAL_H
#define TH_TERM_INTERNAL_H

#include "env.h"

#include "host/base/error.h"

struct th_segments;
struct th_scanner;

/* --- Environments ----------------------------------------------------------------------------- */

/* As th_env_take(), from the budget of base/memory.h, for input that is read.
 * Errors: NULL, with an error raised, if the budget is exceeded or the system refuses memory. */
th_term *th_env_try_grow(th_env *env, size_t words);
static inline th_term *th_env_try(th_env *env, size_t words)
{
    th_term *place = env->top;

    if (__builtin_expect((size_t)(env->limit - place) < words, 0))
        return th_env_try_grow(env, words);
    if (!place)
        __builtin_unreachable(); /* so that compilers omit the caller's check */
    env->top = place + words;
    return place;
}

/* --- Binaries --------------------------------------------------------------------------------- */

/* The words of a shared binary, with its header. */
enum { TH_SHARED_BINARY_WORDS = 6 };

/* The words of a heap binary of BITS bits. */
static inline size_t th_term_heap_binary_words(size_t bits)
{
    return 2 + bits / 64 + (bits % 64 != 0);
}

/* --- Segments of bit strings ------------------------------------------------------------------ */

/*
 * Adds a segment whose value was just read, at PLACE: VALUE, or the scanner's characters if VALUE
 * is TH_NONE. Reads the optional ":Size" and "/Types" behind the value, and the token behind them.
 */
enum th_status th_text_segment_add(struct th_segments *b, struct th_scanner *s, const char *place,
                                   th_term value);

#endif
