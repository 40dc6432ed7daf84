/* Tests the source lines of addresses, depending on compilers, linkers and strippers. */
#include "lines.h"

#include "tests/support/skipping.h"

#include <pthread.h>

/* --- Output of compilers ---------------------------------------------------------------------- */

static void compiled_with(const char *compiler, const char *flags, bool lines)
{
    struct th_library *library;

    make(compiler, flags, "compiled");
    library = open_named("compiled");
    expect_all(library, true, lines);
    expect_all(library, true, lines); /* known by now */
    th_library_release(library);
    unlink(in_folder("compiled.so"));
}

static const char *const with_lines[] = {
    "-g",
    "-g1",
    "-gdwarf-4",
    "-gdwarf-5",
    "-gdwarf-4 -gz",
    "-g -O0",
    "-g3 -ffunction-sections -Wl,--gc-sections",
    "-g -fpatchable-function-entry=16,8",
    "-gsplit-dwarf -g1",
};

static void lines_are_found_in_libraries_compiled_by_gcc(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof with_lines / sizeof with_lines[0]; i++)
        compiled_with("gcc", with_lines[i], true);
    compiled_with("gcc", "-g0", false);
}

static void lines_are_found_in_libraries_compiled_by_clang(void **state)
{
    (void)state;
    if (!there("clang"))
        skip_because("no clang");
    for (size_t i = 0; i < sizeof with_lines / sizeof with_lines[0]; i++)
        compiled_with("clang", with_lines[i], true);
    compiled_with("clang", "-gline-tables-only", true);
    compiled_with("clang", "-g0", false);
}

/* Paths are relative to the compiler's folder, which is / here, or to another one. */
static void a_source_path_is_relative_to_the_compiler_s_folder(void **state)
{
    static const struct {
        const char *flags;
        unsigned from;
    } cases[] = {{"", 1}, {"-fdebug-prefix-map=/=/elsewhere/ -fdebug-prefix-map=/tmp=/tmp", 0}};
    const char *top = getenv("SOURCE_DIR") ? getenv("SOURCE_DIR") : ".";

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct th_library *library;
        char *command = th_printf("cd '%s' && top=$PWD && cd / && gcc -g -shared -fPIC -O2 -w %s "
                                  "-I\"$top/plugin_api\" -o '%s' '%s'",
                                  top, cases[i].flags, in_folder("far.so"), in_folder("lines.c"));
        assert_int_equal(system(command), 0);
        library = open_named("far");
        assert_string_equal(look(library, function(library, "plain")).file,
                            in_folder("lines.c") + cases[i].from);
        th_library_release(library);
        th_free(command);
    }
}

/* --- Stripped libraries ----------------------------------------------------------------------- */

static void a_stripped_library_gives_an_offset_but_no_line(void **state)
{
    struct th_library *library;
    struct th_line line;

    (void)state;
    make("gcc", "-g -s", "stripped");
    library = open_named("stripped");
    line = look(library, function(library, "plain"));
    assert_null(line.function);
    assert_null(line.file);
    assert_order(line.offset, >, 0);
    expect(library, (uintptr_t)dlsym(library->handle, "nif_init"), "nif_init", 0);
    th_library_release(library);
}

static void a_debug_link_is_followed(void **state)
{
    static const char *const places[] = {"d.debug", ".debug/d.debug"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct th_library *library;
        make("gcc", "-g -Wl,--build-id=none", "d");
        do_there("mkdir -p .debug && objcopy --only-keep-debug d.so d.debug && "
                 "strip --strip-all d.so && objcopy --add-gnu-debuglink=d.debug d.so");
        if (i > 0)
            do_there("mv d.debug .debug/");
        library = open_named("d");
        expect_all(library, true, true);
        th_library_release(library);
        unlink(in_folder(places[i]));
        unlink(in_folder("d.so"));
    }
}

/* The link's checksum does not match the file of that name. */
static void a_debug_file_with_a_wrong_checksum_is_ignored(void **state)
{
    struct th_library *library;

    (void)state;
    make("gcc", "-g -Wl,--build-id=none", "e");
    do_there("objcopy --only-keep-debug e.so e.debug && strip --strip-all e.so && "
             "objcopy --add-gnu-debuglink=e.debug e.so && echo more >>e.debug");
    library = open_named("e");
    expect_all(library, false, false);
    th_library_release(library);
}

static void a_debug_file_is_found_by_a_matching_build_id(void **state)
{
    struct th_library *library;
    bool right;

    for (right = false;; right = true) {
        (void)state;
        make("gcc", "-g -Wl,--build-id=0xabcd0123", "b");
        do_there("mkdir -p debug/.build-id/ab && "
                 "objcopy --only-keep-debug b.so debug/.build-id/ab/cd0123.debug && "
                 "strip --strip-all b.so");
        if (!right) {
            make("gcc", "-g -Wl,--build-id=0xabcd0124", "other");
            do_there("cp other.so debug/.build-id/ab/cd0123.debug");
        }
        th_library_set_debug_folder(in_folder("debug"));
        library = open_named("b");
        expect_all(library, right, right);
        th_library_release(library);
        th_library_set_debug_folder("/usr/lib/debug");
        unlink(in_folder("b.so"));
        if (right)
            return;
    }
}

static void a_named_pipe_is_not_read_as_a_debug_file(void **state)
{
    struct th_library *library;

    (void)state;
    make("gcc", "-g -Wl,--build-id=none", "p");
    do_there("objcopy --only-keep-debug p.so p.debug && strip --strip-all p.so && "
             "objcopy --add-gnu-debuglink=p.debug p.so && rm p.debug && mkfifo p.debug");
    library = open_named("p");
    expect_all(library, false, false);
    th_library_release(library);
}

/* --- The right file --------------------------------------------------------------------------- */

/* Lines of the new file would be wrong for the old code. */
static void a_replaced_library_file_is_not_read_for_lines(void **state)
{
    struct th_library *library;

    (void)state;
    make("gcc", "-g", "old");
    make("gcc", "-g", "new");
    library = open_named("old");
    do_there("mv new.so old.so");
    expect_all(library, false, false);
    assert_null(look(library, function(library, "plain")).function);
    th_library_release(library);
}

static struct th_library *open_private(const char *name)
{
    char *path = th_printf("%s/%s.so", folder, name);
    struct th_library *library;

    if (th_library_open_copy(path, &library) != TH_OK)
        fail_msg("%s", error_text());
    th_free(path);
    return library;
}

/* The copy has the debug information, so a change of the original does not matter. */
static void a_private_copy_has_lines_after_the_file_is_replaced(void **state)
{
    struct th_library *library;

    (void)state;
    make("gcc", "-g", "copied");
    library = open_private("copied");
    make("gcc", "-g -O0 -DOTHER", "copied");
    expect_all(library, true, true);
    th_library_release(library);
}

/* Separate debug information is found beside the original; one of another build is ignored. */
static void a_private_copy_finds_debug_files_of_the_original(void **state)
{
    struct th_library *library;

    (void)state;
    make("gcc", "-g -Wl,--build-id", "beside");
    do_there("mkdir -p .debug && objcopy --only-keep-debug beside.so .debug/beside.debug && "
             "objcopy --strip-all --add-gnu-debuglink=.debug/beside.debug beside.so");
    library = open_private("beside");
    expect_all(library, true, true);
    th_library_release(library);
    library = open_private("beside");
    make("gcc", "-g -O0 -Wl,--build-id", "beside");
    do_there("objcopy --only-keep-debug beside.so .debug/beside.debug");
    expect_all(library, false, false);
    th_library_release(library);
}

static void an_address_of_code_identifies_its_library(void **state)
{
    struct th_library *library, *found;
    struct th_line line;

    (void)state;
    make("gcc", "-g", "at");
    library = open_named("at");
    found = th_library_at(function(library, "plain"));
    assert_ptr_equal(found, library);
    th_library_release(found);
    assert_null(th_library_at((uintptr_t)look)); /* an address of the program */
    assert_null(th_library_at((uintptr_t)dlsym(library->handle, "place")));
    assert_false(th_library_line(library, (uintptr_t)look, &line));
    assert_null(line.file);
    th_library_release(library);
    assert_null(th_library_at(0));
}

/* --- Many threads ---------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 200 };

static void *ask(void *context)
{
    struct th_library *library = context;
    uintptr_t start = function(library, "plain");
    uintptr_t wrong = 0;
    struct th_line line;

    for (uintptr_t i = 0; i < ROUNDS; i++) {
        wrong += !th_library_line(library, start, &line) || line.line != PLAIN;
        th_library_line(library, start + i % 16, &line);
    }
    return (void *)wrong;
}

static void several_threads_look_up_lines_at_the_same_time(void **state)
{
    struct th_library *library;
    pthread_t threads[THREADS];
    void *wrong;

    (void)state;
    make("gcc", "-g", "threads");
    library = open_named("threads");
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, library), 0);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    th_library_release(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_found_in_libraries_compiled_by_gcc),
        cmocka_unit_test(lines_are_found_in_libraries_compiled_by_clang),
        cmocka_unit_test(a_source_path_is_relative_to_the_compiler_s_folder),
        cmocka_unit_test(a_stripped_library_gives_an_offset_but_no_line),
        cmocka_unit_test(a_debug_link_is_followed),
        cmocka_unit_test(a_debug_file_with_a_wrong_checksum_is_ignored),
        cmocka_unit_test(a_debug_file_is_found_by_a_matching_build_id),
        cmocka_unit_test(a_named_pipe_is_not_read_as_a_debug_file),
        cmocka_unit_test(a_replaced_library_file_is_not_read_for_lines),
        cmocka_unit_test(a_private_copy_has_lines_after_the_file_is_replaced),
        cmocka_unit_test(a_private_copy_finds_debug_files_of_the_original),
        cmocka_unit_test(an_address_of_code_identifies_its_library),
        cmocka_unit_test(several_threads_look_up_lines_at_the_same_time),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
