/* Defines the library's functions, its load and its unload. */
#include "nif_api.h"

static int private_data = 4711;

static int load(ErlNifEnv *env, void **priv_data, ERL_NIF_TERM info)
{
    if (!open_lines())
        return 1;
    say(env, "enif_priv_data: the argument of load()", info);
    set_options(env);
    *priv_data = &private_data;
    return !open_types(env);
}

/* Writes the last results: monitors that fired, and functions without a check. */
static void unload(ErlNifEnv *env, void *priv_data)
{
    (void)env;
    say_int("enif_priv_data: unload() has it", priv_data == &private_data);
    say_what_ended();
    say_unloaded_threads();
    say_missing_functions();
    close_lines();
}

/* check(Name, Value): writes a check whose result the caller has, a list for NAME. */
ERL_NIF_TERM check(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char name[200];

    (void)argc;
    if (enif_get_string(env, argv[0], name, sizeof name, ERL_NIF_LATIN1) <= 0)
        return enif_make_badarg(env);
    say(env, name, argv[1]);
    return atom(env, "ok");
}

static ErlNifFunc functions[] = {
    {"about_terms", 0, about_terms, 0},
    {"bad_schedules", 1, bad_schedules, 0},
    {"binaries", 0, binaries, 0},
    {"check", 2, check, 0},
    {"clocks", 0, clocks, 0},
    {"conditions", 0, conditions, 0},
    {"destroyed", 0, destroyed, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"dirty_cpu", 3, dirty_cpu, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"dirty_io", 2, dirty_io, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"dynamic_calls", 0, dynamic_calls, 0},
    {"environments", 0, environments, 0},
    {"errors", 0, errors, 0},
    {"exceptions", 0, exceptions, 0},
    {"external", 0, external, 0},
    {"hashes", 0, hashes, 0},
    {"identifiers", 0, identifiers, 0},
    {"iterators", 0, iterators, 0},
    {"large_maps", 0, large_maps, 0},
    {"let_go", 0, let_go, 0},
    {"libraries", 0, libraries, 0},
    {"locks", 0, locks, 0},
    {"makers", 0, makers, 0},
    {"memory", 0, memory, 0},
    {"monitors", 0, monitors, 0},
    {"named", 1, named, 0},
    {"newer", 0, newer, 0},
    {"order", 0, order, 0},
    {"port_output", 0, port_output, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"port_closed", 1, port_closed, 0},
    {"ports", 1, ports, 0},
    {"printing", 0, printing, 0},
    {"queues", 0, queues, 0},
    {"raise", 1, raise_term, 0},
    {"resource_terms", 0, resource_terms, 0},
    {"resources", 0, resources, 0},
    {"scheduling", 0, scheduling, 0},
    {"select_again", 0, select_again, 0},
    {"select_cancel", 0, select_cancel, 0},
    {"select_pipe", 0, select_pipe, 0},
    {"select_ready", 0, select_ready, 0},
    {"select_stop", 0, select_stop, 0},
    {"select_stopped", 0, select_stopped, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"select_wrong", 0, select_wrong, 0},
    {"sending", 0, sending, 0},
    {"sending_thread", 0, sending_thread, 0},
    {"small_maps", 0, small_maps, 0},
    {"sub_binaries", 0, sub_binaries, 0},
    {"system_info", 0, system_info, 0},
    {"thread_data", 0, thread_data, 0},
    {"threads", 0, threads, 0},
    {"time_units", 0, time_units, 0},
    {"timeslices", 0, timeslices, 0},
    {"slice", 1, slice, 0},
    {"unique", 0, unique, 0},
    {"variables", 0, variables, 0},
    {"vectors", 0, vectors, 0},
    {"watch_self", 0, watch_self, 0},
};

ERL_NIF_INIT(nif_api, functions, load, NULL, NULL, unload)
