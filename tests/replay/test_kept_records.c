/* Tests records that are kept in memory: parts of them are streams with the same bytes, in one format; and records whose
 * terms are shrunk. */
#include "host/base/base.h"
#include "host/replay/replay.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <string.h>

static const char *const messages[] = {
    "{trace,<0.1.0>,call,{m,f,[1,2]}}",
    "{trace,<0.2.0>,send,{a,\"text\"},<0.1.0>}",
    "{trace_ts,<0.1.0>,exit,normal,{1795,233754,730735}}",
    "{trace,<0.1.0>,call,{m,f,2}}",
};
enum { MESSAGES = sizeof messages / sizeof messages[0], DROPPED = 7 };

static struct th_buffer stream;

static int begin(void **state)
{
    (void)state;
    for (size_t i = 0; i < MESSAGES; i++) {
        stream_add_message(&stream, messages[i]);
        if (i == 1)
            stream_add_drop(&stream, DROPPED);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_buffer_free(&stream);
    return 0;
}

/* Keeps all records of FROM in FORMAT. */
static struct th_replay_kept keep(const struct th_buffer *from, enum th_format format)
{
    struct th_replay_kept kept = {.how.format = format, .most = SIZE_MAX};
    struct th_event event = {0};
    struct th_reader *reader;

    assert_int_equal(stream_open(from->data, from->size, NULL, &reader), TH_OK);
    while (th_replay_reader_next(reader, &event) == TH_OK)
        assert_int_equal(th_replay_kept_add(&kept, reader, &event), TH_OK);
    th_replay_reader_close(reader);
    return kept;
}

static struct th_buffer write_all(const struct th_replay_kept *kept)
{
    const size_t all[] = {0, 1, 2, 3, 4};
    struct th_buffer out = {0};

    assert_int_equal(kept->count, sizeof all / sizeof all[0]);
    th_replay_kept_write(kept, all, kept->count, &out);
    return out;
}

static void assert_same_bytes(const struct th_buffer *a, const struct th_buffer *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static void test_same_bytes(void **state)
{
    struct th_replay_kept kept = keep(&stream, TH_FORMAT_TRACE_PORT);
    struct th_buffer out = write_all(&kept);

    (void)state;
    assert_same_bytes(&out, &stream);
    th_buffer_free(&out);
    th_replay_kept_free(&kept);
}

/* A stream is converted to the format of the list; lines are kept as they are, also the last one without a newline. */
static void test_formats(void **state)
{
    struct th_replay_kept lines = keep(&stream, TH_FORMAT_JSONL), kept_lines, records;
    struct th_buffer json = write_all(&lines), again, port;
    size_t whole = json.size;

    (void)state;
    json.size--;
    kept_lines = keep(&json, TH_FORMAT_JSONL);
    json.size = whole;
    again = write_all(&kept_lines);
    assert_same_bytes(&again, &json);
    records = keep(&json, TH_FORMAT_TRACE_PORT);
    port = write_all(&records);
    assert_same_bytes(&port, &stream);
    th_replay_kept_free(&lines);
    th_replay_kept_free(&kept_lines);
    th_replay_kept_free(&records);
    th_buffer_free(&json);
    th_buffer_free(&again);
    th_buffer_free(&port);
}

static void test_part_of_the_records(void **state)
{
    struct th_replay_kept kept = keep(&stream, TH_FORMAT_TRACE_PORT);
    struct th_buffer out = {0};

    (void)state;
    th_replay_kept_write(&kept, (size_t[]){1, 4}, 2, &out);
    assert_string_equal(stream_read(&out), "1@0 {trace,<0.2.0>,send,{a,\"text\"},<0.1.0>}\n"
                                           "2@94 {trace,<0.1.0>,call,{m,f,2}}\n");
    th_buffer_free(&out);
    th_replay_kept_free(&kept);
}

static void test_classes(void **state)
{
    struct th_replay_kept kept = keep(&stream, TH_FORMAT_TRACE_PORT);
    const struct th_replay_classes *c = kept.classes;

    (void)state;
    assert_true(c[0].of[TH_REPLAY_CLASS_TRACEE] == c[3].of[TH_REPLAY_CLASS_TRACEE]);
    assert_true(c[0].of[TH_REPLAY_CLASS_TRACEE] != c[1].of[TH_REPLAY_CLASS_TRACEE]);
    assert_true(c[0].of[TH_REPLAY_CLASS_TAG] != c[1].of[TH_REPLAY_CLASS_TAG]);
    assert_true(c[0].of[TH_REPLAY_CLASS_FUNCTION] == c[4].of[TH_REPLAY_CLASS_FUNCTION]);
    assert_true(c[0].of[TH_REPLAY_CLASS_FUNCTION] != c[1].of[TH_REPLAY_CLASS_FUNCTION]);
    th_replay_kept_free(&kept);
}

static void test_limit(void **state)
{
    struct th_replay_kept kept = {.most = 10};
    struct th_event event = {0};
    struct th_reader *reader;

    (void)state;
    assert_int_equal(stream_open(stream.data, stream.size, NULL, &reader), TH_OK);
    assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
    assert_int_equal(th_replay_kept_add(&kept, reader, &event), TH_FAILED);
    assert_string_equal(
        stream_causes(),
        "the records up to the crash have more than 10 bytes: give a larger --max-memory");
    th_replay_reader_close(reader);
    th_replay_kept_free(&kept);
}

/* --- Parts ------------------------------------------------------------------------------------- */

static bool holds_with_send(void *context, const struct th_buffer *changed)
{
    ++*(unsigned *)context;
    return strstr(stream_read(changed), "send,") != NULL;
}

static void test_part_is_shrunk(void **state)
{
    const struct th_writer_options how = {.format = TH_FORMAT_TRACE_PORT};
    struct th_buffer before = {0}, after = {0};
    const bool stopped = false;
    struct th_replay_part part;
    unsigned trials = 0;

    (void)state;
    assert_int_equal(th_replay_part_read(&part, &stream, &how, false), TH_OK);
    th_replay_part_write(&part, &before);
    assert_same_bytes(&before, &stream);
    th_replay_part_shrink(&part, SIZE_MAX, &stopped, holds_with_send, &trials);
    th_replay_part_write(&part, &after);
    assert_string_equal(stream_read(&after),
                        "1@0 {trace,<0.1.0>,call,{m,f,[]}}\n"
                        "2@63 {trace,<0.2.0>,send,[],<0.1.0>}\n"
                        "3@145 {drop,7}\n"
                        "4@150 {trace_ts,<0.1.0>,exit,[],{1795,233754,730735}}\n"
                        "5@223 {trace,<0.1.0>,call,{m,f,2}}\n");
    assert_in_range(trials, 3, 6);
    th_replay_part_free(&part);
    th_buffer_free(&before);
    th_buffer_free(&after);
}

/* No trial is made after a stop. */
static void test_stopped_shrinking(void **state)
{
    const struct th_writer_options how = {.format = TH_FORMAT_TRACE_PORT};
    struct th_replay_part part;
    const bool stopped = true;
    unsigned trials = 0;

    (void)state;
    assert_int_equal(th_replay_part_read(&part, &stream, &how, false), TH_OK);
    th_replay_part_shrink(&part, SIZE_MAX, &stopped, holds_with_send, &trials);
    assert_int_equal(trials, 0);
    th_replay_part_free(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_bytes, begin, end),
        cmocka_unit_test_setup_teardown(test_formats, begin, end),
        cmocka_unit_test_setup_teardown(test_part_of_the_records, begin, end),
        cmocka_unit_test_setup_teardown(test_classes, begin, end),
        cmocka_unit_test_setup_teardown(test_limit, begin, end),
        cmocka_unit_test_setup_teardown(test_part_is_shrunk, begin, end),
        cmocka_unit_test_setup_teardown(test_stopped_shrinking, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
