/*
 * A tracer with one bug, which the macro PLANTED names: PLANTED=leak_memory. Compiled by check.sh, once
 * for each bug.
 */
#include <erl_tracer.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum planted {
    no_bug,
    term_unknown,
    kept_term,
    kept_environment,
    sent_again,
    bytes_changed,
    owner_released_twice,
    owner_freed_twice,
    freed_written,
    leak_environment,
    leak_memory,
    leak_binary,
    leak_resource,
    lock_kept,
    lock_twice,
    memory_unchecked,
    tracee_gets_message,
    answer_unknown,
    answer_exception,
    effect_variable,
    effect_answer,
    effect_system_call,
    slow_enabled,
    wait_sleeps,
    call_schedules,
    call_sends_without_environment,
    process_folder,
    process_handler,
    process_child,
    crash_at_shape,
    crash_in_order,
    crash_at_state,
    crash_at_argument,
    crash_in_upgrade,
    crash_in_unload,
    crash_exits,
    hang_at_tag,
    race_variable,
    node_lacks_function,
    node_lacks_callback,
};

#define IS(bug) (PLANTED == (bug))
#define IS_TAG(name) enif_is_identical(tag, enif_make_atom(env, name))

static ErlNifResourceType *type;
static ErlNifMutex *mutex;
static ErlNifEnv *kept_env;
static ERL_NIF_TERM kept;
static unsigned *answered;
static unsigned count;
static volatile unsigned sink;

/* As a tracer declares it that does not include nif_module.h. */
int th_host_version(void);

static ERL_NIF_TERM next(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return enif_make_atom(env, "next");
}

static void handle(int number)
{
    (void)number;
}

TH_TRACER_ENABLED(generic)
{
    if (IS_TAG("trace_status"))
        return TH_TRACER_ATOM(env, trace);
    if (IS(term_unknown) && IS_TAG("link"))
        return 0x1230;
    if (IS(answer_unknown) && IS_TAG("spawn"))
        return enif_make_atom(env, "maybe");
    if (IS(answer_exception) && IS_TAG("exit"))
        return enif_make_badarg(env);
    if (IS(effect_variable))
        count++;
    if (IS(effect_answer) && IS_TAG("receive") && ++*answered % 2)
        return TH_TRACER_ATOM(env, discard);
    if (IS(effect_system_call) && IS_TAG("in"))
        return getppid() ? TH_TRACER_ATOM(env, trace) : TH_TRACER_ATOM(env, discard);
    if (IS(slow_enabled) && IS_TAG("call"))
        for (volatile unsigned i = 0; i < 200000; i++)
            ;
    return TH_TRACER_ATOM(env, trace);
}

/* Bugs with terms. */
static void misuse_terms(ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM term)
{
    ErlNifBinary binary;
    int arity;
    const ERL_NIF_TERM *elements;

    if (IS(kept_term) && IS_TAG("call")) {
        if (kept)
            enif_get_tuple(env, kept, &arity, &elements);
        kept = term;
    }
    if (IS(kept_environment) && IS_TAG("spawn")) {
        if (kept_env)
            enif_make_tuple1(kept_env, tag);
        kept_env = env;
    }
    if (IS(bytes_changed) && enif_inspect_binary(env, term, &binary) && binary.size > 0)
        binary.data[0]++;
}

/* Bugs with objects. */
static void misuse_objects(ErlNifEnv *env, ERL_NIF_TERM tag)
{
    volatile int used;
    ErlNifEnv *message = NULL;
    ErlNifBinary binary;
    char *memory = NULL;
    void *object = NULL;

    if (IS(owner_released_twice) && IS_TAG("out")) {
        object = enif_alloc_resource(type, 8);
        enif_release_resource(object);
        enif_release_resource(object);
    }
    if (IS(owner_freed_twice) && IS_TAG("register")) {
        memory = enif_alloc(16);
        enif_free(memory);
        enif_free(memory);
    }
    if (IS(freed_written) && IS_TAG("unregister")) {
        memory = enif_alloc(16);
        enif_free(memory);
        if (memory)
            memory[3] = 1;
    }
    if (IS(leak_environment) && IS_TAG("return_from"))
        message = enif_alloc_env();
    if (IS(leak_memory) && IS_TAG("exception_from"))
        memory = enif_alloc(10);
    if (IS(leak_binary) && IS_TAG("return_to"))
        enif_alloc_binary(10, &binary);
    if (IS(leak_resource) && IS_TAG("spawned"))
        object = enif_alloc_resource(type, 8);
    if (IS(memory_unchecked) && IS_TAG("link")) {
        memory = enif_alloc(8);
        memset(memory, 0, 8);
        enif_free(memory);
    }
    if (IS(lock_kept) && IS_TAG("unlink"))
        enif_mutex_lock(mutex);
    if (IS(lock_twice) && IS_TAG("getting_linked")) {
        enif_mutex_lock(mutex);
        enif_mutex_lock(mutex);
        enif_mutex_unlock(mutex);
        enif_mutex_unlock(mutex);
    }
    used = message || memory || object;
    (void)used;
}

/* Calls that a callback must not make. */
static void misuse_calls(ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM tracee, ERL_NIF_TERM opts)
{
    static const struct timespec moment = {0, 1000};
    ERL_NIF_TERM receiver;
    ErlNifEnv *message;
    ErlNifPid pid;

    if (IS(tracee_gets_message) && enif_get_local_pid(env, tracee, &pid))
        enif_send(env, &pid, NULL, tag);
    if (IS_TAG("send") && enif_get_map_value(env, opts, enif_make_atom(env, "extra"), &receiver) &&
        enif_get_local_pid(env, receiver, &pid)) {
        if (IS(call_sends_without_environment))
            enif_send(NULL, &pid, NULL, tag);
        if (IS(sent_again)) {
            message = enif_alloc_env();
            if (enif_send(env, &pid, message, enif_make_tuple1(message, enif_make_int(message, 1))))
                enif_make_tuple1(message, enif_make_int(message, 2));
            enif_free_env(message);
        }
    }
    if (IS(call_schedules) && IS_TAG("call"))
        enif_schedule_nif(env, "next", 0, next, 0, NULL);
    if (IS(wait_sleeps) && IS_TAG("in"))
        nanosleep(&moment, NULL);
    if (IS(node_lacks_function) && IS_TAG("call"))
        sink = (unsigned)th_host_version();
    if (IS(process_folder) && IS_TAG("exit") && chdir("/"))
        count++;
    if (IS(process_handler) && IS_TAG("open"))
        signal(SIGUSR1, handle);
    if (IS(process_child) && IS_TAG("closed") && system("exit 0"))
        count++;
}

/* Ends of the program. */
static void crash(ErlNifEnv *env, ERL_NIF_TERM tag, ERL_NIF_TERM state, ERL_NIF_TERM term)
{
    static int *open;
    int *nowhere = NULL, arity;
    const ERL_NIF_TERM *elements;
    ERL_NIF_TERM value;

    if (IS(crash_at_shape) && IS_TAG("return_to") && !enif_is_tuple(env, term))
        *nowhere = 1;
    if (IS(crash_in_order)) {
        if (IS_TAG("register"))
            open = &arity;
        if (IS_TAG("unregister")) {
            *open = 1;
            open = NULL;
        }
    }
    if (IS(crash_at_state) && !enif_get_map_value(env, state, tag, &value) &&
        !enif_is_map(env, state))
        *nowhere = 1;
    if (IS(crash_at_argument) && IS_TAG("call") && enif_get_tuple(env, term, &arity, &elements) &&
        enif_is_list(env, elements[2]) && enif_is_empty_list(env, elements[2]))
        *nowhere = 1;
    if (IS(crash_exits) && IS_TAG("out_exited"))
        exit(3);
    if (IS(hang_at_tag) && IS_TAG("gc_major_end"))
        for (;;)
            sink++;
}

TH_TRACER_TRACE(generic)
{
    if (IS(race_variable) && IS_TAG("call"))
        count++;
    misuse_terms(env, tag, term);
    misuse_objects(env, tag);
    misuse_calls(env, tag, tracee, opts);
    crash(env, tag, state, term);
}

static int load(ErlNifEnv *env, void **priv_data, ERL_NIF_TERM info)
{
    (void)info;
    *priv_data = NULL;
    if (IS(effect_answer)) {
        answered = enif_alloc(sizeof *answered);
        if (!answered)
            return 1;
        *answered = 0;
    }
    type = enif_open_resource_type(env, NULL, "planted", NULL,
                                   ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER, NULL);
    mutex = enif_mutex_create("planted");
    return 0;
}

static void unload(ErlNifEnv *env, void *priv_data)
{
    (void)env;
    (void)priv_data;
    enif_mutex_destroy(mutex);
    enif_free(answered);
    if (IS(crash_in_unload))
        abort();
}

static int upgrade(ErlNifEnv *env, void **priv_data, void **old, ERL_NIF_TERM info)
{
    if (IS(crash_in_upgrade))
        *(int *)*old = 1;
    return load(env, priv_data, info);
}

static ErlNifFunc functions[] = {{"enabled", 3, enabled, 0},
                                 {IS(node_lacks_callback) ? "trace_all" : "trace", 5, trace, 0}};
ERL_NIF_INIT(planted, functions, load, NULL, upgrade, unload)
