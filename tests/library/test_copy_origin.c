/* Tests the dependencies that private copies find beside their originals. */
#include "copied.h"

#include <dlfcn.h>

#define DEPENDS                                                                        \
    "#include <erl_nif.h>\n"                                                           \
    "extern int offset(void);\n"                                                       \
    "static ERL_NIF_TERM number(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)\n" \
    "{ (void)argc, (void)argv; return enif_make_int(env, NUMBER + offset()); }\n"      \
    "static ErlNifFunc functions[] = {{\"number\", 0, number, 0}};\n"                  \
    "ERL_NIF_INIT(m, functions, NULL, NULL, NULL, NULL)\n"

static void run_in_folder(const char *format)
{
    run(format, folder);
}

/* Compiles FOLDER/WHERE/liboffset.so, whose offset() returns ANSWER, then one more in each call. */
static void make_offset(const char *where, int answer, const char *flags)
{
    char *source = th_printf("static int count = %d; int offset(void) { return count++; }", answer);
    char *path = th_printf("%s/liboffset.so", where);
    char *shared = th_printf("-shared %s", flags);

    compile(in_folder(path), shared, source);
    th_free(shared);
    th_free(path);
    th_free(source);
}

/* Compiles NAME, which depends on liboffset.so. FLAGS tell the linker how to find it. */
static void make_depending(const char *name, const char *where, const char *flags)
{
    char *shared = th_printf("-shared -DNUMBER=1000 -L'%s/%s' %s", folder, where, flags);

    compile(in_folder(name), shared, DEPENDS);
    th_free(shared);
}

static char *origin_of(const char *symbol_of)
{
    struct th_buffer maps = {0};
    char *line, *end, *found = NULL;

    read_file("/proc/self/maps", &maps);
    line = strstr(th_buffer_text(&maps), symbol_of);
    if (line) {
        while (line > th_buffer_text(&maps) && line[-1] != ' ')
            line--;
        end = strchr(line, '\n');
        found = th_printf("%.*s", (int)(end - line), line);
    }
    th_buffer_free(&maps);
    return found;
}

/* Opens the library twice: its dependency is loaded once, from WHERE. */
static void expect_offset(const char *name, const char *where, int answer)
{
    struct th_library *first = open_private(in_folder(name)), *second;
    char *copies = folder_of(first);
    char *expected = th_printf("%s/%s/liboffset.so", folder, where);
    char *mapped = origin_of("liboffset.so");

    assert_non_null(mapped);
    assert_string_equal(mapped, expected);
    assert_int_equal(number_of(first), 1000 + answer);
    second = open_private(in_folder(name));
    assert_int_equal(number_of(second), 1000 + answer + 1);
    th_library_release(first);
    assert_int_equal(number_of(second), 1000 + answer + 2);
    th_library_release(second);
    assert_false(is_mapped("liboffset.so"));
    assert_false(is_mapped("depends"));
    assert_int_equal(files_in(copies), 0);
    th_free(mapped);
    th_free(expected);
    th_free(copies);
}

static void a_copy_finds_dependencies_beside_the_original(void **state)
{
    (void)state;
    run_in_folder("mkdir '%s/beside' '%1$s/other'");
    make_offset("beside", 1, "");
    make_depending("beside/depends.so", "beside", "-loffset -Wl,-rpath,'$ORIGIN'");
    expect_offset("beside/depends.so", "beside", 1);
    make_depending("beside/depends.so", "beside",
                   "-loffset -Wl,-rpath,'${ORIGIN}' -Wl,--disable-new-dtags");
    expect_offset("beside/depends.so", "beside", 1);
    make_offset("other", 5, "-Wl,-soname,liboffset.so");
    make_depending("beside/depends.so", "other",
                   "-loffset -Wl,-rpath,'/nowhere:$ORIGIN/../other:$ORIGIN'");
    expect_offset("beside/depends.so", "other", 5);
}

/* Both dependencies are beside the original; only the library has an rpath. */
static void a_copy_finds_dependencies_of_its_dependencies(void **state)
{
    (void)state;
    run_in_folder("mkdir '%s/deep'");
    make_offset("deep", 7, "");
    compile(in_folder("deep/libbetween.so"), "-shared", "int between;");
    run_in_folder("cd '%s/deep' && echo 'int between;' | gcc -shared -fPIC -Wl,--no-as-needed -L. "
                  "-loffset -x c - -o libbetween.so");
    make_depending("deep/depends.so", "deep",
                   "-Wl,--no-as-needed -lbetween -Wl,--disable-new-dtags -Wl,-rpath,'$ORIGIN' "
                   "-Wl,--unresolved-symbols=ignore-all");
    expect_offset("deep/depends.so", "deep", 7);
}

/* The original and its copy share the dependency. */
static void a_dependency_in_memory_is_not_opened_again(void **state)
{
    struct th_library *in_place, *copy;

    (void)state;
    run_in_folder("mkdir '%s/shared'");
    make_offset("shared", 10, "");
    make_depending("shared/depends.so", "shared", "-loffset -Wl,-rpath,'$ORIGIN'");
    in_place = open_library(in_folder("shared/depends.so"));
    copy = open_private(in_folder("shared/depends.so"));
    assert_int_equal(number_of(in_place), 1010);
    assert_int_equal(number_of(copy), 1011);
    th_library_release(in_place);
    assert_int_equal(number_of(copy), 1012);
    th_library_release(copy);
    assert_false(is_mapped("liboffset.so"));
}

/* A dependency is not searched beside the copy, where other users may have put a file. */
static void a_missing_dependency_is_named_with_the_searched_folders(void **state)
{
    struct th_library *library;
    char *copies;

    (void)state;
    make_number("any.so", 1);
    library = open_private(in_folder("any.so"));
    copies = folder_of(library);
    run_in_folder("mkdir '%s/gone'");
    make_offset("gone", 1, "");
    make_depending("gone/depends.so", "gone", "-loffset -Wl,-rpath,'$ORIGIN/../gone'");
    run_in_folder("rm '%s/gone/liboffset.so'");
    refuse(in_folder("gone/depends.so"), TH_REFUSED,
           "liboffset.so: cannot open shared object file");
    assert_error_has("searches for it in");
    assert_error_has(in_folder("gone/../gone"));
    assert_int_equal(files_in(copies), 1);
    th_library_release(library);
    th_free(copies);
}

static void an_origin_folder_with_a_colon_is_refused(void **state)
{
    (void)state;
    run_in_folder("mkdir '%s/with:colon'");
    make_offset("with:colon", 1, "");
    make_depending("with:colon/depends.so", "with:colon", "-loffset -Wl,-rpath,'$ORIGIN'");
    refuse(in_folder("with:colon/depends.so"), TH_REFUSED, "must not contain ':'");
}

static void a_needed_name_that_contains_origin_is_refused(void **state)
{
    (void)state;
    run_in_folder("mkdir '%s/named'");
    make_offset("named", 1, "-Wl,-soname,'$ORIGIN/liboffset.so'");
    make_depending("named/depends.so", "named", "-loffset");
    refuse(in_folder("named/depends.so"), TH_REFUSED, "link it with -rpath '$ORIGIN' instead");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_finds_dependencies_beside_the_original),
        cmocka_unit_test(a_copy_finds_dependencies_of_its_dependencies),
        cmocka_unit_test(a_dependency_in_memory_is_not_opened_again),
        cmocka_unit_test(a_missing_dependency_is_named_with_the_searched_folders),
        cmocka_unit_test(an_origin_folder_with_a_colon_is_refused),
        cmocka_unit_test(a_needed_name_that_contains_origin_is_refused),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
