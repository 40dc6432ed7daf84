/*
 * Tests the inheritance of trace flags: each case was run on OTP 25, with the same events and the
 * same flags after them.
 */
#include "tests/support/assertions.h"
#include "tests/support/scene.h"

#include "host/process/process.h"

#include <stddef.h>
#include <string.h>

static struct th_session *session;

static int begin(void **state)
{
    (void)state;
    scene_begin_empty(NULL);
    session = scene_create("s");
    return 0;
}

static int end(void **state)
{
    (void)state;
    scene_end();
    return 0;
}

static uint32_t flags_of(const char *list)
{
    uint32_t flags = 0;

    if (*list && th_trace_flags_parse(list, &flags) != TH_OK)
        fail_msg("%s", th_error_link(1));
    return flags;
}

static void trace(unsigned process, const char *flags)
{
    assert_int_equal(
        th_trace_session_trace_one(session, th_local_pid(process, 0), true, flags_of(flags)),
        TH_OK);
}

static void expect(unsigned process, const char *flags)
{
    uint32_t found = th_trace_session_flags(session, th_local_pid(process, 0));

    if (found != flags_of(flags))
        fail_msg("<0.%u.0> has %#x, not %s", process, found, flags);
}

/* Traces an event of <0.1.0> and of its child <0.CHILD.0>, in a BEAM's order. */
static void event(const char *event, unsigned child)
{
    char tuple[128];

    if (strcmp(event, "spawned") == 0 || strcmp(event, "getting_linked") == 0)
        snprintf(tuple, sizeof tuple, "{trace,<0.%u.0>,%s,<0.1.0>%s}", child, event,
                 *event == 's' ? ",{m,f,[]}" : "");
    else
        snprintf(tuple, sizeof tuple, "{trace,<0.1.0>,%s,<0.%u.0>%s}", event, child,
                 *event == 's' ? ",{m,f,[]}" : "");
    assert_int_equal(scene_trace(tuple), TH_OK);
}

static void spawn(unsigned child)
{
    event("spawn", child);
    event("spawned", child);
}

static void spawn_link(unsigned child)
{
    event("spawn", child);
    event("link", child);
    event("spawned", child);
    event("getting_linked", child);
}

/* USE spawns two children of a process with flags GIVEN; asserts the flags of all three. */
static void run(void (*use)(unsigned child), const char *given, const char *parent,
                const char *first, const char *second)
{
    trace(1, given);
    use(2);
    use(3);
    expect(1, parent);
    expect(2, first);
    expect(3, second);
    end(NULL);
    begin(NULL);
}

static void spawn_passes_flags_on(void **state)
{
    (void)state;
    run(spawn, "procs", "procs", "", "");
    run(spawn, "procs,set_on_spawn", "procs,set_on_spawn", "procs,set_on_spawn",
        "procs,set_on_spawn");
    run(spawn, "procs,set_on_first_spawn", "procs", "procs", "");
    run(spawn, "procs,set_on_spawn,set_on_first_spawn", "procs", "procs", "");
    run(spawn, "procs,set_on_link,set_on_first_link", "procs,set_on_link,set_on_first_link", "",
        "");
    run(spawn, "send,timestamp,silent,set_on_spawn", "send,timestamp,silent,set_on_spawn",
        "send,timestamp,silent,set_on_spawn", "send,timestamp,silent,set_on_spawn");
}

static void spawn_link_passes_flags_on(void **state)
{
    (void)state;
    run(spawn_link, "procs,set_on_link", "procs,set_on_link", "procs,set_on_link",
        "procs,set_on_link");
    run(spawn_link, "procs,set_on_first_link", "procs", "procs", "");
    run(spawn_link, "procs,set_on_link,set_on_first_link", "procs", "procs", "");
    run(spawn_link, "procs,set_on_spawn,set_on_first_link", "procs,set_on_spawn",
        "procs,set_on_spawn", "procs,set_on_spawn");
    run(spawn_link, "call,set_on_spawn,set_on_first_spawn,set_on_link,set_on_first_link", "call",
        "call", "");
}

static void spawn_after_spawn_link_passes_no_flags_on(void **state)
{
    (void)state;
    trace(1, "procs,set_on_first_spawn,set_on_link");
    spawn_link(2);
    spawn(3);
    expect(1, "procs,set_on_link");
    expect(2, "procs,set_on_link");
    expect(3, "");
}

static void spawn_link_after_spawn_passes_no_first_flags_on(void **state)
{
    (void)state;
    trace(1, "procs,set_on_first_spawn,set_on_first_link");
    spawn(2);
    expect(1, "procs,set_on_first_link");
    expect(2, "procs,set_on_first_link");
    spawn_link(3);
    expect(1, "procs");
    expect(2, "procs,set_on_first_link");
    expect(3, "procs");
}

/* The child's own set_on_first_spawn ends with its own first child. */
static void children_of_children_inherit_flags(void **state)
{
    (void)state;
    trace(1, "procs,set_on_spawn");
    spawn(2);
    scene_trace("{trace,<0.2.0>,spawn,<0.3.0>,{m,f,[]}}");
    expect(3, "procs,set_on_spawn");
    trace(2, "set_on_first_spawn");
    scene_trace("{trace,<0.2.0>,spawn,<0.4.0>,{m,f,[]}}");
    scene_trace("{trace,<0.2.0>,spawn,<0.5.0>,{m,f,[]}}");
    expect(2, "procs");
    expect(4, "procs");
    expect(5, "");
}

/* Neither direction of a link passes flags on, as in a BEAM. */
static void link_passes_no_flags_on(void **state)
{
    (void)state;
    trace(1, "procs,set_on_link,set_on_first_link");
    trace(3, "receive,procs,set_on_link");
    event("link", 2);
    event("getting_linked", 2);
    event("link", 3);
    event("getting_linked", 3);
    expect(1, "procs,set_on_link,set_on_first_link");
    expect(2, "");
    expect(3, "receive,procs,set_on_link");
}

static void a_link_after_the_spawn_passes_no_flags_on(void **state)
{
    (void)state;
    trace(1, "procs,set_on_link");
    spawn(2);
    event("link", 2);
    event("getting_linked", 2);
    expect(2, "");
}

static void a_link_with_a_port_passes_no_flags_on(void **state)
{
    (void)state;
    trace(1, "procs,set_on_spawn,set_on_first_link");
    scene_trace("{trace,<0.1.0>,link,#Port<0.5>}");
    scene_trace("{trace,#Port<0.5>,open,<0.1.0>,cat}");
    expect(1, "procs,set_on_spawn,set_on_first_link");
    assert_int_equal(th_trace_session_flags(session, th_local_port(5)), 0);
}

/* The parent's events were not recorded. */
static void a_lone_spawned_event_passes_flags_on(void **state)
{
    (void)state;
    trace(1, "procs,set_on_first_spawn,set_on_link");
    event("spawned", 2);
    expect(2, "procs,set_on_link");
    event("spawned", 3);
    expect(3, "");
    event("getting_linked", 3);
    expect(3, "procs,set_on_link");
    event("spawned", 4);
    event("spawned", 4);
    expect(4, "");
}

static void a_child_gets_flags_of_new_processes_and_of_its_parent(void **state)
{
    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_NEW, true, flags_of("receive"));
    trace(1, "procs,set_on_spawn");
    spawn(2);
    expect(2, "receive,procs,set_on_spawn");
    scene_trace("{trace,<0.7.0>,spawn,<0.3.0>,{m,f,[]}}");
    expect(3, "receive");
    expect(7, "");
}

/* The child's flag is cleared, too, even if the child had it by itself. */
static void set_on_first_flags_are_cleared_at_the_child_too(void **state)
{
    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_NEW, true, flags_of("send,set_on_first_spawn"));
    trace(1, "procs,set_on_first_spawn");
    spawn(2);
    expect(2, "procs,send");
    spawn(3);
    expect(3, "send,set_on_first_spawn");
}

/* The child's first event comes with the inherited flags. */
static void inheritance_calls_the_same_callbacks_as_a_beam(void **state)
{
    (void)state;
    trace(1, "procs,set_on_first_link");
    scene_log();
    spawn_link(2);
    assert_string_equal(scene_log(),
                        "enabled_procs(spawn,s,<0.1.0>)\n"
                        "trace_procs(spawn,s,<0.1.0>,<0.2.0>,#{extra => {m,f,[]}})\n"
                        "enabled_procs(link,s,<0.1.0>)\ntrace_procs(link,s,<0.1.0>,<0.2.0>,#{})\n"
                        "enabled_procs(spawned,s,<0.2.0>)\n"
                        "trace_procs(spawned,s,<0.2.0>,<0.1.0>,#{extra => {m,f,[]}})\n"
                        "enabled_procs(getting_linked,s,<0.2.0>)\n"
                        "trace_procs(getting_linked,s,<0.2.0>,<0.1.0>,#{})\n");
    spawn_link(3);
    assert_string_equal(scene_log(),
                        "enabled_procs(spawn,s,<0.1.0>)\n"
                        "trace_procs(spawn,s,<0.1.0>,<0.3.0>,#{extra => {m,f,[]}})\n"
                        "enabled_procs(link,s,<0.1.0>)\ntrace_procs(link,s,<0.1.0>,<0.3.0>,#{})\n");
}

static void each_session_s_flags_are_inherited_separately(void **state)
{
    struct th_session *first = session;

    (void)state;
    trace(1, "procs,set_on_first_spawn");
    session = scene_create("t");
    trace(1, "send,set_on_spawn");
    spawn(2);
    spawn(3);
    expect(2, "send,set_on_spawn");
    expect(3, "send,set_on_spawn");
    session = first;
    expect(1, "procs");
    expect(2, "procs");
    expect(3, "");
}

static void a_skipped_event_passes_flags_on_too(void **state)
{
    (void)state;
    trace(1, "procs,set_on_spawn");
    scene_log();
    scene_trace_skip("{trace,<0.1.0>,spawn,<0.2.0>,{m,f,[]}}");
    scene_trace_skip("{trace,<0.1.0>,send,hi,<0.2.0>}");
    assert_string_equal(scene_log(), "");
    expect(2, "procs,set_on_spawn");
}

static void a_removed_tracee_passes_no_flags_on(void **state)
{
    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_EXISTING, true,
                           flags_of("send,procs,set_on_spawn"));
    spawn(2);
    expect(2, "send,procs,set_on_spawn");
    scene_answer("enabled_send", "remove");
    scene_trace("{trace,<0.1.0>,send,hi,<0.2.0>}");
    scene_log();
    spawn(3);
    assert_string_equal(scene_log(), "");
    expect(1, "");
    expect(2, "send,procs,set_on_spawn");
    expect(3, "");
}

/* A tracee as recorded counts as set on spawn. */
static void a_removed_tracee_as_recorded_passes_no_flags_on(void **state)
{
    (void)state;
    scene_attach("r", TH_FLAGS_EVENTS | TH_FLAG_AS_RECORDED);
    scene_answer("enabled_send", "remove");
    scene_trace("{trace,<0.1.0>,send,hi,<0.2.0>}");
    scene_log();
    spawn(2);
    scene_trace("{trace,<0.2.0>,'receive',hi}");
    assert_string_equal(scene_log(), "");
    scene_trace("{trace,<0.3.0>,spawn,<0.4.0>,{m,f,[]}}");
    scene_log();
    scene_trace("{trace,<0.4.0>,'receive',hi}");
    assert_string_equal(scene_log(), "enabled_receive('receive',r,<0.4.0>)\n"
                                     "trace_receive('receive',r,<0.4.0>,hi,#{})\n");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(spawn_passes_flags_on),
        TEST(spawn_link_passes_flags_on),
        TEST(spawn_after_spawn_link_passes_no_flags_on),
        TEST(spawn_link_after_spawn_passes_no_first_flags_on),
        TEST(children_of_children_inherit_flags),
        TEST(link_passes_no_flags_on),
        TEST(a_link_after_the_spawn_passes_no_flags_on),
        TEST(a_link_with_a_port_passes_no_flags_on),
        TEST(a_lone_spawned_event_passes_flags_on),
        TEST(a_child_gets_flags_of_new_processes_and_of_its_parent),
        TEST(set_on_first_flags_are_cleared_at_the_child_too),
        TEST(inheritance_calls_the_same_callbacks_as_a_beam),
        TEST(each_session_s_flags_are_inherited_separately),
        TEST(a_skipped_event_passes_flags_on_too),
        TEST(a_removed_tracee_passes_no_flags_on),
        TEST(a_removed_tracee_as_recorded_passes_no_flags_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
