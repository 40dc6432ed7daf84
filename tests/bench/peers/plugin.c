/* The measured program as a library for tracehost: peers:answer(X) calls hit/1 with X. */
#include <erl_nif.h>

#include "hit.h"

static ERL_NIF_TERM answer_all(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    answer(env, argv[0]);
    return argv[0];
}

static ErlNifFunc functions[] = {
    {"hit", 1, hit, 0},
    {"answer", 1, answer_all, 0},
};

ERL_NIF_INIT(peers, functions, NULL, NULL, NULL, NULL)
