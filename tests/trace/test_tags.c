/*
 * Tests the callbacks of each tag: their arguments, and whether enif_self() returns the tracee. A
 * test for each row of the table that was measured on OTP 25.
 */
#include "tests/support/assertions.h"
#include "tests/support/scene.h"

#include <stddef.h>

static int begin(void **state)
{
    (void)state;
    scene_begin(NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_end();
    return 0;
}

static void expect(const char *tuple, const char *callbacks)
{
    assert_int_equal(scene_trace(tuple), TH_OK);
    assert_string_equal(scene_log(), callbacks);
}

static void call(void **state)
{
    (void)state;
    expect("{trace,<0.1.0>,call,{m,f,2}}", "enabled_call(call,s,<0.1.0>)\n"
                                           "trace_call(call,s,<0.1.0>,{m,f,2},#{}) self\n");
    expect("{trace,<0.1.0>,call,{m,f,[]},{m,g,0},3}",
           "enabled_call(call,s,<0.1.0>)\n"
           "trace_call(call,s,<0.1.0>,{m,f,[]},#{match_spec_result => {m,g,0},scheduler_id => 3}) "
           "self\n");
    expect("{trace,<0.1.0>,call,{m,f,[]},true,3}",
           "enabled_call(call,s,<0.1.0>)\n"
           "trace_call(call,s,<0.1.0>,{m,f,[]},#{scheduler_id => 3}) self\n");
}

static void return_from(void **state)
{
    (void)state;
    expect("{trace,<0.1.0>,return_from,{m,f,1},value}",
           "trace_call(return_from,s,<0.1.0>,{m,f,1},#{extra => value}) self\n");
}

static void exception_from(void **state)
{
    (void)state;
    expect("{trace,<0.1.0>,exception_from,{m,f,1},{error,why}}",
           "trace_call(exception_from,s,<0.1.0>,{m,f,1},#{extra => {error,why}}) self\n");
}

static void return_to(void **state)
{
    (void)state;
    expect("{trace,<0.1.0>,return_to,{m,f,1}}",
           "trace_call(return_to,s,<0.1.0>,{m,f,1},#{}) self\n");
    expect("{trace,<0.1.0>,return_to,undefined}",
           "trace_call(return_to,s,<0.1.0>,undefined,#{}) self\n");
}

static void send_to_pid_name_name_at_node_and_port(void **state)
{
    static const char *const receivers[] = {"<0.2.0>", "name", "{name,nonode@nohost}",
                                            "#Port<0.3>"};
    char tuple[128], log[256];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        snprintf(tuple, sizeof tuple, "{trace,<0.1.0>,send,hi,%s}", receivers[i]);
        snprintf(
            log, sizeof log,
            "enabled_send(send,s,<0.1.0>)\ntrace_send(send,s,<0.1.0>,hi,#{extra => %s}) self\n",
            receivers[i]);
        expect(tuple, log);
    }
}

static void send_to_non_existing_process(void **state)
{
    (void)state;
    expect("{trace,<0.1.0>,send_to_non_existing_process,hi,<0.2.0>}",
           "enabled_send(send_to_non_existing_process,s,<0.1.0>)\n"
           "trace_send(send_to_non_existing_process,s,<0.1.0>,hi,#{extra => <0.2.0>}) self\n");
}

static void receive(void **state)
{
    (void)state;
    expect("{trace,<0.1.0>,'receive',hi}", "enabled_receive('receive',s,<0.1.0>)\n"
                                           "trace_receive('receive',s,<0.1.0>,hi,#{})\n");
}

/* Asserts a tag whose events have a term, optionally an extra, and no self. */
static void expect_plain(const char *tag, const char *group, const char *tracee, const char *term,
                         const char *extra)
{
    char tuple[256], log[512];

    snprintf(tuple, sizeof tuple, "{trace,%s,%s,%s%s%s}", tracee, tag, term, extra ? "," : "",
             extra ? extra : "");
    snprintf(log, sizeof log, "enabled_%s(%s,s,%s)\ntrace_%s(%s,s,%s,%s,#{%s%s})\n", group, tag,
             tracee, group, tag, tracee, term, extra ? "extra => " : "", extra ? extra : "");
    expect(tuple, log);
}

static void spawn_and_spawned(void **state)
{
    (void)state;
    expect_plain("spawn", "procs", "<0.1.0>", "<0.2.0>", "{m,f,[x]}");
    expect_plain("spawned", "procs", "<0.2.0>", "<0.1.0>", "{m,f,[x]}");
}

static void exit_(void **state)
{
    (void)state;
    expect_plain("exit", "procs", "<0.1.0>", "{kaput,[]}", NULL);
}

static void link_and_unlink_of_processes_and_ports(void **state)
{
    static const char *const tags[] = {"link", "unlink", "getting_linked", "getting_unlinked"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        expect_plain(tags[i], "procs", "<0.1.0>", "<0.2.0>", NULL);
        expect_plain(tags[i], "ports", "#Port<0.1>", "<0.2.0>", NULL);
    }
}

static void register_and_unregister(void **state)
{
    (void)state;
    expect_plain("register", "procs", "<0.1.0>", "name", NULL);
    expect_plain("unregister", "procs", "<0.1.0>", "name", NULL);
    expect_plain("register", "ports", "#Port<0.1>", "name", NULL);
}

static void open_and_closed(void **state)
{
    (void)state;
    expect_plain("open", "ports", "#Port<0.1>", "<0.2.0>", "cat");
    expect_plain("closed", "ports", "#Port<0.1>", "normal", NULL);
}

static void in_and_out_of_processes(void **state)
{
    static const char *const tags[] = {"out", "in_exiting", "out_exiting", "out_exited"};
    char tuple[128], log[256];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        snprintf(tuple, sizeof tuple, "{trace,<0.1.0>,%s,{m,f,1}}", tags[i]);
        snprintf(log, sizeof log,
                 "enabled_running_procs(%s,s,<0.1.0>)\n"
                 "trace_running_procs(%s,s,<0.1.0>,{m,f,1},#{}) self\n",
                 tags[i], tags[i]);
        expect(tuple, log);
    }
}

static void in_and_out_of_ports(void **state)
{
    (void)state;
    expect_plain("in", "running_ports", "#Port<0.1>", "open", NULL);
    expect_plain("out", "running_ports", "#Port<0.1>", "0", NULL);
    expect_plain("in_exiting", "running_ports", "#Port<0.1>", "0", NULL);
    expect_plain("out_exiting", "running_ports", "#Port<0.1>", "0", NULL);
    expect_plain("out_exited", "running_ports", "#Port<0.1>", "0", NULL);
}

static void garbage_collections(void **state)
{
    static const char *const tags[] = {"gc_minor_start", "gc_minor_end", "gc_major_start",
                                       "gc_major_end", "gc_max_heap_size"};
    char tuple[128], log[256];

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        snprintf(tuple, sizeof tuple, "{trace,<0.1.0>,%s,[{wordsize,33}]}", tags[i]);
        snprintf(log, sizeof log,
                 "enabled_garbage_collection(%s,s,<0.1.0>)\n"
                 "trace_garbage_collection(%s,s,<0.1.0>,[{wordsize,33}],#{}) self\n",
                 tags[i], tags[i]);
        expect(tuple, log);
    }
}

static void seq_trace_gets_the_label_in_place_of_a_tracee(void **state)
{
    (void)state;
    expect("{seq_trace,{my,label},{print,{0,1},<0.1.0>,[],one}}",
           "enabled(seq_trace,s,<0.1.0>)\n"
           "trace(seq_trace,s,{my,label},{print,{0,1},<0.1.0>,[],one},#{})\n");
}

/* Sender, receiver, printer; an info that no recorder writes has no actor. */
static void enabled_for_seq_trace_gets_the_acting_process(void **state)
{
    static const char *const rows[][2] = {{"{send,{0,1},<0.1.0>,<0.2.0>,m}", "<0.1.0>"},
                                          {"{'receive',{0,1},<0.1.0>,<0.2.0>,m}", "<0.2.0>"},
                                          {"{send,{0,1},#Port<0.3>,<0.2.0>,m}", "#Port<0.3>"},
                                          {"{send,{0,1},nobody,<0.2.0>,m}", "undefined"},
                                          {"odd", "undefined"}};
    char tuple[128], log[128];

    (void)state;
    scene_answer("enabled seq_trace", "discard");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(tuple, sizeof tuple, "{seq_trace,l,%s}", rows[i][0]);
        snprintf(log, sizeof log, "enabled(seq_trace,s,%s)\n", rows[i][1]);
        expect(tuple, log);
    }
    assert_int_equal(scene_decoded(), 0);
}

static void recorded_timestamps_select_the_kind_of_timestamp(void **state)
{
    static const char *const times[][2] = {{"{1795,233754,349929}", "timestamp"},
                                           {"{0,0,166511}", "cpu_timestamp"},
                                           {"-576460751340469472", "monotonic"},
                                           {"{-576460750995755146,-5}", "strict_monotonic"}};
    char tuple[128], log[256];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        snprintf(tuple, sizeof tuple, "{trace_ts,<0.1.0>,'receive',hi,%s}", times[i][0]);
        snprintf(log, sizeof log,
                 "enabled_receive('receive',s,<0.1.0>)\n"
                 "trace_receive('receive',s,<0.1.0>,hi,#{timestamp => %s})\n",
                 times[i][1]);
        expect(tuple, log);
    }
    snprintf(tuple, sizeof tuple, "{trace_ts,<0.1.0>,send,hi,<0.2.0>,{1,2}}");
    expect(tuple, "enabled_send(send,s,<0.1.0>)\n"
                  "trace_send(send,s,<0.1.0>,hi,"
                  "#{extra => <0.2.0>,timestamp => strict_monotonic}) self\n");
}

#define WITH_SCENE(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_SCENE(call),
        WITH_SCENE(return_from),
        WITH_SCENE(exception_from),
        WITH_SCENE(return_to),
        WITH_SCENE(send_to_pid_name_name_at_node_and_port),
        WITH_SCENE(send_to_non_existing_process),
        WITH_SCENE(receive),
        WITH_SCENE(spawn_and_spawned),
        WITH_SCENE(exit_),
        WITH_SCENE(link_and_unlink_of_processes_and_ports),
        WITH_SCENE(register_and_unregister),
        WITH_SCENE(open_and_closed),
        WITH_SCENE(in_and_out_of_processes),
        WITH_SCENE(in_and_out_of_ports),
        WITH_SCENE(garbage_collections),
        WITH_SCENE(seq_trace_gets_the_label_in_place_of_a_tracee),
        WITH_SCENE(enabled_for_seq_trace_gets_the_acting_process),
        WITH_SCENE(recorded_timestamps_select_the_kind_of_timestamp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
