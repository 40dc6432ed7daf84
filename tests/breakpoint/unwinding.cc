/* A library whose functions end in all ways that are no return: for the tests of native sites. */
#include <erl_nif.h>
#include <nif_module.h>

#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>

TH_FUNCTION(throws, 1)(ErlNifEnv *env, ERL_NIF_TERM depth)
{
    if (depth == 0)
        throw 7;
    return throws(env, depth - 1) + 1;
}

TH_FUNCTION(jumps, 1)(ErlNifEnv *env, ERL_NIF_TERM depth)
{
    if (depth == 0)
        longjmp(*(jmp_buf *)env, 1);
    return jumps(env, depth - 1) + 1;
}

/* Sets *ENV to 1 once it is there, and stays. */
TH_FUNCTION(stays, 1)(ErlNifEnv *env, ERL_NIF_TERM depth)
{
    if (depth == 0)
        __atomic_store_n((ERL_NIF_TERM *)env, 1, __ATOMIC_RELEASE);
    while (depth == 0)
        usleep(100);
    return stays(env, depth - 1) + 1;
}

static ERL_NIF_TERM catches(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    try {
        return throws(env, argv[0]) + argc;
    } catch (int thrown) {
        return thrown;
    }
}

static ERL_NIF_TERM is_left(ErlNifEnv *, int argc, const ERL_NIF_TERM argv[])
{
    jmp_buf here;

    if (setjmp(here) != 0)
        return 5;
    return jumps((ErlNifEnv *)&here, argv[0]) + argc;
}

static ErlNifFunc functions[] = {{"catches", 1, catches, 0}, {"is_left", 1, is_left, 0}};

extern "C" {
ERL_NIF_INIT(unwinding, functions, NULL, NULL, NULL, NULL)
}
