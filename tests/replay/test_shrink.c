/* Tests how terms of events are shrunk, with tests that need a certain shape. */
#include "host/replay/shrink.h"

#include "host/base/base.h"
#include "host/term/term.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/stream.h"

#include <string.h>

/* A test that holds if the whole event contains WANTED. */
struct wanted {
    const char *text;
    unsigned trials;
};

static bool contains(void *context, const struct th_event *event)
{
    struct wanted *wanted = context;
    struct th_buffer text = {0};
    bool found;
    th_env env;

    wanted->trials++;
    th_env_init(&env, TH_ENV_PLAIN);
    th_text_print(&text, th_trace_event_to_tuple(event, &env));
    found = strstr(th_buffer_text(&text), wanted->text) != NULL;
    th_buffer_free(&text);
    th_env_release(&env);
    return found;
}

/* Shrinks the record BEFORE while it contains WANTED, and compares the result. */
static void check(const char *before, const char *wanted, const char *after, unsigned most)
{
    struct wanted test = {.text = wanted};
    struct th_buffer stream = {0}, text = {0};
    struct th_event event = {0};
    struct th_reader *reader;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    stream_add_message(&stream, before);
    assert_int_equal(stream_open(stream.data, stream.size, NULL, &reader), TH_OK);
    assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
    assert_int_equal(th_trace_event_decode(&event, &env), TH_OK);
    assert_int_equal(th_trace_event_time(&event), TH_OK);
    th_replay_shrink(&event, &env, SIZE_MAX, contains, &test);
    th_text_print(&text, th_trace_event_to_tuple(&event, &env));
    assert_string_equal(th_buffer_text(&text), after);
    assert_in_range(test.trials, 0, most);
    th_replay_reader_close(reader);
    th_buffer_free(&stream);
    th_buffer_free(&text);
    th_env_release(&env);
}

static void test_arguments(void **state)
{
    (void)state;
    check("{trace,<0.1.0>,call,{m,f,[1,{a,b},\"text\"]}}", "{m,f", "{trace,<0.1.0>,call,{m,f,[]}}",
          4);
    check("{trace,<0.1.0>,call,{m,f,[1,{a,b},\"text\"]}}", "b", "{trace,<0.1.0>,call,{m,f,[b]}}",
          20);
    check("{trace,<0.1.0>,call,{m,f,3}}", "m", "{trace,<0.1.0>,call,{m,f,3}}", 0);
}

static void test_result_of_a_specification(void **state)
{
    (void)state;
    check("{trace,<0.1.0>,call,{m,f,[]},{x,y,1}}", "m", "{trace,<0.1.0>,call,{m,f,[]}}", 4);
    check("{trace,<0.1.0>,call,{m,f,[]},{x,y,1}}", "y", "{trace,<0.1.0>,call,{m,f,[]},y}", 8);
}

static void test_message(void **state)
{
    (void)state;
    check("{trace,<0.1.0>,send,{a,{b,[1,{boom,x}]}},<0.2.0>}", "boom",
          "{trace,<0.1.0>,send,boom,<0.2.0>}", 20);
    check("{trace,<0.1.0>,'receive',{a,{b,{c,d}}}}", "}}}}",
          "{trace,<0.1.0>,'receive',{[],{[],{[],[]}}}}", 40);
    check("{trace,<0.1.0>,send,#{a => {1,2},b => c,d => e},me}", "b =>",
          "{trace,<0.1.0>,send,#{b => []},me}", 20);
    check("{trace,<0.1.0>,send,[a|{b,5}],me}", "|", "{trace,<0.1.0>,send,[[]|{b,5}],me}", 20);
}

static void test_numbers_and_binaries(void **state)
{
    (void)state;
    check("{trace,<0.1.0>,send,{17,-1.5,x},me}", "x", "{trace,<0.1.0>,send,x,me}", 10);
    check("{trace,<0.1.0>,send,{17,x},me}", ",x}", "{trace,<0.1.0>,send,{[],x},me}", 10);
    check("{trace,<0.1.0>,send,<<\"abcdefghij\">>,me}", "abcdef",
          "{trace,<0.1.0>,send,<<\"abcdef\">>,me}", 10);
    check("{trace,<0.1.0>,send,99999999999999999999,me}", "9",
          "{trace,<0.1.0>,send,99999999999999999999,me}", 3);
}

static void test_other_tags(void **state)
{
    (void)state;
    check("{trace,<0.1.0>,return_from,{m,f,1},{ok,[1,2]}}", "m",
          "{trace,<0.1.0>,return_from,{m,f,1},[]}", 2);
    check("{trace,<0.1.0>,exception_from,{m,f,1},{error,{badmatch,1}}}", "error",
          "{trace,<0.1.0>,exception_from,{m,f,1},{error,[]}}", 2);
    check("{trace,<0.1.0>,spawn,<0.2.0>,{m,f,[a,b]}}", "b",
          "{trace,<0.1.0>,spawn,<0.2.0>,{m,f,[b]}}", 6);
    check("{trace,<0.1.0>,exit,{shutdown,x}}", "exit", "{trace,<0.1.0>,exit,[]}", 2);
    check("{trace,<0.1.0>,register,name}", "register", "{trace,<0.1.0>,register,name}", 0);
    check("{trace,<0.1.0>,in,{m,f,1}}", "in", "{trace,<0.1.0>,in,{m,f,1}}", 0);
    check("{trace,<0.1.0>,gc_minor_start,[{wordsize,5},{heap_size,233}]}", "wordsize",
          "{trace,<0.1.0>,gc_minor_start,[{wordsize,0},{heap_size,0}]}", 3);
    check("{seq_trace,{my,label},{send,{0,1},<0.1.0>,<0.2.0>,{a,b}}}", "b",
          "{seq_trace,[],{send,{0,1},<0.1.0>,<0.2.0>,b}}", 8);
}

/* Deep terms are shrunk to a depth, and use no deep stack. */
static void test_depth(void **state)
{
    enum { DEPTH = 20000 };
    struct th_buffer text = {0};
    struct wanted test = {.text = "x"};
    struct th_buffer stream = {0};
    struct th_event event = {0};
    struct th_reader *reader;
    th_env env;

    (void)state;
    th_buffer_add_text(&text, "{trace,<0.1.0>,send,");
    for (int i = 0; i < DEPTH; i++)
        th_buffer_add_text(&text, "{");
    th_buffer_add_text(&text, "x");
    for (int i = 0; i < DEPTH; i++)
        th_buffer_add_text(&text, "}");
    th_buffer_add_text(&text, ",me}");
    stream_add_message(&stream, th_buffer_text(&text));
    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(stream_open(stream.data, stream.size, NULL, &reader), TH_OK);
    assert_int_equal(th_replay_reader_next(reader, &event), TH_OK);
    assert_int_equal(th_trace_event_decode(&event, &env), TH_OK);
    th_replay_shrink(&event, &env, SIZE_MAX, contains, &test);
    assert_in_range(test.trials, 100, 400);
    th_replay_reader_close(reader);
    th_buffer_free(&stream);
    th_buffer_free(&text);
    th_env_release(&env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),  cmocka_unit_test(test_result_of_a_specification),
        cmocka_unit_test(test_message),    cmocka_unit_test(test_numbers_and_binaries),
        cmocka_unit_test(test_other_tags), cmocka_unit_test(test_depth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
