/* Defines functions of each kind for nif_module.h and the flags of tracehost-plugin.pc: one of a
 * table that is called in C, too; local ones; one that ends with a call of itself. C and C++. */
#include <nif_module.h>

/* Equal functions, which a compiler could merge. */
static ERL_NIF_TERM twin(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return argc == 1 ? enif_make_tuple2(env, argv[0], argv[0]) : enif_make_badarg(env);
}

static ERL_NIF_TERM other_twin(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return argc == 1 ? enif_make_tuple2(env, argv[0], argv[0]) : enif_make_badarg(env);
}

/* The larger part rarely runs, so compilers may move it elsewhere. */
static ERL_NIF_TERM careful(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    int n;

    if (!enif_get_int(env, argv[0], &n))
        return enif_raise_exception(env, enif_make_tuple2(env, argv[0], enif_make_int(env, argc)));
    if (__builtin_expect(n > 1000, 0))
        for (int i = 0; i < n; i++)
            enif_consume_timeslice(env, i);
    return enif_make_int(env, 2 * n);
}

/* So small that a call costs more than its body. */
TH_NIF(lookup)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_make_int(env, argc + (enif_is_atom(env, argv[0]) ? 1 : 0));
}

/* All calls have the same argument, so compilers could clone the function. */
TH_FUNCTION(bump, 2)(ErlNifEnv *env, ERL_NIF_TERM count, ERL_NIF_TERM step)
{
    int n, more;

    return enif_get_int(env, count, &n) && enif_get_int(env, step, &more)
               ? enif_make_int(env, n + more)
               : count;
}

TH_FUNCTION(countdown, 1)(ErlNifEnv *env, ERL_NIF_TERM count)
{
    ERL_NIF_TERM less = bump(env, count, enif_make_int(env, -1));

    if (enif_compare(less, enif_make_int(env, 0)) <= 0)
        return less;
    return TH_SELF(countdown)(env, less);
}

static ERL_NIF_TERM all(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM found = lookup(env, argc, argv);

    return enif_make_list2(env, found, countdown(env, argv[0]));
}

static ErlNifFunc functions[] = {
    {"twin", 1, twin, 0},       {"other_twin", 1, other_twin, 0},
    {"careful", 1, careful, 0}, {"lookup", 1, lookup, 0},
    {"all", 1, all, 0},
};

ERL_NIF_INIT(patchable, functions, NULL, NULL, NULL, NULL)
