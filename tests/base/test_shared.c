/* Tests memory and buffers of outputs that outlive the process that writes them. */
#include "host/base/base.h"
#include "tests/support/assertions.h"
#include "tests/support/skipping.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLENTY = 5 << 20 /* bytes: more than the region has */ };

static int sockets[2];
static char *page;

static int begin(void **state)
{
    (void)state;
    page = mmap(NULL, TH_SHARED_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED || !th_shared_begin(sockets);
}

static int end(void **state)
{
    (void)state;
    close(sockets[0]);
    close(sockets[1]);
    th_shared_end(th_shared_here);
    return munmap(page, TH_SHARED_PAGE);
}

/* Runs WORK in a worker that dies without a word. */
static void run_worker(void (*work)(void))
{
    int status;
    pid_t worker = fork();

    if (worker == 0) {
        th_shared_work(sockets[1]);
        work();
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(worker, &status, 0), worker);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* --- The region ------------------------------------------------------------------------------- */

static void leave_text(void)
{
    th_shared_free(th_shared_strdup("gone"));
    th_shared_here->crash = th_shared_strdup("left behind");
}

static void texts_of_a_dead_worker_can_be_read(void **state)
{
    (void)state;
    run_worker(leave_text);
    assert_string_equal(th_shared_here->crash, "left behind");
}

static void use_up_region(void)
{
    size_t *sizes = th_shared_alloc(2 * sizeof *sizes);
    void *last = NULL, *memory;

    th_shared_here->crash = sizes;
    while ((memory = th_shared_try_alloc(1000))) {
        sizes[0]++;
        last = memory;
    }
    th_shared_free(last);
    sizes[1] = th_shared_try_alloc(1000) == last;
    memory = th_shared_alloc(1000); /* of the heap */
    memset(memory, 1, 1000);
    th_shared_free(memory);
    sizes[1] += !th_shared_try_alloc(PLENTY);
}

static void a_full_region_falls_back_on_the_heap(void **state)
{
    const size_t *sizes;

    (void)state;
    run_worker(use_up_region);
    sizes = th_shared_here->crash;
    assert_order(sizes[0], >, (size_t)1000);
    assert_int_equal(sizes[1], 2);
}

/* --- Pages ------------------------------------------------------------------------------------ */

static void enter_page(void)
{
    strcpy(page, "before");
    if (!th_shared_page_enter(page) || strcmp(page, "before") != 0)
        return;
    strcpy(page, "inside");
}

static void enter_and_leave_page(void)
{
    enter_page();
    th_shared_page_leave(page);
    if (strcmp(page, "inside") == 0)
        strcpy(page, "outside");
    th_shared_here->crash = th_shared_strdup(page);
}

static void find_text(void *context, const void *found)
{
    if (*(const char *)found)
        strcpy(context, found);
}

static void a_page_is_seen_as_long_as_it_is_in_the_region(void **state)
{
    char text[TH_SHARED_PAGE] = "";

    (void)state;
    if (emulated())
        skip_because("the emulator maps no memory a second time");
    run_worker(enter_page);
    th_shared_pages_each(th_shared_here, find_text, text);
    assert_string_equal(text, "inside");
    run_worker(enter_and_leave_page);
    assert_string_equal(th_shared_here->crash, "outside");
}

static void fork_with_page(void)
{
    char *text = th_shared_strdup("of the worker");
    int status = 1;
    pid_t child;

    th_shared_here->crash = text;
    enter_page();
    child = fork();
    if (child == 0) {
        strcpy(text, "of the child");
        strcpy(page, "of the child");
        _exit(th_shared_try_alloc(8) != NULL); /* it has no part of the region to itself */
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        strcpy(text, "the child failed");
}

static void a_child_of_the_worker_shares_nothing(void **state)
{
    char text[TH_SHARED_PAGE] = "";

    (void)state;
    if (emulated())
        skip_because("the emulator maps no memory a second time");
    run_worker(fork_with_page);
    th_shared_pages_each(th_shared_here, find_text, text);
    assert_string_equal(text, "inside");
    assert_string_equal(th_shared_here->crash, "of the worker");
}

/* --- Buffers ---------------------------------------------------------------------------------- */

static char *buffer;
static const char *written; /* put into the buffer */
static size_t passed;       /* bytes that the worker has written itself */
static bool torn;

static void fill_buffer(void)
{
    buffer = th_kept_begin(STDERR_FILENO, 100);
    strcpy(buffer, written);
    buffer[strlen(written)] = (char)TH_KEPT_FREE;
    if (passed || torn)
        th_kept_written(buffer, buffer, passed, torn);
}

/* Returns the text that is rescued from the worker's buffer, and the number of lost bytes. */
static const char *rescued(size_t *lost)
{
    static char text[200];
    struct th_kept_message message;
    int pipe_ends[2];
    ssize_t size;

    run_worker(fill_buffer);
    assert_int_equal(recv(sockets[0], &message, sizeof message, 0), (int)sizeof message);
    assert_int_equal(pipe(pipe_ends), 0);
    *lost = th_kept_rescue(message.kept, pipe_ends[1]);
    close(pipe_ends[1]);
    size = read(pipe_ends[0], text, sizeof text - 1);
    close(pipe_ends[0]);
    text[size > 0 ? size : 0] = '\0';
    return text;
}

static void the_rest_of_a_buffer_is_rescued(void **state)
{
    size_t lost;

    (void)state;
    written = "line 1\nline 2\n";
    assert_string_equal(rescued(&lost), "line 1\nline 2\n");
    assert_int_equal(lost, 0);
    passed = strlen("line 1\n");
    assert_string_equal(rescued(&lost), "line 2\n");
    passed = strlen(written);
    assert_string_equal(rescued(&lost), "");
    assert_int_equal(lost, 0);
    passed = 0;
}

static void the_rest_of_a_torn_record_is_lost(void **state)
{
    size_t lost;

    (void)state;
    torn = true;
    assert_string_equal(rescued(&lost), "");
    assert_int_equal(lost, strlen(written));
    torn = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_of_a_dead_worker_can_be_read, begin, end),
        cmocka_unit_test_setup_teardown(a_full_region_falls_back_on_the_heap, begin, end),
        cmocka_unit_test_setup_teardown(a_page_is_seen_as_long_as_it_is_in_the_region, begin, end),
        cmocka_unit_test_setup_teardown(a_child_of_the_worker_shares_nothing, begin, end),
        cmocka_unit_test_setup_teardown(the_rest_of_a_buffer_is_rescued, begin, end),
        cmocka_unit_test_setup_teardown(the_rest_of_a_torn_record_is_lost, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
