/*
 * spec_example: the functions of the example for callers in OTP's document on tracing, twice.
 *
 *     foo() ->                  rfoo() ->
 *         lots(),                   spec_example:rlots(),
 *         ok.                       ok.
 *     lots() ->                 rlots() ->
 *         'of'().                   spec_example:rof().
 *     'of'() ->                 rof() ->
 *         indirections().           spec_example:rindirections().
 *     indirections() ->         rindirections() ->
 *         bar(10).                  spec_example:rbar(3).
 *     bar(0) -> done;           rbar(0) -> done;
 *     bar(N) -> bar(N - 1).     rbar(N) -> spec_example:rbar(N - 1).
 *
 * On the left all calls except that of foo/0 are local C calls: only local breakpoints act on them.
 * On the right all calls are external and go through the host, so that global breakpoints act on
 * them, too. On both sides all calls but the first are tail calls, so that all functions return to
 * foo/0, or to rfoo/0.
 */
#include <nif_module.h>

/* An optimising compiler turns a call at the end of a C function into a jump. This pragma makes
 * other builds do the same. (clang has no such pragma.) */
#ifndef __clang__
#pragma GCC optimize("O2")
#endif

static ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

/* Returns the number in TERM, or -1. Not inlined: a function that has passed the address of a local
 * variable does not end with a jump. */
static __attribute__((noinline)) int count_of(ErlNifEnv *env, ERL_NIF_TERM term)
{
    int n;

    return enif_get_int(env, term, &n) && n >= 0 ? n : -1;
}

/* --- Local calls ------------------------------------------------------------------------------ */

TH_FUNCTION(bar, 1)(ErlNifEnv *env, ERL_NIF_TERM count)
{
    int n = count_of(env, count);

    if (n == 0)
        return atom(env, "done");
    return TH_SELF(bar)(env, enif_make_int(env, n - 1));
}

TH_FUNCTION(indirections, 0)(ErlNifEnv *env)
{
    return bar(env, enif_make_int(env, 10));
}

TH_FUNCTION(of, 0)(ErlNifEnv *env)
{
    return indirections(env);
}

TH_FUNCTION(lots, 0)(ErlNifEnv *env)
{
    return of(env);
}

static ERL_NIF_TERM foo(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    lots(env);
    return atom(env, "ok");
}

/* --- External calls --------------------------------------------------------------------------- */

static ERL_NIF_TERM not_supported(ErlNifEnv *env)
{
    return enif_make_tuple2(env, atom(env, "error"), atom(env, "not_supported"));
}

/* Continues with spec_example:FUNCTION, a tail call. */
static ERL_NIF_TERM go_on(ErlNifEnv *env, const char *function, int argc, const ERL_NIF_TERM argv[])
{
    if (!th_host_present())
        return not_supported(env);
    return th_tail_call(env, atom(env, "spec_example"), atom(env, function), argc, argv);
}

static ERL_NIF_TERM rbar(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    int n = count_of(env, argv[0]);
    ERL_NIF_TERM less;

    (void)argc;
    if (n < 0)
        return enif_make_badarg(env);
    if (n == 0)
        return atom(env, "done");
    less = enif_make_int(env, n - 1);
    return go_on(env, "rbar", 1, &less);
}

static ERL_NIF_TERM rindirections(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM count = enif_make_int(env, 3);

    (void)argc;
    (void)argv;
    return go_on(env, "rbar", 1, &count);
}

static ERL_NIF_TERM rof(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return go_on(env, "rindirections", argc, argv);
}

static ERL_NIF_TERM rlots(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return go_on(env, "rof", argc, argv);
}

/* Continues after rlots/0; an exception of rlots/0 passes to the caller, as this returns 0. */
static ERL_NIF_TERM rfoo(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    if (!th_host_present())
        return not_supported(env);
    return th_call(env, atom(env, "spec_example"), atom(env, "rlots"), argc, argv) ? atom(env, "ok")
                                                                                   : 0;
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
    {"foo", 0, foo, 0},
    {"rfoo", 0, rfoo, 0},
    {"rlots", 0, rlots, 0},
    {"rof", 0, rof, 0},
    {"rindirections", 0, rindirections, 0},
    {"rbar", 1, rbar, 0},
};

ERL_NIF_INIT(spec_example, functions, NULL, NULL, upgrade, NULL)
