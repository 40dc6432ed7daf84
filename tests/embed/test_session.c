/* Tests sessions and their tracees: refusals, several sessions at once, weak ids. */
#include "embedding.h"

static enum tracehost_status create(const struct tracehost_session_setup *setup)
{
    tracehost_session session = 77;
    enum tracehost_status status = tracehost_session_create(host, setup, &session);

    assert_int_equal(session == 77, status != TRACEHOST_OK);
    return status;
}

static enum tracehost_status create_named(const char *tracer)
{
    const struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = tracer};

    return create(&setup);
}

/* Asserts that WHY is somewhere in the chain. */
static void refused_library(const char *tracer, const char *why)
{
    char text[4096];

    assert_int_equal(create_named(tracer), TRACEHOST_REFUSED);
    tracehost_error_text(text, sizeof text);
    assert_non_null(strstr(text, why));
    tracehost_error_clear();
}

static void unloadable_tracers_are_refused(void **state)
{
    (void)state;
    refused_library("erl_msg_tracr", "there is no library 'erl_msg_tracr'");
    refused_library("./README.md", "the file is text, not a shared object");
    refused_library(build_folder("samples/counter.so"), "it lacks enabled/3 and trace/5");
    misused(create_named(NULL), "the name of a tracer is missing");
    assert_int_equal(tracehost_session_list(host, 0, NULL, 0), 0);
}

static void tracer_states_are_parsed_and_invalid_states_are_refused(void **state)
{
    struct tracehost_session_setup setup = {
        .size = sizeof setup, .tracer = "erl_msg_tracer", .name = "states"};
    struct tracehost_session_info info = {.size = sizeof info};
    tracehost_session session;
    char *text;

    (void)state;
    setup.state_text = "{a,";
    assert_int_equal(create(&setup), TRACEHOST_USAGE);
    assert_int_equal(strncmp(tracehost_error_link(0), "the state is not an Erlang term: ", 29), 0);
    setup.state_options = "a=1";
    misused(create(&setup), "only one of `state`, `state_text` and `state_options` can be given");
    setup.state_text = NULL;
    setup.state_options = "a";
    misused(create(&setup), "'a' is not a KEY=VALUE pair");
    setup.state_options = "level=2,file=x";
    good(tracehost_session_create(host, &setup, &session));
    good(tracehost_session_get_info(host, session, &info));
    text = tracehost_term_to_text(info.state);
    assert_string_equal(text, "#{file => <<\"x\">>,level => 2}");
    assert_string_equal(info.name, "states");
    assert_string_equal(info.tracer, "erl_msg_tracer");
    assert_true(info.attached);
    assert_false(info.patterned);
    tracehost_free(text);
    setup.state_options = NULL;
    setup.recorded_flags = 1u << 25;
    misused(create(&setup), "there is no trace flag 0x2000000");
}

/* The tracer returns `remove`, as its state is a dead process. */
static void a_tracer_that_answers_remove_is_not_attached(void **state)
{
    tracehost_process *process;
    tracehost_session session;
    bool attached = false;
    struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = "erl_msg_tracer"};

    (void)state;
    good(tracehost_process_start(receive, NULL, &process));
    session = send_to(process, 0);
    good(tracehost_session_ask_status(host, session, &attached));
    assert_true(attached);
    setup.state = tracehost_process_pid(process);
    tracehost_process_stop(process);
    good(tracehost_session_ask_status(host, session, &attached));
    assert_false(attached);
    refused(create(&setup), TRACEHOST_FAILED,
            "cannot attach tracer 'erl_msg_tracer': the tracer answered 'remove' to "
            "enabled(trace_status, ...)");
}

/* A tracer's failure is an error of the call that ran the tracer, and of the host's end. */
static void failures_of_a_tracer_are_reported_to_the_caller(void **state)
{
    struct tracehost_session_setup setup = {.size = sizeof setup, .state_text = "attach"};
    struct tracehost_session_info info = {.size = sizeof info};
    tracehost_session session;
    char why[4200], *tracer = strdup(build_folder("tests/tracers/failing.so"));

    setup.tracer = tracer;
    snprintf(why, sizeof why, "cannot attach tracer '%s': it shall not be attached", tracer);
    refused(create(&setup), TRACEHOST_FAILED, why);
    setup.state_text = "event";
    setup.recorded_flags = TRACEHOST_FLAG_SEND;
    good(tracehost_session_create(host, &setup, &session));
    good(play(RECORDING("s05_supervisor_restarts"), NULL, NULL));
    assert_int_equal(counts_of(session).traced, 1);
    good(tracehost_session_get_info(host, session, &info));
    assert_false(info.attached);
    good(tracehost_session_destroy(host, session));
    setup.state_text = "unload";
    good(tracehost_session_create(host, &setup, &session));
    refused(tracehost_session_destroy(host, session), TRACEHOST_FAILED,
            "tracer 'failing' failed: it cannot end");
    refused(tracehost_host_stop(host), TRACEHOST_FAILED, "tracer 'failing' failed: it cannot end");
    begin(state); /* the next host has no such error */
    free(tracer);
}

static void at_most_64_sessions_exist_and_ids_are_not_reused(void **state)
{
    struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = "erl_msg_tracer"};
    tracehost_session sessions[64], listed[64], one;

    (void)state;
    for (int i = 0; i < 64; i++)
        good(tracehost_session_create(host, &setup, &sessions[i]));
    refused(create(&setup), TRACEHOST_USAGE,
            "cannot attach tracer 'erl_msg_tracer': there can be at most 64 tracers");
    assert_int_equal(tracehost_session_list(host, 0, listed, 64), 64);
    assert_memory_equal(listed, sessions, sizeof sessions);
    listed[1] = 77;
    assert_int_equal(tracehost_session_list(host, 0, listed, 1), 64);
    assert_int_equal(listed[1], 77);
    good(tracehost_session_destroy(host, sessions[7]));
    assert_int_equal(tracehost_session_get_state(host, sessions[7]), TRACEHOST_SESSION_DEAD);
    good(tracehost_session_create(host, &setup, &one));
    assert_int_not_equal(one, sessions[7]);
    misused(tracehost_session_destroy(host, sessions[7]), "there is no session 519 any more");
    misused(tracehost_session_destroy(host, 0), "there is no session 0 any more");
}

/* --- Tracees ---------------------------------------------------------------------------------- */

static void trace_flags_are_parsed_from_text(void **state)
{
    uint32_t flags = 0;

    (void)state;
    good(tracehost_flags_parse("call,garbage_collection,strict_monotonic_timestamp", &flags));
    assert_int_equal(flags, TRACEHOST_FLAG_CALL | TRACEHOST_FLAG_GARBAGE_COLLECTION |
                                TRACEHOST_FLAG_STRICT_MONOTONIC_TIMESTAMP);
    assert_int_equal(tracehost_flags_parse("call,reurn_to", &flags), TRACEHOST_USAGE);
    assert_true(flags & TRACEHOST_FLAG_CALL);
    misused(tracehost_flags_parse(NULL, &flags), "the text is missing");
}

static void flags_of_tracees_are_set_and_read(void **state)
{
    const uint32_t wanted = TRACEHOST_FLAG_SEND | TRACEHOST_FLAG_AS_RECORDED;
    tracehost_process *process;
    tracehost_session session;
    uint32_t flags = 77;
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM pid, port;

    (void)state;
    good(tracehost_process_start(receive, NULL, &process));
    session = send_to(process, 0);
    good(tracehost_term_parse(env, "<0.94.0>", &pid));
    good(tracehost_term_parse(env, "#Port<0.5>", &port));
    good(tracehost_session_trace(host, session, TRACEHOST_PROCESSES_EXISTING, true, wanted));
    good(tracehost_session_get_default_flags(host, session, TRACEHOST_PROCESSES_EXISTING, &flags));
    assert_int_equal(flags, wanted);
    good(tracehost_session_get_default_flags(host, session, TRACEHOST_PROCESSES_NEW, &flags));
    assert_int_equal(flags, 0);
    good(tracehost_session_get_flags(host, session, pid, &flags));
    assert_int_equal(flags, wanted);
    good(tracehost_session_get_flags(host, session, port, &flags));
    assert_int_equal(flags, 0);
    good(tracehost_session_trace_one(host, session, pid, false, TRACEHOST_FLAG_AS_RECORDED));
    good(tracehost_session_get_flags(host, session, pid, &flags));
    assert_int_equal(flags, TRACEHOST_FLAG_SEND);
    assert_int_equal(tracehost_session_list(host, pid, NULL, 0), 1);
    assert_int_equal(tracehost_session_list(host, port, NULL, 0), 0);
    tracehost_process_stop(process);
    enif_free_env(env);
}

static void invalid_tracees_and_flags_are_refused(void **state)
{
    const struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = "erl_msg_tracer"};
    tracehost_session session;
    uint32_t flags;
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM pid;

    (void)state;
    good(tracehost_session_create(host, &setup, &session));
    good(tracehost_term_parse(env, "<0.94.0>", &pid));
    misused(tracehost_session_trace(host, session, (enum tracehost_tracees)6, true, 1),
            "the group must be a tracehost_tracees value, not 6");
    misused(tracehost_session_trace(host, session, TRACEHOST_PROCESSES_ALL, true, 1u << 22),
            "there is no trace flag 0x400000");
    assert_int_equal(tracehost_session_trace(host, session, TRACEHOST_PROCESSES_NEW, true,
                                             TRACEHOST_FLAG_CPU_TIMESTAMP),
                     TRACEHOST_USAGE);
    misused(tracehost_session_trace_one(host, session, atom("name"), true, 1),
            "the tracee must be a process or port of the recorded node");
    misused(tracehost_session_trace_one(host, session, 0, true, 1),
            "the tracee must be a process or port of the recorded node");
    misused(tracehost_session_expect(host, session, enif_make_tuple(env, 0), 1),
            "the tracee must be a process or port of the recorded node");
    misused(tracehost_session_get_flags(host, session, pid, NULL), "the result is missing");
    misused(tracehost_session_get_flags(host, session + 64, pid, &flags),
            "there is no session 128 any more");
    enif_free_env(env);
}

/* Expected names apply to this recording and to later ones. */
static void a_process_with_an_expected_name_is_traced(void **state)
{
    tracehost_process *process;
    tracehost_session session;

    (void)state;
    good(tracehost_process_start(receive, NULL, &process));
    session = send_to(process, 0);
    good(tracehost_session_expect(host, session, atom("wl_child"), TRACEHOST_FLAG_SEND));
    good(play(RECORDING("s05_supervisor_restarts"), NULL, NULL));
    assert_string_equal(inbox, "{trace,<0.102.0>,<0.101.0>}\n{trace,<0.103.0>,<0.101.0>}\n"
                               "{trace,<0.104.0>,<0.101.0>}\n{trace,<0.105.0>,<0.101.0>}\n"
                               "{trace,<0.106.0>,<0.101.0>}\n");
    tracehost_process_stop(process);
}

int main(void)
{
#define WITH_HOST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        WITH_HOST(unloadable_tracers_are_refused),
        WITH_HOST(tracer_states_are_parsed_and_invalid_states_are_refused),
        WITH_HOST(a_tracer_that_answers_remove_is_not_attached),
        WITH_HOST(at_most_64_sessions_exist_and_ids_are_not_reused),
        WITH_HOST(trace_flags_are_parsed_from_text),
        WITH_HOST(flags_of_tracees_are_set_and_read),
        WITH_HOST(invalid_tracees_and_flags_are_refused),
        WITH_HOST(a_process_with_an_expected_name_is_traced),
        WITH_HOST(failures_of_a_tracer_are_reported_to_the_caller),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
