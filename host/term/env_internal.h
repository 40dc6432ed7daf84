/* Environments, inside term/: how terms are put there. */
#ifndef TH_ENV_INTERNAL_H
#define TH_ENV_INTERNAL_H

#include "env.h"

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

#endif
