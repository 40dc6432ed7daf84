/*
 * Measures how long schedulers pause while code is replaced. Two processes call functions of a
 * module
 * as fast as they can, by tail calls to its current code. A tracer that counts gaps gets each call.
 * The module is upgraded every few milliseconds.
 *
 *   pauses GAPS DRIVER MODULE WHAT COUNT
 *
 * GAPS: tests/bench/libraries/gaps.so, which prints its histograms at the end. DRIVER and MODULE:
 * the modules version_000d and version_0000, of tests/plugins/version.c. WHAT: `upgrade`;
 * `prepare`, which drops each prepared instance; `nothing`.
 */
#include "host/base/base.h"
#include "host/breakpoint/breakpoint.h"
#include "host/code/code.h"
#include "host/crash/crash.h"
#include "host/library/library.h"
#include "host/runtime/runtime.h"
#include "host/term/term.h"
#include "host/trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLERS = 2, PACE_NS = 3000000 };

static const char name[] = "version_0000";
static struct th_tracing *tracing;
static struct th_session *session;

static void fail(void)
{
    th_error_print(stderr, "bench");
    exit(1);
}

/* --- Callers ---------------------------------------------------------------------------------- */

/* Starts processes that call for ever, so that their schedulers never sleep. */
static void start_callers(void)
{
    const struct th_export *spawn = th_code_export_find(th_atom("party"), th_atom("spawn"), 4);
    struct th_process *process = th_runtime_run_start();
    th_term argv[4] = {th_atom(name), th_atom("serve")}, pid;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    argv[2] = th_make_cons(&env, th_atom(name), TH_NIL);
    argv[3] = th_small(0);
    for (int i = 0; i < CALLERS; i++) {
        if (th_runtime_run_call_export(process, spawn, argv, &env, &pid, NULL) != TH_CALL_RETURNED)
            th_bug("party:spawn/4 failed");
        th_trace_session_trace_one(session, pid, true, TH_FLAG_CALL);
    }
    th_env_release(&env);
    th_runtime_run_exit(process, TH_AM(normal));
}

/* --- Loading ---------------------------------------------------------------------------------- */

static struct th_instance *prepare(const char *path)
{
    struct th_library *library;

    if (th_library_open_copy(path, &library) != TH_OK)
        fail();
    return th_code_prepare(library);
}

/* Retries while old code is still in use. */
static void load(const char *path)
{
    struct th_instance *prepared = prepare(path);
    struct th_finish finish = {.prepared = &prepared, .count = 1, .info = th_small(1)};

    while (th_code_finish(&finish) != TH_OK) {
        if (th_error_status() != TH_REFUSED)
            fail();
        th_error_clear();
        nanosleep(&(struct timespec){.tv_nsec = PACE_NS}, NULL);
    }
}

static long now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void repeat(const char *what, const char *path, long count)
{
    bool upgrades = strcmp(what, "upgrade") == 0, prepares = strcmp(what, "prepare") == 0;
    long end = now_ms() + count;

    for (long i = 0; upgrades ? i < count : now_ms() < end; i++) {
        nanosleep(&(struct timespec){.tv_nsec = PACE_NS}, NULL);
        if (upgrades)
            load(path);
        else if (prepares)
            th_code_prepared_drop(prepare(path));
    }
}

/* --- The scene -------------------------------------------------------------------------------- */

static void trace_calls(const char *gaps)
{
    struct th_session_setup setup = {.name = "gaps", .state = TH_NIL};
    const struct th_pattern serve = {th_atom(name), th_atom("serve"), 1, false};

    if (th_library_open(gaps, &setup.library) != TH_OK ||
        th_library_load(setup.library, NULL, th_small(0)) != TH_OK ||
        th_trace_session_create(tracing, &setup, &session) != TH_OK ||
        th_trace_session_function(session, &serve, TH_AM(true), TH_BP_GLOBAL, NULL) != TH_OK)
        fail();
}

static void begin(char **paths)
{
    th_crash_install();
    tracing = th_trace_create();
    th_trace_share(tracing);
    th_trace_replay_nothing(tracing);
    th_runtime_start(&(const struct th_runtime_setup){.tracing = tracing, .schedulers = CALLERS});
    load(paths[1]);
    load(paths[2]);
    trace_calls(paths[0]);
}

static void end(void)
{
    th_runtime_kill_all();
    th_trace_session_destroy(session);
    th_code_end();
    th_runtime_stop();
    th_trace_free(tracing);
    th_crash_end();
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return TH_USAGE;
    begin(argv + 1);
    start_callers();
    repeat(argv[4], argv[3], atol(argv[5]));
    end();
    return 0;
}
