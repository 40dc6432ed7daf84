/* A module in two versions, GENERATION 1 and 2, for tests of replaced code: some functions are in
 * both, some in one only. */
#include <nif_module.h>

#include <stdatomic.h>

#define NIF(NAME) static ERL_NIF_TERM NAME(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])

/* Returns TERM through a barrier, so that the caller cannot end with a jump to its callee. */
static ERL_NIF_TERM kept(ERL_NIF_TERM term)
{
    __asm__ volatile("" : "+r"(term));
    return term;
}

TH_FUNCTION(inner, 1)(ErlNifEnv *env, ERL_NIF_TERM a)
{
    (void)a;
    return enif_make_int(env, GENERATION);
}

NIF(outer)
{
    (void)argc;
    return kept(inner(env, argv[0]));
}

NIF(plain)
{
    (void)argc;
    (void)argv;
    return enif_make_int(env, GENERATION);
}

/* stay(Address) calls inner/1 and counts these calls in the first of the two longs at ADDRESS,
 * until the second is not 0. */
NIF(stay)
{
    _Atomic long *words;
    unsigned long address;

    (void)argc;
    if (!enif_get_ulong(env, argv[0], &address))
        return enif_make_badarg(env);
    words = (_Atomic long *)address;
    do {
        kept(inner(env, argv[0]));
        atomic_fetch_add(&words[0], 1);
    } while (!atomic_load(&words[1]));
    return enif_make_int(env, GENERATION);
}

NIF(two)
{
    (void)argc;
    return enif_make_tuple2(env, argv[0], argv[1]);
}

#if GENERATION == 1

TH_FUNCTION(inner_old, 1)(ErlNifEnv *env, ERL_NIF_TERM a)
{
    (void)env;
    return a;
}

NIF(only_old)
{
    (void)argc;
    return kept(inner_old(env, argv[0]));
}

#define OWN                                           \
    {"only_old", 1, only_old, 0}, {"one", 2, two, 0}, \
    {                                                 \
        "other", 2, two, 0                            \
    }

#else

TH_FUNCTION(inner_new, 1)(ErlNifEnv *env, ERL_NIF_TERM a)
{
    (void)env;
    return a;
}

NIF(only_new)
{
    (void)argc;
    return kept(inner_new(env, argv[0]));
}

NIF(another_two)
{
    (void)argc;
    return enif_make_tuple2(env, argv[1], argv[0]);
}

#define OWN                                           \
    {"only_new", 1, only_new, 0}, {"one", 2, two, 0}, \
    {                                                 \
        "other", 2, another_two, 0                    \
    }

#endif

static ErlNifFunc functions[] = {
    {"outer", 1, outer, 0}, {"plain", 1, plain, 0}, {"stay", 1, stay, 0}, OWN};

ERL_NIF_INIT(twin, functions, NULL, NULL, NULL, NULL)
