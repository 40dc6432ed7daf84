/* Tests JSON lines as events: the meaning of each line, and errors of wrong ones. */
#include "host/base/base.h"
#include "host/term/term.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

static void add(const char *text)
{
    th_buffer_add_text(&stream, text);
}

static const char *read_text(const char *text)
{
    stream.size = 0;
    add(text);
    return stream_read(&stream);
}

static void start(void)
{
    if (stream_open(stream.data, stream.size, NULL, &reader) != TH_OK)
        fail_msg("%s", stream_causes());
}

static void next(void)
{
    if (th_replay_reader_next(reader, &event) != TH_OK)
        fail_msg("%s", stream_causes());
}

static void each_line_gives_its_tuple(void **state)
{
    static const struct {
        const char *line, *tuple;
    } cases[] = {
        {"{\"tracee\":\"<0.1.0>\",\"tag\":\"call\",\"term\":\"{m,f,[1]}\"}",
         "{trace,<0.1.0>,call,{m,f,[1]}}"},
        {"{\"tracee\":\"<0.79.2>\",\"tag\":\"return_from\",\"term\":\"{m,f,1}\",\"extra\":\"ok\"}",
         "{trace,<0.79.2>,return_from,{m,f,1},ok}"},
        {"{\"ts\":1795233754730750000,\"ts_kind\":\"timestamp\",\"tracee\":\"#Port<0.5>\","
         "\"tag\":\"closed\",\"term\":\"normal\"}",
         "{trace_ts,#Port<0.5>,closed,normal,{1795,233754,730750}}"},
        {"{\"ts\":166511000,\"ts_kind\":\"cpu_timestamp\",\"tracee\":\"<0.1.0>\","
         "\"tag\":\"in\",\"term\":0}",
         "{trace_ts,<0.1.0>,in,0,{0,0,166511}}"},
        {"{\"ts\":-5,\"ts_kind\":\"monotonic\",\"tracee\":\"<0.1.0>\",\"tag\":\"in\",\"term\":0}",
         "{trace_ts,<0.1.0>,in,0,-5}"},
        {"{\"ts\":-5,\"tracee\":\"<0.1.0>\",\"tag\":\"in\",\"term\":0}",
         "{trace_ts,<0.1.0>,in,0,-5}"},
        {"{\"ts\":-5,\"ts_kind\":\"strict_monotonic\",\"ts_unique\":7,\"tracee\":\"<0.1.0>\","
         "\"tag\":\"in\",\"term\":0}",
         "{trace_ts,<0.1.0>,in,0,{-5,7}}"},
        {"{\"ts\":\"-9223372036854775808\",\"ts_kind\":\"strict_monotonic\","
         "\"ts_unique\":\"9223372036854775807\",\"tracee\":\"<0.1.0>\",\"tag\":\"in\",\"term\":0}",
         "{trace_ts,<0.1.0>,in,0,{-9223372036854775808,9223372036854775807}}"},
        {"{\"tracee\":\"<0.1.0>\",\"tag\":\"send\",\"term\":\"hi\",\"extra\":\"bob\","
         "\"match_spec_result\":\"r\",\"scheduler_id\":2}",
         "{trace,<0.1.0>,send,hi,bob,r,2}"},
        {"{\"scheduler_id\":2,\"term\":\"{m,f,1}\",\"tag\":\"call\",\"tracee\":\"<0.1.0>\"}",
         "{trace,<0.1.0>,call,{m,f,1},2}"},
        {"{\"tag\":\"seq_trace\",\"label\":\"{my,label}\",\"info\":\"{print,{0,1},<0.1.0>,[],x}\"}",
         "{seq_trace,{my,label},{print,{0,1},<0.1.0>,[],x}}"},
        {"{\"ts\":1,\"tag\":\"seq_trace\",\"label\":0,\"info\":\"x\"}", "{seq_trace,0,x,1}"},
        {"{\"drop\":2243}", "{drop,2243}"},
        {"{\"drop\":4294967295}", "{drop,4294967295}"},
        {"{\"other\":\"{no,'a message'}\"}", "other {no,'a message'}"},
        {"{\"other\":{\"$etf\":\"g2QABWhlbGxv\"}}", "other hello"},
        /* JSON values as terms */
        {"{\"tracee\":\"<0.1.0>\",\"tag\":\"exit\",\"term\":[1,2.5,\"bin\",null,{\"a\":true}]}",
         "{trace,<0.1.0>,exit,[1,2.5,<<\"bin\">>,null,#{<<\"a\">> => true}]}"},
        /* white space, and a tracee in another spelling */
        {" { \"tracee\" : \"<0.1.0> \", \"tag\" : \"exit\", \"term\" : \" x % y\" } \r",
         "{trace,<0.1.0>,exit,x}"},
    };
    char expected[300];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stream.size = 0;
        add(cases[i].line);
        add("\n");
        snprintf(expected, sizeof expected, "1@0 %s\n", cases[i].tuple);
        assert_string_equal(stream_read(&stream), expected);
        stream.size--; /* the last line needs no end */
        assert_string_equal(stream_read(&stream), expected);
    }
}

/* Kind, tag, tracee, time and size of the tuple are known before terms are decoded. */
static void the_kind_of_an_event_is_known_before_decoding(void **state)
{
    struct th_mfa function;

    (void)state;
    add("{\"ts\":-5,\"ts_kind\":\"strict_monotonic\",\"ts_unique\":7,\"tracee\":\"<0.79.2>\","
        "\"tag\":\"call\",\"term\":\"{m,f,[a,b]}\",\"match_spec_result\":\"r\","
        "\"scheduler_id\":1,\"external\":true,\"tail\":false}\n");
    start();
    next();
    assert_int_equal(event.kind, TH_EVENT_TRACE_TS);
    assert_int_equal(event.tag, TH_TAG_call);
    assert_term_equal(event.tracee, th_local_pid(79, 2));
    assert_int_equal(event.tuple_size, 7);
    assert_int_equal(event.external, TH_YES);
    assert_int_equal(event.tail, TH_NO);
    assert_true(event.timed);
    assert_int_equal(event.time.kind, TH_TIME_STRICT_MONOTONIC);
    assert_int_equal(event.time.ns, -5);
    assert_int_equal(event.time.unique, 7);
    assert_false(event.decoded);
    assert_int_equal(event.source->function(&event, &function), TH_OK);
    assert_term_equal(function.module, th_atom("m"));
    assert_int_equal(function.arity, 2);
    assert_int_equal(th_trace_event_decode(&event, &env), TH_OK);
    assert_term_equal(event.match_spec_result, th_atom("r"));
    assert_term_equal(event.scheduler_id, th_small(1));
    assert_int_equal(event.source->function(&event, &function), TH_OK);
    assert_int_equal(function.arity, 2);
}

static void missing_fields_leave_facts_unknown(void **state)
{
    (void)state;
    add("{\"tracee\":\"<0.1.0>\",\"tag\":\"call\",\"term\":\"{m,f,1}\"}");
    start();
    next();
    assert_int_equal(event.external, TH_UNKNOWN);
    assert_int_equal(event.tail, TH_UNKNOWN);
    assert_int_equal(event.time.kind, TH_TIME_NONE);
}

/* The largest numbers of immediates, and larger ones. */
static void tracees_of_any_number_are_read(void **state)
{
    static const char *const texts[] = {"<0.268435455.268435455>", "#Port<0.72057594037927935>",
                                        "<0.268435456.0>", "#Port<0.72057594037927936>"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        stream.size = 0;
        th_buffer_printf(&stream, "{\"tracee\":\"%s\",\"tag\":\"exit\",\"term\":1}", texts[i]);
        start();
        next();
        assert_int_equal(th_is_immediate(event.tracee), i < 2);
        th_replay_reader_close(reader);
        reader = NULL;
    }
}

#define GOOD "{\"tracee\":\"<0.1.0>\",\"tag\":\"exit\",\"term\":1}\n"
#define TOLD "{trace,<0.1.0>,exit,1}\n"

static const struct {
    const char *line, *why;
} wrong[] = {
    {"{\"tracee\":}", "column 11: "},
    {"[1]", "the line is not a JSON object"},
    {"x", "column 1: "},
    {"{} {}", "column 4: "},
    {"{\"drop\":1,\"drop\":2}", "column 16: duplicate object key"},
    {"{}", "one of the fields \"tag\", \"drop\" and \"other\" is needed"},
    {"{\"tagg\":\"call\"}", "unknown field \"tagg\""},
    {"{\"drop\":1,\"other\":2}", "the field \"other\" is not allowed in this record"},
    {"{\"drop\":1,\"ts\":2}", "the field \"ts\" is not allowed in this record"},
    {"{\"drop\":\"1\"}", "the field \"drop\" is not an integer"},
    {"{\"drop\":-1}", "the field \"drop\" is out of range"},
    {"{\"drop\":4294967296}", "the field \"drop\" is out of range"},
    {"{\"drop\":1.0}", "the field \"drop\" is not an integer"},
    {"{\"tag\":7}", "the field \"tag\" is not a string"},
    {"{\"tag\":\"cell\"}", "the field \"tag\" is not a known tag"},
    {"{\"tag\":\"trace_status\"}", "the field \"tag\" is not a known tag"},
    {"{\"tag\":\"exit\",\"term\":1}", "the field \"tracee\" is missing"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\"}", "the field \"term\" is missing"},
    {"{\"tag\":\"send\",\"tracee\":\"<0.1.0>\",\"term\":1}", "the field \"extra\" is missing"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"extra\":1}",
     "the field \"extra\" is not allowed in this record"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"match_spec_result\":1}",
     "the field \"match_spec_result\" is not allowed in this record"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"tail\":true}",
     "the field \"tail\" is not allowed in this record"},
    {"{\"tag\":\"call\",\"tracee\":\"<0.1.0>\",\"term\":1,\"tail\":1}",
     "the field \"tail\" must be true or false"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"callers\":\"[]\"}",
     "the field \"callers\" is not allowed in this record"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"scheduler_id\":\"1\"}",
     "the field \"scheduler_id\" is not an integer"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"scheduler_id\":576460752303423488}",
     "the field \"scheduler_id\" is out of range"},
    {"{\"tag\":\"exit\",\"tracee\":\"me\",\"term\":1}",
     "the field \"tracee\" is neither a process nor a port"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1\",\"term\":1}", "cannot read the field \"tracee\": "},
    {"{\"tag\":\"exit\",\"tracee\":[],\"term\":1}",
     "the field \"tracee\" is neither a process nor a port"},
    {"{\"tag\":\"seq_trace\",\"label\":1}", "the field \"info\" is missing"},
    {"{\"tag\":\"seq_trace\",\"label\":1,\"info\":1,\"tracee\":\"<0.1.0>\"}",
     "the field \"tracee\" is not allowed in this record"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts_kind\":\"monotonic\"}",
     "the field \"ts_kind\" is not allowed in this record"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":1,\"ts_kind\":\"utc\"}",
     "the field \"ts_kind\" must be timestamp, cpu_timestamp, "},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":1,\"ts_kind\":1}",
     "the field \"ts_kind\" is not a string"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":1,\"ts_unique\":1}",
     "the field \"ts_unique\" is not allowed in this record"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":1,"
     "\"ts_kind\":\"strict_monotonic\"}",
     "the field \"ts_unique\" is missing"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":1.5}",
     "the field \"ts\" is not an integer"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":1,\"ts_kind\":\"timestamp\"}",
     "the field \"ts\" must be whole microseconds with this ts_kind"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":-1000,"
     "\"ts_kind\":\"timestamp\"}",
     "the field \"ts\" is out of range"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":\"-1000\","
     "\"ts_kind\":\"timestamp\"}",
     "the field \"ts\" is out of range"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":\"\"}",
     "the field \"ts\" is not an integer"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":\" 1\"}",
     "the field \"ts\" is not an integer"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":\"+1\"}",
     "the field \"ts\" is not an integer"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":\"1e3\"}",
     "the field \"ts\" is not an integer"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":\"9223372036854775808\"}",
     "the field \"ts\" is not an integer"},
    {"{\"tag\":\"exit\",\"tracee\":\"<0.1.0>\",\"term\":1,\"ts\":\"1\\u0000\"}",
     "the field \"ts\" is not an integer"},
};

static void damaged_lines_are_reported(void **state)
{
    char expected[300];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *told;
        stream.size = 0;
        add(GOOD);
        add(wrong[i].line);
        add("\n" GOOD);
        told = stream_read(&stream);
        snprintf(expected, sizeof expected,
                 "1@0 " TOLD "malformed: record 2 at byte 43 (line 2) is damaged: %s",
                 wrong[i].why);
        if (strncmp(told, expected, strlen(expected)) != 0)
            fail_msg("%s\n  tells %s", wrong[i].line, told);
        snprintf(expected, sizeof expected, "\n3@%zu " TOLD, 44 + strlen(wrong[i].line));
        assert_string_equal(strchr(strchr(told, '\n') + 1, '\n'), expected);
    }
}

/* Terms are parsed only when they are needed. */
static void a_damaged_term_is_reported_when_it_is_read(void **state)
{
    struct th_mfa function;
    th_term tuple;

    (void)state;
    add("{\"tag\":\"call\",\"tracee\":\"<0.1.0>\",\"term\":\"{m,f\"}\n");
    add("{\"tag\":\"call\",\"tracee\":\"<0.1.0>\",\"term\":{\"$etf\":\"g2s=\"}}\n");
    start();
    for (int i = 0; i < 2; i++) {
        next();
        assert_int_equal(event.tag, TH_TAG_call);
        assert_int_equal(event.source->function(&event, &function), TH_MALFORMED);
        assert_int_equal(event.source->whole(&event, &env, &tuple), TH_MALFORMED);
        assert_int_equal(th_trace_event_decode(&event, &env), TH_MALFORMED);
        assert_string_equal(th_error_link(0), "cannot read the field \"term\"");
        assert_false(event.decoded);
    }
}

static void damaged_callers_are_reported(void **state)
{
    static const char *const wrong[] = {"m",
                                        "[m]",
                                        "[{m,f,1}]",
                                        "[{m,f,-1,[]}]",
                                        "[{m,f,256,[]}]",
                                        "[{m,f,1,[]}|m]",
                                        "[{a,f,1,[]},{b,f,1,[]},{c,f,1,[]},{d,f,1,[]},{e,f,1,[]},"
                                        "{f,f,1,[]},{g,f,1,[]},{h,f,1,[]},{i,f,1,[]}]"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        add("{\"tag\":\"call\",\"tracee\":\"<0.1.0>\",\"term\":\"{m,f,1}\",\"callers\":\"");
        add(wrong[i]);
        add("\"}\n");
    }
    start();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        next();
        assert_true(event.callers_told);
        assert_int_equal(th_trace_event_decode(&event, &env), TH_MALFORMED);
        assert_string_equal(th_error_link(0), "the field \"callers\" is not a list of {Module, "
                                              "Function, Arity, Location}, or is too long");
    }
}

static void blank_lines_are_no_records(void **state)
{
    (void)state;
    assert_string_equal(read_text("\n \t\r\n" GOOD "\n\n" GOOD "   "), "1@5 " TOLD "2@50 " TOLD);
    assert_string_equal(read_text("\n\n"), "");
    assert_string_equal(read_text(" "), "");
}

/* Only a last line without its end may be truncated. */
static void a_truncated_last_line_is_reported(void **state)
{
    char text[] = GOOD GOOD;

    (void)state;
    for (size_t size = strlen(GOOD) + 1; size < strlen(GOOD GOOD) - 1; size++) {
        const char *told;
        text[size] = 0;
        told = read_text(text);
        memcpy(text, GOOD GOOD, sizeof text);
        assert_memory_equal(told, "1@0 " TOLD, 4 + strlen(TOLD));
        assert_memory_equal(told + 4 + strlen(TOLD),
                            "partial: record 2 at byte 43 (line 2) is truncated: column ", 57);
        assert_non_null(strstr(told, "; the line is incomplete\n"));
        assert_null(strstr(told, "2@"));
    }
}

static void headers_are_read(void **state)
{
    (void)state;
    add("\n{\"tracehost\":1,\"node\":\"a@b\",\"creation\":4294967295,\"atoms\":\"utf8\"}\n" GOOD);
    start();
    assert_term_equal(th_replay_reader_info(reader)->node.node, th_atom("a@b"));
    assert_int_equal(th_replay_reader_info(reader)->node.creation, UINT32_MAX);
    assert_true(th_replay_reader_info(reader)->utf8_atoms);
    assert_string_equal(th_replay_reader_info(reader)->format, "jsonl");
    assert_string_equal(stream_tell(reader), "1@67 " TOLD);
    th_replay_reader_close(reader);
    stream.size = 0;
    add("{\"tracehost\":1}");
    start();
    assert_term_equal(th_replay_reader_info(reader)->node.node, TH_NONE);
    assert_false(th_replay_reader_info(reader)->utf8_atoms);
    assert_string_equal(stream_tell(reader), "");
}

static void damaged_headers_are_reported(void **state)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"{\"tracehost\":2}", "the version must be 1"},
        {"{\"tracehost\":\"1\"}", "the version must be 1"},
        {"{\"tracehost\":1,\"node\":7}", "the field \"node\" is not a node's name"},
        {"{\"tracehost\":1,\"creation\":-1}",
         "the field \"creation\" is not an integer of 32 bits"},
        {"{\"tracehost\":1,\"creation\":4294967296}",
         "the field \"creation\" is not an integer of 32 bits"},
        {"{\"tracehost\":1,\"atoms\":\"ebcdic\"}", "the field \"atoms\" must be \"utf8\""},
        {"{\"tracehost\":1,\"mode\":1}", "the header has an unknown field"},
    };
    char expected[200];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(expected, sizeof expected,
                 "refused: cannot read stream: cannot read the header in line 1: %s", cases[i].why);
        assert_string_equal(read_text(cases[i].line), expected);
    }
}

/* A foreign identifier of the header's node is a local one. */
static void identifiers_of_the_node_are_local(void **state)
{
    (void)state;
    add("{\"tracehost\":1,\"node\":\"a@b\",\"creation\":7}\n"
        "{\"tag\":\"exit\",\"term\":1,\"tracee\":");
    assert_int_equal(th_json_add_term(&stream, th_make_pid(&env, th_atom("a@b"), 7, 1, 2),
                                      &(struct th_etf_node){TH_NONE, 0}),
                     TH_OK);
    add("}\n");
    start();
    next();
    assert_term_equal(event.tracee, th_local_pid(1, 2));
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    assert_string_equal(
        read_text("{trace,<0.1.0>,exit,normal}.\n{trace,<0.1.0>,exit,normal}.\n"),
        "refused: cannot read stream: the input is not a recorded stream: its first lines are not "
        "JSON objects: column 6: string or '}' expected near 'trace'");
    assert_string_equal(read_text("{\n  \"pretty\": 1\n}\n"),
                        "refused: cannot read stream: the input is not a recorded stream: its "
                        "first lines are not JSON objects: column 1: '[' or '{' expected near '}'");
    /* One damaged line does not change the format. */
    assert_string_equal(read_text("{\"tracee\n" GOOD),
                        "malformed: record 1 at byte 0 (line 1) is damaged: column 8: premature "
                        "end of input near '\"tracee'\n2@9 " TOLD);
}

static void lines_of_megabytes_are_read(void **state)
{
    (void)state;
    add("{\"other\":\"\\\"");
    for (int i = 0; i < 3 * 1024 * 1024; i++)
        th_buffer_add_byte(&stream, "a,b"[i % 3]);
    add("\\\"\"}\n" GOOD);
    start();
    next();
    assert_int_equal(th_trace_event_decode(&event, &env), TH_OK);
    next();
    assert_int_equal(event.position, stream.size - strlen(GOOD));
    assert_int_equal(th_replay_reader_next(reader, &event), TH_END);
    assert_int_equal(th_replay_reader_info(reader)->bytes, stream.size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_line_gives_its_tuple, begin, end),
        cmocka_unit_test_setup_teardown(the_kind_of_an_event_is_known_before_decoding, begin, end),
        cmocka_unit_test_setup_teardown(missing_fields_leave_facts_unknown, begin, end),
        cmocka_unit_test_setup_teardown(tracees_of_any_number_are_read, begin, end),
        cmocka_unit_test_setup_teardown(damaged_lines_are_reported, begin, end),
        cmocka_unit_test_setup_teardown(a_damaged_term_is_reported_when_it_is_read, begin, end),
        cmocka_unit_test_setup_teardown(damaged_callers_are_reported, begin, end),
        cmocka_unit_test_setup_teardown(blank_lines_are_no_records, begin, end),
        cmocka_unit_test_setup_teardown(a_truncated_last_line_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(headers_are_read, begin, end),
        cmocka_unit_test_setup_teardown(damaged_headers_are_reported, begin, end),
        cmocka_unit_test_setup_teardown(identifiers_of_the_node_are_local, begin, end),
        cmocka_unit_test_setup_teardown(other_texts_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(lines_of_megabytes_are_read, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
