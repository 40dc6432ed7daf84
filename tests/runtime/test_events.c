/* Tests the events of processes: each tag with its arguments, in a BEAM's order. */
#include "plays.h"

#include <pthread.h>
#include <unistd.h>

static int begin(void **state)
{
    (void)state;
    begin_plays(1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    end_plays();
    return 0;
}

/* Asserts the callbacks of the trace family that SCRIPT causes under FLAGS. */
static void expect(uint32_t flags, const char *script, const char *callbacks)
{
    trace_player(flags);
    play(script);
    assert_string_equal(played("enabled"), callbacks);
}

/* --- procs --- */

static void spawn_and_spawned_events(void **state)
{
    (void)state;
    expect(TH_FLAG_PROCS, "[{spawn,c,0,[]}]",
           "trace_procs(spawn,s,A,B,#{extra => {play,run,[[],#{parent => A,self => A}]}})\n"
           "trace_procs(spawned,s,B,A,#{extra => {play,run,[[],#{parent => A,self => A}]}})\n"
           "trace_procs(exit,s,B,normal,#{})\n");
}

static void enabled_is_called_before_each_event(void **state)
{
    (void)state;
    trace_player(TH_FLAG_SEND | TH_FLAG_RECEIVE);
    play("[{send,self,hi},{await,0}]");
    assert_string_equal(played("enabled(trace_status"),
                        "enabled_send(send,s,A)\ntrace_send(send,s,A,hi,#{extra => A}) self\n"
                        "enabled_receive('receive',s,A)\ntrace_receive('receive',s,A,hi,#{})\n");
}

static void link_and_unlink_events(void **state)
{
    (void)state;
    expect(TH_FLAG_PROCS,
           "[{spawn,c,2,[{await,infinity}]},{link,c},{unlink,c},{link,c},{link,c},"
           "{unlink,self},{send,c,stop},{await,infinity}]",
           "trace_procs(spawn,s,A,B,#{extra => {play,run,[[{await,infinity}],"
           "#{parent => A,self => A}]}})\n"
           "trace_procs(spawned,s,B,A,#{extra => {play,run,[[{await,infinity}],"
           "#{parent => A,self => A}]}})\n"
           "trace_procs(link,s,A,B,#{})\ntrace_procs(unlink,s,A,B,#{})\n"
           "trace_procs(link,s,A,B,#{})\ntrace_procs(link,s,A,B,#{})\n"
           "trace_procs(unlink,s,A,A,#{})\n"
           "trace_procs(getting_linked,s,B,A,#{})\ntrace_procs(getting_unlinked,s,B,A,#{})\n"
           "trace_procs(getting_linked,s,B,A,#{})\ntrace_procs(exit,s,B,normal,#{})\n"
           "trace_procs(getting_unlinked,s,A,B,#{})\n");
}

static void spawn_link_and_exit_events(void **state)
{
    (void)state;
    expect(TH_FLAG_PROCS | TH_FLAG_RECEIVE, "[trap,{spawn,c,1,[{raise,exit,why}]},{await,5000}]",
           "trace_procs(spawn,s,A,B,#{extra => {play,run,[[{raise,exit,why}],"
           "#{parent => A,self => A}]}})\n"
           "trace_procs(link,s,A,B,#{})\n"
           "trace_procs(spawned,s,B,A,#{extra => {play,run,[[{raise,exit,why}],"
           "#{parent => A,self => A}]}})\n"
           "trace_procs(getting_linked,s,B,A,#{})\n"
           "trace_procs(exit,s,B,why,#{})\ntrace_procs(getting_unlinked,s,A,B,#{})\n"
           "trace_receive('receive',s,A,{'EXIT',B,why},#{})\n");
}

static void errors_have_a_stack_trace(void **state)
{
    (void)state;
    trace_player(TH_FLAG_PROCS);
    play("[{spawn,c,0,[{raise,error,bad}]}]");
    assert_non_null(
        strstr(played("enabled"), "trace_procs(exit,s,B,{bad,[{play,run,[[{raise,error,bad}],"));
    play("[{spawn,c,0,[{raise,throw,ball}]}]");
    assert_non_null(strstr(played("enabled"),
                           "trace_procs(exit,s,B,{{nocatch,ball},[{play,run,[[{raise,throw"));
}

static void register_and_unregister_events(void **state)
{
    (void)state;
    expect(TH_FLAG_PROCS, "[{register,me,self},{unregister,me}]",
           "trace_procs(register,s,A,me,#{})\ntrace_procs(unregister,s,A,me,#{})\n");
    trace_player(TH_FLAG_PROCS | TH_FLAG_EXITING | TH_FLAG_RUNNING);
    play("[{spawn,c,0,[{register,kid,self}]}]");
    assert_non_null(strstr(played("enabled"), "trace_procs(register,s,B,kid,#{})\n"
                                              "trace_procs(exit,s,B,normal,#{})\n"
                                              "trace_procs(unregister,s,B,kid,#{})\n"
                                              "trace_running_procs(out_exited,s,B,0,#{}) self\n"));
}

static void names_registered_by_another_process_raise_events(void **state)
{
    (void)state;
    trace_player(TH_FLAG_PROCS);
    play("[{spawn,c,0,[{await,infinity}]},{register,kid,c},{unregister,kid},{send,c,stop}]");
    assert_non_null(strstr(played("enabled"), "trace_procs(register,s,B,kid,#{})\n"
                                              "trace_procs(unregister,s,B,kid,#{})\n"
                                              "trace_procs(exit,s,B,normal,#{})\n"));
    play("[{spawn,c,0,[{await,infinity}]},{exit,c,why},{register,kid,c}]");
    assert_non_null(strstr(played("enabled"), "trace_procs(exit,s,B,why,#{})\n"
                                              "trace_procs(register,s,B,kid,#{})\n"
                                              "trace_procs(unregister,s,B,kid,#{})\n"));
}

/* --- messages --- */

static void send_and_receive_events(void **state)
{
    (void)state;
    expect(TH_FLAG_SEND | TH_FLAG_RECEIVE, "[{send,self,{hi,1}},{await,0},{await,0},{await,1}]",
           "trace_send(send,s,A,{hi,1},#{extra => A}) self\n"
           "trace_receive('receive',s,A,{hi,1},#{})\n"
           "trace_receive('receive',s,A,timeout,#{})\n"
           "trace_receive('receive',s,A,timeout,#{})\n");
    expect(TH_FLAG_SEND | TH_FLAG_RECEIVE,
           "[{spawn,c,2,[]},{await,infinity},{send,c,late},{monitor,c},{await,infinity}]",
           "trace_receive('receive',s,A,{'DOWN',#R,process,B,normal},#{})\n"
           "trace_send(send_to_non_existing_process,s,A,late,#{extra => B}) self\n"
           "trace_receive('receive',s,A,{'DOWN',#R,process,B,noproc},#{})\n");
}

static void receive_matching(const char *match)
{
    th_term term;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, match, strlen(match), &term), TH_OK);
    assert_int_equal(th_trace_session_receive_pattern(session, term), TH_OK);
    th_env_release(&env);
}

static void a_receive_pattern_sees_the_sender(void **state)
{
    (void)state;
    receive_matching("[{['$1','$2','_'],[],[{message,{{'$1','$2'}}}]}]");
    expect(TH_FLAG_RECEIVE,
           "[trap,{send,self,hi},{await,0},{await,0},{spawn,c,3,[]},{await,infinity},"
           "{await,infinity},{link,c},{await,infinity}]",
           "trace_receive('receive',s,A,hi,#{match_spec_result => {nonode@nohost,A}})\n"
           "trace_receive('receive',s,A,timeout,"
           "#{match_spec_result => {clock_service,undefined}})\n"
           "trace_receive('receive',s,A,{'EXIT',B,normal},"
           "#{match_spec_result => {nonode@nohost,B}})\n"
           "trace_receive('receive',s,A,{'DOWN',#R,process,B,normal},"
           "#{match_spec_result => {nonode@nohost,B}})\n"
           "trace_receive('receive',s,A,{'EXIT',B,noproc},"
           "#{match_spec_result => {system,undefined}})\n");
    th_process_send(th_runtime_run_pid(player), th_atom("from_outside"));
    play("[{await,infinity}]");
    assert_string_equal(played("enabled"), "trace_receive('receive',s,A,from_outside,"
                                           "#{match_spec_result => {undefined,undefined}})\n");
}

/* --- running --- */

static void in_and_out_events(void **state)
{
    (void)state;
    expect(TH_FLAG_RUNNING | TH_FLAG_EXITING | TH_FLAG_SCHEDULER_ID | TH_FLAG_RECEIVE,
           "[{spawn,c,0,[{await,infinity}]},{spawn,d,0,[{send,c,go}]}]",
           "trace_running_procs(in,s,A,0,#{scheduler_id => 1}) self\n"
           "trace_running_procs(out,s,A,0,#{scheduler_id => 1}) self\n"
           "trace_running_procs(in,s,B,{play,run,2},#{scheduler_id => 1}) self\n"
           "trace_running_procs(out,s,B,{play,run,2},#{scheduler_id => 1}) self\n"
           "trace_running_procs(in,s,C,{play,run,2},#{scheduler_id => 1}) self\n"
           "trace_running_procs(out_exited,s,C,0,#{scheduler_id => 1}) self\n"
           "trace_running_procs(in,s,B,{play,run,2},#{scheduler_id => 1}) self\n"
           "trace_receive('receive',s,B,go,#{scheduler_id => 1})\n"
           "trace_running_procs(out_exited,s,B,0,#{scheduler_id => 1}) self\n");
}

/* The player moves to a dirty thread and back. It is also scheduled out after the call. */
static void a_move_to_a_dirty_thread_raises_out_and_in(void **state)
{
    (void)state;
    trace_player(TH_FLAG_RUNNING | TH_FLAG_SCHEDULER_ID);
    call_play("dirty", "[]");
    assert_non_null(strstr(played("enabled"),
                           "trace_running_procs(out,s,A,{play,dirty,0},#{scheduler_id => 1}) self\n"
                           "trace_running_procs(in,s,A,{play,dirty,0},#{scheduler_id => 3}) self\n"
                           "trace_running_procs(out,s,A,0,#{scheduler_id => 3}) self\n"
                           "trace_running_procs(in,s,A,0,#{scheduler_id => 1}) self\n"));
}

/* A normal scheduler reports the end; later acts of the function raise no events. */
static void a_process_killed_in_a_dirty_function_raises_its_exit(void **state)
{
#define SCRIPT                                                                         \
    "[{register,some_name,self},cpu,{send,parent,here},until_dead,{send,parent,late}," \
    "{link,parent},{spawn,d,1,[]},{print,0,text},{register,some_other,self}]"
    (void)state;
    expect(TH_FLAG_PROCS | TH_FLAG_SEND | TH_FLAG_RECEIVE | TH_FLAG_EXITING,
           "[{spawn,c,2," SCRIPT "},{await,5000},{send,c,unread},{exit,c,kill},{await,5000}]",
           "trace_procs(spawn,s,A,B,#{extra => {play,run,[" SCRIPT ",#{parent => A,self => A}]}})\n"
           "trace_procs(spawned,s,B,A,#{extra => {play,run,[" SCRIPT
           ",#{parent => A,self => A}]}})\n"
           "trace_procs(register,s,B,some_name,#{})\n"
           "trace_send(send,s,B,here,#{extra => A}) self\n"
           "trace_receive('receive',s,A,here,#{})\n"
           "trace_send(send,s,A,unread,#{extra => B}) self\n"
           "trace_receive('receive',s,B,unread,#{})\n"
           "trace_procs(exit,s,B,killed,#{})\n"
           "trace_procs(unregister,s,B,some_name,#{})\n"
           "trace_running_procs(out_exited,s,B,0,#{}) self\n"
           "trace_receive('receive',s,A,{'DOWN',#R,process,B,killed},#{})\n");
#undef SCRIPT
}

static void the_status_is_asked_when_a_process_is_scheduled_in(void **state)
{
    (void)state;
    trace_player(TH_FLAG_SEND);
    play("[{send,self,1}]");
    assert_string_equal(played(NULL), "enabled(trace_status,s,A)\nenabled_send(send,s,A)\n"
                                      "trace_send(send,s,A,1,#{extra => A}) self\n");
    scene_answer("enabled", "remove");
    play("[{send,self,1}]");
    assert_string_equal(played(NULL), "enabled(trace_status,s,A)\n");
    assert_int_equal(th_trace_session_flags(session, th_runtime_run_pid(player)), 0);
}

/* --- garbage_collection --- */

static void garbage_collection_events(void **state)
{
    const char *text, *later;
    unsigned long used, left, reclaimed;

    (void)state;
    trace_player(TH_FLAG_GC);
    call_play("collects", "[10000]");
    text = played("enabled");
    assert_int_equal(sscanf(text,
                            "trace_garbage_collection(gc_major_start,s,A,[{wordsize,0},"
                            "{old_heap_block_size,0},{heap_block_size,%*u},{mbuf_size,0},"
                            "{recent_size,0},{stack_size,0},{old_heap_size,0},{heap_size,%lu}",
                            &used),
                     1);
    assert_in_range(used, 10000, 20000);
    later = strstr(text, "trace_garbage_collection(gc_major_end");
    assert_non_null(later);
    assert_int_equal(sscanf(later,
                            "trace_garbage_collection(gc_major_end,s,A,[{wordsize,%lu},"
                            "{old_heap_block_size,0},{heap_block_size,%*u},{mbuf_size,0},"
                            "{recent_size,%lu},{stack_size,0},{old_heap_size,0}",
                            &reclaimed, &left),
                     2);
    assert_int_equal(reclaimed, used - left);
    assert_non_null(strstr(later,
                           "{bin_vheap_size,0},{bin_vheap_block_size,0},"
                           "{bin_old_vheap_size,0},{bin_old_vheap_block_size,0}],#{}) self"));
}

/* --- seq_trace --- */

static void seq_trace_events(void **state)
{
    (void)state;
    play("[{token,send,true},{token,'receive',true},{token,print,true},{token,label,17},"
         "{send,self,hi},{print,17,{x}},{print,18,no},{await,0},{print,17,y}]");
    assert_string_equal(played("enabled"), "trace(seq_trace,s,17,{send,{0,1},A,A,hi},#{})\n"
                                           "trace(seq_trace,s,17,{print,{0,2},A,[],{x}},#{})\n"
                                           "trace(seq_trace,s,17,{'receive',{0,1},A,A,hi},#{})\n"
                                           "trace(seq_trace,s,17,{print,{1,3},A,[],y},#{})\n");
    play("[no_token,{token,send,true},{token,monotonic_timestamp,true},{send,self,hi},{await,0}]");
    assert_string_equal(played(NULL),
                        "enabled(seq_trace,s,A)\n"
                        "trace(seq_trace,s,0,{send,{1,4},A,A,hi},#{timestamp => monotonic})\n");
}

static void exits_over_links_carry_tokens(void **state)
{
    (void)state;
    play("[trap,{spawn,c,1,[{token,send,true},{token,'receive',true},{send,parent,{a}},"
         "{raise,exit,why}]},{await,infinity},{await,infinity}]");
    assert_string_equal(played("enabled"),
                        "trace(seq_trace,s,0,{send,{0,1},A,B,{a}},#{})\n"
                        "trace(seq_trace,s,0,{send,{0,2},A,B,{'EXIT',A,why}},#{})\n"
                        "trace(seq_trace,s,0,{'receive',{0,1},A,B,{a}},#{})\n"
                        "trace(seq_trace,s,0,{'receive',{0,2},A,B,{'EXIT',A,why}},#{})\n");
    play("[no_token,{spawn,c,0,[trap,{await,infinity},{await,infinity}]},{token,send,true},"
         "{exit,c,no_token},{send,c,1}]");
    assert_string_equal(played("enabled"), "trace(seq_trace,s,0,{send,{2,3},A,B,1},#{})\n");
}

/* The token is that of the sender. */
static void match_specifications_read_and_set_tokens(void **state)
{
    th_term term;
    th_env env;
    const char *match = "[{'_',[],[{set_seq_token,label,{{new}}},"
                        "{message,{{{is_seq_trace},{get_seq_token}}}}]}]";

    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, match, strlen(match), &term), TH_OK);
    assert_int_equal(th_trace_session_send_pattern(session, term), TH_OK);
    th_env_release(&env);
    expect(TH_FLAG_SEND, "[{send,self,1}]",
           "trace_send(send,s,A,1,"
           "#{extra => A,match_spec_result => {true,{0,{new},0,A,0}}}) self\n");
}

/* --- ports --- */

static void port_events(void **state)
{
    char *path = th_printf("/tmp/port-%d", (int)getpid());
    char *opened = th_printf("trace_ports(open,s,#Port<P>,undefined,#{extra => '%s'})\n", path);
    const char *iodata = "[104,<<\"ello\">>]";
    struct th_buffer expected = {0};
    const char *log;
    th_term port, command;
    th_env env;

    (void)state;
    assert_int_equal(
        th_trace_session_trace(session, TH_PORTS_NEW, true,
                               TH_FLAG_PORTS | TH_FLAG_RECEIVE | TH_FLAG_RUNNING_PORTS),
        TH_OK);
    scene_log();
    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_process_port_open_file(path, &port), TH_OK);
    th_process_name_register(th_atom("a_port"), port);
    assert_int_equal(th_text_parse(&env, iodata, strlen(iodata), &command), TH_OK);
    assert_true(th_process_port_command(port, command));
    assert_int_equal(th_process_port_close(port), TH_OK);
    assert_false(th_process_port_command(port, command));
    log = played("enabled");
    th_buffer_printf(&expected, "%s%s", opened,
                     "trace_ports(register,s,#Port<P>,a_port,#{})\n"
                     "trace_running_ports(in,s,#Port<P>,command,#{})\n"
                     "trace_receive('receive',s,#Port<P>,{undefined,{command,<<\"hello\">>}},#{})\n"
                     "trace_running_ports(out,s,#Port<P>,command,#{})\n"
                     "trace_ports(closed,s,#Port<P>,normal,#{})\n"
                     "trace_ports(unregister,s,#Port<P>,a_port,#{})\n");
    assert_string_equal(log, th_buffer_text(&expected));
    th_buffer_free(&expected);
    th_env_release(&env);
    th_free(opened);
    remove(path);
    th_free(path);
}

/* --- Inheritance and silence ------------------------------------------------------------------ */

static void an_untraced_child_raises_no_events(void **state)
{
    (void)state;
    assert_int_equal(
        th_trace_session_trace_one(session, th_runtime_run_pid(player), true, TH_FLAG_PROCS),
        TH_OK);
    scene_log();
    play("[{spawn,c,1,[]},{await,100}]");
    assert_null(strstr(played("enabled"), "spawned"));
    assert_int_equal(th_live_counts(scene_tracing()).suppressed, 0);
}

static unsigned long delivered;

static void deliver(void *context, th_term message)
{
    (void)context;
    delivered += message == th_atom("of_a_callback");
}

static struct th_mailbox *listener;

static void send_from_a_callback(void)
{
    ErlNifPid pid = {th_process_pid(listener)};
    ErlNifEnv *env = enif_alloc_env();

    enif_send(NULL, &pid, env, th_atom("of_a_callback"));
    enif_free_env(env);
}

/* The receiver gets the message. */
static void a_send_in_a_callback_raises_no_event(void **state)
{
    (void)state;
    delivered = 0;
    listener = th_process_start(deliver, NULL);
    scene_act("trace_procs", NULL, send_from_a_callback);
    assert_int_equal(th_trace_session_trace_one(session, th_runtime_run_pid(player), true,
                                                TH_FLAG_PROCS | TH_FLAG_SEND | TH_FLAG_RECEIVE),
                     TH_OK);
    scene_log();
    play("[{spawn,c,0,[]}]");
    assert_null(strstr(played("enabled"), "of_a_callback"));
    assert_int_equal(th_live_counts(scene_tracing()).suppressed, 1);
    assert_int_equal(delivered, 1);
    th_process_exit(listener, TH_AM(normal));
}

static void *send_to_player(void *unused)
{
    ErlNifPid pid = {th_runtime_run_pid(player)};
    ErlNifEnv *env = enif_alloc_env();

    (void)unused;
    assert_true(enif_send(NULL, &pid, env, th_atom("of_nobody")));
    enif_free_env(env);
    return NULL;
}

/* The thread runs no process, so the send raises no event. */
static void a_message_of_a_plain_thread_raises_a_receive_event(void **state)
{
    pthread_t thread;

    (void)state;
    trace_player(TH_FLAG_SEND | TH_FLAG_RECEIVE);
    assert_int_equal(pthread_create(&thread, NULL, send_to_player, NULL), 0);
    pthread_join(thread, NULL);
    play("[{await,5000}]");
    assert_string_equal(played("enabled"), "trace_receive('receive',s,A,of_nobody,#{})\n");
    assert_int_equal(th_live_counts(scene_tracing()).suppressed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(spawn_and_spawned_events),
        TEST(enabled_is_called_before_each_event),
        TEST(link_and_unlink_events),
        TEST(spawn_link_and_exit_events),
        TEST(errors_have_a_stack_trace),
        TEST(register_and_unregister_events),
        TEST(names_registered_by_another_process_raise_events),
        TEST(send_and_receive_events),
        TEST(a_receive_pattern_sees_the_sender),
        TEST(in_and_out_events),
        TEST(a_move_to_a_dirty_thread_raises_out_and_in),
        TEST(the_status_is_asked_when_a_process_is_scheduled_in),
        TEST(a_process_killed_in_a_dirty_function_raises_its_exit),
        TEST(garbage_collection_events),
        TEST(seq_trace_events),
        TEST(exits_over_links_carry_tokens),
        TEST(match_specifications_read_and_set_tokens),
        TEST(port_events),
        TEST(an_untraced_child_raises_no_events),
        TEST(a_send_in_a_callback_raises_no_event),
        TEST(a_message_of_a_plain_thread_raises_a_receive_event),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
