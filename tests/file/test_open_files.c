/* Tests operations on open files; each must have the result and the effect of its system call. */
#include "carried_out.h"

#include "host/process/process.h"
#include "tests/support/skipping.h"

#include <sys/mount.h>
#include <sys/stat.h>

enum { READ = TH_FILE_FOR_READING, WRITE = TH_FILE_FOR_WRITING, APPEND = TH_FILE_APPENDS };

static const char *close_by(th_term port)
{
    return on_file(port, TH_FILE_CLOSE, 0, 0, 0);
}

/* --- Opening ---------------------------------------------------------------------------------- */

/* Returns the content of a file after an open with FLAGS and a write of "new" at its start, or the
 * error of either. BEFORE is the content before; NULL: the file does not exist. */
static const char *after_opening(int flags, const char *before)
{
    const char *path = in_folder("opened");
    const char *written = "ok";
    th_term port;

    unlink(path);
    if (before)
        put_file(path, before);
    port = open_by(path, flags);
    if (port == TH_NONE)
        return th_base_errno_name(last_error);
    if (flags & (WRITE | APPEND))
        written = with_term(port, TH_FILE_WRITE, "<<\"new\">>");
    assert_string_equal(written, "ok");
    assert_string_equal(close_by(port), "ok");
    return content_of(path);
}

static void each_open_flag_has_its_effect(void **state)
{
    (void)state;
    assert_string_equal(after_opening(READ, "before"), "before");
    assert_string_equal(after_opening(READ, NULL), "enoent");
    assert_string_equal(after_opening(WRITE, "before"), "new");
    assert_string_equal(after_opening(WRITE, NULL), "new");
    assert_string_equal(after_opening(WRITE | TH_FILE_KEEPS, "before"), "newore");
    assert_string_equal(after_opening(READ | WRITE, "before"), "newore");
    assert_string_equal(after_opening(READ | WRITE, NULL), "new");
    assert_string_equal(after_opening(APPEND, "before"), "beforenew");
    assert_string_equal(after_opening(WRITE | APPEND, "before"), "beforenew");
    assert_string_equal(after_opening(WRITE | TH_FILE_IS_NEW, "before"), "eexist");
    assert_string_equal(after_opening(WRITE | TH_FILE_IS_NEW, NULL), "new");
    assert_string_equal(after_opening(WRITE | TH_FILE_SYNC, "before"), "new");
    assert_string_equal(after_opening(1 << 20, "before"), "einval");
    assert_term_equal(open_by(folder, WRITE), TH_NONE);
    assert_int_equal(last_error, EISDIR);
    assert_term_equal(open_by(in_folder("no/where"), WRITE), TH_NONE);
    assert_int_equal(last_error, ENOENT);
}

static void open_flags_are_passed_to_the_system(void **state)
{
    th_term port = open_by(in_folder("flags"), READ | WRITE | APPEND | TH_FILE_SYNC);
    struct th_file *file = th_file_find(port, false);
    int flags = fcntl(atomic_load(&file->fd), F_GETFL);

    (void)state;
    assert_int_equal(flags & O_ACCMODE, O_RDWR);
    assert_int_equal(flags & (O_APPEND | O_SYNC), O_APPEND | O_SYNC);
    assert_true(fcntl(atomic_load(&file->fd), F_GETFD) & FD_CLOEXEC);
    th_file_drop(file);
    close_by(port);
}

/* --- Reading and writing ---------------------------------------------------------------------- */

static void bytes_are_read(void **state)
{
    const char *path = in_folder("read");
    th_term port;

    (void)state;
    put_file(path, "0123456789");
    port = open_by(path, READ);
    assert_string_equal(on_file(port, TH_FILE_READ, 4, 0, 0), "{ok,<<\"0123\">>}");
    assert_string_equal(on_file(port, TH_FILE_READ, 0, 0, 0), "{ok,<<>>}");
    assert_string_equal(on_file(port, TH_FILE_READ, INT64_MAX, 0, 0), "{ok,<<\"456789\">>}");
    assert_string_equal(on_file(port, TH_FILE_READ, 4, 0, 0), "eof");
    assert_string_equal(with_term(port, TH_FILE_WRITE, "<<\"x\">>"), "{error,ebadf}");
    assert_string_equal(with_term(port, TH_FILE_WRITE, "[]"), "{error,ebadf}");
    assert_string_equal(close_by(port), "ok");
    port = open_by(path, WRITE | TH_FILE_KEEPS);
    assert_string_equal(on_file(port, TH_FILE_READ, 4, 0, 0), "{error,ebadf}");
    assert_string_equal(on_file(port, TH_FILE_READ_LINE, 0, 0, 0), "{error,ebadf}");
    assert_string_equal(with_term(port, TH_FILE_PREADV, "[{0,1}]"), "{error,ebadf}");
    close_by(port);
}

static void positions_are_set_as_by_lseek(void **state)
{
    static const struct {
        int64_t offset;
        int origin;
    } moves[] = {{3, SEEK_SET},  {2, SEEK_CUR},    {-1, SEEK_END}, {100, SEEK_SET},
                 {-1, SEEK_SET}, {-200, SEEK_CUR}, {0, SEEK_CUR},  {0, 77}};
    const char *path = in_folder("moved");
    th_term port;
    int fd;

    (void)state;
    put_file(path, "0123456789");
    port = open_by(path, READ);
    fd = open(path, O_RDONLY);
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        off_t there = lseek(fd, moves[i].offset, moves[i].origin);
        char *expected =
            there < 0 ? th_strdup(answer_of(-1)) : th_printf("{ok,%lld}", (long long)there);
        assert_string_equal(on_file(port, TH_FILE_LSEEK, moves[i].offset, moves[i].origin, 0),
                            expected);
        th_free(expected);
    }
    on_file(port, TH_FILE_LSEEK, 8, SEEK_SET, 0);
    assert_string_equal(on_file(port, TH_FILE_READ, 9, 0, 0), "{ok,<<\"89\">>}");
    close(fd);
    close_by(port);
}

static void bytes_are_written(void **state)
{
    const char *path = in_folder("written");
    th_term port = open_by(path, READ | WRITE);

    (void)state;
    assert_string_equal(with_term(port, TH_FILE_WRITE, "[<<\"01\">>,[$2|<<\"3\">>],\"45\"]"), "ok");
    assert_string_equal(with_term(port, TH_FILE_WRITE, "[]"), "ok");
    assert_string_equal(with_term(port, TH_FILE_WRITE, "a"), "badarg");
    assert_string_equal(with_term(port, TH_FILE_WRITE, "[256]"), "badarg");
    assert_string_equal(content_of(path), "012345");
    assert_string_equal(with_term(port, TH_FILE_PWRITEV, "[{1,<<\"xy\">>},{8,\"z\"},{0,[]}]"),
                        "ok");
    assert_string_equal(content_of(path), "0xy345"); /* then two zero bytes and z */
    assert_string_equal(with_term(port, TH_FILE_PREADV, "[{4,5},{0,2},{9,1},{8,100},{0,0}]"),
                        "{ok,[<<52,53,0,0,122>>,<<\"0x\">>,eof,<<\"z\">>,<<>>]}");
    assert_string_equal(with_term(port, TH_FILE_PREADV, "[]"), "{ok,[]}");
    assert_string_equal(with_term(port, TH_FILE_PWRITEV, "[]"), "ok");
    assert_string_equal(with_term(port, TH_FILE_PREADV, "[{0,9223372036854775807}]"),
                        "{ok,[<<48,120,121,51,52,53,0,0,122>>]}");
    on_file(port, TH_FILE_LSEEK, 4, SEEK_SET, 0);
    assert_string_equal(on_file(port, TH_FILE_TRUNCATE, 0, 0, 0), "ok");
    assert_string_equal(content_of(path), "0xy3");
    close_by(port);
    port = open_by(path, READ);
    assert_string_equal(on_file(port, TH_FILE_TRUNCATE, 0, 0, 0),
                        "{error,einval}"); /* the result of ftruncate(2) */
    assert_string_equal(with_term(port, TH_FILE_PWRITEV, "[{0,<<\"x\">>}]"), "{error,ebadf}");
    close_by(port);
}

static void malformed_pieces_are_refused(void **state)
{
    static const char *const wrong[] = {
        "a",       "[a]",       "[{1}]", "[{-1,1}]",  "[{0,-1}]",  "[{a,1}]",
        "[{0,a}]", "[{0,1}|a]", "{0,1}", "[{0,1,2}]", "[{0,1.5}]", "[{36893488147419103232,1}]"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_string_equal(with_term(TH_NONE, TH_FILE_PREADV, wrong[i]), "badarg");
    assert_string_equal(with_term(TH_NONE, TH_FILE_PWRITEV, "[{0,1}]"), "badarg");
}

static void lines_are_read(void **state)
{
    const char *path = in_folder("lines");
    char *text = th_alloc_zero(30001);
    char *expected;
    th_term port;

    (void)state;
    put_file(path, "one\n\nthree\nno end");
    port = open_by(path, READ | WRITE);
    assert_string_equal(on_file(port, TH_FILE_READ_LINE, 0, 0, 0), "{ok,<<\"one\\n\">>}");
    assert_string_equal(on_file(port, TH_FILE_READ_LINE, 0, 0, 0), "{ok,<<\"\\n\">>}");
    assert_string_equal(on_file(port, TH_FILE_LSEEK, 0, SEEK_CUR, 0), "{ok,5}"); /* no move */
    assert_string_equal(on_file(port, TH_FILE_READ_LINE, 0, 0, 0), "{ok,<<\"three\\n\">>}");
    assert_string_equal(on_file(port, TH_FILE_READ, 2, 0, 0), "{ok,<<\"no\">>}");
    assert_string_equal(on_file(port, TH_FILE_READ_LINE, 0, 0, 0), "{ok,<<\" end\">>}");
    assert_string_equal(on_file(port, TH_FILE_READ_LINE, 0, 0, 0), "eof");
    on_file(port, TH_FILE_LSEEK, 0, SEEK_SET, 0);
    on_file(port, TH_FILE_READ_LINE, 0, 0, 0);
    assert_string_equal(with_term(port, TH_FILE_WRITE, "<<\"!\">>"), "ok"); /* behind it */
    assert_string_equal(content_of(path), "one\n!three\nno end");
    close_by(port);
    memset(text, 'x', 30000); /* longer than one read */
    text[29999] = '\n';
    put_file(path, text);
    port = open_by(path, READ);
    text[29999] = '\0';
    expected = th_printf("{ok,<<\"%s\\n\">>}", text);
    assert_string_equal(on_file(port, TH_FILE_READ_LINE, 0, 0, 0), expected);
    assert_string_equal(on_file(port, TH_FILE_READ_LINE, 0, 0, 0), "eof");
    th_free(expected);
    th_free(text);
    close_by(port);
}

static void data_at_a_stored_pointer_is_read(void **state)
{
    const char *path = in_folder("pointed");
    th_term port = open_by(path, READ | WRITE);

    (void)state;
    with_term(port, TH_FILE_PWRITEV,
              "[{2,<<5:32,20:32>>},{20,<<\"01234567\">>},{40,<<9:32,99:32>>}]");
    assert_string_equal(on_file(port, TH_FILE_IPREAD, 2, 10, 0), "{ok,{5,20,<<\"01234\">>}}");
    assert_string_equal(on_file(port, TH_FILE_IPREAD, 2, 5, 0), "{ok,{5,20,<<\"01234\">>}}");
    assert_string_equal(on_file(port, TH_FILE_IPREAD, 2, 4, 0), "eof");
    assert_string_equal(on_file(port, TH_FILE_IPREAD, 40, 10, 0), "{ok,{9,99,eof}}");
    assert_string_equal(on_file(port, TH_FILE_IPREAD, 44, 10, 0), "eof");
    close_by(port);
}

/* --- Options ---------------------------------------------------------------------------------- */

static void delayed_writes_are_gathered(void **state)
{
    const char *path = in_folder("late");
    th_term port = open_by(path, READ | WRITE);

    (void)state;
    assert_string_equal(on_file(port, TH_FILE_SETOPT, TH_FILE_DELAYED_WRITE, 10, 0), "ok");
    assert_string_equal(with_term(port, TH_FILE_WRITE, "\"12345\""), "ok");
    assert_string_equal(with_term(port, TH_FILE_WRITE, "\"6789\""), "ok");
    assert_string_equal(content_of(path), "");
    assert_string_equal(with_term(port, TH_FILE_WRITE, "\"ab\""), "ok");
    assert_string_equal(content_of(path), "123456789ab");
    with_term(port, TH_FILE_WRITE, "\"c\"");
    assert_string_equal(content_of(path), "123456789ab");
    assert_non_null(strstr(on_file(port, TH_FILE_FSTAT, 0, 0, 0), "size => 12"));
    with_term(port, TH_FILE_WRITE, "\"d\"");
    assert_string_equal(close_by(port), "ok");
    assert_string_equal(content_of(path), "123456789abcd");
}

static void a_delayed_write_reports_its_error_later(void **state)
{
    th_term port = open_by("/dev/full", WRITE | TH_FILE_KEEPS);

    (void)state;
    assert_string_equal(with_term(port, TH_FILE_WRITE, "\"x\""), "{error,enospc}");
    on_file(port, TH_FILE_SETOPT, TH_FILE_DELAYED_WRITE, 10, 0);
    assert_string_equal(with_term(port, TH_FILE_WRITE, "\"x\""), "ok");
    assert_string_equal(on_file(port, TH_FILE_FDATASYNC, 0, 0, 0), "{error,enospc}");
    assert_string_equal(with_term(port, TH_FILE_WRITE, "\"x\""), "ok");
    assert_string_equal(close_by(port), "{error,enospc}");
    assert_string_equal(close_by(port), "{error,ebadf}"); /* closed nevertheless */
}

static void read_ahead_returns_buffered_data(void **state)
{
    const char *path = in_folder("ahead");
    th_term port;

    (void)state;
    put_file(path, "0123456789");
    port = open_by(path, READ);
    assert_string_equal(on_file(port, TH_FILE_SETOPT, TH_FILE_READ_AHEAD, 8, 0), "ok");
    assert_string_equal(on_file(port, TH_FILE_READ, 2, 0, 0), "{ok,<<\"01\">>}");
    put_file(path, "abcdefghij");
    assert_string_equal(on_file(port, TH_FILE_READ, 2, 0, 0), "{ok,<<\"23\">>}"); /* earlier data */
    assert_string_equal(on_file(port, TH_FILE_READ, 20, 0, 0), "{ok,<<\"efghij\">>}");
    on_file(port, TH_FILE_LSEEK, 0, SEEK_SET, 0);
    assert_string_equal(on_file(port, TH_FILE_READ, 7, 0, 0), "{ok,<<\"abcdefg\">>}");
    assert_string_equal(on_file(port, TH_FILE_READ, 3, 0, 0), "{ok,<<\"hij\">>}");
    assert_string_equal(on_file(port, TH_FILE_READ, 3, 0, 0), "eof");
    on_file(port, TH_FILE_SETOPT, TH_FILE_READ_AHEAD, 0, 0);
    on_file(port, TH_FILE_LSEEK, 0, SEEK_SET, 0);
    assert_string_equal(on_file(port, TH_FILE_READ, 2, 0, 0), "{ok,<<\"ab\">>}");
    put_file(path, "0123456789");
    assert_string_equal(on_file(port, TH_FILE_READ, 2, 0, 0), "{ok,<<\"23\">>}");
    close_by(port);
}

static void unknown_options_and_invalid_values_are_refused(void **state)
{
    th_term port = open_by(in_folder("options"), READ | WRITE);

    (void)state;
    assert_string_equal(on_file(port, TH_FILE_SETOPT, 7, 1, 0), "{error,einval}");
    assert_string_equal(on_file(port, TH_FILE_SETOPT, TH_FILE_READ_AHEAD, -1, 0), "{error,einval}");
    assert_string_equal(on_file(port, TH_FILE_SETOPT, TH_FILE_READ_AHEAD, (int64_t)1 << 40, 0),
                        "{error,einval}");
    close_by(port);
}

/* --- Others ----------------------------------------------------------------------------------- */

static void file_info_of_an_open_file_equals_lstat(void **state)
{
    const char *path = in_folder("known");
    th_term port;
    char *known;

    (void)state;
    put_file(path, "content");
    port = open_by(path, READ);
    known = th_strdup(on_file(port, TH_FILE_FSTAT, 0, 0, 0));
    assert_string_equal(known, by_path(TH_FILE_LSTAT, path, NULL));
    th_free(known);
    close_by(port);
}

static void sync_and_advise_return_the_result_of_the_system(void **state)
{
    th_term port = open_by(in_folder("disk"), READ | WRITE);
    int pipes[2];
    char path[64];

    (void)state;
    assert_string_equal(on_file(port, TH_FILE_FSYNC, 0, 0, 0), "ok");
    assert_string_equal(on_file(port, TH_FILE_FDATASYNC, 0, 0, 0), "ok");
    assert_string_equal(on_file(port, TH_FILE_FADVISE, 0, 100, POSIX_FADV_SEQUENTIAL), "ok");
    assert_string_equal(on_file(port, TH_FILE_FADVISE, 0, 100, 77), "{error,einval}");
    close_by(port);
    assert_int_equal(pipe(pipes), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", pipes[0]);
    port = open_by(path, READ);
    assert_int_equal(write(pipes[1], "a\nb", 3), 3);
    assert_string_equal(on_file(port, TH_FILE_FSYNC, 0, 0, 0), "{error,einval}");
    assert_string_equal(on_file(port, TH_FILE_LSEEK, 0, SEEK_SET, 0), "{error,espipe}");
    assert_string_equal(on_file(port, TH_FILE_FADVISE, 0, 1, POSIX_FADV_NORMAL), "{error,espipe}");
    assert_string_equal(on_file(port, TH_FILE_READ_LINE, 0, 0, 0), "{ok,<<\"a\\n\">>}");
    assert_string_equal(on_file(port, TH_FILE_READ, 10, 0, 0), "{ok,<<\"b\">>}");
    close_by(port);
    close(pipes[0]);
    close(pipes[1]);
}

/* The descriptor may be in use again, by another file. */
static void operations_on_a_closed_file_return_ebadf(void **state)
{
    unsigned before = count_descriptors();
    th_term port = open_by(in_folder("closed"), READ | WRITE);
    th_term other;

    (void)state;
    assert_int_equal(count_descriptors(), before + 1);
    assert_true(th_process_alive(port));
    assert_false(th_process_port_command(port, th_small(1)));
    assert_false(th_process_port_command(port, TH_NIL));
    assert_string_equal(close_by(port), "ok");
    assert_int_equal(count_descriptors(), before);
    assert_false(th_process_alive(port));
    other = open_by(in_folder("other"), READ | WRITE); /* possibly with the same descriptor */
    for (int command = 1; command < TH_FILE_COMMANDS; command++)
        if (th_file_rows[command].name && strcmp(th_file_rows[command].integers[0], "fd") == 0)
            assert_string_equal(on_file(port, (enum th_file_command)command, 0, 0, 0),
                                "{error,ebadf}");
    assert_string_equal(on_file(th_process_port_console(), TH_FILE_FSTAT, 0, 0, 0),
                        "{error,ebadf}");
    close_by(other);
}

static void writes_to_a_full_disk_return_enospc(void **state)
{
    const char *disk = in_folder("disk full");
    char *data = th_alloc(300000);
    char path[PATH_MAX];
    struct th_file_operation *operation;
    th_term port;

    (void)state;
    mkdir(disk, 0777);
    if (mount("tmpfs", disk, "tmpfs", 0, "size=128k") != 0) {
        th_free(data);
        skip_because("no tmpfs can be mounted: %s", strerror(errno));
    }
    memset(data, 'x', 300000);
    snprintf(path, sizeof path, "%s/file", disk);
    port = open_by(path, READ | WRITE);
    operation = th_file_operation_create(TH_FILE_WRITE);
    operation->port = port;
    operation->data = (unsigned char *)data;
    operation->size = 300000;
    assert_string_equal(wait_for(operation), "{error,enospc}");
    assert_non_null(
        strstr(on_file(port, TH_FILE_FSTAT, 0, 0, 0), "size => 131072")); /* the part that fits */
    assert_string_equal(with_term(port, TH_FILE_WRITE, "\"y\""), "{error,enospc}");
    assert_string_equal(with_term(port, TH_FILE_PWRITEV, "[{0,\"y\"},{200000,\"y\"}]"),
                        "{error,enospc}");
    assert_string_equal(on_file(port, TH_FILE_FSYNC, 0, 0, 0), "ok");
    assert_string_equal(close_by(port), "ok");
    assert_int_equal(umount(disk), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_open_flag_has_its_effect),
        cmocka_unit_test(open_flags_are_passed_to_the_system),
        cmocka_unit_test(bytes_are_read),
        cmocka_unit_test(positions_are_set_as_by_lseek),
        cmocka_unit_test(bytes_are_written),
        cmocka_unit_test(malformed_pieces_are_refused),
        cmocka_unit_test(lines_are_read),
        cmocka_unit_test(data_at_a_stored_pointer_is_read),
        cmocka_unit_test(delayed_writes_are_gathered),
        cmocka_unit_test(a_delayed_write_reports_its_error_later),
        cmocka_unit_test(read_ahead_returns_buffered_data),
        cmocka_unit_test(unknown_options_and_invalid_values_are_refused),
        cmocka_unit_test(file_info_of_an_open_file_equals_lstat),
        cmocka_unit_test(sync_and_advise_return_the_result_of_the_system),
        cmocka_unit_test(operations_on_a_closed_file_return_ebadf),
        cmocka_unit_test(writes_to_a_full_disk_return_enospc),
    };

    return cmocka_run_group_tests(tests, begin_folder, end_folder);
}
