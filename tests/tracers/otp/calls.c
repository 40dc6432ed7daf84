/* Functions that return or raise their arguments, for comparing a session with a BEAM's shell. */
#include <erl_nif.h>

static ERL_NIF_TERM echo(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    return argv[0];
}

static ERL_NIF_TERM raise_reason(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return enif_raise_exception(env, argv[0]);
}

static ERL_NIF_TERM refuse(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return enif_make_badarg(env);
}

/* Sends its argument to its caller. */
static ERL_NIF_TERM post(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid self;

    (void)argc;
    return enif_make_int(env, enif_send(env, enif_self(env, &self), NULL, argv[0]));
}

static ErlNifFunc functions[] = {
    {"echo", 1, echo, 0},     {"raise", 1, raise_reason, 0}, {"refuse", 0, refuse, 0},
    {"refuse", 2, refuse, 0}, {"post", 1, post, 0},
};

ERL_NIF_INIT(calls, functions, NULL, NULL, NULL, NULL)
