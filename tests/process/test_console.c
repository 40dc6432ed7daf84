/* Tests that the console prints each message on a line of its own. */
#include "host/process/process.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <stddef.h>
#include <stdlib.h>

#include <string.h>

/* Returns the text that the console has printed since it got *FILE; the caller frees it. */
static char *printed(FILE *file, char **text)
{
    th_process_console_set_output(NULL);
    fclose(file);
    return *text;
}

static void each_message_is_printed_on_its_own_line(void **state)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    th_env env;

    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    th_process_console_set_output(file);
    assert_true(th_process_send(th_process_console_pid(), TH_AM(ok)));
    assert_true(th_process_send(
        th_process_console_pid(),
        th_make_tuple_of(&env, TH_AM(trace), th_local_pid(42, 0), TH_AM(send),
                         th_make_latin1_string(&env, (const unsigned char *)"hi", 2))));
    assert_string_equal(printed(file, &text), "ok\n{trace,<0.42.0>,send,\"hi\"}\n");
    free(text);
    th_env_release(&env);
}

static void a_long_message_is_printed_on_one_line(void **state)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    th_env env;
    th_term list = TH_NIL;

    (void)state;
    th_env_init(&env, TH_ENV_PLAIN);
    for (int i = 0; i < 50000; i++)
        list = th_make_cons(&env, TH_AM(ok), list);
    th_process_console_set_output(file);
    assert_true(th_process_send(th_process_console_pid(), list));
    assert_true(th_process_send(th_process_console_pid(), TH_AM(ok)));
    assert_int_equal(strlen(printed(file, &text)), 3 * 50000 + 2 + 3);
    assert_ptr_equal(strchr(text, '\n'), text + 3 * 50000 + 1);
    free(text);
    th_env_release(&env);
}

static void the_console_survives_a_reset_of_the_world(void **state)
{
    (void)state;
    assert_term_equal(th_process_console_pid(), th_process_console_pid());
    assert_true(th_process_alive(th_process_console_pid()));
    th_process_world_reset(NULL);
    assert_true(th_process_alive(th_process_console_pid()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message_is_printed_on_its_own_line),
        cmocka_unit_test(a_long_message_is_printed_on_one_line),
        cmocka_unit_test(the_console_survives_a_reset_of_the_world),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
