/* Calls functions that are all alike, in C, any number of times: TH_FUNCTIONs and functions of the
 * table. The bench program has set a different breakpoint on each. */
#include <erl_nif.h>
#include <nif_module.h>

/* The names of the functions: the one that cannot have a breakpoint, then the others. */
#define PLAIN(EACH) EACH(plain)
#define TRACEABLE(EACH) \
    EACH(untouched)     \
    EACH(clear)         \
    EACH(discarded)     \
    EACH(traced)        \
    EACH(returned)      \
    EACH(rejected)

/* --- (env, term) ------------------------------------------------------------------------------ */

typedef ERL_NIF_TERM function(ErlNifEnv *env, ERL_NIF_TERM a);

static __attribute__((noinline)) ERL_NIF_TERM plain(ErlNifEnv *env, ERL_NIF_TERM a)
{
    return (ERL_NIF_TERM)env ^ (ERL_NIF_TERM)env ^ a;
}

#define FUNCTION(NAME)                                    \
    TH_FUNCTION(NAME, 1)(ErlNifEnv * env, ERL_NIF_TERM a) \
    {                                                     \
        return (ERL_NIF_TERM)env ^ (ERL_NIF_TERM)env ^ a; \
    }
TRACEABLE(FUNCTION)

/* --- (env, argc, argv) ------------------------------------------------------------------------ */

typedef ERL_NIF_TERM nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

static __attribute__((noinline)) ERL_NIF_TERM plain_nif(ErlNifEnv *env, int argc,
                                                        const ERL_NIF_TERM argv[])
{
    (void)env;
    return argv[argc - 1];
}

#define NIF(NAME)                                                            \
    TH_NIF(NAME##_nif)(ErlNifEnv * env, int argc, const ERL_NIF_TERM argv[]) \
    {                                                                        \
        (void)env;                                                           \
        return argv[argc - 1];                                               \
    }
TRACEABLE(NIF)

/* --- Calls ------------------------------------------------------------------------------------ */

#define ADDRESS(NAME) NAME,
#define NIF_ADDRESS(NAME) NAME##_nif,

static function *const functions[] = {PLAIN(ADDRESS) TRACEABLE(ADDRESS)};
static nif *const nifs[] = {PLAIN(NIF_ADDRESS) TRACEABLE(NIF_ADDRESS)};

/* calls(Nifs, Which, Times) */
static ERL_NIF_TERM calls(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    function *called;
    nif *called_nif;
    int of_table, which;
    long times;

    (void)argc;
    if (!enif_get_int(env, argv[0], &of_table) || !enif_get_int(env, argv[1], &which) ||
        !enif_get_long(env, argv[2], &times))
        return enif_make_badarg(env);
    called = functions[which];
    called_nif = nifs[which];
    if (of_table)
        for (long i = 0; i < times; i++)
            called_nif(env, 1, argv);
    else
        for (long i = 0; i < times; i++)
            called(env, argv[1]);
    return argv[2];
}

#define ENTRY(NAME) {#NAME "_nif", 1, NAME##_nif, 0},

static ErlNifFunc table[] = {PLAIN(ENTRY) TRACEABLE(ENTRY){"calls", 3, calls, 0}};

ERL_NIF_INIT(local, table, NULL, NULL, NULL, NULL)
