/* Requests and answers, as in gen_server:call/3: with a monitor, whose reference is the tag. */
#include "bank.h"

bool send_to(ErlNifEnv *env, ERL_NIF_TERM name, ERL_NIF_TERM message)
{
    ErlNifPid pid;

    return enif_whereis_pid(env, name, &pid) && enif_send(env, &pid, NULL, message);
}

void reply(ErlNifEnv *env, ERL_NIF_TERM from, ERL_NIF_TERM reference, ERL_NIF_TERM reply)
{
    ErlNifPid pid;

    if (enif_get_local_pid(env, from, &pid))
        enif_send(env, &pid, NULL, enif_make_tuple2(env, reference, reply));
}

static ERL_NIF_TERM not_open(ErlNifEnv *env, ERL_NIF_TERM name)
{
    return enif_raise_exception(env, pair(env, "not_open", name));
}

static ERL_NIF_TERM replied(ErlNifEnv *env, ERL_NIF_TERM reply)
{
    ERL_NIF_TERM value = tagged(env, reply, "ok"), thrown = tagged(env, reply, "throw");

    if (thrown)
        return th_throw(env, thrown);
    return value ? value : reply;
}

/* Takes the answer, or the 'DOWN' message that excludes one, from the messages that are in the
 * mailbox or come. Kept: the reference, the name. */
static ERL_NIF_TERM answered(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM message = argv[0], reference = argv[1], name = argv[2];
    const ERL_NIF_TERM *answer, *down;

    (void)argc;
    if (!message) {
        th_demonitor(env, reference, TH_FLUSH);
        return enif_raise_exception(env, pair(env, "silent", name));
    }
    answer = elements_of(env, message, 2);
    if (answer && enif_is_identical(answer[0], reference)) {
        th_demonitor(env, reference, TH_FLUSH);
        return replied(env, answer[1]);
    }
    down = elements_of(env, message, 5);
    if (down && is_atom(env, down[0], "DOWN") && enif_is_identical(down[1], reference))
        return not_open(env, name);
    return th_skip(env);
}

/* A variable of this code, and not of the books, which processes in the old code also use: they
 * would report the new code before calls reach it. Relaxed: the flag stands for itself. */
static _Atomic bool processes_are_old;

void expect_old_processes(void)
{
    atomic_store_explicit(&processes_are_old, true, memory_order_relaxed);
}

/* Sends `upgrade` to the bank, once, from the first process in new code; the bank sends it to the
 * accounts. Later calls of these processes see the cleared flag, too, as they got a message.
 * (upgrade() runs before any process is in the new code.) */
static void tell_of_new_code(ErlNifEnv *env)
{
    if (atomic_load_explicit(&processes_are_old, memory_order_relaxed) &&
        atomic_exchange_explicit(&processes_are_old, false, memory_order_relaxed))
        send_to(env, atom(env, "bank"), atom(env, "upgrade"));
}

ERL_NIF_TERM ask(ErlNifEnv *env, ERL_NIF_TERM name, ERL_NIF_TERM request)
{
    ErlNifPid server, self;
    ERL_NIF_TERM kept[2];

    if (!enif_is_atom(env, name))
        return enif_make_badarg(env);
    if (!th_host_present())
        return not_supported(env);
    tell_of_new_code(env);
    if (!enif_whereis_pid(env, name, &server))
        return not_open(env, name);
    kept[0] = th_monitor(env, &server);
    kept[1] = name;
    enif_send(env, &server, NULL,
              enif_make_tuple3(env, request, enif_make_pid(env, enif_self(env, &self)), kept[0]));
    return th_await(env, answered, PATIENCE, 2, kept);
}
