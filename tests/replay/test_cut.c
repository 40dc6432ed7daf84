/* Tests that the shares of a trace-port file have each of its records once, with its number and its
 * byte, wherever the file is cut. */
#include "host/base/base.h"
#include "host/replay/replay_internal.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <string.h>

enum { CUTS = 12 };

static struct th_reader *open_file(const char *file)
{
    struct th_reader *reader;

    assert_int_equal(th_replay_reader_open(file, NULL, &reader), TH_OK);
    return reader;
}

static void note(struct th_buffer *text, const struct th_event *event)
{
    th_buffer_printf(text, "%llu@%llu %d %d\n", (unsigned long long)event->number,
                     (unsigned long long)event->position, (int)event->kind, (int)event->tag);
}

/* Appends the records up to the end, or to the first damage. */
static void read_on(struct th_reader *reader, struct th_buffer *text)
{
    struct th_event event = {0};

    while (th_replay_reader_next(reader, &event) == TH_OK)
        note(text, &event);
    th_error_clear();
}

static bool changes_world(const struct th_event *event)
{
    return event->kind < TH_EVENT_SEQ_TRACE &&
           (event->tag == TH_TAG_register || event->tag == TH_TAG_unregister ||
            event->tag == TH_TAG_exit || event->tag == TH_TAG_closed);
}

/* Returns how many records before byte POSITION change the world. */
static size_t count_changes(const char *file, uint64_t position)
{
    struct th_reader *reader = open_file(file);
    struct th_event event = {0};
    size_t count = 0;

    while (th_replay_reader_next(reader, &event) == TH_OK && event.position < position)
        count += changes_world(&event);
    th_error_clear();
    th_replay_reader_close(reader);
    return count;
}

/* Appends the records from byte POSITION on, after passing over those before. False: these are
 * damaged. */
static bool read_behind(const char *file, uint64_t position, struct th_buffer *text)
{
    struct th_reader *reader = open_file(file);
    struct th_event event = {0};
    enum th_status status;
    size_t changes = 0;

    while ((status = th_replay_reader_pass(reader, position, &event)) == TH_OK) {
        assert_true(event.position < position);
        changes += changes_world(&event);
    }
    if (status == TH_END) {
        assert_int_equal(changes, count_changes(file, position));
        read_on(reader, text);
    }
    th_error_clear();
    th_replay_reader_close(reader);
    return status == TH_END;
}

static void cut(const char *file)
{
    struct th_reader *reader = open_file(file);
    uint64_t size = th_replay_reader_info(reader)->size;
    struct th_buffer whole = {0};

    read_on(reader, &whole);
    th_replay_reader_close(reader);
    for (uint64_t i = 1; i < CUTS; i++) {
        struct th_buffer parts = {0};
        reader = open_file(file);
        th_replay_reader_limit(reader, size * i / CUTS);
        read_on(reader, &parts);
        if (read_behind(file, size * i / CUTS, &parts))
            assert_string_equal(th_buffer_text(&parts), th_buffer_text(&whole));
        parts.size = 0;
        th_replay_reader_close(reader);

        /* Without the limit the same reader reads the rest. */
        reader = open_file(file);
        th_replay_reader_limit(reader, size * i / CUTS);
        read_on(reader, &parts);
        th_replay_reader_limit(reader, 0);
        read_on(reader, &parts);
        assert_string_equal(th_buffer_text(&parts), th_buffer_text(&whole));
        th_buffer_free(&parts);
        th_replay_reader_close(reader);
    }
    th_buffer_free(&whole);
}

static void each_sample_can_be_cut_anywhere(void **state)
{
    (void)state;
    stream_each_sample(cut);
}

static void a_limit_can_be_before_the_first_record_and_behind_the_last(void **state)
{
    struct th_reader *reader = open_file("samples/recordings/s13_procs.trace");
    struct th_buffer text = {0}, whole = {0};
    struct th_event event = {0};

    (void)state;
    th_replay_reader_limit(reader, 1);
    assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
    assert_int_equal(th_replay_reader_next(reader, &event), TH_END);
    th_replay_reader_limit(reader, UINT64_MAX);
    read_on(reader, &text);
    th_replay_reader_close(reader);
    reader = open_file("samples/recordings/s13_procs.trace");
    assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
    read_on(reader, &whole);
    assert_string_equal(th_buffer_text(&text), th_buffer_text(&whole));
    th_buffer_free(&text);
    th_buffer_free(&whole);
    th_replay_reader_close(reader);
}

static void damage_of_a_frame_ends_the_pass(void **state)
{
    struct th_buffer stream = {0};
    struct th_event event = {0};
    struct th_reader *reader;
    enum th_status status;

    (void)state;
    stream_add_message(&stream, "{trace,<0.1.0>,call,{m,f,1}}");
    stream_add_message(&stream, "{trace,<0.1.0>,call,{m,f,1}}");
    stream_add_record(&stream, 7, 3, "abc", 3);
    assert_int_equal(stream_open(stream.data, stream.size, NULL, &reader), TH_OK);
    while ((status = th_replay_reader_pass(reader, 1000, &event)) == TH_OK)
        ;
    assert_int_equal(status, TH_PARTIAL);
    th_error_clear();
    th_replay_reader_close(reader);
    th_buffer_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_can_be_cut_anywhere),
        cmocka_unit_test(a_limit_can_be_before_the_first_record_and_behind_the_last),
        cmocka_unit_test(damage_of_a_frame_ends_the_pass),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
