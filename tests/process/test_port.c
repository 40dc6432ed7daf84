/* Tests ports of the host: commands are written in order, each wholly or not at all. */
#include "host/process/process.h"

#include "host/base/base.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 200000, THREADS = 4, COMMANDS = 1000, LARGE = 1 << 17 };

static th_env env;
static char folder[] = "/tmp/test_port.XXXXXX";
static char path[64];

static int begin(void **state)
{
    (void)state;
    th_process_world_reset(NULL);
    th_env_init(&env, TH_ENV_PLAIN);
    return 0;
}

static int end(void **state)
{
    (void)state;
    th_env_release(&env);
    unlink(path);
    return 0;
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static th_term open_port(void)
{
    th_term port = TH_NONE;

    assert_int_equal(th_process_port_open_file(path, &port), TH_OK);
    return port;
}

static th_term text(const char *bytes)
{
    return th_make_binary(&env, bytes, strlen(bytes));
}

static th_term characters(const char *bytes)
{
    return th_make_latin1_string(&env, (const unsigned char *)bytes, strlen(bytes));
}

/* Returns the file's bytes; the caller frees them. */
static char *contents(size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(2 * DEPTH);

    assert_non_null(file);
    *size = fread(bytes, 1, 2 * DEPTH - 1, file);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

static void assert_contents(const char *expected)
{
    size_t size;
    char *bytes = contents(&size);

    assert_string_equal(bytes, expected);
    assert_int_equal(size, strlen(expected));
    free(bytes);
}

static void commands_are_written_in_order(void **state)
{
    th_term port = open_port();
    struct stat unused;

    (void)state;
    assert_true(th_process_port_command(port, text("one ")));
    assert_true(th_process_port_command(port, characters("two ")));
    assert_true(th_process_port_command(port, TH_NIL));
    assert_true(th_process_port_command(port, th_make_cons(&env, text("thr"), text("ee"))));
    assert_int_not_equal(stat(path, &unused), 0); /* not before the port is closed */
    assert_int_equal(th_process_port_close(port), TH_OK);
    assert_contents("one two three");
}

static void a_command_that_is_no_iodata_is_refused_as_a_whole(void **state)
{
    unsigned char *data;
    th_term bits = th_make_heap_binary(&env, 7, &data);
    const th_term bad[] = {
        th_small(256),          th_small(-1), TH_AM(ok),
        th_make_float(&env, 1), bits,         th_make_tuple_of(&env, text("abc")),
    };
    th_term port = open_port();

    (void)state;
    *data = 'x' & 0xFE;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        th_term list = th_make_cons(&env, bad[i], TH_NIL);
        assert_false(th_process_port_command(port, th_make_cons(&env, text("x"), list)));
        assert_false(th_process_port_command(port, bad[i]));
    }
    assert_false(th_process_port_command(port, th_make_cons(&env, text("x"), th_small(1))));
    assert_int_equal(th_process_port_close(port), TH_OK);
    assert_contents("");
}

static void a_port_lives_until_it_is_closed(void **state)
{
    th_term port = open_port(), next;

    (void)state;
    assert_true(th_is_local_port(port));
    assert_order(th_local_port_id(port), >=, TH_HOST_PORT_ID);
    assert_true(th_process_alive(port));
    assert_false(th_process_send(port, TH_AM(ok)));
    th_process_world_reset(NULL);
    assert_true(th_process_alive(port));
    assert_int_equal(th_process_port_close(port), TH_OK);
    assert_false(th_process_alive(port));
    assert_false(th_process_port_command(port, text("x")));
    assert_int_equal(th_process_port_close(port), TH_FAILED);
    next = open_port();
    assert_int_not_equal(next, port);
    assert_false(th_process_alive(port));
    assert_int_equal(th_process_port_close(next), TH_OK);
    assert_contents("");
}

static void commands_to_terms_that_are_no_host_port_are_refused(void **state)
{
    th_term port = open_port(), console = th_process_console_pid();

    (void)state;
    assert_true(th_is_local_pid(console) && th_is_local_port(port));
    assert_false(th_process_port_command(console, text("x")));
    assert_false(th_process_port_command(th_local_port(1), text("x"))); /* a recorded port */
    assert_false(th_process_port_command(th_local_port(TH_HOST_PORT_ID + 12345), text("x")));
    assert_false(th_process_port_command(th_local_port(TH_PORT_ID_MAX), text("x")));
    assert_false(th_process_port_command(TH_AM(ok), text("x")));
    assert_true(th_process_alive(th_local_port(1)));
    assert_int_equal(th_process_port_close(th_local_port(1)), TH_FAILED);
    assert_int_equal(th_process_port_close(port), TH_OK);
}

struct watcher {
    struct th_monitor monitor; /* the first member */
    th_term reason;
    bool file_was_there;
};

static void down(struct th_monitor *self, th_term reason)
{
    struct watcher *watcher = (struct watcher *)self;
    struct stat unused;

    watcher->reason = reason;
    watcher->file_was_there = stat(path, &unused) == 0;
}

static void a_port_can_have_a_name_and_a_monitor(void **state)
{
    th_term port = open_port();
    struct watcher watcher = {.monitor.down = down};

    (void)state;
    assert_true(th_process_name_register(TH_AM(output), port));
    assert_term_equal(th_process_whereis(TH_AM(output)), port);
    assert_true(th_process_monitor_start(&watcher.monitor, port));
    assert_int_equal(th_process_port_close(port), TH_OK);
    assert_term_equal(watcher.reason, TH_AM(normal));
    assert_true(watcher.file_was_there);
    assert_term_equal(th_process_whereis(TH_AM(output)), TH_NONE);
}

static void a_file_that_cannot_be_opened_is_reported(void **state)
{
    th_term port = TH_NONE;

    (void)state;
    assert_int_equal(th_process_port_open_file("/nowhere/file", &port), TH_FAILED);
    assert_non_null(strstr(th_error_link(0), "/nowhere/file"));
    assert_term_equal(port, TH_NONE);
}

static void a_failed_write_is_reported_when_the_port_is_closed(void **state)
{
    th_term port;

    (void)state;
    assert_int_equal(th_process_port_open_file("/dev/full", &port), TH_OK);
    assert_true(th_process_port_command(port, text("x")));
    assert_int_equal(th_process_port_close(port), TH_FAILED);
    assert_non_null(strstr(th_error_link(0), "/dev/full"));
    assert_int_equal(th_process_port_open_file("/dev/full", &port), TH_OK);
    assert_true(th_process_port_command(port, text("x")));
    assert_int_equal(th_process_port_close_all(), TH_FAILED);
    assert_false(th_process_alive(port));
}

static void ports_left_open_are_closed_at_the_end(void **state)
{
    th_term port = open_port();

    (void)state;
    th_process_port_command(port, text("left"));
    assert_int_equal(th_process_port_close_all(), TH_OK);
    assert_false(th_process_alive(port));
    assert_contents("left");
    assert_int_equal(th_process_port_close_all(), TH_OK);
    assert_true(th_process_alive(th_process_port_console()));
}

static void deeply_nested_iodata_needs_no_stack(void **state)
{
    th_term port = open_port();
    th_term list = text("x");
    size_t size;
    char *bytes;

    (void)state;
    for (int i = 0; i < DEPTH; i++)
        list = i % 2 ? th_make_cons(&env, list, TH_NIL)
                     : th_make_cons(&env, th_make_cons(&env, list, TH_NIL), text("y"));
    assert_true(th_process_port_command(port, list));
    assert_true(th_process_port_command(port, th_make_binary(&env, "0123456789", 10)));
    assert_int_equal(th_process_port_close(port), TH_OK);
    bytes = contents(&size);
    assert_int_equal(size, 1 + DEPTH / 2 + 10);
    assert_memory_equal(bytes, "xyyy", 4);
    assert_memory_equal(bytes + size - 12, "yy0123456789", 12);
    free(bytes);
}

static void a_large_command_is_written_whole(void **state)
{
    th_term port = open_port();
    unsigned char *data;
    th_term large = th_make_heap_binary(&env, 8 * LARGE, &data);
    size_t size;

    (void)state;
    memset(data, 'x', LARGE);
    assert_true(th_process_port_command(port, large));
    assert_true(th_process_port_command(port, text("y")));
    assert_int_equal(th_process_port_close(port), TH_OK);
    free(contents(&size));
    assert_int_equal(size, LARGE + 1);
}

static void the_console_s_port_writes_to_the_console_s_output(void **state)
{
    char *printed;
    size_t size;
    FILE *file = open_memstream(&printed, &size);
    th_term port = th_process_port_console();

    (void)state;
    assert_term_equal(port, th_process_port_console());
    th_process_console_set_output(file);
    assert_true(th_process_send(th_process_console_pid(), TH_AM(ok)));
    assert_true(th_process_port_command(port, text("as it is")));
    assert_string_equal(printed, "ok\nas it is"); /* written at once */
    assert_false(th_process_port_command(port, TH_AM(ok)));
    assert_int_equal(th_process_port_close(port), TH_FAILED);
    th_process_console_set_output(NULL);
    fclose(file);
    assert_string_equal(printed, "ok\nas it is");
    free(printed);
}

static void *command_many(void *port)
{
    th_env own;

    th_env_init(&own, TH_ENV_PLAIN);
    for (int i = 0; i < COMMANDS; i++) {
        th_env_clear(&own);
        if (!th_process_port_command(*(th_term *)port, th_make_binary(&own, "line\n", 5)))
            break;
    }
    th_env_release(&own);
    return NULL;
}

static void run_threads(th_term port, bool close)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, command_many, &port);
    if (close)
        assert_int_equal(th_process_port_close(port), TH_OK);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Asserts that the file has whole lines only, and COUNT of them unless COUNT is 0. */
static void assert_lines(size_t count)
{
    size_t size;
    char *bytes = contents(&size);

    assert_int_equal(size % 5, 0);
    for (size_t i = 0; i < size; i += 5)
        assert_memory_equal(bytes + i, "line\n", 5);
    if (count)
        assert_int_equal(size, 5 * count);
    free(bytes);
}

static void commands_of_several_threads_do_not_mix(void **state)
{
    th_term port = open_port();

    (void)state;
    run_threads(port, false);
    assert_int_equal(th_process_port_close(port), TH_OK);
    assert_lines(THREADS * COMMANDS);
}

static void a_port_can_be_closed_while_threads_write_to_it(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        run_threads(open_port(), true);
        assert_lines(0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

static th_term end_reason;

static void note_end(struct th_monitor *self, th_term reason)
{
    (void)self;
    end_reason = reason;
}

/* The port is alive for others, but takes no commands. */
static void a_port_without_a_file_refuses_commands(void **state)
{
    struct th_monitor monitor = {.down = note_end};
    th_term port = th_process_port_begin("of a test", TH_NONE);

    (void)state;
    assert_true(th_process_alive(port));
    assert_false(th_process_port_command(port, TH_NIL));
    assert_true(th_process_name_register(th_atom("taker"), port));
    assert_true(th_process_monitor_start(&monitor, port));
    assert_int_equal(th_process_port_close(port), TH_FAILED); /* not the port of a file */
    th_process_port_end(port, "of a test", TH_AM(kill));
    assert_term_equal(end_reason, TH_AM(kill));
    assert_false(th_process_alive(port));
    assert_term_equal(th_process_whereis(th_atom("taker")), TH_NONE);
    assert_false(th_process_port_command(port, TH_NIL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commands_are_written_in_order),
        TEST(a_command_that_is_no_iodata_is_refused_as_a_whole),
        TEST(a_port_lives_until_it_is_closed),
        TEST(commands_to_terms_that_are_no_host_port_are_refused),
        TEST(a_port_can_have_a_name_and_a_monitor),
        TEST(a_file_that_cannot_be_opened_is_reported),
        TEST(a_failed_write_is_reported_when_the_port_is_closed),
        TEST(ports_left_open_are_closed_at_the_end),
        TEST(deeply_nested_iodata_needs_no_stack),
        TEST(a_large_command_is_written_whole),
        TEST(the_console_s_port_writes_to_the_console_s_output),
        TEST(commands_of_several_threads_do_not_mix),
        TEST(a_port_can_be_closed_while_threads_write_to_it),
        TEST(a_port_without_a_file_refuses_commands),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
