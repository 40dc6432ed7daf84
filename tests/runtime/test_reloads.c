/*
 * Reloads a module 2,000 times, or STRESS_RELOADS, from copies of its library: no mapping,
 * descriptor, file or memory stays. Its functions have breakpoints that count, and are called.
 */
#include "host/base/base.h"
#include "tests/support/assertions.h"
#include "tests/support/scene.h"
#include "tests/support/uncached.h"
#include "tests/support/versions.h"

#include "host/runtime/runtime_internal.h"

#include <dirent.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WARM_UP = 200, /* until tables have their final size */
    DROPPED = 7,   /* reloads from one to the next */
    DELETED = 5
};

static const char name[] = "version_000a";
static struct th_process *process;

/* --- Inspection ------------------------------------------------------------------------------- */

/* Counts mappings of files, and all mappings. The mappings of sanitizers vary. */
static void count_mappings(unsigned *of_files, unsigned *all)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];

    assert_non_null(maps);
    *of_files = *all = 0;
    while (fgets(line, sizeof line, maps)) {
        *of_files += strchr(line, '/') != NULL;
        ++*all;
    }
    fclose(maps);
}

static unsigned files_in(const char *path)
{
    DIR *folder = opendir(path);
    unsigned count = 0;

    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Returns the folder of copies, which contains the current one. */
static char *copies_folder(void)
{
    struct th_module_code *list;
    size_t count = th_code_list(&list);
    char *path;

    assert_int_equal(count, 1);
    path = th_strdup(list[0].file);
    *strrchr(path, '/') = '\0';
    th_code_list_free(list, count);
    return path;
}

struct left {
    unsigned files, mappings, descriptors, copies;
    size_t heap;
};

static struct left measure(void)
{
    char *folder = copies_folder();
    struct left left;

    th_progress_settle();
    count_mappings(&left.files, &left.mappings);
    left.descriptors = files_in("/proc/self/fd");
    left.copies = files_in(folder);
    left.heap = mallinfo2().uordblks;
    th_free(folder);
    return left;
}

/* --- Reloads ---------------------------------------------------------------------------------- */

static void assert_called(long number)
{
    th_term result;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(
        th_runtime_run_call_export(process, th_code_export_get(th_atom(name), th_atom("number"), 0),
                                   NULL, &env, &result, NULL),
        TH_CALL_RETURNED);
    assert_int_equal(th_small_value(result), number);
    th_env_release(&env);
}

/* Every other reload purges the old code, else the next reload does; in some rounds the module is
 * deleted before, or a prepared instance is dropped. */
static void reload(long from, long to)
{
    const char *names[] = {name};
    bool had;

    for (long i = from; i < to; i++) {
        if (i % DROPPED == 0)
            th_code_prepared_drop(version_prepare(name));
        if (i % DELETED == 0)
            assert_int_equal(th_code_delete(th_atom(name), TH_PURGE_SOFT), TH_OK);
        assert_int_equal(version_load(names, 1, i), TH_OK);
        assert_called(i);
        if (i % 2 == 0)
            assert_int_equal(th_code_purge(th_atom(name), TH_PURGE_SOFT, &had), TH_OK);
    }
    assert_int_equal(th_code_purge(th_atom(name), TH_PURGE_SOFT, &had), TH_OK);
}

static struct th_session *count_calls(void)
{
    struct th_session *session = scene_create("counts");
    struct th_pattern all = {TH_NONE, TH_NONE, TH_ANY_ARITY, false};

    all.on_load = true;
    assert_int_equal(th_trace_session_function(session, &all, TH_AM(true), TH_BP_COUNT, NULL),
                     TH_OK);
    return session;
}

static void reloads_leak_nothing(void **state)
{
    const char *names[] = {name}, *wanted = getenv("STRESS_RELOADS");
    long times = wanted ? atol(wanted) : 2000;
    const struct th_mfa number = {th_atom(name), th_atom("number"), 0};
    struct th_session *session = count_calls();
    struct left before, after;
    struct th_bp_info info;

    (void)state;
    assert_int_equal(version_load(names, 1, 0), TH_OK);
    reload(1, WARM_UP);
    before = measure();
    reload(WARM_UP, WARM_UP + times);
    after = measure();
    print_message("%ld reloads; before, after: %u, %u mappings, %u, %u descriptors, %u, %u copies, "
                  "%zu, %zu bytes\n",
                  times, before.mappings, after.mappings, before.descriptors, after.descriptors,
                  before.copies, after.copies, before.heap, after.heap);
    assert_true(th_trace_session_function_info(session, &number, &info));
    assert_int_equal(info.calls, WARM_UP + times - 1); /* including those of deleted code */
    assert_int_equal(after.files, before.files);
#if !defined(TH_ADDRESS_SANITIZER) && !defined(TH_PROGRESS_TSAN)
    assert_order(after.mappings, <, before.mappings + 8);
#endif
    assert_int_equal(after.descriptors, before.descriptors);
    assert_int_equal(after.copies, before.copies);
    assert_order(after.heap, <, before.heap + 4096);
    th_trace_session_destroy(session);
}

/* --- The scene -------------------------------------------------------------------------------- */

static int start(void **state)
{
    struct th_runtime_setup setup = {.schedulers = 1};

    (void)state;
    scene_begin_empty(NULL);
    th_trace_share(scene_tracing());
    setup.tracing = scene_tracing();
    th_runtime_start(&setup);
    process = th_runtime_run_start();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    th_runtime_run_exit(process, TH_AM(normal));
    th_runtime_kill_all();
    th_code_end();
    th_runtime_stop();
    scene_end();
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reloads_leak_nothing, start, stop),
    };

    (void)argc;
    start_uncached(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
