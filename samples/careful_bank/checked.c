/*
 * The second version of plugins/bank, with which it is compiled: what is other than in the first.
 *
 * The first one takes the money before it knows whether the other account is open, and gives it
 * back if not. This one asks first: by `balance`, which accounts of the first version understand,
 * too, as they go on while this takes their place. And it tells how many transfers have arrived, of
 * those that the first version has counted, too.
 */
#include "plugins/bank/bank.h"

#undef transfer
ERL_NIF_TERM transfer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

/* The other account is open: it has told its balance. Kept: From, To, Amount. */
static ERL_NIF_TERM is_open(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return transfer(env, argc - 1, argv + 1);
}

ERL_NIF_TERM checked_transfer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    if (!th_host_present())
        return not_supported(env);
    return th_call_then(env, atom(env, "bank"), atom(env, "balance"), 1, &argv[1], is_open, 0, argc,
                        argv);
}

ERL_NIF_TERM transfers(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return enif_make_long(env,
                          atomic_load_explicit(&books_of(env)->transfers, memory_order_relaxed));
}
