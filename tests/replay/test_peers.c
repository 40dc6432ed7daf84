/*
 * Tests records of several nodes, of which some are peers: the ways that read a record's beginning in
 * place, from a learned prefix or from a learned head, give the tracee that the decoder gives.
 */
#include "host/base/base.h"
#include "host/replay/past.h"
#include "host/replay/replay_internal.h"
#include "host/term/term.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <stddef.h>
#include <string.h>

enum { RECORDS = 40000, NODES = 5, LEAST_KNOWN = 100 };

static struct th_buffer stream;
static struct th_etf_options here;
static th_env env;
static uint64_t seed;

static uint32_t below(uint32_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % limit;
}

/* Node 0 is "here", 1 and 2 are peers, 3 is a peer with the name of 1, 4 is none. */
static struct th_etf_node node_at(unsigned node)
{
    static const char *const names[NODES] = {"a@b", "b@b", "a-longer-name@home", "b@b", "c@d"};

    return (struct th_etf_node){th_atom(names[node]), 1 + node % 3};
}

static void add_atom(struct th_buffer *to, const char *text, bool utf8)
{
    unsigned char head[3] = {utf8 ? TH_ETF_SMALL_ATOM_UTF8 : TH_ETF_ATOM, 0,
                             (unsigned char)strlen(text)};

    head[1] = utf8 ? head[2] : 0;
    th_buffer_add(to, head, utf8 ? 2 : 3);
    th_buffer_add(to, text, strlen(text));
}

static void add32(struct th_buffer *to, uint32_t n)
{
    unsigned char bytes[4];

    th_etf_put32(bytes, n);
    th_buffer_add(to, bytes, sizeof bytes);
}

/* Few numbers, so that heads are met again; some beyond words. */
static uint32_t any_number(void)
{
    static const uint32_t odd[] = {0xFFFFFFF,  0x10000000, 0x80000000,
                                   UINT32_MAX, 0xFFFFFF,   1 << 24};

    return below(12) ? below(6) : odd[below(6)];
}

static void add_identifier(struct th_buffer *to, unsigned node, unsigned char tag)
{
    bool old = tag == TH_ETF_PID || tag == TH_ETF_PORT;
    struct th_etf_node of = node_at(node);

    th_buffer_add_byte(to, tag);
    add_atom(to, th_atom_name(of.node)->text, below(8) == 0);
    if (tag != TH_ETF_NEW_PORT && tag != TH_ETF_PORT)
        add32(to, any_number());
    add32(to, any_number());
    if (old)
        th_buffer_add_byte(to, (unsigned char)of.creation);
    else
        add32(to, of.creation);
}

/* A call with a time; returns the place of the tracee in *RECORD. */
static size_t make_record(struct th_buffer *record, unsigned node, unsigned char tag)
{
    static const unsigned char time[] = {TH_ETF_SMALL_BIG, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    static const unsigned char name[] = {TH_ETF_SMALL_INTEGER, 2};
    bool timed = below(10), port = tag != TH_ETF_NEW_PID && tag != TH_ETF_PID;
    size_t place;

    record->size = 0;
    th_buffer_add_byte(record, TH_ETF_VERSION);
    th_buffer_add_byte(record, TH_ETF_SMALL_TUPLE);
    th_buffer_add_byte(record, timed ? 5 : 4);
    add_atom(record, timed ? "trace_ts" : "trace", false);
    place = record->size;
    add_identifier(record, node, tag);
    add_atom(record, port ? "closed" : "call", false);
    if (port) {
        add_atom(record, "normal", false);
    } else {
        th_buffer_add_byte(record, TH_ETF_SMALL_TUPLE);
        th_buffer_add_byte(record, 3);
        add_atom(record, "module", false);
        add_atom(record, "function", false);
        th_buffer_add(record, name, sizeof name);
    }
    if (timed)
        th_buffer_add(record, time, sizeof time);
    return place;
}

static void add_record(const struct th_buffer *record)
{
    stream_add_record(&stream, 0, (uint32_t)record->size, record->data, record->size);
}

/* Decodes the tracee at PLACE of RECORD, and checks which terms are words. */
static th_term decoded_tracee(const struct th_buffer *record, size_t place)
{
    struct th_port_parts port;
    struct th_pid_parts pid;
    size_t used;
    bool fits;
    th_term t;

    assert_int_equal(
        th_etf_decode(&env, record->data + place, record->size - place, false, &here, &t, &used),
        TH_OK);
    if (th_get_pid(t, &pid)) {
        fits = (pid.number | pid.serial) <= TH_PID_NUMBER_MAX;
    } else {
        assert_true(th_get_port(t, &port));
        pid.node = port.node;
        pid.creation = port.creation;
        fits = port.id <= TH_PORT_ID_MAX;
    }
    assert_int_equal(th_is_immediate(t),
                     fits && (pid.node == TH_NONE || th_peer_find(pid.node, pid.creation)));
    return t;
}

static int begin(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    here.here = node_at(0);
    for (unsigned peer = 1; peer <= 3; peer++)
        assert_int_equal(th_peer_add(node_at(peer).node, node_at(peer).creation), peer);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_buffer_free(&stream);
    th_env_release(&env);
    return 0;
}

/* Most records are of one node for a while, as those of one stream are. */
static void add_records(th_term *tracees)
{
    static const unsigned char tags[] = {TH_ETF_NEW_PID, TH_ETF_NEW_PID,  TH_ETF_NEW_PID,
                                         TH_ETF_PID,     TH_ETF_NEW_PORT, TH_ETF_V4_PORT,
                                         TH_ETF_PORT};
    struct th_buffer record = {0};
    unsigned node = 0;

    for (size_t i = 0; i < RECORDS; i++) {
        unsigned char tag = i == 0 ? TH_ETF_NEW_PID : tags[below(sizeof tags)];
        size_t place;

        if (i > 0 && below(40) == 0)
            node = below(NODES);
        place = make_record(&record, node, tag);
        tracees[i] = decoded_tracee(&record, place);
        add_record(&record);
    }
    th_buffer_free(&record);
}

static void all_ways_give_one_tracee(void **state)
{
    th_term *tracees = th_alloc(RECORDS * sizeof *tracees);
    size_t words[NODES] = {0};
    struct th_reader *reader;
    struct th_event event = {0};
    th_term whole;

    (void)state;
    add_records(tracees);
    assert_int_equal(stream_open(stream.data, stream.size, NULL, &reader), TH_OK);
    for (size_t i = 0; i < RECORDS; i++) {
        if (th_replay_reader_next(reader, &event) != TH_OK)
            fail_msg("%s", stream_causes());
        assert_true(event.kind <= TH_EVENT_TRACE_TS);
        if (th_is_immediate(tracees[i]))
            assert_term_equal(event.tracee, tracees[i]);
        else
            assert_true(!th_is_immediate(event.tracee) && th_identical(event.tracee, tracees[i]));
        words[th_is_immediate(event.tracee) ? th_peer_of(event.tracee) : 4]++;
        if (i % 64 == 0) {
            assert_int_equal(event.source->whole(&event, &env, &whole), TH_OK);
            assert_term_identical(th_tuple_elements(whole)[1], tracees[i]);
        }
    }
    for (unsigned node = 0; node < NODES; node++)
        assert_order(words[node], >, RECORDS / 20);
    th_replay_reader_close(reader);
    th_free(tracees);
}

/* Returns the number of records that were read without decoding. */
static size_t read_with_past(const th_term *tracees, struct th_reader *reader, struct th_past *past)
{
    struct th_past_event events[TH_PAST_BATCH];
    struct th_event event = {0};
    size_t at = 0, known = 0;

    while (at < RECORDS) {
        size_t count = at ? th_replay_past_read(past, reader, events) : 0;
        for (size_t i = 0; i < count; i++)
            assert_term_equal(events[i].tracee, tracees[at++]);
        known += count;
        if (at == RECORDS || th_replay_reader_next(reader, &event) != TH_OK)
            break;
        th_replay_past_learn(past, reader, &event, &env);
        assert_term_identical(event.tracee, tracees[at]);
        at++;
    }
    assert_int_equal(at, RECORDS);
    return known;
}

static void known_records_have_that_tracee(void **state)
{
    th_term *tracees = th_alloc(RECORDS * sizeof *tracees);
    struct th_past *past = th_replay_past_begin();
    struct th_reader *reader;

    (void)state;
    stream.size = 0;
    add_records(tracees);
    assert_int_equal(stream_open(stream.data, stream.size, NULL, &reader), TH_OK);
    assert_order(read_with_past(tracees, reader, past), >, LEAST_KNOWN);
    th_replay_reader_close(reader);
    th_replay_past_end(past);
    th_free(tracees);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ways_give_one_tracee),
        cmocka_unit_test(known_records_have_that_tracee),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
