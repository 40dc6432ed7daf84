/* A plugin that uses all that erl_nif.h has beyond plain declarations. It is compiled as C and as
 * C++, and inspected, not run. */
#include <erl_nif.h>

/* A source may include the driver API's header, too. */
#ifdef WITH_ERL_DRIVER
#include <erl_driver.h>
#endif

static char lock_name[] = "plugin.lock";
static ErlNifMutex *lock;

static ERL_NIF_TERM integers(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifSInt64 i;
    ErlNifUInt64 u;
    (void)argc;
    if (!enif_get_int64(env, argv[0], &i) || !enif_get_uint64(env, argv[1], &u))
        return enif_make_badarg(env);
    return enif_make_tuple2(env, enif_make_int64(env, -i), enif_make_uint64(env, u + 1));
}

static ERL_NIF_TERM nested(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM t = argv[0];
    const ERL_NIF_TERM tuples[] = {
        enif_make_tuple1(env, t),
        enif_make_tuple2(env, t, t),
        enif_make_tuple3(env, t, t, t),
        enif_make_tuple4(env, t, t, t, t),
        enif_make_tuple5(env, t, t, t, t, t),
        enif_make_tuple6(env, t, t, t, t, t, t),
        enif_make_tuple7(env, t, t, t, t, t, t, t),
        enif_make_tuple8(env, t, t, t, t, t, t, t, t),
        enif_make_tuple9(env, t, t, t, t, t, t, t, t, t),
    };
    const ERL_NIF_TERM lists[] = {
        enif_make_list1(env, t),
        enif_make_list2(env, t, t),
        enif_make_list3(env, t, t, t),
        enif_make_list4(env, t, t, t, t),
        enif_make_list5(env, t, t, t, t, t),
        enif_make_list6(env, t, t, t, t, t, t),
        enif_make_list7(env, t, t, t, t, t, t, t),
        enif_make_list8(env, t, t, t, t, t, t, t, t),
        enif_make_list9(env, t, t, t, t, t, t, t, t, t),
    };
    (void)argc;
    return enif_make_tuple2(env, enif_make_tuple_from_array(env, tuples, 9),
                            enif_make_list_from_array(env, lists, 9));
}

static ERL_NIF_TERM pids(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifPid self, other;
    (void)argc;
    if (!enif_self(env, &self) || !enif_get_local_pid(env, argv[0], &other))
        return enif_raise_exception(env, enif_make_atom(env, "no_pid"));
    if (enif_compare_pids(&self, &other) < 0)
        return enif_make_pid(env, &self);
    return enif_make_pid(env, &other);
}

static ERL_NIF_TERM events(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifMonitor monitor;
    ErlNifSysInfo info;
    ErlNifTime now = enif_monotonic_time(ERL_NIF_NSEC);
    int r = enif_monitor_process(env, lock, NULL, &monitor);
    (void)argc;
    r |= enif_select_read(env, 0, lock, NULL, argv[0], NULL);
    r |= enif_select_write(env, 0, lock, NULL, argv[0], NULL);
    r |= enif_select_error(env, 0, lock, NULL, argv[0], NULL);
    enif_system_info(&info, sizeof info);
    if (now == ERL_NIF_TIME_ERROR || (r & ERL_NIF_SELECT_NOTSUP))
        return enif_make_string(env, erl_errno_id(r), ERL_NIF_LATIN1);
    return enif_make_int(env, info.scheduler_threads);
}

static int load(ErlNifEnv *env, void **priv_data, ERL_NIF_TERM load_info)
{
    (void)load_info;
    *priv_data = env;
    lock = enif_mutex_create(lock_name);
    return lock == NULL;
}

static void unload(ErlNifEnv *env, void *priv_data)
{
    (void)env;
    (void)priv_data;
    enif_mutex_destroy(lock);
}

static ErlNifFunc functions[] = {
    {"integers", 2, integers, 0},
    {"nested", 1, nested, ERL_NIF_DIRTY_JOB_CPU_BOUND},
    {"pids", 1, pids, 0},
    {"events", 1, events, ERL_NIF_DIRTY_JOB_IO_BOUND},
};

ERL_NIF_INIT(plugin, functions, load, NULL, NULL, unload)
