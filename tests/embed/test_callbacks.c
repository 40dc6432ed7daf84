/* Tests tracers that are functions of the program: what their callbacks get, and their end. */
#include "embedding.h"

#include "host/trace/trace.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, CALLS = 5000 };

static struct log {
    tracehost_stream *stream; /* the same stream once more, read record by record */
    ErlNifEnv *env;
    unsigned asked, traced, ends;
    enum tracehost_answer answer;
    tracehost_session session;
    const char *destroys_at; /* the tag at which `trace` ends its session */
} seen;

static void clear(void)
{
    seen = (struct log){0};
}

static enum tracehost_answer enabled(void *context, const struct tracehost_event *event)
{
    struct log *log = context;

    assert_true(enif_is_identical(event->tag_term, atom(event->tag)));
    assert_true(event->term == 0 && event->extra == 0 && event->match_spec_result == 0);
    assert_true(event->scheduler_id == 0 && event->time_kind == TRACEHOST_TIME_NONE);
    assert_int_equal(event->size, sizeof *event);
    log->asked++;
    return log->answer;
}

static void end_log(void *context)
{
    ((struct log *)context)->ends++;
}

static void count(void *context, const struct tracehost_event *event)
{
    struct log *log = context;

    log->traced++;
    if (log->destroys_at && strcmp(event->tag, log->destroys_at) == 0)
        good(tracehost_session_destroy(host, event->session));
}

static tracehost_session trace_with(const struct tracehost_callbacks *callbacks)
{
    const struct tracehost_session_setup setup = {.size = sizeof setup,
                                                  .callbacks = callbacks,
                                                  .state_text = "{my,state}",
                                                  .recorded_flags = TRACEHOST_FLAGS_EVENTS |
                                                                    TRACEHOST_FLAG_AS_RECORDED};
    tracehost_session session = 0;

    good(tracehost_session_create(host, &setup, &session));
    return session;
}

/* --- The parts of events ---------------------------------------------------------------------- */

/* Asserts that the members, put together, are the record. */
static void compare_with_record(void *context, const struct tracehost_event *event)
{
    struct log *log = context;
    bool is_seq_trace = strcmp(event->tag, "seq_trace") == 0;
    struct th_event made = {
        .kind = is_seq_trace                              ? TH_EVENT_SEQ_TRACE
                : event->time_kind == TRACEHOST_TIME_NONE ? TH_EVENT_TRACE
                                                          : TH_EVENT_TRACE_TS,
        .decoded = true,
        .tracee = event->tracee,
        .label = event->tracee,
        .term = event->term,
        .extra = event->extra,
        .match_spec_result = event->match_spec_result,
        .scheduler_id = event->scheduler_id,
        .time = {.kind = (enum th_time_kind)event->time_kind, .ns = event->time},
    };
    ERL_NIF_TERM record, tuple;
    char *text;

    log->traced++;
    assert_int_equal(event->session, log->session);
    text = tracehost_term_to_text(event->state);
    assert_string_equal(text, "{my,state}");
    tracehost_free(text);
    good(tracehost_stream_next(log->stream, NULL));
    good(tracehost_stream_get_term(log->stream, log->env, &record));
    made.tag = th_trace_tag_of(event->tag_term);
    if (event->time_kind == TRACEHOST_TIME_STRICT_MONOTONIC) { /* has one more integer */
        const ERL_NIF_TERM *elements, *time;
        long unique;
        int arity;
        assert_true(enif_get_tuple(log->env, record, &arity, &elements));
        assert_true(enif_get_tuple(log->env, elements[arity - 1], &arity, &time));
        assert_true(enif_get_int64(log->env, time[1], &unique));
        made.time.unique = unique;
    }
    tuple = th_trace_event_to_tuple(&made, log->env);
    if (!enif_is_identical(tuple, record)) {
        char *expected = tracehost_term_to_text(record), *got = tracehost_term_to_text(tuple);
        assert_string_equal(got, expected);
        fail();
    }
    enif_clear_env(log->env);
}

static void play_and_compare(const char *name, uint64_t *numbers)
{
    const struct tracehost_callbacks callbacks = {.size = sizeof callbacks,
                                                  .context = &seen,
                                                  .enabled = enabled,
                                                  .trace = compare_with_record,
                                                  .end = end_log};
    struct tracehost_replay_counts counts = {.size = sizeof counts};

    clear();
    seen.env = enif_alloc_env();
    seen.session = trace_with(&callbacks);
    good(tracehost_stream_open(name, NULL, &seen.stream));
    good(play(name, NULL, &counts));
    good(tracehost_stream_close(seen.stream));
    assert_int_equal(seen.traced, counts.records);
    assert_int_equal(counts_of(seen.session).traced, counts.records);
    assert_int_equal(counts_of(seen.session).enabled, seen.asked);
    good(tracehost_session_destroy(host, seen.session));
    assert_int_equal(seen.ends, 1);
    enif_free_env(seen.env);
    *numbers += counts.records;
}

static void members_of_an_event_are_those_of_its_record(void **state)
{
    static const char *const recordings[] = {
        RECORDING("s02_seed_global_caller"),
        RECORDING("s03_exceptions_return_to"),
        RECORDING("s04_genserver_pingpong"),
        RECORDING("s06_ports"),
        RECORDING("s08_gc"),
        RECORDING("s10_seq_trace"),
        RECORDING("s11_mnesia_arity"),
        RECORDING("s13_procs"),
        RECORDING("s15_kitchen_sink"),
        RECORDING("s16_terms"),
    };
    uint64_t records = 0;

    (void)state;
    for (size_t i = 0; i < sizeof recordings / sizeof recordings[0]; i++)
        play_and_compare(recordings[i], &records);
    assert_in_range(records, 1000, UINT32_MAX);
}

static void compare_number(void *context, const struct tracehost_event *event)
{
    struct log *log = context;

    log->traced++;
    assert_int_equal(event->number, log->traced);
    assert_true(event->extra == 0 && event->match_spec_result == 0);
    if (strcmp(event->tag, "call") == 0) {
        const ERL_NIF_TERM *mfa;
        int arity;
        assert_true(enif_get_tuple(event->env, event->term, &arity, &mfa));
        assert_true(arity == 3 && enif_is_number(event->env, mfa[2]));
    } else if (strcmp(event->tag, "send") == 0) {
        assert_true(enif_is_identical(event->term, atom("undefined")));
    }
    assert_true(event->time_kind != TRACEHOST_TIME_NONE);
}

static void callbacks_for_functions_only_get_no_arguments(void **state)
{
    const struct tracehost_callbacks callbacks = {.size = sizeof callbacks,
                                                  .context = &seen,
                                                  .trace = compare_number,
                                                  .functions_only = true};
    tracehost_session session;

    (void)state;
    clear();
    session = trace_with(&callbacks);
    good(play(RECORDING("s04_genserver_pingpong"), NULL, NULL));
    assert_int_equal(seen.traced, counts_of(session).traced);
    assert_in_range(seen.traced, 100, UINT32_MAX);
    good(tracehost_session_destroy(host, session)); /* without an `end` */
}

/* --- Answers, patterns ------------------------------------------------------------------------ */

static void answers_of_enabled_have_the_effects_of_a_tracer_library(void **state)
{
    const struct tracehost_callbacks callbacks = {.size = sizeof callbacks,
                                                  .context = &seen,
                                                  .enabled = enabled,
                                                  .trace = count,
                                                  .end = end_log};
    struct tracehost_session_counts counts;
    tracehost_session session;

    (void)state;
    for (int answer = TRACEHOST_ANSWER_DISCARD; answer <= 3; answer++) {
        clear();
        seen.answer = answer;
        session = trace_with(&callbacks);
        good(play(RECORDING("s03_exceptions_return_to"), NULL, NULL));
        counts = counts_of(session);
        assert_int_equal(seen.traced, counts.traced);
        assert_int_equal(seen.asked, counts.enabled);
        assert_true(seen.asked > 0 && (answer == TRACEHOST_ANSWER_DISCARD || counts.removed > 0));
        if (answer == TRACEHOST_ANSWER_DISCARD)
            assert_true(counts.discarded == counts.enabled && counts.untraced > 0);
        good(tracehost_session_destroy(host, session));
        assert_int_equal(seen.ends, 1);
    }
}

static void log_calls(void *context, const struct tracehost_event *event)
{
    char *term = tracehost_term_to_text(event->term);
    char *result = tracehost_term_to_text(event->match_spec_result);

    (void)context;
    strcat(inbox, event->tag);
    strcat(inbox, " ");
    strcat(inbox, term);
    if (result) {
        strcat(inbox, " ");
        strcat(inbox, result);
    }
    strcat(inbox, "\n");
    tracehost_free(term);
    tracehost_free(result);
}

static void patterns_select_what_callbacks_get(void **state)
{
    const struct tracehost_callbacks callbacks = {.size = sizeof callbacks, .trace = log_calls};
    const struct tracehost_pattern pattern = {
        .size = sizeof pattern, .function = "ex:rbar/1", .match = "[{[0],[],[{message,zero}]}]"};
    tracehost_session session;

    (void)state;
    inbox[0] = 0;
    session = trace_with(&callbacks);
    good(tracehost_session_set_pattern(host, session, &pattern, NULL));
    good(play(RECORDING("s02_seed_global_caller"), NULL, NULL));
    assert_string_equal(inbox, "call {ex,rbar,[0]} zero\n");
    good(tracehost_session_destroy(host, session));
}

/* The counts are those that `tracehost replay --stats` prints for the same options. */
static void replays_leave_out_short_and_deep_calls(void **state)
{
    const struct tracehost_callbacks callbacks = {
        .size = sizeof callbacks, .context = &seen, .trace = count};
    struct tracehost_replay_options options = {.size = sizeof options, .min_duration = -1};
    struct tracehost_replay_counts counts = {.size = sizeof counts};
    const char *stream_name = RECORDING("s03_exceptions_return_to");
    tracehost_stream *stream;
    tracehost_replay *replay;

    (void)state;
    good(tracehost_stream_open(stream_name, NULL, &stream));
    misused(tracehost_replay_begin(host, stream, &options, &replay),
            "the minimum of durations must not be negative");
    good(tracehost_stream_close(stream));
    clear();
    trace_with(&callbacks);
    options.min_duration = 10000;
    good(play(stream_name, &options, &counts));
    assert_int_equal(seen.traced, 42);
    assert_int_equal(counts.short_calls, 19);
    assert_int_equal(counts.left_ends, 26);
    clear();
    trace_with(&callbacks);
    options.min_duration = 3000;
    options.depth = 3;
    good(play(stream_name, &options, &counts));
    assert_int_equal(seen.traced, 2 * 45); /* both sessions log here */
    assert_int_equal(counts.short_calls, 3);
    assert_int_equal(counts.deep_calls, 16);
    assert_int_equal(counts.left_ends, 23);
}

/* --- The end ---------------------------------------------------------------------------------- */

static void the_end_comes_once_also_if_a_callback_ends_the_session(void **state)
{
    const struct tracehost_callbacks callbacks = {
        .size = sizeof callbacks, .context = &seen, .trace = count, .end = end_log};
    tracehost_session session;

    (void)state;
    clear();
    seen.destroys_at = "spawn";
    session = trace_with(&callbacks);
    assert_int_equal(play(RECORDING("s13_procs"), NULL, NULL), TRACEHOST_OK);
    assert_int_equal(seen.ends, 1);
    assert_int_equal(tracehost_session_get_state(host, session), TRACEHOST_SESSION_DEAD);

    clear();
    trace_with(&callbacks); /* the host's stop ends the session */
    good(tracehost_host_stop(host));
    assert_int_equal(seen.ends, 1);
    begin(state);
}

static void callbacks_that_are_refused_are_not_ended(void **state)
{
    struct tracehost_callbacks callbacks = {.context = &seen, .trace = count, .end = end_log};
    struct tracehost_session_setup setup = {.size = sizeof setup, .callbacks = &callbacks};
    tracehost_session sessions[64], session;
    struct tracehost_session_info info = {.size = sizeof info};

    (void)state;
    clear();
    misused(tracehost_session_create(host, &setup, &session),
            "the size of a struct tracehost_callbacks is not set");
    callbacks.size = sizeof callbacks;
    callbacks.trace = NULL;
    misused(tracehost_session_create(host, &setup, &session), "the callback `trace` is missing");
    callbacks.trace = count;
    setup.state_text = "{";
    assert_int_equal(tracehost_session_create(host, &setup, &session), TRACEHOST_USAGE);
    setup.state_text = NULL;
    for (int i = 0; i < 64; i++)
        good(tracehost_session_create(host, &setup, &sessions[i]));
    misused(tracehost_session_create(host, &setup, &session),
            "cannot attach tracer 'callbacks': there can be at most 64 tracers");
    assert_int_equal(seen.ends, 0);
    good(tracehost_session_get_info(host, sessions[63], &info));
    assert_string_equal(info.tracer, "callbacks");
    for (int i = 0; i < 64; i++)
        good(tracehost_session_destroy(host, sessions[i]));
    assert_int_equal(seen.ends, 64);
    setup.tracer = "mine";
    good(tracehost_session_create(host, &setup, &session));
    good(tracehost_session_get_info(host, session, &info));
    assert_string_equal(info.tracer, "mine");
    good(tracehost_session_destroy(host, session));
}

/* --- Live events ------------------------------------------------------------------------------ */

static atomic_uint live_events, live_ends;

static void count_live(void *context, const struct tracehost_event *event)
{
    (void)context;
    assert_true(event->number == 0);
    assert_true(event->time_kind == TRACEHOST_TIME_MONOTONIC);
    if (strcmp(event->tag, "call") == 0)
        assert_true(event->term != 0);
    else
        assert_true(event->extra != 0);
    atomic_fetch_add_explicit(&live_events, 1, memory_order_relaxed);
}

static void count_live_end(void *context)
{
    (void)context;
    atomic_fetch_add_explicit(&live_ends, 1, memory_order_relaxed);
}

static void *call(void *context)
{
    tracehost_live_function *function = context;
    struct tracehost_live_setup setup = {.size = sizeof setup};
    tracehost_process *process;
    tracehost_live_process *live;

    good(tracehost_process_start(NULL, NULL, &process));
    setup.process = process;
    good(tracehost_live_begin(host, &setup, &live));
    for (int i = 0; i < CALLS; i++) {
        struct tracehost_live_frame frame;
        ERL_NIF_TERM argument = enif_make_int(NULL, i);
        tracehost_live_call(live, function, &argument, true, NULL, &frame);
        tracehost_live_return(live, function, &frame, argument);
    }
    tracehost_live_end(live);
    tracehost_process_stop(process);
    return NULL;
}

/* Plays calls on many threads while a session of callbacks comes and goes, then with one alone. */
static void threads_call_callbacks_while_sessions_end(void **state)
{
    const struct tracehost_callbacks callbacks = {
        .size = sizeof callbacks, .trace = count_live, .end = count_live_end};
    const struct tracehost_session_setup setup = {.size = sizeof setup, .callbacks = &callbacks};
    const struct tracehost_pattern pattern = {
        .size = sizeof pattern, .function = "m:f/1", .match = "r"};
    const uint32_t flags = TRACEHOST_FLAG_CALL | TRACEHOST_FLAG_MONOTONIC_TIMESTAMP;
    const struct tracehost_setup live = {.size = sizeof live, .live = true};
    tracehost_live_function *function;
    tracehost_session session;
    pthread_t threads[THREADS];

    (void)state;
    good(tracehost_host_stop(host));
    good(tracehost_host_start(&live, &host));
    good(tracehost_live_function_begin(host, "m:f/1", &function));
    for (int round = 0; round < 2; round++) {
        bool stays = round == 1;
        atomic_store(&live_events, 0);
        atomic_store(&live_ends, 0);
        if (stays) {
            good(tracehost_session_create(host, &setup, &session));
            good(tracehost_session_trace(host, session, TRACEHOST_PROCESSES_ALL, true, flags));
            good(tracehost_session_set_pattern(host, session, &pattern, NULL));
        }
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, call, function), 0);
        for (unsigned i = 1; i <= 50 && !stays; i++) {
            good(tracehost_session_create(host, &setup, &session));
            good(tracehost_session_trace(host, session, TRACEHOST_PROCESSES_ALL, true, flags));
            good(tracehost_session_set_pattern(host, session, &pattern, NULL));
            good(tracehost_session_destroy(host, session));
            assert_int_equal(atomic_load(&live_ends), i);
        }
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&live_events), 2 * THREADS * CALLS);
    good(tracehost_session_destroy(host, session));
    assert_int_equal(atomic_load(&live_ends), 1);
    good(tracehost_live_function_end(function));
    good(tracehost_host_stop(host));
    begin(state);
}

int main(void)
{
#define WITH_HOST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        WITH_HOST(members_of_an_event_are_those_of_its_record),
        WITH_HOST(callbacks_for_functions_only_get_no_arguments),
        WITH_HOST(answers_of_enabled_have_the_effects_of_a_tracer_library),
        WITH_HOST(patterns_select_what_callbacks_get),
        WITH_HOST(replays_leave_out_short_and_deep_calls),
        WITH_HOST(the_end_comes_once_also_if_a_callback_ends_the_session),
        WITH_HOST(callbacks_that_are_refused_are_not_ended),
        WITH_HOST(threads_call_callbacks_while_sessions_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
