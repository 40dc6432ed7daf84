/*
 * The process of the bank. The process opens accounts, which are linked to it, and gets their exit
 * signals as messages, as it traps exits: an account that was closed is removed; an account that
 * has crashed is opened again, with the balance that it reported last.
 *
 * Its state between two messages is a map, Name => {Pid, Balance}.
 */
#include "bank.h"

static ERL_NIF_TERM got(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

static ERL_NIF_TERM goes_on(ErlNifEnv *env, ERL_NIF_TERM accounts)
{
    return th_await(env, got, TH_INFINITY, 1, &accounts);
}

ERL_NIF_TERM run(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!th_host_present())
        return not_supported(env);
    th_trap_exit(env, 1);
    return goes_on(env, enif_make_new_map(env));
}

ERL_NIF_TERM run_with(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!th_host_present())
        return not_supported(env);
    if (!enif_is_map(env, argv[0]))
        return enif_make_badarg(env);
    return goes_on(env, argv[0]);
}

/* --- Accounts --------------------------------------------------------------------------------- */

/* Returns ACCOUNTS with a new one; ACCOUNTS itself if the name is taken. */
static ERL_NIF_TERM opened(ErlNifEnv *env, ERL_NIF_TERM accounts, ERL_NIF_TERM name,
                           ERL_NIF_TERM balance)
{
    ErlNifPid self, pid;
    ERL_NIF_TERM arguments[] = {enif_make_pid(env, enif_self(env, &self)), name, balance};
    ERL_NIF_TERM more;

    if (!th_spawn(env, atom(env, "bank"), atom(env, "account"), 3, arguments, TH_SPAWN_LINK, &pid,
                  NULL))
        return accounts;
    if (!th_register(env, name, &pid)) {
        th_unlink(env, &pid);
        th_exit_signal(env, &pid, atom(env, "kill"));
        return accounts;
    }
    enif_make_map_put(env, accounts, name, enif_make_tuple2(env, enif_make_pid(env, &pid), balance),
                      &more);
    return more;
}

/* Returns {Pid, Balance}; NULL if there is no such account. */
static const ERL_NIF_TERM *account_called(ErlNifEnv *env, ERL_NIF_TERM accounts, ERL_NIF_TERM name)
{
    ERL_NIF_TERM found;

    return enif_get_map_value(env, accounts, name, &found) ? elements_of(env, found, 2) : NULL;
}

static ERL_NIF_TERM noted(ErlNifEnv *env, ERL_NIF_TERM accounts, ERL_NIF_TERM name,
                          ERL_NIF_TERM balance)
{
    const ERL_NIF_TERM *found = account_called(env, accounts, name);

    if (found)
        enif_make_map_update(env, accounts, name, enif_make_tuple2(env, found[0], balance),
                             &accounts);
    return accounts;
}

/* Gets the NAME of PID's account, and returns {Pid, Balance}; NULL if PID has none. */
static const ERL_NIF_TERM *account_of(ErlNifEnv *env, ERL_NIF_TERM accounts, ERL_NIF_TERM pid,
                                      ERL_NIF_TERM *name)
{
    const ERL_NIF_TERM *found = NULL;
    ErlNifMapIterator at;
    ERL_NIF_TERM value;

    enif_map_iterator_create(env, accounts, &at, ERL_NIF_MAP_ITERATOR_FIRST);
    while (!found && enif_map_iterator_get_pair(env, &at, name, &value)) {
        found = elements_of(env, value, 2);
        if (!enif_is_identical(found[0], pid))
            found = NULL;
        enif_map_iterator_next(env, &at);
    }
    enif_map_iterator_destroy(env, &at);
    return found;
}

static ERL_NIF_TERM ended(ErlNifEnv *env, ERL_NIF_TERM accounts, ERL_NIF_TERM pid,
                          ERL_NIF_TERM reason)
{
    ERL_NIF_TERM name, left;
    const ERL_NIF_TERM *found = account_of(env, accounts, pid, &name);

    if (!found)
        return accounts;
    enif_make_map_remove(env, accounts, name, &left);
    return is_atom(env, reason, "normal") ? left : opened(env, left, name, found[1]);
}

/* --- Messages --------------------------------------------------------------------------------- */

/* Waits for the end of one account, and skips other messages. Kept: the accounts, the name, the
 * pid, the requesting process, the reference. */
static ERL_NIF_TERM crashed(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *exit = elements_of(env, argv[0], 3), *found;
    ERL_NIF_TERM accounts;

    (void)argc;
    if (!exit || !is_atom(env, exit[0], "EXIT") || !enif_is_identical(exit[1], argv[3]))
        return th_skip(env);
    accounts = ended(env, argv[1], exit[1], exit[2]);
    found = account_called(env, accounts, argv[2]);
    reply(env, argv[4], argv[5],
          found ? pair(env, "ok", pair(env, "reopened", found[1]))
                : pair(env, "error", atom(env, "not_open")));
    return goes_on(env, accounts);
}

static ERL_NIF_TERM crash(ErlNifEnv *env, ERL_NIF_TERM accounts, ERL_NIF_TERM name,
                          const ERL_NIF_TERM request[])
{
    const ERL_NIF_TERM *found = account_called(env, accounts, name);
    ErlNifPid pid;

    if (!found || !enif_get_local_pid(env, found[0], &pid)) {
        reply(env, request[1], request[2], pair(env, "error", atom(env, "not_open")));
        return goes_on(env, accounts);
    }
    enif_send(env, &pid, NULL, atom(env, "crash"));
    return th_await(env, crashed, TH_INFINITY, 5,
                    (ERL_NIF_TERM[]){accounts, name, found[0], request[1], request[2]});
}

static ERL_NIF_TERM open_one(ErlNifEnv *env, ERL_NIF_TERM accounts, const ERL_NIF_TERM what[],
                             const ERL_NIF_TERM request[])
{
    ERL_NIF_TERM more = opened(env, accounts, what[1], what[2]);

    reply(env, request[1], request[2],
          enif_is_identical(more, accounts) ? pair(env, "error", atom(env, "name_taken"))
                                            : pair(env, "ok", atom(env, "ok")));
    return goes_on(env, more);
}

static ERL_NIF_TERM names_of(ErlNifEnv *env, ERL_NIF_TERM accounts)
{
    ERL_NIF_TERM names = enif_make_list(env, 0), name, value;
    ErlNifMapIterator at;

    enif_map_iterator_create(env, accounts, &at, ERL_NIF_MAP_ITERATOR_LAST);
    while (enif_map_iterator_get_pair(env, &at, &name, &value)) {
        names = enif_make_list_cell(env, name, names);
        enif_map_iterator_prev(env, &at);
    }
    enif_map_iterator_destroy(env, &at);
    return names;
}

/* REQUEST is {Request, From, Reference}. */
static ERL_NIF_TERM asked(ErlNifEnv *env, ERL_NIF_TERM accounts, const ERL_NIF_TERM request[])
{
    const ERL_NIF_TERM *what = elements_of(env, request[0], 3);
    ERL_NIF_TERM name = tagged(env, request[0], "crash");

    if (what && is_atom(env, what[0], "open"))
        return open_one(env, accounts, what, request);
    if (name)
        return crash(env, accounts, name, request);
    if (is_atom(env, request[0], "names")) {
        reply(env, request[1], request[2], pair(env, "ok", names_of(env, accounts)));
        return goes_on(env, accounts);
    }
    if (is_atom(env, request[0], "stop")) {
        reply(env, request[1], request[2], pair(env, "ok", atom(env, "ok")));
        return th_exit(env, atom(env, "shutdown"));
    }
    return th_skip(env);
}

/* All processes continue in the code that is current now. */
static ERL_NIF_TERM upgraded(ErlNifEnv *env, ERL_NIF_TERM accounts)
{
    ErlNifMapIterator at;
    ERL_NIF_TERM name, value;
    ErlNifPid pid;

    enif_map_iterator_create(env, accounts, &at, ERL_NIF_MAP_ITERATOR_FIRST);
    while (enif_map_iterator_get_pair(env, &at, &name, &value)) {
        if (enif_get_local_pid(env, elements_of(env, value, 2)[0], &pid))
            enif_send(env, &pid, NULL, atom(env, "upgrade"));
        enif_map_iterator_next(env, &at);
    }
    enif_map_iterator_destroy(env, &at);
    return th_tail_call(env, atom(env, "bank"), atom(env, "run"), 1, &accounts);
}

static ERL_NIF_TERM got(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM accounts = argv[1];
    const ERL_NIF_TERM *message = elements_of(env, argv[0], 3);

    (void)argc;
    if (is_atom(env, argv[0], "upgrade"))
        return upgraded(env, accounts);
    if (!message)
        return th_skip(env);
    if (is_atom(env, message[0], "balance"))
        return goes_on(env, noted(env, accounts, message[1], message[2]));
    if (is_atom(env, message[0], "EXIT"))
        return goes_on(env, ended(env, accounts, message[1], message[2]));
    return asked(env, accounts, message);
}
