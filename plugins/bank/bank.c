/*
 * bank: a bank whose accounts are processes. README.md describes its functions; bank.erl is the
 * same in Erlang.
 *
 * This file has the functions that users call, ask.c the requests between processes, account.c and
 * office.c the processes, several.c the functions that make several requests. All functions that
 * need more than the NIF API return {error, not_supported} in a BEAM.
 */
#include "bank.h"

static bool is_amount(ErlNifEnv *env, ERL_NIF_TERM term)
{
    ErlNifSInt64 amount;

    return enif_get_int64(env, term, &amount) && amount >= 0;
}

static ERL_NIF_TERM start(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid bank;

    if (!th_host_present())
        return not_supported(env);
    if (!th_spawn(env, atom(env, "bank"), atom(env, "run"), argc, argv, 0, &bank, NULL))
        return 0;
    if (th_register(env, atom(env, "bank"), &bank))
        return atom(env, "ok");
    th_exit_signal(env, &bank, atom(env, "kill"));
    return pair(env, "error", atom(env, "already_started"));
}

static ERL_NIF_TERM stop(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return ask(env, atom(env, "bank"), atom(env, "stop"));
}

static ERL_NIF_TERM open_account(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!enif_is_atom(env, argv[0]) || !is_amount(env, argv[1]))
        return enif_make_badarg(env);
    return ask(env, atom(env, "bank"), enif_make_tuple3(env, atom(env, "open"), argv[0], argv[1]));
}

static ERL_NIF_TERM close_account(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return ask(env, argv[0], atom(env, "close"));
}

static ERL_NIF_TERM names(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return ask(env, atom(env, "bank"), atom(env, "names"));
}

static ERL_NIF_TERM balance(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return ask(env, argv[0], atom(env, "balance"));
}

/* Requests {REQUEST, a number that is not negative}. */
static ERL_NIF_TERM ask_for(ErlNifEnv *env, const ERL_NIF_TERM argv[], const char *request)
{
    if (!is_amount(env, argv[1]))
        return enif_make_badarg(env);
    return ask(env, argv[0], pair(env, request, argv[1]));
}

static ERL_NIF_TERM deposit(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return ask_for(env, argv, "deposit");
}

static ERL_NIF_TERM withdraw(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return ask_for(env, argv, "withdraw");
}

static ERL_NIF_TERM freeze(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return ask_for(env, argv, "freeze");
}

static ERL_NIF_TERM crash(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return ask(env, atom(env, "bank"), pair(env, "crash", argv[0]));
}

/* --- Private data ----------------------------------------------------------------------------- */

struct books *books_of(ErlNifEnv *env)
{
    return enif_priv_data(env);
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    struct books *books = enif_alloc(sizeof *books);

    (void)env;
    (void)info;
    if (!books)
        return 1;
    books->version = BANK_VERSION;
    atomic_init(&books->users, 1);
    atomic_init(&books->transfers, 0);
    *data = books;
    return 0;
}

/* Refuses, before anything is changed, books that a later version has written. (A BEAM does not
 * call this function, so upgrade() checks, too.) */
int th_upgrade_check(ErlNifEnv *env, void *old_data, ERL_NIF_TERM info)
{
    const struct books *books = old_data;

    (void)env;
    (void)info;
    return books && books->version > BANK_VERSION ? 2 : 0;
}

/* Takes over the books, which both versions use, as processes may be in the old code; *DATA has
 * them already if a later version hands them back. */
static int upgrade(ErlNifEnv *env, void **data, void **old_data, ERL_NIF_TERM info)
{
    struct books *books = *old_data;
    int refused = *data == books ? 0 : th_upgrade_check(env, books, info);

    if (refused)
        return refused;
    if (!books)
        return load(env, data, info);
    if (*data != books)
        atomic_fetch_add_explicit(&books->users, 1, memory_order_relaxed);
    books->version = BANK_VERSION;
    expect_old_processes();
    *data = books;
    return 0;
}

static void unload(ErlNifEnv *env, void *data)
{
    struct books *books = data;

    (void)env;
    if (books && atomic_fetch_sub_explicit(&books->users, 1, memory_order_acq_rel) == 1)
        enif_free(books);
}

static ErlNifFunc functions[] = {
    {"start", 0, start, 0},
    {"stop", 0, stop, 0},
    {"open", 2, open_account, 0},
    {"close", 1, close_account, 0},
    {"names", 0, names, 0},
    {"balance", 1, balance, 0},
    {"deposit", 2, deposit, 0},
    {"withdraw", 2, withdraw, 0},
    {"transfer", 3, transfer, 0},
    {"audit", 0, audit, 0},
    {"freeze", 2, freeze, 0},
    {"crash", 1, crash, 0},
    {"run", 0, run, 0},
    {"account", 3, account, 0}, /* functions of the processes */
    {"run", 1, run_with, 0},
#if BANK_VERSION > 1
    {"transfers", 0, transfers, 0},
#endif
};

ERL_NIF_INIT(bank, functions, load, NULL, upgrade, unload)
