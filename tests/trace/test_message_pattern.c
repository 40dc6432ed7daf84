/* Tests patterns for messages: which sends and receives are traced, and with which options. */
#include "host/base/base.h"
#include "host/term/term.h"
#include "tests/trace/patterns.h"

#include "host/progress/progress.h"

#include <pthread.h>
#include <stdatomic.h>

#define SEND(message) "{trace,<0.1.0>,send," message ",<0.2.0>}"
#define RECEIVE(message) "{trace,<0.1.0>,'receive'," message "}"
#define SEND_ASKED "enabled_send(send,s,<0.1.0>)\n"
#define SENT(message, opts) \
    SEND_ASKED "trace_send(send,s,<0.1.0>," message ",#{extra => <0.2.0>" opts "}) self\n"
#define RECEIVED(message, opts)              \
    "enabled_receive('receive',s,<0.1.0>)\n" \
    "trace_receive('receive',s,<0.1.0>," message ",#{" opts "})\n"

static int begin_messages(void **state)
{
    (void)state;
    return begin_with(TH_FLAG_SEND | TH_FLAG_RECEIVE | TH_FLAG_CALL);
}

typedef enum th_status set_function(struct th_session *session, th_term match);

static enum th_status try_messages(set_function *set_pattern, struct th_session *whose,
                                   const char *match)
{
    enum th_status status;
    th_term term;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, match, strlen(match), &term), TH_OK);
    status = set_pattern(whose, term);
    th_env_release(&env);
    return status;
}

static void sends(const char *match)
{
    assert_int_equal(try_messages(th_trace_session_send_pattern, session, match), TH_OK);
}

static void receives(const char *match)
{
    assert_int_equal(try_messages(th_trace_session_receive_pattern, session, match), TH_OK);
}

static struct th_message_counts counts(void)
{
    return th_trace_session_message_counts(session);
}

/* --- Traced messages -------------------------------------------------------------------------- */

static void all_messages_pass_without_patterns(void **state)
{
    (void)state;
    expect(SEND("a"), SENT("a", ""));
    expect(RECEIVE("a"), RECEIVED("a", ""));
    assert_false(th_trace_session_message_patterned(session));
}

static void the_pattern_false_holds_all_messages_back(void **state)
{
    (void)state;
    sends("false");
    expect(SEND("a"), "");
    expect("{trace,<0.1.0>,send_to_non_existing_process,a,<0.2.0>}", "");
    expect(RECEIVE("a"), RECEIVED("a", ""));
    receives("false");
    expect(RECEIVE("a"), "");
    assert_int_equal(scene_decoded(), 1); /* of the traced one */
    assert_int_equal(counts().unmatched, 3);
    sends("true");
    receives("[]");
    expect(SEND("a"), SENT("a", ""));
    expect(RECEIVE("a"), RECEIVED("a", ""));
    assert_true(th_trace_session_message_patterned(session));
}

static void message_patterns_ignore_calls_and_ports(void **state)
{
    (void)state;
    th_trace_session_trace(session, TH_PORTS_ALL, true, TH_FLAG_SEND | TH_FLAG_RECEIVE);
    scene_log();
    sends("false");
    receives("false");
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
    expect("{trace,#Port<0.5>,send,a,<0.2.0>}",
           "enabled_send(send,s,#Port<0.5>)\n"
           "trace_send(send,s,#Port<0.5>,a,#{extra => <0.2.0>})\n");
    expect("{trace,#Port<0.5>,'receive',{<0.1.0>,close}}",
           "enabled_receive('receive',s,#Port<0.5>)\n"
           "trace_receive('receive',s,#Port<0.5>,{<0.1.0>,close},#{})\n");
}

static void a_head_is_matched_before_enabled_is_called(void **state)
{
    (void)state;
    sends("[{['_',{ping,'_'}],[],[]},{[name,'_'],[],[]}]");
    expect(SEND("{ping,1}"), SENT("{ping,1}", ""));
    expect(SEND("{pong,1}"), "");
    expect("{trace,<0.1.0>,send,a,name}",
           SEND_ASKED "trace_send(send,s,<0.1.0>,a,#{extra => name}) self\n");
    expect("{trace,<0.1.0>,send,a,{name,node@host}}", "");
    expect("{trace,<0.1.0>,send,{ping,2},#Port<0.5>}",
           SEND_ASKED "trace_send(send,s,<0.1.0>,{ping,2},#{extra => #Port<0.5>}) self\n");
    expect("{trace,<0.1.0>,send_to_non_existing_process,{ping,3},<0.2.0>}",
           "enabled_send(send_to_non_existing_process,s,<0.1.0>)\n"
           "trace_send(send_to_non_existing_process,s,<0.1.0>,{ping,3},#{extra => <0.2.0>}) "
           "self\n");
    assert_int_equal(counts().unmatched, 2);
}

static void heads_of_another_length_match_nothing(void **state)
{
    (void)state;
    sends("[{['_'],[],[]},{['_','_','_'],[],[]}]");
    receives("[{['_','_'],[],[]}]");
    expect(SEND("a"), "");
    expect(RECEIVE("a"), "");
    assert_int_equal(counts().unmatched, 2);
    assert_int_equal(counts().undecided, 0);
}

static void enabled_can_refuse_a_matching_message(void **state)
{
    (void)state;
    sends("[{['_','$2'],[{is_atom,'$2'}],[]}]");
    scene_answer("enabled_send", "discard");
    expect(SEND("a"), SEND_ASKED);
    expect(SEND("1"), "");
    scene_answer("enabled_send", "remove");
    expect(SEND("a"), SEND_ASKED);
    expect(SEND("a"), "");
    assert_int_equal(th_trace_session_counts(session).removed, 1);
}

static void an_untraced_process_runs_no_message_pattern(void **state)
{
    (void)state;
    sends("[{'_',[],[{silent,true}]}]");
    th_trace_session_trace(session, TH_PROCESSES_ALL, false, TH_FLAG_SEND);
    expect(SEND("a"), "");
    expect(CALL("{m,f,[]}"), TOLD("{m,f,[]}"));
}

static void sessions_have_patterns_of_their_own(void **state)
{
    struct th_session *other = scene_create("t");

    (void)state;
    th_trace_session_trace(other, TH_PROCESSES_ALL, true, TH_FLAG_SEND);
    scene_log();
    sends("false");
    expect(SEND("a"), "enabled_send(send,t,<0.1.0>)\n"
                      "trace_send(send,t,<0.1.0>,a,#{extra => <0.2.0>}) self\n");
    assert_int_equal(try_messages(th_trace_session_send_pattern, other, "[{['_',b],[],[]}]"),
                     TH_OK);
    expect(SEND("a"), "");
    th_trace_session_destroy(other);
}

/* --- Effects of specifications ---------------------------------------------------------------- */

static void match_results_replace_recorded_results(void **state)
{
    const char *recorded = "{trace,<0.1.0>,send,{a,1},<0.2.0>,old}";

    (void)state;
    expect(recorded, SENT("{a,1}", ",match_spec_result => old"));
    sends("[{['$1',{a,'$2'}],[],[{message,{{'$2','$1',{self},{const,\"constant\"}}}}]},"
          "{['_',b],[],[{message,false}]},{['_',c],[],[false]},{'_',[],[{message,true}]}]");
    expect(recorded, SENT("{a,1}", ",match_spec_result => {1,<0.2.0>,<0.1.0>,\"constant\"}"));
    expect(SEND("b"), "");
    expect(SEND("c"), SENT("c", ""));
    expect(SEND("d"), SENT("d", ""));
    receives("[{['_','_','$3'],[],[{message,['$3']}]}]");
    expect(RECEIVE("a"), RECEIVED("a", "match_spec_result => [a]"));
}

static void replace_while_it_is_told(void)
{
    sends("[{'_',[],[{message,{const,{other,\"constant\"}}}]}]");
}

/* The result is a term of the specification, which a callback replaces before delivery. */
static void a_specification_lives_as_long_as_its_result(void **state)
{
    (void)state;
    sends("[{'_',[],[{message,{const,{some,\"constant\"}}}]}]");
    scene_act("enabled_send", "s", replace_while_it_is_told);
    expect(SEND("a"), SENT("a", ",match_spec_result => {some,\"constant\"}"));
    th_progress_settle();
    expect(SEND("a"), SENT("a", ",match_spec_result => {other,\"constant\"}"));
}

/* The flag silent has an effect only on events with a match specification, as in a BEAM. */
static void silent_holds_only_messages_with_a_specification_back(void **state)
{
    (void)state;
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_SILENT);
    expect(SEND("a"), SENT("a", ""));
    expect(RECEIVE("a"), RECEIVED("a", ""));
    sends("[{'_',[],[]}]");
    expect(SEND("a"), "");
    expect(RECEIVE("a"), RECEIVED("a", ""));
    receives("[{'_',[],[]}]");
    expect(RECEIVE("a"), "");
    assert_int_equal(counts().silenced, 2);
    assert_int_equal(counts().unmatched, 0);
}

static void silence_begins_with_the_event_that_sets_it(void **state)
{
    (void)state;
    sends("[{['_',b],[],[{silent,true}]},{['_',d],[],[{silent,false}]},{'_',[],[]}]");
    expect(SEND("a"), SENT("a", ""));
    expect(SEND("b"), "");
    expect(SEND("c"), "");
    expect(SEND("d"), SENT("d", ""));
    expect(SEND("e"), SENT("e", ""));
}

static void actions_change_flags(void **state)
{
    (void)state;
    sends("[{['_',more],[],[{trace,[],[timestamp]}]},{['_',less],[],[{disable_trace,send}]},"
          "{['_',none],[],[{trace,[all],[]}]},{'_',[],[]}]");
    expect(SEND("more"), SENT("more", ",timestamp => timestamp"));
    expect(SEND("a"), SENT("a", ",timestamp => timestamp"));
    expect(SEND("less"), SENT("less", ",timestamp => timestamp"));
    expect(SEND("a"), "");
    expect(RECEIVE("a"), RECEIVED("a", "timestamp => timestamp"));
    th_trace_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_SEND);
    expect(SEND("none"), "");
    expect(RECEIVE("a"), "");
}

static void return_trace_has_no_effect_on_messages(void **state)
{
    (void)state;
    sends("[{'_',[],[{return_trace},{exception_trace}]}]");
    expect(SEND("a"), SENT("a", ""));
    expect(RETURN("{m,f,0}", "ok"), ENDED("{m,f,0}", "ok")); /* as recorded */
}

/* --- Unknown values --------------------------------------------------------------------------- */

static void patterns_on_unknown_senders_are_undecided(void **state)
{
    (void)state;
    receives("[{['_',undefined,'_'],[],[]}]");
    expect(RECEIVE("a"), "");
    assert_int_equal(counts().undecided, 1);
    receives("[{['$1','_',a],[{'=:=','$1',nonode@nohost}],[]},{['_','_',b],[],[]}]");
    expect(RECEIVE("a"), "");
    assert_int_equal(counts().undecided, 2);
    expect(RECEIVE("b"), RECEIVED("b", ""));
    receives("[{['_','$2',a],[],[{message,'$2'}]},{'_',[],[]}]");
    expect(RECEIVE("a"), "");
    expect(RECEIVE("b"), RECEIVED("b", ""));
    assert_int_equal(counts().undecided, 3);
    assert_int_equal(counts().unmatched, 0);
}

static void actions_on_unknown_senders_are_skipped(void **state)
{
    (void)state;
    receives("[{['$1','_','_'],[],[{set_tcw,'$1'}]}]");
    expect(RECEIVE("a"), RECEIVED("a", ""));
    assert_int_equal(counts().actions_unsure, 1);
}

/* --- Setting ---------------------------------------------------------------------------------- */

static void expect_info(const char *sent, const char *received)
{
    struct th_buffer text = {0};
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    th_text_print(&text, th_trace_session_send_pattern_info(session, &env));
    th_buffer_add_byte(&text, ' ');
    th_text_print(&text, th_trace_session_receive_pattern_info(session, &env));
    assert_memory_equal(th_buffer_text(&text), sent, strlen(sent));
    assert_string_equal(th_buffer_text(&text) + strlen(sent) + 1, received);
    th_buffer_free(&text);
    th_env_release(&env);
}

static void a_session_returns_its_message_patterns(void **state)
{
    (void)state;
    expect_info("true", "true");
    sends("[{['_','$1'],[{is_atom,'$1'}],[]}]");
    receives("false");
    expect_info("[{['_','$1'],[{is_atom,'$1'}],[]}]", "false");
    sends("[]");
    expect_info("true", "false");
}

static void refuse(set_function *set_pattern, const char *match, enum th_status status)
{
    assert_enum_equal(th_status, try_messages(set_pattern, session, match), status);
    th_error_clear();
    expect_info("[{[a,'_'],[],[]}]", "[{[a,b,c],[],[]}]");
}

static void invalid_message_patterns_are_refused(void **state)
{
    (void)state;
    sends("[{[a,'_'],[],[]}]");
    receives("[{[a,b,c],[],[]}]");
    refuse(th_trace_session_send_pattern, "restart", TH_USAGE);
    refuse(th_trace_session_receive_pattern, "pause", TH_USAGE);
    refuse(th_trace_session_send_pattern, "{a,b}", TH_MALFORMED);
    refuse(th_trace_session_send_pattern, "[{'_',[],[{caller}]}]", TH_MALFORMED);
    refuse(th_trace_session_receive_pattern, "[{'_',[],[{silent,true}]}]", TH_MALFORMED);
    refuse(th_trace_session_receive_pattern, "[{'_',[],[{trace,[],[]}]}]", TH_MALFORMED);
    refuse(th_trace_session_receive_pattern, "[{'_',[{is_seq_trace}],[]}]", TH_MALFORMED);
}

static void clear_in_callback(void)
{
    sends("false");
}

static void a_pattern_set_in_a_callback_is_set(void **state)
{
    (void)state;
    sends("[{'_',[],[]}]");
    scene_act("trace_send", "s", clear_in_callback);
    expect(SEND("a"), SENT("a", ""));
    expect(SEND("a"), "");
}

static void destroy_session(void)
{
    th_trace_session_destroy(session);
}

static void a_session_destroyed_in_its_enabled_gets_no_event(void **state)
{
    (void)state;
    sends("[{'_',[],[{message,\"text\"}]}]");
    scene_act("enabled_send", "s", destroy_session);
    expect(SEND("a"), SEND_ASKED);
    assert_int_equal(th_trace_sessions(scene_tracing()), 0);
}

/* --- By another thread ------------------------------------------------------------------------ */

enum { CHANGES = 3000 };

static atomic_bool changing;

static void *change_patterns(void *unused)
{
    static const char *const patterns[] = {"[{'_',[],[{message,{const,{first,\"constant\"}}}]}]",
                                           "[{'_',[],[{message,{const,{second,\"constant\"}}}]}]",
                                           "true", "false"};
    th_env env;

    (void)unused;
    th_env_init(&env, TH_ENV_PLAIN);
    for (size_t i = 0; i < CHANGES; i++) {
        th_term match;
        th_text_parse(&env, patterns[i % 4], strlen(patterns[i % 4]), &match);
        th_trace_session_send_pattern(session, match);
        th_trace_session_send_pattern_info(session, &env);
        th_env_clear(&env);
    }
    th_env_release(&env);
    atomic_store(&changing, false);
    return NULL;
}

/* An event is handled by one pattern, however often another thread replaces it. */
static void another_thread_can_set_message_patterns(void **state)
{
    const char *const outcomes[] = {SENT("a", ",match_spec_result => {first,\"constant\"}"),
                                    SENT("a", ",match_spec_result => {second,\"constant\"}"),
                                    SENT("a", ""), ""};
    size_t seen = 0;
    pthread_t thread;

    (void)state;
    atomic_store(&changing, true);
    assert_int_equal(pthread_create(&thread, NULL, change_patterns, NULL), 0);
    do {
        const char *log;
        bool known = false;
        assert_int_equal(scene_trace(SEND("a")), TH_OK);
        log = scene_log();
        for (size_t i = 0; i < 4; i++)
            known |= strcmp(log, outcomes[i]) == 0;
        if (!known)
            fail_msg("%s", log);
        seen++;
    } while (atomic_load(&changing));
    pthread_join(thread, NULL);
    assert_order(seen, >, 0);
    expect(SEND("a"), ""); /* the last one was false */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_messages, end)
    const struct CMUnitTest tests[] = {
        TEST(all_messages_pass_without_patterns),
        TEST(the_pattern_false_holds_all_messages_back),
        TEST(message_patterns_ignore_calls_and_ports),
        TEST(a_head_is_matched_before_enabled_is_called),
        TEST(heads_of_another_length_match_nothing),
        TEST(enabled_can_refuse_a_matching_message),
        TEST(an_untraced_process_runs_no_message_pattern),
        TEST(sessions_have_patterns_of_their_own),
        TEST(match_results_replace_recorded_results),
        TEST(a_specification_lives_as_long_as_its_result),
        TEST(silent_holds_only_messages_with_a_specification_back),
        TEST(silence_begins_with_the_event_that_sets_it),
        TEST(actions_change_flags),
        TEST(return_trace_has_no_effect_on_messages),
        TEST(patterns_on_unknown_senders_are_undecided),
        TEST(actions_on_unknown_senders_are_skipped),
        TEST(a_session_returns_its_message_patterns),
        TEST(invalid_message_patterns_are_refused),
        TEST(a_pattern_set_in_a_callback_is_set),
        TEST(a_session_destroyed_in_its_enabled_gets_no_event),
        TEST(another_thread_can_set_message_patterns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
