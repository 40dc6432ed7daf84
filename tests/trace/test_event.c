/* Tests events from trace tuples and back: each form that recorders write, and others. */
#include "host/base/base.h"
#include "host/term/term.h"
#include "host/trace/event.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <string.h>

static th_env env;
static struct th_buffer printed;

static int begin(void **state)
{
    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    th_buffer_free(&printed);
    th_error_clear();
    return 0;
}

static th_term term(const char *text)
{
    th_term t;

    if (th_text_parse(&env, text, strlen(text), &t) != TH_OK)
        fail_msg("%s: %s", text, th_error_link(0));
    return t;
}

static void print_field(const char *name, th_term t)
{
    if (t == TH_NONE)
        return;
    th_buffer_printf(&printed, "%s%s=", printed.size ? " " : "", name);
    th_text_print(&printed, t);
}

/* Returns the fields of an event as text; the time as its kind and numbers. */
static const char *fields(const struct th_event *event)
{
    static const char *const kinds[] = {"trace", "trace_ts", "seq_trace", "drop", "other"};
    static const char *const times[] = {"", "timestamp", "cpu", "monotonic", "strict"};

    printed.size = 0;
    th_buffer_add_text(&printed, kinds[event->kind]);
    if (event->tag <= TH_TAG_seq_trace)
        print_field("tag", th_trace_tag_atom(event->tag));
    print_field("tracee", event->tracee);
    print_field("label", event->label);
    print_field("term", event->term);
    print_field("extra", event->extra);
    print_field("result", event->match_spec_result);
    print_field("scheduler", event->scheduler_id);
    if (event->kind == TH_EVENT_DROP)
        th_buffer_printf(&printed, " dropped=%llu", (unsigned long long)event->dropped);
    if (event->time.kind != TH_TIME_NONE)
        th_buffer_printf(&printed, " %s=%lld", times[event->time.kind], (long long)event->time.ns);
    if (event->time.kind == TH_TIME_STRICT_MONOTONIC)
        th_buffer_printf(&printed, ",%lld", (long long)event->time.unique);
    return th_buffer_text(&printed);
}

/* Asserts that TUPLE has these FIELDS, and that they make the same tuple. */
static void expect(const char *tuple, bool scheduler_id, const char *expected)
{
    struct th_event event = {0};
    th_term t = term(tuple);

    assert_int_equal(th_trace_event_from_tuple(&event, t, scheduler_id), TH_OK);
    assert_string_equal(fields(&event), expected);
    assert_term_identical(th_trace_event_to_tuple(&event, &env), t);
    assert_int_equal(event.tuple_size, th_tuple_arity(t));
    assert_true(event.decoded && event.timed);
}

static void messages_of_each_shape_become_events(void **state)
{
    (void)state;
    expect("{trace,<0.1.0>,call,{m,f,[1]}}", false, "trace tag=call tracee=<0.1.0> term={m,f,[1]}");
    expect("{trace_ts,<0.1.0>,call,{m,f,1},{1795,233754,730750}}", false,
           "trace_ts tag=call tracee=<0.1.0> term={m,f,1} timestamp=1795233754730750000");
    expect("{trace,<0.1.0>,return_from,{m,f,1},ok}", false,
           "trace tag=return_from tracee=<0.1.0> term={m,f,1} extra=ok");
    expect("{trace,<0.1.0>,exception_from,{m,f,1},{error,badarg}}", false,
           "trace tag=exception_from tracee=<0.1.0> term={m,f,1} extra={error,badarg}");
    expect("{trace_ts,<0.1.0>,return_to,undefined,-5}", false,
           "trace_ts tag=return_to tracee=<0.1.0> term=undefined monotonic=-5");
    expect("{trace_ts,<0.1.0>,send,hi,bob,{-5,7}}", false,
           "trace_ts tag=send tracee=<0.1.0> term=hi extra=bob strict=-5,7");
    expect("{trace,<0.1.0>,send_to_non_existing_process,hi,<0.9.0>}", false,
           "trace tag=send_to_non_existing_process tracee=<0.1.0> term=hi extra=<0.9.0>");
    expect("{trace,<0.1.0>,'receive',{a,1}}", false,
           "trace tag='receive' tracee=<0.1.0> term={a,1}");
    expect("{trace,<0.1.0>,spawn,<0.2.0>,{m,f,[]}}", false,
           "trace tag=spawn tracee=<0.1.0> term=<0.2.0> extra={m,f,[]}");
    expect("{trace,#Port<0.5>,open,<0.1.0>,cat}", false,
           "trace tag=open tracee=#Port<0.5> term=<0.1.0> extra=cat");
    expect("{trace_ts,#Port<0.5>,closed,normal,{0,0,7}}", false,
           "trace_ts tag=closed tracee=#Port<0.5> term=normal cpu=7000");
    expect("{trace,<0.1.0>,gc_minor_start,[{wordsize,0}]}", false,
           "trace tag=gc_minor_start tracee=<0.1.0> term=[{wordsize,0}]");
    expect("{seq_trace,{my,label},{print,{0,1},<0.1.0>,[],x}}", false,
           "seq_trace tag=seq_trace label={my,label} term={print,{0,1},<0.1.0>,[],x}");
    expect("{seq_trace,0,{send,{0,1},<0.1.0>,<0.2.0>,x},-7}", false,
           "seq_trace tag=seq_trace label=0 term={send,{0,1},<0.1.0>,<0.2.0>,x} monotonic=-7");
    expect("{drop,2243}", false, "drop dropped=2243");
}

static void every_tag_has_an_atom(void **state)
{
    struct th_event event = {0};

    (void)state;
    for (int tag = 0; tag < TH_TAG_seq_trace; tag++) {
        bool extra = th_trace_tag_has_extra((enum th_tracer_tag)tag);
        th_term atom = th_trace_tag_atom((enum th_tracer_tag)tag);
        th_term e[] = {TH_AM(trace), th_local_pid(1, 0), atom, TH_AM(ok), TH_AM(ok)};
        assert_int_equal(
            th_trace_event_from_tuple(&event, th_make_tuple(&env, e, extra ? 5 : 4), false), TH_OK);
        assert_int_equal(event.tag, tag);
        assert_int_equal(event.extra != TH_NONE, extra);
    }
}

/* One integer may be either. Only calls, sends and receives can have a match result. */
static void optional_elements_are_recognized(void **state)
{
    (void)state;
    expect("{trace,<0.1.0>,call,{m,f,1},2}", false,
           "trace tag=call tracee=<0.1.0> term={m,f,1} result=2");
    expect("{trace,<0.1.0>,call,{m,f,1},2}", true,
           "trace tag=call tracee=<0.1.0> term={m,f,1} scheduler=2");
    expect("{trace,<0.1.0>,call,{m,f,1},{x,2}}", true,
           "trace tag=call tracee=<0.1.0> term={m,f,1} result={x,2}");
    expect("{trace_ts,<0.1.0>,send,{m,1},<0.2.0>,r,2,{1,2,3}}", false,
           "trace_ts tag=send tracee=<0.1.0> term={m,1} extra=<0.2.0> result=r scheduler=2 "
           "timestamp=1000002000003000");
    expect("{trace,<0.1.0>,'receive',m,r,2}", true,
           "trace tag='receive' tracee=<0.1.0> term=m result=r scheduler=2");
    expect("{trace,<0.1.0>,return_from,{m,f,1},1,2}", false,
           "trace tag=return_from tracee=<0.1.0> term={m,f,1} extra=1 scheduler=2");
    expect("{trace,<0.1.0>,exit,normal,2}", false,
           "trace tag=exit tracee=<0.1.0> term=normal scheduler=2");
}

/* A term that is no trace message is kept unchanged. */
static void terms_that_are_no_trace_messages_are_refused(void **state)
{
    static const struct {
        const char *tuple, *why;
    } cases[] = {
        {"hello", "the term is not a tuple"},
        {"{}", "the term is not a tuple"},
        {"{trase,<0.1.0>,call,x}",
         "the first element is neither trace, trace_ts, seq_trace nor drop"},
        {"{trace,<0.1.0>,call}", "there are too few elements"},
        {"{trace,<0.1.0>,send,hi}", "there are too few elements"},
        {"{trace_ts,<0.1.0>,call,{m,f,1}}", "there are too few elements"},
        {"{trace_ts,<0.1.0>,send,hi,1}", "there are too few elements"},
        {"{trace,<0.1.0>,call,x,y,1,z}", "there are too many elements"},
        {"{trace,<0.1.0>,exit,x,1,2}", "there are too many elements"},
        {"{trace,me,call,{m,f,1}}", "the tracee is neither a process nor a port"},
        {"{trace,<0.1.0>,cell,{m,f,1}}", "the tag is unknown"},
        {"{trace,<0.1.0>,seq_trace,{m,f,1}}", "the tag is unknown"},
        {"{trace,<0.1.0>,trace_status,{m,f,1}}", "the tag is unknown"},
        {"{trace,<0.1.0>,7,{m,f,1}}", "the tag is unknown"},
        {"{trace,<0.1.0>,exit,x,y}", "the scheduler is not an integer"},
        {"{trace,<0.1.0>,call,x,r,s}", "the scheduler is not an integer"},
        {"{trace_ts,<0.1.0>,call,{m,f,1},never}", "the last element is not a time stamp"},
        {"{trace_ts,<0.1.0>,call,{m,f,1},{1,1000000,0}}", "the last element is not a time stamp"},
        {"{seq_trace,0}", "a seq_trace message has three or four elements"},
        {"{seq_trace,0,x,1,1}", "a seq_trace message has three or four elements"},
        {"{seq_trace,0,x,never}", "the last element is not a time stamp"},
        {"{drop,some}", "drop needs the number of dropped events"},
        {"{drop,-1}", "drop needs the number of dropped events"},
        {"{drop,1,2}", "drop needs the number of dropped events"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct th_event event = {.number = 5};
        char expected[200];
        snprintf(expected, sizeof expected, "other term=%s", cases[i].tuple);
        assert_int_equal(th_trace_event_from_tuple(&event, term(cases[i].tuple), false),
                         TH_MALFORMED);
        assert_string_equal(th_error_link(0) + strlen("the record is not a trace message: "),
                            cases[i].why);
        assert_string_equal(fields(&event), expected);
        assert_int_equal(event.number, 5);
        assert_term_identical(th_trace_event_to_tuple(&event, &env), term(cases[i].tuple));
    }
}

static void timestamps_are_read(void **state)
{
    static const struct {
        const char *text;
        struct th_event_time time;
    } cases[] = {
        {"{1795,233754,730750}", {TH_TIME_TIMESTAMP, 1795233754730750000, 0}},
        {"{1,0,0}", {TH_TIME_TIMESTAMP, 1000000000000000, 0}},
        {"{9223,372036,854775}", {TH_TIME_TIMESTAMP, 9223372036854775000, 0}},
        {"{0,0,166511}", {TH_TIME_CPU, 166511000, 0}},
        {"{0,999999,999999}", {TH_TIME_CPU, 999999999999000, 0}},
        {"0", {TH_TIME_MONOTONIC, 0, 0}},
        {"-576460751340469472", {TH_TIME_MONOTONIC, -576460751340469472, 0}},
        {"-9223372036854775808", {TH_TIME_MONOTONIC, INT64_MIN, 0}},
        {"9223372036854775807", {TH_TIME_MONOTONIC, INT64_MAX, 0}},
        {"{-576460751340469472,1}", {TH_TIME_STRICT_MONOTONIC, -576460751340469472, 1}},
        {"{0,-9223372036854775808}", {TH_TIME_STRICT_MONOTONIC, 0, INT64_MIN}},
    };
    static const char *const none[] = {
        "a",       "9223372036854775808",     "{1,2,3,4}",  "{1,a}",    "{a,1}",
        "{1,2,a}", "{9223,372036,854776}",    "{9224,0,0}", "{-1,0,0}", "{0,0,1000000}",
        "1.5",     "{9223372036854775808,1}", "{1}",        "{}",
    };
    struct th_event_time time = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        th_term t = term(cases[i].text);
        assert_true(th_trace_event_time_from_term(t, &time));
        assert_int_equal(time.kind, cases[i].time.kind);
        assert_int_equal(time.ns, cases[i].time.ns);
        assert_int_equal(time.unique, cases[i].time.unique);
        assert_term_identical(th_trace_event_time_term(&time, &env), t);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(th_trace_event_time_from_term(term(none[i]), &time));
    time.kind = TH_TIME_NONE;
    assert_term_equal(th_trace_event_time_term(&time, &env), TH_NONE);
}

static void calls_name_functions_by_arity_or_arguments(void **state)
{
    static const struct {
        const char *text;
        uint32_t arity;
    } cases[] = {{"{m,f,0}", 0},
                 {"{m,f,255}", 255},
                 {"{m,f,[]}", 0},
                 {"{m,f,[a]}", 1},
                 {"{m,f,\"abc\"}", 3}};
    static const char *const none[] = {"undefined",
                                       "{m,f}",
                                       "{m,f,256}",
                                       "{m,f,-1}",
                                       "{m,1,0}",
                                       "{1,f,0}",
                                       "{m,f,a}",
                                       "{m,f,[a|b]}",
                                       "{m,f,1,2}",
                                       "[m,f,0]",
                                       "{m,f,1152921504606846976}"};
    struct th_mfa function;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(th_trace_event_function_from_term(term(cases[i].text), &function));
        assert_term_equal(function.module, th_atom("m"));
        assert_term_equal(function.function, th_atom("f"));
        assert_int_equal(function.arity, cases[i].arity);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(th_trace_event_function_from_term(term(none[i]), &function));
    assert_true(th_trace_tag_has_function(TH_TAG_call) &&
                th_trace_tag_has_function(TH_TAG_return_to));
    assert_false(th_trace_tag_has_function(TH_TAG_receive) ||
                 th_trace_tag_has_function(TH_TAG_spawn));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(messages_of_each_shape_become_events, begin, end),
        cmocka_unit_test_setup_teardown(every_tag_has_an_atom, begin, end),
        cmocka_unit_test_setup_teardown(optional_elements_are_recognized, begin, end),
        cmocka_unit_test_setup_teardown(terms_that_are_no_trace_messages_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(timestamps_are_read, begin, end),
        cmocka_unit_test_setup_teardown(calls_name_functions_by_arity_or_arguments, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
