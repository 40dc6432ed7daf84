/*
 * Tests streams of connections: pieces of any size; streams that begin or continue within a record;
 * ends, and reconnections.
 * // Long because: all tests use the same server.
 */
#include "host/term/term.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/server.h"
#include "tests/support/stream.h"

#include "host/replay/replay_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { RECORD = 61 /* bytes of the message that most tests send */ };

static const char message[] = "{trace,<0.1.0>,exit,normal}";

static struct th_buffer stream, notices;

static int begin(void **state)
{
    (void)state;
    stream.size = notices.size = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_buffer_free(&stream);
    th_buffer_free(&notices);
    th_error_clear();
    return 0;
}

static void add_messages(int count)
{
    for (int i = 0; i < count; i++)
        stream_add_message(&stream, message);
}

/* Appends a message of a node with a name. */
static void add_message_of(const char *node, uint32_t creation)
{
    const struct th_etf_options options = {.here = {th_atom_utf8(node, strlen(node)), creation}};
    struct th_buffer payload = {0};
    th_env env;
    th_term t;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, message, strlen(message), &t), TH_OK);
    assert_int_equal(th_etf_encode(&payload, t, true, &options), TH_OK);
    stream_add_record(&stream, 0, (uint32_t)payload.size, payload.data, payload.size);
    th_buffer_free(&payload);
    th_env_release(&env);
}

/* Returns the text of the events from a server that plays ACTS. READER may be NULL; otherwise
 * *READER stays open. */
static const char *play_for(const struct server_act *acts, size_t count,
                            const struct th_reader_options *options, struct th_reader **reader)
{
    struct server *server = server_start("127.0.0.1", acts, count);
    struct th_reader *own;
    const char *told;

    assert_int_equal(th_replay_reader_open(server_name(server), options, &own), TH_OK);
    told = stream_tell(own);
    if (reader)
        *reader = own;
    else
        th_replay_reader_close(own);
    server_end(server);
    return told;
}

static const char *play(const struct server_act *act)
{
    return play_for(act, 1, NULL, NULL);
}

/* Sends the whole stream. */
static struct server_act whole(void)
{
    return (struct server_act){.data = stream.data, .size = stream.size};
}

/* --- Pieces ----------------------------------------------------------------------------------- */

static void a_stream_is_read_in_pieces_of_any_size(void **state)
{
    static const size_t pieces[] = {0, 1, 4, 5, 6, 7, 61, 1000};
    char *expected;

    (void)state;
    add_messages(3);
    stream_add_drop(&stream, 17);
    stream_add_drop(&stream, 1);
    stream_add_message(&stream, "{trace_ts,<0.1.0>,call,{m,f,[a,b]},{1,2,3}}");
    stream_add_message(&stream, "{seq_trace,0,{print,{0,1},<0.1.0>,[],x}}");
    add_messages(10);
    expected = th_strdup(stream_read(&stream));
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct server_act act = whole();
        act.piece = pieces[i];
        assert_string_equal(play(&act), expected);
    }
    th_free(expected);
}

static void a_recording_is_read_from_a_connection(void **state)
{
    struct server_act act;
    struct th_reader *reader;
    char *expected;

    (void)state;
    stream_add_file(&stream, "samples/recordings/s15_kitchen_sink.trace");
    expected = th_strdup(stream_read(&stream));
    act = whole();
    act.piece = 4099;
    assert_string_equal(play_for(&act, 1, NULL, &reader), expected);
    assert_int_equal(th_replay_reader_info(reader)->bytes, stream.size);
    assert_int_equal(th_replay_reader_info(reader)->damages, 0);
    assert_string_equal(th_atom_name(th_replay_reader_info(reader)->node.node)->text,
                        "nonode@nohost");
    th_replay_reader_close(reader);
    th_free(expected);
}

/* The node sends at any time: each piece is delivered at once, however small. */
static void records_are_delivered_as_they_arrive(void **state)
{
    struct server_act act;
    struct th_event event = {0};
    struct th_reader *reader;
    struct server *server;

    (void)state;
    add_messages(1);
    act = whole();
    act.await = true; /* the rest is sent after the reader was closed */
    server = server_start("127.0.0.1", &act, 1);
    assert_int_equal(th_replay_reader_open(server_name(server), NULL, &reader), TH_OK);
    assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
    assert_int_equal(event.tag, TH_TAG_exit);
    th_replay_reader_close(reader);
    server_end(server);
}

/* A record takes no memory for bytes that have not come. */
static void a_huge_length_takes_no_memory(void **state)
{
    unsigned char head[4];
    struct server_act act;
    struct th_reader *reader;

    (void)state;
    add_messages(2);
    th_etf_put32(head, TH_PORT_LONGEST);
    memcpy(stream.data + RECORD + 1, head, sizeof head);
    act = whole();
    assert_string_equal(play_for(&act, 1, NULL, &reader),
                        "1@0 {trace,<0.1.0>,exit,normal}\npartial: record 2 at byte 61 is "
                        "truncated: the input ends after 56 of the record's 536870912 bytes\n");
    assert_order(reader->input.capacity, <, 1024 * 1024);
    th_replay_reader_close(reader);
}

/* --- Starts ----------------------------------------------------------------------------------- */

static void a_connection_can_begin_with_drops(void **state)
{
    struct server_act act;

    (void)state;
    for (uint32_t i = 1; i <= 4; i++)
        stream_add_drop(&stream, i);
    add_messages(1);
    act = whole();
    assert_string_equal(play(&act), "1@0 {drop,1}\n2@5 {drop,2}\n3@10 {drop,3}\n4@15 {drop,4}\n"
                                    "5@20 {trace,<0.1.0>,exit,normal}\n");
    act.size = 20;
    assert_string_equal(play(&act), "1@0 {drop,1}\n2@5 {drop,2}\n3@10 {drop,3}\n4@15 {drop,4}\n");
}

/* Any part of the first record may have gone to another client. */
static void a_connection_can_begin_within_a_record(void **state)
{
    char expected[300];

    (void)state;
    add_messages(3);
    for (size_t at = 1; at < RECORD; at++) {
        struct server_act act = {.data = stream.data + at, .size = stream.size - at};
        act.piece = at % 7;
        snprintf(expected, sizeof expected,
                 "partial: the connection begins with byte %u, not with a record: all bytes up to "
                 "the next record are lost: the previous client may have left within a record, or "
                 "the server is not a trace port\n1@%zu {trace,<0.1.0>,exit,normal}\n2@%zu "
                 "{trace,<0.1.0>,exit,normal}\n",
                 stream.data[at], RECORD - at, 2 * RECORD - at);
        assert_string_equal(play(&act), expected);
    }
}

/* The rest of that record may be long, and must not be kept. */
static void a_connection_can_begin_within_a_long_record(void **state)
{
    enum { LONG = 8 * 1024 * 1024 };
    struct server_act act;
    struct th_reader *reader;

    (void)state;
    memset(th_buffer_reserve(&stream, LONG), 0, LONG);
    stream.size = LONG;
    add_messages(1);
    act = whole();
    play_for(&act, 1, NULL, &reader);
    assert_int_equal(th_replay_reader_info(reader)->records, 1);
    assert_int_equal(th_replay_reader_info(reader)->damages, 1);
    assert_order(reader->input.capacity, <, 1024 * 1024);
    th_replay_reader_close(reader);
}

static void a_server_that_is_no_trace_port_is_reported(void **state)
{
    static const char greeting[] = "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n";
    struct server_act act = {.data = greeting, .size = sizeof greeting - 1};

    (void)state;
    for (act.piece = 0; act.piece < 3; act.piece++)
        assert_string_equal(play(&act),
                            "partial: the connection begins with byte 83, not with a record: all "
                            "bytes up to the next record are lost: the previous client may have "
                            "left within a record, or the server is not a trace port\n");
}

static void a_connection_closed_without_data_is_reported(void **state)
{
    struct server_act act = {0};

    (void)state;
    assert_string_equal(
        play(&act), "partial: the connection was closed before data arrived: a trace port accepts "
                    "one client only: another client is connected, or the tracing has ended\n");
}

/* --- Damage ----------------------------------------------------------------------------------- */

static void a_connection_can_end_at_any_byte(void **state)
{
    char *expected;

    (void)state;
    add_messages(2);
    stream_add_drop(&stream, 9);
    for (struct server_act act = whole(); stream.size > 0; act.size = stream.size) {
        expected = th_strdup(stream_read(&stream));
        assert_string_equal(play(&act), expected);
        th_free(expected);
        stream.size--;
    }
}

static void a_lost_connection_is_reported(void **state)
{
    struct server_act act;
    struct th_reader *reader;

    (void)state;
    add_messages(2);
    act = whole();
    act.reset = true;
    assert_string_equal(
        play_for(&act, 1, NULL, &reader),
        "1@0 {trace,<0.1.0>,exit,normal}\n2@61 {trace,<0.1.0>,exit,normal}\npartial: record 3 at "
        "byte 122 and the rest of the connection are lost: the connection was lost: Connection "
        "reset by peer\n");
    assert_int_equal(th_replay_reader_info(reader)->damages, 1);
    th_replay_reader_close(reader);
    act.size -= 10;
    assert_string_equal(
        play(&act), "1@0 {trace,<0.1.0>,exit,normal}\npartial: record 2 at byte 61 and the rest of "
                    "the connection are lost: the connection was lost: Connection reset by peer\n");
}

/* A node continues after damage, so the reader searches for the next record. */
static void bytes_between_records_are_skipped(void **state)
{
    struct server_act act;

    (void)state;
    add_messages(1);
    th_buffer_add_text(&stream, "@\001what is this?");
    add_messages(1);
    act = whole();
    for (act.piece = 0; act.piece < 4; act.piece++)
        assert_string_equal(
            play(&act),
            "1@0 {trace,<0.1.0>,exit,normal}\npartial: record 2 at byte 61 is damaged: all bytes "
            "up to the next record are lost: the record begins with byte 64, not with 0 (a "
            "message) or 1 (a drop)\n2@76 {drop,0}\n3@76 {trace,<0.1.0>,exit,normal}\n");
}

/* A size beyond the limit is not believed: the bytes that follow are no part of that record. */
static void a_record_beyond_the_size_limit_is_skipped(void **state)
{
    static const unsigned char sizes[][4] = {{0xff, 0xff, 0xff, 0xf0}, {0x30, 0, 0, 0}};
    static const char *const reasons[] = {
        "the record claims to have 4294967280 bytes; at most 536870912 are accepted",
        "the record claims to have 805306368 bytes; at most 536870912 are accepted",
    };
    struct server_act act;

    (void)state;
    for (int i = 0; i < 2; i++) {
        char *expected = th_printf(
            "1@0 {trace,<0.1.0>,exit,normal}\npartial: record 2 at byte 61 is damaged: all bytes "
            "up to the next record are lost: %s\n2@83 {drop,0}\n3@83 {trace,<0.1.0>,exit,normal}\n",
            reasons[i]);
        stream.size = 0;
        add_messages(1);
        th_buffer_add_byte(&stream, 0);
        th_buffer_add(&stream, sizes[i], 4);
        th_buffer_add(&stream, "\x83h\x04w\x05trace, and more", 17);
        add_messages(1);
        act = whole();
        assert_string_equal(play(&act), expected);
        th_free(expected);
    }
}

/* A plausible size is not believed either if the bytes are no message. */
static void a_record_that_does_not_begin_as_a_message_is_skipped(void **state)
{
    struct server_act act;

    (void)state;
    add_messages(1);
    th_buffer_add(&stream, "\0\1\0\0\0what is this, then?", 24);
    add_messages(1);
    act = whole();
    assert_string_equal(
        play(&act),
        "1@0 {trace,<0.1.0>,exit,normal}\npartial: record 2 at byte 61 is damaged: all bytes up to "
        "the next record are lost: the record claims to have 16777216 bytes, but does not begin as "
        "a message\n2@85 {drop,0}\n3@85 {trace,<0.1.0>,exit,normal}\n");
}

/* --- Reconnections ---------------------------------------------------------------------------- */

static void note(void *context, const char *text)
{
    (void)context;
    th_buffer_printf(&notices, "%s\n", text);
}

static const struct th_reader_options again = {.reconnect_ns = 1000000000, .notice = note};

/* Returns the notices, with times replaced by N. */
static const char *noted(void)
{
    static struct th_buffer text;
    const char *from = th_buffer_text(&notices);

    text.size = 0;
    for (; *from; from++) {
        bool time = from[0] >= '0' && from[0] <= '9' && from[1] == '.';
        th_buffer_add_byte(&text, time ? 'N' : (unsigned char)*from);
        if (time)
            from += strcspn(from, " ") - 1;
    }
    return th_buffer_text(&text);
}

/* The connection was lost within a record; the next one, of a node without a name, continues. */
static void a_lost_connection_is_made_again(void **state)
{
    struct server_act acts[2];
    struct th_reader *reader;

    (void)state;
    add_messages(3);
    acts[0] = acts[1] = whole();
    acts[0].size -= 10;
    assert_string_equal(
        play_for(acts, 2, &again, &reader),
        "1@0 {trace,<0.1.0>,exit,normal}\n2@61 {trace,<0.1.0>,exit,normal}\npartial: record 3 at "
        "byte 122 is truncated: the input ends after 46 of the record's 56 bytes\n3@0 "
        "{drop,0}\n4@0 {trace,<0.1.0>,exit,normal}\n5@61 {trace,<0.1.0>,exit,normal}\n6@122 "
        "{trace,<0.1.0>,exit,normal}\n");
    assert_non_null(
        strstr(noted(), "the connection was lost after 2 records; trying to connect again for 1 "
                        "s\nconnected again after N s\nthe connection was closed after 6 records; "
                        "trying to connect again for 1 s\ncannot connect again: "));
    assert_int_equal(th_replay_reader_info(reader)->damages, 1);
    assert_int_equal(th_replay_reader_info(reader)->gaps, 1);
    assert_int_equal(th_replay_reader_info(reader)->drops, 0);
    assert_int_equal(th_replay_reader_info(reader)->bytes, 6 * RECORD - 10);
    assert_int_equal(th_replay_reader_info(reader)->nodes, 2);
    th_replay_reader_close(reader);
}

/* The connection was closed in order; a possible loss is reported nevertheless. */
static void a_closed_connection_is_made_again(void **state)
{
    struct server_act acts[2];
    struct th_reader *reader;
    const char *told;

    (void)state;
    add_messages(1);
    acts[0] = acts[1] = whole();
    told = play_for(acts, 2, &again, &reader);
    assert_non_null(strstr(told, "1@0 {trace,<0.1.0>,exit,normal}\npartial: the connection was "
                                 "closed, and made again after 0."));
    assert_non_null(strstr(told, " s: events in between are lost\n"
                                 "2@0 {drop,0}\n3@0 {trace,<0.1.0>,exit,normal}\n"));
    assert_int_equal(th_replay_reader_info(reader)->damages, 1);
    assert_int_equal(th_replay_reader_info(reader)->nodes, 2);
    th_replay_reader_close(reader);
}

/* The node refuses a second client as long as the old connection seems alive; the next connection
 * may begin within a record. */
static void a_connection_is_made_again_after_refusals(void **state)
{
    struct server_act acts[4] = {{0}};
    struct th_reader *reader;

    (void)state;
    add_messages(2);
    acts[0] = acts[3] = whole();
    acts[0].reset = true;
    acts[3].data = stream.data + 20;
    acts[3].size -= 20;
    assert_string_equal(
        play_for(acts, 4, &again, &reader),
        "1@0 {trace,<0.1.0>,exit,normal}\n2@61 {trace,<0.1.0>,exit,normal}\npartial: record 3 at "
        "byte 122 and the rest of the connection are lost: the connection was lost: Connection "
        "reset by peer\npartial: the connection begins with byte 110, not with a record: all bytes "
        "up to the next record are lost: the previous client may have left within a record, or the "
        "server is not a trace port\n3@41 {drop,0}\n4@41 {trace,<0.1.0>,exit,normal}\n");
    assert_int_equal(th_replay_reader_info(reader)->gaps, 1);
    th_replay_reader_close(reader);
}

static void reconnection_ends_after_its_time_limit(void **state)
{
    struct server_act act;
    struct th_reader *reader;
    struct th_event event;
    int64_t began = th_clock_real_monotonic();

    (void)state;
    add_messages(1);
    act = whole();
    assert_string_equal(play_for(&act, 1, &again, &reader), "1@0 {trace,<0.1.0>,exit,normal}\n");
    assert_order(th_clock_real_monotonic() - began, >=, again.reconnect_ns);
    assert_non_null(strstr(noted(), "the connection was closed after 1 record; trying to connect "
                                    "again for 1 s\ncannot connect again: "));
    notices.size = 0;
    assert_int_equal(th_replay_reader_next(reader, &event), TH_END);
    assert_int_equal(notices.size, 0);
    assert_int_equal(th_replay_reader_info(reader)->damages, 0);
    th_replay_reader_close(reader);
}

/* The node's name and creation decide: the same node continues in the same world. */
static void another_node_or_creation_counts_as_a_new_node(void **state)
{
    static const struct {
        const char *name;
        uint32_t creation;
        uint32_t nodes;
    } seconds[] = {{"a@b", 7, 1}, {"a@b", 8, 2}, {"c@b", 7, 2}, {"nonode@nohost", 0, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof seconds / sizeof seconds[0]; i++) {
        struct server_act acts[2] = {{0}};
        struct th_reader *reader;
        size_t first;
        stream.size = 0;
        add_message_of("a@b", 7);
        first = stream.size;
        add_message_of(seconds[i].name, seconds[i].creation);
        acts[0] = (struct server_act){.data = stream.data, .size = first};
        acts[1] = (struct server_act){.data = stream.data + first, .size = stream.size - first};
        /* In both cases the node's identifiers are the local ones. */
        assert_non_null(strstr(play_for(acts, 2, &again, &reader),
                               "2@0 {drop,0}\n3@0 {trace,<0.1.0>,exit,normal}\n"));
        assert_int_equal(th_replay_reader_info(reader)->nodes, seconds[i].nodes);
        assert_int_equal(th_replay_reader_info(reader)->node.creation, seconds[i].creation);
        th_replay_reader_close(reader);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_stream_is_read_in_pieces_of_any_size),
        TEST(a_recording_is_read_from_a_connection),
        TEST(records_are_delivered_as_they_arrive),
        TEST(a_huge_length_takes_no_memory),
        TEST(a_connection_can_begin_with_drops),
        TEST(a_connection_can_begin_within_a_record),
        TEST(a_connection_can_begin_within_a_long_record),
        TEST(a_server_that_is_no_trace_port_is_reported),
        TEST(a_connection_closed_without_data_is_reported),
        TEST(a_connection_can_end_at_any_byte),
        TEST(a_lost_connection_is_reported),
        TEST(bytes_between_records_are_skipped),
        TEST(a_record_beyond_the_size_limit_is_skipped),
        TEST(a_record_that_does_not_begin_as_a_message_is_skipped),
        TEST(a_lost_connection_is_made_again),
        TEST(a_closed_connection_is_made_again),
        TEST(a_connection_is_made_again_after_refusals),
        TEST(reconnection_ends_after_its_time_limit),
        TEST(another_node_or_creation_counts_as_a_new_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
