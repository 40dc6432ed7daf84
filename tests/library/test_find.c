/* Tests the search for libraries: order, shadowing, messages if there is none. */
#include "files.h"

#include "host/library/library.h"

static void touch(const char *name)
{
    write_file(in_folder(name), "", 0);
}

static int make_folders(void **state)
{
    if (make_folder(state) != 0)
        return -1;
    for (const char *const *name = (const char *const[]){"a", "b", "c", "a/dir.so", NULL}; *name;
         name++)
        if (mkdir(in_folder(*name), 0777) != 0)
            return -1;
    touch("a/count.so");
    touch("b/count.so");
    touch("b/text.so");
    touch("c/text.so");
    touch("c/messages.so");
    touch("c/.hidden.so");
    touch("c/notes.txt");
    touch("c/.so");
    return 0;
}

/* Searches in -L a, then in $TRACEHOST_PATH with b, c and entries that are skipped. */
static void start(struct th_search *search)
{
    char *a = th_printf("%s/", in_folder("a"));
    char *path = th_printf(":%s::%s:%s", in_folder("b"), in_folder("c"), in_folder("b"));

    setenv("TRACEHOST_PATH", path, 1);
    th_library_search_init(search, TH_SEARCH_TRACERS, (const char *const[]){a, in_folder("a")}, 2);
    th_free(a);
    th_free(path);
}

static void assert_found(const struct th_search *search, const char *name, const char *path)
{
    char *found;

    assert_int_equal(th_library_search_find(search, name, &found), TH_OK);
    assert_string_equal(found, path);
    th_free(found);
}

static void search_folders_are_in_order_without_duplicates(void **state)
{
    struct th_search search;
    char *built_in = th_library_search_built_in_folder(TH_SEARCH_TRACERS);

    (void)state;
    start(&search);
    assert_int_equal(search.count, 4);
    assert_string_equal(search.folders[0].path, in_folder("a"));
    assert_string_equal(search.folders[1].path, in_folder("b"));
    assert_string_equal(search.folders[2].path, in_folder("c"));
    assert_string_equal(search.folders[3].path, built_in);
    assert_int_equal(search.folders[0].origin, TH_SEARCH_OPTION);
    assert_int_equal(search.folders[1].origin, TH_SEARCH_ENVIRONMENT);
    assert_int_equal(search.folders[3].origin, TH_SEARCH_BUILT_IN);
    th_library_search_free(&search);
    th_free(built_in);
}

static void the_built_in_folder_is_beside_the_program(void **state)
{
    char program[PATH_MAX] = {0};
    char *folder_path = th_library_search_built_in_folder(TH_SEARCH_TRACERS);

    (void)state;
    assert_order(readlink("/proc/self/exe", program, sizeof program - 1), >, 0);
    *strrchr(program, '/') = 0;
    *strrchr(program, '/') = 0; /* bin */
    assert_int_equal(strncmp(folder_path, program, strlen(program)), 0);
    assert_string_equal(folder_path + strlen(program), "/lib/tracehost/tracers");
    th_free(folder_path);
    folder_path = th_library_search_built_in_folder(TH_SEARCH_PLUGINS);
    assert_string_equal(folder_path + strlen(program), "/lib/tracehost/plugins");
    th_free(folder_path);
}

static void the_first_folder_that_has_the_library_is_used(void **state)
{
    struct th_search search;

    (void)state;
    start(&search);
    assert_found(&search, "count", in_folder("a/count.so"));
    assert_found(&search, "text", in_folder("b/text.so"));
    assert_found(&search, "messages", in_folder("c/messages.so"));
    th_library_search_free(&search);
}

static void a_name_with_a_slash_is_a_path(void **state)
{
    struct th_search search;
    char *found;

    (void)state;
    start(&search);
    assert_found(&search, in_folder("c/notes.txt"), in_folder("c/notes.txt"));
    assert_int_equal(th_library_search_find(&search, "./no/such.so", &found), TH_REFUSED);
    assert_error_has("cannot open ./no/such.so");
    assert_error_has("No such file");
    th_library_search_free(&search);
}

static void refuse(const char *name, const char *reason)
{
    struct th_search search;
    char *found;

    start(&search);
    assert_int_equal(th_library_search_find(&search, name, &found), TH_REFUSED);
    assert_error_has(reason);
    th_library_search_free(&search);
}

static void a_missing_library_is_reported_with_places_and_remedy(void **state)
{
    char *places = th_printf("looked for cuont.so in %s (-L), %s ($TRACEHOST_PATH), %s "
                             "($TRACEHOST_PATH) and ",
                             in_folder("a"), in_folder("b"), in_folder("c"));

    (void)state;
    refuse("cuont", "there is no library 'cuont'");
    refuse("cuont", places);
    refuse("cuont", "(built in)");
    refuse("cuont", "did you mean 'count'?");
    refuse("message", "did you mean 'messages'?");
    refuse("wholly_different", "-L DIR");
    refuse("SConstruct", "a path needs a '/': use ./SConstruct");
    refuse("dir", "there is no library 'dir'");
    refuse("", "there is no library ''");
    th_free(places);
}

static void the_list_marks_libraries_that_are_shadowed(void **state)
{
    static const struct {
        const char *name, *path;
        bool shadowed;
    } expected[] = {
        {"count", "a/count.so", false},       {"count", "b/count.so", true},
        {"messages", "c/messages.so", false}, {"text", "b/text.so", false},
        {"text", "c/text.so", true},
    };
    struct th_search search;
    struct th_found_list list;

    (void)state;
    start(&search);
    search.count = 3; /* without the built-in folders */
    th_library_search_list(&search, &list);
    assert_int_equal(list.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(list.items[i].name, expected[i].name);
        assert_string_equal(list.items[i].path, in_folder(expected[i].path));
        assert_int_equal(list.items[i].shadowed, expected[i].shadowed);
    }
    th_library_found_list_free(&list);
    search.count = 4;
    th_library_search_free(&search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_folders_are_in_order_without_duplicates),
        cmocka_unit_test(the_built_in_folder_is_beside_the_program),
        cmocka_unit_test(the_first_folder_that_has_the_library_is_used),
        cmocka_unit_test(a_name_with_a_slash_is_a_path),
        cmocka_unit_test(a_missing_library_is_reported_with_places_and_remedy),
        cmocka_unit_test(the_list_marks_libraries_that_are_shadowed),
    };

    return cmocka_run_group_tests(tests, make_folders, remove_folder);
}
