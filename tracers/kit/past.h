/*
 * Shares of a recording for tracers that need the events before their share (th_tracer_past of
 * erl_tracer.h), so that their state is always that of a tracer that gets all events. They write
 * nothing for these events, and the state at the end of the last share is that of the whole.
 */
#ifndef TRACER_PAST_H
#define TRACER_PAST_H

#include "stack.h"

/* Returns whether the present event is one before this share. */
static inline bool past_is_played(void)
{
    return th_tracer_past == 1;
}

static inline ERL_NIF_TERM past_save_mfa(ErlNifEnv *env, const struct mfa *mfa)
{
    ERL_NIF_TERM none = enif_make_uint(env, 0);

    return enif_make_tuple3(env, mfa->module ? mfa->module : none,
                            mfa->function ? mfa->function : none, enif_make_uint(env, mfa->arity));
}

/* MODULE may be a process. */
static inline bool past_take_mfa(ErlNifEnv *env, ERL_NIF_TERM saved, struct mfa *mfa)
{
    const ERL_NIF_TERM *elements;
    int size;

    *mfa = (struct mfa){0};
    if (!enif_get_tuple(env, saved, &size, &elements) || size != 3 ||
        !enif_get_uint(env, elements[2], &mfa->arity))
        return false;
    mfa->module = enif_is_number(env, elements[0]) ? 0 : elements[0];
    mfa->function = enif_is_atom(env, elements[1]) ? elements[1] : 0;
    return true;
}

/* Returns the COUNT numbers at NUMBERS as a list. */
static inline ERL_NIF_TERM past_save_numbers(ErlNifEnv *env, size_t count,
                                             const uint64_t *const numbers[])
{
    ERL_NIF_TERM list = enif_make_list(env, 0);

    while (count-- > 0)
        list = enif_make_list_cell(env, enif_make_uint64(env, *numbers[count]), list);
    return list;
}

/* Sets the COUNT numbers from such a list. */
static inline bool past_take_numbers(ErlNifEnv *env, ERL_NIF_TERM list, size_t count,
                                     uint64_t *const numbers[])
{
    ERL_NIF_TERM head;
    ErlNifUInt64 number;

    for (size_t i = 0; i < count; i++) {
        if (!enif_get_list_cell(env, list, &head, &list) || !enif_get_uint64(env, head, &number))
            return false;
        *numbers[i] = number;
    }
    return true;
}

/* Save and replace the counts of REPAIRS. */
static inline ERL_NIF_TERM past_save_repairs(ErlNifEnv *env, const struct repairs *repairs)
{
    const uint64_t *const numbers[] = {&repairs->cut, &repairs->uncalled, &repairs->beyond,
                                       &repairs->doubtful};

    return enif_make_tuple2(env, past_save_numbers(env, 4, numbers),
                            past_save_mfa(env, &repairs->doubted));
}

static inline bool past_take_repairs(ErlNifEnv *env, ERL_NIF_TERM saved, struct repairs *repairs)
{
    uint64_t *const numbers[] = {&repairs->cut, &repairs->uncalled, &repairs->beyond,
                                 &repairs->doubtful};
    const ERL_NIF_TERM *elements;
    int size;

    return enif_get_tuple(env, saved, &size, &elements) && size == 2 &&
           past_take_numbers(env, elements[0], 4, numbers) &&
           past_take_mfa(env, elements[1], &repairs->doubted);
}

#endif
