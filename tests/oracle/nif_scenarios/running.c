/* Tests messages, names, exceptions, arguments and functions that schedule others. */
#include "scenarios.h"

#include <stdatomic.h>
#include <unistd.h>

static ErlNifEnv *kept_env; /* of a message built in several calls */
static ERL_NIF_TERM kept_list;

/* send_to(To, Term): sends Term, once copied to another environment, once from the caller's. */
ERL_NIF_TERM send_to(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *own = enif_alloc_env();
    ErlNifPid pid;
    int results[2];

    (void)argc;
    if (!enif_get_local_pid(env, argv[0], &pid) && !enif_whereis_pid(env, argv[0], &pid)) {
        enif_free_env(own);
        return atom(env, "nobody");
    }
    results[0] = enif_send(env, &pid, own,
                           enif_make_tuple2(own, atom(own, "copy"), enif_make_copy(own, argv[1])));
    enif_free_env(own);
    results[1] = enif_send(env, &pid, NULL, enif_make_tuple2(env, atom(env, "own"), argv[1]));
    return enif_make_tuple2(env, enif_make_int(env, results[0]), enif_make_int(env, results[1]));
}

/* message_add(Term): prepends Term to the kept list. */
ERL_NIF_TERM message_add(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!kept_env) {
        kept_env = enif_alloc_env();
        kept_list = enif_make_list(kept_env, 0);
    }
    kept_list = enif_make_list_cell(kept_env, enif_make_copy(kept_env, argv[0]), kept_list);
    return enif_make_copy(env, kept_list);
}

/* message_send(To): sends the list, and clears its environment. */
ERL_NIF_TERM message_send(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid pid;
    int result;

    (void)argc;
    enif_get_local_pid(env, argv[0], &pid);
    result = enif_send(env, &pid, kept_env, kept_list);
    if (result) {
        enif_clear_env(kept_env);
        kept_list = enif_make_list(kept_env, 0);
    }
    return enif_make_int(env, result);
}

/* message_clear(): empties the list; the environment stays. */
ERL_NIF_TERM message_clear(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    enif_clear_env(kept_env);
    kept_list = enif_make_list(kept_env, 0);
    return atom(env, "ok");
}

void free_message(void)
{
    if (kept_env)
        enif_free_env(kept_env);
}

/* registered(Name): the process and the port of that name. */
ERL_NIF_TERM registered(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid pid, self;
    ErlNifPort port;

    (void)argc;
    if (enif_whereis_pid(env, argv[0], &pid))
        return atom(env, enif_compare_pids(&pid, enif_self(env, &self)) ? "other" : "self");
    return atom(env, enif_whereis_port(env, argv[0], &port) ? "port" : "nobody");
}

struct lookup {
    ERL_NIF_TERM name;
    ErlNifPid pid;
    int found;
};

static void *look_up(void *data)
{
    struct lookup *lookup = data;

    lookup->found = enif_whereis_pid(NULL, lookup->name, &lookup->pid);
    return NULL;
}

/* registered_in_thread(Name) */
ERL_NIF_TERM registered_in_thread(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct lookup lookup = {.name = argv[0]};
    ErlNifTid thread;

    (void)argc;
    enif_thread_create("looks up", &thread, look_up, &lookup, NULL);
    enif_thread_join(thread, NULL);
    return lookup.found ? enif_make_pid(env, &lookup.pid) : atom(env, "nobody");
}

/* raise_term(Term) */
ERL_NIF_TERM raise_term(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return enif_raise_exception(env, argv[0]);
}

/* badarg(Term): raises badarg, but returns Term. */
ERL_NIF_TERM badarg(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM raised = enif_make_badarg(env), reason = 0;
    int pending = enif_has_pending_exception(env, &reason);

    (void)argc;
    note("badarg: is_exception %d, pending %d, reason %T, of a term %d",
         enif_is_exception(env, raised), pending, reason, enif_is_exception(env, argv[0]));
    return argv[0];
}

/* badarg_first(Term): raises badarg, then Term; creates terms in between. */
ERL_NIF_TERM badarg_first(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM made, reason = 0;

    (void)argc;
    enif_make_badarg(env);
    made = enif_make_tuple2(env, enif_make_int(env, 5), enif_make_list1(env, argv[0]));
    enif_raise_exception(env, made);
    enif_has_pending_exception(env, &reason);
    note("raised twice: made %T, pending %T", made, reason);
    return enif_raise_exception(env, argv[0]);
}

/* a(...) */
ERL_NIF_TERM arguments(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_make_tuple2(env, enif_make_int(env, argc),
                            enif_make_list_from_array(env, argv, (unsigned)argc));
}

/*
 * chain(Steps): `normal`, `cpu` and `io` continue with the rest on such a thread; `badarg` raises
 * badarg; {raise, Term} raises Term; other terms are returned.
 */
ERL_NIF_TERM chain(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    static const char *const kinds[] = {"normal", "cpu", "io"};
    ERL_NIF_TERM head, tail;
    const ERL_NIF_TERM *pair;
    int arity;

    note("step, thread_type %d, arguments %d", enif_thread_type(), argc);
    if (!enif_get_list_cell(env, argv[0], &head, &tail))
        return atom(env, "end");
    for (int kind = 0; kind < 3; kind++)
        if (enif_is_identical(head, atom(env, kinds[kind])))
            return enif_schedule_nif(env, kinds[kind], kind, chain, 1, &tail);
    if (enif_is_identical(head, atom(env, "badarg")))
        return enif_make_badarg(env);
    if (enif_get_tuple(env, head, &arity, &pair))
        return enif_raise_exception(env, pair[1]);
    return head;
}

/* slices(Percent, Turns): starts a turn each time the slice is used up; returns all counts. */
static ERL_NIF_TERM next_slice(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    int percent = integer(env, argv[0]), turns = integer(env, argv[1]), count = 1;
    ERL_NIF_TERM next[3] = {argv[0], enif_make_int(env, turns - 1)};

    if (turns == 0)
        return argv[2];
    while (!enif_consume_timeslice(env, percent))
        count++;
    next[2] = enif_make_list_cell(env, enif_make_int(env, count), argv[2]);
    return enif_schedule_nif(env, "next_slice", 0, next_slice, argc, next);
}

ERL_NIF_TERM slices(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM first[3] = {argv[0], argv[1], enif_make_list(env, 0)};

    (void)argc;
    enif_consume_timeslice(env, 100); /* uses up the rest of the caller's */
    return enif_schedule_nif(env, "next_slice", 0, next_slice, 3, first);
}

/* Lets the functions return that stay() has called. Relaxed: the flag publishes no other memory. */
static atomic_bool may_go;

/* stay(To): sends `stays` to To, and stays until let_go(). */
ERL_NIF_TERM stay(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid pid;
    int sent;

    (void)argc;
    enif_get_local_pid(env, argv[0], &pid);
    enif_send(env, &pid, NULL, atom(env, "stays"));
    while (!atomic_load_explicit(&may_go, memory_order_relaxed))
        usleep(1000);
    sent = enif_send(env, &pid, NULL, atom(env, "went"));
    note("goes: alive %d, sent %d", enif_is_current_process_alive(env), sent);
    return argv[0];
}

ERL_NIF_TERM let_go(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    atomic_store_explicit(&may_go, true, memory_order_relaxed);
    return atom(env, "true");
}
