/*
 * Tests libraries from load to end, with all their callbacks: a destructor that sends, `down`,
 * `stop`, an upgrade that takes resources over, a thread that sends.
 */
#include "host/library/library.h"
#include "host/nif/nif.h"
#include "host/process/process.h"
#include "host/runtime/runtime.h"
#include "tests/support/assertions.h"
#include "tests/support/events_library.h"
#include "tests/support/inbox.h"

#include <fcntl.h>
#include <unistd.h>

#include <stddef.h>
#include <stdlib.h>

static struct events_journal *journal, *later; /* of the old instance; of the new one */
static struct th_mailbox *process;
static ErlNifPid pid, inbox;
static int ends[2], file;
static th_env env;

static void ignore(void *unused, th_term message)
{
    (void)unused, (void)message;
}

static int begin(void **state)
{
    char path[] = "/tmp/tracehost-test-XXXXXX";

    (void)state;
    journal = th_alloc_zero(sizeof *journal);
    later = th_alloc_zero(sizeof *later);
    inbox.pid = inbox_open();
    journal->name = "old";
    later->name = "new";
    journal->told = later->told = inbox;
    process = th_process_start(ignore, NULL);
    pid.pid = th_process_pid(process);
    th_env_init(&env, TH_ENV_CALLBACK);
    env.self = inbox.pid;
    file = mkstemp(path);
    unlink(path);
    return file < 0 ? -1 : pipe2(ends, O_CLOEXEC | O_NONBLOCK);
}

static int end(void **state)
{
    (void)state;
    if (process)
        th_process_exit(process, TH_AM(normal));
    th_env_release(&env);
    th_poll_select_end();
    inbox_close();
    th_free(journal);
    th_free(later);
    close(ends[0]);
    close(ends[1]);
    close(file);
    return 0;
}

static void end_process(void)
{
    th_process_exit(process, TH_AM(normal));
    process = NULL;
    th_resource_reap();
}

static int select_on(int fd, int flags, void *object)
{
    return enif_select(&env, fd, (enum ErlNifSelectFlags)flags, object, NULL, TH_AM(undefined));
}

static void a_destructor_may_send_messages(void **state)
{
    struct th_library *library = events_load(journal, NULL);
    struct events_object *in_term = events_object(journal, EVENTS_FULL, 1);

    (void)state;
    enif_make_resource(&env, in_term);
    enif_release_resource(in_term);
    enif_release_resource(events_object(journal, EVENTS_PLAIN, 2));
    th_resource_reap();
    assert_string_equal(inbox_await(1), "{gone,2}\n");
    th_library_release(library); /* the term keeps the library loaded */
    assert_string_equal(events_noted(journal), "old:gone 2");
    th_env_clear(&env);
    th_resource_reap();
    assert_string_equal(inbox_await(1), "{gone,1}\n");
    assert_string_equal(events_noted(journal), "old:gone 1, old:unload 0");
}

static void down_and_stop_callbacks_may_send_messages(void **state)
{
    struct th_library *library = events_load(journal, NULL);
    struct events_object *object = events_object(journal, EVENTS_FULL, 1);

    (void)state;
    assert_int_equal(enif_monitor_process(&env, object, &pid, &object->monitor), 0);
    assert_int_equal(select_on(file, ERL_NIF_SELECT_READ, object), 0);
    inbox_await(1);
    end_process();
    assert_string_equal(inbox_await(1), "{down,1}\n");
    assert_int_equal(select_on(file, ERL_NIF_SELECT_STOP, object), ERL_NIF_SELECT_STOP_SCHEDULED);
    assert_string_equal(inbox_await(1), "{stop,1}\n");
    enif_release_resource(object);
    th_resource_reap();
    assert_string_equal(inbox_await(1), "{gone,1}\n");
    th_library_release(library);
}

/* The old library is unloaded before the process ends and the selects are stopped. */
static void an_upgrade_takes_over_resources_selects_and_monitors(void **state)
{
    struct th_library *old = events_load(journal, NULL);
    struct events_object *object = events_object(journal, EVENTS_FULL, 1), *found;
    ERL_NIF_TERM term = enif_make_resource(&env, object);
    struct th_library *library;

    (void)state;
    enif_release_resource(object);
    assert_int_equal(enif_monitor_process(&env, object, &pid, &object->monitor), 0);
    assert_int_equal(select_on(ends[0], ERL_NIF_SELECT_READ, object), 0);
    assert_int_equal(select_on(file, ERL_NIF_SELECT_READ, object), 0);
    library = events_load(later, old);
    assert_int_equal(later->tried[EVENTS_FULL], ERL_NIF_RT_TAKEOVER);
    th_library_release(old);
    assert_string_equal(events_noted(journal), "old:unload 0");
    assert_true(enif_get_resource(&env, term, later->types[EVENTS_FULL], (void **)&found));
    assert_ptr_equal(found, object);
    end_process();
    assert_int_equal(select_on(ends[0], ERL_NIF_SELECT_STOP, object),
                     ERL_NIF_SELECT_STOP_CALLED | ERL_NIF_SELECT_READ_CANCELLED);
    assert_string_equal(events_noted(later), "new:down 1, new:stop 1 direct");
    select_on(file, ERL_NIF_SELECT_STOP, object);
    assert_string_equal(events_await(later, 1), "new:stop 1 later");
    th_env_clear(&env);
    th_poll_select_end();
    th_resource_reap();
    th_library_release(library);
    assert_string_equal(events_noted(later), "new:gone 1, new:unload 0");
    assert_string_equal(events_noted(journal), "");
}

/* The new library has neither `stop` nor `down`, so no callback is called, not even the old. */
static void an_upgrade_may_drop_callbacks(void **state)
{
    struct th_library *old = events_load(journal, NULL);
    struct events_object *object = events_object(journal, EVENTS_FULL, 1);
    struct th_library *library;

    (void)state;
    assert_int_equal(enif_monitor_process(&env, object, &pid, &object->monitor), 0);
    assert_int_equal(select_on(ends[0], ERL_NIF_SELECT_READ, object), 0);
    later->versions = 1;
    library = events_load(later, old);
    th_library_release(old);
    end_process();
    assert_order(select_on(ends[0], ERL_NIF_SELECT_STOP, object), <, 0);
    assert_string_equal(events_noted(later), "");
    th_poll_select_end();
    enif_release_resource(object);
    th_library_release(library);
    assert_string_equal(events_noted(later), "new:gone 1, new:unload 0");
}

static void a_thread_of_a_library_may_send_messages(void **state)
{
    enum { COUNT = 200 };
    struct th_library *library = events_load(journal, NULL);
    struct th_buffer expected = {0};

    (void)state;
    assert_term_equal(
        events_call(library, "start", &env, 2, (th_term[]){inbox.pid, th_small(COUNT)}), TH_AM(ok));
    for (int i = 1; i <= COUNT; i++)
        th_buffer_printf(&expected, "{thread,%d}\n", i);
    assert_string_equal(inbox_await(COUNT), th_buffer_text(&expected));
    assert_term_equal(events_call(library, "join", &env, 0, NULL), TH_AM(ok));
    th_buffer_free(&expected);
    th_library_release(library);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_destructor_may_send_messages),
        TEST(down_and_stop_callbacks_may_send_messages),
        TEST(an_upgrade_takes_over_resources_selects_and_monitors),
        TEST(an_upgrade_may_drop_callbacks),
        TEST(a_thread_of_a_library_may_send_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
