/*
 * Functions that make several requests: transfer/3 and audit/0.
 *
 * A function cannot wait in the middle. So it ends with a call that may wait, and names the
 * function that continues with the result, and the terms that this function keeps.
 */
#include "bank.h"

#undef transfer /* defined in the first version */

/* Calls bank:FUNCTION(...), then THEN with the result and KEPT. */
#define CALL_THEN(env, function, then, flags, count, kept, ...)                \
    th_call_then(env, atom(env, "bank"), atom(env, function),                  \
                 sizeof((ERL_NIF_TERM[]){__VA_ARGS__}) / sizeof(ERL_NIF_TERM), \
                 (ERL_NIF_TERM[]){__VA_ARGS__}, then, flags, count, kept)

/* --- transfer --------------------------------------------------------------------------------- */

enum { FROM, TO, AMOUNT, TRANSFER };

/* The money is back in its account. Kept: the reason. */
static ERL_NIF_TERM returned(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return enif_raise_exception(env, argv[1]);
}

/* The deposit succeeded, or not: if the receiving account is not open, the money goes back; if it
 * does not answer, the money is on its way. */
static ERL_NIF_TERM deposited(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *kept = argv + 1;
    ERL_NIF_TERM class, reason, stack;

    (void)argc;
    if (argv[0]) {
        atomic_fetch_add_explicit(&books_of(env)->transfers, 1, memory_order_relaxed);
        return atom(env, "ok");
    }
    th_catch(env, &class, &reason, &stack);
    if (is_atom(env, class, "error") && tagged(env, reason, "not_open"))
        return CALL_THEN(env, "deposit", returned, 0, 1, &reason, kept[FROM], kept[AMOUNT]);
    return th_raise(env, class, reason, stack);
}

static ERL_NIF_TERM withdrawn(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *kept = argv + 1;

    (void)argc;
    return CALL_THEN(env, "deposit", deposited, TH_CATCHES, TRANSFER, kept, kept[TO], kept[AMOUNT]);
}

ERL_NIF_TERM transfer(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    if (!th_host_present())
        return not_supported(env);
    return CALL_THEN(env, "withdraw", withdrawn, 0, argc, argv, argv[FROM], argv[AMOUNT]);
}

/* --- audit ------------------------------------------------------------------------------------ */

enum { REFERENCE, LEFT, TOTAL, COUNTING };

static ERL_NIF_TERM collected(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

/* Returns {TOTAL, number of accounts without an answer}, after all answers or the timeout. */
static ERL_NIF_TERM collect(ErlNifEnv *env, ERL_NIF_TERM reference, unsigned left,
                            ErlNifSInt64 total)
{
    ERL_NIF_TERM kept[COUNTING] = {reference, enif_make_uint(env, left),
                                   enif_make_int64(env, total)};

    if (left == 0)
        return enif_make_tuple2(env, kept[TOTAL], kept[LEFT]);
    return th_await(env, collected, PATIENCE, COUNTING, kept);
}

static ERL_NIF_TERM collected(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *kept = argv + 1, *answer;
    ErlNifSInt64 total = 0, balance = 0;
    unsigned left = 0;

    (void)argc;
    if (!argv[0])
        return enif_make_tuple2(env, kept[TOTAL], kept[LEFT]);
    answer = elements_of(env, argv[0], 2);
    if (!answer || !enif_is_identical(answer[0], kept[REFERENCE]))
        return th_skip(env);
    enif_get_int64(env, tagged(env, answer[1], "ok"), &balance);
    enif_get_int64(env, kept[TOTAL], &total);
    enif_get_uint(env, kept[LEFT], &left);
    return collect(env, kept[REFERENCE], left - 1, total + balance);
}

/* Sends a request to all accounts at once. */
static ERL_NIF_TERM named(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM reference = enif_make_ref(env), name, rest = argv[0], request;
    ErlNifPid self;
    unsigned asked = 0;

    (void)argc;
    request = enif_make_tuple3(env, atom(env, "balance"), enif_make_pid(env, enif_self(env, &self)),
                               reference);
    while (enif_get_list_cell(env, rest, &name, &rest))
        asked += send_to(env, name, request);
    return collect(env, reference, asked, 0);
}

ERL_NIF_TERM audit(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    if (!th_host_present())
        return not_supported(env);
    return th_call_then(env, atom(env, "bank"), atom(env, "names"), argc, argv, named, 0, 0, NULL);
}
