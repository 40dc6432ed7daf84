/*
 * Measures loading for loading.py, with the host set up as `tracehost run` does. Reads lines:
 *
 *   busy 2           starts two processes, which make external calls as fast as they can
 *   load PATH TIMES  upgrades the module of that library 2 x TIMES times, and writes a line of
 *                    nanoseconds and a count each time: to open a copy; to prepare it; to finish;
 *                    to finish another version, while the module has old code to purge, too; to
 *                    purge; time in which the first finish was runnable, but no processor ran it
 *                    (the kernel's count); number of grace periods that it waited for
 *
 *   loading LIBRARY      tests/plugins/party.so
 */
#include "host/base/base.h"
#include "host/code/code.h"
#include "host/crash/crash.h"
#include "host/library/library.h"
#include "host/runtime/runtime.h"
#include "host/term/term.h"
#include "host/trace/trace.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BUSY = 16, CALLS = 100000 };

static struct th_tracing *tracing;
static struct th_library *library;

static void fail(void)
{
    th_error_print(stderr, "bench");
    exit(1);
}

/* --- Callers ---------------------------------------------------------------------------------- */

static pthread_t callers[MOST_BUSY];
static unsigned caller_count;
static _Atomic bool over; /* relaxed: a flag */

static void *call_on_and_on(void *unused)
{
    const struct th_export *entry = th_code_export_find(th_atom("party"), th_atom("exports"), 1);
    const th_term count = th_small(CALLS);
    struct th_process *process = th_runtime_run_start();
    th_term result;
    th_env env;

    (void)unused;
    th_env_init(&env, TH_ENV_PLAIN);
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        if (th_runtime_run_call_export(process, entry, &count, &env, &result, NULL) !=
            TH_CALL_RETURNED)
            th_bug("party:exports/1 failed");
    th_env_release(&env);
    th_runtime_run_exit(process, TH_AM(normal));
    return NULL;
}

static void make_busy(unsigned count)
{
    atomic_store(&over, true);
    while (caller_count > 0)
        pthread_join(callers[--caller_count], NULL);
    atomic_store(&over, false);
    while (caller_count < count && caller_count < MOST_BUSY)
        pthread_create(&callers[caller_count++], NULL, call_on_and_on, NULL);
}

/* --- Time ------------------------------------------------------------------------------------- */

static long long now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Nanoseconds in which this thread was runnable without a processor, so far. */
static long long waited(void)
{
    static int file = -1;
    char text[96];
    ssize_t size;
    long long ran, time = 0;

    if (file < 0)
        file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    size = pread(file, text, sizeof text - 1, 0);
    text[size > 0 ? size : 0] = 0;
    sscanf(text, "%lld %lld", &ran, &time);
    return time;
}

/* --- Loading ---------------------------------------------------------------------------------- */

struct times {
    long long open, prepare, finish, waited;
    unsigned rounds;
    th_term name;
};

static void load(const char *path, struct times *times)
{
    struct th_instance *prepared;
    struct th_library *opened;
    struct th_finish finish = {.prepared = &prepared, .count = 1, .info = th_small(0)};
    long long began = now(), was_open, was_prepared, had_waited;

    if (th_library_open_copy(path, &opened) != TH_OK)
        fail();
    was_open = now();
    prepared = th_code_prepare(opened);
    was_prepared = now();
    times->name = prepared->module->name;
    times->prepare = was_prepared - was_open;
    times->open = was_open - began;
    had_waited = waited();
    began = now();
    if (th_code_finish(&finish) != TH_OK)
        fail();
    times->finish = now() - began;
    times->waited = waited() - had_waited;
    times->rounds = finish.rounds;
}

static void purge(th_term name)
{
    bool had;

    if (th_code_purge(name, TH_PURGE_SOFT, &had) != TH_OK)
        fail();
}

/* The first load of a module is no upgrade and is not reported. */
static void upgrade(const char *path, long count)
{
    struct times first, second;

    load(path, &first);
    for (long i = 0; i < count; i++) {
        long long began;
        purge(first.name);
        load(path, &first);
        load(path, &second);
        began = now();
        purge(first.name);
        printf("%lld %lld %lld %lld %lld %lld %u\n", first.open, first.prepare, first.finish,
               second.finish, now() - began, first.waited, first.rounds);
    }
    fflush(stdout);
}

/* --- The scene -------------------------------------------------------------------------------- */

static void begin(const char *path)
{
    th_crash_install();
    tracing = th_trace_create();
    th_trace_share(tracing);
    th_trace_replay_nothing(tracing);
    th_runtime_start(&(const struct th_runtime_setup){.tracing = tracing, .schedulers = 2});
    if (th_library_open(path, &library) != TH_OK ||
        th_library_load(library, NULL, th_small(0)) != TH_OK)
        fail();
    th_code_module_add(library);
}

static void end(void)
{
    make_busy(0);
    th_runtime_kill_all();
    th_code_module_remove(library);
    th_code_end();
    th_library_release(library);
    th_runtime_stop();
    th_trace_free(tracing);
    th_crash_end();
}

int main(int argc, char **argv)
{
    char what[16], path[4096];
    long times;

    if (argc != 2)
        return TH_USAGE;
    begin(argv[1]);
    while (scanf("%15s", what) == 1)
        if (strcmp(what, "busy") == 0 && scanf("%ld", &times) == 1)
            make_busy((unsigned)times);
        else if (strcmp(what, "load") == 0 && scanf("%4095s %ld", path, &times) == 2)
            upgrade(path, times);
    end();
    return 0;
}
