/* Tests resources: lifetime, callbacks and monitors. */
#include "nif_api.h"

#include <string.h>

ErlNifResourceType *plain_type, *eventful_type;

/* Calls of destructors, for the resources under test. */
enum { DESTRUCTIONS = 8 };
static int destroyed_count, destroyed_sum; /* atomics: destructors run on any thread */
static int downs, downs_of_self, stray_downs;

/* An object of the type "plain". */
struct plain {
    int value;
    bool sends;
    ErlNifPid to;
};

static void destroy_plain(ErlNifEnv *env, void *object)
{
    struct plain *plain = object;

    if (plain->sends) {
        ErlNifEnv *own = enif_alloc_env();
        enif_send(env, &plain->to, own,
                  enif_make_tuple2(own, enif_make_atom(own, "destroyed"),
                                   enif_make_int(own, plain->value)));
        enif_free_env(own);
    }
    __atomic_fetch_add(&destroyed_sum, plain->value, __ATOMIC_RELAXED);
    __atomic_fetch_add(&destroyed_count, 1, __ATOMIC_RELEASE); /* publishes all before it */
}

static struct plain *make_plain(int value)
{
    struct plain *plain = enif_alloc_resource(plain_type, sizeof *plain);

    memset(plain, 0, sizeof *plain);
    plain->value = value;
    return plain;
}

/* An object with a monitor. */
struct watcher {
    ErlNifMonitor monitor;
    ErlNifPid watched;
    bool expects;
};

static void on_down(ErlNifEnv *env, void *object, ErlNifPid *pid, ErlNifMonitor *monitor)
{
    struct watcher *watcher = object;

    if (watcher->expects && enif_compare_monitors(monitor, &watcher->monitor) == 0)
        __atomic_fetch_add(&downs, 1, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add(&stray_downs, 1, __ATOMIC_RELEASE);
    if (enif_compare_pids(pid, &watcher->watched) == 0)
        __atomic_fetch_add(&downs_of_self, 1, __ATOMIC_RELEASE);
    if (enif_is_process_alive(env, pid))
        __atomic_fetch_add(&stray_downs, 1, __ATOMIC_RELEASE);
    enif_release_resource(object);
}

static void destroy_watcher(ErlNifEnv *env, void *object)
{
    (void)env;
    (void)object;
    __atomic_fetch_add(&destroyed_count, 1, __ATOMIC_RELEASE);
}

static struct watcher *make_watcher(ErlNifEnv *env)
{
    struct watcher *watcher = enif_alloc_resource(eventful_type, sizeof *watcher);

    memset(watcher, 0, sizeof *watcher);
    enif_self(env, &watcher->watched);
    return watcher;
}

static void answer_call(ErlNifEnv *env, void *object, void *data)
{
    (void)env;
    (void)object;
    *(int *)data += 1;
}

extern void on_stop(ErlNifEnv *env, void *object, ErlNifEvent event, int is_direct_call);

int open_types(ErlNifEnv *env)
{
    ErlNifResourceTypeInit init = {.dtor = destroy_watcher,
                                   .stop = on_stop,
                                   .down = on_down,
                                   .members = 4,
                                   .dyncall = answer_call};
    ErlNifResourceTypeInit small = {.dtor = destroy_watcher};
    ErlNifResourceFlags tried = 77;

    plain_type =
        enif_open_resource_type(env, NULL, "plain", destroy_plain, ERL_NIF_RT_CREATE, &tried);
    say_int("enif_open_resource_type: created", plain_type != NULL);
    say_int("its flags", tried);
    eventful_type = enif_init_resource_type(env, "eventful", &init,
                                            ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, &tried);
    say_int("enif_init_resource_type: created", eventful_type != NULL);
    say_int("its flags", tried);
    say_int("enif_open_resource_type_x: created",
            enif_open_resource_type_x(env, "small", &small, ERL_NIF_RT_CREATE, &tried) != NULL);
    say_int("its flags", tried);
    tried = 77;
    say_int("taken over from no library",
            enif_open_resource_type_x(env, "none", &small, ERL_NIF_RT_TAKEOVER, &tried) != NULL);
    say_int("its flags", tried);
    tried = 77;
    say_int("enif_init_resource_type: taken over from no library",
            enif_init_resource_type(env, "none", &init, ERL_NIF_RT_TAKEOVER, &tried) != NULL);
    say_int("its flags", tried);
    tried = 77;
    say_int("enif_open_resource_type: taken over from no library",
            enif_open_resource_type(env, NULL, "none", NULL, ERL_NIF_RT_TAKEOVER, &tried) != NULL);
    say_int("its flags", tried);
    return plain_type && eventful_type;
}

ERL_NIF_TERM resources(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct plain *plain = make_plain(0);
    ERL_NIF_TERM term = enif_make_resource(env, plain), again = enif_make_resource(env, plain);
    void *object = NULL;

    (void)argc;
    (void)argv;
    begin_row("enif_sizeof_resource: of 0 to 19 bytes");
    for (size_t size = 0; size < 20; size++) {
        object = enif_alloc_resource(eventful_type, size);
        put_int((long)enif_sizeof_resource(object));
        enif_release_resource(object);
    }
    end_row();
    say_int("of a structure", (long)enif_sizeof_resource(plain) - (long)sizeof *plain);
    enif_keep_resource(plain);
    say_int("after enif_keep_resource()", enif_sizeof_resource(plain) == sizeof *plain);
    enif_release_resource(plain);
    say_int("enif_release_resource: one of two, the object stays", plain->value);
    object = enif_alloc_resource(plain_type, sizeof *plain);
    say_int("enif_alloc_resource: each is another", object != plain);
    memset(object, 0, sizeof *plain);
    say_int("enif_make_resource: terms of two are not identical",
            enif_is_identical(term, enif_make_resource(env, object)));
    enif_release_resource(object);
    say(env, "as a term", term);
    say_int("is a reference", enif_is_ref(env, again));
    say_int("enif_is_ref: a resource", enif_is_ref(env, term));
    say_int("enif_term_type: a resource", enif_term_type(env, term));
    say_int("enif_get_resource: of its type", enif_get_resource(env, term, plain_type, &object));
    say_int("its object", object == plain);
    say_int("of another type", enif_get_resource(env, term, eventful_type, &object));
    say_int("from a reference", enif_get_resource(env, enif_make_ref(env), plain_type, &object));
    say_int("enif_is_identical: two terms of one resource", enif_is_identical(term, again));
    say_int("enif_compare: two terms of one resource", enif_compare(term, again));
    enif_release_resource(plain);
    say_int("enif_get_resource: after enif_release_resource()",
            enif_get_resource(env, term, plain_type, &object));
    say_int("enif_make_resource: keeps the object",
            enif_get_resource(env, again, plain_type, &object));
    say_int("enif_alloc_resource: is aligned", (size_t)object % 8 == 0);
    return atom(env, "ok");
}

/* Tests resources as terms that are copied, sent in messages and encoded. */
ERL_NIF_TERM resource_terms(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct plain *plain = make_plain(0);
    ERL_NIF_TERM term = enif_make_resource(env, plain), bin, back;
    ErlNifEnv *own = enif_alloc_env();
    ErlNifBinary external;
    void *object = NULL;

    (void)argc;
    (void)argv;
    back = enif_make_copy(own, enif_make_list1(env, term));
    enif_get_list_cell(own, back, &back, &bin);
    say_int("enif_get_resource: from a copy", enif_get_resource(own, back, plain_type, &object));
    say_int("its object", object == plain);
    say_int("enif_term_to_binary: a resource", enif_term_to_binary(env, term, &external));
    enif_binary_to_term(env, external.data, external.size, &back, 0);
    enif_release_binary(&external);
    say_int("enif_binary_to_term: a resource, identical", enif_is_identical(back, term));
    say_int("enif_get_resource: from what was decoded",
            enif_get_resource(env, back, plain_type, &object));
    bin = enif_make_resource_binary(own, plain, "some bytes", 10);
    say(env, "enif_make_resource_binary: of 10 bytes", bin);
    say_int("enif_get_resource: from a resource binary",
            enif_get_resource(own, bin, plain_type, &object));
    bin = enif_make_sub_binary(own, bin, 2, 5);
    say(env, "enif_make_sub_binary: of a resource binary", bin);
    bin = enif_make_copy(env, bin);
    enif_free_env(own);
    say(env, "enif_make_copy: a part of a resource binary", bin);
    say_int("enif_make_resource_binary: is a binary", enif_is_binary(env, bin));
    bin = enif_make_resource_binary(env, plain, "", 0);
    say(env, "enif_make_resource_binary: of no byte", bin);
    enif_release_resource(plain);
    return atom(env, "ok");
}

/* Releases resources in each possible way. Each is destroyed during the call or after it. */
ERL_NIF_TERM let_go(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct plain *kept = make_plain(1), *sending = make_plain(10), *in_term = make_plain(100);
    struct plain *in_binary = make_plain(1000), *in_message = make_plain(10000);
    ErlNifEnv *own = enif_alloc_env();
    ErlNifPid dead;

    (void)argc;
    (void)argv;
    __atomic_store_n(&destroyed_count, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&destroyed_sum, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < 5; i++)
        enif_keep_resource(kept);
    say_int("enif_keep_resource: the size stays", enif_sizeof_resource(kept) == sizeof *kept);
    for (int i = 0; i < 5; i++)
        enif_release_resource(kept);
    say_int("enif_keep_resource: the object is there after as many releases",
            __atomic_load_n(&destroyed_count, __ATOMIC_ACQUIRE));
    enif_release_resource(kept);
    sending->sends = true;
    enif_self(env, &sending->to);
    enif_release_resource(sending);
    enif_make_resource(own, in_term);
    enif_release_resource(in_term);
    enif_make_sub_binary(own, enif_make_resource_binary(own, in_binary, "bytes", 5), 1, 2);
    enif_release_resource(in_binary);
    enif_clear_env(own);
    dead.pid = dead_pid(env);
    enif_send(env, &dead, own, enif_make_resource(own, in_message));
    enif_release_resource(in_message);
    enif_free_env(own);
    return atom(env, "ok");
}

/* Reports the destructors of let_go()'s resources. */
ERL_NIF_TERM destroyed(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < 500 && __atomic_load_n(&destroyed_count, __ATOMIC_ACQUIRE) < 5; i++)
        sleep_ms(10);
    say_int("enif_release_resource: objects destroyed",
            __atomic_load_n(&destroyed_count, __ATOMIC_ACQUIRE));
    say_int("the sum of their values", __atomic_load_n(&destroyed_sum, __ATOMIC_RELAXED));
    return atom(env, "ok");
}

static void dynamic_call(ErlNifEnv *env, const char *name, const char *module, const char *type,
                         ERL_NIF_TERM term)
{
    int data = 0;

    begin_row("%s, calls", name);
    put_int(enif_dynamic_resource_call(env, atom(env, module), atom(env, type), term, &data));
    put_int(data);
    end_row();
}

ERL_NIF_TERM dynamic_calls(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct watcher *watcher = make_watcher(env);
    struct plain *plain = make_plain(0);
    ERL_NIF_TERM term = enif_make_resource(env, watcher);

    (void)argc;
    (void)argv;
    dynamic_call(env, "enif_dynamic_resource_call: of its type", "nif_api", "eventful", term);
    dynamic_call(env, "of another module", "nif_apis", "eventful", term);
    dynamic_call(env, "of another type", "nif_api", "plain", term);
    dynamic_call(env, "of no type", "nif_api", "nothing", term);
    dynamic_call(env, "of a reference", "nif_api", "eventful", enif_make_ref(env));
    dynamic_call(env, "of an atom", "nif_api", "eventful", atom(env, "ok"));
    dynamic_call(env, "of a type without dyncall", "nif_api", "plain",
                 enif_make_resource(env, plain));
    enif_release_resource(watcher);
    enif_release_resource(plain);
    return atom(env, "ok");
}

ERL_NIF_TERM monitors(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct watcher *watcher = make_watcher(env), *other = make_watcher(env);
    struct plain *plain = make_plain(0);
    ErlNifMonitor one, two;
    ErlNifPid dead = {dead_pid(env)}, undefined;

    (void)argc;
    (void)argv;
    enif_set_pid_undefined(&undefined);
    say_int("enif_monitor_process: the caller",
            enif_monitor_process(env, watcher, &watcher->watched, &one));
    say_int("a second time", enif_monitor_process(env, watcher, &watcher->watched, &two));
    say_int("without a place for the monitor",
            enif_monitor_process(env, other, &other->watched, NULL));
    say_int("a process that never was",
            enif_monitor_process(env, watcher, &dead, &watcher->monitor));
    say_int("undefined", enif_monitor_process(env, watcher, &undefined, &watcher->monitor));
    say_int("by a type without down",
            enif_monitor_process(env, plain, &watcher->watched, &watcher->monitor));
    say_int("enif_compare_monitors: with itself", enif_compare_monitors(&one, &one));
    say_int("with another", enif_compare_monitors(&one, &two) != 0);
    say_int("in order",
            (enif_compare_monitors(&one, &two) < 0) == (enif_compare_monitors(&two, &one) > 0));
    say_int("enif_make_monitor_term: is a reference",
            enif_is_ref(env, enif_make_monitor_term(env, &one)));
    say_int("the same each time", enif_is_identical(enif_make_monitor_term(env, &one),
                                                    enif_make_monitor_term(env, &one)));
    say_int("of another monitor", enif_is_identical(enif_make_monitor_term(env, &one),
                                                    enif_make_monitor_term(env, &two)));
    say_int("enif_demonitor_process: by another resource",
            enif_demonitor_process(env, other, &one));
    say_int("by its own", enif_demonitor_process(env, watcher, &one));
    say_int("a second time", enif_demonitor_process(env, watcher, &one));
    enif_release_resource(watcher); /* its monitor is removed with it */
    enif_release_resource(other);
    enif_release_resource(plain);
    return atom(env, "ok");
}

/* Monitors the caller until its end; unload() reports the result. */
ERL_NIF_TERM watch_self(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct watcher *watcher = make_watcher(env);

    (void)argc;
    (void)argv;
    watcher->expects = true;
    say_int("enif_monitor_process: until the end of the caller",
            enif_monitor_process(env, watcher, &watcher->watched, &watcher->monitor));
    return atom(env, "ok");
}

void say_what_ended(void)
{
    wait_for(&downs);
    say_int("monitors that fired", __atomic_load_n(&downs, __ATOMIC_ACQUIRE));
    say_int("for the caller", __atomic_load_n(&downs_of_self, __ATOMIC_ACQUIRE));
    say_int("others", __atomic_load_n(&stray_downs, __ATOMIC_ACQUIRE));
}
