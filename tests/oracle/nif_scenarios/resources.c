/* Tests resources: types, owners, monitors. */
#include "scenarios.h"

enum { TYPES = 5, OBJECTS = 32, MONITORS = 256 };

struct object {
    int id;
    ErlNifPid watched; /* by the last monitor */
};

static ErlNifResourceType *types[TYPES];
static struct object *objects[OBJECTS]; /* those with a reference of the library */
static ErlNifMonitor monitors[MONITORS];

static void destroy_a(ErlNifEnv *env, void *object)
{
    (void)env;
    note("destroyed by a: %d", ((struct object *)object)->id);
}

static void destroy_b(ErlNifEnv *env, void *object)
{
    (void)env;
    note("destroyed by b: %d", ((struct object *)object)->id);
}

static void on_down(ErlNifEnv *env, void *data, ErlNifPid *pid, ErlNifMonitor *monitor)
{
    struct object *object = data;
    int which = 0;

    while (which < MONITORS && enif_compare_monitors(monitor, &monitors[which]) != 0)
        which++;
    note("down: object %d, monitor %d, process watched last: %d, alive: %d, removed again: %d",
         object->id, which, enif_compare_pids(pid, &object->watched) == 0,
         enif_is_process_alive(env, pid), enif_demonitor_process(env, object, monitor));
}

static void answer_call(ErlNifEnv *env, void *object, void *data)
{
    (void)env;
    *(int *)data += VERSION * 100 + ((struct object *)object)->id;
}

/* {Slot, Name, Flags, Dtor, Down, Dyncall} */
static void open_type(ErlNifEnv *env, const ERL_NIF_TERM *row)
{
    static ErlNifResourceDtor *const destructors[] = {NULL, destroy_a, destroy_b};
    ErlNifResourceTypeInit init = {.dtor = destructors[integer(env, row[3])],
                                   .down = integer(env, row[4]) ? on_down : NULL,
                                   .members = 4,
                                   .dyncall = integer(env, row[5]) ? answer_call : NULL};
    ErlNifResourceFlags tried = 77;
    char name[32] = "";
    ErlNifResourceType *type;

    enif_get_string(env, row[1], name, sizeof name, ERL_NIF_LATIN1);
    type = enif_init_resource_type(env, name, &init, (ErlNifResourceFlags)integer(env, row[2]),
                                   &tried);
    note("type %s: %d, tried %d", name, type != NULL, tried);
    types[integer(env, row[0])] = type;
}

int open_types(ErlNifEnv *env, ERL_NIF_TERM info)
{
    const ERL_NIF_TERM *row;
    ERL_NIF_TERM head;
    int arity;

    while (enif_get_list_cell(env, info, &head, &info)) {
        if (!enif_get_tuple(env, head, &arity, &row))
            return integer(env, head);
        open_type(env, row);
    }
    return 0;
}

/* make(Type, Id) */
ERL_NIF_TERM make(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct object *object = enif_alloc_resource(types[integer(env, argv[0])], sizeof *object);

    (void)argc;
    object->id = integer(env, argv[1]);
    objects[object->id] = object;
    return argv[1];
}

/* term(Id) */
ERL_NIF_TERM term(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return enif_make_resource(env, objects[integer(env, argv[0])]);
}

/* binary(Id, Bytes): a resource binary of the object with static bytes. */
ERL_NIF_TERM binary(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM made = enif_make_resource_binary(env, objects[integer(env, argv[0])],
                                                  &"bytes of a binary"[integer(env, argv[1])], 10);

    (void)argc;
    note("binary %T", made);
    return made;
}

/* release(Id) */
ERL_NIF_TERM release(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct object *object = objects[integer(env, argv[0])];

    (void)argc;
    objects[integer(env, argv[0])] = NULL;
    enif_release_resource(object);
    return atom(env, "ok");
}

static void *release_object(void *object)
{
    enif_release_resource(object);
    return NULL;
}

/* release_in_thread(Id) */
ERL_NIF_TERM release_in_thread(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ErlNifTid thread;

    (void)argc;
    enif_thread_create("releases", &thread, release_object, objects[integer(env, argv[0])], NULL);
    enif_thread_join(thread, NULL);
    objects[integer(env, argv[0])] = NULL;
    return atom(env, "ok");
}

/* get(Type, Id): the number of the object, from a term of it. */
ERL_NIF_TERM get(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM made = enif_make_resource(env, objects[integer(env, argv[1])]);
    void *object;

    (void)argc;
    if (!enif_get_resource(env, made, types[integer(env, argv[0])], &object))
        return atom(env, "no");
    return enif_make_int(env, ((struct object *)object)->id);
}

/* dynamic_call(Module, Type, Id) */
ERL_NIF_TERM dynamic_call(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM made = enif_make_resource(env, objects[integer(env, argv[2])]);
    int data = 5000, result = enif_dynamic_resource_call(env, argv[0], argv[1], made, &data);

    (void)argc;
    return enif_make_tuple2(env, enif_make_int(env, result), enif_make_int(env, data));
}

/* monitor(Id, Pid, Monitor) */
ERL_NIF_TERM monitor(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct object *object = objects[integer(env, argv[0])];

    (void)argc;
    if (!enif_get_local_pid(env, argv[1], &object->watched))
        return enif_make_badarg(env);
    return enif_make_int(
        env, enif_monitor_process(env, object, &object->watched, &monitors[integer(env, argv[2])]));
}

/* demonitor(Id, Monitor) */
ERL_NIF_TERM demonitor(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    return enif_make_int(env, enif_demonitor_process(env, objects[integer(env, argv[0])],
                                                     &monitors[integer(env, argv[1])]));
}

/* same_monitor(Monitor, Monitor) */
ERL_NIF_TERM same_monitor(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    const ErlNifMonitor *one = &monitors[integer(env, argv[0])];
    const ErlNifMonitor *other = &monitors[integer(env, argv[1])];

    (void)argc;
    return enif_make_tuple2(
        env, enif_make_int(env, enif_compare_monitors(one, other) == 0),
        enif_make_int(env, enif_is_identical(enif_make_monitor_term(env, one),
                                             enif_make_monitor_term(env, other))));
}

/*
 * frenzy(Pids, Steps, Seed): each step sets or removes a monitor of one object for one process,
 * whatever was before. Returns {Set, Removed, In vain, Set in the end}.
 */
ERL_NIF_TERM frenzy(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    enum { PIDS = 16 };
    ErlNifPid pids[PIDS];
    ERL_NIF_TERM head, list = argv[0];
    bool set[MONITORS] = {false};
    unsigned seed = (unsigned)integer(env, argv[2]);
    int count = 0, tally[3] = {0}, left = 0;

    (void)argc;
    while (count < PIDS && enif_get_list_cell(env, list, &head, &list))
        enif_get_local_pid(env, head, &pids[count++]);
    for (int step = integer(env, argv[1]); step > 0; step--) {
        unsigned which = (seed = seed * 1103515245 + 12345) >> 16 & (MONITORS - 1);
        struct object *object = objects[which % OBJECTS];
        bool removes = set[which] || seed >> 24 & 1;
        int result = removes ? enif_demonitor_process(env, object, &monitors[which])
                             : enif_monitor_process(env, object, &pids[which % (unsigned)count],
                                                    &monitors[which]);
        tally[result ? 2 : removes]++;
        if (!removes)
            object->watched = pids[which % (unsigned)count];
        set[which] = !removes && result == 0;
    }
    for (size_t i = 0; i < COUNT(set); i++)
        left += set[i];
    return enif_make_tuple4(env, enif_make_int(env, tally[0]), enif_make_int(env, tally[1]),
                            enif_make_int(env, tally[2]), enif_make_int(env, left));
}
