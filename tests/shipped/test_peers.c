/*
 * Tests shipped tracers with a stream of two nodes, the second of which is a peer: files that hold
 * terms give them back, and a registered name means a process of its node.
 */
#include "host/base/base.h"
#include "host/embed/embed.h"
#include "host/replay/replay.h"
#include "host/term/term.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS_MOST = 32 };

static char folder[] = "/tmp/peers.XXXXXX", stream_file[64], output[64];

static const char *const events[] = {
    "{trace_ts,<0.10.0>,register,till,{1,2,1}}",
    "{trace_ts,<1.10.0>,register,till,{1,2,2}}",
    "{trace_ts,<0.11.0>,send,one,till,{1,2,3}}",
    "{trace_ts,<0.10.0>,'receive',one,{1,2,4}}",
    "{trace_ts,<1.11.0>,send,two,till,{1,2,5}}",
    "{trace_ts,<1.10.0>,'receive',two,{1,2,6}}",
    "{trace_ts,<0.11.0>,send,three,{till,there@home},{1,2,7}}",
    "{trace_ts,<1.10.0>,'receive',three,{1,2,8}}",
    "{trace_ts,<1.10.0>,send,[<1.7.0>,<0.7.0>,#Port<1.4>,#Ref<1.3.2.1>],<0.10.0>,{1,2,9}}",
    "{trace_ts,#Port<1.4>,open,<1.10.0>,efile,{1,2,10}}",
    "{trace_ts,#Port<1.4>,closed,normal,{1,2,11}}",
    "{trace_ts,<1.10.0>,spawn,<1.12.5>,{m,f,[]},{1,2,12}}",
    "{trace_ts,<1.10.0>,unregister,till,{1,2,13}}",
    "{trace_ts,<0.11.0>,send,four,till,{1,2,14}}",
};

/* Processes whose names are known from the beginning, or guessed. */
static const char *const told[] = {
    "{tracehost,names,[{<0.10.0>,till}]}",
    "{tracehost,names,[{<1.10.0>,till}]}",
    "{trace_ts,<0.11.0>,send,one,till,{1,2,5}}",
    "{trace_ts,<1.11.0>,send,two,till,{1,2,6}}",
    "{trace_ts,<0.11.0>,send,three,{till,there@home},{1,2,7}}",
    "{trace_ts,<0.11.0>,send,four,{till,nowhere@home},{1,2,8}}",
    "{trace_ts,<0.11.0>,send,five,{boss,there@home},{1,2,8}}",
    "{trace_ts,<0.13.0>,'receive',five,{1,2,9}}",
    "{trace_ts,<1.13.0>,'receive',five,{1,2,9}}",
    "{trace_ts,<1.11.0>,send,six,boss,{1,2,9}}",
};

static int begin(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(stream_file, sizeof stream_file, "%s/stream.trace", folder);
    snprintf(output, sizeof output, "%s/output", folder);
    assert_int_equal(th_peer_add(th_atom("there@home"), 5), 1);
    return 0;
}

static int end(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void good(enum tracehost_status status)
{
    if (status != TRACEHOST_OK)
        tracehost_error_print(stderr, "refused");
    assert_int_equal(status, TRACEHOST_OK);
}

static void write_stream(const char *const texts[], size_t count)
{
    FILE *file = fopen(stream_file, "wb");
    struct th_buffer stream = {0};

    assert_non_null(file);
    for (size_t i = 0; i < count; i++)
        stream_add_message(&stream, texts[i]);
    assert_int_equal(fwrite(stream.data, 1, stream.size, file), stream.size);
    fclose(file);
    th_buffer_free(&stream);
}

/* Plays COUNT events into TRACER, which writes `output`. */
static void play(const char *const texts[], size_t count, const char *tracer)
{
    char folder_of_tracers[4096], state[128];
    const char *path = folder_of_tracers, *build = getenv("BUILD_DIR");
    const struct tracehost_setup setup = {
        .size = sizeof setup, .folders = &path, .folder_count = 1};
    struct tracehost_session_setup of = {
        .size = sizeof of,
        .tracer = tracer,
        .state_options = state,
        .recorded_flags = TRACEHOST_FLAG_SEND | TRACEHOST_FLAG_RECEIVE | TRACEHOST_FLAG_PROCS |
                          TRACEHOST_FLAG_PORTS | TRACEHOST_FLAG_TIMESTAMP,
    };
    tracehost_session session;
    tracehost_replay *replay;
    tracehost_stream *stream;
    tracehost_host *host;

    write_stream(texts, count);
    snprintf(folder_of_tracers, sizeof folder_of_tracers, "%s/lib/tracehost/tracers",
             build ? build : "build/release");
    snprintf(state, sizeof state, "output=%s", output);
    good(tracehost_host_start(&setup, &host));
    good(tracehost_session_create(host, &of, &session));
    good(tracehost_stream_open(stream_file, NULL, &stream));
    good(tracehost_replay_begin(host, stream, NULL, &replay));
    good(tracehost_replay_play(replay));
    good(tracehost_replay_end(replay));
    good(tracehost_session_destroy(host, session));
    good(tracehost_stream_close(stream));
    good(tracehost_host_stop(host));
}

/* Reads FILE into ENV; returns the number of its events. */
static size_t read_events(const char *file, th_env *env, th_term *terms)
{
    struct th_event event = {0};
    struct th_reader *reader;
    size_t count = 0;

    assert_int_equal(th_replay_reader_open(file, NULL, &reader), TH_OK);
    while (th_replay_reader_next(reader, &event) == TH_OK) {
        assert_order(count, <, EVENTS_MOST);
        assert_int_equal(event.source->whole(&event, env, &terms[count++]), TH_OK);
    }
    th_error_clear();
    th_replay_reader_close(reader);
    return count;
}

static char *output_text(void)
{
    FILE *file = fopen(output, "r");
    struct th_buffer text = {0};

    assert_non_null(file);
    text.size = fread(th_buffer_reserve(&text, 1 << 20), 1, 1 << 20, file);
    fclose(file);
    return (char *)th_buffer_text(&text);
}

static void assert_events_come_back(const char *tracer)
{
    enum { COUNT = sizeof events / sizeof events[0] };
    th_term before[EVENTS_MOST], after[EVENTS_MOST];
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    play(events, COUNT, tracer);
    assert_int_equal(read_events(stream_file, &env, before), COUNT);
    assert_int_equal(read_events(output, &env, after), COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_term_identical(after[i], before[i]);
    assert_int_equal(th_peer_of(th_tuple_elements(after[1])[1]), 1);
    th_env_release(&env);
}

static void jsonl_writes_terms_that_any_reader_reads(void **state)
{
    char *text;

    (void)state;
    assert_events_come_back("jsonl");
    text = output_text();
    assert_non_null(strstr(text, "\"tracee\":\"<0.10.0>\""));
    assert_non_null(strstr(text, "\"tracee\":{\"$etf\":"));
    assert_null(strstr(text, "<1."));
    th_free(text);
}

static void trace_port_writes_the_events(void **state)
{
    (void)state;
    assert_events_come_back("trace_port");
}

/* Asserts that the lines of the diagram with an arrow, and those of participants, are LINES. */
static void assert_drawn(const char *lines)
{
    char *text = output_text(), *line, *rest = text;
    struct th_buffer drawn = {0};

    while ((line = strsep(&rest, "\n")))
        if (strstr(line, "->>") || strstr(line, "-x") || strstr(line, "participant"))
            th_buffer_printf(&drawn, "%s\n", line + strspn(line, " "));
    assert_string_equal(th_buffer_text(&drawn), lines);
    th_buffer_free(&drawn);
    th_free(text);
}

static void names_in_diagrams_are_those_of_each_node(void **state)
{
    (void)state;
    play(events, sizeof events / sizeof events[0], "sequence");
    assert_drawn("participant p1 as #60;0.11.0#62;\n"
                 "participant p2 as till #60;0.10.0#62;\n"
                 "participant p3 as #60;1.11.0#62;\n"
                 "participant p4 as till #60;1.10.0#62;\n"
                 "p1->>p2: one\n"
                 "p3->>p4: two\n"
                 "p1->>p4: three\n"
                 "p4->>p2: [#60;1.7.0#62;,#60;0.7.0#62;,#35;Port#60;1.4#62;,#35;Ref]\n"
                 "p1->>p2: four\n");
}

static void names_that_are_told_are_those_of_each_node(void **state)
{
    (void)state;
    play(told, sizeof told / sizeof told[0], "sequence");
    assert_drawn("participant p1 as #60;0.11.0#62;\n"
                 "participant p2 as till #60;0.10.0#62;\n"
                 "participant p3 as #60;1.11.0#62;\n"
                 "participant p4 as till #60;1.10.0#62;\n"
                 "participant p5 as {till,nowhere@home}\n"
                 "participant p6 as boss #60;1.13.0#62;\n"
                 "p1->>p2: one\n"
                 "p3->>p4: two\n"
                 "p1->>p4: three\n"
                 "p1->>p5: four\n"
                 "p1->>p6: five\n"
                 "p3->>p6: six\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jsonl_writes_terms_that_any_reader_reads),
        cmocka_unit_test(trace_port_writes_the_events),
        cmocka_unit_test(names_in_diagrams_are_those_of_each_node),
        cmocka_unit_test(names_that_are_told_are_those_of_each_node),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
