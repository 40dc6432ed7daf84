/*
 * Tests trace-port files: the skimmed parts of a record are those of its term, in all recordings of
 * real nodes; damage is reported with its place, and sound records around it are read.
 */
#include "host/base/base.h"
#include "host/term/term.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include "host/replay/replay_internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct th_buffer stream;

static int begin(void **state)
{
    (void)state;
    stream.size = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_buffer_free(&stream);
    th_error_clear();
    return 0;
}

/* --- Recordings of real nodes ----------------------------------------------------------------- */

static void same_term(th_term a, th_term b)
{
    assert_int_equal(a == TH_NONE, b == TH_NONE);
    assert_true(a == TH_NONE || th_identical(a, b));
}

static void check_function(struct th_event *event, th_term term)
{
    struct th_mfa function, expected;

    if (!th_trace_tag_has_function(event->tag) ||
        !th_trace_event_function_from_term(term, &expected)) {
        assert_int_equal(event->source->function(event, &function), TH_MALFORMED);
        return;
    }
    assert_int_equal(event->source->function(event, &function), TH_OK);
    assert_int_equal(function.module, expected.module);
    assert_int_equal(function.function, expected.function);
    assert_int_equal(function.arity, expected.arity);
}

/* Asserts that each skimmed part of the event is that of its whole tuple. */
static void check_event(struct th_event *event, th_env *env)
{
    struct th_event expected = *event;
    th_term tuple;

    assert_int_equal(event->source->whole(event, env, &tuple), TH_OK);
    assert_int_equal(th_trace_event_from_tuple(&expected, tuple, false), TH_OK);
    assert_int_equal(event->kind, expected.kind);
    assert_int_equal(event->tag, expected.tag);
    assert_int_equal(event->tuple_size, expected.tuple_size);
    same_term(event->tracee, expected.tracee);
    check_function(event, expected.term);
    if (event->number % 2) /* the time's place is found by decoding or by search */
        assert_int_equal(th_trace_event_time(event), TH_OK);
    assert_int_equal(th_trace_event_decode(event, env), TH_OK);
    assert_int_equal(th_trace_event_time(event), TH_OK);
    same_term(event->term, expected.term);
    same_term(event->extra, expected.extra);
    same_term(event->match_spec_result, expected.match_spec_result);
    same_term(event->scheduler_id, expected.scheduler_id);
    same_term(event->label, expected.label);
    assert_int_equal(event->dropped, expected.dropped);
    assert_int_equal(event->time.kind, expected.time.kind);
    assert_int_equal(event->time.ns, expected.time.ns);
    assert_int_equal(event->time.unique, expected.time.unique);
    assert_term_identical(th_trace_event_to_tuple(event, env), tuple);
}

/* Returns the number of records that OTP itself found in FILE; UINT64_MAX if unknown. */
static uint64_t recorded(const char *file, bool *damaged)
{
    unsigned long long total = UINT64_MAX;
    char counts[200], line[200];
    FILE *in;

    snprintf(counts, sizeof counts, "%.*s.counts.txt", (int)(strlen(file) - strlen(".trace")),
             file);
    in = fopen(counts, "r");
    while (in && total == UINT64_MAX && fgets(line, sizeof line, in)) {
        *damaged = sscanf(line, "records_before_error %llu", &total) == 1;
        if (!*damaged)
            sscanf(line, "total %llu", &total);
    }
    if (in)
        fclose(in);
    return total;
}

static void check_sample(const char *file)
{
    bool damaged = false;
    uint64_t expected = recorded(file, &damaged);
    struct th_event event = {0};
    struct th_reader *reader;
    enum th_status status;
    uint64_t records = 0;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_replay_reader_open(file, NULL, &reader), TH_OK);
    assert_null(th_replay_reader_info(reader)->note);
    while ((status = th_replay_reader_next(reader, &event)) == TH_OK) {
        assert_int_equal(event.number, ++records);
        check_event(&event, &env);
        th_env_clear(&env);
    }
    assert_true(expected == UINT64_MAX || records == expected);
    assert_int_equal(status, damaged ? TH_PARTIAL : TH_END);
    assert_int_equal(th_replay_reader_info(reader)->records, records);
    assert_int_equal(th_replay_reader_info(reader)->damages, damaged);
    assert_int_equal(th_replay_reader_next(reader, &event), TH_END);
    assert_string_equal(th_replay_reader_info(reader)->format, "trace-port");
    th_replay_reader_close(reader);
    th_env_release(&env);
    th_error_clear();
}

static void recordings_are_read_completely(void **state)
{
    (void)state;
    stream_each_sample(check_sample);
}

static void skimming_allocates_nothing(void **state)
{
    struct th_event event = {0};
    struct th_reader *reader;
    unsigned long allocated;

    (void)state;
    assert_int_equal(
        th_replay_reader_open("samples/recordings/s04_genserver_pingpong.trace", NULL, &reader),
        TH_OK);
    assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
    allocated = th_alloc_count();
    while (th_replay_reader_next(reader, &event) == TH_OK)
        continue;
    assert_int_equal(th_alloc_count(), allocated);
    th_replay_reader_close(reader);
}

/* --- Drops, and terms that are no trace messages ---------------------------------------------- */

static void drop_records_are_read(void **state)
{
    struct th_event event = {0};
    struct th_reader *reader;
    struct th_mfa function;

    (void)state;
    stream_add_drop(&stream, 2243);
    stream_add_message(&stream, "{trace,<0.1.0>,exit,normal}");
    stream_add_drop(&stream, UINT32_MAX);
    assert_string_equal(stream_read(&stream), "1@0 {drop,2243}\n"
                                              "2@5 {trace,<0.1.0>,exit,normal}\n"
                                              "3@66 {drop,4294967295}\n");
    stream_open(stream.data, stream.size, NULL, &reader);
    assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
    assert_int_equal(event.kind, TH_EVENT_DROP);
    assert_int_equal(event.dropped, 2243);
    assert_int_equal(th_trace_event_decode(&event, NULL), TH_OK);
    assert_int_equal(th_trace_event_time(&event), TH_OK);
    assert_int_equal(event.time.kind, TH_TIME_NONE);
    assert_int_equal(event.source->function(&event, &function), TH_MALFORMED);
    while (th_replay_reader_next(reader, &event) == TH_OK)
        continue;
    assert_int_equal(th_replay_reader_info(reader)->drops, 2243 + (uint64_t)UINT32_MAX);
    assert_int_equal(th_replay_reader_info(reader)->bytes, stream.size);
    th_replay_reader_close(reader);
}

/* Sound terms that are no trace messages are reported as such, before and after anything was
 * learned of the stream. */
static void terms_that_are_no_trace_messages_are_reported(void **state)
{
    static const char *const terms[] = {
        "hello",
        "[]",
        "{}",
        "{trace}",
        "{drop,5}",
        "{trace,<0.1.0>,call}",
        "{trace,me,call,{m,f,1}}",
        "{trace,{<0.1.0>},call,{m,f,1}}",
        "{trace,<0.1.0>,cell,{m,f,1}}",
        "{trace,<0.1.0>,trace_status,{m,f,1}}",
        "{trace,<0.1.0>,<<>>,{m,f,1}}",
        "{trace,<0.1.0>,call,{m,f,1},1,2,3}",
        "{trace,<0.1.0>,exit,normal,1,2}",
        "{trace_ts,<0.1.0>,call,{m,f,1}}",
        "{traces,<0.1.0>,call,{m,f,1}}",
        "{seq_trace,0}",
        "{seq_trace,0,1,2,3}",
    };
    struct th_buffer expected = {0};
    int number = 0;

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
            th_buffer_printf(&expected, "%d@%zu other %s\n", ++number, stream.size, terms[i]);
            stream_add_message(&stream, terms[i]);
        }
        th_buffer_printf(&expected, "%d@%zu {trace,<0.1.0>,exit,normal}\n", ++number, stream.size);
        stream_add_message(&stream, "{trace,<0.1.0>,exit,normal}");
    }
    assert_string_equal(stream_read(&stream), th_buffer_text(&expected));
    th_buffer_free(&expected);
}

/* A message whose decoding shows that it is malformed is still available as a whole term. */
static void malformed_messages_are_available_as_terms(void **state)
{
    static const struct {
        const char *term, *decode, *time;
    } cases[] = {
        {"{trace,<0.1.0>,exit,normal,x}",
         "the record is not a trace message: the scheduler is not an integer", ""},
        {"{trace_ts,<0.1.0>,exit,normal,never}", "", "the last element is not a time stamp"},
        {"{trace_ts,<0.1.0>,exit,normal,{1,2,1000000}}", "",
         "the last element is not a time stamp"},
        {"{trace_ts,<0.1.0>,exit,normal,18446744073709551616}", "",
         "the last element is not a time stamp"},
        {"{seq_trace,0,x,never}", "", "the last element is not a time stamp"},
    };
    struct th_event event = {0};
    struct th_reader *reader;
    char line[200];
    th_env env;

    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stream.size = 0;
        stream_add_message(&stream, cases[i].term);
        snprintf(line, sizeof line, "1@0 %s\n", cases[i].term);
        assert_string_equal(stream_read(&stream), line);
        stream_open(stream.data, stream.size, NULL, &reader);
        assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
        assert_int_equal(th_trace_event_decode(&event, &env),
                         *cases[i].decode ? TH_MALFORMED : TH_OK);
        assert_string_equal(stream_causes(), cases[i].decode);
        assert_int_equal(th_trace_event_time(&event), *cases[i].time ? TH_MALFORMED : TH_OK);
        assert_string_equal(stream_causes(), cases[i].time);
        th_replay_reader_close(reader);
    }
    th_env_release(&env);
}

static void an_ambiguous_integer_is_read_as_the_option_says(void **state)
{
    struct th_reader_options options = {.scheduler_id = true};
    struct th_event event = {0};
    struct th_reader *reader;
    th_env env;

    (void)state;
    stream_add_message(&stream, "{trace,<0.1.0>,call,{m,f,1},2}");
    th_env_init(&env, TH_ENV_PLAIN);
    for (int scheduler = 0; scheduler < 2; scheduler++) {
        stream_open(stream.data, stream.size, scheduler ? &options : NULL, &reader);
        assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
        assert_int_equal(th_trace_event_decode(&event, &env), TH_OK);
        assert_int_equal(event.match_spec_result, scheduler ? TH_NONE : th_small(2));
        assert_int_equal(event.scheduler_id, scheduler ? th_small(2) : TH_NONE);
        th_replay_reader_close(reader);
    }
    th_env_release(&env);
}

/* --- Damage ----------------------------------------------------------------------------------- */

/* Returns the expected text for the first SIZE bytes of two records of 61 bytes and a drop. */
static const char *expected_of(size_t size)
{
    static char text[400];
    size_t left = size;
    int length = 0;

    for (int number = 1; number <= 3; number++) {
        size_t whole = number == 3 ? 5 : 61;
        if (left >= whole)
            length += snprintf(text + length, sizeof text - (size_t)length, "%d@%d %s\n", number,
                               61 * (number - 1),
                               number == 3 ? "{drop,9}" : "{trace,<0.1.0>,exit,normal}");
        else if (left > 5)
            snprintf(text + length, sizeof text - (size_t)length,
                     "partial: record %d at byte %d is truncated: the input ends after %zu of the "
                     "record's 56 bytes\n",
                     number, 61 * (number - 1), left - 5);
        else if (left == 5)
            snprintf(text + length, sizeof text - (size_t)length,
                     "partial: record %d at byte %d is truncated: the input ends after the head of "
                     "the record, before its 56 bytes\n",
                     number, 61 * (number - 1));
        else if (left > 0)
            snprintf(text + length, sizeof text - (size_t)length,
                     "partial: record %d at byte %d is truncated: the input ends after %zu of the "
                     "5 bytes of the record's head\n",
                     number, 61 * (number - 1), left);
        if (left < whole)
            break;
        left -= whole;
    }
    if (size == 0)
        text[0] = 0;
    return text;
}

static void a_recording_can_end_at_any_byte(void **state)
{
    size_t whole;

    (void)state;
    stream_add_message(&stream, "{trace,<0.1.0>,exit,normal}");
    stream_add_message(&stream, "{trace,<0.1.0>,exit,normal}");
    stream_add_drop(&stream, 9);
    whole = stream.size;
    assert_int_equal(whole, 2 * 61 + 5);
    for (stream.size = 0; stream.size <= whole; stream.size++)
        assert_string_equal(stream_read(&stream), expected_of(stream.size));
}

/* No memory is allocated for a size beyond the end. */
static void a_size_beyond_the_end_is_reported(void **state)
{
    (void)state;
    stream_add_message(&stream, "{trace,<0.1.0>,exit,normal}");
    stream_add_record(&stream, 0, UINT32_MAX, "\x83", 1);
    assert_string_equal(stream_read(&stream),
                        "1@0 {trace,<0.1.0>,exit,normal}\npartial: record 2 at byte 61 is "
                        "truncated: the input ends after 1 of the record's 4294967295 bytes\n");
}

/* In a program that embeds the host, missing memory does not end the process. */
static void missing_memory_for_input_is_reported(void **state)
{
    static const char *const told[] = {
        "1@0 {trace,<0.1.0>,exit,normal}\n"
        "partial: record 2 at byte 61 and the rest of the file are lost: cannot read the input: "
        "Cannot allocate memory\n",
        "partial: record 1 at byte 0 and the rest of the file are lost: cannot read the input: "
        "Cannot allocate memory\n",
    };
    struct th_reader *reader;

    (void)state;
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        if (i == 0)
            stream_add_message(&stream, "{trace,<0.1.0>,exit,normal}");
        else
            th_buffer_add_text(&stream, "{\"drop\":"); /* a JSON line */
        assert_int_equal(stream_open(stream.data, stream.size, NULL, &reader), TH_OK);
        reader->input.error = ENOMEM;
        reader->input.ended = true;
        assert_string_equal(stream_tell(reader), told[i]);
        assert_int_equal(th_replay_reader_info(reader)->damages, 1);
        th_replay_reader_close(reader);
        stream.size = 0;
    }
}

static void an_unknown_record_type_ends_the_file(void **state)
{
    (void)state;
    stream_add_message(&stream, "{trace,<0.1.0>,exit,normal}");
    stream_add_record(&stream, 2, 0, "", 0);
    stream_add_message(&stream, "{trace,<0.1.0>,exit,normal}");
    assert_string_equal(
        stream_read(&stream),
        "1@0 {trace,<0.1.0>,exit,normal}\npartial: record 2 at byte 61 is damaged: the rest of the "
        "file is lost: the record begins with byte 2, not with 0 (a message) or 1 (a drop)\n");
}

/* The frame of each record is intact. */
static void a_bad_payload_costs_one_record(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *why;
    } cases[] = {
        {"", 0, "the record is empty"},
        {"\x82\x6a", 2, "the record begins with byte 130, not with 131 as a term does"},
        {"\x83", 1, "the term is damaged or truncated"},
        {"\x83\xff", 2, "the term is damaged or truncated"},
        {"\x83\x6a\x6a\x6a", 4, "2 bytes follow the term"},
        {"\x83\x68\4\x64\0\5trace\x6a\x6a", 12, "the term is damaged or truncated"},
        {"\x83\x68\4\x64\0\5trace\x58\x64\0\1x\0", 17, "the term is damaged or truncated"},
        {"\x83\x68\3\x64\0\x09seq_trace", 15, "the label is damaged or truncated"},
        {"\x83\x50\0\0\0\5garbage", 13, ""},
    };
    char expected[300];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *told;
        stream.size = 0;
        stream_add_message(&stream, "{trace,<0.1.0>,exit,normal}");
        stream_add_record(&stream, 0, (uint32_t)cases[i].size, cases[i].bytes, cases[i].size);
        stream_add_message(&stream, "{trace,<0.1.0>,exit,kill}");
        told = stream_read(&stream);
        snprintf(expected, sizeof expected,
                 "1@0 {trace,<0.1.0>,exit,normal}\n"
                 "malformed: record 2 at byte 61 is damaged: %s",
                 cases[i].why);
        assert_memory_equal(told, expected, strlen(expected));
        snprintf(expected, sizeof expected, "\n3@%zu {trace,<0.1.0>,exit,kill}\n",
                 66 + cases[i].size);
        assert_string_equal(strchr(strchr(told, '\n') + 1, '\n'), expected);
    }
}

/* Damage that skimming does not notice is reported when the terms are decoded. */
static void damage_inside_a_term_is_found_when_it_is_decoded(void **state)
{
    struct th_event event = {0};
    struct th_reader *reader;
    struct th_mfa function;
    th_term tuple;
    th_env env;

    (void)state;
    stream_add_message(&stream, "{trace_ts,<0.1.0>,call,{m,f,[]},{1,2,3}}");
    stream.data[stream.size - 12] = 0xFF; /* the tag of [] */
    stream_open(stream.data, stream.size, NULL, &reader);
    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
    assert_int_equal(event.tag, TH_TAG_call);
    assert_int_equal(th_trace_event_decode(&event, &env), TH_MALFORMED);
    assert_string_equal(th_error_link(0), "the element at byte 50 of the term is damaged");
    assert_int_equal(th_trace_event_time(&event), TH_MALFORMED);
    assert_int_equal(event.source->function(&event, &function), TH_MALFORMED);
    assert_int_equal(event.source->whole(&event, &env, &tuple), TH_MALFORMED);
    assert_false(event.decoded || event.timed);
    th_replay_reader_close(reader);
    th_env_release(&env);
}

/* --- Format ----------------------------------------------------------------------------------- */

static void files_of_other_formats_are_refused(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *why;
    } cases[] = {
        {"BZh91", 5, "the input is compressed with bzip2"},
        {"\x7F"
         "ELF\2",
         5, "the input is a program or shared object (ELF), not a recording"},
        {"\x83\x68\4", 3, "the input is one external term, not a recording"},
        {"hello", 5,
         "the input begins with byte 104; a trace-port file begins with 0 or 1, JSON lines begin "
         "with {"},
        {"\0\0\0\0\0\0\0\0\0\0\0", 11,
         "the input is not a recorded stream: byte 0 stands first, as in a trace-port file, but no "
         "external term follows"},
        {"\0\1\0\0\0\x12\1\0", 8, "the input is not a recorded stream"},
    };
    char expected[300];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stream.size = 0;
        th_buffer_add(&stream, cases[i].bytes, cases[i].size);
        snprintf(expected, sizeof expected, "refused: cannot read stream: %s", cases[i].why);
        assert_memory_equal(stream_read(&stream), expected, strlen(expected));
    }
}

static void paths_that_cannot_be_read_are_reported(void **state)
{
    struct th_reader *reader;

    (void)state;
    assert_int_equal(th_replay_reader_open("no/such/file", NULL, &reader), TH_MALFORMED);
    assert_null(reader);
    assert_string_equal(stream_causes(), "cannot read no/such/file: No such file or directory");
    assert_int_equal(th_replay_reader_open("samples", NULL, &reader), TH_MALFORMED);
    assert_string_equal(stream_causes(), "cannot read samples: the path is a folder");
}

static void an_empty_file_has_no_records(void **state)
{
    (void)state;
    assert_string_equal(stream_read(&stream), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(recordings_are_read_completely, begin, end),
        cmocka_unit_test_setup_teardown(skimming_allocates_nothing, begin, end),
        cmocka_unit_test_setup_teardown(drop_records_are_read, begin, end),
        cmocka_unit_test_setup_teardown(terms_that_are_no_trace_messages_are_reported, begin, end),
        cmocka_unit_test_setup_teardown(malformed_messages_are_available_as_terms, begin, end),
        cmocka_unit_test_setup_teardown(an_ambiguous_integer_is_read_as_the_option_says, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_recording_can_end_at_any_byte, begin, end),
        cmocka_unit_test_setup_teardown(a_size_beyond_the_end_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(an_unknown_record_type_ends_the_file, begin, end),
        cmocka_unit_test_setup_teardown(missing_memory_for_input_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(a_bad_payload_costs_one_record, begin, end),
        cmocka_unit_test_setup_teardown(damage_inside_a_term_is_found_when_it_is_decoded, begin,
                                        end),
        cmocka_unit_test_setup_teardown(files_of_other_formats_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(paths_that_cannot_be_read_are_reported, begin, end),
        cmocka_unit_test_setup_teardown(an_empty_file_has_no_records, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
