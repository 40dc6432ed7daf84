/* Tests libraries in use: load, upgrade, unload, private data, references; misuse. */
#include "files.h"

#include "host/library/library.h"
#include "host/self/self.h"
#include "host/term/term.h"
#include "tests/tracers/journal.h"

#include <dlfcn.h>

static struct th_library *open_library(const char *path)
{
    struct th_library *library;

    if (th_library_open(path, &library) != TH_OK)
        fail_msg("%s", error_text());
    return library;
}

static th_term info_of(struct journal *journal)
{
    return th_small((int64_t)(uintptr_t)journal / 16);
}

/* Opens a second instance of the same module; for the loader, a copy is another library. */
static struct th_library *open_copy(const char *name)
{
    const char *path = in_folder(name);

    copy_file(built("lifecycle"), path);
    return open_library(path);
}

static void a_library_is_loaded_and_unloaded(void **state)
{
    struct th_library *library = open_library(built("lifecycle"));
    struct journal journal = {0};

    (void)state;
    assert_term_equal(th_library_name(library), th_atom("lifecycle"));
    assert_string_equal(th_library_path(library), built("lifecycle"));
    assert_int_equal(th_library_remarks(library)->count, 0);
    assert_int_equal(th_library_entry(library)->function_count, 2);
    assert_string_equal(journal.text, "");
    assert_int_equal(th_library_load(library, NULL, info_of(&journal)), TH_OK);
    assert_string_equal(journal.text, "load");
    assert_ptr_equal(th_library_private_data(library), &journal);
    assert_null(th_self.library_frame);
    th_library_release(library);
    assert_string_equal(journal.text, "load unload");
}

static void a_library_whose_load_fails_can_be_loaded_again(void **state)
{
    struct th_library *library = open_library(built("lifecycle"));
    struct journal journal = {.answer = 7};

    (void)state;
    assert_int_equal(th_library_load(library, NULL, info_of(&journal)), TH_REFUSED);
    assert_error_has("load() returned 7");
    assert_error_has(built("lifecycle"));
    assert_null(th_library_private_data(library));
    journal.answer = 0;
    assert_int_equal(th_library_load(library, NULL, info_of(&journal)), TH_OK);
    th_library_release(library);
    assert_string_equal(journal.text, "load load unload");
}

static void unload_is_not_called_if_load_failed(void **state)
{
    struct th_library *library = open_library(built("lifecycle"));
    struct journal journal = {.answer = -1};

    (void)state;
    assert_int_equal(th_library_load(library, NULL, info_of(&journal)), TH_REFUSED);
    th_library_release(library);
    assert_string_equal(journal.text, "load");
}

static void a_file_that_is_opened_twice_is_one_instance(void **state)
{
    struct th_library *first = open_library(built("lifecycle"));
    struct journal journal = {0}, other = {0};
    struct th_library *second;

    (void)state;
    assert_int_equal(th_library_load(first, NULL, info_of(&journal)), TH_OK);
    second = open_library(built("lifecycle"));
    assert_ptr_equal(first, second);
    assert_int_equal(th_library_load(second, NULL, info_of(&other)), TH_OK);
    th_library_keep(first);
    th_library_release(first);
    th_library_release(first);
    assert_string_equal(journal.text, "load");
    th_library_release(second);
    assert_string_equal(journal.text, "load unload");
    assert_string_equal(other.text, "");
}

static int number_of(struct th_library *library)
{
    th_env *env = th_env_create(TH_ENV_CALLBACK);
    const ErlNifFunc *function = th_library_entry_function(th_library_entry(library), "number", 0);
    int number;

    assert_non_null(function);
    assert_true(enif_get_int(env, function->fptr(env, 0, NULL), &number));
    th_env_free(env);
    return number;
}

/* Links a library with number/0 to a path where another may be, as a linker does. */
static struct th_library *open_number(const char *name, int number, const char *flags)
{
    char *source =
        th_printf("#include <erl_nif.h>\n#ifdef DEPENDS\nextern int offset(void);\n#else\n"
                  "static int offset(void) { return 0; }\n#endif\n"
                  "static ERL_NIF_TERM number(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)\n"
                  "{ (void)argc, (void)argv; return enif_make_int(env, %d + offset()); }\n"
                  "static ErlNifFunc functions[] = {{\"number\", 0, number, 0}};\n"
                  "ERL_NIF_INIT(numbered, functions, NULL, NULL, NULL, NULL)\n",
                  number);
    char *shared = th_printf("-shared %s", flags);

    compile(in_folder("made.so"), shared, source);
    assert_int_equal(rename(in_folder("made.so"), in_folder(name)), 0);
    th_free(shared);
    th_free(source);
    return open_library(in_folder(name));
}

static void a_new_file_at_the_same_path_is_another_library(void **state)
{
    struct th_library *generations[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        generations[i] = open_number("numbered.so", i, "");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(number_of(generations[i]), i);
        assert_string_equal(th_library_path(generations[i]), in_folder("numbered.so"));
    }
    assert_ptr_equal(open_library(in_folder("numbered.so")), generations[3]);
    th_library_release(generations[3]);
    for (int i = 0; i < 3; i++) {
        th_library_release(generations[i]);
        assert_int_equal(number_of(generations[3]), 3);
    }
    assert_ptr_equal(open_library(in_folder("numbered.so")), generations[3]);
    th_library_release(generations[3]);
    th_library_release(generations[3]);
    assert_false(th_library_is_open(in_folder("numbered.so")));
}

/* For the loader, the path still is the file that was opened first. */
static void a_new_file_at_an_open_path_is_opened_from_a_copy(void **state)
{
    struct th_library *first = open_number("asked.so", 1, "");
    struct th_library *second = open_number("asked.so", 2, "");
    Dl_info where;

    (void)state;
    assert_string_equal(th_library_file(first), in_folder("asked.so"));
    assert_string_equal(th_library_path(second), in_folder("asked.so"));
    assert_string_not_equal(th_library_file(second), in_folder("asked.so"));
    assert_int_not_equal(
        dladdr((void *)(uintptr_t)th_library_entry(second)->functions[0].fptr, &where), 0);
    assert_string_equal(where.dli_fname, th_library_file(second));
    assert_int_equal(number_of(second), 2);
    th_library_release(first);
    th_library_release(second);
}

/* The loader keeps a library that cannot be unloaded, even after all have closed it. */
static void a_library_left_in_memory_is_not_reused_for_a_new_file(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct th_library *library = open_number("staying.so", i, "-Wl,-z,nodelete");
        assert_int_equal(number_of(library), i);
        th_library_release(library);
    }
}

/* The dependency is beside the library and has no soname: $ORIGIN must be the file's folder. */
static void each_generation_finds_dependencies_beside_its_file(void **state)
{
    char *flags = th_printf("-DDEPENDS -L'%s' -loffset -Wl,-rpath,'$ORIGIN'", folder);
    struct th_library *first, *second;

    (void)state;
    compile(in_folder("liboffset.so"), "-shared", "int offset(void) { return 100; }\n");
    first = open_number("depending.so", 1, flags);
    second = open_number("depending.so", 2, flags);
    assert_int_equal(number_of(first), 101);
    assert_int_equal(number_of(second), 102);
    th_library_release(first);
    th_library_release(second);
    th_free(flags);
}

static void a_file_overwritten_while_in_use_is_refused(void **state)
{
    struct th_library *old = open_copy("rewritten.so");
    const char *path = in_folder("rewritten.so");
    FILE *file = fopen(path, "ab"); /* appends, as the mapped bytes are in use */
    struct th_library *library;

    (void)state;
    assert_int_equal(fputs("more", file), 1);
    fclose(file);
    assert_int_equal(th_library_open(path, &library), TH_REFUSED);
    assert_error_has("the file was overwritten while the library is in use");
    th_library_release(old);
    library = open_library(path);
    assert_term_equal(th_library_name(library), th_atom("lifecycle"));
    th_library_release(library);
}

static void an_upgrade_hands_over_private_data(void **state)
{
    struct th_library *old = open_library(built("lifecycle"));
    struct th_library *new = open_copy("upgrade.so");
    struct journal first = {0}, second = {0};

    (void)state;
    assert_ptr_not_equal(old, new);
    assert_int_equal(th_library_load(old, NULL, info_of(&first)), TH_OK);
    assert_int_equal(th_library_load(new, old, info_of(&second)), TH_OK);
    assert_string_equal(first.text, "load");
    assert_string_equal(second.text, "upgrade");
    assert_ptr_equal(second.old_private_data, &first);
    assert_ptr_equal(th_library_private_data(new), &second);
    assert_null(th_library_private_data(old)); /* upgrade() took the data */
    th_library_release(new);
    assert_string_equal(second.text, "upgrade unload");
    th_library_release(old);
    assert_string_equal(first.text, "load unload-empty");
}

static void a_failed_upgrade_leaves_the_old_library_unchanged(void **state)
{
    struct th_library *old = open_copy("kept.so");
    struct th_library *new = open_copy("vetoed.so");
    struct journal first = {0}, second = {.answer = 1};

    (void)state;
    assert_int_equal(th_library_load(old, NULL, info_of(&first)), TH_OK);
    assert_int_equal(th_library_load(new, old, info_of(&second)), TH_REFUSED);
    assert_error_has("upgrade() returned 1");
    assert_ptr_equal(th_library_private_data(old), &first);
    th_library_release(new);
    assert_string_equal(second.text, "upgrade");
    th_library_release(old);
    assert_string_equal(first.text, "load unload");
}

static void an_upgrade_needs_an_upgrade_callback_and_the_same_module(void **state)
{
    struct th_library *old = open_library(built("old_entry_4"));
    const char *path = in_folder("copy_2_4.so");
    struct th_library *new;

    (void)state;
    copy_file(built("old_entry_4"), path);
    new = open_library(path);
    assert_int_equal(th_library_load(old, NULL, th_small(0)), TH_OK);
    assert_int_equal(th_library_load(new, old, TH_NIL), TH_REFUSED);
    assert_error_has("the library has no upgrade(), so it cannot replace");
    th_library_release(new);
    new = open_copy("other_module.so");
    assert_int_equal(th_library_load(new, old, TH_NIL), TH_REFUSED);
    assert_error_has("module is lifecycle, so it cannot replace old_entry");
    th_library_release(new);
    th_library_release(old);
}

static th_term call(struct th_library *library, const char *name, int argc, const th_term argv[])
{
    const ErlNifFunc *function =
        th_library_entry_function(th_library_entry(library), name, (unsigned)argc);
    th_env *env = th_env_create(TH_ENV_CALLBACK);
    th_term result;

    env->library = library;
    result = function->fptr(env, argc, argv);
    th_env_free(env);
    return result;
}

/* Uses a library compiled for NIF 2.MINOR: its functions are called, and call current ones. */
static void use_old_library(int minor)
{
    const th_term argv[5] = {th_small(20), th_small(22)};
    struct th_library *library;
    char name[32];

    snprintf(name, sizeof name, "old_entry_%d", minor);
    library = open_library(built(name));
    assert_int_equal(th_library_entry(library)->minor, minor);
    assert_int_equal(th_library_entry(library)->function_count, 4);
    assert_int_equal(th_library_load(library, NULL, th_small(17)), TH_OK);
    assert_term_equal(call(library, "add", 2, argv), th_small(42));
    assert_term_equal(call(library, "info", 0, argv), th_small(17));
    assert_int_equal(th_library_entry_function(th_library_entry(library), "add", 2)->flags,
                     minor < 7 ? 0 : ERL_NIF_DIRTY_JOB_CPU_BOUND);
    assert_int_equal(th_library_entry_function(th_library_entry(library), "info", 0)->flags, 0);
    assert_int_equal(th_library_entry(library)->resource_init_size, minor < 12 ? 0 : 24);
    assert_null(th_library_entry(library)->oldest_runtime);
    assert_int_equal(th_library_check_tracer(library), TH_OK);
    assert_term_equal(call(library, "trace", 5, argv), th_small(5));
    assert_ptr_equal(th_library_slots(library)->functions[TH_SLOT_trace_send],
                     th_library_entry_function(th_library_entry(library), "trace", 5)->fptr);
    th_library_release(library);
}

static void libraries_of_old_nif_versions_work(void **state)
{
    static const int minors[] = {0, 4, 6, 11, 13};

    (void)state;
    for (size_t i = 0; i < sizeof minors / sizeof minors[0]; i++)
        use_old_library(minors[i]);
}

static void load_and_unload_of_plain_libraries_are_called(void **state)
{
    const char *path = in_folder("plain.so");
    struct th_library *library;
    int log = 0;

    (void)state;
    compile(path, "-shared",
            "#include <erl_tracer.h>\n"
            "TH_TRACER_ENABLED(generic) { return tag; }\n"
            "TH_TRACER_TRACE(generic) { }\n"
            "TH_TRACER_LOAD() { *priv_data = (int *)(load_info >> 4); return 0; }\n"
            "TH_TRACER_UNLOAD() { *(int *)priv_data = 5; }\n");
    library = open_library(path);
    assert_int_equal(th_library_examination(library)->form, TH_LIBRARY_PLAIN);
    assert_int_equal(th_library_load(library, NULL, th_small((int64_t)(uintptr_t)&log)), TH_OK);
    assert_ptr_equal(th_library_private_data(library), &log);
    th_library_release(library);
    assert_int_equal(log, 5);
}

static void refuse(const char *name, const char *source, const char *reason)
{
    const char *path = in_folder(name);
    struct th_library *library;

    compile(path, "-shared", source);
    assert_int_equal(th_library_open(path, &library), TH_REFUSED);
    assert_error_has(reason);
    assert_error_has(path);
    assert_null(th_self.library_frame);
}

static void invalid_libraries_are_refused_with_the_reason(void **state)
{
    (void)state;
    refuse("null.so", "void *nif_init(void) { return 0; }", "nif_init() returned NULL");
    refuse("undefined.so",
           "void frobnicate(void); void *nif_init(void) { frobnicate; return 0; }\n"
           "void *p = frobnicate;",
           "undefined symbol: frobnicate");
    refuse("newer.so",
           "#include <erl_nif.h>\n"
           "static ErlNifEntry entry = {2, 99, \"m\"};\n"
           "ErlNifEntry *nif_init(void) { return &entry; }",
           "NIF version 2.99");
}

static void a_missing_dependency_is_named(void **state)
{
    const char *below = in_folder("libgone.so");
    const char *path = in_folder("dependent.so");
    char *flags = th_printf("-shared -L'%s' -Wl,--no-as-needed -lgone", folder);
    struct th_library *library;

    (void)state;
    compile(below, "-shared", "int x;");
    compile(path, flags, "void *nif_init(void) { return 0; }");
    unlink(below);
    assert_int_equal(th_library_open(path, &library), TH_REFUSED);
    assert_error_has("libgone.so: cannot open shared object file");
    assert_error_has("$LD_LIBRARY_PATH");
    th_free(flags);
}

static void a_library_is_found_by_its_name(void **state)
{
    struct th_search search;
    struct th_library *library;

    (void)state;
    copy_file(built("every_slot"), in_folder("found.so"));
    th_library_search_init(&search, TH_SEARCH_PLUGINS, (const char *const[]){folder}, 1);
    assert_int_equal(th_library_find(&search, "found", &library), TH_OK);
    assert_string_equal(th_library_path(library), in_folder("found.so"));
    th_library_release(library);
    assert_int_equal(th_library_find(&search, "fuond", &library), TH_REFUSED);
    assert_error_has("did you mean 'found'?");
    th_library_search_free(&search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_is_loaded_and_unloaded),
        cmocka_unit_test(a_library_whose_load_fails_can_be_loaded_again),
        cmocka_unit_test(unload_is_not_called_if_load_failed),
        cmocka_unit_test(a_file_that_is_opened_twice_is_one_instance),
        cmocka_unit_test(a_new_file_at_the_same_path_is_another_library),
        cmocka_unit_test(a_new_file_at_an_open_path_is_opened_from_a_copy),
        cmocka_unit_test(a_library_left_in_memory_is_not_reused_for_a_new_file),
        cmocka_unit_test(each_generation_finds_dependencies_beside_its_file),
        cmocka_unit_test(a_file_overwritten_while_in_use_is_refused),
        cmocka_unit_test(an_upgrade_hands_over_private_data),
        cmocka_unit_test(a_failed_upgrade_leaves_the_old_library_unchanged),
        cmocka_unit_test(an_upgrade_needs_an_upgrade_callback_and_the_same_module),
        cmocka_unit_test(libraries_of_old_nif_versions_work),
        cmocka_unit_test(load_and_unload_of_plain_libraries_are_called),
        cmocka_unit_test(invalid_libraries_are_refused_with_the_reason),
        cmocka_unit_test(a_missing_dependency_is_named),
        cmocka_unit_test(a_library_is_found_by_its_name),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
