/* Tests processes that have code loaded, purged and deleted, and wait without a thread. */
#include "parties.h"

#include "host/base/base.h"
#include "host/process/process.h"
#include "tests/support/versions.h"

#include "host/runtime/mailbox.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { MODULES = 3 };

/* Other names in each test, as the generations of a module are counted for ever. */
static char names[MODULES][32];
static char *files[MODULES]; /* of the names */
static struct th_process *process;

static int start_with(unsigned schedulers)
{
    static int test;

    start_party(schedulers);
    process = th_runtime_run_start();
    for (int i = 0; i < MODULES; i++) {
        snprintf(names[i], sizeof names[i], "version_%03d%c", test, 'a' + i);
        files[i] = version_file(names[i]);
    }
    test++;
    return 0;
}

static int start(void **state)
{
    (void)state;
    return start_with(2);
}

static int start_one(void **state)
{
    (void)state;
    return start_with(1);
}

static int stop(void **state)
{
    (void)state;
    th_runtime_run_exit(process, TH_AM(normal));
    th_runtime_kill_all();
    assert_int_equal(th_runtime_loader_orders(), 0);
    th_code_end();
    th_library_release(party);
    th_runtime_stop();
    for (int i = 0; i < MODULES; i++) {
        remove(files[i]);
        th_free(files[i]);
    }
    return 0;
}

/* --- Inspection ------------------------------------------------------------------------------- */

/* Returns the generation of NAME's current code; 0: none. */
static uint64_t generation_of(const char *name)
{
    struct th_module_code *list;
    size_t count = th_code_list(&list);
    uint64_t generation = 0;

    for (size_t i = 0; i < count; i++)
        if (list[i].name == th_atom(name) && !list[i].old)
            generation = list[i].generation;
    th_code_list_free(list, count);
    return generation;
}

static const char *number_of(const char *name)
{
    const struct th_export *entry = th_code_export_get(th_atom(name), th_atom("number"), 0);
    const char *text;
    th_term result;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    th_runtime_run_call_export(process, entry, NULL, &env, &result, NULL);
    text = show("", result);
    th_env_release(&env);
    return text;
}

static bool begins_with(const char *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool begins_with(const char *text, const char *format, ...)
{
    char beginning[256];
    va_list more;

    va_start(more, format);
    vsnprintf(beginning, sizeof beginning, format, more);
    va_end(more);
    if (strncmp(text, beginning, strlen(beginning)) == 0)
        return true;
    print_error("'%s' does not begin with '%s'\n", text, beginning);
    return false;
}

/* Waits until the loader has COUNT orders. */
static bool are_ordered(size_t count)
{
    for (int i = 0; i < 20000 && th_runtime_loader_orders() != count; i++)
        usleep(1000);
    return th_runtime_loader_orders() == count;
}

/* --- One process ------------------------------------------------------------------------------ */

static void a_list_is_loaded_and_replaced(void **state)
{
    (void)state;
    assert_true(
        begins_with(call_in(process, "load_code", "[[\"%s\",<<\"%s\">>],1,0]", files[0], files[1]),
                    "{[{%s,1},{%s,1}],0}", names[0], names[1]));
    assert_string_equal(number_of(names[0]), "1");
    assert_string_equal(number_of(names[1]), "1");
    assert_true(
        begins_with(call_in(process, "load_code", "[[\"%s\",\"%s\"],2,0]", files[2], files[0]),
                    "{[{%s,1},{%s,2}],0}", names[2], names[0]));
    assert_string_equal(number_of(names[0]), "2");
    assert_string_equal(number_of(names[1]), "1");
    assert_string_equal(call_in(process, "purge_code", "[%s,0]", names[0]), "{true,0}");
    assert_string_equal(call_in(process, "purge_code", "[%s,0]", names[0]), "{false,0}");
    assert_string_equal(call_in(process, "delete_code", "[%s,0]", names[0]), "{true,0}");
    assert_string_equal(number_of(names[0]), "undef");
    assert_true(begins_with(call_in(process, "delete_code", "[%s,0]", names[0]),
                            "{{error,{not_loaded,[<<\"no module %s is loaded\">>]}},0}", names[0]));
    assert_string_equal(call_in(process, "purge_code", "[%s,1]", names[0]), "{true,1}");
    assert_string_equal(call_in(process, "purge_code", "[never_there,0]"), "{false,0}");
    assert_string_equal(call_in(process, "load_code", "[[],1,0]"), "{[],0}");
}

static void a_load_that_fails_returns_the_reason(void **state)
{
    const char *said;

    (void)state;
    said = call_in(process, "load_code", "[[\"%s\",\"%s\"],{1,[{%s,load}]},0]", files[0], files[1],
                   names[1]);
    assert_true(begins_with(said, "{{error,{refused,[<<\""));
    assert_non_null(strstr(said, "load() returned 1"));
    assert_string_equal(number_of(names[0]), "undef");
    said = call_in(process, "load_code", "[[\"%s\",\"/nowhere/at_all.so\"],1,0]", files[0]);
    assert_true(begins_with(said, "{{error,{refused,[<<\""));
    assert_non_null(strstr(said, "/nowhere/at_all.so"));
    assert_int_equal(generation_of(names[0]), 0);
    said = call_in(process, "load_code", "[[\"%s\",\"%s\"],1,0]", files[0], files[0]);
    assert_true(begins_with(said, "{{error,{duplicate,[<<\""));
    said = call_in(process, "load_code", "[[\"%s/tests/runtime/parties.h\"],1,0]",
                   getenv("SOURCE_DIR"));
    assert_true(begins_with(said, "{{error,{refused,[<<\""));
    assert_true(begins_with(call_in(process, "load_code", "[[\"%s\"],1,0]", files[0]),
                            "{[{%s,1}],0}", names[0]));
}

static void invalid_load_requests_are_refused(void **state)
{
    (void)state;
    assert_string_equal(call_in(process, "load_code", "[\"%s\",1,0]", files[0]), "error: badarg");
    assert_string_equal(call_in(process, "load_code", "[[\"%s\"|a],1,0]", files[0]),
                        "error: badarg");
    assert_string_equal(call_in(process, "load_code", "[[a],1,0]"), "error: badarg");
    assert_string_equal(call_in(process, "purge_code", "[\"version_000a\",0]"), "error: badarg");
    assert_string_equal(call_in(process, "delete_code", "[1,0]"), "error: badarg");
    assert_string_equal(call_in(process, "call", "[party,load_code,[[\"%s\"],1,0]]", files[0]),
                        "error: nested_await");
    assert_string_equal(call_in(process, "call", "[party,purge_code,[%s,0]]", names[0]),
                        "error: nested_await");
    assert_string_equal(call_in(process, "load_code_not", "[[\"%s\"]]", files[0]), "'not'");
    assert_int_equal(th_runtime_loader_orders(), 0);
    assert_int_equal(generation_of(names[0]), 0);
    assert_true(
        begins_with(call_in(process, "then", "[0,party,load_code,[[\"%s\"],1,0],[]]", files[0]),
                    "{result,{[{%s,1}],0},[]}", names[0]));
}

/* --- While others are in the code ------------------------------------------------------------- */

struct asking {
    struct th_process *process;
    pthread_t thread;
    const char *function;
    char arguments[256], said[512];
};

static void *ask(void *context)
{
    struct asking *asking = context;

    snprintf(asking->said, sizeof asking->said, "%s",
             call_in(asking->process, asking->function, "%s", asking->arguments));
    return NULL;
}

static void begin_to_ask(struct asking *asking)
{
    asking->process = th_runtime_run_start();
    assert_int_equal(pthread_create(&asking->thread, NULL, ask, asking), 0);
}

static const char *said_by(struct asking *asking)
{
    pthread_join(asking->thread, NULL);
    th_runtime_run_exit(asking->process, TH_AM(normal));
    return asking->said;
}

static void begin_to_load(struct asking *asking, const char *file, long number)
{
    asking->function = "load_code";
    snprintf(asking->arguments, sizeof asking->arguments, "[[\"%s\"],%ld,0]", file, number);
    begin_to_ask(asking);
}

static bool is_waiting_in(const char *name)
{
    uint64_t users = 0;

    for (int i = 0; i < 20000 && users == 0; i++, usleep(1000)) {
        struct th_module_code *list;
        size_t count = th_code_list(&list);
        for (size_t k = 0; k < count; k++)
            users += list[k].name == th_atom(name) ? list[k].users : 0;
        th_code_list_free(list, count);
    }
    return users > 0;
}

static void old_code_in_use_is_not_purged(void **state)
{
    struct asking waits = {.function = "tail"};
    const char *said;

    (void)state;
    call_in(process, "load_code", "[[\"%s\"],1,0]", files[0]);
    snprintf(waits.arguments, sizeof waits.arguments, "[%s,wait_here,[]]", names[0]);
    begin_to_ask(&waits);
    assert_true(is_waiting_in(names[0]));
    assert_true(begins_with(call_in(process, "load_code", "[[\"%s\"],2,0]", files[0]),
                            "{[{%s,2}],0}", names[0]));
    assert_true(begins_with(call_in(process, "purge_code", "[%s,0]", names[0]),
                            "{{error,{not_purged,[<<\"cannot purge module %s\">>,", names[0]));
    said = call_in(process, "load_code", "[[\"%s\",\"%s\"],3,0]", files[1], files[0]);
    assert_true(begins_with(said, "{{error,{not_purged,[<<\"cannot load module %s", names[0]));
    assert_true(
        begins_with(call_in(process, "delete_code", "[%s,0]", names[0]), "{{error,{not_purged,"));
    assert_int_equal(generation_of(names[1]), 0);
    assert_true(
        begins_with(call_in(process, "load_code", "[[\"%s\",\"%s\"],3,1]", files[1], files[0]),
                    "{[{%s,1},{%s,3}],1}", names[1], names[0]));
    assert_string_equal(said_by(&waits), "ended: killed");
}

/* The process counts once in its old code, whichever step it takes. */
static void a_process_that_replaces_its_code_continues_in_old_code(void **state)
{
    (void)state;
    assert_true(begins_with(call_in(process, "load_code", "[[\"%s\"],1,0]", files[0]),
                            "{[{%s,1}],0}", names[0]));
    for (int i = 2; i <= 4; i++) {
        assert_true(begins_with(
            call_in(process, "tail", "[%s,load_others,[[\"%s\"],%d]]", names[0], files[0], i),
            "{[{%s,%d}],%d}", names[0], i, i - 1));
        assert_string_equal(call_in(process, "purge_code", "[%s,0]", names[0]), "{true,0}");
    }
}

/* The loader has begun the first order and completes it. The second order is still in the queue, so
 * it is dropped, with the code that it prepared. */
static void a_queued_load_of_a_killed_process_is_dropped(void **state)
{
    struct asking asks[2] = {{0}, {0}};

    (void)state;
    th_code_permission_wait();
    for (size_t i = 0; i < 2; i++) {
        begin_to_load(&asks[i], files[i], 1);
        assert_true(are_ordered(i + 1));
    }
    for (int i = 0; i < 2; i++)
        th_runtime_run_kill(asks[i].process);
    for (int i = 0; i < 2; i++)
        assert_string_equal(said_by(&asks[i]), "ended: killed");
    th_code_permission_release();
    assert_true(are_ordered(0));
    assert_int_equal(generation_of(names[1]), 0);
    assert_true(begins_with(call_in(process, "load_code", "[[\"%s\"],2,0]", files[1]),
                            "{[{%s,1}],0}", names[1]));
}

/* stop() waits for an order that is executing when all processes are killed. */
static void a_stop_of_the_runtime_waits_for_an_executing_load(void **state)
{
    struct asking asks = {0};

    (void)state;
    th_code_permission_wait();
    begin_to_load(&asks, files[0], 1);
    assert_true(are_ordered(1));
    th_runtime_run_kill(asks.process);
    assert_string_equal(said_by(&asks), "ended: killed");
    th_code_permission_release();
}

/* There is one scheduler, and the loading process waits for its answer. */
static void other_processes_run_while_a_load_waits(void **state)
{
    struct asking asks = {0};

    (void)state;
    th_code_permission_wait();
    begin_to_load(&asks, files[0], 7);
    assert_true(are_ordered(1));
    for (int i = 0; i < 100; i++)
        assert_string_equal(call_in(process, "loop", "[10000]"), "done");
    assert_string_equal(number_of(names[0]), "undef");
    assert_int_equal(th_runtime_loader_orders(), 1);
    th_code_permission_release();
    assert_true(begins_with(said_by(&asks), "{[{%s,1}],0}", names[0]));
    assert_string_equal(number_of(names[0]), "7");
}

static void send_number(th_term to, int number)
{
    th_process_send(to, th_small(number));
}

/* Messages before and after the answer stay in order; the answer comes before all of them. */
static void messages_stay_in_order_around_a_load(void **state)
{
    struct asking asks = {.function = "load_and_pass_on"};
    char *self = text_of_pid(th_runtime_run_pid(process));

    (void)state;
    th_code_permission_wait();
    snprintf(asks.arguments, sizeof asks.arguments, "[[\"%s\"],1,%s]", files[0], self);
    begin_to_ask(&asks);
    for (int i = 0; i < 50; i++)
        send_number(th_runtime_run_pid(asks.process), i);
    assert_true(are_ordered(1));
    for (int i = 50; i < 100; i++)
        send_number(th_runtime_run_pid(asks.process), i);
    th_code_permission_release();
    assert_true(begins_with(message_to(process), "[{%s,1}]", names[0]));
    for (int i = 100; i < 150; i++)
        send_number(th_runtime_run_pid(asks.process), i);
    for (int i = 0; i < 150; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "%d", i);
        assert_string_equal(message_to(process), expected);
    }
    th_process_send(th_runtime_run_pid(asks.process), th_atom("stop"));
    assert_string_equal(said_by(&asks), "stop");
    th_free(self);
}

/* --- Many ------------------------------------------------------------------------------------- */

enum { ASKING = 8, TIMES = 6 };

struct one_of_many {
    pthread_t thread;
    struct th_process *process;
    char own[32];
    char *file;
    long shared[TIMES]; /* the generations of the module that all load */
    int failures;
};

/* Loads a module of its own and one that all load, at once. */
static void *load_both(void *context)
{
    struct one_of_many *one = context;
    char expected[96];

    for (int i = 0; i < TIMES; i++) {
        const char *said =
            call_in(one->process, "load_code", "[[\"%s\",\"%s\"],%d,0]", one->file, files[0], i);
        snprintf(expected, sizeof expected, "{[{%s,%d},{%s,", one->own, i + 1, names[0]);
        one->failures += !begins_with(said, "%s", expected);
        one->shared[i] = strtol(said + strlen(expected), NULL, 10);
    }
    return NULL;
}

static void many_processes_load_at_once(void **state)
{
    struct one_of_many many[ASKING];
    bool seen[ASKING * TIMES + 1] = {false};

    (void)state;
    for (int i = 0; i < ASKING; i++) {
        many[i].failures = 0;
        many[i].process = th_runtime_run_start();
        snprintf(many[i].own, sizeof many[i].own, "version_m%03d", i);
        many[i].file = version_file(many[i].own);
    }
    for (int i = 0; i < ASKING; i++)
        assert_int_equal(pthread_create(&many[i].thread, NULL, load_both, &many[i]), 0);
    for (int i = 0; i < ASKING; i++) {
        pthread_join(many[i].thread, NULL);
        th_runtime_run_exit(many[i].process, TH_AM(normal));
        remove(many[i].file);
        th_free(many[i].file);
        assert_int_equal(many[i].failures, 0);
        assert_int_equal(generation_of(many[i].own), TIMES);
        for (int k = 0; k < TIMES; k++) {
            assert_in_range(many[i].shared[k], 1, ASKING * TIMES);
            assert_false(seen[many[i].shared[k]]);
            seen[many[i].shared[k]] = true;
        }
    }
    assert_int_equal(generation_of(names[0]), ASKING * TIMES);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_list_is_loaded_and_replaced),
        TEST(a_load_that_fails_returns_the_reason),
        TEST(invalid_load_requests_are_refused),
        TEST(old_code_in_use_is_not_purged),
        TEST(a_process_that_replaces_its_code_continues_in_old_code),
        TEST(a_queued_load_of_a_killed_process_is_dropped),
        TEST(a_stop_of_the_runtime_waits_for_an_executing_load),
        cmocka_unit_test_setup_teardown(other_processes_run_while_a_load_waits, start_one, stop),
        TEST(messages_stay_in_order_around_a_load),
        TEST(many_processes_load_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
