/* Tests errors: the chain of causes, its limits, one chain a thread, the printed form; th_bug(). */
#include "host/base/base.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int clear_chain(void **state)
{
    (void)state;
    th_error_clear();
    return 0;
}

static void the_chain_is_empty_at_first(void **state)
{
    (void)state;
    assert_int_equal(th_error_status(), TH_OK);
    assert_null(th_error_link(0));
}

static void raise_starts_a_chain_and_returns_its_status(void **state)
{
    (void)state;
    assert_int_equal(th_error_raise(TH_MALFORMED, "byte %d", 7), TH_MALFORMED);
    assert_int_equal(th_error_status(), TH_MALFORMED);
    assert_string_equal(th_error_link(0), "byte 7");
    assert_null(th_error_link(1));
}

static void context_goes_on_top_and_keeps_the_status(void **state)
{
    (void)state;
    th_error_raise(TH_REFUSED, "no nif_init");
    assert_int_equal(th_error_context("cannot load %s", "x.so"), TH_REFUSED);
    assert_string_equal(th_error_link(0), "cannot load x.so");
    assert_string_equal(th_error_link(1), "no nif_init");
    assert_null(th_error_link(2));
}

static void raise_replaces_the_earlier_chain(void **state)
{
    (void)state;
    th_error_raise(TH_REFUSED, "old");
    th_error_context("older view");
    assert_int_equal(th_error_raise(TH_USAGE, "new"), TH_USAGE);
    assert_string_equal(th_error_link(0), "new");
    assert_null(th_error_link(1));
}

static void raise_accepts_a_link_of_the_old_chain_as_argument(void **state)
{
    (void)state;
    th_error_raise(TH_FAILED, "first");
    th_error_raise(TH_PARTIAL, "again: %s", th_error_link(0));
    assert_string_equal(th_error_link(0), "again: first");
}

static void clear_empties_the_chain(void **state)
{
    (void)state;
    th_error_raise(TH_FAILED, "gone");
    th_error_clear();
    the_chain_is_empty_at_first(state);
}

static void long_messages_are_truncated(void **state)
{
    char text[2 * TH_ERROR_TEXT];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    th_error_raise(TH_FAILED, "%s", text);
    th_error_context("%s", text);
    assert_int_equal(strlen(th_error_link(0)), TH_ERROR_TEXT - 1);
    assert_int_equal(strlen(th_error_link(1)), TH_ERROR_TEXT - 1);
}

static void a_long_chain_keeps_the_first_cause_and_the_outermost_links(void **state)
{
    char expected[32];

    (void)state;
    th_error_raise(TH_PARTIAL, "cause");
    for (int i = 1; i <= 3 * TH_ERROR_LINKS; i++)
        assert_int_equal(th_error_context("view %d", i), TH_PARTIAL);
    for (int i = 0; i < TH_ERROR_LINKS - 1; i++) {
        snprintf(expected, sizeof expected, "view %d", 3 * TH_ERROR_LINKS - i);
        assert_string_equal(th_error_link((size_t)i), expected);
    }
    assert_string_equal(th_error_link(TH_ERROR_LINKS - 1), "cause");
    assert_null(th_error_link(TH_ERROR_LINKS));
}

static void print_shows_the_outermost_link_first_and_indents_causes(void **state)
{
    char *printed = NULL;
    size_t size;
    FILE *out = open_memstream(&printed, &size);

    (void)state;
    th_error_raise(TH_MALFORMED, "bad tag 99");
    th_error_context("record 4, byte 120");
    th_error_context("cannot read a.trace");
    th_error_print(out, "tracehost");
    fclose(out);
    assert_string_equal(printed, "tracehost: cannot read a.trace\n"
                                 "  record 4, byte 120\n"
                                 "  bad tag 99\n");
    free(printed);
}

static void printing_an_empty_chain_prints_nothing(void **state)
{
    char *printed = NULL;
    size_t size;
    FILE *out = open_memstream(&printed, &size);

    (void)state;
    th_error_print(out, "tracehost");
    fclose(out);
    assert_int_equal(size, 0);
    free(printed);
}

static void *raise_elsewhere(void *status_before)
{
    *(enum th_status *)status_before = th_error_status();
    th_error_raise(TH_CRASHED, "elsewhere");
    return NULL;
}

static void each_thread_has_its_own_chain(void **state)
{
    enum th_status status_before = TH_FAILED;
    pthread_t thread;

    (void)state;
    th_error_raise(TH_USAGE, "here");
    assert_int_equal(pthread_create(&thread, NULL, raise_elsewhere, &status_before), 0);
    pthread_join(thread, NULL);
    assert_int_equal(status_before, TH_OK);
    assert_int_equal(th_error_status(), TH_USAGE);
    assert_string_equal(th_error_link(0), "here");
}

static void an_internal_error_is_printed_and_aborts(void **state)
{
    char said[256] = "";
    int pipe_ends[2];
    int status;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(pipe_ends), 0);
    child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        th_bug("slot %d is empty", 3);
    }
    close(pipe_ends[1]);
    assert_order(read(pipe_ends[0], said, sizeof said - 1), >, 0);
    close(pipe_ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_memory_equal(said, "tracehost: internal error: ", strlen("tracehost: internal error: "));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, clear_chain, clear_chain)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_chain_is_empty_at_first),
        TEST(raise_starts_a_chain_and_returns_its_status),
        TEST(context_goes_on_top_and_keeps_the_status),
        TEST(raise_replaces_the_earlier_chain),
        TEST(raise_accepts_a_link_of_the_old_chain_as_argument),
        TEST(clear_empties_the_chain),
        TEST(long_messages_are_truncated),
        TEST(a_long_chain_keeps_the_first_cause_and_the_outermost_links),
        TEST(print_shows_the_outermost_link_first_and_indents_causes),
        TEST(printing_an_empty_chain_prints_nothing),
        TEST(each_thread_has_its_own_chain),
        TEST(an_internal_error_is_printed_and_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
