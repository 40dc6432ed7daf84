/* Tests streams and replays: damage, bounds, wrong order, calls from inside, stopping. */
#include "embedding.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

/* --- Streams ---------------------------------------------------------------------------------- */

static void unreadable_streams_are_refused(void **state)
{
    tracehost_stream *stream = NULL;

    (void)state;
    assert_int_equal(tracehost_stream_open("no/such.trace", NULL, &stream), TRACEHOST_MALFORMED);
    assert_string_equal(tracehost_error_link(0), "cannot read no/such.trace");
    assert_int_equal(tracehost_stream_open("README.md", NULL, &stream), TRACEHOST_MALFORMED);
    assert_null(stream);
    misused(tracehost_stream_open(NULL, NULL, &stream), "the name is missing");
    misused(tracehost_stream_open("README.md", NULL, NULL), "the result is missing");
    misused(tracehost_stream_next(NULL, NULL), "the stream is missing");
    good(tracehost_stream_close(NULL));
    tracehost_stream_stop(NULL);
}

static char *term_text(tracehost_stream *stream)
{
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM term;
    char *text;

    good(tracehost_stream_get_term(stream, env, &term));
    text = tracehost_term_to_text(term);
    enif_free_env(env);
    return text;
}

static void the_records_of_a_stream_are_read(void **state)
{
    struct tracehost_record record = {.size = sizeof record};
    struct tracehost_stream_info info = {.size = sizeof info};
    ErlNifEnv *env = enif_alloc_env();
    tracehost_stream *stream;
    ERL_NIF_TERM term;
    char *text;

    (void)state;
    good(tracehost_stream_open(RECORDING("s04_genserver_pingpong"), NULL, &stream));
    misused(tracehost_stream_get_term(stream, env, &term),
            "the stream has no current record: read one first");
    good(tracehost_stream_next(stream, NULL));
    good(tracehost_stream_next(stream, &record));
    assert_int_equal(record.number, 2);
    assert_int_equal(record.kind, TRACEHOST_RECORD_TRACE);
    assert_string_equal(record.tag, "call");
    assert_int_equal(record.time_kind, TRACEHOST_TIME_TIMESTAMP);
    good(tracehost_term_parse(env, "<0.94.0>", &term));
    assert_term_equal(record.tracee, term);
    text = term_text(stream);
    assert_int_equal(strncmp(text, "{trace_ts,<0.94.0>,call,{wl,pingpong,[20]},{1795,", 49), 0);
    tracehost_free(text);
    while (tracehost_stream_next(stream, &record) == TRACEHOST_OK)
        ;
    good(tracehost_stream_get_info(stream, &info));
    assert_string_equal(info.format, "trace-port");
    assert_int_equal(info.records, 719);
    assert_int_equal(info.bytes, info.all_bytes);
    assert_term_equal(info.node, atom("nonode@nohost"));
    misused(tracehost_stream_get_term(stream, env, &term),
            "the stream has no current record: read one first");
    good(tracehost_stream_close(stream));
    enif_free_env(env);
}

/* Lines through a pipe, one damaged, one that reports loss. */
static void lines_from_a_pipe_are_read_past_a_damaged_line(void **state)
{
    static const char lines[] = "{\"tracee\":\"<0.1.0>\",\"tag\":\"exit\",\"term\":\"normal\"}\n"
                                "{\"tracee\":\"<0.1.0>\",\"tag\":\"xit\",\"term\":\"normal\"}\n"
                                "{\"drop\":7}\n";
    struct tracehost_record record = {.size = sizeof record};
    struct tracehost_stream_info info = {.size = sizeof info};
    tracehost_stream *stream;
    int ends[2];
    char *text;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], lines, strlen(lines)), strlen(lines));
    close(ends[1]);
    good(tracehost_stream_open_fd(ends[0], "lines", NULL, &stream));
    good(tracehost_stream_next(stream, &record));
    assert_int_equal(record.time_kind, TRACEHOST_TIME_NONE);
    assert_int_equal(tracehost_stream_next(stream, &record), TRACEHOST_MALFORMED);
    assert_int_equal(record.number, 1);
    tracehost_error_clear();
    good(tracehost_stream_next(stream, &record));
    assert_int_equal(record.kind, TRACEHOST_RECORD_DROP);
    assert_int_equal(record.dropped, 7);
    assert_null(record.tag);
    text = term_text(stream);
    assert_string_equal(text, "{drop,7}");
    tracehost_free(text);
    assert_int_equal(tracehost_stream_next(stream, &record), TRACEHOST_END);
    good(tracehost_stream_get_info(stream, &info));
    assert_string_equal(info.format, "jsonl");
    assert_int_equal(info.malformed, 1);
    assert_int_equal(info.drops, 7);
    good(tracehost_stream_close(stream));
}

static void a_refused_descriptor_is_closed(void **state)
{
    const struct tracehost_stream_options options = {.size = 1};
    tracehost_stream *stream;
    int fd = open("README.md", O_RDONLY);

    (void)state;
    misused(tracehost_stream_open_fd(fd, "it", &options, &stream),
            "the size of a struct tracehost_stream_options is not set");
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void *stop_soon(void *stream)
{
    usleep(50 * 1000);
    tracehost_stream_stop(stream);
    return NULL;
}

/* No thread writes to the pipe any more or closes it. */
static void another_thread_stops_a_blocked_read(void **state)
{
    static const char header[] = "{\"tracehost\":1}\n";
    tracehost_stream *stream;
    pthread_t thread;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], header, strlen(header)), strlen(header));
    good(tracehost_stream_open_fd(ends[0], "pipe", NULL, &stream));
    pthread_create(&thread, NULL, stop_soon, stream);
    assert_int_equal(tracehost_stream_next(stream, NULL), TRACEHOST_END);
    assert_int_equal(tracehost_stream_next(stream, NULL), TRACEHOST_END);
    pthread_join(thread, NULL);
    good(tracehost_stream_close(stream));
    close(ends[1]);
}

/* --- Replays ---------------------------------------------------------------------------------- */

static void calls_in_the_wrong_order_are_refused(void **state)
{
    struct tracehost_replay_options options = {.size = sizeof options};
    tracehost_stream *stream, *other;
    tracehost_replay *replay, *second;

    (void)state;
    good(tracehost_stream_open(RECORDING("s13_procs"), NULL, &stream));
    good(tracehost_stream_open(RECORDING("s13_procs"), NULL, &other));
    options.from.kind = (enum tracehost_bound_kind)3;
    misused(tracehost_replay_begin(host, stream, &options, &replay),
            "the kind of a bound must be a tracehost_bound_kind, not 3");
    misused(tracehost_replay_begin(host, NULL, NULL, &replay), "the stream is missing");
    misused(tracehost_replay_begin(NULL, stream, NULL, &replay), "the host is missing");
    good(tracehost_replay_begin(host, stream, NULL, &replay));
    misused(tracehost_replay_begin(host, other, NULL, &second),
            "cannot begin the replay: another replay has not ended");
    misused(tracehost_host_stop(host), "cannot stop the host: a replay has not ended");
    misused(tracehost_stream_close(stream), "cannot close the stream: its replay has not ended");
    misused(tracehost_replay_play(NULL), "the replay is missing");
    misused(tracehost_replay_step(NULL, NULL), "the replay is missing");
    good(tracehost_replay_end(replay));
    good(tracehost_replay_end(NULL));
    good(tracehost_replay_begin(host, other, NULL, &replay));
    good(tracehost_replay_end(replay));
    good(tracehost_stream_close(stream));
    good(tracehost_stream_close(other));
}

static unsigned told;
static char damage[1024];

static void note_damage(void *context, tracehost_replay *replay)
{
    assert_ptr_equal(context, &told);
    told++;
    tracehost_error_text(damage, sizeof damage);
    misused(tracehost_replay_play(replay), "this function cannot be called in a callback");
    misused(tracehost_replay_end(replay), "this function cannot be called in a callback");
    misused(tracehost_host_stop(host), "this function cannot be called in a callback");
}

static void damage_is_reported_and_counted(void **state)
{
    const struct tracehost_replay_options options = {
        .size = sizeof options, .damage = note_damage, .context = &told};
    struct tracehost_replay_counts counts = {.size = sizeof counts};
    tracehost_process *process;

    (void)state;
    told = 0;
    good(tracehost_process_start(receive, NULL, &process));
    send_to(process, TRACEHOST_FLAGS_EVENTS);
    refused(
        play(RECORDING("s22_killed_vm"), &options, &counts), TRACEHOST_PARTIAL,
        RECORDING("s22_killed_vm") " is damaged: of 1156 records 0 were skipped, and the stream is "
                                   "truncated or damaged in 1 places: record 1157 at byte 131019 "
                                   "is truncated: the input ends after 48 of the record's 109 "
                                   "bytes");
    assert_int_equal(told, 1);
    assert_string_equal(damage, "record 1157 at byte 131019 is truncated: the input ends after 48 "
                                "of the record's 109 bytes");
    assert_int_equal(counts.records, 1156);
    assert_int_equal(counts.played, 1156);
    assert_int_equal(counts.damages, 1);
    tracehost_process_stop(process);
}

static void a_replay_can_be_played_record_by_record(void **state)
{
    struct tracehost_record record = {.size = sizeof record};
    struct tracehost_replay_counts counts = {.size = sizeof counts};
    tracehost_process *process;
    tracehost_stream *stream;
    tracehost_replay *replay;
    char *text;

    (void)state;
    good(tracehost_process_start(receive, NULL, &process));
    send_to(process, TRACEHOST_FLAGS_EVENTS);
    good(tracehost_stream_open(RECORDING("trunc_body"), NULL, &stream));
    good(tracehost_replay_begin(host, stream, NULL, &replay));
    good(tracehost_replay_step(replay, &record));
    assert_int_equal(record.number, 1);
    text = term_text(stream);
    assert_string_equal(text, "{trace,<0.79.0>,call,{ex,foo,[]},{rec,w,0}}");
    tracehost_free(text);
    for (int i = 1; i < 14; i++)
        good(tracehost_replay_step(replay, NULL));
    assert_int_equal(tracehost_replay_step(replay, &record), TRACEHOST_PARTIAL);
    assert_string_equal(tracehost_error_link(0), "record 15 at byte 1172 is truncated");
    assert_int_equal(record.number, 1);
    tracehost_error_clear();
    assert_int_equal(tracehost_replay_step(replay, &record), TRACEHOST_END);
    good(tracehost_replay_play(replay));
    good(tracehost_replay_get_counts(replay, &counts));
    assert_int_equal(counts.played, 14);
    assert_int_equal(counts.damages, 1);
    good(tracehost_replay_end(replay));
    misused(tracehost_stream_get_term(stream, NULL, NULL), "the environment is missing");
    good(tracehost_stream_close(stream));
    tracehost_process_stop(process);
}

static void bounds_limit_the_played_records(void **state)
{
    struct tracehost_replay_options options = {.size = sizeof options};
    struct tracehost_replay_counts counts = {.size = sizeof counts};
    tracehost_process *process;
    tracehost_session session;

    (void)state;
    good(tracehost_process_start(receive, NULL, &process));
    session = send_to(process, TRACEHOST_FLAGS_EVENTS);
    options.max_events = 100;
    good(play(RECORDING("s04_genserver_pingpong"), &options, &counts));
    assert_int_equal(counts.records, 100);
    options.max_events = 0;
    options.to = (struct tracehost_bound){TRACEHOST_BOUND_RELATIVE, 60000};
    good(play(RECORDING("s04_genserver_pingpong"), &options, &counts));
    assert_int_equal(counts.records, 719);
    assert_int_equal(counts.played + counts.skipped, 719);
    assert_in_range(counts.played, 2, 100);
    options.from = (struct tracehost_bound){TRACEHOST_BOUND_ABSOLUTE, INT64_MAX};
    good(play(RECORDING("s04_genserver_pingpong"), &options, &counts));
    assert_int_equal(counts.played, 0);
    good(tracehost_session_destroy(host, session));
    good(play(RECORDING("s04_genserver_pingpong"), NULL, &counts));
    assert_in_range(counts.records, 0, 1); /* no session gets events */
    tracehost_process_stop(process);
}

static unsigned steps;

static void stop_after_three(void *context, tracehost_replay *replay)
{
    (void)replay;
    if (++steps == 3)
        tracehost_stream_stop(context);
}

static void a_progress_callback_stops_the_replay(void **state)
{
    struct tracehost_replay_options options = {.size = sizeof options,
                                               .progress = stop_after_three};
    struct tracehost_replay_counts counts = {.size = sizeof counts};
    tracehost_process *process;
    tracehost_stream *stream;
    tracehost_replay *replay;

    (void)state;
    steps = 0;
    good(tracehost_process_start(receive, NULL, &process));
    send_to(process, TRACEHOST_FLAGS_EVENTS);
    good(tracehost_stream_open(RECORDING("s04_genserver_pingpong"), NULL, &stream));
    options.context = stream;
    good(tracehost_replay_begin(host, stream, &options, &replay));
    good(tracehost_replay_play(replay));
    good(tracehost_replay_get_counts(replay, &counts));
    assert_int_equal(counts.records, 48);
    good(tracehost_replay_play(replay));
    assert_int_equal(tracehost_replay_step(replay, NULL), TRACEHOST_END);
    good(tracehost_replay_end(replay));
    good(tracehost_stream_close(stream));
    tracehost_process_stop(process);
}

/* --- Calls from callbacks --------------------------------------------------------------------- */

static tracehost_session sender;
static tracehost_replay *at_work;
static char events[256];

static void done(void *context)
{
    strcat(events, context);
    misused(tracehost_host_stop(host), "this function cannot be called in a callback");
}

/* In the first message: permitted requests take effect after the event, others are refused. */
static void act_within(void)
{
    strcat(events, "message ");
    good(tracehost_host_delivered(host, 0, done, "delivered "));
    misused(tracehost_replay_step(at_work, NULL), "this function cannot be called in a callback");
    misused(tracehost_replay_end(at_work), "this function cannot be called in a callback");
    good(tracehost_session_destroy(host, sender));
    assert_int_equal(tracehost_session_get_state(host, sender), TRACEHOST_SESSION_CLEARING);
    misused(tracehost_session_destroy(host, sender), "there is no session 64 any more");
}

static void requests_from_a_callback_take_effect_after_the_event(void **state)
{
    tracehost_process *process;
    tracehost_stream *stream;

    (void)state;
    events[0] = 0;
    good(tracehost_process_start(receive, NULL, &process));
    sender = send_to(process, TRACEHOST_FLAGS_EVENTS);
    on_message = act_within;
    good(tracehost_host_delivered(host, 0, done, "begun "));
    good(tracehost_stream_open(RECORDING("s13_procs"), NULL, &stream));
    good(tracehost_replay_begin(host, stream, NULL, &at_work));
    good(tracehost_replay_play(at_work));
    on_message = NULL;
    assert_string_equal(events, "begun message delivered ");
    assert_string_equal(inbox, "{trace,<0.169.0>,<0.170.0>}\n");
    assert_int_equal(tracehost_session_get_state(host, sender), TRACEHOST_SESSION_DEAD);
    good(tracehost_replay_end(at_work));
    good(tracehost_stream_close(stream));
    tracehost_process_stop(process);
}

/* --- Clocks ----------------------------------------------------------------------------------- */

static unsigned stands, goes;

/* Runs in a callback: the clock stands still at a record's time. */
static void read_clock(void)
{
    ErlNifTime before = enif_monotonic_time(ERL_NIF_NSEC);

    usleep(10);
    stands += enif_monotonic_time(ERL_NIF_NSEC) == before;
    goes += enif_monotonic_time(ERL_NIF_NSEC) > before;
}

static void callbacks_read_the_recorded_or_the_wall_clock(void **state)
{
    const char *folder = build_folder("samples");
    struct tracehost_setup setup = {.size = sizeof setup, .folders = &folder, .folder_count = 1};
    tracehost_process *process;

    good(tracehost_process_start(receive, NULL, &process));
    on_message = read_clock;
    for (int i = 0; i < 2; i++) {
        setup.clock = i ? TRACEHOST_CLOCK_WALL : TRACEHOST_CLOCK_RECORDED;
        stands = goes = 0;
        good(tracehost_host_start(&setup, &host));
        send_to(process, TRACEHOST_FLAGS_EVENTS);
        good(play(RECORDING("s05_supervisor_restarts"), NULL, NULL));
        end(state);
        assert_int_equal(stands, i ? 0 : 11);
        assert_int_equal(goes, i ? 11 : 0);
    }
    on_message = NULL;
    tracehost_process_stop(process);
}

int main(void)
{
#define WITH_HOST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unreadable_streams_are_refused),
        cmocka_unit_test(the_records_of_a_stream_are_read),
        cmocka_unit_test(lines_from_a_pipe_are_read_past_a_damaged_line),
        cmocka_unit_test(a_refused_descriptor_is_closed),
        cmocka_unit_test(another_thread_stops_a_blocked_read),
        WITH_HOST(calls_in_the_wrong_order_are_refused),
        WITH_HOST(damage_is_reported_and_counted),
        WITH_HOST(a_replay_can_be_played_record_by_record),
        WITH_HOST(bounds_limit_the_played_records),
        WITH_HOST(a_progress_callback_stops_the_replay),
        WITH_HOST(requests_from_a_callback_take_effect_after_the_event),
        cmocka_unit_test(callbacks_read_the_recorded_or_the_wall_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
