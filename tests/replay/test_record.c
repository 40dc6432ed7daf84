/*
 * Tests records in each encoding: an event is the same whether it is read in place, compared with
 * learned beginnings or decoded. The node whose pids are local is learned from the stream.
 */
#include "host/base/base.h"
#include "host/term/term.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <stddef.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

/* Pieces of external terms. Each ends before a letter could be taken for a digit of its number. */
#define NODE "\x64\0\x0dnonode@nohost"
#define OTHER_NODE "\x64\0\3a@b"
#define TRACE "\x64\0\5trace"
#define TRACE_TS "\x64\0\10trace_ts"
#define CALL "\x64\0\4call"
#define CLOSED "\x64\0\6closed"
#define MFA "\x68\3\x64\0\1m\x64\0\1f\x61\2"
#define PID "\x58" NODE "\0\0\0\x4f\0\0\0\2\0\0\0\0"
#define BYTES(text) text, sizeof(text) - 1

static struct th_buffer stream;
static struct th_reader *reader;
static struct th_event event;
static th_env env;

static int begin(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_replay_reader_close(reader);
    reader = NULL;
    th_env_release(&env);
    th_buffer_free(&stream);
    th_error_clear();
    return 0;
}

static void add(const char *payload, size_t bytes)
{
    stream_add_record(&stream, 0, (uint32_t)bytes, payload, bytes);
}

static void start(void)
{
    assert_int_equal(stream_open(stream.data, stream.size, NULL, &reader), TH_OK);
}

static void next(void)
{
    if (th_replay_reader_next(reader, &event) != TH_OK)
        fail_msg("%s", stream_causes());
}

static void a_message_is_read_in_all_encodings(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } cases[] = {
        {BYTES("\x83\x68\4" TRACE PID CALL MFA)},
        {BYTES("\x83\x69\0\0\0\4" TRACE PID CALL MFA)},
        {BYTES("\x83\x68\4\x77\5trace" PID CALL MFA)},
        {BYTES("\x83\x68\4\x76\0\5trace" PID "\x76\0\4call" MFA)},
        {BYTES("\x83\x68\4\x73\5trace" PID "\x73\4call" MFA)},
        {BYTES("\x83\x68\4" TRACE "\x58\x77\x0dnonode@nohost\0\0\0\x4f\0\0\0\2\0\0\0\0" CALL MFA)},
        {BYTES("\x83\x68\4" TRACE "\x67" NODE "\0\0\0\x4f\0\0\0\2\0" CALL MFA)},
        {BYTES("\x83\x68\4" TRACE PID CALL "\x69\0\0\0\3\x77\1m\x77\1"
               "f\x62\0\0\0\2")},
    };
    struct th_mfa function;
    th_term tuple;

    (void)state;
    /* Each twice, so that each is compared with the learned beginnings of the others. */
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++)
        add(cases[i % (sizeof cases / sizeof cases[0])].bytes,
            cases[i % (sizeof cases / sizeof cases[0])].size);
    start();
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        struct th_buffer text = {0};
        next();
        assert_int_equal(event.kind, TH_EVENT_TRACE);
        assert_int_equal(event.tag, TH_TAG_call);
        assert_int_equal(event.tuple_size, 4);
        assert_term_equal(event.tracee, th_local_pid(79, 2));
        assert_int_equal(event.source->function(&event, &function), TH_OK);
        assert_term_equal(function.module, th_atom("m"));
        assert_term_equal(function.function, th_atom("f"));
        assert_int_equal(function.arity, 2);
        assert_int_equal(event.source->whole(&event, &env, &tuple), TH_OK);
        th_text_print(&text, tuple);
        assert_string_equal(th_buffer_text(&text), "{trace,<0.79.2>,call,{m,f,2}}");
        th_buffer_free(&text);
    }
}

static void ports_are_read_in_all_encodings(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        add(BYTES("\x83\x68\4" TRACE "\x59" NODE "\0\0\0\5\0\0\0\0" CLOSED "\x6a"));
        add(BYTES("\x83\x68\4" TRACE "\x66" NODE "\0\0\0\5\0" CLOSED "\x6a"));
        add(BYTES("\x83\x68\4" TRACE "\x78" NODE "\0\0\0\0\0\0\0\5\0\0\0\0" CLOSED "\x6a"));
    }
    start();
    for (int i = 0; i < 6; i++) {
        next();
        assert_int_equal(event.tag, TH_TAG_closed);
        assert_term_equal(event.tracee, th_local_port(5));
    }
}

/* Numbers beyond immediates, and nodes and creations other than the first tracee's. */
static void tracees_beyond_immediates_are_read(void **state)
{
    struct th_pid_parts pid;
    struct th_port_parts port;

    (void)state;
    add(BYTES("\x83\x68\4" TRACE PID CLOSED "\x6a"));
    add(BYTES("\x83\x68\4" TRACE "\x58" NODE "\x10\0\0\0\0\0\0\0\0\0\0\0" CLOSED "\x6a"));
    add(BYTES("\x83\x68\4" TRACE "\x58" NODE "\0\0\0\1\0\0\0\0\0\0\0\7" CLOSED "\x6a"));
    add(BYTES("\x83\x68\4" TRACE "\x58" OTHER_NODE "\0\0\0\1\0\0\0\2\0\0\0\0" CLOSED "\x6a"));
    add(BYTES("\x83\x68\4" TRACE "\x78" NODE "\x10\0\0\0\0\0\0\5\0\0\0\0" CLOSED "\x6a"));
    add(BYTES("\x83\x68\4" TRACE "\x58" NODE "\0\0\0\1\xff\xff\xff\xff\0\0\0\0" CLOSED "\x6a"));
    add(BYTES("\x83\x68\4" TRACE "\x58" NODE "\0\0\0\1\x0f\xff\xff\xff\0\0\0\0" CLOSED "\x6a"));
    start();
    next();
    next();
    assert_true(th_get_pid(event.tracee, &pid) && !th_is_immediate(event.tracee));
    assert_term_equal(pid.node, TH_NONE);
    assert_int_equal(pid.number, 0x10000000);
    next();
    assert_true(th_get_pid(event.tracee, &pid));
    assert_term_equal(pid.node, TH_AM(nonode));
    assert_int_equal(pid.creation, 7);
    next();
    assert_true(th_get_pid(event.tracee, &pid));
    assert_term_equal(pid.node, th_atom("a@b"));
    assert_int_equal(pid.serial, 2);
    next();
    assert_true(th_get_port(event.tracee, &port) && !th_is_immediate(event.tracee));
    assert_int_equal(port.id, 0x1000000000000005);
    next();
    assert_true(th_get_pid(event.tracee, &pid) && !th_is_immediate(event.tracee));
    assert_term_equal(pid.node, TH_NONE);
    assert_int_equal(pid.serial, 0xffffffff);
    next();
    assert_term_equal(event.tracee, th_local_pid(1, TH_PID_SERIAL_MAX));
}

static void expect_node(const char *node, uint32_t creation)
{
    start();
    assert_int_equal(th_replay_reader_info(reader)->node.node, node ? th_atom(node) : TH_NONE);
    assert_int_equal(th_replay_reader_info(reader)->node.creation, creation);
    th_replay_reader_close(reader);
    reader = NULL;
    stream.size = 0;
}

#define SERIAL "\x68\2\x61\0\x61\1"
#define SEQ_TRACE "\x64\0\x09seq_trace"
#define PID_OF(node) "\x58" node "\0\0\0\1\0\0\0\2\0\0\0\7"

/* The node of the first tracee, or of the actor of a seq_trace message, is known from the start. */
static void the_first_identifier_names_the_node_of_a_stream(void **state)
{
    (void)state;
    add(BYTES("\x83\x68\4" TRACE PID_OF(OTHER_NODE) CLOSED "\x6a"));
    expect_node("a@b", 7);
    stream_add_drop(&stream, 5);
    stream_add_message(&stream, "hello");
    add(BYTES("\x82"));
    add(BYTES("\x83\x68\4" TRACE "\x66" OTHER_NODE "\0\0\0\5\3" CLOSED "\x6a"));
    expect_node("a@b", 3);
    add(BYTES("\x83\x68\3" SEQ_TRACE "\x61\0\x68\5\x64\0\4send" SERIAL PID_OF(OTHER_NODE)
                  PID_OF(NODE) "\x6a"));
    expect_node("a@b", 7);
    add(BYTES("\x83\x68\3" SEQ_TRACE "\x61\0\x68\5\x64\0\7receive" SERIAL PID_OF(NODE)
                  PID_OF(OTHER_NODE) "\x6a"));
    expect_node("a@b", 7);
    stream_add_message(&stream, "{seq_trace,0,{print,{0,1},nobody,[],x}}");
    stream_add_message(&stream, "{seq_trace,0,odd}");
    stream_add_drop(&stream, 5);
    expect_node(NULL, 0);
    expect_node(NULL, 0); /* empty */
}

static void identifiers_of_the_node_are_local(void **state)
{
    (void)state;
    add(BYTES("\x83\x68\5" TRACE PID_OF(OTHER_NODE) "\x64\0\4send\x6a" PID_OF(OTHER_NODE)));
    add(BYTES("\x83\x68\5" TRACE PID_OF(OTHER_NODE) "\x64\0\4send\x6a" PID));
    start();
    next();
    assert_term_equal(event.tracee, th_local_pid(1, 2));
    assert_int_equal(th_trace_event_decode(&event, &env), TH_OK);
    assert_term_equal(event.extra, th_local_pid(1, 2));
    next();
    assert_term_equal(event.tracee, th_local_pid(1, 2));
    assert_int_equal(th_trace_event_decode(&event, &env), TH_OK);
    assert_true(th_is_pid(event.extra) && !th_is_immediate(event.extra));
}

static void encoding_of_atoms_is_remembered(void **state)
{
    (void)state;
    add(BYTES("\x83\x68\4" TRACE PID CLOSED "\x6a"));
    start();
    assert_false(th_replay_reader_info(reader)->utf8_atoms);
    th_replay_reader_close(reader);
    stream.size = 0;
    add(BYTES("\x83\x68\4\x77\5trace" PID CLOSED "\x6a"));
    start();
    assert_true(th_replay_reader_info(reader)->utf8_atoms);
}

static void add_compressed(const char *term)
{
    unsigned char packed[4096] = {131, 80};
    struct th_buffer plain = {0};
    uLongf size = sizeof packed - 6;

    stream_add_message(&plain, term);
    th_etf_put32(packed + 2, (uint32_t)plain.size - 6);
    assert_int_equal(compress(packed + 6, &size, plain.data + 6, plain.size - 6), Z_OK);
    add((const char *)packed, 6 + size);
    th_buffer_free(&plain);
}

/* Recorders do not compress, but term_to_binary can. */
static void compressed_records_are_read(void **state)
{
    struct th_mfa function;
    th_term tuple;

    (void)state;
    add_compressed("{trace_ts,<0.1.0>,send,hi,bob,r,2,{1,2,3}}");
    add_compressed("{trace,<0.1.0>,call,{m,f,[a,b]}}");
    add_compressed("{drop,5}");
    add_compressed("hello");
    start();
    next();
    assert_int_equal(event.tag, TH_TAG_send);
    assert_term_equal(event.tracee, th_local_pid(1, 0));
    assert_false(event.decoded);
    assert_int_equal(th_trace_event_decode(&event, &env), TH_OK);
    assert_term_equal(event.extra, th_atom("bob"));
    assert_term_equal(event.match_spec_result, th_atom("r"));
    assert_term_equal(event.scheduler_id, th_small(2));
    assert_int_equal(th_trace_event_time(&event), TH_OK);
    assert_int_equal(event.time.ns, 1000002000003000);
    next();
    assert_int_equal(event.source->function(&event, &function), TH_OK);
    assert_int_equal(function.arity, 2);
    next();
    assert_int_equal(event.kind, TH_EVENT_OTHER); /* a drop in a stream is not a term */
    assert_int_equal(event.source->whole(&event, &env, &tuple), TH_OK);
    assert_term_identical(tuple, th_make_tuple_of(&env, TH_AM(drop), th_small(5)));
    next();
    assert_int_equal(event.kind, TH_EVENT_OTHER);
    assert_int_equal(th_trace_event_decode(&event, &env), TH_OK);
    assert_term_equal(event.term, th_atom("hello"));
}

/* The arity is counted for each form of argument list, without decoding the arguments. */
static void arities_are_counted_without_decoding(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        int arity; /* negative: none */
    } cases[] = {
        {BYTES("\x61\xff"), 255},
        {BYTES("\x62\0\0\1\0"), -1},
        {BYTES("\x62\xff\xff\xff\xff"), -1},
        {BYTES("\x6e\1\0\7"), 7},
        {BYTES("\x6e\1\1\7"), -1},
        {BYTES("\x6a"), 0},
        {BYTES("\x6b\0\3abc"), 3},
        {BYTES("\x6c\0\0\0\2\x6a\x6a\x6a"), 2},
        {BYTES("\x6c\0\0\1\0"), -1},
        {BYTES("\x6b\1"), -1},
        {BYTES("\x6d\0\0\0\0"), -1},
        {BYTES(""), -1},
    };
    const size_t count = sizeof cases / sizeof cases[0];
    struct th_mfa function;

    (void)state;
    for (size_t i = 0; i < count; i++) {
        struct th_buffer payload = {0};
        th_buffer_add(&payload, BYTES("\x83\x68\4" TRACE PID CALL "\x68\3\x64\0\1m\x64\0\1f"));
        th_buffer_add(&payload, cases[i].bytes, cases[i].size);
        add((const char *)payload.data, payload.size);
        th_buffer_free(&payload);
    }
    start();
    for (size_t i = 0; i < count; i++) {
        enum th_status expected = cases[i].arity < 0 ? TH_MALFORMED : TH_OK;
        next();
        assert_int_equal(event.source->function(&event, &function), expected);
        if (expected == TH_OK)
            assert_int_equal(function.arity, cases[i].arity);
    }
}

/* Time stamps, in the encodings of recorders and in others. */
static void timestamps_are_read_in_all_encodings(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        struct th_event_time time; /* TH_TIME_NONE: damaged */
    } cases[] = {
        {BYTES("\x68\3\x62\0\0\7\3\x62\0\3\x91\x1d\x62\0\x09\x16\x24"),
         {TH_TIME_TIMESTAMP, 1795233757595492000, 0}},
        {BYTES("\x68\3\x61\0\x61\0\x61\7"), {TH_TIME_CPU, 7000, 0}},
        {BYTES("\x62\xff\xff\xff\xff"), {TH_TIME_MONOTONIC, -1, 0}},
        {BYTES("\x6e\x08\1\0\0\0\0\0\0\0\x08"), {TH_TIME_MONOTONIC, -576460752303423488, 0}},
        {BYTES("\x68\2\x6e\x08\1\0\0\0\0\0\0\0\x08\x61\1"),
         {TH_TIME_STRICT_MONOTONIC, -576460752303423488, 1}},
        {BYTES("\x69\0\0\0\2\x61\5\x61\1"), {TH_TIME_STRICT_MONOTONIC, 5, 1}},
        {BYTES("\x6f\0\0\0\1\0\5"), {TH_TIME_MONOTONIC, 5, 0}},
        {BYTES("\x6e\x08\1\0\0\0\0\0\0\0\x80"), {TH_TIME_MONOTONIC, INT64_MIN, 0}},
        {BYTES("\x6e\x08\0\0\0\0\0\0\0\0\x80"), {TH_TIME_NONE, 0, 0}},
        {BYTES("\x68\3\x61\0\x61\0"), {TH_TIME_NONE, 0, 0}},
        {BYTES("\x61\5\x6a"), {TH_TIME_NONE, 0, 0}},
        {BYTES(""), {TH_TIME_NONE, 0, 0}},
    };
    const size_t count = sizeof cases / sizeof cases[0];

    (void)state;
    for (size_t i = 0; i < count; i++) {
        struct th_buffer payload = {0};
        th_buffer_add(&payload, BYTES("\x83\x68\5" TRACE_TS PID CALL MFA));
        th_buffer_add(&payload, cases[i].bytes, cases[i].size);
        add((const char *)payload.data, payload.size);
        th_buffer_free(&payload);
    }
    start();
    for (size_t i = 0; i < count; i++) {
        bool sound = cases[i].time.kind != TH_TIME_NONE;
        next();
        assert_int_equal(th_trace_event_time(&event), sound ? TH_OK : TH_MALFORMED);
        assert_int_equal(event.time.kind, cases[i].time.kind);
        assert_int_equal(event.time.ns, cases[i].time.ns);
        assert_int_equal(event.time.unique, cases[i].time.unique);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_message_is_read_in_all_encodings, begin, end),
        cmocka_unit_test_setup_teardown(ports_are_read_in_all_encodings, begin, end),
        cmocka_unit_test_setup_teardown(tracees_beyond_immediates_are_read, begin, end),
        cmocka_unit_test_setup_teardown(the_first_identifier_names_the_node_of_a_stream, begin,
                                        end),
        cmocka_unit_test_setup_teardown(identifiers_of_the_node_are_local, begin, end),
        cmocka_unit_test_setup_teardown(encoding_of_atoms_is_remembered, begin, end),
        cmocka_unit_test_setup_teardown(compressed_records_are_read, begin, end),
        cmocka_unit_test_setup_teardown(arities_are_counted_without_decoding, begin, end),
        cmocka_unit_test_setup_teardown(timestamps_are_read_in_all_encodings, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
