/* Tests requests of a library for file descriptors; runtime/ tests their effects. */
#include "host/library/library.h"
#include "host/nif/nif.h"
#include "host/runtime/runtime.h"
#include "tests/support/assertions.h"
#include "tests/support/events_library.h"
#include "tests/support/inbox.h"

#include <fcntl.h>
#include <unistd.h>

#include <stddef.h>
#include <stdlib.h>

static struct events_journal *journal;
static struct th_library *library;
static struct events_object *object;
static ErlNifPid inbox;
static int ends[2];
static th_env env; /* of a call by the inbox */

static int begin(void **state)
{
    (void)state;
    journal = th_alloc_zero(sizeof *journal);
    journal->name = "x";
    library = events_load(journal, NULL);
    object = events_object(journal, EVENTS_FULL, 1);
    inbox.pid = inbox_open();
    th_env_init(&env, TH_ENV_CALLBACK);
    env.self = inbox.pid;
    return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    th_poll_select_end();
    enif_release_resource(object);
    th_resource_reap();
    inbox_close();
    th_library_release(library);
    th_free(journal);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static void the_caller_of_select_gets_the_message(void **state)
{
    ERL_NIF_TERM ref = enif_make_ref(&env);
    struct th_buffer expected = {0};

    (void)state;
    assert_int_equal(enif_select(&env, ends[1], ERL_NIF_SELECT_WRITE, object, NULL, ref), 0);
    th_text_print(&expected, enif_make_tuple4(&env, enif_make_atom(&env, "select"),
                                              enif_make_resource(&env, object), ref,
                                              enif_make_atom(&env, "ready_output")));
    th_buffer_add_text(&expected, "\n");
    assert_string_equal(inbox_await(1), th_buffer_text(&expected));
    th_buffer_free(&expected);
}

static void a_select_outside_of_a_process_needs_a_pid(void **state)
{
    (void)state;
    assert_order(enif_select(NULL, ends[1], ERL_NIF_SELECT_WRITE, object, NULL, TH_NIL), <, 0);
    assert_int_equal(
        enif_select(NULL, ends[1], ERL_NIF_SELECT_WRITE, object, &inbox, TH_AM(undefined)), 0);
    inbox_await(1);
    assert_int_equal(enif_select(NULL, ends[1], ERL_NIF_SELECT_STOP, object, NULL, TH_NIL),
                     ERL_NIF_SELECT_STOP_CALLED);
}

static void a_select_may_deliver_the_caller_s_own_message(void **state)
{
    ErlNifEnv *mine = enif_alloc_env();
    ERL_NIF_TERM message = enif_make_tuple2(mine, enif_make_int(mine, 1), enif_make_list(mine, 0));

    (void)state;
    assert_int_equal(enif_select_write(&env, ends[1], object, NULL, message, mine), 0);
    assert_int_equal(mine->top - mine->bottom, 0); /* cleared */
    enif_free_env(mine);
    assert_string_equal(inbox_await(1), "{1,[]}\n");
    assert_int_equal(enif_select_write(&env, ends[1], object, &inbox, TH_AM(ok), NULL), 0);
    assert_string_equal(inbox_await(1), "ok\n");
    assert_int_equal(enif_select_read(&env, ends[0], object, NULL, TH_AM(ok), NULL), 0);
    assert_int_equal(enif_select_error(&env, ends[0], object, NULL, TH_AM(error), NULL), 0);
    close(ends[1]);
    ends[1] = -1;
    assert_string_equal(inbox_await(2), "ok\nerror\n");
}

static void a_failed_select_does_not_change_the_message(void **state)
{
    ErlNifEnv *mine = enif_alloc_env();
    ERL_NIF_TERM message = enif_make_tuple1(mine, enif_make_int(mine, 7));

    (void)state;
    assert_order(enif_select_read(&env, -1, object, NULL, message, mine), <, 0);
    assert_true(enif_is_tuple(mine, message));
    assert_int_equal(enif_select_write(&env, ends[1], object, NULL, message, mine), 0);
    assert_string_equal(inbox_await(1), "{7}\n");
    enif_free_env(mine);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(the_caller_of_select_gets_the_message),
        TEST(a_select_outside_of_a_process_needs_a_pid),
        TEST(a_select_may_deliver_the_caller_s_own_message),
        TEST(a_failed_select_does_not_change_the_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
