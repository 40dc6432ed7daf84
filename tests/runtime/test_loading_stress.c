/*
 * Two processes on two schedulers call functions of 200 modules by their exports, as fast as they
 * can, while sets of these modules are upgraded and others are loaded and deleted.
 * // All functions have breakpoints that count. Modules are upgraded in pairs: a thread that only
 * reads asserts that both modules of a pair have the same version in one view. No call of a lasting
 * module may fail, and the breakpoints must have counted each. At least 10,000,000 calls and 500
 * commits, or STRESS_COMMITS; a twentieth under a sanitizer or in an emulator.
 */
#include "host/base/base.h"
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/scene.h"
#include "tests/support/skipping.h"
#include "tests/support/versions.h"

#include "host/runtime/runtime_internal.h"

#include <dirent.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MODULES = 200,
    PAIRS = 90, /* pairs of lasting modules; guests follow these */
    GUESTS = MODULES - 2 * PAIRS,
    CALLERS = 2,
    MOST_PAIRS = 12, /* pairs in a set */
    TIMES = 20       /* rounds of a function over all modules */
};

#if defined(TH_ADDRESS_SANITIZER) || defined(TH_PROGRESS_TSAN) || defined(__SANITIZE_UNDEFINED__)
enum { SLOW = true };
#else
enum { SLOW = false };
#endif

/* Divides the numbers of calls and commits. */
static unsigned scale(void)
{
    return SLOW || emulated() ? 20 : 1;
}

static char names[MODULES][32];  /* as long as version_0000 */
static long version_of[MODULES]; /* 0: not loaded; written by the loader */
static const char driver[] = "version_main";

static _Atomic bool over;       /* relaxed: a flag */
static _Atomic uint64_t rounds; /* rounds of the callers; relaxed: a count */
static unsigned random_state = 1;

static unsigned random_below(unsigned limit)
{
    random_state = random_state * 1103515245 + 12345;
    return (random_state >> 8) % limit;
}

/* --- Callers ---------------------------------------------------------------------------------- */

static th_term name_list(th_env *env, int from, int to)
{
    th_term list = TH_NIL;

    for (int i = to; i-- > from;)
        list = th_make_cons(env, th_atom(names[i]), list);
    return list;
}

static void must_return(struct th_process *process, const char *function, unsigned argc,
                        const th_term argv[], th_env *env)
{
    th_term result;
    enum th_call_end end = th_runtime_run_call_export(
        process, th_code_export_get(th_atom(driver), th_atom(function), argc), argv, env, &result,
        NULL);
    struct th_buffer text = {0};

    if (end == TH_CALL_RETURNED)
        return;
    th_text_print(&text, result);
    fprintf(stderr, "%s failed: %s\n", function, th_buffer_text(&text));
    abort();
}

static void *call_all(void *unused)
{
    struct th_process *process = th_runtime_run_start();
    th_term argv[2];
    th_env env;

    (void)unused;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        th_env_init(&env, TH_ENV_PLAIN);
        argv[0] = name_list(&env, 0, 2 * PAIRS);
        argv[1] = th_small(TIMES);
        must_return(process, "ask_all", 2, argv, &env);
        argv[0] = name_list(&env, 2 * PAIRS, MODULES);
        must_return(process, "ask_who_is_there", 1, argv, &env);
        th_env_release(&env);
        atomic_fetch_add_explicit(&rounds, 1, memory_order_relaxed);
    }
    th_runtime_run_exit(process, TH_AM(normal));
    return NULL;
}

/* --- The reader ------------------------------------------------------------------------------- */

/* Returns the version of module I in code index INDEX; 0: not loaded. */
static long number_in(unsigned index, int i, th_env *env)
{
    const struct th_export *entry =
        th_code_export_get(th_atom(names[i]), th_atom("number_aside"), 0);
    const struct th_callee *callee = th_code_export_reached(th_code_word(&entry->word, index));

    return callee ? th_small_value(callee->function->fptr(env, 0, NULL)) : 0;
}

static void *look_at_pairs(void *context)
{
    uint64_t *views = context;
    unsigned pair = 0;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    for (; !atomic_load_explicit(&over, memory_order_relaxed); pair = (pair + 7) % PAIRS) {
        unsigned index;
        long one, other;
        th_progress_enter();
        index = th_code_index();
        one = number_in(index, (int)(2 * pair), &env);
        other = number_in(index, (int)(2 * pair + 1), &env);
        th_progress_leave();
        if (one != other || one == 0) {
            fprintf(stderr, "of pair %u one is of version %ld, one of %ld\n", pair, one, other);
            abort();
        }
        ++*views;
    }
    th_env_release(&env);
    return NULL;
}

/* --- The loader ------------------------------------------------------------------------------- */

static struct {
    unsigned commits, modules, in_use, deleted, purged;
} done;

static void check_all(void)
{
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    th_progress_enter();
    for (int i = 0; i < MODULES; i++)
        if (number_in(th_code_index(), i, &env) != version_of[i])
            fail_msg("%s is not of version %ld", names[i], version_of[i]);
    th_progress_leave();
    th_env_release(&env);
}

/* A module whose old code is in use is not loaded. */
static void load_set(const int set[], size_t count)
{
    const char *list[MODULES] = {NULL};
    long version = (long)done.commits + 1;
    enum th_status status;

    for (size_t i = 0; i < count; i++)
        list[i] = names[set[i]];
    status = version_load(list, count, version);
    if (status == TH_REFUSED) {
        assert_non_null(strstr(th_error_link(1), "not_purged"));
        done.in_use++;
        return;
    }
    assert_int_equal(status, TH_OK);
    done.commits++;
    done.modules += (unsigned)count;
    for (size_t i = 0; i < count; i++)
        version_of[set[i]] = version;
}

static void upgrade_pairs(void)
{
    int set[2 * MOST_PAIRS];
    bool chosen[PAIRS] = {false};
    unsigned count = 1 + random_below(MOST_PAIRS), n = 0;

    while (n < 2 * count) {
        unsigned pair = random_below(PAIRS);
        if (chosen[pair])
            continue;
        chosen[pair] = true;
        set[n++] = (int)(2 * pair);
        set[n++] = (int)(2 * pair + 1);
    }
    load_set(set, n);
}

static void change_guest(void)
{
    int guest = 2 * PAIRS + (int)random_below(GUESTS);
    enum th_status status;

    if (!version_of[guest]) {
        load_set(&guest, 1);
        return;
    }
    status = th_code_delete(th_atom(names[guest]), TH_PURGE_SOFT);
    if (status == TH_REFUSED) {
        done.in_use++;
        return;
    }
    assert_int_equal(status, TH_OK);
    version_of[guest] = 0;
    done.commits++;
    done.deleted++;
}

static void purge_one(void)
{
    bool had;

    if (th_code_purge(th_atom(names[random_below(MODULES)]), TH_PURGE_SOFT, &had) == TH_OK)
        done.purged += had;
    else
        done.in_use++;
}

/* Upgrades the calling module, too, whose code is mostly in use. */
static void upgrade_driver(void)
{
    const char *name = driver;

    if (version_load(&name, 1, 1) == TH_OK)
        done.commits++;
    else
        done.in_use++;
}

static void load_on_and_on(unsigned commits)
{
    while (done.commits < commits) {
        unsigned what = random_below(20);
        if (what < 12)
            upgrade_pairs();
        else if (what < 16)
            change_guest();
        else if (what < 19)
            purge_one();
        else
            upgrade_driver();
        check_all();
    }
}

/* --- Remains ---------------------------------------------------------------------------------- */

static unsigned lines_of(const char *path)
{
    FILE *file = fopen(path, "r");
    unsigned lines = 0;
    char line[4096];

    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        lines += strstr(line, "version") != NULL;
    fclose(file);
    return lines;
}

static unsigned open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    unsigned count = 0;

    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

struct left {
    unsigned mappings, files;
    size_t heap;
};

/* Measures when no old code is in use and all guests are deleted. */
static struct left measure(void)
{
    bool had;

    for (int i = 0; i < MODULES; i++) {
        if (i >= 2 * PAIRS && version_of[i]) {
            while (th_code_delete(th_atom(names[i]), TH_PURGE_SOFT) != TH_OK)
                sched_yield();
            version_of[i] = 0;
        }
        while (th_code_purge(th_atom(names[i]), TH_PURGE_SOFT, &had) != TH_OK)
            sched_yield();
    }
    while (th_code_purge(th_atom(driver), TH_PURGE_SOFT, &had) != TH_OK)
        sched_yield();
    th_progress_settle();
    return (struct left){lines_of("/proc/self/maps"), open_files(), mallinfo2().uordblks};
}

/* --- The whole test --------------------------------------------------------------------------- */

static struct th_session *count_calls(void)
{
    struct th_session *session = scene_create("counts");
    struct th_pattern all = {TH_NONE, TH_NONE, TH_ANY_ARITY, false};

    assert_int_equal(th_trace_session_function(session, &all, TH_AM(true), TH_BP_COUNT, NULL),
                     TH_OK);
    all.on_load = true;
    assert_int_equal(th_trace_session_function(session, &all, TH_AM(true), TH_BP_COUNT, NULL),
                     TH_OK);
    return session;
}

static uint64_t counted(struct th_session *session, int i)
{
    struct th_mfa name = {th_atom(names[i]), th_atom("number"), 0};
    struct th_bp_info info;

    assert_true(th_trace_session_function_info(session, &name, &info));
    assert_true(info.kinds & TH_BP_COUNT);
    return info.calls;
}

static void load_all(void)
{
    int all[2 * PAIRS];
    const char *name = driver;

    for (int i = 0; i < MODULES; i++)
        snprintf(names[i], sizeof names[i], "version_%04d", i);
    for (int i = 0; i < 2 * PAIRS; i++)
        all[i] = i;
    assert_int_equal(version_load(&name, 1, 1), TH_OK);
    load_set(all, 2 * PAIRS);
}

static void no_call_is_lost_while_code_is_replaced(void **state)
{
    const char *wanted = getenv("STRESS_COMMITS");
    unsigned commits = wanted ? (unsigned)atoi(wanted) : 200 / scale();
    const uint64_t calls = 10 * 1000 * 1000 / scale();
    struct th_runtime_setup setup = {.schedulers = CALLERS};
    struct th_session *session;
    pthread_t threads[CALLERS + 1];
    struct left before, after;
    uint64_t views = 0, made;

    (void)state;
    scene_begin_empty(NULL);
    th_trace_share(scene_tracing());
    setup.tracing = scene_tracing();
    th_runtime_start(&setup);
    session = count_calls();
    load_all();
    pthread_create(&threads[CALLERS], NULL, look_at_pairs, &views);
    for (int i = 0; i < CALLERS; i++)
        pthread_create(&threads[i], NULL, call_all, NULL);
    load_on_and_on(commits / 5);
    before = measure();
    load_on_and_on(commits);
    while (atomic_load(&rounds) * 2 * PAIRS * TIMES < calls)
        load_on_and_on(done.commits + 1);
    atomic_store(&over, true);
    for (int i = 0; i <= CALLERS; i++)
        pthread_join(threads[i], NULL);
    after = measure();
    made = atomic_load(&rounds) * TIMES;
    print_message("%lu calls, %lu views; %u commits of %u modules, %u deleted, %u purged, %u times "
                  "in use; %u mappings, %zu KiB, before %u, %zu KiB\n",
                  made * 2 * PAIRS, views, done.commits, done.modules, done.deleted, done.purged,
                  done.in_use, after.mappings, after.heap / 1024, before.mappings,
                  before.heap / 1024);
    for (int i = 0; i < 2 * PAIRS; i++)
        assert_int_equal(counted(session, i), made);
    assert_int_equal(after.mappings, before.mappings);
    assert_int_equal(after.files, before.files);
    assert_true(scale() > 1 || after.heap < before.heap + before.heap / 10);
    th_trace_session_destroy(session);
    th_runtime_kill_all();
    th_code_end();
    th_runtime_stop();
    scene_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_call_is_lost_while_code_is_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
