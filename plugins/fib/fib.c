/*
 * fib: functions that call themselves, deep and often, for trying breakpoints in machine code.
 *
 *     fib(0) -> 0;                          a tree of local calls of a function of the table
 *     fib(1) -> 1;
 *     fib(N) -> fib(N - 1) + fib(N - 2).
 *
 *     quick(N) -> loop(N, 1, 0).            local tail calls
 *     loop(0, _, B) -> B;
 *     loop(N, A, B) -> loop(N - 1, B, A + B).
 *
 *     depth(N) -> down(N).                  local calls, as deep as N
 *     down(0) -> 0;
 *     down(N) -> 1 + down(N - 1).
 *
 * As in Erlang, an error of a callee is also an error of its callers; in C each caller must pass it
 * on.
 */
#include <nif_module.h>

/* An optimising compiler turns a call at the end of a C function into a jump. This pragma makes
 * builds without optimisation do the same. (clang has no such pragma.) */
#ifndef __clang__
#pragma GCC optimize("O2")
#endif

enum {
    MOST = 92,      /* index of the largest Fibonacci number of 64 bits with a sign */
    DEEPEST = 10000 /* depth of calls on a thread's stack, which may be small */
};

/* Returns the number from 0 to LIMIT in TERM; -1: none. Not inlined: a function that has passed the
 * address of a local variable does not end with a jump. */
static __attribute__((noinline)) ErlNifSInt64 number_of(ErlNifEnv *env, ERL_NIF_TERM term,
                                                        ErlNifSInt64 limit)
{
    ErlNifSInt64 n;

    return enif_get_int64(env, term, &n) && n >= 0 && n <= limit ? n : -1;
}

/* Returns 0 if one of them is no number. */
static __attribute__((noinline)) ERL_NIF_TERM sum_of(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    ErlNifSInt64 x, y;

    if (!enif_get_int64(env, a, &x) || !enif_get_int64(env, b, &y))
        return 0;
    return enif_make_int64(env, x + y);
}

/* --- A tree ----------------------------------------------------------------------------------- */

/* Calls fib(N - LESS), a local call of a function of the table. */
static ERL_NIF_TERM before(ErlNifEnv *env, ErlNifSInt64 n, ErlNifSInt64 less);

TH_NIF(fib)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifSInt64 n = number_of(env, argv[0], MOST);
    ERL_NIF_TERM one, other;

    (void)argc;
    if (n < 0)
        return enif_make_badarg(env);
    if (n < 2)
        return argv[0];
    one = before(env, n, 1);
    other = one ? before(env, n, 2) : 0;
    return other ? sum_of(env, one, other) : 0;
}

static ERL_NIF_TERM before(ErlNifEnv *env, ErlNifSInt64 n, ErlNifSInt64 less)
{
    ERL_NIF_TERM argv[] = {enif_make_int64(env, n - less)};

    return fib(env, 1, argv);
}

/* --- Tail calls ------------------------------------------------------------------------------- */

TH_FUNCTION(loop, 3)(ErlNifEnv *env, ERL_NIF_TERM count, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    ErlNifSInt64 n = number_of(env, count, MOST);

    if (n == 0)
        return b;
    return TH_SELF(loop)(env, enif_make_int64(env, n - 1), b, sum_of(env, a, b));
}

static ERL_NIF_TERM quick(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (number_of(env, argv[0], MOST) < 0)
        return enif_make_badarg(env);
    return loop(env, argv[0], enif_make_int(env, 1), enif_make_int(env, 0));
}

/* --- Depth ------------------------------------------------------------------------------------ */

TH_FUNCTION(down, 1)(ErlNifEnv *env, ERL_NIF_TERM count)
{
    ErlNifSInt64 n = number_of(env, count, DEEPEST);

    if (n == 0)
        return count;
    return sum_of(env, enif_make_int(env, 1), down(env, enif_make_int64(env, n - 1)));
}

static ERL_NIF_TERM depth(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (number_of(env, argv[0], DEEPEST) < 0)
        return enif_make_badarg(env);
    return down(env, argv[0]);
}

static int upgrade(ErlNifEnv *env, void **data, void **old_data, ERL_NIF_TERM info)
{
    (void)env;
    (void)data;
    (void)old_data;
    (void)info;
    return 0;
}

static ErlNifFunc functions[] = {
    {"fib", 1, fib, 0},
    {"quick", 1, quick, 0},
    {"depth", 1, depth, 0},
};

ERL_NIF_INIT(fib, functions, NULL, NULL, upgrade, NULL)
