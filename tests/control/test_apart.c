/* Tests the control socket's server: slow commands run in threads of their own. */
#include "served.h"

#include "host/base/base.h"

#include <semaphore.h>
#include <stdatomic.h>

/* Commands wait at this semaphore. */
static sem_t gate;
static _Atomic int waiting; /* relaxed: only this number matters */

/* Returns its arguments after the gate has opened. */
static enum th_status wait_and_say(void *context, int count, char **arguments, json_t **result)
{
    atomic_fetch_add_explicit(&waiting, 1, memory_order_relaxed);
    while (sem_wait(&gate) != 0)
        ;
    atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
    if (count == 0)
        return fail_always(context, count, arguments, result);
    return say(context, count, arguments, result);
}

static _Atomic int begun, ended; /* relaxed: only these numbers matter */

static void count_begin(void)
{
    atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
}

static void count_end(void)
{
    atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed);
}

static const struct th_control_command commands[] = {
    {.name = "say", .arguments = any_words, .help = "", .carry_out = say},
    {.name = "wait",
     .arguments = any_words,
     .help = "",
     .carry_out = wait_and_say,
     .takes_long = true},
};
static const struct th_control_command *const command_list[] = {&commands[0], &commands[1], NULL};

static void until_waiting(int count)
{
    while (atomic_load_explicit(&waiting, memory_order_relaxed) != count)
        usleep(1000);
}

static int ask_to_wait(const char *text)
{
    char *request = th_printf("{\"command\":\"wait\",\"arguments\":[%s]}\n", text);
    int fd = open_socket();

    get(fd);
    put(fd, request);
    th_free(request);
    return fd;
}

/* Other clients get answers meanwhile; the next request of the same client waits. */
static void a_slow_command_does_not_delay_other_clients(void **state)
{
    int first, second;

    (void)state;
    sem_init(&gate, 0, 0);
    first = ask_to_wait("\"a\"");
    put(first, "{\"command\":\"say\",\"arguments\":[\"behind\"]}\n");
    second = ask_to_wait("");
    until_waiting(2);
    assert_answer("{\"command\":\"say\"}", "{\"id\":null,\"ok\":true,\"result\":[]}");
    assert_int_equal(th_control_counts(control).requests, 3);
    sem_post(&gate);
    sem_post(&gate);
    assert_string_equal(get(first), "{\"id\":null,\"ok\":true,\"result\":[\"a\"]}");
    assert_string_equal(get(first), "{\"id\":null,\"ok\":true,\"result\":[\"behind\"]}");
    assert_non_null(strstr(get(second), "\"error\":[\"what was tried\",\"the cause ?\"]"));
    close(first);
    close(second);
}

/* Commands without clients count for the limit of running commands, too. */
static void commands_continue_after_their_clients_disconnect(void **state)
{
    (void)state;
    sem_init(&gate, 0, 0);
    for (int i = 1; i <= TH_CONTROL_APART; i++) {
        close(ask_to_wait("\"x\""));
        until_waiting(i);
    }
    assert_answer(
        "{\"command\":\"wait\",\"arguments\":[]}",
        "{\"id\":null,\"ok\":false,\"status\":1,\"error\":[\"64 long commands are running; "
        "try again later\"]}");
    sem_post(&gate);
    until_waiting(TH_CONTROL_APART - 1);
    for (int i = 1; i < TH_CONTROL_APART; i++)
        sem_post(&gate);
}

/* The client of a running command gets the answer although the server ends. */
static void the_server_end_waits_for_running_commands(void **state)
{
    int fd;

    (void)state;
    sem_init(&gate, 0, 0);
    fd = ask_to_wait("\"late\"");
    until_waiting(1);
    sem_post(&gate);
    th_control_end(control);
    assert_string_equal(get(fd), "{\"id\":null,\"ok\":true,\"result\":[\"late\"]}");
    assert_string_equal(get(fd), "");
    close(fd);
    assert_int_equal(th_control_begin(&setup, &control), TH_OK);
}

static void each_command_thread_calls_the_begin_and_end_hooks(void **state)
{
    (void)state;
    sem_init(&gate, 0, 0);
    sem_post(&gate);
    begun = ended = 0;
    th_control_end(control);
    setup.begin = count_begin;
    setup.end = count_end;
    assert_int_equal(th_control_begin(&setup, &control), TH_OK);
    close(ask_to_wait("\"x\""));
    assert_answer("{\"command\":\"say\"}", "{\"id\":null,\"ok\":true,\"result\":[]}");
    th_control_end(control);
    setup.begin = setup.end = NULL;
    assert_int_equal(begun, 2);
    assert_int_equal(ended, 2);
    assert_int_equal(th_control_begin(&setup, &control), TH_OK);
}

/* No client that waits for an answer is disconnected. */
static void a_client_beyond_the_limit_is_refused_with_a_reason(void **state)
{
    int fds[TH_CONTROL_CLIENTS], fd;

    (void)state;
    sem_init(&gate, 0, 0);
    for (int i = 0; i < TH_CONTROL_CLIENTS; i++)
        fds[i] = ask_to_wait("\"a\"");
    until_waiting(TH_CONTROL_CLIENTS);
    fd = open_socket();
    assert_non_null(strstr(get(fd), "there are too many clients"));
    assert_string_equal(get(fd), "");
    close(fd);
    assert_int_equal(th_control_counts(control).refused, 1);
    for (int i = 0; i < TH_CONTROL_CLIENTS; i++)
        sem_post(&gate);
    for (int i = 0; i < TH_CONTROL_CLIENTS; i++) {
        assert_string_equal(get(fds[i]), "{\"id\":null,\"ok\":true,\"result\":[\"a\"]}");
        close(fds[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_slow_command_does_not_delay_other_clients, begin, end),
        cmocka_unit_test_setup_teardown(commands_continue_after_their_clients_disconnect, begin,
                                        end),
        cmocka_unit_test_setup_teardown(the_server_end_waits_for_running_commands, begin, end),
        cmocka_unit_test_setup_teardown(each_command_thread_calls_the_begin_and_end_hooks, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_client_beyond_the_limit_is_refused_with_a_reason, begin,
                                        end),
    };

    setup.commands = command_list;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
