/*
 * Threads make processes call functions of `twin` on two schedulers, while one instance replaces
 * the other again and again, and patterns of the functions are set and cleared.
 * // One session is left alone: it must get each call once, local ones too, whichever code runs,
 * and its counters must have counted each. The patterns of the other session change; for each call
 * that it gets, it must get the end. Further sessions start, set patterns, and end. Runs for
 * STRESS_SECONDS, 1 by default, and until the other session has got an event.
 */
#include "tests/runtime/instances.h"

#include <pthread.h>
#include <time.h>

enum { DRIVERS = 3 };

static struct driver {
    struct th_process *process;
    _Atomic unsigned long rounds; /* release: the driver has left all earlier code; acquire */
    unsigned long made[2];        /* of twin:outer/1 and of twin:plain/1; read after the end */
    unsigned long wrong;
} drivers[DRIVERS];

/* The lasting session's calls, by function; the other one's calls and ends. Relaxed: counts. */
static _Atomic unsigned long told_outer, told_inner, told_plain, others_calls, others_ends;

static _Atomic bool over; /* relaxed: a flag */

/* Serializes opening and closing of libraries. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static bool is_over(void)
{
    return atomic_load_explicit(&over, memory_order_relaxed);
}

static void add_one(_Atomic unsigned long *to)
{
    atomic_fetch_add_explicit(to, 1, memory_order_relaxed);
}

static ERL_NIF_TERM note(const char *callback, ErlNifEnv *in, int argc, const ERL_NIF_TERM argv[])
{
    th_term function;

    (void)callback;
    (void)in;
    if (argc == 3)
        return TH_AM(trace);
    if (argv[1] == th_atom("changed")) {
        add_one(argv[0] == TH_AM(call) ? &others_calls : &others_ends);
        return TH_AM(ok);
    }
    if (argv[1] != th_atom("alone"))
        return TH_AM(ok);
    function = th_tuple_elements(argv[3])[1];
    add_one(function == th_atom("outer")   ? &told_outer
            : function == th_atom("inner") ? &told_inner
                                           : &told_plain);
    return TH_AM(ok);
}

/* --- Callers ---------------------------------------------------------------------------------- */

static void *drive(void *context)
{
    struct driver *driver = context;

    while (!is_over()) {
        bool outer = (driver->made[0] + driver->made[1]) % 3 != 0;
        const char *answer =
            call_in(driver->process, "call", outer ? "[twin,outer,[1]]" : "[twin,plain,[1]]");
        driver->wrong += strcmp(answer, "1") != 0 && strcmp(answer, "2") != 0;
        driver->made[!outer]++;
        atomic_fetch_add_explicit(&driver->rounds, 1, memory_order_release);
    }
    return NULL;
}

/* Waits until each driver has left the code that was current at the call of this function. */
static void await_drivers(void)
{
    for (int i = 0; i < DRIVERS; i++) {
        unsigned long before = atomic_load_explicit(&drivers[i].rounds, memory_order_acquire);
        while (atomic_load_explicit(&drivers[i].rounds, memory_order_acquire) == before)
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
}

/* --- Changes of patterns ---------------------------------------------------------------------- */

static void change_one(struct th_session *changed, const char *function, bool on_load,
                       th_term match, uint32_t kinds)
{
    struct th_pattern pattern = {th_atom("twin"), function ? th_atom(function) : TH_NONE,
                                 TH_ANY_ARITY, on_load};

    th_trace_session_function(changed, &pattern, match, kinds, NULL);
    th_error_clear();
}

static void come_and_go(void)
{
    struct th_session_setup setup = {.name = "hooked", .state = th_atom("passing")};
    struct th_session *passing;

    pthread_mutex_lock(&opening);
    setup.library = loaded_open("tests/tracers/hooked.so");
    pthread_mutex_unlock(&opening);
    assert_int_equal(th_library_check_tracer(setup.library), TH_OK);
    assert_int_equal(th_trace_session_create(scene_tracing(), &setup, &passing), TH_OK);
    th_trace_session_trace(passing, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    change_one(passing, NULL, true, TH_AM(true), TH_BP_LOCAL);
    change_one(passing, NULL, false, TH_AM(true), TH_BP_LOCAL);
    change_one(passing, "outer", false, TH_AM(true), TH_BP_COUNT);
    th_trace_session_destroy(passing);
}

static void *change(void *context)
{
    static const char *const functions[] = {"inner", "outer",    "only_old",
                                            NULL,    "only_new", "plain"};
    struct th_session *changed = context;
    unsigned long *changes = calloc(1, sizeof *changes);
    th_term match;
    th_env own;

    th_env_init(&own, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&own, EXCEPTIONS, strlen(EXCEPTIONS), &match), TH_OK);
    for (unsigned i = 0; !is_over(); i++, ++*changes) {
        const char *function = functions[i % 6];
        change_one(changed, function, i % 4 == 3, i / 6 % 3 ? match : TH_AM(false),
                   i / 6 % 3 == 2 ? TH_BP_GLOBAL : TH_BP_LOCAL);
        change_one(changed, function, false, i % 5 ? TH_AM(true) : TH_AM(false), TH_BP_COUNT);
        if (i % 10 == 0)
            come_and_go();
    }
    th_env_release(&own);
    return changes;
}

/* --- The test -------------------------------------------------------------------------------- */

static time_t seconds(void)
{
    const char *text = getenv("STRESS_SECONDS");
    time_t given = text ? (time_t)strtoul(text, NULL, 10) : 1;

    return given ? given : 1;
}

/* Returns the last instance; *REPLACED gets the number of replacements. */
static struct instance *replace_again_and_again(struct instance *now, unsigned long *replaced)
{
    struct timespec until, time;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds();
    do {
        struct instance *old = now;
        pthread_mutex_lock(&opening);
        now = replace_instance(old, *replaced % 2 ? 1 : 2, true);
        pthread_mutex_unlock(&opening);
        await_drivers();
        pthread_mutex_lock(&opening);
        purge_instance(old);
        pthread_mutex_unlock(&opening);
        ++*replaced;
        clock_gettime(CLOCK_MONOTONIC, &time);
    } while (atomic_load_explicit(&others_calls, memory_order_relaxed) == 0 ||
             time.tv_sec < until.tv_sec ||
             (time.tv_sec == until.tv_sec && time.tv_nsec < until.tv_nsec));
    return now;
}

static void set_alone(const char *function)
{
    assert_int_equal(try_in("twin", function, 1, "true", TH_BP_LOCAL), TH_OK);
    assert_int_equal(try_in("twin", function, 1, "true", TH_BP_COUNT), TH_OK);
}

static unsigned long counted(const char *function)
{
    struct th_mfa name = {th_atom("twin"), th_atom(function), 1};
    struct th_bp_info info;
    unsigned long calls;

    assert_true(th_trace_session_function_info(session, &name, &info));
    calls = info.calls;
    th_breakpoint_info_free(&info);
    return calls;
}

static void start(struct th_session **changed)
{
    scene_begin_empty(NULL);
    th_trace_share(scene_tracing());
    th_trace_replay_nothing(scene_tracing());
    party_setup.tracing = scene_tracing();
    start_party(2);
    for (int i = 0; i < DRIVERS; i++)
        drivers[i].process = th_runtime_run_start();
    *changed = scene_create("changed");
    session = scene_create("alone");
    th_trace_session_trace(*changed, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    loaded_hook(note);
}

static void stop(struct instance *now)
{
    for (int i = 0; i < DRIVERS; i++)
        th_runtime_run_exit(drivers[i].process, TH_AM(normal));
    delete_instance(now);
    stop_party();
    scene_end();
}

static void no_call_goes_untraced_while_code_is_replaced(void **state)
{
    unsigned long made[2] = {0}, replaced = 0, *changes;
    pthread_t threads[DRIVERS], changer;
    struct th_session *changed;
    struct instance *now;

    (void)state;
    start(&changed);
    now = replace_instance(NULL, 1, true);
    set_alone("outer");
    set_alone("inner");
    set_alone("plain");
    for (int i = 0; i < DRIVERS; i++)
        pthread_create(&threads[i], NULL, drive, &drivers[i]);
    pthread_create(&changer, NULL, change, changed);
    now = replace_again_and_again(now, &replaced);
    atomic_store_explicit(&over, true, memory_order_relaxed);
    for (int i = 0; i < DRIVERS; i++) {
        pthread_join(threads[i], NULL);
        made[0] += drivers[i].made[0];
        made[1] += drivers[i].made[1];
        assert_int_equal(drivers[i].wrong, 0);
    }
    pthread_join(changer, (void **)&changes);
    print_message("%lu calls and %lu local ones; code was replaced %lu times, patterns %lu\n",
                  made[0] + made[1], made[0], replaced, *changes);
    assert_int_equal(atomic_load(&told_outer), made[0]);
    assert_int_equal(atomic_load(&told_inner), made[0]);
    assert_int_equal(atomic_load(&told_plain), made[1]);
    assert_int_equal(counted("outer"), made[0]);
    assert_int_equal(counted("inner"), made[0]);
    assert_int_equal(counted("plain"), made[1]);
    assert_order(atomic_load(&others_calls), >, 0);
    assert_int_equal(atomic_load(&others_calls), atomic_load(&others_ends));
    free(changes);
    stop(now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_call_goes_untraced_while_code_is_replaced)};

    return cmocka_run_group_tests(tests, NULL, remove_twin_files);
}
