/* Sets options in load(), and where this is forbidden. See options.h. */
#include "options.h"

static struct options *options; /* since load() */

static void on_halt(void *private_data)
{
    options->halted(private_data);
}

static void on_unload_thread(void *private_data)
{
    options->left(private_data);
}

static int set(ErlNifEnv *env, ErlNifOption option)
{
    switch (option) {
    case ERL_NIF_OPT_ON_HALT:
        return enif_set_option(env, option, on_halt);
    case ERL_NIF_OPT_ON_UNLOAD_THREAD:
        return enif_set_option(env, option, on_unload_thread);
    default:
        return enif_set_option(env, option);
    }
}

static void set_wrongly(ErlNifEnv *env)
{
    ErlNifEnv *other = enif_alloc_env();

    options->by_other = set(other, ERL_NIF_OPT_DELAY_HALT);
    options->without = enif_set_option(env, ERL_NIF_OPT_ON_HALT, (ErlNifOnHaltCallback *)NULL);
    options->unknown = set(env, (ErlNifOption)4);
    enif_free_env(other);
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    unsigned long address;

    if (!enif_get_ulong(env, info, &address))
        return -1;
    options = (struct options *)(address * 16);
    set_wrongly(env);
    for (int option = 1; option <= 3; option++)
        if (options->set & 1u << option) {
            options->results[option] = set(env, (ErlNifOption)option);
            options->again[option] = set(env, (ErlNifOption)option);
        }
    *private_data = options;
    return options->answer;
}

static void unload(ErlNifEnv *env, void *private_data)
{
    (void)env;
    options->unloaded(private_data);
}

static ERL_NIF_TERM call(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    options->later = set(env, ERL_NIF_OPT_DELAY_HALT);
    return enif_make_atom(env, "ok");
}

static ErlNifFunc functions[] = {{"call", 0, call, 0}};

ERL_NIF_INIT(options, functions, load, NULL, NULL, unload)
