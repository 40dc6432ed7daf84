/*
 * Tests the effects, results and messages of enif_select(). Each of these sequences was run in OTP
 * 25, whose results are expected.
 */
#include "host/runtime/poll/select.h"

#include "host/base/base.h"
#include "host/process/process.h"
#include "tests/support/assertions.h"
#include "tests/support/events_library.h"
#include "tests/support/inbox.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    READ = ERL_NIF_SELECT_READ,
    WRITE = ERL_NIF_SELECT_WRITE,
    ERROR = ERL_NIF_SELECT_ERROR,
    STOP = ERL_NIF_SELECT_STOP,
    CANCEL = ERL_NIF_SELECT_CANCEL,

    CALLED = ERL_NIF_SELECT_STOP_CALLED,
    SCHEDULED = ERL_NIF_SELECT_STOP_SCHEDULED,
    READ_OFF = ERL_NIF_SELECT_READ_CANCELLED,
    WRITE_OFF = ERL_NIF_SELECT_WRITE_CANCELLED,
    ERROR_OFF = ERL_NIF_SELECT_ERROR_CANCELLED,
    FAILED = INT_MIN | ERL_NIF_SELECT_FAILED,
    INVALID = INT_MIN | ERL_NIF_SELECT_INVALID_EVENT
};

static struct events_journal *journal;
static struct th_library *library;
static struct events_object *a, *b;
static th_term inbox;
static int in, out; /* a pipe */
static th_env env;
static unsigned long warnings;

static int begin(void **state)
{
    int ends[2];

    (void)state;
    journal = th_alloc_zero(sizeof *journal);
    journal->name = "x";
    library = events_load(journal, NULL);
    a = events_object(journal, EVENTS_FULL, 1);
    b = events_object(journal, EVENTS_OTHER, 2);
    inbox = inbox_open();
    th_env_init(&env, TH_ENV_PLAIN);
    warnings = th_warnings();
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    in = ends[0];
    out = ends[1];
    return 0;
}

static void give_up(void *object)
{
    if (object)
        th_resource_release(object);
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    th_poll_select_end();
    give_up(a);
    give_up(b);
    th_resource_reap();
    inbox_close();
    th_library_release(library);
    th_free(journal);
    close(in);
    close(out);
    return 0;
}

static int call_to(int fd, int flags, void *object, const struct th_select_message *to)
{
    return th_poll_select(fd, (enum ErlNifSelectFlags)flags, object, to);
}

static int call(int fd, int flags, void *object)
{
    return call_to(fd, flags, object,
                   &(struct th_select_message){.pid = inbox, .ref = TH_AM(undefined)});
}

/* Returns the message for OBJECT. */
static const char *ready(void *object, const char *what)
{
    static char text[200];
    struct th_buffer ref = {0};

    th_text_print(&ref, th_resource_make(&env, object));
    snprintf(text, sizeof text, "{select,%s,undefined,%s}\n", th_buffer_text(&ref), what);
    th_buffer_free(&ref);
    return text;
}

static void put_byte(void)
{
    assert_int_equal(write(out, "x", 1), 1);
}

static void take_byte(void)
{
    char byte;

    assert_int_equal(read(in, &byte, 1), 1);
}

static void assert_warnings(unsigned long count)
{
    assert_int_equal(th_warnings() - warnings, count);
}

/* --- Results ---------------------------------------------------------------------------------- */

struct step {
    int flags;
    struct events_object **object;
    int result;
};

static void run(int fd, const struct step steps[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int result = call(fd, steps[i].flags, *steps[i].object);
        if (result != steps[i].result)
            fail_msg("step %zu: %d instead of %d", i + 1, result, steps[i].result);
    }
}

/* RUN(fd, {flags, &object, result}, ...) */
#define RUN(fd, ...)                              \
    run((fd), (const struct step[]){__VA_ARGS__}, \
        sizeof((const struct step[]){__VA_ARGS__}) / sizeof(struct step))

static void a_stop_needs_no_select(void **state)
{
    (void)state;
    RUN(in, {STOP, &a, CALLED}, {STOP, &a, CALLED});
    assert_string_equal(events_noted(journal), "x:stop 1 direct, x:stop 1 direct");
}

static void cancel_reports_the_cancelled_modes(void **state)
{
    (void)state;
    RUN(in, {CANCEL | READ, &a, 0}, {READ, &a, 0}, {READ, &a, 0}, {CANCEL, &a, 0},
        {CANCEL | WRITE, &a, 0}, {CANCEL | READ, &a, READ_OFF}, {CANCEL | READ, &a, 0});
    RUN(in, {ERROR | READ, &a, 0}, {CANCEL | READ | WRITE | ERROR, &a, READ_OFF | ERROR_OFF});
    put_byte();
    assert_string_equal(inbox_take(), "");
    assert_string_equal(events_noted(journal), "");
}

static void stop_cancels_all_modes(void **state)
{
    (void)state;
    RUN(in, {READ, &a, 0}, {STOP, &a, READ_OFF | CALLED}, {STOP, &a, CALLED}, {READ, &a, 0},
        {CANCEL | READ, &a, READ_OFF}, {STOP, &a, CALLED});
    RUN(in, {ERROR, &a, 0}, {STOP, &a, CALLED}); /* without ERROR_CANCELLED, as in OTP 25 */
    RUN(in, {READ, &a, 0}, {STOP | READ, &a, READ_OFF | CALLED});
    RUN(in, {READ, &a, 0}, {STOP | CANCEL | WRITE, &a, READ_OFF | CALLED});
    put_byte();
    assert_string_equal(inbox_take(), "");
    assert_warnings(0);
}

static void another_resource_takes_a_descriptor_over(void **state)
{
    (void)state;
    RUN(in, {READ, &a, 0}, {READ, &b, 0});
    assert_warnings(1);
    put_byte();
    assert_string_equal(inbox_await(1), ready(b, "ready_input"));
    take_byte();
    RUN(in, {READ, &a, 0}, {STOP, &b, CALLED});
    assert_warnings(3);
    RUN(in, {READ, &a, 0}, {CANCEL | READ, &b, 0}, {CANCEL | READ, &a, 0}, {STOP, &a, CALLED});
    assert_warnings(4);
    RUN(in, {READ, &a, 0}, {0, &b, 0}, {STOP, &a, CALLED});
    assert_warnings(6);
    assert_string_equal(events_noted(journal), "x:stop 2 direct, x:stop 1 direct, x:stop 1 direct");
}

static void numbers_that_are_no_descriptors_are_invalid(void **state)
{
    struct rlimit limit;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    RUN(-1, {READ, &a, INVALID}, {STOP, &a, INVALID}, {CANCEL | READ, &a, INVALID});
    RUN((int)limit.rlim_cur, {READ, &a, INVALID}, {STOP, &a, INVALID});
    assert_string_equal(events_noted(journal), "");
}

static void a_closed_descriptor_is_logged(void **state)
{
    int closed = fcntl(in, F_DUPFD, 200); /* above the poll thread's own descriptors */

    (void)state;
    close(closed);
    RUN(closed, {READ, &a, 0});
    while (th_warnings() == warnings)
        usleep(1000);
    RUN(closed, {CANCEL | READ, &a, 0}, {STOP, &a, CALLED});
    assert_string_equal(inbox_take(), "");
}

static void a_descriptor_closed_since_its_select_fails(void **state)
{
    int closed = dup(in);

    (void)state;
    RUN(closed, {READ, &a, 0});
    close(closed);
    RUN(closed, {READ, &a, 0}, {WRITE, &a, FAILED}, {STOP, &a, READ_OFF | CALLED});
}

static void a_stop_without_a_stop_callback_fails(void **state)
{
    struct events_object *plain = events_object(journal, EVENTS_PLAIN, 3);

    (void)state;
    RUN(in, {READ, &plain, 0}, {STOP, &plain, FAILED}, {CANCEL | READ, &plain, READ_OFF});
    th_resource_release(plain);
}

static void a_select_without_a_receiver_fails(void **state)
{
    struct th_select_message to = {.pid = TH_NONE, .ref = TH_AM(undefined)};

    (void)state;
    assert_int_equal(call_to(in, READ, a, &to), FAILED);
    assert_int_equal(call_to(in, CANCEL | READ, a, &to), 0);
    assert_int_equal(call_to(in, STOP, a, &to), CALLED);
}

/* --- Messages --------------------------------------------------------------------------------- */

static void each_select_gives_one_message(void **state)
{
    (void)state;
    RUN(in, {READ, &a, 0});
    assert_string_equal(inbox_take(), "");
    put_byte();
    assert_string_equal(inbox_await(1), ready(a, "ready_input"));
    RUN(in, {CANCEL | READ, &a, 0}, {READ, &a, 0}); /* still readable */
    assert_string_equal(inbox_await(1), ready(a, "ready_input"));
    usleep(10000);
    assert_string_equal(inbox_take(), "");
}

static void modes_are_independent(void **state)
{
    int ends[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    RUN(ends[0], {READ | WRITE | ERROR, &a, 0});
    assert_string_equal(inbox_await(1), ready(a, "ready_output"));
    RUN(ends[0], {CANCEL | WRITE, &a, 0});
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_string_equal(inbox_await(1), ready(a, "ready_input"));
    close(ends[1]);
    assert_string_equal(inbox_await(1), ready(a, "ready_error"));
    RUN(ends[0], {STOP, &a, CALLED});
    close(ends[0]);
}

static void a_hangup_is_reported_for_all_modes(void **state)
{
    char *expected = th_printf("%s", ready(a, "ready_input"));

    (void)state;
    RUN(in, {READ | ERROR, &a, 0});
    close(out);
    out = -1;
    expected = th_realloc(expected, 400);
    strcat(expected, ready(a, "ready_error"));
    assert_string_equal(inbox_await(2), expected);
    th_free(expected);
    RUN(in, {WRITE, &a, 0});
    assert_string_equal(inbox_await(1), ready(a, "ready_output"));
    RUN(in, {STOP, &a, CALLED});
}

static void the_message_of_the_last_select_is_sent(void **state)
{
    struct th_select_message to = {.pid = inbox, .message = th_small(1)};

    (void)state;
    assert_int_equal(call_to(in, READ, a, &to), 0);
    to.message = th_make_tuple_of(&env, th_small(2), th_make_binary(&env, "two", 3));
    assert_int_equal(call_to(in, READ, a, &to), 0);
    th_env_clear(&env);
    put_byte();
    assert_string_equal(inbox_await(1), "{2,<<\"two\">>}\n");
    usleep(10000);
    assert_string_equal(inbox_take(), "");
}

static void a_message_to_an_ended_process_is_dropped(void **state)
{
    struct th_select_message to = {.pid = TH_AM(undefined), .ref = TH_AM(undefined)};

    (void)state;
    put_byte();
    assert_int_equal(call_to(in, READ, a, &to), 0);
    RUN(out, {WRITE, &a, 0}); /* comes after the first, so both have come then */
    assert_string_equal(inbox_await(1), ready(a, "ready_output"));
    RUN(in, {CANCEL | READ, &a, 0}, {STOP, &a, CALLED});
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_stop_needs_no_select),
        TEST(cancel_reports_the_cancelled_modes),
        TEST(stop_cancels_all_modes),
        TEST(another_resource_takes_a_descriptor_over),
        TEST(numbers_that_are_no_descriptors_are_invalid),
        TEST(a_closed_descriptor_is_logged),
        TEST(a_descriptor_closed_since_its_select_fails),
        TEST(a_stop_without_a_stop_callback_fails),
        TEST(a_select_without_a_receiver_fails),
        TEST(each_select_gives_one_message),
        TEST(modes_are_independent),
        TEST(a_hangup_is_reported_for_all_modes),
        TEST(the_message_of_the_last_select_is_sent),
        TEST(a_message_to_an_ended_process_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
