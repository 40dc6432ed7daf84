/* Tests functions that depend on the callback of the caller: self, the refusal to send to the
 * tracee, the scheduler, the clock. */
#include "host/nif/nif.h"
#include "host/process/process.h"
#include "tests/support/assertions.h"
#include "tests/support/loaded.h"
#include "tests/support/scene.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

/* Runs the test's function in each callback of the trace family. */
static void (*act)(ErlNifEnv *env, const ERL_NIF_TERM argv[]);
static unsigned acted;

static ERL_NIF_TERM callback(const char *name, ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    if (strncmp(name, "enabled", 7) == 0)
        return enif_make_atom(env, "trace");
    assert_int_equal(argc, 5);
    acted++;
    act(env, argv);
    return enif_make_atom(env, "ok");
}

/* Runs WHAT in the callback for the event TUPLE. */
static void in_callback(const char *tuple, void (*what)(ErlNifEnv *env, const ERL_NIF_TERM argv[]))
{
    act = what;
    acted = 0;
    scene_begin(NULL);
    loaded_hook(callback);
    assert_int_equal(scene_trace(tuple), TH_OK);
    assert_int_equal(acted, 1);
    scene_end();
}

static ErlNifPid pid_of(ERL_NIF_TERM term)
{
    ErlNifPid pid;

    assert_true(enif_get_local_pid(NULL, term, &pid));
    return pid;
}

static void *send_from_a_thread(void *pid)
{
    return (void *)(size_t)enif_send(NULL, pid, NULL, TH_AM(ok));
}

static void send_to_tracee(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
    ErlNifEnv *other = enif_alloc_env();
    ERL_NIF_TERM message = enif_make_tuple1(other, TH_AM(ok));
    ErlNifPid tracee = pid_of(argv[2]);
    ErlNifPid somebody = {th_local_pid(999, 0)};
    uint64_t before = th_process_mail_dropped();
    pthread_t thread;
    void *sent;

    assert_false(enif_send(env, &tracee, NULL, TH_AM(ok)));
    assert_false(enif_send(env, &tracee, other, message));
    assert_true(enif_is_tuple(other, message)); /* as after any failure */
    assert_int_equal(th_process_mail_dropped(), before);
    assert_true(enif_send(env, &somebody, NULL, TH_AM(ok)));
    pthread_create(&thread, NULL, send_from_a_thread, &tracee); /* not the callback's own thread */
    pthread_join(thread, &sent);
    assert_true((size_t)sent);
    assert_int_equal(th_process_mail_dropped(), before + 2);
    enif_free_env(other);
}

static void messages_to_the_tracee_are_refused(void **state)
{
    (void)state;
    in_callback("{trace,<0.1.0>,call,{m,f,[]}}", send_to_tracee);
}

static void command_tracee(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
    struct th_session *session = th_trace_session(scene_tracing(), 0);
    ErlNifPort tracee;
    ErlNifPort another = {th_local_port(99)};

    assert_true(enif_get_local_port(env, argv[2], &tracee));
    assert_false(enif_port_command(env, &another, NULL, TH_NIL));
    assert_int_equal(th_trace_session_counts(session).refused, 0);
    assert_false(enif_port_command(env, &tracee, NULL, TH_NIL));
    assert_int_equal(th_trace_session_counts(session).refused, 1);
}

static void port_commands_to_the_tracee_are_refused(void **state)
{
    (void)state;
    in_callback("{trace,#Port<0.5>,closed,normal}", command_tracee);
}

static void look_around(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
    ErlNifPid self;

    assert_non_null(enif_self(env, &self));
    assert_term_equal(self.pid, argv[2]);
    assert_true(enif_is_current_process_alive(env));
    assert_int_equal(enif_scheduler_id(), 1);
}

static void a_callback_runs_as_the_tracee_on_a_scheduler(void **state)
{
    (void)state;
    in_callback("{trace,<0.1.0>,call,{m,f,[]}}", look_around);
    assert_int_equal(enif_scheduler_id(), 0);
}

static void look_without_self(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
    ErlNifPid self;

    (void)argv;
    assert_null(enif_self(env, &self));
    assert_false(enif_is_current_process_alive(env));
    assert_int_equal(enif_scheduler_id(), 1);
}

static void a_receive_callback_has_no_current_process(void **state)
{
    (void)state;
    in_callback("{trace,<0.1.0>,'receive',hello}", look_without_self);
}

static void read_clock(ErlNifEnv *env, const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *now;
    int arity;

    (void)argv;
    assert_int_equal(enif_monotonic_time(ERL_NIF_USEC) + enif_time_offset(ERL_NIF_USEC),
                     1700000000123456);
    for (int i = 0; i < 2; i++) {
        assert_true(enif_get_tuple(env, enif_now_time(env), &arity, &now));
        assert_true(now[0] == th_small(1700) && now[1] == th_small(0) &&
                    now[2] == th_small(123456));
    }
}

static void callbacks_read_the_time_of_the_recorded_event(void **state)
{
    (void)state;
    in_callback("{trace_ts,<0.1.0>,call,{m,f,[]},{1700,0,123456}}", read_clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_to_the_tracee_are_refused),
        cmocka_unit_test(port_commands_to_the_tracee_are_refused),
        cmocka_unit_test(a_callback_runs_as_the_tracee_on_a_scheduler),
        cmocka_unit_test(a_receive_callback_has_no_current_process),
        cmocka_unit_test(callbacks_read_the_time_of_the_recorded_event),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
