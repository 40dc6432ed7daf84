/* Tuples. */
#include "nif.h"

#include "host/runtime/runtime.h"

int enif_is_tuple(ErlNifEnv *env, ERL_NIF_TERM term)
{
    (void)env;
    return th_is_tuple(term);
}

/* th_is_tuple() in two steps: so both branches are those that the compiler lays out as the rare. */
int enif_get_tuple(ErlNifEnv *env, ERL_NIF_TERM tpl, int *arity, const ERL_NIF_TERM **array)
{
    (void)env;
    if (__builtin_expect(!th_is_boxed(tpl), 0))
        return 0;
    if (__builtin_expect(th_subtag(tpl) != TH_TUPLE, 0))
        return th_check_misread_boxed(tpl, "enif_get_tuple");
    *arity = (int)th_tuple_arity(tpl);
    *array = th_tuple_elements(tpl);
    return 1;
}

/* Is called last, so that no register is saved without it. */
static __attribute__((cold, noinline)) th_term look_at_elements(th_term tuple, const char *function)
{
    th_check_parts(th_box(tuple) + 1, th_tuple_arity(tuple), 1, function);
    return tuple;
}

ERL_NIF_TERM enif_make_tuple(ErlNifEnv *env, unsigned cnt, ...)
{
    th_term *elements;
    th_term tuple = th_make_tuple_space(env, cnt, &elements);
    va_list args;

    va_start(args, cnt);
    for (unsigned i = 0; i < cnt; i++)
        elements[i] = va_arg(args, ERL_NIF_TERM);
    va_end(args);
    return th_check_on() ? look_at_elements(tuple, "enif_make_tuple") : tuple;
}

ERL_NIF_TERM enif_make_tuple_from_array(ErlNifEnv *env, const ERL_NIF_TERM arr[], unsigned cnt)
{
    th_term tuple = th_make_tuple(env, arr, cnt);

    return th_check_on() ? look_at_elements(tuple, "enif_make_tuple_from_array") : tuple;
}
