/*
 * Measures functions of the NIF API: the same shared object runs in a BEAM and in tracehost.
 *
 *   nif_times:rows()             the names of the measurements: "function" or "function, case"
 *   nif_times:time(Row, Pids)    picoseconds a call, of as many calls as fit the caches
 *
 * Pids is {Live, Dead, Receiver}. The receiver keeps its messages until time/2 has returned, so a
 * send never competes with a receive. Input terms are in an environment of the library; results go
 * to the environment of the call, which both sides free after each call.
 */
#include <erl_nif.h>

#include <stdint.h>
#include <string.h>
#include <time.h>

#include "nif_times_rows.h"

enum { NAMES = 8, FEW = 4, MANY = 1024, LONG_NAME = 64 };

/* Atoms that tracers use. */
static const char *const names[NAMES] = {
    "trace",     "timestamp", "match_spec_result", "ok",
    "undefined", "pid",       "scheduler_id",      "send_to_non_existing_process",
};

/* Input terms, created by load() and only read after that. */
static struct inputs {
    ErlNifEnv *env; /* environment of the terms below */
    ERL_NIF_TERM atoms[NAMES];
    ERL_NIF_TERM atom_keys[MANY], integer_keys[MANY], binary_keys[MANY]; /* in no order */
    ERL_NIF_TERM few, many_atoms, many_integers, many_binaries;          /* maps */
    ERL_NIF_TERM pair, event, same_event, other_event;                   /* tuples */
    ERL_NIF_TERM list, string, bytes, shared_bytes, iolist;
    ERL_NIF_TERM fraction, big, resource, reference;
    ErlNifBinary external; /* the event as an external term */
    ErlNifResourceType *type;
    ErlNifMutex *mutex;
    ErlNifRWLock *rwlock;
    ErlNifTSDKey tsd;
    void *object;
} in;

/* One measurement: its environments and its processes. */
struct call {
    ErlNifEnv *env;
    ErlNifEnv *message_env;
    ErlNifPid live, dead, receiver;
    void *watcher; /* a resource; load() cannot create it, as a BEAM lets only later ones monitor */
    ERL_NIF_TERM live_term;
    ERL_NIF_TERM message; /* a term of ENV */
};

static char text[256];

static void iterate(ErlNifEnv *env, ERL_NIF_TERM map)
{
    ErlNifMapIterator iterator;
    ERL_NIF_TERM key, value;

    enif_map_iterator_create(env, map, &iterator, ERL_NIF_MAP_ITERATOR_FIRST);
    while (enif_map_iterator_get_pair(env, &iterator, &key, &value))
        enif_map_iterator_next(env, &iterator);
    enif_map_iterator_destroy(env, &iterator);
}

/* Puts one key after the other, as a library without enif_make_map_from_arrays() does. */
static void put_all(ErlNifEnv *env, unsigned count)
{
    ERL_NIF_TERM map = enif_make_new_map(env);

    for (unsigned i = 0; i < count; i++)
        enif_make_map_put(env, map, in.atom_keys[i], in.atoms[0], &map);
}

static void send_own(struct call *c)
{
    ErlNifEnv *env = c->message_env;
    ERL_NIF_TERM message = enif_make_tuple3(env, in.atoms[0], enif_make_int(env, 1), c->live.pid);

    enif_send(c->env, &c->receiver, env, message);
    enif_clear_env(env); /* the API requires this even after a send took the terms */
}

static void make_binary(ErlNifEnv *env)
{
    ErlNifBinary binary;

    enif_alloc_binary(100, &binary);
    enif_make_binary(env, &binary);
}

static void make_object(ErlNifEnv *env)
{
    void *object = enif_alloc_resource(in.type, 64);

    enif_make_resource(env, object);
    enif_release_resource(object);
}

static void to_external(ErlNifEnv *env)
{
    ErlNifBinary binary;

    enif_term_to_binary(env, in.event, &binary);
    enif_release_binary(&binary);
}

static void read_lock_and_unlock(void)
{
    enif_rwlock_rlock(in.rwlock);
    enif_rwlock_runlock(in.rwlock);
}

static void watch(struct call *c)
{
    ErlNifMonitor monitor;

    enif_monitor_process(c->env, c->watcher, &c->live, &monitor);
    enif_demonitor_process(c->env, c->watcher, &monitor);
}

static void lock_and_unlock(void)
{
    enif_mutex_lock(in.mutex);
    enif_mutex_unlock(in.mutex);
}

/* Results of the measured calls. */
struct answer {
    ErlNifPid pid;
    ERL_NIF_TERM term, terms[2];
    ErlNifBinary binary;
    const ERL_NIF_TERM *elements;
    void *object;
    ErlNifSysInfo info;
    int i, arity;
    unsigned length;
    size_t size;
    long l;
    unsigned long ul;
    double d;
};

#define FUNCTION(identifier, name, calls, expression) \
    static void row_##identifier(struct call *c)      \
    {                                                 \
        struct answer a;                              \
                                                      \
        (void)a;                                      \
        (void)c;                                      \
        for (unsigned i = 0; i < (calls); i++)        \
            (void)(expression);                       \
    }
ROWS(FUNCTION)

static const struct row {
    const char *name;
    void (*run)(struct call *call);
    unsigned calls;
} rows[] = {
#define ROW(identifier, name, calls, expression) {name, row_##identifier, calls},
    ROWS(ROW)};

enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* --- Inputs ----------------------------------------------------------------------------------- */

static ERL_NIF_TERM map_of(ErlNifEnv *env, ERL_NIF_TERM *keys, size_t count)
{
    ERL_NIF_TERM map;

    enif_make_map_from_arrays(env, keys, keys, count, &map);
    return map;
}

static ERL_NIF_TERM make_event(ErlNifEnv *env, int argument)
{
    ERL_NIF_TERM arguments = enif_make_list2(env, in.atoms[1], enif_make_int(env, argument));

    return enif_make_tuple4(env, in.atoms[0], in.atoms[1], in.atoms[2],
                            enif_make_tuple3(env, in.atoms[3], in.atoms[4], arguments));
}

static void make_keys(ErlNifEnv *env)
{
    for (unsigned i = 0; i < NAMES; i++)
        in.atoms[i] = enif_make_atom(env, names[i]);
    for (unsigned i = 0; i < MANY; i++) {
        int size = enif_snprintf(text, sizeof text, "nif_times_key_%u", i);
        in.atom_keys[i] = enif_make_atom(env, text);
        in.integer_keys[i] = enif_make_uint(env, i * 77);
        memcpy(enif_make_new_binary(env, (size_t)size, &in.binary_keys[i]), text, (size_t)size);
    }
}

static ERL_NIF_TERM binary_of(ErlNifEnv *env, size_t size)
{
    ERL_NIF_TERM binary;

    memset(enif_make_new_binary(env, size, &binary), 'a', size);
    return binary;
}

static void make_inputs(ErlNifEnv *env)
{
    make_keys(env);
    in.few = map_of(env, in.atoms, FEW);
    in.many_atoms = map_of(env, in.atom_keys, MANY);
    in.many_integers = map_of(env, in.integer_keys, MANY);
    in.many_binaries = map_of(env, in.binary_keys, MANY);
    in.event = make_event(env, 1);
    in.same_event = make_event(env, 1);
    in.other_event = make_event(env, 2);
    in.list = enif_make_list_from_array(env, in.atoms, NAMES);
    in.string = enif_make_string(env, "characters", ERL_NIF_LATIN1);
    in.bytes = binary_of(env, 20);
    in.shared_bytes = binary_of(env, 1000);
    in.iolist = enif_make_list2(env, in.string, in.bytes);
    in.fraction = enif_make_double(env, 1.5);
    in.big = enif_make_long(env, INT64_MAX);
    in.object = enif_alloc_resource(in.type, 64);
    in.resource = enif_make_resource(env, in.object);
}

/* The type needs a `down` callback, as only then its resources can monitor. */
static void down(ErlNifEnv *env, void *object, ErlNifPid *pid, ErlNifMonitor *monitor)
{
    (void)env;
    (void)object;
    (void)pid;
    (void)monitor;
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    static const ErlNifResourceTypeInit callbacks = {.down = down};

    (void)info;
    *private_data = &in;
    in.type = enif_open_resource_type_x(env, "object", &callbacks, ERL_NIF_RT_CREATE, NULL);
    in.env = enif_alloc_env();
    in.mutex = enif_mutex_create("nif_times");
    in.rwlock = enif_rwlock_create("nif_times");
    enif_tsd_key_create("nif_times", &in.tsd);
    make_inputs(in.env);
    return !in.type || !in.mutex || !in.rwlock ||
           !enif_term_to_binary(in.env, in.event, &in.external);
}

static void unload(ErlNifEnv *env, void *private_data)
{
    (void)env;
    (void)private_data;
    enif_release_binary(&in.external);
    enif_release_resource(in.object);
    enif_mutex_destroy(in.mutex);
    enif_rwlock_destroy(in.rwlock);
    enif_tsd_key_destroy(in.tsd);
    enif_free_env(in.env);
}

/* --- Measuring -------------------------------------------------------------------------------- */

/* Reads the clock directly, as enif_monotonic_time() is itself measured. */
static int64_t nanoseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t measure(const struct row *row, struct call *call)
{
    int64_t began = nanoseconds();

    row->run(call);
    return (nanoseconds() - began) * 1000 / row->calls;
}

static const struct row *find_row(const char *name)
{
    for (unsigned i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

static int get_pids(ErlNifEnv *env, ERL_NIF_TERM term, struct call *call)
{
    const ERL_NIF_TERM *pids;
    int count;

    if (!enif_get_tuple(env, term, &count, &pids) || count != 3)
        return 0;
    call->live_term = pids[0];
    return enif_get_local_pid(env, pids[0], &call->live) &&
           enif_get_local_pid(env, pids[1], &call->dead) &&
           enif_get_local_pid(env, pids[2], &call->receiver);
}

static ERL_NIF_TERM time_row(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct call call = {.env = env};
    const struct row *row;
    int64_t result;

    (void)argc;
    if (!enif_get_atom(env, argv[0], text, sizeof text, ERL_NIF_LATIN1) ||
        !(row = find_row(text)) || !get_pids(env, argv[1], &call))
        return enif_make_badarg(env);
    call.message_env = enif_alloc_env();
    call.watcher = enif_alloc_resource(in.type, 8);
    call.message = enif_make_tuple3(env, in.atoms[0], enif_make_int(env, 1), call.live_term);
    result = measure(row, &call);
    enif_release_resource(call.watcher);
    enif_free_env(call.message_env);
    return enif_make_long(env, result);
}

static ERL_NIF_TERM list_rows(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM names_of_rows[ROW_COUNT];

    (void)argc;
    (void)argv;
    for (unsigned i = 0; i < ROW_COUNT; i++)
        names_of_rows[i] = enif_make_atom(env, rows[i].name);
    return enif_make_list_from_array(env, names_of_rows, ROW_COUNT);
}

static ErlNifFunc functions[] = {{"rows", 0, list_rows, 0}, {"time", 2, time_row, 0}};

ERL_NIF_INIT(nif_times, functions, load, NULL, NULL, unload)
