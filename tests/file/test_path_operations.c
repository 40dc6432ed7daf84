/* Tests operations by path: the pool runs each in one folder, and the test makes its system call in
 * an equal folder. Results and final content must be the same. */
#include "carried_out.h"

#include "host/term/term.h"
#include "tests/support/skipping.h"

#include <dirent.h>
#include <sys/stat.h>

/* --- Two folders ------------------------------------------------------------------------------ */

/* Creates the initial content of both folders. */
static void fill(const char *name)
{
    char path[PATH_MAX];

#define IN(what) (snprintf(path, sizeof path, "%s/" what, in_folder(name)), path)
    assert_int_equal(mkdir(in_folder(name), 0777), 0);
    put_file(IN("file"), "content\n");
    put_file(IN("other"), "other\n");
    assert_int_equal(mkdir(IN("empty"), 0777), 0);
    assert_int_equal(mkdir(IN("full"), 0777), 0);
    put_file(IN("full/inside"), "");
    assert_int_equal(symlink("file", IN("symbolic")), 0);
    assert_int_equal(symlink("nowhere", IN("dangling")), 0);
#undef IN
}

static void print_one(struct th_buffer *out, const char *path, const char *name)
{
    char target[PATH_MAX] = "";
    struct stat info;

    assert_int_equal(lstat(path, &info), 0);
    if (S_ISLNK(info.st_mode))
        assert_order(readlink(path, target, sizeof target - 1), >, 0);
    th_buffer_printf(out, "%s %o %lu %s %s\n", name, info.st_mode, (unsigned long)info.st_nlink,
                     S_ISREG(info.st_mode) ? content_of(path) : "", target);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Prints the names and content of a folder, two levels deep, sorted. */
static void print_folder(struct th_buffer *out, const char *path, int level)
{
    char *names[64], inside[2 * PATH_MAX];
    size_t count = 0;
    DIR *open = opendir(path);
    const struct dirent *entry;

    assert_non_null(open);
    while ((entry = readdir(open)))
        if (entry->d_name[0] != '.')
            names[count++] = th_strdup(entry->d_name);
    closedir(open);
    qsort(names, count, sizeof names[0], by_name);
    for (size_t i = 0; i < count; i++) {
        struct stat info;
        snprintf(inside, sizeof inside, "%s/%s", path, names[i]);
        print_one(out, inside, names[i]);
        if (level < 2 && lstat(inside, &info) == 0 && S_ISDIR(info.st_mode))
            print_folder(out, inside, level + 1);
        th_free(names[i]);
    }
}

static void assert_alike(const char *what)
{
    struct th_buffer ours = {0}, theirs = {0};

    print_folder(&ours, in_folder("ours"), 1);
    print_folder(&theirs, in_folder("theirs"), 1);
    if (strcmp(th_buffer_text(&ours), th_buffer_text(&theirs)) != 0)
        fail_msg("after %s:\n%s\nand by the call:\n%s", what, (char *)ours.data,
                 (char *)theirs.data);
    th_buffer_free(&ours);
    th_buffer_free(&theirs);
}

/* --- Operations that change names ------------------------------------------------------------- */

static long call_mkdir(const char *path, const char *other)
{
    (void)other;
    return mkdir(path, 0777);
}

static long call_unlink(const char *path, const char *other)
{
    (void)other;
    return unlink(path);
}

static long call_rmdir(const char *path, const char *other)
{
    (void)other;
    return rmdir(path);
}

static long call_rename(const char *path, const char *other)
{
    return rename(path, other);
}

static long call_link(const char *path, const char *other)
{
    return link(path, other);
}

static long call_symlink(const char *path, const char *other)
{
    return symlink(path, other);
}

static const struct {
    enum th_file_command command;
    long (*call)(const char *path, const char *other);
    bool is_text; /* the first path may be any text */
    const char *path, *other;
    const char *answer;
} changes[] = {
    {TH_FILE_MKDIR, call_mkdir, false, "new", NULL, "ok"},
    {TH_FILE_MKDIR, call_mkdir, false, "file", NULL, "{error,eexist}"},
    {TH_FILE_MKDIR, call_mkdir, false, "nowhere/new", NULL, "{error,enoent}"},
    {TH_FILE_MKDIR, call_mkdir, false, "file/new", NULL, "{error,enotdir}"},
    {TH_FILE_DELETE, call_unlink, false, "other", NULL, "ok"},
    {TH_FILE_DELETE, call_unlink, false, "symbolic", NULL, "ok"},
    {TH_FILE_DELETE, call_unlink, false, "none", NULL, "{error,enoent}"},
    {TH_FILE_DELETE, call_unlink, false, "empty", NULL, "{error,eisdir}"},
    {TH_FILE_RMDIR, call_rmdir, false, "empty", NULL, "ok"},
    {TH_FILE_RMDIR, call_rmdir, false, "full", NULL, "{error,enotempty}"},
    {TH_FILE_RMDIR, call_rmdir, false, "file", NULL, "{error,enotdir}"},
    {TH_FILE_RENAME, call_rename, false, "file", "renamed", "ok"},
    {TH_FILE_RENAME, call_rename, false, "file", "other", "ok"},
    {TH_FILE_RENAME, call_rename, false, "full", "moved", "ok"},
    {TH_FILE_RENAME, call_rename, false, "old-name", "new-name", "{error,enoent}"},
    {TH_FILE_RENAME, call_rename, false, "file", "full", "{error,eisdir}"},
    {TH_FILE_RENAME, call_rename, false, "empty", "full", "{error,enotempty}"},
    {TH_FILE_RENAME, call_rename, false, "full", "full/inside/x", "{error,enotdir}"},
    {TH_FILE_LINK, call_link, false, "file", "linked", "ok"},
    {TH_FILE_LINK, call_link, false, "file", "other", "{error,eexist}"},
    {TH_FILE_LINK, call_link, false, "none", "linked", "{error,enoent}"},
    {TH_FILE_LINK, call_link, false, "full", "linked", "{error,eperm}"},
    {TH_FILE_SYMLINK, call_symlink, true, "any text", "pointing", "ok"},
    {TH_FILE_SYMLINK, call_symlink, true, "file", "other", "{error,eexist}"},
    {TH_FILE_SYMLINK, call_symlink, true, "", "pointing", "{error,enoent}"},
};

static void changes_of_names_equal_the_effect_of_system_calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char ours[2][PATH_MAX] = {"", ""}, theirs[2][PATH_MAX] = {"", ""};
        const char *const names[2] = {changes[i].path, changes[i].other};
        char *answer;

        fill("ours");
        fill("theirs");
        for (int k = 0; k < 2 && names[k]; k++) {
            bool is_text = k == 0 && changes[i].is_text;
            snprintf(ours[k], PATH_MAX, "%s%s", is_text ? "" : in_folder("ours/"), names[k]);
            snprintf(theirs[k], PATH_MAX, "%s%s", is_text ? "" : in_folder("theirs/"), names[k]);
        }
        answer = th_strdup(by_path(changes[i].command, ours[0], names[1] ? ours[1] : NULL));
        assert_string_equal(answer, changes[i].answer);
        assert_string_equal(answer, answer_of(changes[i].call(theirs[0], theirs[1])));
        assert_alike(th_file_rows[changes[i].command].name);
        th_free(answer);
        answer = th_printf("rm -rf '%s' '%s'", in_folder("ours"), in_folder("theirs"));
        assert_int_equal(system(answer), 0);
        th_free(answer);
    }
}

/* --- Information ------------------------------------------------------------------------------ */

static void folders_are_listed(void **state)
{
    const char *listed;

    (void)state;
    fill("listed");
    listed = by_path(TH_FILE_READDIR, in_folder("listed"), NULL);
    assert_non_null(strstr(listed, "<<\"file\">>"));
    assert_non_null(strstr(listed, "<<\"dangling\">>"));
    assert_non_null(strstr(listed, "<<\"full\">>"));
    assert_null(strstr(listed, "<<\".\">>"));
    assert_int_equal(strlen(listed),
                     strlen("{ok,[<<\"file\">>,<<\"other\">>,<<\"empty\">>,<<\"full\">>,"
                            "<<\"symbolic\">>,<<\"dangling\">>]}"));
    assert_string_equal(by_path(TH_FILE_READDIR, in_folder("listed/empty"), NULL), "{ok,[]}");
    assert_string_equal(by_path(TH_FILE_READDIR, in_folder("none"), NULL), "{error,enoent}");
    assert_string_equal(by_path(TH_FILE_READDIR, in_folder("listed/file"), NULL),
                        "{error,enotdir}");
}

static void links_are_read(void **state)
{
    (void)state;
    assert_int_equal(symlink("somewhere else", in_folder("link")), 0);
    put_file(in_folder("no link"), "");
    assert_string_equal(by_path(TH_FILE_READLINK, in_folder("link"), NULL),
                        "{ok,<<\"somewhere else\">>}");
    assert_string_equal(by_path(TH_FILE_READLINK, in_folder("no link"), NULL), "{error,einval}");
    assert_string_equal(by_path(TH_FILE_READLINK, in_folder("none"), NULL), "{error,enoent}");
    assert_string_equal(by_path(TH_FILE_ALTNAME, in_folder("link"), NULL), "{error,enotsup}");
}

static void the_working_folder_is_read_and_changed(void **state)
{
    char before[PATH_MAX], now[PATH_MAX];
    char *expected;

    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    expected = th_printf("{ok,<<\"%s\">>}", before);
    assert_string_equal(by_path(TH_FILE_PWD, NULL, NULL), expected);
    th_free(expected);
    assert_string_equal(by_path(TH_FILE_CHDIR, in_folder("none"), NULL), "{error,enoent}");
    assert_string_equal(by_path(TH_FILE_CHDIR, folder, NULL), "ok");
    assert_non_null(getcwd(now, sizeof now));
    assert_string_equal(now, folder);
    expected = th_printf("{ok,<<\"%s\">>}", folder);
    assert_string_equal(by_path(TH_FILE_PWD, NULL, NULL), expected);
    th_free(expected);
    assert_int_equal(chdir(before), 0);
}

/* Returns the map for PATH from lstat(2). */
static char *info_of(const char *path, const char *type)
{
    struct stat info;

    assert_int_equal(lstat(path, &info), 0);
    return th_printf("{ok,#{size => %lld,type => %s,mode => %u,links => %lu,inode => %lu,"
                     "device => %lu,rdev => %lu,uid => %u,gid => %u,atime => %lld,"
                     "mtime => %lld,ctime => %lld}}",
                     (long long)info.st_size, type, info.st_mode, (unsigned long)info.st_nlink,
                     (unsigned long)info.st_ino, (unsigned long)info.st_dev,
                     (unsigned long)info.st_rdev, info.st_uid, info.st_gid,
                     (long long)info.st_atime, (long long)info.st_mtime, (long long)info.st_ctime);
}

/* Asserts that two texts are the same term, whatever the order of keys. */
static void assert_same_term(const char *a, const char *b)
{
    th_term first, second;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, a, strlen(a), &first), TH_OK);
    assert_int_equal(th_text_parse(&env, b, strlen(b), &second), TH_OK);
    if (!th_identical(first, second))
        fail_msg("%s\nis not\n%s", a, b);
    th_env_release(&env);
}

static void file_info_equals_the_result_of_lstat(void **state)
{
    static const struct {
        const char *path, *type;
    } files[] = {{"known/file", "regular"},
                 {"known/full", "directory"},
                 {"known/symbolic", "symlink"},
                 {"known/pipe", "other"}};

    (void)state;
    fill("known");
    assert_int_equal(mkfifo(in_folder("known/pipe"), 0600), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *expected = info_of(in_folder(files[i].path), files[i].type);
        assert_same_term(by_path(TH_FILE_LSTAT, in_folder(files[i].path), NULL), expected);
        th_free(expected);
    }
    assert_non_null(strstr(by_path(TH_FILE_LSTAT, "/dev/null", NULL), "type => device"));
    assert_string_equal(by_path(TH_FILE_LSTAT, in_folder("none"), NULL), "{error,enoent}");
}

static const char *write_info(const char *path, int64_t mode, int64_t uid, int64_t gid)
{
    struct th_file_operation *operation = th_file_operation_create(TH_FILE_WRITE_INFO);

    set_path_text(operation, 0, path);
    operation->given[0] = mode;
    operation->given[1] = uid;
    operation->given[2] = gid;
    return wait_for(operation);
}

static void file_info_is_written(void **state)
{
    const char *path = in_folder("moded");
    struct stat info;

    (void)state;
    put_file(path, "");
    assert_string_equal(write_info(path, 0640, -1, -1), "ok");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_string_equal(write_info(path, -1, getuid(), getgid()), "ok");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(info.st_uid, getuid());
    assert_string_equal(write_info(path, 0600, (int64_t)1 << 32, -1), "{error,einval}");
    assert_string_equal(write_info(in_folder("none"), 0600, -1, -1), "{error,enoent}");
    if (getuid() == 0 && emulated()) {
        print_message("# skipped: the user namespace has one user\n");
    } else if (getuid() == 0) {
        assert_string_equal(write_info(path, 04711, 12, 34), "ok");
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_uid, 12);
        assert_int_equal(info.st_gid, 34);
        assert_int_equal(info.st_mode & 07777, 04711);
    }
}

/* --- Whole files ------------------------------------------------------------------------------ */

static void whole_files_are_read(void **state)
{
    FILE *version = fopen("/proc/version", "r");
    char text[4096] = "", *expected;

    (void)state;
    put_file(in_folder("whole"), "two\nlines\n");
    put_file(in_folder("nothing"), "");
    assert_string_equal(by_path(TH_FILE_READ_FILE, in_folder("whole"), NULL),
                        "{ok,<<\"two\\nlines\\n\">>}");
    assert_string_equal(by_path(TH_FILE_READ_FILE, in_folder("nothing"), NULL), "{ok,<<>>}");
    assert_string_equal(by_path(TH_FILE_READ_FILE, in_folder("none"), NULL), "{error,enoent}");
    assert_string_equal(by_path(TH_FILE_READ_FILE, folder, NULL), "{error,eisdir}");
    assert_non_null(version); /* its reported size is 0 */
    assert_non_null(fgets(text, sizeof text, version));
    fclose(version);
    text[strlen(text) - 1] = '\0';
    expected = th_printf("{ok,<<\"%s\\n\">>}", text);
    assert_string_equal(by_path(TH_FILE_READ_FILE, "/proc/version", NULL), expected);
    th_free(expected);
}

/* --- Paths ------------------------------------------------------------------------------------ */

/* Returns the path that the term TEXT names; NULL: none. */
static const char *path_of(const char *text)
{
    static char path[256];
    struct th_file_operation *operation = th_file_operation_create(TH_FILE_LSTAT);
    th_term term;
    th_env env;
    bool good;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, text, strlen(text), &term), TH_OK);
    good = th_file_set_path(operation, 0, term);
    if (good)
        snprintf(path, sizeof path, "%s", operation->paths[0]);
    th_file_operation_drop(operation);
    th_env_release(&env);
    return good ? path : NULL;
}

static void paths_are_binaries_or_lists_of_characters(void **state)
{
    (void)state;
    assert_string_equal(path_of("<<\"a/b\">>"), "a/b");
    assert_string_equal(path_of("<<255,254>>"), "\xff\xfe");
    assert_string_equal(path_of("\"a/b\""), "a/b");
    assert_string_equal(path_of("[97,228,8364,128512]"), "a\u00e4\u20ac\U0001f600");
    assert_string_equal(path_of("[<<\"a\">>,$/,<<\"b\">>]"), "a/b");
    assert_string_equal(path_of("[]"), "");
    assert_null(path_of("a"));
    assert_null(path_of("97"));
    assert_null(path_of("[97,0]"));
    assert_null(path_of("<<\"a\",0>>"));
    assert_null(path_of("[97|98]"));
    assert_null(path_of("[55296]"));
    assert_null(path_of("[1114112]"));
    assert_null(path_of("[-1]"));
    assert_null(path_of("<<1:3>>"));
    assert_null(path_of("[\"deep\"]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_of_names_equal_the_effect_of_system_calls),
        cmocka_unit_test(folders_are_listed),
        cmocka_unit_test(links_are_read),
        cmocka_unit_test(the_working_folder_is_read_and_changed),
        cmocka_unit_test(file_info_equals_the_result_of_lstat),
        cmocka_unit_test(file_info_is_written),
        cmocka_unit_test(whole_files_are_read),
        cmocka_unit_test(paths_are_binaries_or_lists_of_characters),
    };

    return cmocka_run_group_tests(tests, begin_folder, end_folder);
}
