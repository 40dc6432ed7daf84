/*
 * Measures live calls: the cost of a call that passes a site, with all of trace/ between the site
 * and
 * the tracer, and the cost of pattern changes for a thread that calls.
 *
 *   live TRACER [CASE]    tests/tracers/as_state.so; only the calls of one case, for callgrind
 */
#include "measure.h"

#include "host/base/base.h"
#include "host/code/code.h"
#include "host/library/library.h"
#include "host/process/process.h"
#include "host/term/term.h"
#include "host/trace/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { FUNCTIONS = 10000, PER_MODULE = 1000, CALLS = 100000, GOES = 301 };

/* Functions, named after the patterns set on them. */
enum { UNTRACED, DISCARDED, TRACED, TRACED_3, RETURNING, FILTERED, MATCHED, CALLED, COUNTED };

static struct th_tracing *tracing;
static struct th_library *library;
static struct th_session *discarding, *tracing_all;
static struct th_live_tracee process, idle, unseen; /* traced; traced for messages; not traced */
static struct th_traceable_function functions[FUNCTIONS];
static struct th_traceable_function *all[FUNCTIONS];
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
    if (th_trace_session_function(session, pattern, match, kinds, NULL) != TH_OK)
        th_bug("%s", th_error_link(0));
}

static struct th_pattern pattern_of(uint32_t f)
{
    struct th_mfa name = functions[f].function.name;

    return (struct th_pattern){name.module, name.function, (int)name.arity, false};
}

/* --- Calls ------------------------------------------------------------------------------------ */

static uint64_t asked;

/* Volatile, so that each call goes through the pointer. */
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

static th_term arguments[3]; /* small integers: 1, 2, 3 */

/* A function that cannot be traced. */
static __attribute__((noinline)) void do_nothing(struct th_live_tracee *by,
                                                 const struct th_traceable_function *function)
{
    __asm__ volatile("" ::"r"(by), "r"(function));
}

/* The code at the entry of a function that may be traced. */
static __attribute__((noinline)) void pass(struct th_live_tracee *by,
                                           const struct th_traceable_function *function)
{
    struct th_call_event call = {.process = by,
                                 .function = function,
                                 .site = function->function.site,
                                 .arguments = arguments,
                                 .external = true};
    struct th_live_requests wants;

    if (!th_live_function_is_armed(function))
        return;
    th_live_call(&call, &wants);
    if (wants.count > 0)
        th_live_return(by, function, &wants, th_small(0));
}

static uint64_t pass_often(struct th_live_tracee *by, uint32_t f)
{
    for (int i = 0; i < CALLS; i++) {
        pass(by, &functions[f]);
        __asm__ volatile("" ::: "memory");
    }
    return CALLS;
}

static uint64_t call_plainly(void)
{
    for (int i = 0; i < CALLS; i++) {
        do_nothing(&process, &functions[UNTRACED]);
        __asm__ volatile("" ::: "memory");
    }
    return CALLS;
}

static uint64_t pass_untraced(void)
{
    return pass_often(&process, UNTRACED);
}

static uint64_t pass_clear(void)
{
    return pass_often(&idle, DISCARDED);
}

static uint64_t pass_unseen(void)
{
    return pass_often(&unseen, DISCARDED);
}

static uint64_t pass_discarded(void)
{
    return pass_often(&process, DISCARDED);
}

static uint64_t pass_traced(void)
{
    return pass_often(&process, TRACED);
}

static uint64_t pass_traced_3(void)
{
    return pass_often(&process, TRACED_3);
}

static uint64_t pass_returning(void)
{
    return pass_often(&process, RETURNING);
}

static uint64_t pass_matched(void)
{
    return pass_often(&process, MATCHED);
}

static uint64_t pass_filtered(void)
{
    return pass_often(&process, FILTERED);
}

static uint64_t pass_called(void)
{
    return pass_often(&process, CALLED);
}

static uint64_t pass_counted(void)
{
    return pass_often(&process, COUNTED);
}

static void measure_calls(void)
{
    const struct measure_case cases[] = {
        {"a plain call", call_plainly},
        {"enabled_call alone", call_enabled},
        {"no breakpoint", pass_untraced},
        {"flags clear", pass_clear},
        {"not traced", pass_unseen},
        {"discarded", pass_discarded},
        {"empty trace_call, 1 argument", pass_traced},
        {"the same, 3 arguments", pass_traced_3},
        {"the same and return_from", pass_returning},
        {"filtered by a guard", pass_filtered},
        {"matched by a guard, traced", pass_matched},
        {"a message, traced", pass_called},
        {"call_count", pass_counted},
    };
    enum { CASES = sizeof cases / sizeof *cases, ENABLED = 1, DISCARDING = 5 };
    double ratios[CASES];

    printf("A live call that passes a site:\n");
    measure_pairs(stdout, cases, CASES, GOES, NULL, ratios);
    printf("  of a plain call:");
    for (size_t i = 1; i < CASES; i++)
        printf("%s %s %.1f", i > 1 ? "," : "", cases[i].name, ratios[i]);
    printf("\n  a discarded call takes %.2f times what its enabled_call takes\n",
           ratios[DISCARDING] / ratios[ENABLED]);
}

/* Runs one case for callgrind, with so many calls that the start-up does not matter. */
static void repeat(const char *name)
{
    static const struct measure_case cases[] = {
        {"plain", call_plainly},     {"untraced", pass_untraced},   {"clear", pass_clear},
        {"unseen", pass_unseen},     {"discarded", pass_discarded}, {"traced", pass_traced},
        {"traced_3", pass_traced_3}, {"returning", pass_returning}, {"matched", pass_matched},
        {"filtered", pass_filtered}, {"called", pass_called},       {"counted", pass_counted},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].run();
            return;
        }
    th_bug("no case '%s'", name);
}

/* --- A thread that calls while patterns change ------------------------------------------------ */

enum { ROUNDS = 21, SPAN = 20 /* length of a round, in milliseconds */ };

static atomic_bool over;
static _Atomic uint64_t calls_made; /* relaxed: a statistic */

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

/* One way in which a thread changes patterns while another calls. */
struct pace {
    const char *name;
    int functions; /* functions in a change: 1, a module of PER_MODULE, or all */
    double every;  /* seconds between changes, asleep; 0: no pause */
    uint64_t changes;
    double shares[ROUNDS]; /* throughput, as a share of that without changes; processor time */
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
    if (th_trace_session_create(tracing, &setup, &session) != TH_OK)
        th_bug("%s", th_error_link(0));
    return session;
}

static void be_born(struct th_live_tracee *self, uint32_t number, uint32_t flags)
{
    self->id = th_local_pid(number, TH_HOST_SERIAL);
    th_live_process_begin(self, tracing, NULL, false);
    if (!flags)
        return;
    th_trace_session_trace_one(discarding, self->id, true, flags);
    th_trace_session_trace_one(tracing_all, self->id, true, flags);
}

static void begin(const char *path)
{
    char name[16];

    th_env_init(&env, TH_ENV_PLAIN);
    if (th_library_open(path, &library) != TH_OK || th_library_check_tracer(library) != TH_OK)
        th_bug("%s", th_error_link(0));
    enabled = th_library_slots(library)->functions[TH_SLOT_enabled_call];
    tracing = th_trace_create();
    th_trace_share(tracing);
    for (int i = 0; i < FUNCTIONS; i++) {
        snprintf(name, sizeof name, "m%d", i / PER_MODULE);
        functions[i].function.name.module = th_atom(name);
        snprintf(name, sizeof name, "f%d", i);
        functions[i].function.name =
            (struct th_mfa){functions[i].function.name.module, th_atom(name), 1};
        if (i == TRACED_3)
            functions[i].function.name.arity = 3;
        all[i] = &functions[i];
    }
    th_code_permission_wait();
    th_live_functions_begin(tracing, all, FUNCTIONS);
    th_code_permission_release();
    discarding = create("discard");
    tracing_all = create("trace");
    for (int i = 0; i < 3; i++)
        arguments[i] = th_small(i + 1);
    be_born(&process, 1, TH_FLAG_CALL);
    be_born(&idle, 2, TH_FLAG_SEND);
    be_born(&unseen, 3, TH_FLAG_NONE);
}

static void set_one(uint32_t f, struct th_session *session, const char *match, uint32_t kinds)
{
    struct th_pattern pattern = pattern_of(f);

    set(session, &pattern, parse(match), kinds);
}

static void set_patterns(void)
{
    set_one(DISCARDED, discarding, "true", TH_BP_LOCAL);
    set_one(TRACED, tracing_all, "true", TH_BP_LOCAL);
    set_one(TRACED_3, tracing_all, "true", TH_BP_LOCAL);
    set_one(RETURNING, tracing_all, "[{'_',[],[{return_trace}]}]", TH_BP_LOCAL);
    set_one(FILTERED, tracing_all, "[{['$1'],[{'>','$1',5}],[]}]", TH_BP_LOCAL);
    set_one(MATCHED, tracing_all, "[{['$1'],[{'<','$1',5}],[]}]", TH_BP_LOCAL);
    set_one(CALLED, tracing_all, "[{'_',[],[{message,'$_'}]}]", TH_BP_LOCAL);
    set_one(COUNTED, discarding, "true", TH_BP_COUNT);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3)
        th_bug("live TRACER [CASE]");
    begin(argv[1]);
    set_patterns();
    if (argc == 3) {
        repeat(argv[2]);
    } else {
        measure_calls();
        measure_throughput();
    }
    th_live_process_end(&process);
    th_live_process_end(&idle);
    th_live_process_end(&unseen);
    th_code_permission_wait();
    th_live_functions_end(tracing, all, FUNCTIONS);
    th_code_permission_release();
    th_trace_free(tracing);
    th_library_release(library);
    th_env_release(&env);
    return 0;
}
