/* Tests sequential tokens; the results are those of OTP 25. */
#include "parties.h"

#include "host/base/base.h"

static struct th_process *process;

#define call(...) call_in(process, __VA_ARGS__)

static void token_components_are_set_and_read(void **state)
{
    (void)state;
    assert_string_equal(call("seq_get", "[label]"), "[]");
    assert_string_equal(call("seq_set", "[label,{a,1}]"), "0");
    assert_string_equal(call("seq_get", "[label]"), "{label,{a,1}}");
    assert_string_equal(call("seq_get", "[serial]"), "{serial,{0,0}}");
    assert_string_equal(call("seq_get", "[send]"), "{send,false}");
    assert_string_equal(call("seq_set", "[send,true]"), "false");
    assert_string_equal(call("seq_get", "[send]"), "{send,true}");
    assert_string_equal(call("seq_set", "[serial,{3,7}]"), "{0,0}");
    assert_string_equal(call("seq_get", "[serial]"), "{serial,{3,7}}");
    assert_string_equal(call("seq_reset", "[]"), "1");
    assert_string_equal(call("seq_get", "[send]"), "[]");
}

static void invalid_token_components_are_refused(void **state)
{
    (void)state;
    assert_string_equal(call("seq_set", "[foo,7]"), "error: badarg");
    assert_string_equal(call("seq_set", "[send,7]"), "error: badarg");
    assert_string_equal(call("seq_get", "[foo]"), "error: badarg");
    assert_string_equal(call("seq_set", "[serial,7]"), "error: badarg");
    assert_string_equal(call("seq_set", "[serial,{1,576460752303423488}]"), "error: badarg");
    assert_string_equal(call("seq_get", "[label]"), "[]");
}

static void tokens_travel_with_messages(void **state)
{
    char *self = text_of_pid(th_runtime_run_pid(process));
    char *server = th_strdup(call("spawn", "[party,server,[],0]"));

    (void)state;
    call("seq_set", "[label,5]");
    call("seq_set", "[serial,{0,8}]");
    call("sends", "[%s,[{self,1}]]", self);
    assert_string_equal(call("seq_get", "[serial]"), "{serial,{0,9}}");
    call("select", "[nothing,0]"); /* leaves the message in the mailbox */
    assert_string_equal(call("await", "[0]"), "{self,1}");
    assert_string_equal(call("seq_get", "[serial]"), "{serial,{0,9}}");
    call("ping", "[%s,1]", server); /* 10 is the request, 11 the answer */
    assert_string_equal(call("seq_get", "[serial]"), "{serial,{10,11}}");
    assert_string_equal(call("seq_get", "[label]"), "{label,5}");
    call("seq_reset", "[]");
    call("sends", "[%s,[plain]]", self);
    call("seq_set", "[label,6]");
    call("await", "[0]"); /* a message without a token clears the receiver's */
    assert_string_equal(call("seq_get", "[label]"), "[]");
    th_free(server);
    th_free(self);
}

static void tokens_are_inherited_and_printed(void **state)
{
    (void)state;
    call("seq_set", "[label,17]");
    call("seq_set", "[serial,{0,0}]");
    assert_string_equal(call("seq_print", "[18,x]"), "0");
    assert_string_equal(call("seq_print", "[17,x]"), "1");
    assert_string_equal(call("seq_get", "[serial]"), "{serial,{0,1}}");
    call("trap", "[1]");
    call("spawn", "[party,exits,[bye],1]"); /* 2; the child has 3, and exits with 4 */
    call("await", "[-1]");
    assert_string_equal(call("seq_get", "[serial]"), "{serial,{2,4}}");
    call("spawn", "[party,exits,[bye],2]");
    call("await", "[-1]"); /* 'DOWN' has no token */
    assert_string_equal(call("seq_get", "[label]"), "[]");
}

static int begin(void **state)
{
    (void)state;
    start_party(1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    stop_party();
    return 0;
}

static int start(void **state)
{
    (void)state;
    process = th_runtime_run_start();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    th_runtime_run_exit(process, TH_AM(normal));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(token_components_are_set_and_read, start, stop),
        cmocka_unit_test_setup_teardown(invalid_token_components_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(tokens_travel_with_messages, start, stop),
        cmocka_unit_test_setup_teardown(tokens_are_inherited_and_printed, start, stop),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
