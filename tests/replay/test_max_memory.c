/* Tests that an event above the memory limit is skipped, whichever part needs the memory. */
#include "host/base/base.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { MOST = TH_READER_LEAST_MEMORY, DEEP = 40000 };

static struct th_buffer stream, term;

static int end(void **state)
{
    (void)state;
    th_buffer_free(&stream);
    th_buffer_free(&term);
    assert_int_equal(th_memory_budget.left, SIZE_MAX);
    return 0;
}

static void repeat(const char *text, size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++)
        th_buffer_add(&term, text, size);
}

static void add_number(unsigned char tag, uint32_t number)
{
    const unsigned char bytes[] = {tag, (unsigned char)(number >> 24),
                                   (unsigned char)(number >> 16), (unsigned char)(number >> 8),
                                   (unsigned char)number};

    th_buffer_add(&term, bytes, sizeof bytes);
}

/* --- External terms --- */

static void tuple(void)
{
    add_number('i', 200000);
    repeat("j", 1, 200000);
}

static void list(void)
{
    add_number('l', 100000);
    repeat("j", 1, 100001);
}

static void strings(void)
{
    static const char text[1000] = "k\3\345";

    add_number('l', 100);
    repeat(text, sizeof text, 100);
    repeat("j", 1, 1);
}

/* 100,000 pairs of integers and nil. */
static void map(void)
{
    add_number('t', 100000);
    for (uint32_t i = 0; i < 100000; i++) {
        add_number('b', i);
        repeat("j", 1, 1);
    }
}

static void floats(void)
{
    add_number('l', 70000);
    repeat("F\77\360\0\0\0\0\0\0", 9, 70000);
    repeat("j", 1, 1);
}

static void references(void)
{
    static const char reference[] = "Z\0\1d\0\1n\0\0\0\1\0\0\0\1";

    add_number('l', 50000);
    repeat(reference, sizeof reference - 1, 50000);
    repeat("j", 1, 1);
}

static void exports(void)
{
    static const char export[] = "qd\0\1md\0\1fa\1";

    add_number('l', 50000);
    repeat(export, sizeof export - 1, 50000);
    repeat("j", 1, 1);
}

static void nested(void)
{
    repeat("h\1", 2, DEEP);
    repeat("j", 1, 1);
}

/* A binary that makes the record itself too long. */
static void record(void)
{
    add_number('m', 2 * MOST);
    memset(th_buffer_reserve(&term, 2 * MOST), 0, 2 * MOST);
    term.size += 2 * MOST;
}

static void add_message(bool packed)
{
    static const char head[] = "h\5d\0\5traceXd\0\1n\0\0\0\1\0\0\0\0\0\0\0\0d\0\4send";
    struct th_buffer bytes = {0}, out = {0};
    uLongf size;

    th_buffer_add(&bytes, head, sizeof head - 1);
    th_buffer_add(&bytes, term.data, term.size);
    th_buffer_add_text(&bytes, "j");
    if (packed) {
        size = compressBound(bytes.size);
        term.size = 0;
        add_number('P', (uint32_t)bytes.size);
        th_buffer_add_byte(&out, 131);
        th_buffer_add(&out, term.data, term.size);
        th_buffer_reserve(&out, size);
        assert_int_equal(compress(out.data + out.size, &size, bytes.data, bytes.size), Z_OK);
        out.size += size;
    } else {
        th_buffer_add_byte(&out, 131);
        th_buffer_add(&out, bytes.data, bytes.size);
    }
    stream_add_record(&stream, 0, (uint32_t)out.size, out.data, out.size);
    th_buffer_free(&bytes);
    th_buffer_free(&out);
}

/* --- Text and JSON, as the field "term" --- */

static void text_of(const char *before, const char *text, size_t count, const char *after)
{
    th_buffer_add_text(&term, before);
    repeat(text, strlen(text), count);
    th_buffer_add_text(&term, after);
}

static void text_list(void)
{
    text_of("\"[a", ",a", 100000, "]\"");
}

static void text_numbers(void)
{
    text_of("\"[1.0", ",1.0", 60000, "]\"");
}

static void text_number(void)
{
    text_of("\"[1", ",-36#ZZZZZZZZZZZZZZZZZZZZZZZZZ", 30000, "]\"");
}

static void text_map(void)
{
    text_of("\"#{a=>1", ",a=>1", 60000, "}\"");
}

static void text_tuple(void)
{
    text_of("\"{a", ",a", 200000, "}\"");
}

static void text_string(void)
{
    text_of("\"\\\"", "x", 100000, "\\\"\"");
}

static void text_escapes(void)
{
    text_of("\"~b\\\"", "\\\\n", 300000, "\\\"\"");
}

static void text_bits(void)
{
    text_of("\"<<1:8000000", ",1:80", 1, ">>\"");
}

static void text_brackets(void)
{
    text_of("\"", "[", DEEP, "");
    text_of("", "]", DEEP, "\"");
}

static void json_list(void)
{
    text_of("[0", ",0", 5000, "]");
}

static void json_objects(void)
{
    text_of("[{}", ",{}", 3500, "]");
}

static void json_binary(void)
{
    text_of("[\"", "x", 300000, "\"]");
}

static void json_external(void)
{
    /* g2wAAYah is a list of 100,001 elements, ampq three nils. */
    text_of("{\"$etf\":\"g2wAAYah", "ampq", 33334, "\"}");
}

static void add_line(void)
{
    static const char before[] = "{\"tracee\":\"<0.1.0>\",\"tag\":\"send\",\"term\":";
    static const char after[] = ",\"extra\":\"[]\"}\n";

    th_buffer_add(&stream, before, sizeof before - 1);
    th_buffer_add(&stream, term.data, term.size);
    th_buffer_add(&stream, after, sizeof after - 1);
}

/* --- Attempts --------------------------------------------------------------------------------- */

/* Reads the stream and returns the number of events that are malformed because of the limit; *WHOLE
 * gets that of the others. MOST_MEMORY 0: the default limit. */
static unsigned pass_over(size_t most_memory, unsigned *whole)
{
    const struct th_reader_options options = {.max_memory = most_memory};
    struct th_reader *reader;
    struct th_event event = {0};
    enum th_status status;
    unsigned refused = 0;
    th_env env;

    *whole = 0;
    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(stream_open(stream.data, stream.size, &options, &reader), TH_OK);
    while ((status = th_replay_reader_next(reader, &event)) != TH_END) {
        th_term tuple;
        if (status == TH_OK)
            status = event.source->whole(&event, &env, &tuple);
        if (status == TH_OK) {
            ++*whole;
        } else {
            const char *why = stream_causes();
            if (status != TH_MALFORMED || !strstr(why, "(--max-memory)"))
                fail_msg("%d: %s", status, why);
            refused++;
        }
        assert_true(most_memory == 0 || th_env_footprint(&env) <= 2 * most_memory);
        th_env_clear(&env);
    }
    th_replay_reader_close(reader);
    th_env_release(&env);
    return refused;
}

static void check(const char *name)
{
    unsigned whole;

    if (pass_over(MOST, &whole) != 1 || whole != 2)
        fail_msg("%s is not passed over, or not alone", name);
    if (pass_over(0, &whole) != 0 || whole != 3)
        fail_msg("%s is no event", name);
    stream.size = 0;
}

struct kind {
    const char *name;
    void (*fill)(void);
};

#define KIND(name)  \
    {               \
#name, name \
    }

static void records_beyond_the_memory_limit_are_refused(void **state)
{
    static const struct kind kinds[] = {KIND(tuple),   KIND(list),   KIND(strings),
                                        KIND(map),     KIND(floats), KIND(references),
                                        KIND(exports), KIND(nested), KIND(record)};

    (void)state;
    for (size_t i = 0; i < 2 * (sizeof kinds / sizeof kinds[0]); i++) {
        stream_add_message(&stream, "{trace,<0.1.0>,'receive',before}");
        term.size = 0;
        kinds[i / 2].fill();
        add_message(i % 2);
        stream_add_message(&stream, "{trace,<0.1.0>,'receive',behind}");
        check(kinds[i / 2].name);
    }
}

static void lines_beyond_the_memory_limit_are_refused(void **state)
{
    static const struct kind kinds[] = {KIND(text_list),    KIND(text_numbers), KIND(text_number),
                                        KIND(text_map),     KIND(text_tuple),   KIND(text_string),
                                        KIND(text_escapes), KIND(text_bits),    KIND(text_brackets),
                                        KIND(json_list),    KIND(json_objects), KIND(json_binary),
                                        KIND(json_external)};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        term.size = 0;
        th_buffer_add_text(&term, "\"before\"");
        add_line();
        term.size = 0;
        kinds[i].fill();
        add_line();
        term.size = 0;
        th_buffer_add_text(&term, "\"behind\"");
        add_line();
        check(kinds[i].name);
    }
}

/* A long line is given up before it is complete, and the buffer has not grown for it. */
static void a_line_longer_than_the_limit_is_not_buffered(void **state)
{
    (void)state;
    th_buffer_add_text(&term, "\"");
    repeat("x", 1, 3 * MOST);
    th_buffer_add_text(&term, "\"");
    add_line();
    th_buffer_add_text(&stream, "{\"drop\":1}\n");
    {
        const struct th_reader_options options = {.max_memory = MOST};
        struct th_reader *reader;
        struct th_event event = {0};

        assert_int_equal(stream_open(stream.data, stream.size, &options, &reader), TH_OK);
        assert_int_equal(th_replay_reader_next(reader, &event), TH_MALFORMED);
        assert_string_equal(stream_causes(), "record 1 at byte 0 (line 1) is damaged: the line is "
                                             "longer than 1048576 bytes (--max-memory)");
        assert_string_equal(stream_tell(reader), "2@3145785 {drop,1}\n");
        assert_int_equal(th_replay_reader_next(reader, &event), TH_END);
        th_replay_reader_close(reader);
    }
}

static void a_truncated_record_beyond_the_limit_is_reported(void **state)
{
    const struct th_reader_options options = {.max_memory = MOST};
    struct th_reader *reader;
    struct th_event event = {0};

    (void)state;
    record();
    add_message(false);
    assert_int_equal(stream_open(stream.data, stream.size - 10, &options, &reader), TH_OK);
    assert_int_equal(th_replay_reader_next(reader, &event), TH_PARTIAL);
    assert_string_equal(stream_causes(), "record 1 at byte 0 is truncated: the input ends after "
                                         "2097183 of the record's 2097193 bytes");
    assert_int_equal(th_replay_reader_next(reader, &event), TH_END);
    th_replay_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(records_beyond_the_memory_limit_are_refused, end),
        cmocka_unit_test_teardown(lines_beyond_the_memory_limit_are_refused, end),
        cmocka_unit_test_teardown(a_line_longer_than_the_limit_is_not_buffered, end),
        cmocka_unit_test_teardown(a_truncated_record_beyond_the_limit_is_reported, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
