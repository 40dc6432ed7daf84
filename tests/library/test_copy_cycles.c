/* Tests that 2,000 loads of a library from private copies, or STRESS_RELOADS, leak nothing. */
#include "copied.h"

#include "host/progress/progress.h"
#include "tests/support/uncached.h"

#include <malloc.h>
#include <pthread.h>

/* An instance with everything that an instance may own: a type, a resource, private data, a thread,
 * a dependency beside the file, a local function. */
#define RICH                                                                           \
    "#include <nif_module.h>\n#include <stdlib.h>\n#include <stddef.h>\n"              \
    "extern int beside(void);\n"                                                       \
    "static ErlNifTid thread; static ErlNifResourceType *type;\n"                      \
    "static void *think(void *unused) { return unused; }\n"                            \
    "static void destroy(ErlNifEnv *env, void *thing) { (void)env, (void)thing; }\n"   \
    "TH_FUNCTION(local, 1)(ErlNifEnv *env, ERL_NIF_TERM a) { (void)env; return a; }\n" \
    "static ERL_NIF_TERM f(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)\n"      \
    "{ (void)argc, (void)argv; return local(env, enif_make_int(env, beside())); }\n"   \
    "static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)\n"                \
    "{ void *thing; char name[] = \"t\"; (void)info; *data = malloc(1000);\n"          \
    "  type = enif_open_resource_type(env, 0, \"thing\", destroy,\n"                   \
    "    (ErlNifResourceFlags)(ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER), 0);\n"        \
    "  thing = enif_alloc_resource(type, 100); enif_release_resource(thing);\n"        \
    "  return enif_thread_create(name, &thread, think, 0, 0) ||\n"                     \
    "         enif_thread_join(thread, 0); }\n"                                        \
    "static void unload(ErlNifEnv *env, void *data)\n"                                 \
    "{ (void)env; free(data); }\n"                                                     \
    "static int upgrade(ErlNifEnv *env, void **data, void **old, ERL_NIF_TERM info)\n" \
    "{ free(*old); *old = NULL; return load(env, data, info); }\n"                     \
    "static ErlNifFunc functions[] = {{\"f\", 0, f, 0}};\n"                            \
    "ERL_NIF_INIT(m, functions, load, NULL, upgrade, unload)\n"

enum { WARM = 100, BRIEF = 2000 };

/* Amounts of everything that could leak. */
struct amount {
    size_t descriptors, files, mappings, heap;
};

static size_t lines_of(const char *path)
{
    struct th_buffer content = {0};
    size_t count = 0;

    read_file(path, &content);
    for (size_t i = 0; i < content.size; i++)
        count += content.data[i] == '\n';
    th_buffer_free(&content);
    return count;
}

static struct amount measure(const char *copies)
{
    return (struct amount){
        .descriptors = files_in("/proc/self/fd"),
        .files = files_in(copies),
        .mappings = lines_of("/proc/self/maps"),
        .heap = mallinfo2().uordblks,
    };
}

/* In some rounds the library is refused, its load is undone, or it is upgraded and handed back. */
static void cycle(const char *path, int round)
{
    struct th_library *library = open_private(path), *next;
    struct th_line line;

    assert_int_equal(th_library_load(library, NULL, th_small(0)), TH_OK);
    if (round % 4 == 1) {
        th_library_undo_load(library);
    } else if (round % 4 == 2) {
        next = open_private(path);
        assert_int_equal(th_library_upgrade_check(next, library, th_small(0)), TH_OK);
        assert_int_equal(th_library_load(next, library, th_small(0)), TH_OK);
        assert_int_equal(th_library_hand_back(library, next, th_small(0)), TH_OK);
        th_library_release(next);
    } else if (round % 4 == 3) {
        uintptr_t code = (uintptr_t)th_library_entry(library)->functions[0].fptr;
        assert_true(th_library_line(library, code, &line));
        assert_int_equal(th_library_open_copy(in_folder("refused.so"), &next), TH_REFUSED);
    }
    th_library_release(library);
}

static void repeat(const char *path, int from, int to)
{
    for (int i = from; i < to; i++)
        cycle(path, i);
}

static void repeated_loads_and_releases_leak_nothing(void **state)
{
    const char *wanted = getenv("STRESS_RELOADS");
    int rounds = wanted ? atoi(wanted) : BRIEF;
    char *flags = th_printf("-shared -I. -g -L'%s' -lbeside -Wl,-rpath,'$ORIGIN'", folder);
    struct th_library *other;
    struct amount before, after;
    char *path, *copies;

    (void)state;
    compile(in_folder("libbeside.so"), "-shared", "int beside(void) { return 1; }");
    compile(in_folder("rich.so"), flags, RICH);
    compile(in_folder("refused.so"), "-shared", "void *nif_init(void) { return 0; }");
    make_number("other.so", 1);
    other = open_private(in_folder("other.so"));
    copies = folder_of(other);
    path = th_strdup(in_folder("rich.so"));
    repeat(path, 0, WARM);
    before = measure(copies);
    repeat(path, WARM, WARM + rounds);
    after = measure(copies);
    print_message("%d rounds: %zu descriptors, %zu files, %zu mappings, %zu bytes before; %zu, "
                  "%zu, %zu, %zu after\n",
                  rounds, before.descriptors, before.files, before.mappings, before.heap,
                  after.descriptors, after.files, after.mappings, after.heap);
    assert_int_equal(after.descriptors, before.descriptors);
    assert_int_equal(after.files, before.files);
#if !defined(TH_ADDRESS_SANITIZER) && !defined(TH_PROGRESS_TSAN) /* these keep mappings */
    /* Two for each stack that is kept for the next thread, and malloc()'s own for that thread. */
    assert_order(after.mappings, <=, before.mappings + 8);
#endif
    /* A leak in every fourth round is six bytes a round or more. */
    assert_order(after.heap, <=, before.heap + 2 * (size_t)rounds);
    th_library_release(other);
    th_free(copies);
    th_free(path);
    th_free(flags);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_loads_and_releases_leak_nothing),
    };

    (void)argc;
    start_uncached(argv);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
