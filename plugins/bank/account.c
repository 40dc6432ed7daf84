/* The process of an account: keeps the balance, and reports each change of it to the bank. */
#include "bank.h"

/* State between two messages, as the terms that the process keeps while it waits. */
enum { BANK, NAME, BALANCE, STATE };

static ERL_NIF_TERM got(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

ERL_NIF_TERM account(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    if (!th_host_present())
        return not_supported(env);
    return th_await(env, got, TH_INFINITY, argc, argv);
}

static ERL_NIF_TERM changed(ErlNifEnv *env, const ERL_NIF_TERM state[], ErlNifSInt64 balance,
                            const ERL_NIF_TERM request[])
{
    ERL_NIF_TERM next[STATE] = {state[BANK], state[NAME], enif_make_int64(env, balance)};
    ErlNifPid bank;

    if (enif_get_local_pid(env, state[BANK], &bank))
        enif_send(env, &bank, NULL,
                  enif_make_tuple3(env, atom(env, "balance"), next[NAME], next[BALANCE]));
    reply(env, request[1], request[2], pair(env, "ok", next[BALANCE]));
    return account(env, STATE, next);
}

static ERL_NIF_TERM refused(ErlNifEnv *env, const ERL_NIF_TERM state[],
                            const ERL_NIF_TERM request[], const char *why)
{
    reply(env, request[1], request[2], pair(env, "throw", pair(env, why, state[BALANCE])));
    return account(env, STATE, state);
}

/* No message ends this wait, only the timeout. */
static ERL_NIF_TERM frozen(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return argv[0] ? th_skip(env) : account(env, argc - 1, argv + 1);
}

/* REQUEST is {Request, From, Reference}. */
static ERL_NIF_TERM asked(ErlNifEnv *env, const ERL_NIF_TERM state[], const ERL_NIF_TERM request[])
{
    ERL_NIF_TERM in = tagged(env, request[0], "deposit"), out = tagged(env, request[0], "withdraw"),
                 pause = tagged(env, request[0], "freeze");
    ErlNifSInt64 balance = 0, amount = 0;
    long milliseconds;

    enif_get_int64(env, state[BALANCE], &balance);
    if (in && enif_get_int64(env, in, &amount)) {
        if (__builtin_add_overflow(balance, amount, &balance))
            return refused(env, state, request, "too_rich");
        return changed(env, state, balance, request);
    }
    if (out && enif_get_int64(env, out, &amount)) {
        if (amount > balance)
            return refused(env, state, request, "insufficient_funds");
        return changed(env, state, balance - amount, request);
    }
    if (pause && enif_get_long(env, pause, &milliseconds)) {
        reply(env, request[1], request[2], pair(env, "ok", atom(env, "ok")));
        return th_await(env, frozen, milliseconds, STATE, state);
    }
    if (!is_atom(env, request[0], "balance") && !is_atom(env, request[0], "close"))
        return th_skip(env);
    reply(env, request[1], request[2], pair(env, "ok", state[BALANCE]));
    return is_atom(env, request[0], "close") ? atom(env, "closed") : account(env, STATE, state);
}

static ERL_NIF_TERM got(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *request = elements_of(env, argv[0], 3);

    if (is_atom(env, argv[0], "upgrade"))
        return th_tail_call(env, atom(env, "bank"), atom(env, "account"), argc - 1, argv + 1);
    if (is_atom(env, argv[0], "crash"))
        return enif_raise_exception(env, atom(env, "embezzled"));
    return request ? asked(env, argv + 1, request) : th_skip(env);
}
