/* Reads functions from terms. */
#ifndef TRACER_MFA_H
#define TRACER_MFA_H

#include <erl_tracer.h>

#include <stdbool.h>

/* A function. Atoms are the same words in every environment and for ever. */
struct mfa {
    ERL_NIF_TERM module, function; /* 0: unknown */
    unsigned arity;
};

static inline bool mfa_same(const struct mfa *a, const struct mfa *b)
{
    return a->function == b->function && a->module == b->module && a->arity == b->arity;
}

/* Reads {M, F, Arity} or {M, F, Args}, and `undefined` as {undefined, 0, 0}. False for any other
 * term. */
static inline bool mfa_read(ErlNifEnv *env, ERL_NIF_TERM term, struct mfa *mfa)
{
    const ERL_NIF_TERM *elements;
    int size;

    if (term == TH_TRACER_ATOM(env, undefined)) {
        *mfa = (struct mfa){term, 0, 0};
        return true;
    }
    if (!enif_get_tuple(env, term, &size, &elements) || size != 3 ||
        !enif_is_atom(env, elements[0]) || !enif_is_atom(env, elements[1]))
        return false;
    mfa->module = elements[0];
    mfa->function = elements[1];
    return enif_get_uint(env, elements[2], &mfa->arity) ||
           enif_get_list_length(env, elements[2], &mfa->arity);
}

/* Returns the caller of a call, from its match specification's result. All zero if that is no
 * function. */
static inline struct mfa mfa_of_caller(ErlNifEnv *env, ERL_NIF_TERM opts)
{
    struct mfa caller;
    ERL_NIF_TERM result;

    if (enif_get_map_value(env, opts, TH_TRACER_ATOM(env, match_spec_result), &result) &&
        mfa_read(env, result, &caller))
        return caller;
    return (struct mfa){0};
}

#endif
