/* Tests processes with a mailbox, which keeps messages in order until they are taken. */
#include "host/base/base.h"
#include "host/process/process.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { SENDERS = 4, MESSAGES = 5000, SHARED_SIZE = 1000 };

static th_env env;
static size_t arrivals; /* guarded by the mailbox's lock */

static int begin(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    arrivals = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    return 0;
}

static void count_arrival(void *context, const struct th_message *message)
{
    (void)context, (void)message;
    arrivals++;
}

static struct th_mailbox *start(void)
{
    return th_process_start_mailbox(count_arrival, NULL, NULL);
}

static void send(struct th_mailbox *to, th_term message)
{
    assert_true(th_process_send(th_process_pid(to), message));
}

static void messages_wait_in_order(void **state)
{
    struct th_mailbox *process = start();
    struct th_message *mail;

    (void)state;
    assert_null(th_process_take(process));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++)
            send(process, th_small(i));
        mail = th_process_take(process);
        for (int i = 0; i < 3; i++) {
            struct th_message *next = mail->next;
            assert_int_equal(th_small_value(mail->term), i);
            th_process_message_free(mail);
            mail = next;
        }
        assert_null(mail);
        assert_null(th_process_take(process));
    }
    th_process_exit(process, TH_AM(normal));
}

static void an_arrival_is_reported_if_the_mailbox_was_empty(void **state)
{
    struct th_mailbox *process = start();
    struct th_message *mail;

    (void)state;
    send(process, TH_AM(ok));
    send(process, TH_AM(ok));
    assert_int_equal(arrivals, 1);
    mail = th_process_take(process);
    th_process_message_free(mail->next);
    th_process_message_free(mail);
    assert_int_equal(arrivals, 1);
    send(process, TH_AM(ok));
    assert_int_equal(arrivals, 2);
    th_process_exit(process, TH_AM(normal));
}

static th_term make_message(th_env *to)
{
    th_term keys[] = {TH_AM(ok)}, values[] = {th_make_float(to, 1.5)};

    return th_make_tuple_of(to, th_make_map(to, keys, values, 1, false),
                            th_make_latin1_string(to, (const unsigned char *)"text", 4),
                            th_make_uint64(to, UINT64_MAX));
}

static void a_message_outlives_the_environment_of_its_term(void **state)
{
    struct th_mailbox *process = start();
    struct th_message *mail;

    (void)state;
    send(process, make_message(&env));
    th_env_release(&env);
    th_env_init(&env, TH_ENV_PLAIN);
    mail = th_process_take(process);
    assert_term_identical(mail->term, make_message(&env));
    assert_null(mail->offheap);
    th_process_message_free(mail);
    th_process_exit(process, TH_AM(normal));
}

static void a_ready_message_is_sent_without_a_copy(void **state)
{
    struct th_mailbox *process = start();
    struct th_message *made = th_process_message_create(TH_AM(ok));
    th_term pid = th_process_pid(process);

    (void)state;
    assert_true(th_process_send_message(pid, made));
    assert_ptr_equal(th_process_take(process), made);
    assert_null(made->next);
    assert_true(th_process_send_message(th_process_console_pid(), made));
    th_process_exit(process, TH_AM(normal));
    assert_false(th_process_send_message(pid, th_process_message_create(TH_AM(ok))));
}

static struct th_magic *object_kept, *object_released;

static void keep(struct th_magic *object)
{
    object_kept = object;
}

static void release(struct th_offheap *self)
{
    object_released = th_magic_owner(self);
}

static void a_freed_message_releases_shared_binaries_and_objects(void **state)
{
    struct th_magic object = {keep, {1, 2, 3}};
    struct th_binary *binary = th_binary_create(SHARED_SIZE);
    struct th_message *message;

    (void)state;
    message = th_process_message_create(
        th_make_tuple_of(&env, th_make_shared_binary(&env, binary, binary->data, 8 * SHARED_SIZE),
                         th_make_magic(&env, &object, release)));
    assert_ptr_equal(object_kept, &object);
    assert_int_equal(atomic_load(&binary->count), 3);
    th_env_release(&env);
    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(atomic_load(&binary->count), 2);
    object_released = NULL;
    th_process_message_free(message);
    assert_int_equal(atomic_load(&binary->count), 1);
    assert_ptr_equal(object_released, &object);
    th_binary_release(binary);
}

static void a_message_is_one_allocation(void **state)
{
    unsigned long before;
    th_term term = make_message(&env);

    (void)state;
    before = th_alloc_count();
    th_process_message_free(th_process_message_create(term));
    assert_int_equal(th_alloc_count(), before + 1);
}

static void an_ended_process_leaves_no_messages(void **state)
{
    struct th_mailbox *process = start(), *next;
    th_term pid = th_process_pid(process);

    (void)state;
    send(process, make_message(&env));
    th_process_exit(process, TH_AM(error));
    assert_false(th_process_alive(pid));
    assert_false(th_process_send(pid, make_message(&env)));
    next = start();
    assert_null(th_process_take(next));
    th_process_exit(next, TH_AM(normal));
}

/* A thread that takes messages; it sleeps until one arrives. */
struct reader {
    struct th_mailbox *process;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool arrived;
};

static void wake(void *context, const struct th_message *message)
{
    struct reader *reader = context;

    (void)message;
    pthread_mutex_lock(&reader->lock);
    reader->arrived = true;
    pthread_cond_signal(&reader->wake);
    pthread_mutex_unlock(&reader->lock);
}

static void *send_numbered(void *argument)
{
    const th_term *pid_and_sender = argument;
    th_env own;

    th_env_init(&own, TH_ENV_PLAIN);
    for (int i = 0; i < MESSAGES; i++) {
        th_env_clear(&own);
        th_process_send(pid_and_sender[0], th_make_tuple_of(&own, pid_and_sender[1], th_small(i)));
    }
    th_env_release(&own);
    return NULL;
}

static void wait_for_mail(struct reader *reader)
{
    pthread_mutex_lock(&reader->lock);
    while (!reader->arrived)
        pthread_cond_wait(&reader->wake, &reader->lock);
    reader->arrived = false;
    pthread_mutex_unlock(&reader->lock);
}

/* Asserts that the messages of each sender are in the order of sending. */
static size_t check_order(struct th_message *mail, int next[SENDERS])
{
    size_t count = 0;

    while (mail) {
        struct th_message *following = mail->next;
        const th_term *elements = th_tuple_elements(mail->term);
        assert_int_equal(th_small_value(elements[1]), next[th_small_value(elements[0])]++);
        th_process_message_free(mail);
        mail = following;
        count++;
    }
    return count;
}

static void a_sleeping_reader_misses_nothing(void **state)
{
    struct reader reader = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};
    pthread_t threads[SENDERS];
    th_term arguments[SENDERS][2];
    int next[SENDERS] = {0};
    size_t count = 0;

    (void)state;
    reader.process = th_process_start_mailbox(wake, &reader, NULL);
    for (int i = 0; i < SENDERS; i++) {
        arguments[i][0] = th_process_pid(reader.process);
        arguments[i][1] = th_small(i);
        pthread_create(&threads[i], NULL, send_numbered, arguments[i]);
    }
    while (count < SENDERS * MESSAGES) {
        wait_for_mail(&reader);
        count += check_order(th_process_take(reader.process), next);
    }
    for (int i = 0; i < SENDERS; i++)
        pthread_join(threads[i], NULL);
    th_process_exit(reader.process, TH_AM(normal));
}

static void a_process_can_exit_while_other_threads_send_to_it(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct th_mailbox *process = start();
        th_term argument[] = {th_process_pid(process), th_small(0)};
        pthread_t thread;

        pthread_create(&thread, NULL, send_numbered, argument);
        send(process, TH_AM(ok));
        th_process_exit(process, TH_AM(normal));
        pthread_join(thread, NULL);
        assert_false(th_process_alive(argument[0]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(messages_wait_in_order, begin, end),
        cmocka_unit_test_setup_teardown(an_arrival_is_reported_if_the_mailbox_was_empty, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_message_outlives_the_environment_of_its_term, begin, end),
        cmocka_unit_test_setup_teardown(a_ready_message_is_sent_without_a_copy, begin, end),
        cmocka_unit_test_setup_teardown(a_freed_message_releases_shared_binaries_and_objects, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_message_is_one_allocation, begin, end),
        cmocka_unit_test_setup_teardown(an_ended_process_leaves_no_messages, begin, end),
        cmocka_unit_test_setup_teardown(a_sleeping_reader_misses_nothing, begin, end),
        cmocka_unit_test_setup_teardown(a_process_can_exit_while_other_threads_send_to_it, begin,
                                        end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
