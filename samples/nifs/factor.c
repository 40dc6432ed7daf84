/*
 * factor: the prime factors of a number, by functions that call each other in C. See
 * samples/breakpoints-in-machine-code.md.
 *
 *     factors(N) -> from(N, 2).
 *     from(1, _) -> [];
 *     from(N, D) when N rem D =:= 0 -> [D | from(N div D, D)];
 *     from(N, D) -> from(N, next(N, D)).
 */
#include <nif_module.h>

static __attribute__((noinline)) unsigned long number(ErlNifEnv *env, ERL_NIF_TERM term)
{
    unsigned long n;

    return enif_get_ulong(env, term, &n) ? n : 0;
}

/* Returns the next D that may divide N: beyond N's square root, N itself. */
TH_FUNCTION(next, 2)(ErlNifEnv *env, ERL_NIF_TERM n, ERL_NIF_TERM divisor)
{
    unsigned long d = number(env, divisor) + 1;

    return d <= number(env, n) / d ? enif_make_ulong(env, d) : n;
}

TH_FUNCTION(from, 2)(ErlNifEnv *env, ERL_NIF_TERM n, ERL_NIF_TERM divisor)
{
    unsigned long value = number(env, n), d = number(env, divisor);

    if (value == 1)
        return enif_make_list(env, 0);
    if (value % d == 0)
        return enif_make_list_cell(env, divisor,
                                   from(env, enif_make_ulong(env, value / d), divisor));
    return TH_SELF(from)(env, n, next(env, n, divisor));
}

static ERL_NIF_TERM factors(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (number(env, argv[0]) == 0)
        return enif_make_badarg(env);
    return from(env, argv[0], enif_make_ulong(env, 2));
}

static ErlNifFunc functions[] = {{"factors", 1, factors, 0}};

ERL_NIF_INIT(factor, functions, NULL, NULL, NULL, NULL)
