/* Tests user tags: put, read, spread with messages, restored, by the rules of OTP's emulator. */
#include "parties.h"

#include "host/base/base.h"
#include "host/probe/probe.h"

#include <string.h>

static struct th_process *process;
static struct th_library *filing;
static char *self;

#define call(...) call_in(process, __VA_ARGS__)

static const char *tag(const char *name, const char *arguments)
{
    return call_module(process, "filing", name, arguments);
}

static void tags_are_put_and_read(void **state)
{
    (void)state;
    assert_string_equal(tag("get_tag", "[]"), "undefined");
    assert_string_equal(tag("get_tag_data", "[]"), "undefined");
    assert_string_equal(tag("put_tag", "[<<\"one\">>]"), "undefined");
    assert_string_equal(tag("get_tag", "[]"), "<<\"one\">>");
    assert_string_equal(tag("get_tag_data", "[]"), "<<\"one\">>");
    assert_string_equal(tag("put_tag", "[<<\"two\">>]"), "<<\"one\">>");
    assert_string_equal(tag("put_tag", "[undefined]"), "<<\"two\">>");
    assert_string_equal(tag("get_tag", "[]"), "undefined");
}

static void invalid_tags_are_refused(void **state)
{
    static const char *const wrong[] = {"[a]",      "[{1}]",         "[{4,<<\"x\">>}]",
                                        "[{1,[]}]", "[{-1,<<>>}]",   "[{a,<<\"x\">>}]",
                                        "[{1,a}]",  "[{1,<<1:3>>}]", "[{1,<<>>,2}]"};

    (void)state;
    assert_string_equal(tag("put_tag", "[tag]"), "error: badarg");
    assert_string_equal(tag("put_tag", "[\"tag\"]"), "error: badarg");
    assert_string_equal(tag("put_tag", "[<<1:3>>]"), "error: badarg");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_string_equal(tag("restore_tag", wrong[i]), "error: badarg");
    assert_string_equal(tag("get_tag", "[]"), "undefined");
}

static void tags_spread_until_spreading_is_disabled(void **state)
{
    (void)state;
    assert_string_equal(tag("spread_tag", "[1]"), "{0,[]}"); /* there is no tag */
    tag("put_tag", "[<<\"mine\">>]");
    assert_string_equal(tag("spread_tag", "[1]"), "{1,<<\"mine\">>}");
    assert_string_equal(tag("spread_tag", "[0]"), "{3,<<\"mine\">>}");
    assert_string_equal(tag("spread_tag", "[0]"), "{1,<<\"mine\">>}");
    assert_string_equal(tag("restore_tag", "[{3,<<\"yours\">>}]"), "true");
    assert_string_equal(tag("spread_tag", "[0]"), "{3,<<\"yours\">>}");
    assert_string_equal(tag("restore_tag", "[{2,<<\"heard\">>}]"), "true");
    assert_string_equal(tag("get_tag", "[]"), "undefined");
    assert_string_equal(tag("get_tag_data", "[]"), "<<\"heard\">>");
    assert_string_equal(tag("restore_tag", "[true]"), "true");
    assert_string_equal(tag("restore_tag", "[{0,[]}]"), "true");
    assert_string_equal(tag("get_tag_data", "[]"), "undefined");
}

/* Sends the process itself a message with tag MESSAGE_TAG (NULL: none), then sets its tag to
 * STATE. */
static void send_tagged(const char *message_tag, const char *state)
{
    char text[128];

    snprintf(text, sizeof text, message_tag ? "[{3,<<\"%s\">>}]" : "[{0,[]}]", message_tag);
    tag("restore_tag", text);
    call("sends", "[%s,[m]]", self);
    snprintf(text, sizeof text, "[%s]", state);
    tag("restore_tag", text);
}

static const char *state_now(void)
{
    static char now[128];
    char text[140];

    snprintf(now, sizeof now, "%s", tag("spread_tag", "[0]"));
    snprintf(text, sizeof text, "[%s]", now);
    tag("restore_tag", text);
    return now;
}

static void tags_come_with_messages(void **state)
{
    (void)state;
    send_tagged("heard", "{0,[]}");
    call("await", "[0]");
    assert_string_equal(state_now(), "{2,<<\"heard\">>}"); /* and spreads */
    send_tagged("heard", "{1,<<\"own\">>}");
    call("await", "[0]");
    assert_string_equal(state_now(), "{3,<<\"own\">>}"); /* the own one does */
    send_tagged("heard", "{2,<<\"before\">>}");
    call("await", "[0]");
    assert_string_equal(state_now(), "{2,<<\"before\">>}");
    send_tagged(NULL, "{2,<<\"before\">>}");
    call("await", "[0]");
    assert_string_equal(state_now(), "{0,[]}");
    send_tagged(NULL, "{3,<<\"own\">>}");
    call("await", "[0]");
    assert_string_equal(state_now(), "{1,<<\"own\">>}");
}

static void a_message_left_in_the_mailbox_changes_no_tag(void **state)
{
    (void)state;
    send_tagged("heard", "{3,<<\"own\">>}");
    call("select", "[other,0]");
    assert_string_equal(state_now(), "{3,<<\"own\">>}");
    tag("restore_tag", "[{0,[]}]");
    call("select", "[other,0]");
    assert_string_equal(state_now(), "{0,[]}");
    call("await", "[0]");
    assert_string_equal(state_now(), "{2,<<\"heard\">>}");
}

static void tags_travel_with_and_without_sequential_tokens(void **state)
{
    (void)state;
    call("seq_set", "[label,5]");
    send_tagged("heard", "{0,[]}");
    call("seq_reset", "[]");
    call("await", "[0]");
    assert_string_equal(call("seq_get", "[label]"), "{label,5}");
    assert_string_equal(state_now(), "{2,<<\"heard\">>}");
    send_tagged(NULL, "{0,[]}"); /* with the token */
    call("await", "[0]");
    assert_string_equal(call("seq_get", "[label]"), "{label,5}");
    assert_string_equal(state_now(), "{0,[]}");
    call("seq_reset", "[]");
    send_tagged("heard", "{0,[]}");
    call("await", "[0]");
    assert_string_equal(call("seq_get", "[label]"), "[]");
    assert_string_equal(state_now(), "{2,<<\"heard\">>}");
}

/* A server answers with the tag of the request, so the tag comes back. */
static void tags_travel_from_process_to_process(void **state)
{
    char *server = th_strdup(call("spawn", "[party,server,[],0]"));

    (void)state;
    tag("restore_tag", "[{3,<<\"asked\">>}]");
    call("ping", "[%s,1]", server);
    assert_string_equal(state_now(), "{3,<<\"asked\">>}");
    tag("restore_tag", "[{1,<<\"asked\">>}]"); /* does not spread */
    call("ping", "[%s,1]", server);
    assert_string_equal(state_now(), "{1,<<\"asked\">>}");
    th_free(server);
}

/* --- Tags in probes --------------------------------------------------------------------------- */

static char user_tags[256]; /* tags of the requested operations */

static void note(const struct th_probe *probe, const union th_probe_value *values)
{
    (void)probe;
    strcat(user_tags, values[2].string);
    strcat(user_tags, ";");
}

static void operations_on_files_carry_the_tag(void **state)
{
    const struct th_probe *entry = th_probe_find("efile_drv__entry");

    (void)state;
    th_probe_watch(note);
    th_probe_raise(entry);
    tag("pwd", "[]");
    tag("put_tag", "[<<\"some-user-tag\">>]");
    tag("rename", "[\"old-name\",\"new-name\"]");
    tag("restore_tag", "[{2,<<\"heard\">>}]");
    tag("pwd", "[]");
    tag("put_tag", "[<<\"cut\",0,\"off\">>]");
    tag("pwd", "[]");
    th_probe_lower(entry);
    th_probe_watch(NULL);
    assert_string_equal(user_tags, ";some-user-tag;heard;cut;");
}

static int begin(void **state)
{
    (void)state;
    start_party(1);
    filing = loaded_plugin("tests/plugins/filing.so", th_small(0));
    th_code_module_add(filing);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_runtime_kill_all();
    th_code_module_remove(filing);
    th_library_release(filing);
    stop_party();
    return 0;
}

static int start(void **state)
{
    (void)state;
    process = th_runtime_run_start();
    self = text_of_pid(th_runtime_run_pid(process));
    return 0;
}

static int stop(void **state)
{
    (void)state;
    th_runtime_run_exit(process, TH_AM(normal));
    th_runtime_kill_all();
    th_free(self);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tags_are_put_and_read),
        TEST(invalid_tags_are_refused),
        TEST(tags_spread_until_spreading_is_disabled),
        TEST(tags_come_with_messages),
        TEST(a_message_left_in_the_mailbox_changes_no_tag),
        TEST(tags_travel_with_and_without_sequential_tokens),
        TEST(tags_travel_from_process_to_process),
        TEST(operations_on_files_carry_the_tag),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
