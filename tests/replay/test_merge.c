/*
 * Tests streams of several nodes as one: the order and the times of events, what tells the difference of
 * clocks, and damage.
 */
#include "host/base/base.h"
#include "host/replay/replay.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NODES = 3, EVENTS = 2000 };

/* Streams of nodes, in files. */
static struct node {
    const char *name;
    struct th_buffer stream;
    char file[32];
} nodes[NODES] = {{.name = "a@north"}, {.name = "b@south"}, {.name = "c@south"}};

static void begin(size_t count)
{
    for (size_t i = 0; i < count; i++)
        nodes[i].stream.size = 0;
}

/* Adds a record of NODE. TEXT is Erlang text; identifiers without a node are those of SPEAKER. */
static void add_as(struct node *node, const struct node *speaker, const char *text)
{
    const struct th_etf_options options = {
        .here = {th_atom_utf8(speaker->name, strlen(speaker->name)), 1}};
    struct th_buffer payload = {0};
    th_env env;
    th_term term;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, text, strlen(text), &term), TH_OK);
    assert_int_equal(th_etf_encode(&payload, term, true, &options), TH_OK);
    stream_add_record(&node->stream, 0, (uint32_t)payload.size, payload.data, payload.size);
    th_buffer_free(&payload);
    th_env_release(&env);
}

static __attribute__((format(printf, 2, 3))) void add(struct node *node, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add_as(node, node, text);
}

static struct th_reader *merged(size_t count)
{
    static const struct th_reader_options none;
    const char *names[NODES] = {0};
    struct th_reader *reader;

    for (size_t i = 0; i < count; i++) {
        struct node *node = &nodes[i];
        int fd;
        strcpy(node->file, "merged-XXXXXX");
        fd = mkstemp(node->file);
        assert_int_equal(write(fd, node->stream.data, node->stream.size), node->stream.size);
        close(fd);
        names[i] = node->file;
    }
    assert_int_equal(th_replay_reader_merge(names, count, &none, &reader), TH_OK);
    for (size_t i = 0; i < count; i++)
        unlink(nodes[i].file);
    return reader;
}

/* Reads to the end: a line for each event that is no note, and for each damage. */
static const char *tell(struct th_reader *reader)
{
    static struct th_buffer told;
    struct th_event event = {0};
    enum th_status status;
    th_term tuple;
    th_env env;

    told.size = 0;
    th_env_init(&env, TH_ENV_PLAIN);
    while ((status = th_replay_reader_next(reader, &event)) != TH_END) {
        if (status != TH_OK) {
            th_buffer_printf(&told, "%d: %s\n", (int)status, stream_causes());
        } else if (event.kind != TH_EVENT_OTHER) {
            assert_int_equal(event.source->whole(&event, &env, &tuple), TH_OK);
            th_text_print(&told, tuple);
            th_buffer_add_byte(&told, '\n');
        }
        th_env_clear(&env);
    }
    th_env_release(&env);
    return th_buffer_text(&told);
}

static void assert_clock(const struct th_reader *reader, size_t number, bool known, int64_t behind,
                         int64_t doubt)
{
    struct th_part_clock clock;

    assert_true(th_replay_reader_clock(reader, number, &clock));
    assert_int_equal(clock.known, known);
    assert_int_equal(clock.behind, behind);
    if (known)
        assert_int_equal(clock.doubt, doubt);
}

/* --- The order and the times ------------------------------------------------------------------ */

static void events_come_in_the_order_of_time(void **state)
{
    struct th_reader *reader;

    (void)state;
    begin(3);
    add(&nodes[0], "{tracehost,clock,{100,1000}}");
    add(&nodes[0], "{trace_ts,<0.1.0>,in,first,110}");
    add(&nodes[0], "{trace_ts,<0.1.0>,out,third,{130,7}}");
    add(&nodes[1], "{tracehost,clock,{-5,1000}}");
    add(&nodes[1], "{trace_ts,<0.1.0>,in,second,15}");
    add(&nodes[1], "{trace_ts,#Port<0.1>,in,sixth,90}");
    add(&nodes[2], "{trace_ts,<0.1.0>,in,fourth,{0,0,2}}");
    add(&nodes[2], "{trace_ts,<0.2.0>,in,fifth,{0,0,1}}"); /* in the order of the node */
    reader = merged(2);
    assert_string_equal(tell(reader), "{trace_ts,<0.1.0>,in,first,110}\n"
                                      "{trace_ts,<1.1.0>,in,second,120}\n"
                                      "{trace_ts,<0.1.0>,out,third,{130,7}}\n"
                                      "{trace_ts,#Port<1.1>,in,sixth,195}\n");
    assert_int_equal(th_replay_reader_info(reader)->late, 0);
    assert_clock(reader, 1, false, 0, 0);
    th_replay_reader_close(reader);
}

static void round_trips_tell_the_difference(void **state)
{
    struct th_reader *reader;

    (void)state;
    begin(3);
    add(&nodes[0], "{tracehost,node,{<0.1.0>,<<\"25\">>,<<\"1\">>}}");
    add(&nodes[0],
        "{tracehost,clock,{0,999999}}"); /* the node's idea of the time of day, which is wrong */
    add(&nodes[0], "{tracehost,round_trip,{0,1000000,999900,1000100}}");
    add(&nodes[0], "{tracehost,round_trip,{10,1000010,999510,1001510}}"); /* less precise */
    add(&nodes[0], "{trace_ts,<0.1.0>,in,first,100}");
    add(&nodes[0], "{trace_ts,<0.1.0>,out,third,300}");
    add(&nodes[1], "{tracehost,round_trip,{70,2000000,999930,1000070}}"); /* a million ahead */
    add(&nodes[1], "{trace_ts,<0.1.0>,in,second,270}");
    add(&nodes[2], "{tracehost,clock,{0,2000000}}"); /* on the host of the second node */
    add(&nodes[2], "{trace_ts,<0.1.0>,in,last,301}");
    reader = merged(3);
    assert_string_equal(tell(reader), "{trace_ts,<0.1.0>,in,first,100}\n"
                                      "{trace_ts,<1.1.0>,in,second,200}\n"
                                      "{trace_ts,<0.1.0>,out,third,300}\n"
                                      "{trace_ts,<2.1.0>,in,last,301}\n");
    assert_clock(reader, 0, true, 0, 0);
    assert_clock(reader, 1, true, -1000000, 170);
    assert_clock(reader, 2, true, -1000000, 170);
    th_replay_reader_close(reader);
}

/* South is 4986 to 4990 us behind: a question and an answer came after they were sent. The reference is
 * north's in both streams. */
static void messages_tell_the_difference(void **state)
{
    struct node *north = &nodes[0], *south = &nodes[1];
    struct th_reader *reader;

    (void)state;
    begin(2);
    add(north, "{trace_ts,<0.1.0>,in,x,{1,0,1}}");
    add(south, "{trace_ts,<0.1.0>,in,x,{1,0,1}}");
    th_replay_reader_close(merged(2)); /* from now on <1.1.0> is a process of the node south */
    begin(2);
    add(north, "{trace_ts,<0.1.0>,send,{ask,[a|#Ref<0.3.2.1>]},b,{1,0,6020}}");
    add(north, "{trace_ts,<0.1.0>,'receive',{#Ref<0.3.2.1>,yes},{1,0,6024}}");
    add_as(south, north, "{trace_ts,<1.1.0>,'receive',{ask,[a|#Ref<0.3.2.1>]},{1,0,1030}}");
    add_as(south, north, "{trace_ts,<1.1.0>,'receive',{ask,[a|#Ref<0.3.2.1>]},{1,0,1032}}");
    add_as(south, north, "{trace_ts,<1.1.0>,send,{#Ref<0.3.2.1>,yes},a,{1,0,1034}}");
    reader = merged(2);
    assert_string_equal(tell(reader),
                        "{trace_ts,<0.1.0>,send,{ask,[a|#Ref<0.3.2.1>]},b,{1,0,6020}}\n"
                        "{trace_ts,<1.1.0>,'receive',{ask,[a|#Ref<0.3.2.1>]},{1,0,6020}}\n"
                        "{trace_ts,<1.1.0>,'receive',{ask,[a|#Ref<0.3.2.1>]},{1,0,6022}}\n"
                        "{trace_ts,<1.1.0>,send,{#Ref<0.3.2.1>,yes},a,{1,0,6024}}\n"
                        "{trace_ts,<0.1.0>,'receive',{#Ref<0.3.2.1>,yes},{1,0,6024}}\n");
    assert_clock(reader, 1, true, 4990000, 0);
    th_replay_reader_close(reader);
}

static void damage_of_one_leaves_the_others(void **state)
{
    struct th_reader *reader;

    (void)state;
    begin(2);
    add(&nodes[0], "{trace_ts,<0.1.0>,in,first,{1,0,1}}");
    stream_add_record(&nodes[0].stream, 0, 3, "\x83\x61", 2); /* cut off */
    add(&nodes[1], "{trace_ts,<0.1.0>,in,second,{1,0,2}}");
    stream_add_drop(&nodes[1].stream, 5);
    add(&nodes[1], "{trace_ts,<0.1.0>,in,third,{1,0,3}}");
    reader = merged(2);
    assert_string_equal(
        tell(reader),
        "{trace_ts,<0.1.0>,in,first,{1,0,1}}\n"
        "4: record 2 at byte 63 is truncated: the input ends after 2 of the record's 3 bytes\n"
        "{trace_ts,<1.1.0>,in,second,{1,0,2}}\n"
        "{drop,5}\n"
        "{trace_ts,<1.1.0>,in,third,{1,0,3}}\n");
    assert_int_equal(th_replay_reader_info(reader)->records, 4);
    assert_int_equal(th_replay_reader_info(reader)->drops, 5);
    assert_int_equal(th_replay_reader_info(reader)->damages, 1);
    th_replay_reader_close(reader);
}

/* --- Many events ------------------------------------------------------------------------------ */

static uint64_t seed;

static uint32_t below(uint32_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % limit;
}

/* Three nodes with clocks of their own. Each event has its true time as its term. */
static void any_nodes_are_merged(void **state)
{
    (void)state;
    for (int64_t run = 1; run < 40; run++) {
        int64_t offset[NODES], times[NODES] = {0}, before = INT64_MIN, ns, scale = 0;
        struct th_event event = {0};
        struct th_reader *reader;
        size_t count = 0;
        th_env env;
        begin(NODES);
        for (size_t i = 0; i < NODES; i++) {
            int64_t behind = i == 0 ? 0 : run * 12345678;
            offset[i] = (int64_t)below(1000000) - 500000;
            add(&nodes[i], "{tracehost,node,{<0.1.0>,<<\"27\">>,<<\"1\">>}}");
            add(&nodes[i], "{tracehost,round_trip,{%lld,%lld,%lld,%lld}}", -(long long)offset[i],
                -(long long)behind, -1LL, 1LL);
        }
        for (size_t k = 0; k < EVENTS; k++) {
            size_t i = below(NODES);
            times[i] += below(50);
            add(&nodes[i], "{trace_ts,<0.%u.0>,in,%lld,%lld}", below(9), (long long)times[i],
                (long long)(times[i] - offset[i]));
        }
        reader = merged(NODES);
        scale = offset[0];
        th_env_init(&env, TH_ENV_PLAIN);
        while (th_replay_reader_next(reader, &event) == TH_OK) {
            if (event.kind == TH_EVENT_OTHER)
                continue;
            assert_int_equal(th_trace_event_decode(&event, &env), TH_OK);
            assert_true(th_get_int64(event.term, &ns));
            assert_int_equal(event.time.ns, ns - scale);
            assert_true(ns >= before);
            before = ns;
            count++;
            th_env_clear(&env);
        }
        assert_int_equal(count, EVENTS);
        th_env_release(&env);
        th_replay_reader_close(reader);
    }
}

static int free_streams(void **state)
{
    (void)state;
    for (size_t i = 0; i < NODES; i++)
        th_buffer_free(&nodes[i].stream);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_in_the_order_of_time),
        cmocka_unit_test(round_trips_tell_the_difference),
        cmocka_unit_test(messages_tell_the_difference),
        cmocka_unit_test(damage_of_one_leaves_the_others),
        cmocka_unit_test(any_nodes_are_merged),
    };

    return cmocka_run_group_tests_name("merge", tests, NULL, free_streams);
}
