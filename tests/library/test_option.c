/* Tests options that libraries set while they are loaded: callbacks for the program's end and for
 * scheduler threads. */
#include "files.h"

#include "host/library/library.h"
#include "tests/tracers/options.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { DELAY = 1 << ERL_NIF_OPT_DELAY_HALT, HALT = 1 << ERL_NIF_OPT_ON_HALT };
enum { UNLOAD_THREAD = 1 << ERL_NIF_OPT_ON_UNLOAD_THREAD };

/* The callbacks so far: h(alted), l(eft), u(nloaded); the number of calls of `left`. */
static char called[100];
static _Atomic int left_threads;

static struct options options;

static void note(const char *letter, const void *private_data)
{
    strcat(called, private_data == &options ? letter : "?");
}

static void halted(void *private_data)
{
    note("h", private_data);
}

static void left(void *private_data)
{
    if (private_data == &options)
        atomic_fetch_add(&left_threads, 1);
}

static void unloaded(void *private_data)
{
    note(atomic_load(&left_threads) ? "lu" : "u", private_data);
}

/* Loads the library, which sets the options SET. */
static struct th_library *load(unsigned set)
{
    struct th_library *library;

    called[0] = 0;
    atomic_store(&left_threads, 0);
    options = (struct options){
        .set = set,
        .halted = halted,
        .left = left,
        .unloaded = unloaded,
    };
    assert_int_equal(th_library_open(built("options"), &library), TH_OK);
    assert_int_equal(th_library_load(library, NULL, th_small((int64_t)(uintptr_t)&options / 16)),
                     TH_OK);
    return library;
}

static void each_option_can_be_set_once_and_only_while_loading(void **state)
{
    struct th_library *library = load(DELAY | HALT | UNLOAD_THREAD);
    th_env *env = th_env_create(TH_ENV_CALLBACK);

    (void)state;
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(options.results[i], 0);
        assert_int_not_equal(options.again[i], 0);
    }
    assert_int_not_equal(options.by_other, 0);
    assert_int_not_equal(options.without, 0);
    assert_int_not_equal(options.unknown, 0);
    env->library = library;
    th_library_entry_function(th_library_entry(library), "call", 0)->fptr(env, 0, NULL);
    assert_int_not_equal(options.later, 0);
    th_env_free(env);
    th_library_release(library);
}

static void the_halt_callback_is_called_for_loaded_libraries(void **state)
{
    struct th_library *library = load(HALT);

    (void)state;
    th_library_halt();
    assert_string_equal(called, "h");
    assert_true(th_library_halting());
    th_library_release(library);
    assert_string_equal(called, "hu");
    th_library_halt();
    assert_string_equal(called, "hu");
}

static void callbacks_without_their_option_are_not_called(void **state)
{
    struct th_library *library = load(0);

    (void)state;
    th_library_halt();
    th_library_release(library);
    assert_string_equal(called, "u");
    assert_int_equal(left_threads, 0);
}

static void options_of_a_refused_library_are_forgotten(void **state)
{
    struct th_library *library;
    th_term info = th_small((int64_t)(uintptr_t)&options / 16);

    (void)state;
    called[0] = 0;
    options = (struct options){.answer = 1, .set = HALT | UNLOAD_THREAD, .halted = halted};
    assert_int_equal(th_library_open(built("options"), &library), TH_OK);
    assert_int_equal(th_library_load(library, NULL, info), TH_REFUSED);
    th_library_halt();
    options = (struct options){.set = HALT, .halted = halted, .unloaded = unloaded};
    assert_int_equal(th_library_load(library, NULL, info), TH_OK);
    assert_int_equal(options.results[ERL_NIF_OPT_ON_HALT], 0);
    th_library_halt();
    th_library_release(library);
    assert_string_equal(called, "hu");
}

/* --- Waiting --------------------------------------------------------------------------------- */

static _Atomic bool entered, may_return, returned;

static void let_return(void *private_data)
{
    note("h", private_data);
    atomic_store(&may_return, true);
}

/* A function of the library blocks until the halt is announced. */
static void *run_function(void *library)
{
    th_library_enter(library);
    atomic_store(&entered, true);
    while (!atomic_load(&may_return))
        usleep(100);
    usleep(20000); /* long enough for the halt to wait, if it waits */
    atomic_store(&returned, true);
    th_library_leave(library);
    return NULL;
}

static pthread_t start_function(struct th_library *library)
{
    pthread_t thread;

    atomic_store(&entered, false);
    atomic_store(&may_return, false);
    atomic_store(&returned, false);
    assert_int_equal(pthread_create(&thread, NULL, run_function, library), 0);
    while (!atomic_load(&entered))
        usleep(100);
    return thread;
}

static void a_delayed_halt_waits_for_running_functions(void **state)
{
    struct th_library *library = load(HALT | DELAY);
    pthread_t thread;

    (void)state;
    options.halted = let_return;
    thread = start_function(library);
    th_library_halt();
    assert_true(atomic_load(&returned));
    assert_string_equal(called, "h");
    pthread_join(thread, NULL);
    th_library_release(library);
}

static void a_halt_without_delay_does_not_wait_for_functions(void **state)
{
    struct th_library *library = load(HALT);
    pthread_t thread = start_function(library);

    (void)state;
    th_library_halt();
    assert_false(atomic_load(&returned));
    atomic_store(&may_return, true);
    pthread_join(thread, NULL);
    th_library_release(library);
}

/* --- Scheduler threads ----------------------------------------------------------------------- */

enum { SCHEDULERS = 3 };

struct on_scheduler {
    void (*function)(void *argument);
    void *argument;
};

static void *be_scheduler(void *call)
{
    struct on_scheduler *on_scheduler = call;

    on_scheduler->function(on_scheduler->argument);
    return NULL;
}

static void on_schedulers(void (*function)(void *argument), void *argument)
{
    struct on_scheduler call = {function, argument};
    pthread_t threads[SCHEDULERS];

    for (int i = 0; i < SCHEDULERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, be_scheduler, &call), 0);
    for (int i = 0; i < SCHEDULERS; i++)
        pthread_join(threads[i], NULL);
}

static void the_thread_callback_runs_on_each_scheduler_before_unload(void **state)
{
    (void)state;
    th_library_release(load(UNLOAD_THREAD));
    assert_string_equal(called, "lu");
    assert_int_equal(left_threads, 1);
    th_library_on_schedulers = on_schedulers;
    th_library_release(load(UNLOAD_THREAD));
    th_library_on_schedulers = NULL;
    assert_string_equal(called, "lu");
    assert_int_equal(left_threads, SCHEDULERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_option_can_be_set_once_and_only_while_loading),
        cmocka_unit_test(the_halt_callback_is_called_for_loaded_libraries),
        cmocka_unit_test(callbacks_without_their_option_are_not_called),
        cmocka_unit_test(options_of_a_refused_library_are_forgotten),
        cmocka_unit_test(a_delayed_halt_waits_for_running_functions),
        cmocka_unit_test(a_halt_without_delay_does_not_wait_for_functions),
        cmocka_unit_test(the_thread_callback_runs_on_each_scheduler_before_unload),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
