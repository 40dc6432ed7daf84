/*
 * A NIF library with one bug, which the macro PLANTED names: PLANTED=leak_binary. Compiled by
 * check_plugin.sh, once for each bug.
 */
#include <erl_nif.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum planted {
    no_bug,
    term_of_other_environment,
    term_missing,
    kept_term,
    kept_environment,
    owner_released_twice,
    owner_freed_twice,
    bytes_changed,
    leak_memory,
    leak_environment,
    leak_binary,
    leak_resource,
    leak_of_malloc,
    leak_monitor,
    lock_kept,
    memory_unchecked,
    crash_at_improper_list,
    crash_at_large_integer,
    crash_at_empty_binary,
    crash_at_deep_list,
    crash_at_long_atom,
    crash_at_wrong_resource,
    crash_after_close,
    crash_when_killed,
    crash_in_destructor,
    crash_in_upgrade,
    crash_in_threads,
    crash_exits,
    hang_at_negative,
    node_lacks_function,
};

#define IS(bug) (PLANTED == (bug))
#define NIF(name) static ERL_NIF_TERM name(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])

struct file {
    int open;
    int *position; /* a pointer in the resources of the type `file`, 0 in those of `folder` */
    int place;
};

struct work {
    int step;
};

static ErlNifResourceType *file_type, *folder_type, *work_type;
static ErlNifMutex *mutex;
static ErlNifEnv *own, *kept_env;
static ERL_NIF_TERM kept;
static void *volatile sink;
static volatile int turns;

/* As a library declares it that does not include nif_module.h. */
int th_host_version(void);

static ERL_NIF_TERM ok(ErlNifEnv *env)
{
    if (IS(node_lacks_function) && th_host_version() == 0)
        return enif_make_badarg(env);
    return enif_make_atom(env, "ok");
}

/* --- Resources -------------------------------------------------------------------------------- */

NIF(open)
{
    struct file *file = enif_alloc_resource(file_type, sizeof *file);
    ERL_NIF_TERM term;

    (void)argc;
    (void)argv;
    if (!file)
        return enif_make_badarg(env);
    *file = (struct file){.open = 1};
    file->position = &file->place;
    term = enif_make_resource(env, file);
    if (!IS(leak_resource))
        enif_release_resource(file);
    return enif_make_tuple2(env, ok(env), term);
}

NIF(folder)
{
    struct file *folder = enif_alloc_resource(folder_type, sizeof *folder);
    ERL_NIF_TERM term;

    (void)argc;
    (void)argv;
    if (!folder)
        return enif_make_badarg(env);
    memset(folder, 0, sizeof *folder);
    term = enif_make_resource(env, folder);
    enif_release_resource(folder);
    return term;
}

NIF(close_file)
{
    struct file *file;

    (void)argc;
    if (!enif_get_resource(env, argv[0], file_type, (void **)&file))
        return enif_make_badarg(env);
    if (IS(owner_released_twice))
        enif_release_resource(file);
    if (IS(crash_after_close))
        file->position = NULL;
    file->open = 0;
    return ok(env);
}

NIF(position)
{
    void *object;
    struct file *file;

    (void)argc;
    if (!enif_get_resource(env, argv[0], file_type, &object) &&
        !(IS(crash_at_wrong_resource) && enif_get_resource(env, argv[0], folder_type, &object)))
        return enif_make_badarg(env);
    file = object;
    if (!file->open && !IS(crash_after_close) && !IS(crash_at_wrong_resource))
        return enif_make_badarg(env);
    return enif_make_int(env, *file->position);
}

NIF(watch)
{
    struct file *file;
    ErlNifMonitor monitor;
    ErlNifPid self;

    (void)argc;
    if (!enif_get_resource(env, argv[0], file_type, (void **)&file) || !enif_self(env, &self) ||
        enif_monitor_process(env, file, &self, &monitor) != 0)
        return enif_make_badarg(env);
    if (IS(leak_monitor))
        enif_keep_resource(file);
    else
        enif_demonitor_process(env, file, &monitor);
    return ok(env);
}

static void down(ErlNifEnv *env, void *object, ErlNifPid *pid, ErlNifMonitor *monitor)
{
    (void)env;
    (void)object;
    (void)pid;
    (void)monitor;
}

/* --- Terms ------------------------------------------------------------------------------------ */

/* Returns the depth of TERM, a list whose elements are lists and so on. */
static unsigned depth_of(ErlNifEnv *env, ERL_NIF_TERM term)
{
    volatile char room[8192];
    ERL_NIF_TERM head, tail;

    room[0] = 0;
    return enif_get_list_cell(env, term, &head, &tail) ? depth_of(env, head) + 1
                                                       : (unsigned)room[0];
}

NIF(sum)
{
    ERL_NIF_TERM list = argv[0], head;
    unsigned length;
    long sum = 0, number;

    (void)argc;
    if (!enif_get_list_length(env, list, &length)) {
        if (IS(crash_at_improper_list) && enif_is_list(env, list))
            abort();
        return enif_make_badarg(env);
    }
    if (IS(crash_at_deep_list))
        return enif_make_uint(env, depth_of(env, list));
    while (enif_get_list_cell(env, list, &head, &list))
        if (enif_get_long(env, head, &number))
            sum = (long)((unsigned long)sum + (unsigned long)number);
    return enif_make_long(env, sum);
}

NIF(number)
{
    long number;

    (void)argc;
    if (!enif_get_long(env, argv[0], &number))
        return enif_make_badarg(env);
    if (IS(crash_at_large_integer) && number >= 2147483648)
        abort();
    while (IS(hang_at_negative) && number < 0)
        turns++;
    return argv[0];
}

NIF(first)
{
    ErlNifBinary binary, copy;
    char *memory;

    (void)argc;
    if (!enif_inspect_binary(env, argv[0], &binary))
        return enif_make_badarg(env);
    if (IS(crash_at_empty_binary) && binary.size == 0)
        abort();
    if (binary.size == 0)
        return enif_make_badarg(env);
    if (IS(bytes_changed))
        binary.data[0]++;
    if (IS(leak_binary) && enif_alloc_binary(binary.size, &copy))
        sink = copy.data;
    if (IS(leak_of_malloc))
        sink = malloc(100);
    memory = enif_alloc(binary.size);
    if (!memory && !IS(memory_unchecked))
        return enif_make_badarg(env);
    memory[0] = (char)binary.data[0];
    if (!IS(leak_memory))
        enif_free(memory);
    if (IS(owner_freed_twice))
        enif_free(memory);
    return enif_make_uint(env, binary.data[0]);
}

NIF(name)
{
    char text[256];
    int size = enif_get_atom(env, argv[0], text, sizeof text, ERL_NIF_LATIN1);

    (void)argc;
    if (!size && IS(crash_in_destructor)) {
        struct work *work = enif_alloc_resource(work_type, sizeof *work);
        if (work) {
            work->step = 1;
            enif_release_resource(work);
        }
    }
    if (!size)
        return enif_make_badarg(env);
    if (IS(crash_at_long_atom) && size > 200)
        abort();
    return enif_make_int(env, size - 1);
}

NIF(keep)
{
    ERL_NIF_TERM before = kept;
    int arity;
    const ERL_NIF_TERM *elements;

    (void)argc;
    if (IS(term_missing) && enif_is_map(env, argv[0]))
        return 0;
    if (IS(term_of_other_environment) && enif_is_tuple(env, argv[0]))
        return enif_make_copy(own, argv[0]);
    if (IS(kept_term) && enif_is_tuple(env, argv[0])) {
        kept = argv[0];
        if (before && enif_get_tuple(env, before, &arity, &elements))
            return enif_make_int(env, arity);
    }
    if (IS(kept_environment)) {
        if (kept_env)
            enif_make_tuple1(kept_env, enif_make_int(env, 1));
        kept_env = env;
    }
    if (IS(leak_environment))
        sink = enif_alloc_env();
    return ok(env);
}

/* --- Time and threads ------------------------------------------------------------------------- */

/* A destructor that expects a finished work. */
static void end_work(ErlNifEnv *env, void *object)
{
    const struct work *work = object;

    (void)env;
    if ((IS(crash_when_killed) || IS(crash_in_destructor)) && work->step > 0)
        abort();
}

NIF(go_on)
{
    struct work *work;

    if (!enif_get_resource(env, argv[0], work_type, (void **)&work))
        return enif_make_badarg(env);
    usleep(1000);
    if (--work->step == 0)
        return ok(env);
    return enif_schedule_nif(env, "go_on", 0, go_on, argc, argv);
}

NIF(work)
{
    struct work *work = enif_alloc_resource(work_type, sizeof *work);
    ERL_NIF_TERM term;

    (void)argc;
    (void)argv;
    if (!work)
        return enif_make_badarg(env);
    work->step = 10;
    term = enif_make_resource(env, work);
    enif_release_resource(work);
    return enif_schedule_nif(env, "go_on", 0, go_on, 1, &term);
}

/* Counts the calls that run at this moment. */
NIF(lock)
{
    static int inside;
    int others;

    (void)argc;
    (void)argv;
    if (IS(lock_kept)) {
        enif_mutex_trylock(mutex);
        return ok(env);
    }
    others = __atomic_fetch_add(&inside, 1, __ATOMIC_SEQ_CST);
    usleep(200);
    __atomic_fetch_sub(&inside, 1, __ATOMIC_SEQ_CST);
    if (IS(crash_in_threads) && others > 0)
        abort();
    return ok(env);
}

NIF(leave)
{
    (void)argc;
    (void)argv;
    if (IS(crash_exits))
        exit(3);
    return ok(env);
}

/* --- The library ------------------------------------------------------------------------------ */

static int load(ErlNifEnv *env, void **priv_data, ERL_NIF_TERM info)
{
    const ErlNifResourceFlags flags = ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER;
    ErlNifResourceTypeInit watched = {.down = down};

    (void)info;
    *priv_data = NULL;
    file_type = enif_open_resource_type_x(env, "file", &watched, flags, NULL);
    folder_type = enif_open_resource_type(env, NULL, "folder", NULL, flags, NULL);
    work_type = enif_open_resource_type(env, NULL, "work", end_work, flags, NULL);
    mutex = enif_mutex_create("planted");
    own = enif_alloc_env();
    return !mutex || !own;
}

static void unload(ErlNifEnv *env, void *priv_data)
{
    (void)env;
    (void)priv_data;
    enif_mutex_destroy(mutex);
    enif_free_env(own);
}

static int upgrade(ErlNifEnv *env, void **priv_data, void **old, ERL_NIF_TERM info)
{
    if (IS(crash_in_upgrade))
        *(int *)*old = 1;
    return load(env, priv_data, info);
}

static ErlNifFunc functions[] = {
    {"open", 0, open, 0},         {"folder", 0, folder, 0}, {"close", 1, close_file, 0},
    {"position", 1, position, 0}, {"watch", 1, watch, 0},   {"sum", 1, sum, 0},
    {"number", 1, number, 0},     {"first", 1, first, 0},   {"name", 1, name, 0},
    {"keep", 1, keep, 0},         {"work", 0, work, 0},     {"lock", 0, lock, 0},
    {"leave", 0, leave, 0},
};
ERL_NIF_INIT(planted, functions, load, NULL, upgrade, unload)
