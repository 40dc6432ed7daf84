/* Tests calls of a library's code through a resource. */
#include "host/library/library.h"
#include "host/nif/nif.h"
#include "host/self/self.h"
#include "tests/support/assertions.h"
#include "tests/support/events_library.h"
#include "tests/support/inbox.h"

#include <stddef.h>
#include <stdlib.h>

static struct events_journal *journal;
static struct th_library *library;
static struct events_object *object;
static th_env env; /* of a call of another library */

static int begin(void **state)
{
    (void)state;
    journal = th_alloc_zero(sizeof *journal);
    journal->name = "x";
    library = events_load(journal, NULL);
    object = events_object(journal, EVENTS_FULL, 1);
    th_env_init(&env, TH_ENV_CALLBACK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    enif_release_resource(object);
    th_library_release(library);
    th_resource_reap();
    th_free(journal);
    return 0;
}

/* Calls enif_dynamic_resource_call() and returns its result. Only a success changes the data. */
static int call(const char *module, const char *name, ERL_NIF_TERM resource)
{
    int data = 41;
    int result = enif_dynamic_resource_call(&env, enif_make_atom(&env, module),
                                            enif_make_atom(&env, name), resource, &data);

    assert_int_equal(data, result == 0 ? 42 : 41);
    return result;
}

static void a_dynamic_call_reaches_the_callback_of_the_resource(void **state)
{
    (void)state;
    assert_int_equal(call("events", "full", enif_make_resource(&env, object)), 0);
    assert_string_equal(events_noted(journal), "x:dyncall 1");
    assert_null(th_self.library_frame);
}

/* The callback gets its caller's environment. */
static void the_callback_runs_in_the_process_of_its_caller(void **state)
{
    (void)state;
    env.self = inbox_open();
    assert_int_equal(call("events", "full", enif_make_resource(&env, object)), 0);
    assert_string_equal(events_noted(journal), "x:dyncall 1 of a process");
    inbox_close();
}

static void wrong_names_and_resources_are_refused_without_a_call(void **state)
{
    struct events_object *plain = events_object(journal, EVENTS_PLAIN, 2);
    ERL_NIF_TERM term = enif_make_resource(&env, object);

    (void)state;
    assert_int_not_equal(call("events", "other", term), 0);
    assert_int_not_equal(call("event", "full", term), 0);
    assert_int_not_equal(call("events", "plain", enif_make_resource(&env, plain)), 0);
    assert_int_not_equal(call("events", "full", enif_make_ref(&env)), 0);
    assert_int_not_equal(call("events", "full", enif_make_int(&env, 1)), 0);
    assert_int_not_equal(call("events", "full", enif_make_resource_binary(&env, object, "", 0)), 0);
    assert_string_equal(events_noted(journal), "");
    enif_release_resource(plain);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_dynamic_call_reaches_the_callback_of_the_resource),
        TEST(the_callback_runs_in_the_process_of_its_caller),
        TEST(wrong_names_and_resources_are_refused_without_a_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
