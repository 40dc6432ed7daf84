/*
 * One thread turns a local breakpoint into a global one and back as fast as it can. Others call the
 * function, from its module and from others; one more reads the kinds, which must always be one of
 * the two, as both sites change at once. Runs for STRESS_SECONDS, 1 by default.
 */
#include "tests/trace/sites.h"

#include "host/trace/pattern_internal.h"
#include "host/trace/tracing.h"

#include <stdlib.h>
#include <time.h>

enum { CALLERS = 2 };

static atomic_bool over;

static void *call_all_along(void *process)
{
    struct sited_wants wants;
    uint64_t calls = 0;

    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        sited_call(process, &sited_functions[BOTH], th_small(1), calls % 2, &wants);
        sited_return(process, &sited_functions[BOTH], &wants, TH_AM(ok));
        calls++;
    }
    return (void *)calls;
}

/* Reads without the lock of the changing thread. Returns how often the kind had changed between two
 * readings; UINTPTR_MAX: neither or both kinds were seen. */
static void *ask_all_along(void *unused)
{
    const struct th_function_sites *function = &sited_functions[BOTH].live.function;
    struct th_session_breakpoints *breakpoints = atomic_load(&session->breakpoints);
    uintptr_t turns = 0;
    uint32_t last = 0;

    (void)unused;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        struct th_bp_info info;
        uint32_t kinds;
        th_breakpoint_info_of_two(function->site, function->local, &breakpoints->base, &info);
        kinds = info.kinds & TH_PATTERN_EITHER;
        th_breakpoint_info_free(&info);
        if (kinds != TH_BP_LOCAL && kinds != TH_BP_GLOBAL)
            return (void *)UINTPTR_MAX;
        turns += last != kinds;
        last = kinds;
    }
    return (void *)turns;
}

static unsigned seconds(void)
{
    const char *text = getenv("STRESS_SECONDS");
    unsigned given = text ? (unsigned)strtoul(text, NULL, 10) : 1;

    return given ? given : 1;
}

static int64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void local_and_global_sites_change_at_once(void **state)
{
    struct alive *processes[CALLERS];
    pthread_t threads[CALLERS], asking;
    int64_t until = now() + seconds() * INT64_C(1000000000);
    void *calls[CALLERS], *turns;
    struct th_bp_info info;
    uint64_t changes = 0;

    (void)state;
    other = add("t", TH_FLAG_CALL);
    set(other, "both", "true", TH_BP_COUNT);
    set(session, "both", "true", TH_BP_LOCAL);
    th_trace_session_trace(session, TH_PROCESSES_ALL, false, TH_FLAG_CALL); /* no events */
    for (unsigned i = 0; i < CALLERS; i++) {
        processes[i] = alive_spawn(2 + i, NULL, false);
        pthread_create(&threads[i], NULL, call_all_along, processes[i]);
    }
    pthread_create(&asking, NULL, ask_all_along, NULL);
    for (; now() < until; changes++)
        set(session, "both", "true", changes % 2 ? TH_BP_LOCAL : TH_BP_GLOBAL);
    atomic_store(&over, true);
    pthread_join(asking, &turns);
    for (unsigned i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], &calls[i]);
        alive_exit(processes[i]);
    }
    print_message("%lu changes, %lu of them seen, %lu calls\n", changes, (unsigned long)turns,
                  (unsigned long)calls[0] + (unsigned long)calls[1]);
    assert_int_not_equal((uintptr_t)turns, UINTPTR_MAX);
    assert_order((uintptr_t)turns, >, 1);
    th_trace_session_function_info(other, &sited_functions[BOTH].live.function.name, &info);
    assert_int_equal(info.calls, (uintptr_t)calls[0] + (uintptr_t)calls[1]); /* of either kind */
    th_breakpoint_info_free(&info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        local_and_global_sites_change_at_once, begin_sited, end_sited)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
