/* Tests functions that schedule others, on other threads, and their time slices. */
#include "nif_api.h"

#include <string.h>

static ERL_NIF_TERM on_dirty_io(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    say_int("enif_thread_type: dirty, for I/O", enif_thread_type());
    say_int("enif_is_current_process_alive: on a dirty scheduler",
            enif_is_current_process_alive(env));
    say(env, "enif_schedule_nif: its arguments, dirty, for I/O",
        enif_make_list_from_array(env, argv, (unsigned)argc));
    say_int("enif_priv_data: on a dirty scheduler", *(int *)enif_priv_data(env));
    return enif_make_list_from_array(env, argv, (unsigned)argc);
}

static ERL_NIF_TERM on_dirty_cpu(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid self;

    say_int("enif_thread_type: dirty, CPU", enif_thread_type());
    say(env, "enif_self: on a dirty scheduler", enif_make_pid(env, enif_self(env, &self)));
    return enif_schedule_nif(env, "on_dirty_io", ERL_NIF_DIRTY_JOB_IO_BOUND, on_dirty_io, argc,
                             argv);
}

/* Schedules itself with one argument less, until one is left. */
static ERL_NIF_TERM count_down(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    say_int("enif_schedule_nif: number of arguments", argc);
    say_int("enif_thread_type: normal", enif_thread_type());
    if (argc > 2)
        return enif_schedule_nif(env, "count_down", 0, count_down, argc - 1, argv + 1);
    return enif_schedule_nif(env, "on_dirty_cpu", ERL_NIF_DIRTY_JOB_CPU_BOUND, on_dirty_cpu, argc,
                             argv);
}

/* Only the passed arguments survive from one function to the next. */
ERL_NIF_TERM scheduling(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM args[10];

    (void)argc;
    (void)argv;
    say_int("enif_thread_type: a normal function", enif_thread_type());
    for (int i = 0; i < 10; i++)
        args[i] = enif_make_tuple2(env, number(env, i), bytes(env, "some bytes", 10));
    return enif_schedule_nif(env, "count_down", 0, count_down, 10, args);
}

static ERL_NIF_TERM raise_at_last(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char name[300];

    if (argc == 0)
        return enif_raise_exception(env, text(env, "why not"));
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    switch (argc) {
    case 1:
        return enif_schedule_nif(env, name, 0, raise_at_last, 0, argv);
    case 2:
        return enif_schedule_nif(env, "flags", 8, raise_at_last, 0, argv);
    case 3:
        return enif_schedule_nif(env, "arity", 0, raise_at_last, 256, argv);
    case 4:
        return enif_make_badarg(env);
    default:
        return enif_schedule_nif(env, "raise", 0, raise_at_last, 0, argv);
    }
}

/* raise(Term): raises it. */
ERL_NIF_TERM raise_term(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return enif_raise_exception(env, argv[0]);
}

/* bad_schedules(N): schedules in the wrong way N, which raises. */
ERL_NIF_TERM bad_schedules(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM args[256];
    int way = 0;

    (void)argc;
    for (size_t i = 0; i < COUNT(args); i++)
        args[i] = argv[0];
    enif_get_int(env, argv[0], &way);
    return raise_at_last(env, way, args);
}

/* The length of a turn depends on the host; in each, a whole turn is too much, and a little of a
 * new one is not. */
static ERL_NIF_TERM new_turn(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    say_int("a little of a new turn", enif_consume_timeslice(env, 1));
    say_int("less than nothing", enif_consume_timeslice(env, -5));
    say_int("half of it", enif_consume_timeslice(env, 50));
    say_int("another half", enif_consume_timeslice(env, 50));
    say_int("and a little", enif_consume_timeslice(env, 1));
    return argv[0];
}

ERL_NIF_TERM timeslices(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM ok = atom(env, "ok");

    (void)argc;
    (void)argv;
    say_int("enif_consume_timeslice: all", enif_consume_timeslice(env, 100));
    say_int("more than all", enif_consume_timeslice(env, 1000));
    return enif_schedule_nif(env, "new_turn", 0, new_turn, 1, &ok);
}

/* slice(Percent): returns whether the time slice, which calls share, is used up. */
ERL_NIF_TERM slice(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    int percent = 0;

    (void)argc;
    enif_get_int(env, argv[0], &percent);
    return number(env, enif_consume_timeslice(env, percent));
}

ERL_NIF_TERM dirty_cpu(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    say_int("enif_thread_type: a dirty function", enif_thread_type());
    say_int("enif_consume_timeslice: all, on a dirty scheduler", enif_consume_timeslice(env, 100));
    return enif_schedule_nif(env, "count_down", 0, count_down, argc, argv);
}

ERL_NIF_TERM dirty_io(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return on_dirty_io(env, argc, argv);
}
