/* Tests libraries opened from private copies, which changes of the original do not affect. */
#include "copied.h"

#include "host/library/library_internal.h"

#include <dlfcn.h>
#include <pthread.h>

/* --- Copies ---------------------------------------------------------------------------------- */

static void each_private_copy_is_a_separate_library(void **state)
{
    struct th_library *in_place, *libraries[3];

    (void)state;
    make_number("own.so", 5);
    in_place = open_library(in_folder("own.so"));
    for (int i = 0; i < 3; i++) {
        libraries[i] = open_private(in_folder("own.so"));
        assert_string_equal(th_library_path(libraries[i]), in_folder("own.so"));
        assert_string_not_equal(th_library_file(libraries[i]), in_folder("own.so"));
        assert_non_null(strstr(th_library_file(libraries[i]), "/own."));
        assert_true(is_mapped(th_library_file(libraries[i])));
        assert_int_equal(th_library_load(libraries[i], NULL, th_small(0)), TH_OK);
        assert_int_equal(number_of(libraries[i]), 5);
    }
    assert_int_equal(number_of(libraries[0]), 6);
    assert_int_equal(number_of(in_place), 5);
    assert_string_equal(th_library_file(in_place), in_folder("own.so"));
    assert_ptr_equal(open_library(in_folder("own.so")), in_place);
    for (int i = 0; i < 3; i++)
        th_library_release(libraries[i]);
    th_library_release(in_place);
    th_library_release(in_place);
    assert_false(th_library_is_open(in_folder("own.so")));
}

static struct th_library *open_replaceable(const char *path, bool again)
{
    struct th_library *library;

    if (th_library_open_replaceable(path, again, &library) != TH_OK)
        fail_msg("%s", error_text());
    return library;
}

static void a_replaceable_library_is_shared_until_the_file_changes(void **state)
{
    struct th_library *first, *second, *third;

    (void)state;
    make_number("changed.so", 1);
    first = open_replaceable(in_folder("changed.so"), false);
    assert_string_not_equal(th_library_file(first), in_folder("changed.so"));
    th_library_release(open_private(in_folder("changed.so"))); /* no other open shares this copy */
    assert_ptr_equal(open_replaceable(in_folder("changed.so"), false), first);
    th_library_release(first);

    /* Writes into the file itself, as cp does. */
    make_number("other.so", 20);
    copy_file(in_folder("other.so"), in_folder("changed.so"));
    second = open_replaceable(in_folder("changed.so"), false);
    assert_ptr_not_equal(second, first);
    assert_int_equal(number_of(first), 1);
    assert_int_equal(number_of(second), 20);

    third = open_replaceable(in_folder("changed.so"), true);
    assert_ptr_not_equal(third, second);
    assert_ptr_equal(open_replaceable(in_folder("changed.so"), false), third);
    th_library_release(third);
    th_library_release(third);
    th_library_release(second);
    th_library_release(first);
    assert_false(th_library_is_open(in_folder("changed.so")));
}

static void a_private_copy_is_removed_with_its_library(void **state)
{
    struct th_library *library;
    char *file, *copies;
    struct stat st;

    (void)state;
    make_number("gone.so", 1);
    library = open_private(in_folder("gone.so"));
    file = th_strdup(th_library_file(library));
    copies = folder_of(library);
    assert_int_equal(stat(copies, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(files_in(copies), 1);
    th_library_release(library);
    assert_int_equal(files_in(copies), 0);
    assert_false(is_mapped(file));
    th_free(copies);
    th_free(file);
}

static void a_refused_library_leaves_no_copy(void **state)
{
    struct th_library *library;
    char *copies;

    (void)state;
    make_number("good.so", 1);
    library = open_private(in_folder("good.so"));
    copies = folder_of(library);
    refuse(in_folder("missing.so"), TH_REFUSED, "cannot read the file");
    refuse(folder, TH_REFUSED, "the path is a folder");
    write_file(in_folder("text.so"), "text", 4);
    refuse(in_folder("text.so"), TH_REFUSED, "");
    compile(in_folder("null.so"), "-shared", "void *nif_init(void) { return 0; }");
    refuse(in_folder("null.so"), TH_REFUSED, "nif_init() returned NULL");
    compile(in_folder("lacks.so"), "-shared",
            "void lacking(void); void *nif_init(void) { lacking(); return 0; }");
    refuse(in_folder("lacks.so"), TH_REFUSED, "undefined symbol: lacking");
    assert_null(strstr(error_text(), copies)); /* messages name the original */
    assert_int_equal(files_in(copies), 1);
    th_free(copies);
    th_library_release(library);
}

/* --- Changes of the original ------------------------------------------------------------------ */

/* Code that has not run yet, so the kernel has not read it from the file yet. */
#define LARGE_FUNCTION                                                 \
    "static const char large[1 << 20] = {1};\n"                        \
    "__attribute__((used)) static int look(void)\n"                    \
    "{ int n = 0; for (int i = 0; i < (int)sizeof large; i += 4096)\n" \
    "  n += ((const volatile char *)large)[i]; return n; }\n"

static int look(struct th_library *library)
{
    return (int)((int (*)(void))(uintptr_t)dlsym(library->handle, "look_everywhere"))();
}

static void a_changed_original_does_not_affect_a_private_copy(void **state)
{
    static const char *const deeds[] = {
        ": > '%s'",
        "truncate -s 5000 '%s'",
        "dd if=/dev/zero of='%s' bs=4096 count=200 conv=notrunc status=none",
        "rm '%s'",
        "cp /bin/sh '%s'",
    };

    (void)state;
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        struct th_library *library;
        compile(in_folder("harmed.so"), "-shared -DNUMBER=3",
                NUMBERED LARGE_FUNCTION "int look_everywhere(void) { return look(); }\n");
        library = open_private(in_folder("harmed.so"));
        run(deeds[i], in_folder("harmed.so"));
        assert_int_equal(th_library_load(library, NULL, th_small(0)), TH_OK);
        assert_int_equal(number_of(library), 3);
        assert_int_equal(look(library), 1);
        assert_false(th_library_examination_is_current(th_library_examination(library)));
        th_library_release(library);
        unlink(in_folder("harmed.so"));
    }
}

static void a_truncated_original_is_refused(void **state)
{
    (void)state;
    make_number("cut.so", 1);
    run("truncate -s 8000 '%s'", in_folder("cut.so"));
    refuse(in_folder("cut.so"), TH_REFUSED, "the file is ");
    run(": > '%s'", in_folder("cut.so"));
    refuse(in_folder("cut.so"), TH_REFUSED, "the file is ");
}

/* --- Changes during the copy ------------------------------------------------------------------ */

enum { LARGE = 64 << 20 };

static char *watched; /* the folder of copies */
static void (*deed)(const char *path);

/* True once a copy exists that is not complete. */
static bool is_being_copied(void)
{
    DIR *all = opendir(watched);
    struct dirent *entry;
    bool found = false;
    struct stat st;

    assert_non_null(all);
    while ((entry = readdir(all)) && !found)
        found = strncmp(entry->d_name, "large.", 6) == 0 &&
                fstatat(dirfd(all), entry->d_name, &st, 0) == 0 && st.st_size > 0 &&
                st.st_size < LARGE / 2;
    closedir(all);
    return found;
}

static _Atomic bool copying;

static void *do_it_meanwhile(void *path)
{
    bool seen = false;

    while (copying && !(seen = is_being_copied()))
        ;
    if (seen)
        deed(path);
    return seen ? path : NULL;
}

static void cut_half(const char *path)
{
    assert_int_equal(truncate(path, LARGE / 2), 0);
}

static void cut_all(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void write_in_place(const char *path)
{
    int fd = open(path, O_WRONLY);

    assert_int_equal(pwrite(fd, "more", 4, LARGE - 4), 4);
    close(fd);
}

static void replace(const char *path)
{
    copy_file(in_folder("small.so"), in_folder("new.so"));
    assert_int_equal(rename(in_folder("new.so"), path), 0);
}

static void vanish(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

/* Repeats until the change comes in time; the copy takes about 10 ms. */
static void harm_while_copied(void (*what)(const char *path))
{
    char *path = th_strdup(in_folder("large.so"));
    bool in_time = false;

    deed = what;
    for (int i = 0; i < 200 && !in_time; i++) {
        struct th_library *library;
        enum th_status status;
        pthread_t thread;
        void *done;

        copy_file(in_folder("small.so"), path);
        assert_int_equal(truncate(path, LARGE), 0);
        copying = true;
        assert_int_equal(pthread_create(&thread, NULL, do_it_meanwhile, path), 0);
        status = th_library_open_copy(path, &library);
        copying = false;
        pthread_join(thread, &done);
        in_time = status != TH_OK;
        assert_true(!in_time || done);
        if (!in_time)
            th_library_release(library);
        unlink(path);
    }
    assert_true(in_time);
    assert_error_has("the file changed while it was read");
    assert_error_has("large.so was refused");
    th_free(path);
}

static void a_file_that_changes_while_it_is_copied_is_refused(void **state)
{
    struct th_library *library;

    (void)state;
    make_number("small.so", 7);
    library = open_private(in_folder("small.so"));
    watched = folder_of(library);
    harm_while_copied(cut_half);
    harm_while_copied(cut_all);
    harm_while_copied(write_in_place);
    harm_while_copied(replace);
    harm_while_copied(vanish);
    assert_int_equal(files_in(watched), 1);
    assert_int_equal(number_of(library), 7);
    th_library_release(library);
    th_free(watched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_private_copy_is_a_separate_library),
        cmocka_unit_test(a_replaceable_library_is_shared_until_the_file_changes),
        cmocka_unit_test(a_private_copy_is_removed_with_its_library),
        cmocka_unit_test(a_refused_library_leaves_no_copy),
        cmocka_unit_test(a_changed_original_does_not_affect_a_private_copy),
        cmocka_unit_test(a_truncated_original_is_refused),
        cmocka_unit_test(a_file_that_changes_while_it_is_copied_is_refused),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
