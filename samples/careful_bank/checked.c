/*
 * The second version of plugins/bank, compiled with the first: the functions that differ.
 *
 * The first version withdraws the money before it knows whether the other account is open, and
 * returns the money if not. This one checks first, with `balance`, which accounts of the first
 * version understand, too, as they continue while this version takes their place. This version also
 * returns the number of completed transfers, including those that the first version has counted.
 */
#include "plugins/bank/bank.h"

#undef transfer
ERL_NIF_TERM transfer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

/* The other account is open: it has returned its balance. Kept: From, To, Amount. */
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
