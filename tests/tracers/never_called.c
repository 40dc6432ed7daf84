/* Has functions that look like callbacks, as real tracers do, but are none. */
#include <erl_nif.h>

static ERL_NIF_TERM answer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env, (void)argc;
    return argv[0];
}

static ErlNifFunc functions[] = {
    {"enabled", 3, answer, 0},           {"trace", 5, answer, 0},
    {"enabled_return_to", 3, answer, 0}, {"trace_spawn", 5, answer, 0},
    {"trace_call", 4, answer, 0},        {"trace_helper", 1, answer, 0},
};
ERL_NIF_INIT(never_called_module, functions, NULL, NULL, NULL, NULL)
