/* Tests the spool's limits: the source waits for the slowest reader, old bytes are given back, and a
 * reader whose beginning is gone goes on. tests/cli/spool.sh compares whole outputs. */
#include "host/base/base.h"
#include "host/crash/crash.h"
#include "host/replay/replay_internal.h"
#include "host/replay/spool.h"
#include "host/self/self.h"
#include "host/trace/trace.h"
#include "tests/support/assertions.h"
#include "tests/support/skipping.h"
#include "tests/support/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KEPT = 64 << 10,
    AHEAD = 32 << 10,
    TOTAL = 2 << 20,
    PIECE = 1000,
    PIPE = 4096,
    BLOCK = 64 << 10
};

static const struct th_spool_limits limits = {KEPT, AHEAD};
static char name[64]; /* of the pipe that the spool reads */
static int source[2];
static const char *names[] = {name};

/* Shared by the processes of a test. */
static struct {
    _Atomic uint64_t read[2]; /* more than that, a reader has not read */
    _Atomic uint64_t go[2];   /* the reader may read up to there */
    _Atomic uint64_t most;    /* bytes of disk that the file has taken */
} * shared;

static int begin(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe2(source, O_CLOEXEC) != 0 ||
        fcntl(source[1], F_SETPIPE_SZ, PIPE) < 0)
        return -1;
    snprintf(name, sizeof name, "/proc/self/fd/%d", source[0]);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_replay_spool_end();
    close(source[0]);
    if (source[1] >= 0)
        close(source[1]);
    munmap(shared, sizeof *shared);
    return 0;
}

static unsigned char byte_at(uint64_t position)
{
    return (unsigned char)(position * 31 ^ position >> 8);
}

static void wait_until(const _Atomic uint64_t *word, uint64_t least)
{
    while (atomic_load(word) < least)
        poll(NULL, 0, 1);
}

/* Reads and compares the stream in the calling process, as reader NUMBER. Ends the process with 0 if
 * all bytes up to LAST came. */
static _Noreturn void read_stream(size_t number, uint64_t last)
{
    struct th_spool_stream *stream;
    struct th_spool_start start;
    uint64_t at = 0;
    unsigned char data[PIECE];
    struct pollfd wait = {.events = POLLIN};

    close(source[1]);
    th_replay_spool_enter(number);
    stream = th_replay_spool_take(name);
    if (th_replay_spool_await(stream, NULL, &start) != TH_OK)
        _exit(2);
    wait.fd = th_replay_spool_news();
    while (at < last) {
        struct stat about;
        ssize_t size;
        wait_until(&shared->go[number], at + 1);
        atomic_store(&shared->read[number], at + PIECE);
        size = th_replay_spool_read(stream, start.fd, data, sizeof data, at, at);
        for (ssize_t i = 0; i < size; i++)
            if (data[i] != byte_at(at + (uint64_t)i))
                _exit(3);
        at += size > 0 ? (uint64_t)size : 0;
        if (size == 0)
            break;
        if (size < 0 && errno != EAGAIN)
            _exit(4);
        if (size < 0 && !th_replay_spool_is_ready(stream, at) && poll(&wait, 1, -1) > 0)
            th_replay_spool_hear();
        if (fstat(start.fd, &about) == 0 && (uint64_t)about.st_blocks * 512 > shared->most)
            shared->most = (uint64_t)about.st_blocks * 512;
    }
    _exit(at == last ? 0 : 5);
}

static pid_t fork_reader(size_t number, uint64_t last)
{
    pid_t id = fork();

    if (id == 0)
        read_stream(number, last);
    assert_order(id, >, 0);
    return id;
}

static void assert_ends(pid_t id, int status)
{
    int ended;

    assert_int_equal(waitpid(id, &ended, 0), id);
    assert_int_equal(ended, status << 8);
}

/* Writes the bytes of the stream up to LAST; checks that the spool has never read too much. */
static void write_stream(uint64_t *at, uint64_t last)
{
    unsigned char data[PIECE];

    while (*at < last) {
        size_t size = last - *at < PIECE ? (size_t)(last - *at) : PIECE;
        uint64_t slowest;
        for (size_t i = 0; i < size; i++)
            data[i] = byte_at(*at + i);
        assert_int_equal(write(source[1], data, size), size);
        *at += size;
        slowest = atomic_load(&shared->read[1]);
        if (atomic_load(&shared->read[0]) < slowest)
            slowest = atomic_load(&shared->read[0]);
        assert_order(*at, <=, slowest + AHEAD + PIPE);
    }
}

/* The stream can be written only as fast as the slower reader reads; the disk that it takes is
 * bounded. */
static void test_the_source_waits_for_the_slowest(void **state)
{
    pid_t readers[2];
    uint64_t written = 0;

    (void)state;
    assert_int_equal(th_replay_spool_begin(names, 1, 2, NULL, &limits), TH_OK);
    for (size_t i = 0; i < 2; i++)
        readers[i] = fork_reader(i, TOTAL);
    atomic_store(&shared->go[0], TOTAL);
    write_stream(&written, AHEAD); /* as far as the second reader allows, which has read nothing */
    atomic_store(&shared->go[1], TOTAL);
    write_stream(&written, TOTAL);
    close(source[1]);
    source[1] = -1;
    for (size_t i = 0; i < 2; i++)
        assert_ends(readers[i], 0);
    if (th_replay_spool_again(0))
        skip(); /* the file system gives nothing back */
    assert_order(shared->most, >=, KEPT);
    assert_order(shared->most, <=, KEPT + AHEAD + 2 * BLOCK + PIECE);
}

/* The bytes that a dead reader has not read stay until nobody follows it. */
static void test_a_dead_reader_is_waited_for(void **state)
{
    enum { DIES = 5 * PIECE };
    uint64_t written = 0;
    pid_t readers[2];

    (void)state;
    assert_int_equal(th_replay_spool_begin(names, 1, 2, NULL, &limits), TH_OK);
    shared->go[0] = shared->go[1] = TOTAL;
    readers[0] = fork_reader(0, TOTAL);
    readers[1] = fork_reader(1, DIES);
    write_stream(&written, DIES);
    assert_ends(readers[1], 0);
    write_stream(&written, AHEAD);
    assert_ends(fork_reader(1, AHEAD), 0); /* a successor, which reads from the beginning */
    th_replay_spool_leave(1);
    atomic_store(&shared->read[1], UINT64_MAX / 2);
    write_stream(&written, TOTAL);
    close(source[1]);
    source[1] = -1;
    assert_ends(readers[0], 0);
}

/* Without a place to begin at, a reader whose beginning is gone is refused; others go on. */
static void test_a_lost_beginning_is_refused(void **state)
{
    uint64_t written = 0;
    pid_t readers[2];

    (void)state;
    assert_int_equal(th_replay_spool_begin(names, 1, 2, NULL, &limits), TH_OK);
    shared->go[0] = TOTAL / 2;
    shared->go[1] = TOTAL;
    readers[0] = fork_reader(0, TOTAL);
    readers[1] = fork_reader(1, TOTAL / 2);
    write_stream(&written, TOTAL / 2);
    assert_ends(readers[1], 0);
    if (th_replay_spool_again(1)) /* the file system gives nothing back */
        th_replay_spool_leave(1);
    else
        assert_ends(fork_reader(1, TOTAL), 2);
    atomic_store(&shared->go[0], TOTAL);
    atomic_store(&shared->read[1], UINT64_MAX / 2);
    write_stream(&written, TOTAL);
    close(source[1]);
    source[1] = -1;
    assert_ends(readers[0], 0);
}

/* The source is left alone once nobody reads it any more. */
static void test_the_source_is_closed(void **state)
{
    struct pollfd closed = {.fd = source[1]};
    uint64_t written = 0;
    pid_t reader;

    (void)state;
    assert_int_equal(th_replay_spool_begin(names, 1, 1, NULL, &limits), TH_OK);
    close(source[0]);
    source[0] = open("/dev/null", O_RDONLY);
    shared->go[0] = TOTAL;
    atomic_store(&shared->read[1], UINT64_MAX / 2);
    reader = fork_reader(0, PIECE);
    write_stream(&written, PIECE);
    assert_ends(reader, 0);
    th_replay_spool_leave(0);
    assert_int_equal(poll(&closed, 1, -1), 1);
    assert_int_equal(closed.revents, POLLERR);
}

/* --- With a supervisor ------------------------------------------------------------------------ */

enum { STEP = 500 };

static struct th_event *played;

/* Prints each STEPth record that is not left out: number, byte; at the end where the
 * process began. Ends as a library would, in record DIES. */
static _Noreturn void play_stream(uint64_t dies)
{
    struct th_reader *reader;
    uint64_t first;

    th_self_share();
    th_self.id = getpid();
    th_self.played = played = th_shared_alloc(sizeof *played);
    th_crash_set_place(th_crash_stream_place(0));
    if (th_replay_reader_open(name, NULL, &reader) != TH_OK) {
        th_error_print(stdout, "refused");
        _exit(3);
    }
    first = th_replay_reader_info(reader)->records + 1;
    while (th_replay_reader_next(reader, played) == TH_OK) {
        if (th_crash_is_left_out(played->number))
            continue;
        if (played->number % STEP == 0)
            printf("%llu@%llu\n", (unsigned long long)played->number,
                   (unsigned long long)played->position);
        if (played->number == dies)
            _exit(0);
    }
    printf("began at record %llu, %s\n", (unsigned long long)first,
           reader->info.missing ? "without its beginning" : "at the beginning");
    th_crash_set_place(TH_CRASH_RESULTS);
    th_crash_finish(0);
    exit(0);
}

/* Plays the pipe with COUNT workers under a supervisor. The last one dies in the record DIES and, if
 * CONTINUES, has a successor. Returns stdout. */
static const char *supervised(size_t count, bool continues, uint64_t dies,
                              const struct th_buffer *stream, const struct th_spool_limits *with)
{
    static const char *const tracers[] = {"one", "two"};
    const struct th_crash_policy policy = {.tracers = tracers,
                                           .continues = continues,
                                           .max_crashes = 3,
                                           .again = th_replay_spool_again,
                                           .gone = th_replay_spool_leave};
    static char out[1 << 20];
    int file = memfd_create("out", 0);
    pid_t id = fork();
    ssize_t size;

    if (id == 0) {
        close(source[1]);
        dup2(file, STDOUT_FILENO);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        size_t number = count;
        if (th_replay_spool_begin(names, 1, count, NULL, with) == TH_OK)
            number = th_crash_supervise_several("test", count, &policy);
        if (number == count)
            _exit(9);
        th_replay_spool_enter(number);
        play_stream(number < count - 1 || th_crash_is_successor() ? 0 : dies);
    }
    close(source[0]);
    source[0] = open("/dev/null", O_RDONLY); /* a pipe without readers cannot be written to */
    assert_true(th_output_write_bytes(source[1], stream->data, stream->size));
    close(source[1]);
    source[1] = -1;
    assert_ends(id, 6);
    size = pread(file, out, sizeof out - 1, 0);
    close(file);
    assert_order(size, >, 0);
    out[size] = '\0';
    return out;
}

/* BEGAN: where the successor of the worker that dies began, of whose text up to the death nothing comes
 * again; NULL: it has none, but there is a worker that lives. */
static void check_succession(const struct th_spool_limits *with, const char *began)
{
    enum { RECORDS = 8000, DIES = 6000, DIES_EARLY = 10 };
    struct th_buffer stream = {0}, expected = {0};
    const char *out;

    if (emulated())
        skip_because(
            "the emulator maps no memory a second time, so the supervisor cannot know the record");
    for (size_t i = 1; i <= RECORDS; i++) {
        if (i % STEP == 0)
            th_buffer_printf(&expected, "%zu@%zu\n", i, stream.size);
        stream_add_message(&stream, "{trace,<0.1.0>,call,{m,f,1}}");
    }
    th_buffer_printf(&expected, "began at record %s\n", began ? began : "1, at the beginning");
    out = began ? supervised(1, true, DIES, &stream, with)
                : supervised(2, false, DIES_EARLY, &stream, with);
    assert_string_equal(out, th_buffer_text(&expected));
    th_buffer_free(&stream);
    th_buffer_free(&expected);
}

static void test_a_successor_begins_again(void **state)
{
    (void)state;
    check_succession(NULL, "1, at the beginning");
}

static void test_a_successor_begins_where_the_worker_died(void **state)
{
    (void)state;
    check_succession(&limits, "6000, without its beginning");
}

static void test_nobody_waits_for_the_dead(void **state)
{
    (void)state;
    check_succession(&limits, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_source_waits_for_the_slowest, begin, end),
        cmocka_unit_test_setup_teardown(test_a_dead_reader_is_waited_for, begin, end),
        cmocka_unit_test_setup_teardown(test_a_lost_beginning_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_the_source_is_closed, begin, end),
        cmocka_unit_test_setup_teardown(test_a_successor_begins_again, begin, end),
        cmocka_unit_test_setup_teardown(test_a_successor_begins_where_the_worker_died, begin, end),
        cmocka_unit_test_setup_teardown(test_nobody_waits_for_the_dead, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
