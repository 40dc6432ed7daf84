/* Defines the same function without and with room for a breakpoint. */
#include <erl_nif.h>
#include <nif_module.h>

static __attribute__((noinline)) ERL_NIF_TERM plain(ErlNifEnv *env, ERL_NIF_TERM a)
{
    return (ERL_NIF_TERM)env + 3 * a;
}

TH_FUNCTION(patchable, 1)(ErlNifEnv *env, ERL_NIF_TERM a)
{
    return (ERL_NIF_TERM)env + 3 * a;
}

/* Returns the address of the function without room. */
static ERL_NIF_TERM find_plain(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    (void)argv;
    return (ERL_NIF_TERM)plain;
}

static ErlNifFunc functions[] = {{"find_plain", 0, find_plain, 0}};

ERL_NIF_INIT(native, functions, NULL, NULL, NULL, NULL)
