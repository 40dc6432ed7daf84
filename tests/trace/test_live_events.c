/* Tests live events other than calls; inheritance; functions that begin and end; recorded and live
 * events in one tracing; control calls by other threads. */
#include "host/term/term.h"
#include "tests/support/alive.h"
#include "tests/support/assertions.h"

#include "host/base/base.h"
#include "host/process/process.h"

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

#define ME "<0.1.4096>"

static struct th_session *session;
static struct alive *me;

static int begin(void **state)
{
    (void)state;
    alive_begin();
    session = scene_create("s");
    me = alive_spawn(1, NULL, false);
    scene_log();
    return 0;
}

static int end(void **state)
{
    (void)state;
    alive_exit(me);
    alive_end();
    return 0;
}

static void expect(const char *callbacks)
{
    assert_string_equal(scene_log(), callbacks);
}

static void trace_me(uint32_t flags)
{
    assert_int_equal(th_trace_session_trace_one(session, me->process.id, true, flags), TH_OK);
    scene_log();
}

/* --- Events ----------------------------------------------------------------------------------- */

static unsigned built;

static void build_message(struct th_live_event *event, th_env *env)
{
    built++;
    event->event.term = th_make_tuple_of(env, th_atom("hi"), th_small(1));
    event->event.extra = *(th_term *)event->context;
}

static enum th_status send(void)
{
    static th_term receiver;
    struct th_live_event event;

    receiver = th_atom("bob");
    th_live_event_init(&event, &me->process, TH_TAG_send);
    event.build = build_message;
    event.context = &receiver;
    return th_live_trace(&event);
}

static void the_terms_of_an_event_are_built_only_for_a_tracer(void **state)
{
    (void)state;
    built = 0;
    assert_int_equal(send(), TH_OK);
    expect("");
    trace_me(TH_FLAG_SEND);
    scene_answer("enabled_send", "discard");
    send();
    expect("enabled_send(send,s," ME ")\n");
    assert_int_equal(built, 0);
    scene_forget_answers();
    th_trace_session_trace_one(scene_create("t"), me->process.id, true, TH_FLAG_SEND);
    scene_log();
    send();
    expect("enabled_send(send,s," ME ")\n"
           "trace_send(send,s," ME ",{hi,1},#{extra => bob}) self\n"
           "enabled_send(send,t," ME ")\n"
           "trace_send(send,t," ME ",{hi,1},#{extra => bob}) self\n");
    assert_int_equal(built, 1);
}

/* --- Patterns for messages -------------------------------------------------------------------- */

static void set_pattern(enum th_status set(struct th_session *session, th_term match),
                        const char *match)
{
    th_term term;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, match, strlen(match), &term), TH_OK);
    assert_int_equal(set(session, term), TH_OK);
    th_env_release(&env);
}

static void send_patterns_filter_sends(void **state)
{
    (void)state;
    trace_me(TH_FLAG_SEND);
    set_pattern(th_trace_session_send_pattern, "[{[alice,'_'],[],[]}]");
    send();
    expect("");
    assert_int_equal(th_trace_session_message_counts(session).unmatched, 1);
    set_pattern(th_trace_session_send_pattern,
                "[{[bob,{hi,'$1'}],[{'>','$1',0}],[{message,{self}}]}]");
    send();
    expect("enabled_send(send,s," ME ")\ntrace_send(send,s," ME
           ",{hi,1},#{extra => bob,match_spec_result => " ME "}) self\n");
    set_pattern(th_trace_session_send_pattern, "[{'_',[],[{silent,true}]}]");
    send();
    expect("");
    assert_int_equal(th_trace_session_message_counts(session).silenced, 1);
    set_pattern(th_trace_session_send_pattern, "true");
    send(); /* silent; only a match specification reads that */
    expect("enabled_send(send,s," ME ")\n"
           "trace_send(send,s," ME ",{hi,1},#{extra => bob}) self\n");
}

static void receive(th_term sender)
{
    struct th_live_event event;

    th_live_event_init(&event, &me->process, TH_TAG_receive);
    event.event.term = th_atom("hi");
    event.sender = sender;
    assert_int_equal(th_live_trace(&event), TH_OK);
}

static void receive_patterns_see_the_sender(void **state)
{
    (void)state;
    trace_me(TH_FLAG_RECEIVE);
    set_pattern(th_trace_session_receive_pattern, "[{['$1','$2',hi],[{'=:=','$1',{node}},"
                                                  "{'=:=','$2',{self}}],[]}]");
    receive(me->process.id);
    expect("enabled_receive('receive',s," ME ")\ntrace_receive('receive',s," ME ",hi,#{})\n");
    receive(TH_AM(undefined));
    expect("");
    receive(TH_NONE);
    expect("");
    assert_int_equal(th_trace_session_message_counts(session).unmatched, 1);
    assert_int_equal(th_trace_session_message_counts(session).undecided, 1);
}

/* --- Others ----------------------------------------------------------------------------------- */

static void happen(enum th_tracer_tag tag, th_term term)
{
    struct th_live_event event;

    th_live_event_init(&event, &me->process, tag);
    event.event.term = term;
    assert_int_equal(th_live_trace(&event), TH_OK);
}

static void the_status_is_asked_when_a_process_is_scheduled_in(void **state)
{
    (void)state;
    trace_me(TH_FLAG_RUNNING_PROCS);
    happen(TH_TAG_in, th_small(0));
    expect("enabled(trace_status,s," ME ")\nenabled_running_procs(in,s," ME ")\n"
           "trace_running_procs(in,s," ME ",0,#{}) self\n");
    happen(TH_TAG_out, th_small(0));
    expect("enabled_running_procs(out,s," ME ")\n"
           "trace_running_procs(out,s," ME ",0,#{}) self\n");
    scene_answer("enabled", "remove");
    happen(TH_TAG_in, th_small(0));
    expect("enabled(trace_status,s," ME ")\n");
    happen(TH_TAG_out, th_small(0));
    expect("");
    assert_int_equal(th_trace_session_counts(session).removed, 1);
}

static void remove_has_effect_for_the_same_events_as_in_a_beam(void **state)
{
    (void)state;
    trace_me(TH_FLAG_SEND | TH_FLAG_PROCS);
    scene_answer("enabled_procs", "remove");
    happen(TH_TAG_exit, th_atom("normal"));
    expect("enabled_procs(exit,s," ME ")\n");
    assert_int_equal(th_trace_session_counts(session).kept, 1);
    scene_answer("enabled_send", "remove");
    send();
    expect("enabled_send(send,s," ME ")\n");
    send();
    expect("");
}

static void seq_trace_events_go_to_all_sessions(void **state)
{
    struct th_live_event event;

    (void)state;
    th_live_event_init_seq(&event, &me->process);
    event.event.label = th_small(7);
    event.event.term = th_atom("info");
    assert_int_equal(th_live_trace(&event), TH_OK);
    expect("enabled(seq_trace,s," ME ")\ntrace(seq_trace,s,7,info,#{})\n");
}

static void send_in_callback(void)
{
    send();
}

static void callbacks_do_not_recurse(void **state)
{
    (void)state;
    trace_me(TH_FLAG_SEND);
    scene_act("enabled_send", NULL, send_in_callback);
    scene_answer("enabled_send", "discard");
    send();
    expect("enabled_send(send,s," ME ")\n");
    assert_int_equal(th_live_counts(scene_tracing()).suppressed, 1);
}

/* --- Tracees ---------------------------------------------------------------------------------- */

static uint32_t flags_of(const struct alive *alive)
{
    uint32_t flags = th_trace_session_flags(session, alive->process.id);

    scene_log();
    return flags;
}

static void flags_of_existing_and_new_processes_are_separate(void **state)
{
    struct alive *child;

    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_EXISTING, true, TH_FLAG_SEND);
    assert_int_equal(flags_of(me), TH_FLAG_SEND);
    child = alive_spawn(2, me, false);
    assert_int_equal(flags_of(child), 0);
    alive_exit(child);
    th_trace_session_trace(session, TH_PROCESSES_NEW, true, TH_FLAG_PROCS);
    child = alive_spawn(3, NULL, false);
    assert_int_equal(flags_of(me), TH_FLAG_SEND);
    assert_int_equal(flags_of(child), TH_FLAG_PROCS);
    th_trace_session_trace(session, TH_PROCESSES_EXISTING, true, TH_FLAG_GC);
    assert_int_equal(flags_of(child), TH_FLAG_PROCS | TH_FLAG_GC);
    th_trace_session_trace(session, TH_PROCESSES_ALL, false, TH_FLAGS_ALL);
    assert_int_equal(flags_of(me), 0);
    assert_int_equal(flags_of(child), 0);
    alive_exit(child);
}

/* Asserts the flags that the child gets, and those that its parent keeps. */
static void spawn_under(uint32_t flags, bool linked, uint32_t child_gets, uint32_t parent_keeps)
{
    static unsigned n = 100;
    struct alive *child;

    th_trace_session_trace_one(session, me->process.id, false, TH_FLAGS_ALL);
    trace_me(flags);
    child = alive_spawn(n++, me, linked);
    assert_int_equal(flags_of(child), child_gets);
    assert_int_equal(flags_of(me), parent_keeps);
    alive_exit(child);
}

static void children_inherit_flags(void **state)
{
    const uint32_t send = TH_FLAG_SEND, spawn = TH_FLAG_SET_ON_SPAWN,
                   first = TH_FLAG_SET_ON_FIRST_SPAWN, link = TH_FLAG_SET_ON_LINK,
                   first_link = TH_FLAG_SET_ON_FIRST_LINK;

    (void)state;
    spawn_under(send, true, 0, send);
    spawn_under(send | spawn, false, send | spawn, send | spawn);
    spawn_under(send | first, false, send, send);
    spawn_under(send | link, false, 0, send | link);
    spawn_under(send | link, true, send | link, send | link);
    spawn_under(send | first_link, true, send, send);
}

/* --- Functions -------------------------------------------------------------------------------- */

static void loaded_functions_get_waiting_patterns(void **state)
{
    struct th_pattern later = {th_atom("late"), TH_NONE, TH_ANY_ARITY, true};
    struct th_pattern now = {th_atom("late"), TH_NONE, TH_ANY_ARITY, false};
    struct th_traceable_function f = {.function.name = {th_atom("late"), th_atom("f"), 0}}, g = f;
    struct th_traceable_function *const one[] = {&f}, *const two[] = {&g};
    size_t matched;

    (void)state;
    th_trace_session_function(session, &now, TH_AM(true), TH_BP_LOCAL, &matched);
    assert_int_equal(matched, 0);
    scene_begin_functions(one, 1);
    assert_false(th_live_function_is_armed(&f));
    th_trace_session_function(session, &later, TH_AM(true), TH_BP_LOCAL, &matched);
    assert_false(th_live_function_is_armed(&f));
    scene_begin_functions(two, 1);
    assert_true(th_live_function_is_armed(&g));
    assert_ptr_equal(th_live_function_find(scene_tracing(), &f.function.name), &g);
    th_trace_session_function(session, &now, TH_AM(true), TH_BP_LOCAL, &matched);
    assert_int_equal(matched, 2);
    assert_true(th_live_function_is_armed(&f));
    scene_end_functions(two, 1);
    scene_end_functions(one, 1);
    assert_null(th_live_function_find(scene_tracing(), &f.function.name));
}

/* --- With a recording ------------------------------------------------------------------------- */

static void recordings_are_replayed_beside_live_events(void **state)
{
    struct th_pattern f0 = {th_atom("m"), th_atom("f0"), 1, false};
    struct th_bp_info info;
    size_t matched;

    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    trace_me(TH_FLAG_CALL);
    th_trace_session_function(session, &f0, TH_AM(true), TH_BP_LOCAL | TH_BP_MEMORY, &matched);
    assert_int_equal(matched, 1);
    scene_trace("{trace,<0.9.0>,call,{m,f0,[1]}}");
    expect("enabled_call(call,s,<0.9.0>)\ntrace_call(call,s,<0.9.0>,{m,f0,[1]},#{}) self\n");
    alive_call(me, 0, th_small(2));
    expect("enabled_call(call,s," ME ")\ntrace_call(call,s," ME ",{m,f0,[2]},#{}) self\n");
    scene_trace("{trace,<0.9.0>,return_from,{m,f0,1},ok}");
    expect("");
    th_trace_session_function_info(session, &alive_functions[0].function.name, &info);
    assert_int_equal(info.memory_count, 1); /* only the live call */
    th_breakpoint_info_free(&info);
    assert_int_equal(th_trace_session_counts(session).traced, 2);
}

static struct th_session *doomed;

static void destroy_doomed(void)
{
    if (doomed)
        th_trace_session_destroy(doomed);
    doomed = NULL;
}

/* Two sessions at one function of a recording; one is removed in the other's callback, and its
 * index is reused. */
static void a_recorded_call_survives_the_end_of_a_session(void **state)
{
    struct th_pattern f9 = {th_atom("m"), th_atom("f9"), TH_ANY_ARITY, false};
    th_session_id id;

    (void)state;
    doomed = scene_create("t");
    id = th_trace_session_id_of(doomed);
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    th_trace_session_trace(doomed, TH_PROCESSES_ALL, true, TH_FLAG_CALL | TH_FLAG_RETURN_TO);
    th_trace_session_function(session, &f9, TH_AM(true), TH_BP_LOCAL, NULL);
    th_trace_session_function(doomed, &f9, TH_AM(true), TH_BP_LOCAL, NULL);
    scene_act("trace_call", "s", destroy_doomed);
    scene_log();
    scene_trace("{trace,<0.9.0>,call,{m,f9,[1]}}");
    expect("enabled_call(call,s,<0.9.0>)\ntrace_call(call,s,<0.9.0>,{m,f9,[1]},#{}) self\n");
    while (th_trace_session_state(scene_tracing(), id) != TH_SESSION_DEAD)
        th_progress_settle();
    th_trace_session_trace(scene_create("u"), TH_PROCESSES_ALL, true,
                           TH_FLAG_CALL | TH_FLAG_RETURN_TO);
    scene_log();
    scene_trace("{trace,<0.9.0>,return_to,{m,f8,1}}");
    expect("trace_call(return_to,u,<0.9.0>,{m,f8,1},#{}) self\n");
}

static void the_end_of_a_session_keeps_discarded_calls_of_others(void **state)
{
    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    scene_answer("enabled_call", "discard");
    scene_trace("{trace,<0.9.0>,call,{m,f,[]}}");
    expect("enabled_call(call,s,<0.9.0>)\n");
    th_trace_session_destroy(scene_create("t"));
    scene_log();
    scene_trace("{trace,<0.9.0>,return_from,{m,f,0},ok}");
    expect("");
    assert_int_equal(th_trace_session_counts(session).untraced, 1);
}

/* --- Other threads ---------------------------------------------------------------------------- */

static void *control_from_elsewhere(void *recorded)
{
    th_session_id ids[TH_SESSIONS_LIMIT];
    struct th_session *mine = scene_create("t");

    assert_int_equal(th_trace_session_trace_one(mine, *(th_term *)recorded, true, TH_FLAG_SEND),
                     TH_USAGE);
    th_error_clear();
    assert_int_equal(th_trace_session_flags(mine, *(th_term *)recorded), 0);
    assert_int_equal(th_trace_session_trace_one(mine, me->process.id, true, TH_FLAG_SEND), TH_OK);
    assert_int_equal(th_trace_session_flags(mine, me->process.id), TH_FLAG_SEND);
    assert_int_equal(th_trace_sessions_of(scene_tracing(), me->process.id, ids), 1);
    th_trace_session_trace(mine, TH_PROCESSES_ALL, true, TH_FLAG_PROCS);
    th_trace_session_destroy(mine);
    return NULL;
}

static void another_thread_can_control_a_session(void **state)
{
    th_term recorded = th_local_pid(9, 0);
    pthread_t thread;

    (void)state;
    assert_int_equal(th_trace_session_trace_one(session, recorded, true, TH_FLAG_CALL), TH_OK);
    pthread_create(&thread, NULL, control_from_elsewhere, &recorded);
    pthread_join(thread, NULL);
    scene_log();
    scene_trace("{trace,<0.9.0>,call,{m,f,[]}}");
    expect("enabled_call(call,s,<0.9.0>)\ntrace_call(call,s,<0.9.0>,{m,f,[]},#{}) self\n");
    assert_int_equal(th_trace_session_flags(session, recorded), TH_FLAG_CALL);
}

static void delivered(void *done)
{
    sem_post(done);
}

static void delivery_is_notified_without_open_events(void **state)
{
    sem_t done;

    (void)state;
    sem_init(&done, 0, 0);
    th_trace_delivered(scene_tracing(), delivered, &done);
    while (sem_wait(&done) != 0)
        ; /* interrupted by a signal */
    sem_destroy(&done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(the_terms_of_an_event_are_built_only_for_a_tracer),
        TEST(send_patterns_filter_sends),
        TEST(receive_patterns_see_the_sender),
        TEST(the_status_is_asked_when_a_process_is_scheduled_in),
        TEST(remove_has_effect_for_the_same_events_as_in_a_beam),
        TEST(seq_trace_events_go_to_all_sessions),
        TEST(callbacks_do_not_recurse),
        TEST(flags_of_existing_and_new_processes_are_separate),
        TEST(children_inherit_flags),
        TEST(loaded_functions_get_waiting_patterns),
        TEST(recordings_are_replayed_beside_live_events),
        TEST(a_recorded_call_survives_the_end_of_a_session),
        TEST(the_end_of_a_session_keeps_discarded_calls_of_others),
        TEST(another_thread_can_control_a_session),
        TEST(delivery_is_notified_without_open_events),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
