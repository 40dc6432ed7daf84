/* A tracer whose `enabled` returns its state, the atom trace or discard. For tracehost and a
 * BEAM. */
#include <erl_nif.h>

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    return argv[1];
}

static ERL_NIF_TERM trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    return argv[0];
}

static ErlNifFunc functions[] = {
    {"enabled", 3, enabled, 0},
    {"trace", 5, trace, 0},
    {"enabled_call", 3, enabled, 0},
    {"trace_call", 5, trace, 0},
};

ERL_NIF_INIT(as_told, functions, NULL, NULL, NULL, NULL)
