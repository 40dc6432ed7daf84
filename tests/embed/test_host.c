/* Tests starting and stopping, errors, structures of other versions, terms and processes. */
#include "embedding.h"

#include <signal.h>

static void the_version_equals_the_version_macros(void **state)
{
    char text[32];

    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", TRACEHOST_VERSION_MAJOR, TRACEHOST_VERSION_MINOR,
             TRACEHOST_VERSION_PATCH);
    assert_string_equal(text, tracehost_version_text());
    assert_int_equal(tracehost_version(), TRACEHOST_VERSION);
}

static void a_second_host_is_refused_while_a_host_runs(void **state)
{
    tracehost_host *one = NULL, *other = NULL;
    tracehost_session session;
    const struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = "count"};

    (void)state;
    misused(tracehost_session_create(NULL, &setup, &session), "the host is missing");
    good(tracehost_host_start(NULL, &one));
    misused(tracehost_host_start(NULL, &other), "a host is running already");
    assert_null(other);
    good(tracehost_host_stop(one));
    misused(tracehost_host_stop(one), "the host is not running");
    misused(tracehost_session_create(one, &setup, &session), "the host is not running");
    assert_int_equal(tracehost_session_list(one, 0, NULL, 0), 0);
    good(tracehost_host_stop(NULL));
}

/* Plays a recording with two hosts in turn; the first leaves nothing behind. */
static void a_second_host_repeats_the_replay_of_the_first(void **state)
{
    struct tracehost_replay_counts counts = {.size = sizeof counts};
    tracehost_process *process;
    char first[sizeof inbox] = "";

    (void)state;
    good(tracehost_process_start(receive, NULL, &process));
    for (int turn = 0; turn < 2; turn++) {
        tracehost_session session;
        begin(NULL);
        session = send_to(process, TRACEHOST_FLAGS_EVENTS);
        assert_int_equal(session, FIRST_SESSION);
        good(play(RECORDING("s13_procs"), NULL, &counts));
        assert_int_equal(counts.played, counts.records);
        assert_int_equal(counts_of(session).traced, 5);
        if (turn == 0)
            strcpy(first, inbox);
        end(NULL);
        assert_int_equal(tracehost_session_get_state(host, session), TRACEHOST_SESSION_DEAD);
    }
    assert_string_equal(first, inbox);
    assert_non_null(strstr(first, "{trace,<0.169.0>,wlme}\n"));
    tracehost_process_stop(process);
}

/* --- The guard -------------------------------------------------------------------------------- */

static volatile sig_atomic_t own_signals;

static void on_own_signal(int number)
{
    (void)number;
    own_signals++;
}

/* The program's own handlers are installed before and after, and also run meanwhile, for signals
 * outside of tracers. */
static void the_guard_calls_and_restores_the_handlers_of_the_program(void **state)
{
    const struct tracehost_setup setup = {.size = sizeof setup, .guard = true};
    struct sigaction own = {.sa_handler = on_own_signal}, old, now;

    (void)state;
    own_signals = 0;
    sigaction(SIGFPE, &own, &old);
    for (int turn = 1; turn <= 2; turn++) {
        good(tracehost_host_start(&setup, &host));
        sigaction(SIGFPE, NULL, &now);
        assert_ptr_not_equal(now.sa_handler, on_own_signal);
        raise(SIGFPE);
        assert_int_equal(own_signals, turn);
        good(tracehost_host_stop(host));
        sigaction(SIGFPE, NULL, &now);
        assert_ptr_equal(now.sa_handler, on_own_signal);
    }
    good(tracehost_host_start(NULL, &host));
    sigaction(SIGFPE, NULL, &now);
    assert_ptr_equal(now.sa_handler, on_own_signal);
    good(tracehost_host_stop(host));
    sigaction(SIGFPE, &old, NULL);
}

/* --- Structures ------------------------------------------------------------------------------- */

static void a_setup_without_size_or_with_unknown_members_is_refused(void **state)
{
    struct {
        struct tracehost_setup known;
        uint64_t later;
    } newer = {.known = {.size = sizeof newer}};
    struct tracehost_setup unsized = {.guard = true};

    (void)state;
    misused(tracehost_host_start(&unsized, &host),
            "the size of a struct tracehost_setup is not set");
    good(tracehost_host_start(&newer.known, &host));
    good(tracehost_host_stop(host));
    newer.later = 1;
    misused(tracehost_host_start(&newer.known, &host),
            "a struct tracehost_setup has members set that libtracehost " TH_VERSION
            " does not know");
}

/* An older program gets the fields that it knows; a newer one gets zeros for its own. */
static void older_and_newer_programs_get_results_of_their_size(void **state)
{
    struct {
        struct tracehost_host_counts counts;
        uint64_t later;
    } newer = {.counts = {.size = sizeof newer}, .later = 77};
    struct tracehost_host_counts older = {
        .size = offsetof(struct tracehost_host_counts, mail_dropped), .mail_dropped = 77};

    begin(state);
    good(tracehost_host_get_counts(host, &newer.counts));
    assert_int_equal(newer.later, 0);
    assert_int_equal(newer.counts.size, sizeof newer);
    good(tracehost_host_get_counts(host, &older));
    assert_int_equal(older.mail_dropped, 77);
    older.size = 0;
    misused(tracehost_host_get_counts(host, &older),
            "the size of a struct tracehost_host_counts is not set");
    misused(tracehost_host_get_counts(host, NULL),
            "the argument struct tracehost_host_counts is missing");
    end(state);
}

static void missing_and_invalid_arguments_are_refused(void **state)
{
    const char *folders[] = {NULL};
    struct tracehost_setup setup = {.size = sizeof setup, .folders = folders, .folder_count = 1};

    (void)state;
    misused(tracehost_host_start(NULL, NULL), "the result is missing");
    misused(tracehost_host_start(&setup, &host), "the name of a folder is missing");
    setup.folder_count = 0;
    setup.clock = (enum tracehost_clock)2;
    misused(tracehost_host_start(&setup, &host), "`clock` must be a TRACEHOST_CLOCK value, not 2");
    begin(NULL);
    misused(tracehost_host_add_folder(host, NULL), "the folder is missing");
    misused(tracehost_host_visit_tracers(host, NULL, NULL), "the function that visits is missing");
    misused(tracehost_host_delivered(host, 0, NULL, NULL), "the function to be called is missing");
    misused(tracehost_process_start(NULL, NULL, NULL), "the result is missing");
    end(NULL);
}

/* --- Errors as text --------------------------------------------------------------------------- */

static void error_text_is_truncated_and_returns_the_whole_length(void **state)
{
    char text[8];

    (void)state;
    assert_int_equal(tracehost_error_text(text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(tracehost_error_status(), TRACEHOST_OK);
    assert_int_equal(tracehost_host_stop((tracehost_host *)text), TRACEHOST_USAGE);
    assert_int_equal(tracehost_error_text(text, sizeof text), strlen("the host is not running"));
    assert_string_equal(text, "the hos");
    assert_int_equal(tracehost_error_text(NULL, 0), strlen("the host is not running"));
    assert_null(tracehost_error_link(1));
    tracehost_error_clear();
    assert_null(tracehost_error_link(0));
}

/* --- Terms ------------------------------------------------------------------------------------ */

static void terms_are_parsed_and_printed(void **state)
{
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM term = 77;
    char *text;

    (void)state;
    good(tracehost_term_parse(env, "{ok,[<0.95.0>,\"text\",1.5,#{a => <<1,2>>}]}.", &term));
    text = tracehost_term_to_text(term);
    assert_string_equal(text, "{ok,[<0.95.0>,\"text\",1.5,#{a => <<1,2>>}]}");
    tracehost_free(text);
    assert_int_equal(tracehost_term_parse(env, "{ok,", &term), TRACEHOST_MALFORMED);
    assert_non_null(strstr(tracehost_error_link(0), "line 1"));
    tracehost_error_clear();
    assert_null(tracehost_term_to_text(0));
    misused(tracehost_term_parse(env, NULL, &term), "the text is missing");
    misused(tracehost_term_parse(NULL, "a", &term), "the environment is missing");
    enif_free_env(env);
}

/* --- Tracers that can be found ---------------------------------------------------------------- */

static void note_found(void *context, const struct tracehost_found *found)
{
    if (strcmp(found->name, "erl_msg_tracer") == 0) {
        assert_non_null(strstr(found->path, "samples/erl_msg_tracer.so"));
        assert_int_equal(found->shadowed, *(int *)context > 0);
        (*(int *)context)++;
    }
    misused(tracehost_host_stop(host), "this function cannot be called in a callback");
}

static void tracers_are_found_in_added_folders(void **state)
{
    int found = 0;

    good(tracehost_host_start(NULL, &host));
    good(tracehost_host_visit_tracers(host, note_found, &found));
    assert_int_equal(found, 0);
    good(tracehost_host_add_folder(host, build_folder("samples")));
    good(tracehost_host_visit_tracers(host, note_found, &found));
    assert_int_equal(found, 1);
    end(state);
}

/* --- Processes -------------------------------------------------------------------------------- */

static void a_process_receives_messages_until_its_stop(void **state)
{
    ErlNifEnv *env = enif_alloc_env();
    tracehost_process *process;
    ErlNifPid pid;

    (void)state;
    inbox[0] = 0;
    good(tracehost_process_start(receive, NULL, &process));
    assert_true(enif_get_local_pid(env, tracehost_process_pid(process), &pid));
    assert_true(enif_send(NULL, &pid, NULL, enif_make_tuple2(env, atom("hello"), pid.pid)));
    assert_int_equal(strncmp(inbox, "{hello,<0.", 10), 0);
    tracehost_process_stop(process);
    assert_false(enif_is_process_alive(env, &pid));
    assert_false(enif_send(NULL, &pid, NULL, atom("late")));
    tracehost_process_stop(NULL);
    enif_free_env(env);
}

static void messages_to_the_console_are_printed(void **state)
{
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);
    ErlNifPid pid;

    (void)state;
    tracehost_console_set_output(out);
    assert_true(enif_get_local_pid(NULL, tracehost_console_pid(), &pid));
    assert_true(enif_send(NULL, &pid, NULL, atom("hello")));
    tracehost_console_set_output(NULL);
    fclose(out);
    assert_string_equal(printed, "hello\n");
    free(printed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_equals_the_version_macros),
        cmocka_unit_test(a_second_host_is_refused_while_a_host_runs),
        cmocka_unit_test(a_second_host_repeats_the_replay_of_the_first),
        cmocka_unit_test(the_guard_calls_and_restores_the_handlers_of_the_program),
        cmocka_unit_test(a_setup_without_size_or_with_unknown_members_is_refused),
        cmocka_unit_test(older_and_newer_programs_get_results_of_their_size),
        cmocka_unit_test(missing_and_invalid_arguments_are_refused),
        cmocka_unit_test(error_text_is_truncated_and_returns_the_whole_length),
        cmocka_unit_test(terms_are_parsed_and_printed),
        cmocka_unit_test(tracers_are_found_in_added_folders),
        cmocka_unit_test(a_process_receives_messages_until_its_stop),
        cmocka_unit_test(messages_to_the_console_are_printed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
