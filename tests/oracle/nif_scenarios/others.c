/*
 * Provides other processes and code in tracehost, as others.erl does in a BEAM: a process that
 * obeys messages, signals, and code loading. Uses functions of nif_module.h.
 */
#include <erl_nif.h>
#include <nif_module.h>
#include <string.h>

static ThContinuation obey;

static ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

static int is(ErlNifEnv *env, ERL_NIF_TERM term, const char *name)
{
    return enif_is_identical(term, atom(env, name));
}

static void answer(ErlNifEnv *env, ERL_NIF_TERM to, ERL_NIF_TERM result)
{
    ErlNifPid pid, self;

    enif_get_local_pid(env, to, &pid);
    enif_self(env, &self);
    enif_send(env, &pid, NULL, enif_make_tuple2(env, enif_make_pid(env, &self), result));
}

/* Arguments: the result of the call, the requester, the kept term. */
static ERL_NIF_TERM called(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    answer(env, argv[1], argv[0]);
    return th_await(env, obey, TH_INFINITY, 1, &argv[2]);
}

/* Like called(), but the result becomes the kept term. */
static ERL_NIF_TERM held(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    answer(env, argv[1], atom(env, "held"));
    return th_await(env, obey, TH_INFINITY, 1, &argv[0]);
}

/* Arguments: a message, the kept term. */
static ERL_NIF_TERM obey(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *message;
    ERL_NIF_TERM arguments[8], list, kept[2];
    int arity = 0, count = 0;

    (void)argc;
    if (is(env, argv[0], "return"))
        return argv[0];
    if (!enif_get_tuple(env, argv[0], &arity, &message))
        return enif_raise_exception(env, atom(env, "failed"));
    if (is(env, message[0], "exit"))
        return th_exit(env, message[1]);
    if (is(env, message[0], "keep")) {
        answer(env, message[1], atom(env, "kept"));
        return th_await(env, obey, TH_INFINITY, 1, &message[2]);
    }
    if (is(env, message[0], "give")) {
        ErlNifPid pid;

        enif_get_local_pid(env, message[2], &pid);
        enif_send(env, &pid, NULL, enif_make_tuple3(env, atom(env, "keep"), message[1], argv[1]));
        return th_await(env, obey, TH_INFINITY, 1, &argv[1]);
    }
    for (list = message[4]; count < 8 && enif_get_list_cell(env, list, &arguments[count], &list);)
        count++;
    kept[0] = message[1];
    kept[1] = argv[1];
    return th_call_then(env, message[2], message[3], count, arguments,
                        is(env, message[0], "hold") ? held : called, 0, 2, kept);
}

static ERL_NIF_TERM wait_(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM nothing = atom(env, "nothing");

    (void)argc;
    (void)argv;
    return th_await(env, obey, TH_INFINITY, 1, &nothing);
}

static ERL_NIF_TERM start(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid pid;

    (void)argc;
    (void)argv;
    if (!th_spawn(env, atom(env, "others"), atom(env, "wait"), 0, NULL, 0, &pid, NULL))
        return 0;
    return enif_make_pid(env, &pid);
}

/* Arguments: 'DOWN' or 'EXIT'; the requester; the monitored process. */
static ERL_NIF_TERM seen(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *message;
    ErlNifPid to;
    int arity;

    (void)argc;
    enif_get_tuple(env, argv[0], &arity, &message);
    enif_get_local_pid(env, argv[1], &to);
    enif_send(env, &to, NULL, enif_make_tuple2(env, argv[2], message[arity - 1]));
    return argv[0];
}

static ERL_NIF_TERM watching(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM kept[2] = {argv[2], argv[0]};
    ErlNifPid pid, to;

    (void)argc;
    enif_get_local_pid(env, argv[1], &pid);
    enif_get_local_pid(env, argv[2], &to);
    th_trap_exit(env, 1);
    if (is(env, argv[0], "monitor"))
        th_monitor(env, &pid);
    else
        th_link(env, &pid);
    enif_send(env, &to, NULL, atom(env, "watches"));
    return th_await(env, seen, TH_INFINITY, 2, kept);
}

static ERL_NIF_TERM watched(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return atom(env, "true");
}

static ERL_NIF_TERM watch(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM arguments[3] = {argv[0], argv[1]};
    ErlNifPid self;

    (void)argc;
    arguments[2] = enif_make_pid(env, enif_self(env, &self));
    if (!th_spawn(env, atom(env, "others"), atom(env, "watching"), 3, arguments, 0, NULL, NULL))
        return 0;
    return th_await(env, watched, TH_INFINITY, 0, NULL);
}

static ERL_NIF_TERM linking(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid pid;

    (void)argc;
    enif_get_local_pid(env, argv[0], &pid);
    th_link(env, &pid);
    return th_exit(env, argv[1]);
}

static ERL_NIF_TERM link_and_exit(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    if (!th_spawn(env, atom(env, "others"), atom(env, "linking"), argc, argv, 0, NULL, NULL))
        return 0;
    return atom(env, "true");
}

static ERL_NIF_TERM signal_(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid pid;

    (void)argc;
    enif_get_local_pid(env, argv[0], &pid);
    th_exit_signal(env, &pid, argv[1]);
    return atom(env, "true");
}

/* Returns `loaded`, `true`, `false`, or the error. */
static ERL_NIF_TERM done(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *error;
    int arity;

    (void)argc;
    if (enif_is_list(env, argv[0]))
        return atom(env, "loaded");
    if (enif_get_tuple(env, argv[0], &arity, &error) &&
        enif_get_tuple(env, error[1], &arity, &error))
        return error[0];
    return argv[0];
}

/* load(File, Info) */
static ERL_NIF_TERM load(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return th_load_code(env, enif_make_list1(env, argv[0]), argv[1], 0, done, 0, NULL);
}

static ERL_NIF_TERM purge(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return th_purge_code(env, atom(env, "scenarios"), 0, done, 0, NULL);
}

static ERL_NIF_TERM delete_(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return th_delete_code(env, atom(env, "scenarios"), 0, done, 0, NULL);
}

static ErlNifFunc functions[] = {{"start", 0, start, 0},     {"wait", 0, wait_, 0},
                                 {"watch", 2, watch, 0},     {"watching", 3, watching, 0},
                                 {"linking", 2, linking, 0}, {"link_and_exit", 2, link_and_exit, 0},
                                 {"signal", 2, signal_, 0},  {"load", 2, load, 0},
                                 {"purge", 0, purge, 0},     {"delete", 0, delete_, 0}};

ERL_NIF_INIT(others, functions, NULL, NULL, NULL, NULL)
