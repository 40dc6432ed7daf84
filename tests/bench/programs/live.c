/*
 * Live calls: what a call costs that passes a site, with everything that trace/ does between the
 * site and the tracer; and what changes of patterns cost a thread that calls.
 *
 *   live TRACER       tests/tracers/as_state.so
 */
#include "measure.h"

#include "host/base/base.h"
#include "host/process/process.h"
#include "host/trace/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { FUNCTIONS = 10000, PER_MODULE = 1000, CALLS = 100000, GOES = 301 };

static struct th_tracing *tracing;
static struct th_library *library;
static struct th_session *discarding, *tracing_all;
static struct th_live_process process, idle; /* traced; not */
static struct th_live_function functions[FUNCTIONS];
static struct th_live_function *all[FUNCTIONS];
static th_env env;

static th_term parse(const char *text)
{
    th_term term = TH_NONE;

    if (th_text_parse(&env, text, strlen(text), &term) != TH_OK)
        th_bug("%s: %s", text, th_error_link(0));
    return term;
}

static void set(struct th_session *session, const struct th_pattern *pattern, th_term match,
                uint32_t kinds)
{
    if (th_session_function(session, pattern, match, kinds, NULL) != TH_OK)
        th_bug("%s", th_error_link(0));
}

static struct th_pattern pattern_of(uint32_t f)
{
    struct th_function name = functions[f].function.name;

    return (struct th_pattern){name.module, name.function, (int)name.arity, false};
}

/* --- Calls ------------------------------------------------------------------------------------ */

static uint64_t asked;

/* Volatile: so that it is a call through a pointer, each time. */
static ERL_NIF_TERM (*volatile enabled)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

static uint64_t call_enabled(void)
{
    for (int i = 0; i < CALLS; i++) {
        th_term argv[] = {TH_AM(call), TH_AM(discard), process.id};
        asked += enabled(&env, 3, argv);
        __asm__ volatile("" ::: "memory");
    }
    return CALLS;
}

/* What stands in a function that may be traced. */
static __attribute__((noinline)) void pass(struct th_live_process *by,
                                           const struct th_live_function *function)
{
    th_term argument = th_small(1);
    struct th_live_call call = {.process = by,
                                .function = function,
                                .site = function->function.site,
                                .arguments = &argument,
                                .external = true};
    struct th_live_wants wants;

    if (th_live_function_is_armed(function))
        th_live_call(&call, &wants);
}

static uint64_t pass_often(uint32_t f)
{
    for (int i = 0; i < CALLS; i++) {
        pass(&process, &functions[f]);
        __asm__ volatile("" ::: "memory");
    }
    return CALLS;
}

static uint64_t pass_untraced(void)
{
    return pass_often(0);
}

static uint64_t pass_clear(void)
{
    for (int i = 0; i < CALLS; i++) {
        pass(&idle, &functions[1]);
        __asm__ volatile("" ::: "memory");
    }
    return CALLS;
}

static uint64_t pass_discarded(void)
{
    return pass_often(1);
}

static uint64_t pass_traced(void)
{
    return pass_often(2);
}

static uint64_t pass_filtered(void)
{
    return pass_often(3);
}

static uint64_t pass_counted(void)
{
    return pass_often(4);
}

static void measure_calls(void)
{
    const struct measure_case cases[] = {
        {"enabled_call alone", call_enabled}, {"no breakpoint", pass_untraced},
        {"flags clear", pass_clear},          {"discarded", pass_discarded},
        {"empty trace_call", pass_traced},    {"filtered by a guard", pass_filtered},
        {"call_count", pass_counted},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    double ratios[CASES];

    printf("A live call that passes a site:\n");
    measure_pairs(stdout, cases, CASES, GOES, ratios);
    printf("  a discarded call takes %.2f times what its enabled_call takes\n", ratios[3]);
}

/* --- A thread that calls while patterns change ------------------------------------------------ */

enum { ROUNDS = 41, SPAN = 20 /* milliseconds */ };

static atomic_bool over;
static _Atomic uint64_t calls_made; /* relaxed: a figure */

static void *call_all_along(void *unused)
{
    enum { AT_ONCE = 256 };
    uint64_t count = 0;

    (void)unused;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        for (int i = 0; i < AT_ONCE; i++)
            pass(&process, &functions[count++ * 70 % FUNCTIONS]);
        atomic_store_explicit(&calls_made, count, memory_order_relaxed);
    }
    return NULL;
}

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How the other thread changes patterns, while one calls. */
struct pace {
    const char *name;
    int functions; /* of a change: 1, a module of PER_MODULE, or all */
    double every;  /* seconds from one to the next, asleep; 0: at once */
    uint64_t changes;
    double shares[ROUNDS]; /* of the throughput without changes, by the caller's processor time */
};

static void change(int count)
{
    struct th_pattern pattern = pattern_of(0);

    if (count > 1)
        pattern.function = TH_NONE, pattern.arity = TH_ANY_ARITY;
    if (count > PER_MODULE)
        pattern.module = TH_NONE;
    set(discarding, &pattern, TH_AM(true), TH_BP_LOCAL);
}

static void change_for_a_while(struct pace *pace, bool changes)
{
    double next = now(CLOCK_MONOTONIC), end = next + SPAN / 1e3, left;

    while (now(CLOCK_MONOTONIC) < end) {
        if (changes) {
            change(pace->functions);
            pace->changes++;
        }
        next += pace->every;
        left = next - now(CLOCK_MONOTONIC);
        if (pace->every > 0 && left > 0)
            nanosleep(&(struct timespec){.tv_nsec = (long)(left * 1e9)}, NULL);
    }
}

static double throughput(struct pace *pace, bool changes, clockid_t callers)
{
    double own = now(callers);
    uint64_t before = atomic_load_explicit(&calls_made, memory_order_relaxed);

    change_for_a_while(pace, changes);
    return (double)(atomic_load_explicit(&calls_made, memory_order_relaxed) - before) /
           (now(callers) - own);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure_throughput(void)
{
    static struct pace paces[] = {
        {"1, 100 times a second", 1, 1e-2, 0, {0}},
        {"1,000, 100 times a second", PER_MODULE, 1e-2, 0, {0}},
        {"1, without a pause", 1, 0, 0, {0}},
        {"1,000, without a pause", PER_MODULE, 0, 0, {0}},
    };
    pthread_t thread;
    clockid_t callers;

    change(FUNCTIONS);
    pthread_create(&thread, NULL, call_all_along, NULL);
    pthread_getcpuclockid(thread, &callers);
    printf(
        "Throughput of a thread's discarded calls while another sets so many patterns again, of\n"
        "that while it sets none, by the time that the thread had a processor: the median of\n"
        "pairs (and the middle half):\n");
    for (size_t k = 0; k < sizeof paces / sizeof *paces; k++) {
        struct pace *pace = &paces[k];
        for (int i = 0; i < ROUNDS; i++) {
            double alone = throughput(pace, false, callers);
            pace->shares[i] = throughput(pace, true, callers) / alone;
        }
        qsort(pace->shares, ROUNDS, sizeof *pace->shares, by_value);
        printf("  %-26s %5.1f %% (%5.1f to %5.1f) %7.0f changes/s\n", pace->name,
               100 * pace->shares[ROUNDS / 2], 100 * pace->shares[ROUNDS / 4],
               100 * pace->shares[ROUNDS * 3 / 4], (double)pace->changes * 1e3 / SPAN / ROUNDS);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
}

/* --- The scene -------------------------------------------------------------------------------- */

static struct th_session *create(const char *state)
{
    struct th_session_setup setup = {.name = state, .library = library, .state = th_atom(state)};
    struct th_session *session;

    th_library_keep(library);
    if (th_session_create(tracing, &setup, &session) != TH_OK)
        th_bug("%s", th_error_link(0));
    th_session_trace(session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    return session;
}

static void begin(const char *path)
{
    char name[16];

    th_env_init(&env, TH_ENV_PLAIN);
    if (th_library_open(path, &library) != TH_OK || th_library_check_tracer(library) != TH_OK)
        th_bug("%s", th_error_link(0));
    enabled = th_library_slots(library)->functions[TH_SLOT_enabled_call];
    tracing = th_tracing_create();
    th_tracing_share(tracing);
    for (int i = 0; i < FUNCTIONS; i++) {
        snprintf(name, sizeof name, "m%d", i / PER_MODULE);
        functions[i].function.name.module = th_atom(name);
        snprintf(name, sizeof name, "f%d", i);
        functions[i].function.name =
            (struct th_function){functions[i].function.name.module, th_atom(name), 1};
        all[i] = &functions[i];
    }
    th_live_functions_begin(tracing, all, FUNCTIONS);
    discarding = create("discard");
    tracing_all = create("trace");
    process.id = th_local_pid(1, TH_HOST_SERIAL);
    th_live_process_begin(&process, tracing, NULL, false);
    idle.id = th_local_pid(2, TH_HOST_SERIAL);
    th_live_process_begin(&idle, tracing, NULL, false);
    th_session_trace_one(discarding, idle.id, false, TH_FLAG_CALL);
    th_session_trace_one(tracing_all, idle.id, false, TH_FLAG_CALL);
    th_session_trace_one(discarding, process.id, true, TH_FLAG_CALL);
    th_session_trace_one(tracing_all, process.id, true, TH_FLAG_CALL);
}

static void set_patterns(void)
{
    struct th_pattern one[] = {pattern_of(1), pattern_of(2), pattern_of(3), pattern_of(4)};

    set(discarding, &one[0], TH_AM(true), TH_BP_LOCAL);
    set(tracing_all, &one[1], TH_AM(true), TH_BP_LOCAL);
    set(tracing_all, &one[2], parse("[{['$1'],[{'>','$1',5}],[]}]"), TH_BP_LOCAL);
    set(discarding, &one[3], TH_AM(true), TH_BP_COUNT);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        th_bug("live TRACER");
    begin(argv[1]);
    set_patterns();
    measure_calls();
    measure_throughput();
    th_live_process_end(&process);
    th_live_process_end(&idle);
    th_live_functions_end(tracing, all, FUNCTIONS);
    th_tracing_free(tracing);
    th_library_release(library);
    th_env_release(&env);
    return 0;
}
