/* Tests where the functions of libraries are found: how compilers, linkers and strippers change the
 * sections of the code map. */
#include "made.h"

/* The NOPs precede the label, the label is aligned, and the map lists the first NOP. */
static void assert_patchable(const struct th_library *library, const void *code)
{
#if defined(__x86_64__)
    uintptr_t label = (uintptr_t)code;

    assert_int_equal(label % 8, 0);
    assert_true(th_library_executes(library, label - 8, 16));
    assert_true(th_library_code_map_lists(th_library_code_map(library), label - 8));
    assert_false(th_library_code_map_lists(th_library_code_map(library), label));
#else
    (void)library;
    (void)code;
#endif
}

static void assert_complete(const struct th_library *library)
{
    const struct th_code_map *map = th_library_code_map(library);

    assert_int_equal(map->local_count, 2);
    assert_non_null(find_local(map, "first", 0));
    assert_non_null(find_local(map, "second", 5));
    assert_patchable(library, map->locals[0].code);
    assert_patchable(library, map->locals[1].code);
    assert_false(map->threads_started);
    assert_int_equal(remark_count(library), 0);
}

/* --- Compilers, linkers, strippers ------------------------------------------------------------ */

static const char *const compilers[] = {"gcc", "clang"};

static bool is_there(const char *program)
{
    char *command = th_printf("command -v '%s' >/dev/null", program);
    bool there = system(command) == 0;

    th_free(command);
    return there;
}

static void the_code_map_is_complete_with_every_compiler_and_flag(void **state)
{
    static const char *const flags[] = {
        "-O0",
        "-O1",
        "-O2",
        "-O3",
        "-Os",
        "-O2 -flto",
        "-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections",
        "-O2 -Wl,-z,relro,-z,now -Wl,-z,separate-code",
        "-O2 -Wl,-z,noseparate-code",
        "-O2 -Wl,-Bsymbolic -g3",
    };
    char name[32];
    int compiled = 0;

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; is_there(compilers[c]) && i < sizeof flags / sizeof flags[0]; i++) {
            struct th_library *library;
            if (c == 1 && strstr(flags[i], "lto"))
                continue; /* this linker is not installed */
            snprintf(name, sizeof name, "by_%s_%zu.so", compilers[c], i);
            library = made(name, compilers[c], flags[i], PLUGIN, NULL);
            assert_complete(library);
            th_library_release(library);
            compiled++;
        }
    }
    assert_order(compiled, >, 0);
}

/* Checks the functions of the table and the local ones. */
static void assert_all_patchable(const struct th_library *library)
{
    const struct th_entry *entry = th_library_entry(library);
    const struct th_code_map *map = th_library_code_map(library);

    assert_int_equal(entry->function_count, 5);
    assert_int_equal(map->local_count, 2);
    for (size_t i = 0; i < entry->function_count; i++)
        assert_patchable(library, (const void *)(uintptr_t)entry->functions[i].fptr);
    for (size_t i = 0; i < map->local_count; i++)
        assert_patchable(library, map->locals[i].code);
}

/* A relative path, as the shell would split flags at blanks of an absolute path. */
#define PKG_CONFIG "PKG_CONFIG_PATH=\"${BUILD_DIR#\"$PWD/\"}/lib/pkgconfig\" pkg-config "

/* With -Os, gcc aligns no functions but those that nif_module.h declares. */
static void plugin_flags_make_functions_patchable(void **state)
{
    static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3", "-Os"};
    char name[32];
    int compiled = 0;

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; is_there(compilers[c]) && i < sizeof levels / sizeof levels[0]; i++) {
            char *flags =
                th_printf("%s $(" PKG_CONFIG "--cflags tracehost-plugin)%s", levels[i],
                          c == 0 ? " $(" PKG_CONFIG "--variable=gcc_cflags tracehost-plugin)" : "");
            struct th_library *library;
            snprintf(name, sizeof name, "with_flags_%s_%zu.so", compilers[c], i);
            library = made(name, compilers[c], flags, "#include \"tests/plugin_api/patchable.c\"\n",
                           NULL);
            if (c == 1 || strcmp(levels[i], "-Os") != 0)
                assert_all_patchable(library);
            assert_patchable(library, (const void *)(uintptr_t)th_library_entry_function(
                                          th_library_entry(library), "lookup", 1)
                                          ->fptr);
            th_library_release(library);
            th_free(flags);
            compiled++;
        }
    }
    assert_order(compiled, >, 0);
}

static void a_stripped_library_has_a_complete_code_map(void **state)
{
    static const char *const strippers[] = {
        "strip '%s'",
        "strip --strip-unneeded '%s'",
        "objcopy --strip-all '%s'",
        "objcopy --strip-debug --add-section .note.mine=/dev/null '%s'",
    };
    char name[32];

    (void)state;
    for (size_t i = 0; i < sizeof strippers / sizeof strippers[0]; i++) {
        struct th_library *library;
        snprintf(name, sizeof name, "stripped_%zu.so", i);
        library = made(name, NULL, "-O2 -g", PLUGIN, strippers[i]);
        assert_complete(library);
        th_library_release(library);
    }
}

static void a_removed_section_has_no_entries_in_the_code_map(void **state)
{
    struct th_library *library;

    (void)state;
    library = made("no_locals.so", NULL, "-O2", PLUGIN, "objcopy -R tracehost_functions '%s'");
    assert_int_equal(th_library_code_map(library)->local_count, 0);
    assert_int_equal(th_library_code_map(library)->patchable_count, 2);
    assert_int_equal(remark_count(library), 0);
    th_library_release(library);
    library =
        made("no_entries.so", NULL, "-O2", PLUGIN, "objcopy -R __patchable_function_entries '%s'");
    assert_int_equal(th_library_code_map(library)->local_count, 2);
    assert_int_equal(th_library_code_map(library)->patchable_count, 0);
    assert_null(th_library_code_map(library)->patchable);
    assert_false(th_library_code_map_lists(th_library_code_map(library), 0));
    th_library_release(library);
}

static void a_library_without_local_functions_has_none_in_its_map(void **state)
{
    struct th_library *library = open_library(built("every_slot"));

    (void)state;
    assert_int_equal(th_library_code_map(library)->local_count, 0);
    th_library_release(library);
}

/* --- Watchers --------------------------------------------------------------------------------- */

static size_t watched;
static size_t watched_entries;

static void watch(const struct th_library *library)
{
    watched++;
    watched_entries = th_library_code_map(library)->patchable_count;
}

static void the_watcher_is_called_once_for_each_opened_library(void **state)
{
    struct th_library *library, *again;

    (void)state;
    th_library_watch_opened(watch);
    library = made("watched.so", NULL, "-O2", PLUGIN, NULL);
    assert_int_equal(watched, 1);
    assert_int_equal(watched_entries, th_library_code_map(library)->patchable_count);
    again = open_library(in_folder("watched.so"));
    assert_ptr_equal(again, library);
    assert_int_equal(watched, 1);
    th_library_release(again);
    th_library_release(library);
    th_library_watch_opened(NULL);
    library = open_library(in_folder("watched.so"));
    assert_int_equal(watched, 1);
    th_library_release(library);
}

static void only_code_of_the_library_is_reported_as_executable(void **state)
{
    struct th_library *library = made("executes.so", NULL, "-O2", PLUGIN, NULL);
    uintptr_t code =
        (uintptr_t)th_library_entry_function(th_library_entry(library), "shown", 0)->fptr;

    (void)state;
    assert_true(th_library_executes(library, code, 1));
    assert_true(th_library_executes(library, code, 16));
    assert_false(th_library_executes(library, code, 0));
    assert_false(th_library_executes(library, code, 1 << 20));
    assert_false(th_library_executes(library, code, SIZE_MAX));
    assert_false(th_library_executes(library, (uintptr_t)th_library_entry(library), 1));
    assert_false(th_library_executes(library, (uintptr_t)open_library, 1));
    assert_false(th_library_executes(library, 0, 1));
    assert_false(th_library_executes(library, UINTPTR_MAX, 1));
    th_library_release(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_code_map_is_complete_with_every_compiler_and_flag),
        cmocka_unit_test(plugin_flags_make_functions_patchable),
        cmocka_unit_test(a_stripped_library_has_a_complete_code_map),
        cmocka_unit_test(a_removed_section_has_no_entries_in_the_code_map),
        cmocka_unit_test(a_library_without_local_functions_has_none_in_its_map),
        cmocka_unit_test(the_watcher_is_called_once_for_each_opened_library),
        cmocka_unit_test(only_code_of_the_library_is_reported_as_executable),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
