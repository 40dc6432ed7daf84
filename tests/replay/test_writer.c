/* Tests rewriting of streams: to the other format and back, the bytes are the same; a file is
 * complete or absent. */
#include "host/base/base.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/skipping.h"
#include "tests/support/stream.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_writer_XXXXXX";
static char port_file[100], json_file[100];
static struct th_buffer stream, written;

static int begin(void **state)
{
    (void)state;
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(port_file, sizeof port_file, "%s/s.trace", folder);
    snprintf(json_file, sizeof json_file, "%s/s.jsonl", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(port_file);
    unlink(json_file);
    assert_int_equal(rmdir(folder), 0); /* fails if any other file was left */
    th_buffer_free(&stream);
    th_buffer_free(&written);
    th_error_clear();
    return 0;
}

/* Writes the events of READER to FILE, up to the first damage. */
static void rewrite(struct th_reader *reader, const char *file, enum th_format format)
{
    const struct th_reader_info *info = th_replay_reader_info(reader);
    struct th_writer_options options = {
        .format = format, .here = info->node, .utf8_atoms = info->utf8_atoms};
    struct th_event event = {0};
    struct th_writer *writer;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_replay_writer_open(file, &options, &writer), TH_OK);
    while (th_replay_reader_next(reader, &event) == TH_OK) {
        if (th_replay_writer_add(writer, &event, &env) != TH_OK)
            fail_msg("%s", stream_causes());
        th_env_clear(&env);
    }
    assert_int_equal(th_replay_writer_commit(writer), TH_OK);
    th_replay_reader_close(reader);
    th_env_release(&env);
}

static void rewrite_file(const char *from, const char *to, enum th_format format)
{
    struct th_reader *reader;

    if (th_replay_reader_open(from, NULL, &reader) != TH_OK)
        fail_msg("%s", stream_causes());
    rewrite(reader, to, format);
}

static struct th_reader *reader_of_stream(void)
{
    struct th_reader *reader;

    if (stream_open(stream.data, stream.size, NULL, &reader) != TH_OK)
        fail_msg("%s", stream_causes());
    return reader;
}

static const char *content_of(const char *file)
{
    written.size = 0;
    stream_add_file(&written, file);
    return th_buffer_text(&written);
}

static void check_sample(const char *file)
{
    struct th_buffer before = {0};

    rewrite_file(file, json_file, TH_FORMAT_JSONL);
    rewrite_file(json_file, port_file, TH_FORMAT_TRACE_PORT);
    stream_add_file(&before, file);
    content_of(port_file);
    /* Damaged bytes at the end were not written. */
    assert_true(written.size <= before.size && before.size - written.size < 120);
    assert_memory_equal(written.data ? (void *)written.data : "", before.data, written.size);
    th_buffer_free(&before);
}

static void recordings_survive_both_conversions(void **state)
{
    (void)state;
    stream_each_sample(check_sample);
}

static void events_are_written_as_json_lines(void **state)
{
    (void)state;
    stream_add_message(&stream, "{trace_ts,<0.1.0>,call,{m,f,[a]},r,2,{1795,233754,730750}}");
    stream_add_drop(&stream, 5);
    stream_add_message(&stream, "{trace_ts,#Port<0.5>,open,<0.1.0>,cat,{-5,7}}");
    stream_add_message(&stream, "{seq_trace,0,{print,{0,1},<0.1.0>,[],\"é\\\"\"},-5}");
    stream_add_message(&stream, "{trace,<0.1.0>,exit,normal}");
    rewrite(reader_of_stream(), json_file, TH_FORMAT_JSONL);
    assert_string_equal(
        content_of(json_file),
        "{\"tracehost\":1,\"node\":\"nonode@nohost\",\"creation\":0}\n"
        "{\"ts\":1795233754730750000,\"ts_kind\":\"timestamp\",\"tracee\":\"<0.1.0>\",\"tag\":"
        "\"call\",\"term\":\"{m,f,[a]}\",\"match_spec_result\":\"r\",\"scheduler_id\":2}\n"
        "{\"drop\":5}\n"
        "{\"ts\":-5,\"ts_kind\":\"strict_monotonic\",\"ts_unique\":7,\"tracee\":\"#Port<0.5>\","
        "\"tag\":\"open\",\"term\":\"<0.1.0>\",\"extra\":\"cat\"}\n"
        "{\"ts\":-5,\"ts_kind\":\"monotonic\",\"tag\":\"seq_trace\",\"label\":\"0\",\"info\":"
        "\"{print,{0,1},<0.1.0>,[],\\\"é\\\\\\\"\\\"}\"}\n"
        "{\"tracee\":\"<0.1.0>\",\"tag\":\"exit\",\"term\":\"normal\"}\n");
    rewrite_file(json_file, port_file, TH_FORMAT_TRACE_PORT);
    content_of(port_file);
    assert_int_equal(written.size, stream.size);
    assert_memory_equal(written.data, stream.data, stream.size);
}

/* A message that fields cannot represent is written as a whole term, and read back. */
static void terms_that_are_no_messages_are_written(void **state)
{
    static const char *const terms[] = {
        "hello",
        "{drop,5}",
        "{trace,<0.1.0>,exit,normal,x}",
        "{trace_ts,<0.1.0>,exit,normal,never}",
        "{trace,<0.1.0>,cell,{m,f,1}}",
        "{seq_trace,0,x,{0,0,-1}}",
    };
    size_t lines = 0;

    (void)state;
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
        stream_add_message(&stream, terms[i]);
    rewrite(reader_of_stream(), json_file, TH_FORMAT_JSONL);
    for (const char *at = content_of(json_file); (at = strstr(at, "{\"other\":")); at++)
        lines++;
    assert_int_equal(lines, sizeof terms / sizeof terms[0]);
    rewrite_file(json_file, port_file, TH_FORMAT_TRACE_PORT);
    content_of(port_file);
    assert_int_equal(written.size, stream.size);
    assert_memory_equal(written.data, stream.data, stream.size);
}

#define PID "\x58\x77\3a@b\0\0\0\1\0\0\0\2\0\0\0\7"
#define FOREIGN "\x58\x77\3c@d\0\0\0\1\0\0\0\2\0\0\0\7"

/* A later OTP's atoms, a node with name and creation; a drop comes before the node is known. */
static void nodes_and_utf8_atoms_survive_conversions(void **state)
{
    static const char message[] = "\x83\x68\5\x77\5trace" PID "\x77\4send\x68\2" PID FOREIGN PID;

    (void)state;
    stream_add_drop(&stream, 5);
    stream_add_record(&stream, 0, sizeof message - 1, message, sizeof message - 1);
    rewrite(reader_of_stream(), json_file, TH_FORMAT_JSONL);
    assert_string_equal(strtok((char *)content_of(json_file), "\n"),
                        "{\"tracehost\":1,\"node\":\"a@b\",\"creation\":7,\"atoms\":\"utf8\"}");
    rewrite_file(json_file, port_file, TH_FORMAT_TRACE_PORT);
    content_of(port_file);
    assert_int_equal(written.size, stream.size);
    assert_memory_equal(written.data, stream.data, stream.size);
}

static void callers_and_kinds_of_calls_survive_in_json(void **state)
{
    static const char lines[] = "{\"tracehost\":1}\n"
                                "{\"tracee\":\"<0.1.0>\",\"tag\":\"call\",\"term\":\"{m,f,1}\","
                                "\"external\":true,\"tail\":false,"
                                "\"callers\":\"[{m,g,2,[{file,\\\"m.c\\\"},{line,7}]}|"
                                "undefined]\"}\n";

    (void)state;
    th_buffer_add_text(&stream, lines);
    rewrite(reader_of_stream(), json_file, TH_FORMAT_JSONL);
    assert_string_equal(content_of(json_file), lines);
}

/* The event after the damaged one is written. */
static void a_damaged_event_is_not_written(void **state)
{
    for (enum th_format format = TH_FORMAT_TRACE_PORT; format <= TH_FORMAT_JSONL; format++) {
        struct th_writer_options options = {.format = format};
        struct th_event event = {0};
        struct th_reader *reader;
        struct th_writer *writer;
        th_env env;

        (void)state;
        stream.size = 0;
        stream_add_message(&stream, "{trace,<0.1.0>,exit,normal}");
        stream.data[stream.size - 7] = 0; /* the length of the reason's name */
        stream_add_message(&stream, "{trace,<0.1.0>,exit,kill}");
        th_env_init(&env, TH_ENV_PLAIN);
        reader = reader_of_stream();
        assert_int_equal(th_replay_writer_open(port_file, &options, &writer), TH_OK);
        assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
        assert_int_equal(th_replay_writer_add(writer, &event, &env), TH_MALFORMED);
        assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
        assert_int_equal(th_replay_writer_add(writer, &event, &env), TH_OK);
        assert_int_equal(th_replay_writer_commit(writer), TH_OK);
        th_replay_reader_close(reader);
        assert_int_equal(th_replay_reader_open(port_file, NULL, &reader), TH_OK);
        assert_non_null(strstr(stream_tell(reader), " {trace,<0.1.0>,exit,kill}\n"));
        assert_int_equal(th_replay_reader_info(reader)->records, 1);
        th_replay_reader_close(reader);
        th_env_release(&env);
    }
}

static void a_file_appears_whole_or_not_at_all(void **state)
{
    struct th_writer_options options = {.format = TH_FORMAT_JSONL};
    struct th_writer *writer;

    (void)state;
    assert_int_equal(th_replay_writer_open(json_file, &options, &writer), TH_OK);
    assert_int_not_equal(access(json_file, F_OK), 0);
    th_replay_writer_abandon(writer);
    assert_int_not_equal(access(json_file, F_OK), 0);
    assert_int_equal(th_replay_writer_open(json_file, &options, &writer), TH_OK);
    assert_int_equal(th_replay_writer_commit(writer), TH_OK);
    assert_string_equal(content_of(json_file), "{\"tracehost\":1}\n");
    assert_int_equal(th_replay_writer_open("no/such/folder/file", &options, &writer), TH_FAILED);
    assert_null(writer);
}

static void a_full_disk_is_reported(void **state)
{
    struct th_writer_options options = {.format = TH_FORMAT_JSONL};
    struct th_writer *writer;
    struct stat about;

    (void)state;
    if (stat("/dev/full", &about) != 0)
        skip_because("no /dev/full");
    assert_int_equal(th_replay_writer_open("/dev/full", &options, &writer), TH_OK);
    assert_int_equal(th_replay_writer_commit(writer), TH_FAILED);
    assert_non_null(strstr(stream_causes(), "No space left on device"));
}

static void a_drop_count_that_does_not_fit_is_refused(void **state)
{
    struct th_event event = {.number = 1, .kind = TH_EVENT_DROP, .dropped = UINT32_MAX + 1ull};
    struct th_writer_options options = {.format = TH_FORMAT_TRACE_PORT};
    struct th_writer *writer;

    (void)state;
    assert_int_equal(th_replay_writer_open(port_file, &options, &writer), TH_OK);
    assert_int_equal(th_replay_writer_add(writer, &event, NULL), TH_FAILED);
    assert_string_equal(
        stream_causes(),
        "cannot write record 1 at byte 0: a record can count at most 4294967295 dropped events");
    th_replay_writer_abandon(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(recordings_survive_both_conversions, begin, end),
        cmocka_unit_test_setup_teardown(events_are_written_as_json_lines, begin, end),
        cmocka_unit_test_setup_teardown(terms_that_are_no_messages_are_written, begin, end),
        cmocka_unit_test_setup_teardown(nodes_and_utf8_atoms_survive_conversions, begin, end),
        cmocka_unit_test_setup_teardown(callers_and_kinds_of_calls_survive_in_json, begin, end),
        cmocka_unit_test_setup_teardown(a_damaged_event_is_not_written, begin, end),
        cmocka_unit_test_setup_teardown(a_file_appears_whole_or_not_at_all, begin, end),
        cmocka_unit_test_setup_teardown(a_full_disk_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(a_drop_count_that_does_not_fit_is_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
