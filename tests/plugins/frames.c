/*
 * Makes calls of all kinds: tests/oracle/native/frames.erl in C, function by function. Functions
 * that are exported there are in the table here; all others but helper/1 are local functions.
 */
#include <nif_module.h>

/* A call at the end of a C function must be a jump, in all builds; clang has no such pragma. */
#ifndef __clang__
#pragma GCC optimize("O2")
#endif

#define NIF(NAME) TH_NIF(NAME)(ErlNifEnv * env, int argc, const ERL_NIF_TERM argv[])

static ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

/* Not inlined into its caller, whose last call would not be a jump then, as an address escapes. */
static __attribute__((noinline)) int number(ErlNifEnv *env, ERL_NIF_TERM term)
{
    int value;

    return enif_get_int(env, term, &value) ? value : 0;
}

/* TERM + MORE */
static ERL_NIF_TERM plus(ErlNifEnv *env, ERL_NIF_TERM term, int more)
{
    return enif_make_int(env, number(env, term) + more);
}

/* {TERM}; 0 if TERM is 0, as an exception is passed on. */
static ERL_NIF_TERM in_tuple(ErlNifEnv *env, ERL_NIF_TERM term)
{
    return term ? enif_make_tuple1(env, term) : 0;
}

/* {A, B}; 0 if either is 0. */
static ERL_NIF_TERM both(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    return a && b ? enif_make_tuple2(env, a, b) : 0;
}

/* External calls of frames:FUNCTION(A) and frames:FUNCTION(A, B). */
static ERL_NIF_TERM call(ErlNifEnv *env, const char *function, ERL_NIF_TERM a)
{
    return th_call(env, atom(env, "frames"), atom(env, function), 1, &a);
}

static ERL_NIF_TERM call_raises(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    const ERL_NIF_TERM argv[] = {a, b};

    return th_call(env, atom(env, "frames"), atom(env, "raises"), 2, argv);
}

/* --- Tail calls ------------------------------------------------------------------------------- */

TH_FUNCTION(third, 3)(ErlNifEnv *env, ERL_NIF_TERM n, ERL_NIF_TERM a, ERL_NIF_TERM list)
{
    if (number(env, n) == 0)
        return enif_make_tuple2(env, a, list);
    return TH_SELF(third)(env, plus(env, n, -1), a, enif_make_list_cell(env, n, list));
}

TH_FUNCTION(second, 2)(ErlNifEnv *env, ERL_NIF_TERM n, ERL_NIF_TERM a)
{
    return third(env, n, a, enif_make_list(env, 0));
}

TH_FUNCTION(first, 1)(ErlNifEnv *env, ERL_NIF_TERM n)
{
    return second(env, n, atom(env, "a"));
}

NIF(tails)
{
    (void)argc;
    return in_tuple(env, first(env, argv[0]));
}

NIF(jumps)
{
    (void)argc;
    return first(env, argv[0]);
}

static ERL_NIF_TERM odd(ErlNifEnv *env, ERL_NIF_TERM n);

TH_FUNCTION(even, 1)(ErlNifEnv *env, ERL_NIF_TERM n)
{
    return number(env, n) == 0 ? atom(env, "true") : odd(env, plus(env, n, -1));
}

TH_FUNCTION(odd, 1)(ErlNifEnv *env, ERL_NIF_TERM n)
{
    return number(env, n) == 0 ? atom(env, "false") : even(env, plus(env, n, -1));
}

NIF(evens)
{
    (void)argc;
    return in_tuple(env, even(env, argv[0]));
}

/* --- Calls in calls --------------------------------------------------------------------------- */

NIF(leaf)
{
    (void)argc;
    return in_tuple(env, argv[0]);
}

static ERL_NIF_TERM call_leaf(ErlNifEnv *env, ERL_NIF_TERM n)
{
    return leaf(env, 1, &n);
}

TH_FUNCTION(left, 1)(ErlNifEnv *env, ERL_NIF_TERM n)
{
    ERL_NIF_TERM a = call_leaf(env, n);

    return both(env, a, call_leaf(env, plus(env, n, 1)));
}

TH_FUNCTION(right, 1)(ErlNifEnv *env, ERL_NIF_TERM n)
{
    return left(env, plus(env, n, 10));
}

NIF(nests)
{
    ERL_NIF_TERM a = left(env, argv[0]);

    (void)argc;
    return both(env, a, right(env, argv[0]));
}

TH_FUNCTION(sum, 1)(ErlNifEnv *env, ERL_NIF_TERM n)
{
    return number(env, n) == 0 ? n : plus(env, sum(env, plus(env, n, -1)), number(env, n));
}

NIF(sums)
{
    (void)argc;
    return in_tuple(env, sum(env, argv[0]));
}

/* --- Exceptions ------------------------------------------------------------------------------- */

static ERL_NIF_TERM raise_of(ErlNifEnv *env, ERL_NIF_TERM class_)
{
    if (enif_is_identical(class_, atom(env, "throw")))
        return th_throw(env, atom(env, "ball"));
    if (enif_is_identical(class_, atom(env, "exit")))
        return th_exit(env, atom(env, "out"));
    if (enif_is_identical(class_, atom(env, "badarg")))
        return enif_make_badarg(env);
    return enif_raise_exception(env, atom(env, "boom"));
}

/* A plain C function raises the exception; 0 passes it on. */
TH_FUNCTION(fall, 2)(ErlNifEnv *env, ERL_NIF_TERM class_, ERL_NIF_TERM n)
{
    if (number(env, n) > 0)
        return in_tuple(env, fall(env, class_, plus(env, n, -1)));
    if (enif_is_identical(class_, atom(env, "none")))
        return class_;
    raise_of(env, class_);
    return 0;
}

NIF(raises)
{
    (void)argc;
    return in_tuple(env, fall(env, argv[0], argv[1]));
}

TH_FUNCTION(leap, 2)(ErlNifEnv *env, ERL_NIF_TERM class_, ERL_NIF_TERM n)
{
    if (number(env, n) == 0)
        return fall(env, class_, enif_make_int(env, 1));
    return TH_SELF(leap)(env, class_, plus(env, n, -1));
}

NIF(leaps)
{
    (void)argc;
    return in_tuple(env, leap(env, argv[0], argv[1]));
}

TH_FUNCTION(outside, 2)(ErlNifEnv *env, ERL_NIF_TERM class_, ERL_NIF_TERM n)
{
    return in_tuple(env, call_raises(env, class_, n));
}

NIF(passes)
{
    (void)argc;
    return in_tuple(env, outside(env, argv[0], argv[1]));
}

TH_FUNCTION(catches, 2)(ErlNifEnv *env, ERL_NIF_TERM class_, ERL_NIF_TERM n)
{
    ERL_NIF_TERM result = call_raises(env, class_, n), caught, reason;

    if (result || !th_catch(env, &caught, &reason, NULL))
        return result;
    return enif_make_tuple2(env, caught, reason);
}

NIF(halfway)
{
    ERL_NIF_TERM caught = catches(env, argv[0], argv[1]);

    (void)argc;
    return both(env, caught, call_leaf(env, argv[1]));
}

TH_FUNCTION(raises_again, 2)(ErlNifEnv *env, ERL_NIF_TERM class_, ERL_NIF_TERM n)
{
    ERL_NIF_TERM result = call_raises(env, class_, n), caught, reason, stack;

    if (result || !th_catch(env, &caught, &reason, &stack))
        return result;
    return th_raise(env, caught, reason, stack);
}

NIF(again)
{
    (void)argc;
    return in_tuple(env, raises_again(env, argv[0], argv[1]));
}

/* --- External calls --------------------------------------------------------------------------- */

TH_FUNCTION(out, 1)(ErlNifEnv *env, ERL_NIF_TERM n)
{
    ERL_NIF_TERM a = call(env, "sums", n);

    return both(env, a, call(env, "leaf", n));
}

NIF(outward)
{
    ERL_NIF_TERM a = out(env, argv[0]);

    (void)argc;
    return both(env, a, call_leaf(env, argv[0]));
}

NIF(handed)
{
    (void)argc;
    return th_tail_call(env, atom(env, "frames"), atom(env, "nests"), 1, argv);
}

TH_FUNCTION(hand, 1)(ErlNifEnv *env, ERL_NIF_TERM n)
{
    return th_tail_call(env, atom(env, "frames"), atom(env, "nests"), 1, &n);
}

NIF(hands)
{
    (void)argc;
    return hand(env, argv[0]);
}

/* Returns {Result, leaf(N)}. */
static ERL_NIF_TERM then(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return both(env, argv[0], call_leaf(env, argv[1]));
}

NIF(later)
{
    (void)argc;
    return th_call_then(env, atom(env, "frames"), atom(env, "nests"), 1, argv, then, 0, 1, argv);
}

/* --- Only in a BEAM --------------------------------------------------------------------------- */

static __attribute__((noinline)) ERL_NIF_TERM helper(ErlNifEnv *env, ERL_NIF_TERM n)
{
    return in_tuple(env, call_leaf(env, n));
}

NIF(helped)
{
    (void)argc;
    return in_tuple(env, helper(env, argv[0]));
}

NIF(all)
{
    ERL_NIF_TERM three = enif_make_int(env, 3), two = enif_make_int(env, 2);
    ERL_NIF_TERM five = enif_make_int(env, 5), nine = enif_make_int(env, 9);
    ERL_NIF_TERM one = enif_make_int(env, 1), error[] = {atom(env, "error"), two};
    ERL_NIF_TERM results[] = {
        tails(env, 1, &three),   jumps(env, 1, &two),     evens(env, 1, &five),
        nests(env, 1, &one),     sums(env, 1, &nine),     halfway(env, 2, error),
        outward(env, 1, &three), call(env, "hands", one),
    };

    (void)argc;
    (void)argv;
    return enif_make_tuple_from_array(env, results, sizeof results / sizeof *results);
}

static ErlNifFunc functions[] = {
    {"tails", 1, tails, 0},     {"jumps", 1, jumps, 0}, {"nests", 1, nests, 0},
    {"sums", 1, sums, 0},       {"evens", 1, evens, 0}, {"leaf", 1, leaf, 0},
    {"raises", 2, raises, 0},   {"leaps", 2, leaps, 0}, {"passes", 2, passes, 0},
    {"halfway", 2, halfway, 0}, {"again", 2, again, 0}, {"outward", 1, outward, 0},
    {"handed", 1, handed, 0},   {"hands", 1, hands, 0}, {"later", 1, later, 0},
    {"helped", 1, helped, 0},   {"all", 0, all, 0},
};

ERL_NIF_INIT(frames, functions, NULL, NULL, NULL, NULL)
