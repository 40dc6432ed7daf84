/* Tests input from files, pipes and sockets, in pieces of any size. */
#include "host/replay/replay_internal.h"
#include "tests/support/assertions.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TOTAL = 3 * 1024 * 1024 };

static struct th_input input;

static int begin(void **state)
{
    (void)state;
    input = (struct th_input){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_replay_input_close(&input);
    return 0;
}

static unsigned char byte_at(size_t position)
{
    return (unsigned char)(position * 31 ^ position >> 8);
}

/* Writes TOTAL bytes in pieces of growing sizes, and closes the descriptor. */
static void *write_pieces(void *fd)
{
    static unsigned char bytes[TOTAL];

    for (size_t i = 0; i < TOTAL; i++)
        bytes[i] = byte_at(i);
    for (size_t at = 0, piece = 1; at < TOTAL; at += piece, piece = piece * 5 / 4 + 1) {
        if (piece > TOTAL - at)
            piece = TOTAL - at;
        for (size_t done = 0; done < piece;) {
            ssize_t wrote = write(*(int *)fd, bytes + at + done, piece - done);
            assert_order(wrote, >, 0);
            done += (size_t)wrote;
        }
    }
    close(*(int *)fd);
    return NULL;
}

/* Takes pieces of all sizes and compares their bytes. */
static void read_all(void)
{
    size_t position = 0;

    for (size_t piece = 1;; piece = piece % 70001 + 997) {
        size_t there;
        bool have = th_replay_input_have(&input, piece);
        there = th_replay_input_there(&input);
        assert_int_equal(have, there >= piece);
        assert_int_equal(th_replay_input_position(&input), position);
        if (there > piece)
            there = piece;
        for (size_t i = 0; i < there; i++)
            if (th_replay_input_bytes(&input)[i] != byte_at(position + i))
                fail_msg("byte %zu is another", position + i);
        th_replay_input_take(&input, there);
        position += there;
        if (!have)
            break;
    }
    assert_int_equal(position, TOTAL);
    assert_true(input.ended);
    assert_int_equal(input.error, 0);
}

static void input_is_read_from_a_pipe(void **state)
{
    pthread_t writer;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_pieces, &ends[1]), 0);
    th_replay_input_attach(&input, ends[0], "pipe");
    read_all();
    pthread_join(writer, NULL);
}

/* Another program may have made the descriptor non-blocking. */
static void input_is_read_from_a_nonblocking_pipe(void **state)
{
    pthread_t writer;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_pieces, &ends[1]), 0);
    th_replay_input_attach(&input, ends[0], "pipe");
    read_all();
    pthread_join(writer, NULL);
}

/* A request for bytes that never come takes no memory. */
static void memory_grows_with_data_only(void **state)
{
    int fd = memfd_create("input", 0);

    (void)state;
    assert_int_equal(ftruncate(fd, TOTAL), 0);
    th_replay_input_attach(&input, fd, "file");
    assert_false(th_replay_input_have(&input, UINT32_MAX));
    assert_int_equal(th_replay_input_there(&input), TOTAL);
    assert_order(input.capacity, <=, 2 * TOTAL);
}

static void a_failed_read_ends_the_input(void **state)
{
    (void)state;
    th_replay_input_attach(&input, open("/dev/null", O_WRONLY), "null");
    assert_false(th_replay_input_have(&input, 1));
    assert_true(input.ended);
    assert_int_equal(input.error, EBADF);
}

static volatile int stop;

static void on_alarm(int number)
{
    stop = number;
}

/* A signal ends the wait for bytes. */
static void a_signal_ends_the_input(void **state)
{
    struct sigaction action = {.sa_handler = on_alarm};
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    sigaction(SIGALRM, &action, NULL);
    th_replay_input_attach(&input, ends[0], "pipe");
    input.stop = &stop;
    alarm(1);
    assert_false(th_replay_input_have(&input, 1));
    assert_true(input.stopped && input.ended);
    assert_int_equal(input.error, 0);
    close(ends[1]);
}

static void a_closed_input_has_ended(void **state)
{
    (void)state;
    assert_int_equal(th_replay_input_open(&input, "no/such/file"), TH_MALFORMED);
    assert_false(th_replay_input_have(&input, 1));
    th_replay_input_close(&input);
    assert_false(th_replay_input_have(&input, 1));
    th_replay_input_close(&input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(input_is_read_from_a_pipe, begin, end),
        cmocka_unit_test_setup_teardown(input_is_read_from_a_nonblocking_pipe, begin, end),
        cmocka_unit_test_setup_teardown(memory_grows_with_data_only, begin, end),
        cmocka_unit_test_setup_teardown(a_failed_read_ends_the_input, begin, end),
        cmocka_unit_test_setup_teardown(a_signal_ends_the_input, begin, end),
        cmocka_unit_test_setup_teardown(a_closed_input_has_ended, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
