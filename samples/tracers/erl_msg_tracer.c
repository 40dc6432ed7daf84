/*
 * The example of the erl_tracer manual page, in other words but with the same calls of the NIF API:
 * for each message sent, it sends {trace, Sender, Receiver} to the process that is its state.
 *
 * Compiles with OTP's erl_nif.h as with tracehost's, and loads into both kinds of host.
 */
#include <erl_nif.h>

#define UNUSED __attribute__((unused))

static int load(ErlNifEnv *env UNUSED, void **priv_data, ERL_NIF_TERM load_info UNUSED)
{
    *priv_data = NULL;
    return 0;
}

static void unload(ErlNifEnv *env UNUSED, void *priv_data UNUSED)
{
}

/* No private data to take over. */
static int upgrade(ErlNifEnv *env, void **priv_data, void **old_priv_data, ERL_NIF_TERM load_info)
{
    if (*priv_data != NULL || *old_priv_data != NULL)
        return -1;
    return load(env, priv_data, load_info) ? -1 : 0;
}

static int is_atom_named(ErlNifEnv *env, ERL_NIF_TERM term, const char *name)
{
    return enif_is_identical(enif_make_atom(env, name), term);
}

/* argv: tag, state, tracee */
static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc UNUSED, const ERL_NIF_TERM argv[])
{
    ErlNifPid receiver;

    /* If the receiving process is dead, tracing for it may end. */
    if (enif_get_local_pid(env, argv[1], &receiver) && !enif_is_process_alive(env, &receiver))
        return enif_make_atom(env,
                              is_atom_named(env, argv[0], "trace_status") ? "remove" : "discard");

    /* Messages about its own messages would never end. */
    if (enif_is_identical(argv[1], argv[2]))
        return enif_make_atom(env, "discard");

    if (is_atom_named(env, argv[0], "send") || is_atom_named(env, argv[0], "trace_status"))
        return enif_make_atom(env, "trace");
    return enif_make_atom(env, "discard");
}

/* argv: tag, state, tracee, message, options with the receiver as `extra` */
static ERL_NIF_TERM trace(ErlNifEnv *env, int argc UNUSED, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM to, report;
    ErlNifPid receiver;

    if (enif_get_local_pid(env, argv[1], &receiver) &&
        enif_get_map_value(env, argv[4], enif_make_atom(env, "extra"), &to)) {
        report = enif_make_tuple3(env, enif_make_atom(env, "trace"), argv[2], to);
        enif_send(env, &receiver, NULL, report);
    }
    return enif_make_atom(env, "ok");
}

static ErlNifFunc functions[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};

ERL_NIF_INIT(erl_msg_tracer, functions, load, NULL, upgrade, unload)
