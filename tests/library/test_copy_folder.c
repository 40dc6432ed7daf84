/* Tests the folder of private copies: creation, removal and place. */
#include "copied.h"

#include "tests/support/skipping.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

/* --- The folder ------------------------------------------------------------------------------ */

/* Runs WHAT in a child process, which exits with its result. Returns the status. */
static int in_child(int (*what)(const char *argument), const char *argument)
{
    pid_t child = fork();
    int status;

    if (child == 0)
        exit(what(argument));
    assert_order(child, >, 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int open_and_exit(const char *path)
{
    struct th_library *library = open_private(path);

    return library ? 0 : 1;
}

static int open_and_die(const char *path)
{
    open_private(path);
    raise(SIGKILL);
    return 0;
}

/* Creates a place for the folder and makes it $TMPDIR. */
static const char *set_place(const char *name)
{
    static char *place;

    th_free(place);
    place = th_strdup(in_folder(name));
    assert_int_equal(mkdir(place, 0755), 0);
    setenv("TMPDIR", place, 1);
    return place;
}

static void restore_place(const char *before)
{
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
}

static void the_folder_of_copies_is_removed_at_exit(void **state)
{
    const char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    const char *place = set_place("exit");

    (void)state;
    make_number("exits.so", 1);
    assert_int_equal(in_child(open_and_exit, in_folder("exits.so")), 0);
    assert_int_equal(files_in(place), 0);
    restore_place(before);
    free((char *)before);
}

/* A killed host left its folder behind; a living host keeps its own. */
static void folders_of_killed_hosts_are_removed_by_the_next_host(void **state)
{
    const char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    const char *place = set_place("dead");
    int ready[2], over[2];
    pid_t child;
    char byte;

    (void)state;
    make_number("dies.so", 1);
    assert_int_equal(in_child(open_and_die, in_folder("dies.so")), 128 + SIGKILL);
    assert_int_equal(in_child(open_and_die, in_folder("dies.so")), 128 + SIGKILL);
    assert_int_equal(files_in(place), 1); /* the second host has removed the first one's folder */
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(over), 0);
    child = fork();
    if (child == 0) {
        struct th_library *library = open_private(in_folder("dies.so"));
        close(over[1]);
        byte = files_in(place) == 1;
        (void)!write(ready[1], &byte, 1);
        (void)!read(over[0], &byte, 1);
        byte = access(th_library_file(library), R_OK) == 0;
        (void)!write(ready[1], &byte, 1);
        exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    assert_int_equal(in_child(open_and_exit, in_folder("dies.so")), 0);
    assert_int_equal(write(over[1], "", 1), 1);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 1); /* the living host's folder was not removed */
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(files_in(place), 0);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(over[i]);
    }
    restore_place(before);
    free((char *)before);
}

static void a_child_process_does_not_remove_its_parent_s_folder(void **state)
{
    struct th_library *library;
    char *copies;

    (void)state;
    make_number("parent.so", 4);
    library = open_private(in_folder("parent.so"));
    copies = folder_of(library);
    assert_int_equal(in_child(open_and_exit, in_folder("parent.so")), 0);
    assert_int_equal(files_in(copies), 1);
    assert_int_equal(access(th_library_file(library), R_OK), 0);
    th_library_release(library);
    assert_int_equal(files_in(copies), 0);
    th_free(copies);
}

static void a_removed_folder_of_copies_is_created_again(void **state)
{
    struct th_library *library, *other;
    char *copies;

    (void)state;
    make_number("again.so", 4);
    library = open_private(in_folder("again.so"));
    copies = folder_of(library);
    run("rm -r '%s'", copies);
    other = open_private(in_folder("again.so"));
    assert_int_equal(access(th_library_file(other), R_OK), 0);
    assert_int_equal(number_of(library), 4);
    th_library_release(library);
    th_library_release(other);
    th_free(copies);
}

/* --- Places without a folder ------------------------------------------------------------------ */

enum { CANNOT_MOUNT = 77 };

/* Mounts a file system that only the child sees. */
static bool mount_at(const char *place, unsigned long flags, const char *options)
{
    return mount("tracehost", place, "tmpfs", flags, options) == 0;
}

static int nowhere_to_run_code(const char *path)
{
    struct th_library *library;

    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_REC | MS_PRIVATE, "") != 0 ||
        !mount_at(getenv("TMPDIR"), MS_NOEXEC, ""))
        return CANNOT_MOUNT;
    library = open_private(path); /* the host falls back to /tmp */
    assert_null(strstr(th_library_file(library), getenv("TMPDIR")));
    th_library_release(library);
    return 0;
}

static int no_place_at_all(const char *path)
{
    int fd = open(path, O_RDONLY);
    struct th_library *library;
    char *elsewhere;

    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_REC | MS_PRIVATE, "") != 0 ||
        !mount_at("/tmp", MS_NOEXEC, ""))
        return CANNOT_MOUNT;
    setenv("TMPDIR", "/nowhere/at/all", 1);
    unsetenv("XDG_RUNTIME_DIR");
    elsewhere = th_printf("/proc/self/fd/%d", fd);
    assert_int_equal(th_library_open_copy(elsewhere, &library), TH_FAILED);
    assert_error_has("/nowhere/at/all (No such file or directory)");
    assert_error_has("/tmp (mounted noexec)");
    assert_error_has("set $TMPDIR");
    assert_error_has(elsewhere);
    th_free(elsewhere);
    return 0;
}

static int too_little_room(const char *path)
{
    int fd = open(path, O_RDONLY);
    struct th_library *library;
    char *elsewhere, *copies;

    if (unshare(CLONE_NEWNS) != 0 || mount("", "/", "", MS_REC | MS_PRIVATE, "") != 0 ||
        !mount_at(getenv("TMPDIR"), 0, "size=8k"))
        return CANNOT_MOUNT;
    elsewhere = th_printf("/proc/self/fd/%d", fd);
    assert_int_equal(th_library_open_copy(elsewhere, &library), TH_FAILED);
    assert_error_has(": No space left on device; set $TMPDIR");
    assert_error_has("set $TMPDIR");
    copies = th_printf("ls '%s'/*/ | grep . && exit 1 || exit 0", "%s");
    run(copies, getenv("TMPDIR"));
    th_free(copies);
    th_free(elsewhere);
    return 0;
}

static void test_in_child(int (*what)(const char *path), const char *name)
{
    char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    int status;

    make_number("placed.so", 1);
    set_place(name);
    status = in_child(what, in_folder("placed.so"));
    restore_place(before);
    free(before);
    if (status == CANNOT_MOUNT)
        skip_because("nothing can be mounted");
    assert_int_equal(status, 0);
}

static void a_noexec_temporary_folder_is_skipped(void **state)
{
    (void)state;
    test_in_child(nowhere_to_run_code, "noexec");
}

static void the_error_lists_each_folder_that_cannot_be_used(void **state)
{
    (void)state;
    test_in_child(no_place_at_all, "none");
}

static void a_full_file_system_is_reported_and_no_copy_is_left(void **state)
{
    (void)state;
    test_in_child(too_little_room, "full");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_folder_of_copies_is_removed_at_exit),
        cmocka_unit_test(folders_of_killed_hosts_are_removed_by_the_next_host),
        cmocka_unit_test(a_child_process_does_not_remove_its_parent_s_folder),
        cmocka_unit_test(a_removed_folder_of_copies_is_created_again),
        cmocka_unit_test(a_noexec_temporary_folder_is_skipped),
        cmocka_unit_test(the_error_lists_each_folder_that_cannot_be_used),
        cmocka_unit_test(a_full_file_system_is_reported_and_no_copy_is_left),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
