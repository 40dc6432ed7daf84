/* A library with a function of each form, for the tests of native sites. Its terms are any words,
 * no function calls the host. */
#include <erl_nif.h>
#include <nif_module.h>

TH_FUNCTION(terms_0, 0)(ErlNifEnv *env)
{
    return (ERL_NIF_TERM)env + 1;
}

TH_FUNCTION(terms_1, 1)(ErlNifEnv *env, ERL_NIF_TERM a)
{
    return (ERL_NIF_TERM)env + 3 * a;
}

TH_FUNCTION(terms_2, 2)(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    return (ERL_NIF_TERM)env + 3 * a + 5 * b;
}

TH_FUNCTION(terms_3, 3)(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b, ERL_NIF_TERM c)
{
    return (ERL_NIF_TERM)env + 3 * a + 5 * b + 7 * c;
}

TH_FUNCTION(terms_4, 4)
(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b, ERL_NIF_TERM c, ERL_NIF_TERM d)
{
    return (ERL_NIF_TERM)env + 3 * a + 5 * b + 7 * c + 11 * d;
}

TH_FUNCTION(terms_5, 5)
(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b, ERL_NIF_TERM c, ERL_NIF_TERM d, ERL_NIF_TERM e)
{
    return (ERL_NIF_TERM)env + 3 * a + 5 * b + 7 * c + 11 * d + 13 * e;
}

static __attribute__((noinline)) ERL_NIF_TERM nif(ErlNifEnv *env, int argc,
                                                  const ERL_NIF_TERM argv[])
{
    return (ERL_NIF_TERM)env + 17 * (ERL_NIF_TERM)argc + (argc > 0 ? 3 * argv[0] : 0);
}

/* Calls the other functions directly; the compiler makes local calls of these. */
static ERL_NIF_TERM all(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM a = argv[0];
    ERL_NIF_TERM sum = terms_0(env) + terms_1(env, a) + terms_2(env, a, a) + terms_3(env, a, a, a);

    return sum + terms_4(env, a, a, a, a) + terms_5(env, a, a, a, a, a) + nif(env, argc, argv);
}

static ErlNifFunc functions[] = {{"nif", 1, nif, 0}, {"all", 1, all, 0}};

ERL_NIF_INIT(forms, functions, NULL, NULL, NULL, NULL)
