/* Tests processes, ports and sending, outside of callbacks and from other threads. */
#include "host/nif/nif.h"
#include "host/process/process.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static ErlNifEnv *env;

static int begin(void **state)
{
    (void)state;
    env = enif_alloc_env();
    return 0;
}

static int end(void **state)
{
    (void)state;
    enif_free_env(env);
    return 0;
}

enum { THREADS = 4, MESSAGES = 2000 };

/* A process of the host that keeps its messages. */
struct mailbox {
    struct th_mailbox *process;
    ErlNifPid pid;
    th_env env;
    th_term last;
    size_t count;
};

static void receive(void *context, th_term message)
{
    struct mailbox *mailbox = context;

    th_env_clear(&mailbox->env);
    mailbox->last = th_copy(&mailbox->env, message);
    mailbox->count++;
}

static void open_mailbox(struct mailbox *mailbox)
{
    mailbox->count = 0;
    mailbox->last = TH_NONE;
    th_env_init(&mailbox->env, TH_ENV_PLAIN);
    mailbox->process = th_process_start(receive, mailbox);
    assert_true(enif_get_local_pid(env, th_process_pid(mailbox->process), &mailbox->pid));
}

static void close_mailbox(struct mailbox *mailbox)
{
    th_process_exit(mailbox->process, TH_AM(normal));
    th_env_release(&mailbox->env);
}

static void only_local_pids_and_ports_are_accepted(void **state)
{
    ErlNifPid pid = {TH_NIL};
    ErlNifPort port = {TH_NIL};
    ERL_NIF_TERM other_pid = th_make_pid(env, TH_AM(nonode), 1, 2, 3);
    ERL_NIF_TERM other_port = th_make_port(env, TH_AM(nonode), 1, 2);

    (void)state;
    assert_false(enif_get_local_pid(env, other_pid, &pid));
    assert_false(enif_get_local_pid(env, th_local_port(1), &pid));
    assert_false(enif_get_local_pid(env, TH_AM(console), &pid));
    assert_false(enif_get_local_port(env, other_port, &port));
    assert_false(enif_get_local_port(env, th_local_pid(1, 0), &port));
    assert_true(pid.pid == TH_NIL && port.port_id == TH_NIL);
    assert_true(enif_is_pid(env, other_pid) && enif_is_port(env, other_port));
    assert_true(enif_get_local_pid(env, th_local_pid(1, 0), &pid));
    assert_term_equal(enif_make_pid(env, &pid), th_local_pid(1, 0));
    assert_true(enif_get_local_port(env, th_local_port(1), &port));
    assert_term_equal(port.port_id, th_local_port(1));
}

static void the_undefined_pid_is_not_alive_and_gets_no_message(void **state)
{
    ErlNifPid pid = {th_local_pid(1, 0)};

    (void)state;
    assert_false(enif_is_pid_undefined(&pid));
    enif_set_pid_undefined(&pid);
    assert_true(enif_is_pid_undefined(&pid));
    assert_term_equal(enif_make_pid(env, &pid), TH_AM(undefined));
    assert_false(enif_is_process_alive(env, &pid));
    assert_false(enif_send(env, &pid, NULL, TH_AM(ok)));
}

static void self_is_the_process_of_the_call(void **state)
{
    ErlNifPid pid = {TH_NIL};

    (void)state;
    assert_null(enif_self(NULL, &pid));
    assert_null(enif_self(env, &pid));
    assert_false(enif_is_current_process_alive(env));
    assert_term_equal(pid.pid, TH_NIL);
    th_process_world_reset(NULL);
    env->self = th_local_pid(5, 0);
    assert_ptr_equal(enif_self(env, &pid), &pid);
    assert_term_equal(pid.pid, th_local_pid(5, 0));
    assert_true(enif_is_current_process_alive(env));
    th_process_world_end(th_local_pid(5, 0));
    assert_false(enif_is_current_process_alive(env));
}

static void processes_and_ports_are_alive_until_they_end(void **state)
{
    ErlNifPid pid = {th_local_pid(5, 0)}, port_as_pid = {th_local_port(5)};
    ErlNifPort port = {th_local_port(5)}, pid_as_port = {th_local_pid(5, 0)};

    (void)state;
    th_process_world_reset(NULL);
    assert_true(enif_is_process_alive(env, &pid));
    assert_true(enif_is_process_alive(NULL, &pid));
    assert_true(enif_is_port_alive(NULL, &port));
    assert_false(enif_is_process_alive(env, &port_as_pid));
    assert_false(enif_is_port_alive(env, &pid_as_port));
    th_process_world_end(pid.pid);
    assert_false(enif_is_process_alive(env, &pid));
    assert_true(enif_is_port_alive(env, &port));
    th_process_world_end(port.port_id);
    assert_false(enif_is_port_alive(env, &port));
}

static void messages_are_delivered_to_a_process_of_the_host(void **state)
{
    struct mailbox mailbox;
    ERL_NIF_TERM message = enif_make_tuple2(env, TH_AM(ok), enif_make_double(env, 1.5));

    (void)state;
    open_mailbox(&mailbox);
    assert_true(enif_send(env, &mailbox.pid, NULL, message));
    assert_true(enif_is_identical(mailbox.last, message));
    assert_true(enif_is_tuple(env, message)); /* the term is still the sender's */
    close_mailbox(&mailbox);
    assert_false(enif_send(env, &mailbox.pid, NULL, message));
}

static void a_message_environment_is_cleared_by_success_only(void **state)
{
    ErlNifEnv *other = enif_alloc_env();
    struct mailbox mailbox;
    ERL_NIF_TERM message, first;

    (void)state;
    open_mailbox(&mailbox);
    first = message = enif_make_tuple2(other, TH_AM(ok), TH_NIL);
    for (int i = 0; i < 3; i++) {
        assert_term_equal(message, first); /* the environment was cleared: the same address */
        assert_true(enif_send(env, &mailbox.pid, other, message));
        assert_int_equal(mailbox.count, i + 1);
        message = enif_make_tuple2(other, TH_AM(ok), TH_NIL);
    }
    close_mailbox(&mailbox);
    assert_false(enif_send(env, &mailbox.pid, other, message));
    assert_true(enif_is_tuple(env, message));
    assert_int_not_equal(enif_make_tuple2(other, TH_AM(ok), TH_NIL), first);
    enif_free_env(other);
}

static void a_message_from_the_environment_of_the_call_is_delivered(void **state)
{
    struct mailbox mailbox;
    th_env call;
    ERL_NIF_TERM message;

    (void)state;
    th_env_init(&call, TH_ENV_CALLBACK);
    message = enif_make_tuple1(&call, TH_AM(ok));
    open_mailbox(&mailbox);
    assert_true(enif_send(&call, &mailbox.pid, &call, message)); /* forbidden, but delivered */
    assert_int_not_equal(enif_make_tuple1(&call, TH_AM(ok)), message);
    close_mailbox(&mailbox);
    th_env_release(&call);
}

static void a_recorded_port_accepts_no_commands(void **state)
{
    ErlNifEnv *other = enif_alloc_env();
    ErlNifPort port = {th_local_port(1)};
    ERL_NIF_TERM message = enif_make_list1(other, TH_NIL);

    (void)state;
    th_process_world_reset(NULL);
    assert_false(enif_port_command(env, &port, other, message));
    assert_false(enif_port_command(env, &port, NULL, message));
    assert_true(enif_is_list(env, message));
    enif_free_env(other);
}

static void a_port_of_the_host_accepts_commands(void **state)
{
    ErlNifEnv *other = enif_alloc_env();
    ErlNifPort port;
    ERL_NIF_TERM good = enif_make_list1(other, th_small('t'));
    ERL_NIF_TERM bad = enif_make_tuple1(env, TH_NIL);
    char *printed;
    size_t size;
    FILE *file = open_memstream(&printed, &size);

    (void)state;
    th_process_console_set_output(file);
    assert_true(enif_get_local_port(env, th_process_port_console(), &port));
    assert_true(enif_is_port_alive(env, &port));
    assert_true(enif_port_command(env, &port, other, good));
    assert_term_equal(enif_make_list1(other, TH_NIL), good); /* the environment was cleared */
    assert_false(enif_port_command(env, &port, NULL, bad));
    assert_true(enif_port_command(env, &port, NULL, enif_make_list1(env, th_small('!'))));
    th_process_console_set_output(NULL);
    fclose(file);
    assert_string_equal(printed, "t!");
    free(printed);
    enif_free_env(other);
}

static void a_name_is_found_as_a_process_or_as_a_port(void **state)
{
    struct mailbox mailbox;
    ErlNifPid pid = {TH_NIL};
    ErlNifPort port = {TH_NIL};

    (void)state;
    th_process_world_reset(NULL);
    open_mailbox(&mailbox);
    assert_false(enif_whereis_pid(env, TH_AM(ok), &pid));
    assert_false(enif_whereis_port(env, TH_AM(ok), &port));
    assert_false(enif_whereis_pid(env, TH_NIL, &pid));
    assert_true(th_process_name_register(TH_AM(ok), mailbox.pid.pid));
    assert_true(th_process_name_register(TH_AM(output), th_process_port_console()));
    assert_false(enif_whereis_port(env, TH_AM(ok), &port));
    assert_false(enif_whereis_pid(env, TH_AM(output), &pid));
    assert_true(pid.pid == TH_NIL && port.port_id == TH_NIL);
    assert_true(enif_whereis_pid(env, TH_AM(ok), &pid));
    assert_int_equal(pid.pid, mailbox.pid.pid);
    assert_true(enif_whereis_port(NULL, TH_AM(output), &port));
    assert_term_equal(port.port_id, th_process_port_console());
    assert_true(th_process_name_unregister(TH_AM(output)));
    close_mailbox(&mailbox);
    assert_false(enif_whereis_pid(env, TH_AM(ok), &pid));
    th_process_world_register(th_local_pid(5, 0), TH_AM(ok));
    assert_true(enif_whereis_pid(env, TH_AM(ok), &pid));
    assert_term_equal(pid.pid, th_local_pid(5, 0));
}

static void *send_many(void *mailbox)
{
    ErlNifEnv *own = enif_alloc_env();
    struct mailbox *to = mailbox;

    for (int i = 0; i < MESSAGES; i++) {
        ERL_NIF_TERM message = enif_make_string(own, "message", ERL_NIF_LATIN1);
        assert_true(enif_is_process_alive(NULL, &to->pid));
        assert_true(enif_send(NULL, &to->pid, own, message));
    }
    enif_free_env(own);
    return NULL;
}

static void any_thread_may_send_messages(void **state)
{
    struct mailbox mailbox;
    pthread_t threads[THREADS];

    (void)state;
    open_mailbox(&mailbox);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, send_many, &mailbox);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(mailbox.count, THREADS * MESSAGES);
    close_mailbox(&mailbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_local_pids_and_ports_are_accepted, begin, end),
        cmocka_unit_test_setup_teardown(the_undefined_pid_is_not_alive_and_gets_no_message, begin,
                                        end),
        cmocka_unit_test_setup_teardown(self_is_the_process_of_the_call, begin, end),
        cmocka_unit_test_setup_teardown(processes_and_ports_are_alive_until_they_end, begin, end),
        cmocka_unit_test_setup_teardown(messages_are_delivered_to_a_process_of_the_host, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_message_environment_is_cleared_by_success_only, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_message_from_the_environment_of_the_call_is_delivered,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_recorded_port_accepts_no_commands, begin, end),
        cmocka_unit_test_setup_teardown(a_port_of_the_host_accepts_commands, begin, end),
        cmocka_unit_test_setup_teardown(a_name_is_found_as_a_process_or_as_a_port, begin, end),
        cmocka_unit_test_setup_teardown(any_thread_may_send_messages, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
