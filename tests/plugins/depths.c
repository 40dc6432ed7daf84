/*
 * Builds stacks for inspection: depths:descend(N) calls plunge/1, a local function, which calls
 * itself until N is 0 and then bottom(), a plain C function. depths:burn(N) repeats this for N
 * milliseconds.
 */
#include <nif_module.h>

#include <time.h>

/* A debugger stops here. */
__attribute__((noinline)) void bottom(void)
{
    __asm__ volatile("" ::: "memory");
}

/* The addition after the call prevents a tail call, so each call keeps its frame. */
TH_FUNCTION(plunge, 1)(ErlNifEnv *env, ERL_NIF_TERM depth)
{
    unsigned left = 0;

    enif_get_uint(env, depth, &left);
    if (left == 0) {
        bottom();
        return depth;
    }
    return plunge(env, enif_make_uint(env, left - 1)) == 0 ? 0 : depth;
}

static ERL_NIF_TERM descend(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return plunge(env, argv[0]) == 0 ? 0 : argv[0];
}

static long now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static ERL_NIF_TERM burn(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    long end = now();
    unsigned span = 0;

    (void)argc;
    enif_get_uint(env, argv[0], &span);
    end += span;
    while (now() < end)
        plunge(env, enif_make_uint(env, 3));
    return argv[0];
}

static ErlNifFunc functions[] = {{"descend", 1, descend, 0}, {"burn", 1, burn, 0}};

ERL_NIF_INIT(depths, functions, NULL, NULL, NULL, NULL)
