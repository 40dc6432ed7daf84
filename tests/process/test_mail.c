/* Tests the host's own processes, and messages to these and to recorded ones, by threads. */
#include "host/process/process.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stddef.h>

enum { SENDERS = 4, MESSAGES = 10000, PROCESSES = 1000 };

struct mailbox {
    size_t count;
    th_term last;
};

static void receive(void *context, th_term message)
{
    struct mailbox *mailbox = context;

    mailbox->count++;
    mailbox->last = message;
}

static void a_live_process_receives_messages(void **state)
{
    struct mailbox mailbox = {0};
    struct th_mailbox *process = th_process_start(receive, &mailbox);
    th_term pid = th_process_pid(process);

    (void)state;
    assert_true(th_is_local_pid(pid));
    assert_order(th_local_pid_serial(pid), >=, TH_HOST_SERIAL);
    assert_true(th_process_alive(pid));
    assert_true(th_process_send(pid, TH_AM(ok)));
    assert_int_equal(mailbox.count, 1);
    assert_term_equal(mailbox.last, TH_AM(ok));
    th_process_exit(process, TH_AM(normal));
}

static void a_stopped_process_is_dead_for_ever(void **state)
{
    struct mailbox mailbox = {0};
    struct th_mailbox *process = th_process_start(receive, &mailbox);
    th_term pid = th_process_pid(process);
    struct th_mailbox *next;

    (void)state;
    th_process_exit(process, TH_AM(normal));
    assert_false(th_process_alive(pid));
    assert_false(th_process_send(pid, TH_AM(ok)));
    next = th_process_start(receive, &mailbox);
    assert_int_not_equal(th_process_pid(next), pid);
    assert_false(th_process_alive(pid));
    assert_false(th_process_send(pid, TH_AM(ok)));
    assert_int_equal(mailbox.count, 0);
    th_process_exit(next, TH_AM(normal));
}

/* Identifiers that no process has had, in an allocated page and beyond all pages. */
static void an_identifier_that_was_never_used_is_dead(void **state)
{
    struct mailbox mailbox = {0};
    struct th_mailbox *process = th_process_start(receive, &mailbox);
    th_term pid = th_process_pid(process);
    uint32_t number = th_local_pid_number(pid), serial = th_local_pid_serial(pid);
    const th_term never[] = {th_local_pid(number, serial + 1), th_local_pid(number + 20000, serial),
                             th_local_pid(number, serial + 1000)};

    (void)state;
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        assert_false(th_process_alive(never[i]));
        assert_false(th_process_send(never[i], TH_AM(ok)));
        assert_false(th_process_monitor_start(&(struct th_monitor){0}, never[i]));
    }
    assert_int_equal(mailbox.count, 0);
    th_process_exit(process, TH_AM(normal));
}

static void each_of_many_processes_gets_its_own_message(void **state)
{
    static struct mailbox mailboxes[PROCESSES];
    struct th_mailbox *processes[PROCESSES];

    (void)state;
    for (size_t i = 0; i < PROCESSES; i++)
        processes[i] = th_process_start(receive, &mailboxes[i]);
    for (size_t i = 0; i < PROCESSES; i++)
        assert_true(th_process_send(th_process_pid(processes[i]), th_small((int64_t)i)));
    for (size_t i = 0; i < PROCESSES; i++) {
        assert_int_equal(mailboxes[i].count, 1);
        assert_int_equal(th_small_value(mailboxes[i].last), i);
        th_process_exit(processes[i], TH_AM(normal));
    }
}

static void messages_to_recorded_processes_are_counted_and_dropped(void **state)
{
    uint64_t before = th_process_mail_dropped();

    (void)state;
    th_process_world_reset(NULL);
    assert_true(th_process_send(th_local_pid(1, 0), TH_AM(ok)));
    assert_int_equal(th_process_mail_dropped(), before + 1);
    th_process_world_end(th_local_pid(1, 0));
    assert_false(th_process_send(th_local_pid(1, 0), TH_AM(ok)));
    assert_int_equal(th_process_mail_dropped(), before + 1);
}

static void only_pids_of_this_node_can_receive_messages(void **state)
{
    (void)state;
    assert_false(th_process_send(TH_AM(console), TH_AM(ok)));
    assert_false(th_process_send(th_local_port(1), TH_AM(ok)));
    assert_false(th_process_send(TH_NIL, TH_AM(ok)));
}

static void host_processes_survive_a_new_world(void **state)
{
    struct mailbox mailbox = {0};
    struct th_mailbox *process = th_process_start(receive, &mailbox);

    (void)state;
    th_process_world_reset(NULL);
    assert_true(th_process_send(th_process_pid(process), TH_AM(ok)));
    th_process_exit(process, TH_AM(normal));
}

static void *send_many(void *pid)
{
    size_t sent = 0;

    for (size_t i = 0; i < MESSAGES; i++) {
        sent += th_process_send(*(th_term *)pid, TH_AM(ok));
        if (!th_process_alive(*(th_term *)pid))
            break;
    }
    return (void *)sent;
}

static size_t run_senders(th_term pid, void (*meanwhile)(void *), void *context)
{
    pthread_t threads[SENDERS];
    size_t sent = 0;
    void *result;

    for (size_t i = 0; i < SENDERS; i++)
        pthread_create(&threads[i], NULL, send_many, &pid);
    if (meanwhile)
        meanwhile(context);
    for (size_t i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], &result);
        sent += (size_t)result;
    }
    return sent;
}

static void no_message_of_parallel_senders_is_lost(void **state)
{
    struct mailbox mailbox = {0};
    struct th_mailbox *process = th_process_start(receive, &mailbox);

    (void)state;
    assert_int_equal(run_senders(th_process_pid(process), NULL, NULL), SENDERS * MESSAGES);
    assert_int_equal(mailbox.count, SENDERS * MESSAGES);
    th_process_exit(process, TH_AM(normal));
}

static void stop(void *process)
{
    th_process_exit(process, TH_AM(normal));
}

static void no_message_is_delivered_after_the_exit(void **state)
{
    struct mailbox mailbox = {0};
    struct th_mailbox *process = th_process_start(receive, &mailbox);
    size_t sent = run_senders(th_process_pid(process), stop, process);

    (void)state;
    assert_int_equal(mailbox.count, sent);
}

static void end_many(void *unused)
{
    (void)unused;
    for (uint32_t i = 2; i < MESSAGES; i++)
        th_process_world_end(th_local_pid(i * 1000, 0));
    th_process_world_end(th_local_pid(1, 0));
}

static void threads_can_send_while_recorded_processes_end(void **state)
{
    (void)state;
    th_process_world_reset(NULL);
    run_senders(th_local_pid(1, 0), end_many, NULL);
    assert_false(th_process_alive(th_local_pid(1, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_live_process_receives_messages),
        cmocka_unit_test(a_stopped_process_is_dead_for_ever),
        cmocka_unit_test(an_identifier_that_was_never_used_is_dead),
        cmocka_unit_test(each_of_many_processes_gets_its_own_message),
        cmocka_unit_test(messages_to_recorded_processes_are_counted_and_dropped),
        cmocka_unit_test(only_pids_of_this_node_can_receive_messages),
        cmocka_unit_test(host_processes_survive_a_new_world),
        cmocka_unit_test(no_message_of_parallel_senders_is_lost),
        cmocka_unit_test(no_message_is_delivered_after_the_exit),
        cmocka_unit_test(threads_can_send_while_recorded_processes_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
