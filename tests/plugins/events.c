/* See events.h. Functions: start(Pid, Count) creates a thread that sends {thread, 1} to {thread,
 * Count}; join() waits for its end. */
#include "events.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct events_journal *journal; /* this instance's */

static void note(const char *callback, int number, const char *rest)
{
    size_t used;

    pthread_mutex_lock(&journal->lock);
    used = strlen(journal->text);
    snprintf(journal->text + used, sizeof journal->text - used, "%s%s:%s %d%s", used ? ", " : "",
             journal->name, callback, number, rest);
    pthread_mutex_unlock(&journal->lock);
}

static void send_note(ErlNifEnv *env, const char *callback, int number)
{
    if (journal->told.pid)
        enif_send(env, &journal->told, NULL,
                  enif_make_tuple2(env, enif_make_atom(env, callback), enif_make_int(env, number)));
}

static void destroy(ErlNifEnv *env, void *object)
{
    const struct events_object *it = object;

    note("gone", it->number, "");
    send_note(env, "gone", it->number);
}

static void stop(ErlNifEnv *env, void *object, ErlNifEvent event, int direct)
{
    const struct events_object *it = object;

    if (it->closes)
        close(event);
    note("stop", it->number, direct ? " direct" : " later");
    send_note(env, "stop", it->number);
}

static void down(ErlNifEnv *env, void *object, ErlNifPid *pid, ErlNifMonitor *monitor)
{
    struct events_object *it = object;
    int own = enif_compare_monitors(monitor, &it->monitor) == 0;

    note("down", it->number,
         enif_is_process_alive(env, pid)                     ? " alive"
         : enif_demonitor_process(env, object, monitor) == 0 ? " still there"
         : own                                               ? ""
                                                             : " another");
    send_note(env, "down", it->number);
}

static void dynamic_call(ErlNifEnv *env, void *object, void *data)
{
    ErlNifPid self;

    note("dyncall", ((struct events_object *)object)->number,
         enif_self(env, &self) ? " of a process" : "");
    *(int *)data += 1;
}

static void open_types(ErlNifEnv *env, int bare)
{
    ErlNifResourceTypeInit full = {
        .dtor = destroy,
        .stop = bare ? NULL : stop,
        .down = bare ? NULL : down,
        .members = 4,
        .dyncall = dynamic_call,
    };
    ErlNifResourceTypeInit plain = {.dtor = destroy, .members = 1};
    static const char *const names[] = {"full", "other", "plain"};

    for (int i = 0; i < EVENTS_TYPES; i++)
        journal->types[i] =
            enif_init_resource_type(env, names[i], i < EVENTS_PLAIN ? &full : &plain,
                                    ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, &journal->tried[i]);
}

static int load(ErlNifEnv *env, void **private_data, ERL_NIF_TERM info)
{
    unsigned long address;

    if (!enif_get_ulong(env, info, &address))
        return -1;
    *private_data = journal = (struct events_journal *)(address * 16);
    open_types(env, 0);
    return 0;
}

static int upgrade(ErlNifEnv *env, void **private_data, void **old, ERL_NIF_TERM info)
{
    unsigned long address;

    (void)old;
    if (!enif_get_ulong(env, info, &address))
        return -1;
    *private_data = journal = (struct events_journal *)(address * 16);
    open_types(env, journal->versions);
    return 0;
}

static void unload(ErlNifEnv *env, void *private_data)
{
    (void)env, (void)private_data;
    note("unload", 0, "");
}

/* --- A thread of the library ------------------------------------------------------------------ */

static ErlNifPid receiver;
static int count;
static ErlNifTid thread;

static void *send_all(void *unused)
{
    ErlNifEnv *env = enif_alloc_env();

    for (int i = 1; i <= count; i++)
        enif_send(NULL, &receiver, env,
                  enif_make_tuple2(env, enif_make_atom(env, "thread"), enif_make_int(env, i)));
    enif_free_env(env);
    return unused;
}

static ERL_NIF_TERM start(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    if (!enif_get_local_pid(env, argv[0], &receiver) || !enif_get_int(env, argv[1], &count) ||
        enif_thread_create("sender", &thread, send_all, NULL, NULL) != 0)
        return enif_make_badarg(env);
    return enif_make_atom(env, "ok");
}

static ERL_NIF_TERM join(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc, (void)argv;
    enif_thread_join(thread, NULL);
    return enif_make_atom(env, "ok");
}

static ErlNifFunc functions[] = {{"start", 2, start, 0}, {"join", 0, join, 0}};
ERL_NIF_INIT(events, functions, load, NULL, upgrade, unload)
