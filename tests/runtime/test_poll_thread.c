/*
 * Tests the poll thread: when it is busy, when descriptors change meanwhile, for descriptors that
 * epoll refuses, at its end; and with many selecting threads.
 */
#include "host/runtime/poll/select.h"

#include "host/base/base.h"
#include "host/process/process.h"
#include "tests/support/assertions.h"
#include "tests/support/events_library.h"
#include "tests/support/inbox.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    READ = ERL_NIF_SELECT_READ,
    WRITE = ERL_NIF_SELECT_WRITE,
    STOP = ERL_NIF_SELECT_STOP,
    CANCEL = ERL_NIF_SELECT_CANCEL,

    CALLED = ERL_NIF_SELECT_STOP_CALLED,
    SCHEDULED = ERL_NIF_SELECT_STOP_SCHEDULED,
    READ_OFF = ERL_NIF_SELECT_READ_CANCELLED
};

static struct events_journal *journal;
static struct th_library *library;
static struct events_object *a, *b;
static th_term inbox;
static int in, out, file; /* a pipe; a regular file */

static int begin(void **state)
{
    char path[] = "/tmp/tracehost-test-XXXXXX";
    int ends[2];

    (void)state;
    journal = th_alloc_zero(sizeof *journal);
    journal->name = "x";
    library = events_load(journal, NULL);
    a = events_object(journal, EVENTS_FULL, 1);
    b = events_object(journal, EVENTS_FULL, 2);
    inbox = inbox_open();
    file = mkstemp(path);
    unlink(path);
    if (file < 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    in = ends[0];
    out = ends[1];
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_poll_select_end();
    if (a)
        th_resource_release(a);
    if (b)
        th_resource_release(b);
    th_resource_reap();
    inbox_close();
    th_library_release(library);
    th_free(journal);
    close(in);
    close(out);
    close(file);
    return 0;
}

static int call_to(th_term pid, int fd, int flags, void *object, th_term message)
{
    struct th_select_message to = {.pid = pid, .message = message};

    return th_poll_select(fd, (enum ErlNifSelectFlags)flags, object, &to);
}

static int call(int fd, int flags, void *object)
{
    return call_to(inbox, fd, flags, object, th_small(fd));
}

/* --- A busy poll thread: it sends to a slow process ------------------------------------------- */

static struct {
    sem_t entered, open;
    struct th_mailbox *process;
    int ends[2];
} gate;

static void wait_at_gate(void *unused, th_term message)
{
    (void)unused, (void)message;
    sem_post(&gate.entered);
    sem_wait(&gate.open);
}

static void keep_busy(void)
{
    sem_init(&gate.entered, 0, 0);
    sem_init(&gate.open, 0, 0);
    gate.process = th_process_start(wait_at_gate, NULL);
    assert_int_equal(pipe(gate.ends), 0);
    assert_int_equal(call_to(th_process_pid(gate.process), gate.ends[1], WRITE, b, TH_NIL), 0);
    sem_wait(&gate.entered);
}

static void let_go(void)
{
    sem_post(&gate.open);
    th_process_exit(gate.process, TH_AM(normal));
    assert_int_equal(call(gate.ends[1], STOP, b), CALLED);
    close(gate.ends[0]);
    close(gate.ends[1]);
}

/* --- Descriptors that epoll refuses ----------------------------------------------------------- */

static void a_file_is_ready_at_once(void **state)
{
    (void)state;
    assert_int_equal(call(file, READ | WRITE, a), 0);
    inbox_await(2);
    assert_int_equal(call(file, ERL_NIF_SELECT_ERROR, a), 0);
    usleep(10000);
    assert_string_equal(inbox_take(), "");
    assert_int_equal(call(file, CANCEL | ERL_NIF_SELECT_ERROR, a), ERL_NIF_SELECT_ERROR_CANCELLED);
    assert_int_equal(call(file, STOP, a), SCHEDULED);
    assert_string_equal(events_await(journal, 1), "x:stop 1 later");
}

static void a_scheduled_stop_is_called_once(void **state)
{
    unsigned long warnings = th_warnings();

    (void)state;
    keep_busy();
    assert_int_equal(call(file, READ, a), 0);
    assert_int_equal(call(file, STOP, a), READ_OFF | SCHEDULED);
    assert_int_equal(call(file, STOP, a), SCHEDULED);
    assert_int_equal(call(file, CANCEL | READ, a), SCHEDULED);
    assert_int_equal(call(file, CANCEL | READ, b), 0);
    assert_int_equal(th_warnings() - warnings, 2);
    assert_string_equal(events_noted(journal), "");
    let_go();
    th_poll_select_end();
    assert_non_null(strstr(events_noted(journal), "x:stop 1 later"));
    assert_string_equal(events_noted(journal), "");
}

static void selecting_again_revokes_a_scheduled_stop(void **state)
{
    (void)state;
    keep_busy();
    assert_int_equal(call(file, READ, a), 0);
    assert_int_equal(call(file, STOP, a), READ_OFF | SCHEDULED);
    assert_int_equal(call(file, READ, a), 0);
    let_go();
    inbox_await(1);
    assert_string_equal(events_noted(journal), "x:stop 2 direct"); /* the gate's */
    assert_int_equal(call(file, STOP, a), SCHEDULED);
    assert_string_equal(events_await(journal, 1), "x:stop 1 later");
}

static void a_stop_of_another_resource_revokes_a_scheduled_stop(void **state)
{
    struct events_object *c = events_object(journal, EVENTS_OTHER, 3);

    (void)state;
    keep_busy();
    assert_int_equal(call(file, READ, a), 0);
    assert_int_equal(call(file, STOP, a), READ_OFF | SCHEDULED);
    assert_int_equal(call(file, STOP, c), CALLED);
    let_go();
    th_poll_select_end();
    assert_string_equal(events_noted(journal), "x:stop 3 direct, x:stop 2 direct");
    th_resource_release(c);
}

/* --- Descriptors that change ------------------------------------------------------------------ */

static void an_old_report_does_not_reach_a_reused_descriptor(void **state)
{
    int fresh[2], same;

    (void)state;
    keep_busy();
    assert_int_equal(write(out, "x", 1), 1);
    assert_int_equal(call(in, READ, a), 0); /* ready, but the poll thread is busy */
    a->closes = 1;
    assert_int_equal(call(in, STOP, a), READ_OFF | CALLED);
    assert_int_equal(pipe(fresh), 0);
    same = fresh[0] == in ? in : dup2(fresh[0], in);
    assert_int_equal(call(same, READ, b), 0);
    let_go();
    usleep(10000);
    assert_string_equal(inbox_take(), "");
    assert_int_equal(write(fresh[1], "x", 1), 1);
    inbox_await(1);
    assert_int_equal(call(same, STOP, b), CALLED);
    if (fresh[0] != in)
        close(fresh[0]);
    close(fresh[1]);
}

static void a_selected_resource_stays_until_the_stop(void **state)
{
    struct events_object *kept = a;

    (void)state;
    assert_int_equal(call(in, READ, a), 0);
    assert_int_equal(call(in, CANCEL | READ, a), READ_OFF);
    th_resource_release(a);
    a = NULL;
    th_resource_reap();
    assert_string_equal(events_noted(journal), "");
    assert_int_equal(call(in, STOP, kept), CALLED);
    th_resource_reap();
    assert_string_equal(events_noted(journal), "x:stop 1 direct, x:gone 1");
}

static void a_resource_released_by_the_poll_thread_is_destroyed(void **state)
{
    (void)state;
    keep_busy();
    assert_int_equal(call(file, READ, a), 0);
    assert_int_equal(call(file, STOP, a), READ_OFF | SCHEDULED);
    th_resource_release(a);
    a = NULL;
    let_go();
    assert_non_null(strstr(events_await(journal, 3), "x:gone 1"));
}

/* --- The end ---------------------------------------------------------------------------------- */

static void the_end_releases_selected_resources(void **state)
{
    (void)state;
    assert_int_equal(call(in, READ, a), 0);
    th_resource_release(a);
    a = NULL;
    th_poll_select_end();
    assert_string_equal(events_noted(journal), "x:gone 1");
    th_poll_select_end();
    assert_int_equal(call(in, READ, b), 0); /* starts again */
    assert_int_equal(write(out, "x", 1), 1);
    inbox_await(1);
}

static void the_end_calls_scheduled_stops(void **state)
{
    (void)state;
    assert_int_equal(call(file, READ, a), 0);
    inbox_await(1);
    assert_int_equal(call(file, STOP, a), SCHEDULED);
    th_poll_select_end();
    assert_string_equal(events_noted(journal), "x:stop 1 later");
}

/* --- Many threads ----------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 100 };

/* Selects, cancels and stops descriptors of its own, with a resource of its own. */
static void *select_and_stop(void *number)
{
    struct events_object *own = events_object(journal, EVENTS_FULL, *(int *)number);
    uintptr_t sent = 0;

    for (int i = 0; i < ROUNDS; i++) {
        int ends[2], result;
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
            break;
        call(ends[0], READ | WRITE, own);
        if (write(ends[1], "x", 1) != 1)
            break;
        result = call(ends[0], CANCEL | READ, own);
        result |= call(ends[0], STOP, own);
        sent += !(result & READ_OFF) + !(result & ERL_NIF_SELECT_WRITE_CANCELLED);
        close(ends[0]);
        close(ends[1]);
    }
    th_resource_release(own);
    return (void *)sent;
}

static unsigned lines(const char *text)
{
    unsigned count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* A message comes for each mode that was not cancelled, and no other. */
static void many_threads_select_at_once(void **state)
{
    static int numbers[THREADS];
    pthread_t threads[THREADS];
    unsigned sent = 0;
    void *result;

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = 10 + i;
        assert_int_equal(pthread_create(&threads[i], NULL, select_and_stop, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        sent += (unsigned)(uintptr_t)result;
    }
    th_poll_select_end();
    assert_int_equal(lines(inbox_take()), sent);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_ready_at_once),
        TEST(a_scheduled_stop_is_called_once),
        TEST(selecting_again_revokes_a_scheduled_stop),
        TEST(a_stop_of_another_resource_revokes_a_scheduled_stop),
        TEST(an_old_report_does_not_reach_a_reused_descriptor),
        TEST(a_selected_resource_stays_until_the_stop),
        TEST(a_resource_released_by_the_poll_thread_is_destroyed),
        TEST(the_end_releases_selected_resources),
        TEST(the_end_calls_scheduled_stops),
        TEST(many_threads_select_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
