/*
 * Processes that are notified of new code and check whether they see it, for
 * tests/runtime/test_loading_spread.c. A trial is a message {told, Version, Thread} from a module's
 * code of that version, or an exit with that reason: then an external call of that module's
 * number/0 must not reach an older version.
 */
#include <erl_nif.h>
#include <nif_module.h>

#define NIF(NAME) static ERL_NIF_TERM NAME(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])

static ERL_NIF_TERM atom(ErlNifEnv *env, const char *name)
{
    return enif_make_atom(env, name);
}

static long integer(ErlNifEnv *env, ERL_NIF_TERM term)
{
    long value = 0;

    enif_get_long(env, term, &value);
    return value;
}

/* Arguments of heard(): the message and the kept terms: the module, the number of trials left, the
 * number of those from other threads. */
enum { MESSAGE, MODULE, LEFT, OTHERS, KEPT = 3 };

/* Checks {told, Version, Thread}. Returns 1 if it comes from another thread, 0 if from this one, -1
 * if an older version was reached. */
static int check(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM told)
{
    const ERL_NIF_TERM *parts;
    ErlNifUInt64 thread = 0;
    ERL_NIF_TERM number;
    int arity;

    if (!enif_get_tuple(env, told, &arity, &parts) || arity != 3)
        return -1;
    number = th_call(env, module, atom(env, "number"), 0, NULL);
    if (!number || integer(env, number) < integer(env, parts[1]))
        return -1;
    enif_get_uint64(env, parts[2], &thread);
    return thread != (ErlNifUInt64)enif_thread_self();
}

NIF(heard);

static ERL_NIF_TERM hear_more(ErlNifEnv *env, ERL_NIF_TERM module, long left, long others)
{
    ERL_NIF_TERM kept[KEPT] = {module, enif_make_long(env, left), enif_make_long(env, others)};

    return left > 0 ? th_await(env, heard, TH_INFINITY, KEPT, kept) : kept[OTHERS - 1];
}

/* An exit signal has the trial as its reason. */
NIF(heard)
{
    const ERL_NIF_TERM *parts;
    int arity, found;

    (void)argc;
    enif_get_tuple(env, argv[MESSAGE], &arity, &parts);
    found = check(env, argv[MODULE],
                  enif_is_identical(parts[0], atom(env, "EXIT")) ? parts[2] : argv[MESSAGE]);
    if (found < 0)
        return enif_raise_exception(env, enif_make_tuple2(env, atom(env, "older"), argv[MESSAGE]));
    return hear_more(env, argv[MODULE], integer(env, argv[LEFT]) - 1,
                     integer(env, argv[OTHERS]) + found);
}

/* hear(Module, N, Name): runs N trials from MODULE and returns how many came from other threads.
 * Registers Name, unless it is `undefined`. */
NIF(hear)
{
    ErlNifPid self;

    (void)argc;
    th_trap_exit(env, 1);
    if (!enif_is_identical(argv[2], atom(env, "undefined")))
        th_register(env, argv[2], enif_self(env, &self));
    return hear_more(env, argv[0], integer(env, argv[1]), 0);
}

/* tell_often(Module, To, N): calls Module:tell(To) N times. */
NIF(tell_often)
{
    (void)argc;
    for (long left = integer(env, argv[2]); left > 0; left--)
        if (!th_call(env, argv[0], atom(env, "tell"), 1, &argv[1]))
            return 0;
    return argv[1];
}

/* hear_of_ends(Module, N): spawns N linked processes that call leave(), then runs N trials. */
NIF(hear_of_ends)
{
    (void)argc;
    th_trap_exit(env, 1);
    for (long left = integer(env, argv[1]); left > 0; left--)
        if (!th_spawn(env, argv[0], atom(env, "leave"), 0, NULL, TH_SPAWN_LINK, NULL, NULL))
            return 0;
    return hear_more(env, argv[0], integer(env, argv[1]), 0);
}

static ErlNifFunc functions[] = {
    {"hear", 3, hear, 0},
    {"tell_often", 3, tell_often, 0},
    {"hear_of_ends", 2, hear_of_ends, 0},
};

ERL_NIF_INIT(spread, functions, NULL, NULL, NULL, NULL)
