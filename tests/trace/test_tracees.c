/* Tests which processes a session traces: flags set and cleared, for all, existing and new ones,
 * for one process and for an expected one; and which events flags withhold. */
#include "tests/support/assertions.h"
#include "tests/support/scene.h"

#include "host/process/process.h"
#include "host/term/term.h"

#include <stddef.h>

#define STATUS(of) "enabled(trace_status,s," of ")\n"
#define SEND(of) "{trace," of ",send,hi,<0.9.0>}"
#define SENT(of)                    \
    "enabled_send(send,s," of ")\n" \
    "trace_send(send,s," of ",hi,#{extra => <0.9.0>})"

static struct th_session *session;

static int begin(void **state)
{
    (void)state;
    scene_begin_empty(NULL);
    session = scene_create("s");
    scene_log();
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_end();
    return 0;
}

static th_term pid(unsigned number)
{
    return th_local_pid(number, 0);
}

static th_term port(unsigned number)
{
    return th_local_port(number);
}

static void expect(const char *tuple, const char *callbacks)
{
    assert_int_equal(scene_trace(tuple), TH_OK);
    assert_string_equal(scene_log(), callbacks);
}

static void set(enum th_tracees which, bool on, uint32_t flags)
{
    assert_int_equal(th_trace_session_trace(session, which, on, flags), TH_OK);
}

static void give(th_term id, uint32_t flags)
{
    assert_int_equal(th_trace_session_trace_one(session, id, true, flags), TH_OK);
}

static void take(th_term id, uint32_t flags)
{
    assert_int_equal(th_trace_session_trace_one(session, id, false, flags), TH_OK);
}

static void expect_flags(th_term id, uint32_t flags)
{
    assert_int_equal(th_trace_session_flags(session, id), flags);
    scene_log();
}

static void expect_refused(enum th_status status, const char *why)
{
    assert_int_equal(status, TH_USAGE);
    assert_string_equal(th_error_link(0), why);
    th_error_clear();
}

/* --- One process ------------------------------------------------------------------------------ */

static void flags_are_added_and_removed_one_by_one(void **state)
{
    (void)state;
    give(pid(1), TH_FLAG_SEND);
    give(pid(1), TH_FLAG_PROCS | TH_FLAG_TIMESTAMP);
    expect_flags(pid(1), TH_FLAG_SEND | TH_FLAG_PROCS | TH_FLAG_TIMESTAMP);
    take(pid(1), TH_FLAG_SEND | TH_FLAG_CALL);
    expect_flags(pid(1), TH_FLAG_PROCS | TH_FLAG_TIMESTAMP);
    take(pid(1), TH_FLAGS_ALL);
    expect_flags(pid(1), 0);
    expect(SEND("<0.1.0>"), "");
}

static void only_the_selected_process_is_traced(void **state)
{
    (void)state;
    give(pid(1), TH_FLAG_SEND);
    expect(SEND("<0.1.0>"), SENT("<0.1.0>") " self\n");
    expect(SEND("<0.2.0>"), "");
    expect("{trace,<0.1.0>,'receive',hi}", "");
}

static void an_ended_process_cannot_be_traced(void **state)
{
    (void)state;
    th_process_world_end(pid(1));
    expect_refused(th_trace_session_trace_one(session, pid(1), true, TH_FLAG_SEND),
                   "only a process or port that has not ended can be traced");
    expect_refused(th_trace_session_trace_one(session, th_atom("all"), true, TH_FLAG_SEND),
                   "only a process or port that has not ended can be traced");
}

static void selecting_a_tracee_does_not_count_it_as_seen(void **state)
{
    (void)state;
    give(pid(1), TH_FLAG_SEND);
    assert_int_equal(th_process_world_counts().seen, 0);
    scene_trace(SEND("<0.1.0>"));
    scene_trace(SEND("<0.1.0>"));
    assert_int_equal(th_process_world_counts().seen, 1);
    give(pid(2), TH_FLAG_SEND);
    th_process_world_end(pid(2));
    assert_int_equal(th_process_world_counts().seen, 2);
}

/* --- All, existing and new processes ---------------------------------------------------------- */

static void existing_processes_are_those_without_a_recorded_spawn(void **state)
{
    (void)state;
    give(pid(1), TH_FLAG_PROCS);
    set(TH_PROCESSES_EXISTING, true, TH_FLAG_SEND);
    expect_flags(pid(1), TH_FLAG_PROCS | TH_FLAG_SEND);
    expect_flags(pid(7), TH_FLAG_SEND);
    scene_trace("{trace,<0.1.0>,spawn,<0.2.0>,{m,f,[]}}");
    expect_flags(pid(2), 0);
    set(TH_PROCESSES_EXISTING, true, TH_FLAG_RECEIVE);
    expect_flags(pid(2), TH_FLAG_RECEIVE);
    set(TH_PROCESSES_EXISTING, false, TH_FLAG_SEND);
    expect_flags(pid(1), TH_FLAG_PROCS | TH_FLAG_RECEIVE);
    expect_flags(pid(7), TH_FLAG_RECEIVE);
}

static void new_processes_are_those_with_a_recorded_spawn(void **state)
{
    (void)state;
    set(TH_PROCESSES_NEW, true, TH_FLAG_SEND);
    expect(SEND("<0.1.0>"), "");
    scene_trace("{trace,<0.1.0>,spawn,<0.2.0>,{m,f,[]}}");
    scene_log();
    expect(SEND("<0.2.0>"), SENT("<0.2.0>") " self\n");
    set(TH_PROCESSES_NEW, false, TH_FLAG_SEND);
    expect_flags(pid(2), TH_FLAG_SEND);
    scene_trace("{trace,<0.1.0>,spawn,<0.3.0>,{m,f,[]}}");
    expect_flags(pid(3), 0);
}

static void all_processes_are_existing_and_new_ones(void **state)
{
    (void)state;
    set(TH_PROCESSES_ALL, true, TH_FLAG_SEND);
    assert_int_equal(th_trace_session_default_flags(session, TH_PROCESSES_EXISTING), TH_FLAG_SEND);
    assert_int_equal(th_trace_session_default_flags(session, TH_PROCESSES_NEW), TH_FLAG_SEND);
    assert_int_equal(th_trace_session_default_flags(session, TH_PORTS_NEW), 0);
    scene_trace("{trace,<0.1.0>,spawn,<0.2.0>,{m,f,[]}}");
    expect_flags(pid(1), TH_FLAG_SEND);
    expect_flags(pid(2), TH_FLAG_SEND);
    take(pid(1), TH_FLAG_SEND);
    scene_trace("{trace,<0.1.0>,spawn,<0.3.0>,{m,f,[]}}");
    expect_flags(pid(1), 0);
    expect_flags(pid(3), TH_FLAG_SEND);
}

static void ports_have_their_own_defaults(void **state)
{
    (void)state;
    set(TH_PORTS_NEW, true, TH_FLAG_PORTS);
    expect("{trace,#Port<0.5>,open,<0.1.0>,cat}",
           "enabled_ports(open,s,#Port<0.5>)\n"
           "trace_ports(open,s,#Port<0.5>,<0.1.0>,#{extra => cat})\n");
    expect("{trace,#Port<0.6>,closed,normal}", "");
    set(TH_PORTS_EXISTING, true, TH_FLAG_SEND);
    expect_flags(port(5), TH_FLAG_PORTS | TH_FLAG_SEND);
    expect_flags(port(6), TH_FLAG_SEND);
    expect_flags(pid(6), 0);
}

static void ports_accept_only_the_flags_of_ports(void **state)
{
    const uint32_t theirs = TH_FLAG_SEND | TH_FLAG_RECEIVE | TH_FLAG_PORTS | TH_FLAG_SILENT |
                            TH_FLAG_RUNNING_PORTS | TH_FLAG_TIMESTAMP | TH_FLAG_MONOTONIC |
                            TH_FLAG_STRICT_MONOTONIC | TH_FLAG_SCHEDULER_ID;

    (void)state;
    set(TH_PORTS_ALL, true, TH_FLAGS_ALL);
    assert_int_equal(th_trace_session_default_flags(session, TH_PORTS_NEW), theirs);
    expect_flags(port(5), theirs);
    set(TH_PORTS_ALL, false, theirs);
    give(port(7), TH_FLAG_CALL | TH_FLAG_SET_ON_SPAWN);
    expect_flags(port(7), 0);
    set(TH_PROCESSES_ALL, true, TH_FLAGS_ALL);
    expect_flags(pid(1), TH_FLAGS_ALL & ~(TH_FLAG_PORTS | TH_FLAG_RUNNING_PORTS));
}

static void cpu_timestamp_is_possible_only_for_all_processes(void **state)
{
    const char *why = "the flag cpu_timestamp can be set only for all processes or ports at once";

    (void)state;
    set(TH_PROCESSES_ALL, true, TH_FLAG_SEND | TH_FLAG_CPU_TIMESTAMP);
    expect_flags(pid(1), TH_FLAG_SEND | TH_FLAG_CPU_TIMESTAMP);
    expect_refused(th_trace_session_trace(session, TH_PROCESSES_NEW, true, TH_FLAG_CPU_TIMESTAMP),
                   why);
    expect_refused(th_trace_session_trace(session, TH_PORTS_EXISTING, true, TH_FLAG_CPU_TIMESTAMP),
                   why);
    expect_refused(th_trace_session_trace_one(session, pid(1), true, TH_FLAG_CPU_TIMESTAMP), why);
    expect_refused(th_trace_session_expect(session, pid(1), TH_FLAG_CPU_TIMESTAMP), why);
}

/* --- Expected processes ----------------------------------------------------------------------- */

static void expected_tracees_are_traced_in_each_world(void **state)
{
    (void)state;
    assert_int_equal(th_trace_session_expect(session, pid(1), TH_FLAG_SEND), TH_OK);
    assert_int_equal(th_trace_session_expect(session, port(5), TH_FLAG_SEND), TH_OK);
    for (int world = 0; world < 3; world++) {
        expect(SEND("<0.1.0>"), SENT("<0.1.0>") " self\n");
        expect(SEND("#Port<0.5>"), SENT("#Port<0.5>") "\n");
        expect(SEND("<0.2.0>"), "");
        th_trace_new_world(scene_tracing());
    }
    expect_refused(th_trace_session_expect(session, th_small(1), TH_FLAG_SEND),
                   "only processes, ports and names can be traced");
}

/* The process keeps the flags that it was given, and inherits others. */
static void an_expected_process_can_be_spawned(void **state)
{
    (void)state;
    th_trace_session_expect(session, pid(2), TH_FLAG_SEND);
    give(pid(1), TH_FLAG_PROCS | TH_FLAG_SET_ON_SPAWN);
    scene_trace("{trace,<0.1.0>,spawn,<0.2.0>,{m,f,[]}}");
    expect_flags(pid(2), TH_FLAG_SEND | TH_FLAG_PROCS | TH_FLAG_SET_ON_SPAWN);
}

static void a_process_that_registers_an_expected_name_is_traced(void **state)
{
    (void)state;
    th_trace_session_expect(session, th_atom("boss"), TH_FLAG_SEND | TH_FLAG_PROCS);
    expect(SEND("<0.1.0>"), "");
    expect("{trace,<0.1.0>,register,clerk}", "");
    expect("{trace,<0.1.0>,register,boss}", "enabled_procs(register,s,<0.1.0>)\n"
                                            "trace_procs(register,s,<0.1.0>,boss,#{})\n");
    expect(SEND("<0.1.0>"), SENT("<0.1.0>") " self\n");
    scene_trace_skip("{trace,<0.2.0>,register,boss}");
    expect_flags(pid(2), TH_FLAG_SEND | TH_FLAG_PROCS);
}

static void a_process_with_an_expected_name_is_traced_at_once(void **state)
{
    (void)state;
    th_process_world_register(pid(1), th_atom("boss"));
    th_trace_session_expect(session, th_atom("boss"), TH_FLAG_SEND);
    expect_flags(pid(1), TH_FLAG_SEND);
}

/* A name means the process that has it, in each node. */
static void an_expected_name_is_that_of_each_node(void **state)
{
    th_term far, farther;

    (void)state;
    th_peer_add(th_atom("a@b"), 1);
    far = th_make_pid(NULL, th_atom("a@b"), 1, 1, 0);
    farther = th_make_pid(NULL, th_atom("a@b"), 1, 2, 0);
    th_process_world_register(far, th_atom("boss"));
    th_process_world_register(pid(1), th_atom("boss"));
    th_trace_session_expect(session, th_atom("boss"), TH_FLAG_SEND);
    expect_flags(pid(1), TH_FLAG_SEND);
    expect_flags(far, TH_FLAG_SEND);
    scene_trace_skip("{trace,<1.2.0>,register,boss}");
    expect_flags(farther, TH_FLAG_SEND);
    expect(SEND("<1.1.0>"), SENT("<1.1.0>") " self\n");
}

static void flags_are_inherited_within_a_node(void **state)
{
    const uint32_t flags = TH_FLAG_PROCS | TH_FLAG_SET_ON_SPAWN;
    th_term parent, child;

    (void)state;
    th_peer_add(th_atom("a@b"), 1);
    parent = th_make_pid(NULL, th_atom("a@b"), 1, 1, 0);
    child = th_make_pid(NULL, th_atom("a@b"), 1, 2, 0);
    give(parent, flags);
    scene_trace("{trace,<1.1.0>,spawn,<1.2.0>,{m,f,[]}}");
    scene_trace("{trace,<1.1.0>,spawn,<0.2.0>,{m,f,[]}}");
    scene_trace("{trace,<0.3.0>,spawned,<1.1.0>,{m,f,[]}}");
    expect_flags(child, flags);
    expect_flags(pid(2), 0);
    expect_flags(pid(3), 0);
}

/* --- Queries ---------------------------------------------------------------------------------- */

static void reading_flags_asks_the_tracer_for_its_status(void **state)
{
    (void)state;
    give(pid(1), TH_FLAG_SEND);
    assert_string_equal(scene_log(), "");
    assert_int_equal(th_trace_session_flags(session, pid(2)), 0);
    assert_string_equal(scene_log(), "");
    assert_int_equal(th_trace_session_flags(session, pid(1)), TH_FLAG_SEND);
    assert_string_equal(scene_log(), STATUS("<0.1.0>"));
    scene_answer("enabled trace_status", "remove");
    assert_int_equal(th_trace_session_flags(session, pid(1)), 0);
    assert_string_equal(scene_log(), STATUS("<0.1.0>"));
    assert_int_equal(th_trace_session_flags(session, pid(1)), 0);
    assert_string_equal(scene_log(), "");
    assert_int_equal(th_trace_session_counts(session).removed, 1);
    set(TH_PROCESSES_NEW, true, TH_FLAG_SEND);
    assert_int_equal(th_trace_session_default_flags(session, TH_PROCESSES_NEW), 0);
    assert_string_equal(scene_log(), STATUS("undefined"));
    assert_false(th_trace_session_attached(session));
}

static void sessions_are_listed_for_all_or_for_one_process(void **state)
{
    struct th_session *other = scene_create("t");
    th_session_id ids[TH_SESSIONS_LIMIT];

    (void)state;
    give(pid(1), TH_FLAG_SEND);
    assert_int_equal(th_trace_session_trace(other, TH_PROCESSES_NEW, true, TH_FLAG_SEND), TH_OK);
    assert_int_equal(th_trace_sessions_of(scene_tracing(), TH_NONE, ids), 2);
    assert_int_equal(ids[0], th_trace_session_id_of(session));
    assert_int_equal(ids[1], th_trace_session_id_of(other));
    assert_int_equal(th_trace_sessions_of(scene_tracing(), pid(1), ids), 1);
    assert_int_equal(ids[0], th_trace_session_id_of(session));
    assert_int_equal(th_trace_session_known_flags(session, TH_PROCESSES_NEW), 0);
    assert_int_equal(th_trace_session_known_flags(other, TH_PROCESSES_NEW), TH_FLAG_SEND);
    assert_int_equal(th_trace_session_known_flags(session, TH_PORTS_NEW), 0);
    assert_int_equal(th_trace_session_known_flags(other, TH_PORTS_NEW), 0);
    assert_int_equal(th_trace_sessions_of(scene_tracing(), pid(2), ids), 0);
}

/* --- Withheld events -------------------------------------------------------------------------- */

static void the_flag_running_has_two_names(void **state)
{
    static const uint32_t names[] = {TH_FLAG_RUNNING, TH_FLAG_RUNNING_PROCS};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        give(pid(1), names[i]);
        expect("{trace,<0.1.0>,out,0}", "enabled_running_procs(out,s,<0.1.0>)\n"
                                        "trace_running_procs(out,s,<0.1.0>,0,#{}) self\n");
        take(pid(1), names[i]);
        expect("{trace,<0.1.0>,out,0}", "");
    }
}

static void seq_trace_events_need_no_flag(void **state)
{
    (void)state;
    give(pid(1), TH_FLAG_SEND);
    expect("{seq_trace,7,{print,{0,1},<0.2.0>,[],hi}}",
           "enabled(seq_trace,s,<0.2.0>)\n"
           "trace(seq_trace,s,7,{print,{0,1},<0.2.0>,[],hi},#{})\n");
}

static void a_silent_process_calls_enabled_but_not_trace(void **state)
{
    (void)state;
    give(pid(1), TH_FLAG_CALL | TH_FLAG_RETURN_TO | TH_FLAG_SEND | TH_FLAG_SILENT);
    expect("{trace,<0.1.0>,call,{m,f,[]}}", "enabled_call(call,s,<0.1.0>)\n");
    expect("{trace,<0.1.0>,return_from,{m,f,0},1}", "");
    expect("{trace,<0.1.0>,return_to,{m,g,0}}", "");
    expect("{trace,<0.1.0>,call,{m,f,[]}}", "enabled_call(call,s,<0.1.0>)\n");
    expect("{trace,<0.1.0>,exception_from,{m,f,0},{error,x}}", "");
    expect(SEND("<0.1.0>"), SENT("<0.1.0>") " self\n");
    assert_int_equal(th_trace_session_counts(session).silenced, 2);
    assert_int_equal(th_trace_session_counts(session).untraced, 3);
    assert_int_equal(th_trace_session_counts(session).discarded, 0);
}

/* The flag silent at the end of the call has no effect. */
static void silence_at_a_call_decides_on_its_return(void **state)
{
    (void)state;
    give(pid(1), TH_FLAG_CALL | TH_FLAG_SILENT);
    expect("{trace,<0.1.0>,call,{m,f,[]}}", "enabled_call(call,s,<0.1.0>)\n");
    take(pid(1), TH_FLAG_SILENT);
    scene_trace("{trace,<0.1.0>,call,{m,g,[]}}");
    scene_log();
    give(pid(1), TH_FLAG_SILENT);
    expect("{trace,<0.1.0>,return_from,{m,g,0},1}",
           "trace_call(return_from,s,<0.1.0>,{m,g,0},#{extra => 1}) self\n");
    take(pid(1), TH_FLAG_SILENT);
    expect("{trace,<0.1.0>,return_from,{m,f,0},2}", "");
}

static void the_first_of_several_timestamp_flags_wins(void **state)
{
    static const struct {
        uint32_t flag;
        const char *opts;
    } stamps[] = {{TH_FLAG_MONOTONIC, "#{timestamp => monotonic}"},
                  {TH_FLAG_STRICT_MONOTONIC, "#{timestamp => strict_monotonic}"},
                  {TH_FLAG_TIMESTAMP, "#{timestamp => timestamp}"}};
    char log[256];

    (void)state;
    give(pid(1), TH_FLAG_RECEIVE);
    for (size_t i = 0; i < 3; i++) {
        give(pid(1), stamps[i].flag);
        snprintf(log, sizeof log,
                 "enabled_receive('receive',s,<0.1.0>)\ntrace_receive('receive',s,<0.1.0>,hi,%s)\n",
                 stamps[i].opts);
        expect("{trace,<0.1.0>,'receive',hi}", log);
    }
    take(pid(1), TH_FLAG_TIMESTAMP); /* the next flag in order is active again */
    expect("{trace,<0.1.0>,'receive',hi}",
           "enabled_receive('receive',s,<0.1.0>)\n"
           "trace_receive('receive',s,<0.1.0>,hi,#{timestamp => strict_monotonic})\n");
}

/* --- The end of a tracee ---------------------------------------------------------------------- */

/* A BEAM traces these events after the exit. */
static void events_after_the_exit_follow_the_last_flags(void **state)
{
    (void)state;
    set(TH_PROCESSES_ALL, true, TH_FLAG_EXITING | TH_FLAG_PROCS);
    take(pid(1), TH_FLAG_EXITING);
    take(pid(2), TH_FLAG_PROCS);
    th_process_world_end(pid(1));
    th_process_world_end(pid(2));
    expect("{trace,<0.1.0>,out_exited,0}", "");
    expect("{trace,<0.2.0>,out_exited,0}",
           "enabled_running_procs(out_exited,s,<0.2.0>)\n"
           "trace_running_procs(out_exited,s,<0.2.0>,0,#{}) self\n");
    expect("{trace,<0.2.0>,unregister,name}", "");
    expect("{trace,<0.1.0>,unregister,name}", "enabled_procs(unregister,s,<0.1.0>)\n"
                                              "trace_procs(unregister,s,<0.1.0>,name,#{})\n");
    th_trace_session_destroy(session);
    session = scene_create("s");
    set(TH_PROCESSES_NEW, true, TH_FLAG_EXITING);
    scene_log();
    expect("{trace,<0.2.0>,out_exited,0}", "");
}

static void ended_tracees_leave_no_memory(void **state)
{
    (void)state;
    for (unsigned i = 1; i < 1000; i++) {
        give(pid(i), TH_FLAG_SEND);
        th_process_world_end(pid(i));
    }
    assert_int_equal(th_process_world_counts().present, 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(flags_are_added_and_removed_one_by_one),
        TEST(only_the_selected_process_is_traced),
        TEST(an_ended_process_cannot_be_traced),
        TEST(selecting_a_tracee_does_not_count_it_as_seen),
        TEST(existing_processes_are_those_without_a_recorded_spawn),
        TEST(new_processes_are_those_with_a_recorded_spawn),
        TEST(all_processes_are_existing_and_new_ones),
        TEST(ports_have_their_own_defaults),
        TEST(ports_accept_only_the_flags_of_ports),
        TEST(cpu_timestamp_is_possible_only_for_all_processes),
        TEST(expected_tracees_are_traced_in_each_world),
        TEST(an_expected_process_can_be_spawned),
        TEST(a_process_that_registers_an_expected_name_is_traced),
        TEST(a_process_with_an_expected_name_is_traced_at_once),
        TEST(an_expected_name_is_that_of_each_node),
        TEST(flags_are_inherited_within_a_node),
        TEST(reading_flags_asks_the_tracer_for_its_status),
        TEST(sessions_are_listed_for_all_or_for_one_process),
        TEST(the_flag_running_has_two_names),
        TEST(seq_trace_events_need_no_flag),
        TEST(a_silent_process_calls_enabled_but_not_trace),
        TEST(silence_at_a_call_decides_on_its_return),
        TEST(the_first_of_several_timestamp_flags_wins),
        TEST(events_after_the_exit_follow_the_last_flags),
        TEST(ended_tracees_leave_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
