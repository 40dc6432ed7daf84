/*
 * Tests that a process that is notified of new code sees that code.
 * // Code of version N of a module sends a message, to a pid or a name, or exits. The receiver,
 * mostly on another scheduler, makes an external call of the module, which must reach version N or
 * a later one. The same holds for a process that a thread notifies after version N was loaded, as
 * the thread of the control socket does. New versions are loaded all the time. A million trials of
 * the first kind, 100,000 of each other; a twentieth under a sanitizer.
 */
#include "host/base/base.h"
#include "host/process/process.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/loaded.h"
#include "tests/support/versions.h"

#include "host/runtime/runtime_internal.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(TH_ADDRESS_SANITIZER) || defined(TH_PROGRESS_TSAN) || defined(__SANITIZE_UNDEFINED__)
enum { SCALE = 20 };
#else
enum { SCALE = 1 };
#endif

enum { TRIALS = 1000 * 1000 / SCALE, FEWER = TRIALS / 10, AT_ONCE = 500 };

static const char *const module = "version_000s";

/* --- Loading ---------------------------------------------------------------------------------- */

static _Atomic bool over;          /* relaxed: a flag */
static _Atomic unsigned versions;  /* relaxed: a count */
static _Atomic th_term told_by_us; /* relaxed: the pid for one more message, or TH_NONE */
static _Atomic long told_left;

static th_term told_of(th_env *env, long version)
{
    return th_make_tuple_of(env, th_atom("told"), th_small(version), th_small(0));
}

/* Sends that VERSION was loaded, as the control socket's thread might answer. */
static void tell(long version)
{
    th_term to = atomic_load_explicit(&told_by_us, memory_order_relaxed);
    th_env env;

    if (to == TH_NONE)
        return;
    th_env_init(&env, TH_ENV_PLAIN);
    for (int i = 0; i < AT_ONCE && atomic_load(&told_left) > 0; i++) {
        th_process_send(to, told_of(&env, version));
        atomic_fetch_sub(&told_left, 1);
    }
    th_env_release(&env);
}

static void *load_on_and_on(void *unused)
{
    (void)unused;
    for (long version = 2; !atomic_load_explicit(&over, memory_order_relaxed);) {
        if (version_load(&module, 1, version) != TH_OK)
            continue; /* the old code is in use */
        tell(version++);
        atomic_fetch_add_explicit(&versions, 1, memory_order_relaxed);
    }
    return NULL;
}

/* --- Calls ------------------------------------------------------------------------------------ */

struct asked {
    struct th_process *process;
    const char *function;
    const char *arguments; /* a list, as Erlang text */
    long answer;
    pthread_t thread;
};

static void *ask(void *context)
{
    struct asked *asked = context;
    th_term argv[4], list, result;
    struct th_buffer text = {0};
    enum th_call_end end;
    unsigned argc = 0;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    if (th_text_parse(&env, asked->arguments, strlen(asked->arguments), &list) != TH_OK)
        abort();
    for (; th_is_list(list); list = th_cell(list)[1])
        argv[argc++] = th_cell(list)[0];
    end = th_runtime_run_call_export(
        asked->process, th_code_export_get(th_atom("spread"), th_atom(asked->function), argc), argv,
        &env, &result, NULL);
    th_text_print(&text, result);
    if (end != TH_CALL_RETURNED) {
        fprintf(stderr, "%s: %s\n", asked->function, th_buffer_text(&text));
        abort();
    }
    asked->answer = atol(th_buffer_text(&text));
    th_buffer_free(&text);
    th_env_release(&env);
    return NULL;
}

static void begin(struct asked *asked, const char *function, char *arguments)
{
    asked->process = th_runtime_run_start();
    asked->function = function;
    asked->arguments = arguments;
    assert_int_equal(pthread_create(&asked->thread, NULL, ask, asked), 0);
}

static void end(struct asked *asked)
{
    pthread_join(asked->thread, NULL);
    th_runtime_run_exit(asked->process, TH_AM(normal));
    th_free((char *)asked->arguments);
}

/* Returns the pid as messages print it. */
static char *pid_text(const struct asked *asked)
{
    struct th_buffer text = {0};
    char *copy;

    th_text_print(&text, th_runtime_run_pid(asked->process));
    copy = th_strdup(th_buffer_text(&text));
    th_buffer_free(&text);
    return copy;
}

/* --- Trials ----------------------------------------------------------------------------------- */

/* Three processes send trials to a fourth, called TO, until TRIALS are done. */
static long tell_one(long trials, const char *name)
{
    enum { TELLERS = 3 };
    struct asked hears, tellers[TELLERS];
    char *to;

    trials -= trials % TELLERS;
    begin(&hears, "hear", th_printf("[%s,%ld,%s]", module, trials, name));
    to = strcmp(name, "undefined") == 0 ? pid_text(&hears) : th_strdup(name);
    while (strcmp(name, "undefined") != 0 && th_process_whereis(th_atom(name)) == TH_NONE)
        sched_yield();
    for (int i = 0; i < TELLERS; i++)
        begin(&tellers[i], "tell_often", th_printf("[%s,%s,%ld]", module, to, trials / TELLERS));
    for (int i = 0; i < TELLERS; i++)
        end(&tellers[i]);
    end(&hears);
    th_free(to);
    return hears.answer;
}

static long hear_of_ends(long trials)
{
    long others = 0;

    for (; trials > 0; trials -= AT_ONCE) {
        struct asked hears;
        begin(&hears, "hear_of_ends", th_printf("[%s,%d]", module, AT_ONCE));
        end(&hears);
        others += hears.answer;
    }
    return others;
}

static long hear_from_a_thread(long trials)
{
    struct asked hears;

    begin(&hears, "hear", th_printf("[%s,%ld,undefined]", module, trials));
    atomic_store(&told_left, trials);
    atomic_store(&told_by_us, th_runtime_run_pid(hears.process));
    end(&hears);
    atomic_store(&told_by_us, TH_NONE);
    return hears.answer;
}

static void a_process_that_is_notified_of_new_code_calls_it(void **state)
{
    static const struct th_runtime_setup setup = {.schedulers = 2};
    struct th_library *spread;
    pthread_t loader;
    long others[4];

    (void)state;
    th_runtime_start(&setup);
    spread = loaded_plugin("tests/plugins/spread.so", th_small(0));
    th_code_module_add(spread);
    assert_int_equal(version_load(&module, 1, 1), TH_OK);
    assert_int_equal(pthread_create(&loader, NULL, load_on_and_on, NULL), 0);
    others[0] = tell_one(TRIALS, "undefined");
    others[1] = tell_one(FEWER, "listener");
    others[2] = hear_of_ends(FEWER);
    others[3] = hear_from_a_thread(FEWER);
    atomic_store(&over, true);
    pthread_join(loader, NULL);
    print_message(
        "%d messages, %ld of another scheduler's; %d to a name, %ld; %d ends, %ld; %d by a "
        "thread; %u versions\n",
        TRIALS, others[0], FEWER, others[1], FEWER, others[2], FEWER, atomic_load(&versions));
    assert_order(others[0], >, TRIALS / 100);
    assert_int_equal(others[3], FEWER);
    th_runtime_kill_all();
    th_library_release(spread);
    th_code_end();
    th_runtime_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_is_notified_of_new_code_calls_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
