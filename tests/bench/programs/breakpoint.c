/*
 * Measures breakpoints: the cost of a call that passes a site, the cost of a change, and the cost
 * of
 * changes for threads that call meanwhile.
 *
 *   breakpoint
 */
#include "measure.h"

#include "host/base/base.h"
#include "host/breakpoint/breakpoint.h"
#include "host/progress/progress.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

enum { SITES = 10000, CALLS = 100000, GOES = 301 /* rounds of less than a millisecond each */ };

/* --- Calls ------------------------------------------------------------------------------------ */

/* Stands for a tracer's enabled_call as its caller sees it: three terms, answer `discard`. */
typedef uint64_t enabled_call(void *env, int argc, const uint64_t argv[]);

static __attribute__((noinline)) uint64_t discard(void *env, int argc, const uint64_t argv[])
{
    (void)env;
    (void)argv;
    return (uint64_t)argc - 3;
}

/* Volatile, so that each call goes through the pointer. */
static enabled_call *volatile enabled = discard;

static uint32_t offer(struct th_hit *hit, struct th_bp_session *session, struct th_shared *spec,
                      uint32_t kind)
{
    uint64_t argv[3] = {(uintptr_t)hit->context, (uintptr_t)spec, kind};

    (void)session;
    return enabled(NULL, 3, argv) ? TH_HIT_RETURN : 0;
}

static struct th_account account;

static struct th_account *account_of(struct th_hit *hit, struct th_bp_session *session,
                                     struct th_account_reading *reading)
{
    (void)hit;
    (void)session;
    *reading = (struct th_account_reading){.process = 1};
    return &account;
}

static void entered(struct th_hit *hit, struct th_bp_session *session,
                    const struct th_account_frame *frame)
{
    (void)hit;
    (void)session;
    account.time = frame->time;
}

static const struct th_bp_hooks hooks = {.call = offer, .account = account_of, .entered = entered};

static void end_session(struct th_shared *session)
{
    (void)session;
}

static struct th_bp_session session;
static struct th_site *sites[SITES];
static struct th_site *site;
static uint64_t asked;

static uint64_t call_enabled(void)
{
    uint64_t argv[3] = {1, 2, 3};

    for (int i = 0; i < CALLS; i++) {
        asked += enabled(NULL, 3, argv);
        __asm__ volatile("" ::: "memory");
    }
    return CALLS;
}

/* The code at the entry of a function that may be traced. */
static __attribute__((noinline)) void pass(uint32_t kinds)
{
    struct th_hit hit = {.kinds = kinds};

    if (th_breakpoint_site_is_armed(site))
        asked += th_breakpoint_hit(site, &hit);
}

static uint64_t pass_often(uint32_t kinds)
{
    for (int i = 0; i < CALLS; i++)
        pass(kinds);
    return CALLS;
}

static void set(uint32_t kinds)
{
    struct th_change *change = th_breakpoint_change_create();

    th_breakpoint_change_add(
        change, &(struct th_bp_setting){
                    .site = site, .session = &session, .clear = TH_BP_ALL, .set = kinds});
    th_breakpoint_change_run(change, NULL, NULL);
}

static uint64_t pass_untraced(void)
{
    set(0);
    return pass_often(TH_BP_ALL);
}

static uint64_t pass_clear(void)
{
    set(TH_BP_GLOBAL);
    return pass_often(TH_BP_LOCAL);
}

static uint64_t pass_discarded(void)
{
    set(TH_BP_LOCAL);
    return pass_often(TH_BP_ALL);
}

static uint64_t pass_counted(void)
{
    set(TH_BP_COUNT);
    return pass_often(TH_BP_ALL);
}

static uint64_t pass_timed(void)
{
    set(TH_BP_TIME);
    return pass_often(TH_BP_ALL);
}

/* --- Changes ---------------------------------------------------------------------------------- */

static void change_sites(size_t count, uint32_t kinds)
{
    struct th_change *change = th_breakpoint_change_create();

    for (size_t i = 0; i < count; i++)
        th_breakpoint_change_add(change, &(struct th_bp_setting){.site = sites[i],
                                                                 .session = &session,
                                                                 .set = kinds,
                                                                 .clear = kinds ? 0 : TH_BP_ALL});
    th_breakpoint_change_run(change, NULL, NULL);
}

enum { ADDED = 20000 /* breakpoints in each case */ };

static uint64_t add_and_remove(size_t count)
{
    for (size_t i = 0; i < ADDED; i += count) {
        change_sites(count, TH_BP_LOCAL);
        change_sites(count, 0);
    }
    return 2 * (ADDED / count); /* changes */
}

static uint64_t change_one(void)
{
    return add_and_remove(1);
}

static uint64_t change_thousand(void)
{
    return add_and_remove(1000);
}

static uint64_t change_all(void)
{
    return add_and_remove(SITES);
}

static uint64_t update_one_of_all(void)
{
    enum { UPDATES = 5000 };

    change_sites(SITES, TH_BP_LOCAL);
    for (int i = 0; i < UPDATES; i++)
        change_sites(1, TH_BP_LOCAL);
    change_sites(SITES, 0);
    return UPDATES;
}

/* --- Changes that nobody waits for ------------------------------------------------------------ */

static sem_t made;

static void note_made(struct th_change *change, void *context)
{
    (void)change;
    (void)context;
    sem_post(&made);
}

static void ask_inside(uint32_t kinds)
{
    struct th_change *change = th_breakpoint_change_create();

    th_breakpoint_change_add(
        change, &(struct th_bp_setting){
                    .site = site, .session = &session, .clear = TH_BP_ALL, .set = kinds});
    th_progress_enter(); /* as in a callback */
    th_breakpoint_change_run(change, note_made, NULL);
    th_progress_leave();
    while (sem_wait(&made) != 0)
        ; /* interrupted by a signal */
}

static uint64_t change_pending(void)
{
    enum { ASKED = 10 };

    for (int i = 0; i < ASKED / 2; i++) {
        ask_inside(TH_BP_LOCAL);
        ask_inside(0);
    }
    return ASKED;
}

/* --- A thread that calls while breakpoints change --------------------------------------------- */

enum { ROUNDS = 21, SPAN = 20 /* length of a round, in milliseconds */ };

static atomic_bool over;
static _Atomic uint64_t calls_made; /* relaxed: a statistic */

static void *call_all_along(void *unused)
{
    enum { AT_ONCE = 256 };
    uint64_t count = 0;

    (void)unused;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        for (int i = 0; i < AT_ONCE; i++) {
            struct th_hit hit = {.kinds = TH_BP_ALL};
            struct th_site *one = sites[count++ * 70 % SITES]; /* 1,000 of the sites */
            if (th_breakpoint_site_is_armed(one))
                asked += th_breakpoint_hit(one, &hit);
        }
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

/* One way in which a thread changes breakpoints while another calls. */
struct pace {
    const char *name;
    size_t count; /* breakpoints in each change */
    double every; /* seconds between changes, asleep; 0: no pause */
    uint64_t changes;
    /* Throughput as a share of the throughput without changes just before: by the clock, and by the
     * caller's processor time, which may leave out interrupts but not other programs' time. */
    double shares[ROUNDS], of_own[ROUNDS];
};

static void sleep_until(double when)
{
    double left = when - now(CLOCK_MONOTONIC);
    struct timespec time = {.tv_nsec = (long)(left * 1e9)};

    if (left > 0)
        nanosleep(&time, NULL);
}

/* Changes are updates, so the cost of a call stays the same. If COUNT is 0, the thread is as busy,
 * or as long asleep, without changes. */
static void change_for_a_while(struct pace *pace, size_t count)
{
    double next = now(CLOCK_MONOTONIC), end = next + SPAN / 1e3;

    while (now(CLOCK_MONOTONIC) < end) {
        if (count) {
            change_sites(count, TH_BP_LOCAL);
            pace->changes++;
        }
        next += pace->every;
        if (pace->every > 0)
            sleep_until(next);
    }
}

struct throughput {
    double by_clock, of_own;
};

static struct throughput throughput(struct pace *pace, size_t count, clockid_t callers)
{
    double own = now(callers), began = now(CLOCK_MONOTONIC);
    uint64_t before = atomic_load_explicit(&calls_made, memory_order_relaxed);
    double calls;

    change_for_a_while(pace, count);
    calls = (double)(atomic_load_explicit(&calls_made, memory_order_relaxed) - before);
    return (struct throughput){calls / (now(CLOCK_MONOTONIC) - began),
                               calls / (now(callers) - own)};
}

static void measure_pair(struct pace *pace, int round, clockid_t callers)
{
    struct throughput alone = throughput(pace, 0, callers);
    struct throughput changed = throughput(pace, pace->count, callers);

    if (alone.by_clock == 0 || changed.by_clock == 0) /* the caller got no processor time */
        return measure_pair(pace, round, callers);
    pace->shares[round] = changed.by_clock / alone.by_clock;
    pace->of_own[round] = changed.of_own / alone.of_own;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void write_shares(double *shares)
{
    qsort(shares, ROUNDS, sizeof *shares, by_value);
    printf(" %5.1f %% (%5.1f to %5.1f)", 100 * shares[ROUNDS / 2], 100 * shares[ROUNDS / 4],
           100 * shares[ROUNDS * 3 / 4]);
}

static void write_pace(struct pace *pace)
{
    printf("  %-26s", pace->name);
    write_shares(pace->shares);
    write_shares(pace->of_own);
    printf(" %7.0f changes/s\n", (double)pace->changes * 1e3 / SPAN / ROUNDS);
}

/* Binds THREAD to the I-th processor that this program may use, if there is one. */
static void bind_to(pthread_t thread, int i)
{
    static cpu_set_t allowed;
    cpu_set_t one;

    if (CPU_COUNT(&allowed) == 0)
        sched_getaffinity(0, sizeof allowed, &allowed);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && i-- == 0)
            CPU_SET(cpu, &one);
    if (CPU_COUNT(&one) > 0)
        pthread_setaffinity_np(thread, sizeof one, &one);
}

static void measure_throughput(void)
{
    static struct pace paces[] = {
        {"1, 100 times a second", 1, 1e-2, 0, {0}, {0}},
        {"1,000, 100 times a second", 1000, 1e-2, 0, {0}, {0}},
        {"10,000, 50 times a second", SITES, 2e-2, 0, {0}, {0}},
        {"1, without a pause", 1, 0, 0, {0}, {0}},
        {"1,000, without a pause", 1000, 0, 0, {0}, {0}},
        {"10,000, without a pause", SITES, 0, 0, {0}, {0}},
    };
    enum { PACES = sizeof paces / sizeof *paces };
    pthread_t thread;
    clockid_t callers;

    change_sites(SITES, TH_BP_LOCAL);
    pthread_create(&thread, NULL, call_all_along, NULL);
    pthread_getcpuclockid(thread, &callers);
    bind_to(pthread_self(), 0);
    bind_to(thread, 1);
    for (int i = 0; i < ROUNDS; i++)
        for (size_t k = 0; k < PACES; k++)
            measure_pair(&paces[k], i, callers);
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    change_sites(SITES, 0);
    printf(
        "Throughput of a thread's discarded calls while another changes so many breakpoints, of\n"
        "that while it changes none: by the clock, and by the time that the thread had a "
        "processor;\n"
        "medians of pairs (and the middle half):\n");
    for (size_t k = 0; k < PACES; k++)
        write_pace(&paces[k]);
}

static void measure_calls(void)
{
    const struct measure_case cases[] = {
        {"enabled_call alone", call_enabled}, {"no breakpoint", pass_untraced},
        {"flags clear", pass_clear},          {"discarded", pass_discarded},
        {"call_count", pass_counted},         {"call_time, no clock", pass_timed},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    double ratios[CASES];

    printf("A call that passes a site, breakpoints of one session:\n");
    measure_pairs(stdout, cases, CASES, GOES, NULL, ratios);
    printf("  a discarded hit takes %.2f times what its enabled_call takes\n", ratios[3]);
}

static void measure_changes(void)
{
    const struct measure_case cases[] = {
        {"1", change_one},
        {"1,000", change_thousand},
        {"10,000", change_all},
        {"1 of 10,000", update_one_of_all},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    double medians[CASES];

    const struct measure_case pending[] = {{"1, in a callback", change_pending}};

    printf("A change that adds or removes so many breakpoints, or updates; with its waits, which\n"
           "find nobody to wait for:\n");
    measure(stdout, cases, CASES, medians);
    printf("One that is asked for where nobody may wait, until it is done:\n");
    sem_init(&made, 0, 0);
    measure(stdout, pending, 1, medians);
}

int main(void)
{
    th_breakpoint_session_init(&session, &hooks, end_session);
    site = th_breakpoint_site_create(&th_breakpoint_site_virtual, NULL, NULL);
    for (int i = 0; i < SITES; i++)
        sites[i] = th_breakpoint_site_create(&th_breakpoint_site_virtual, NULL, NULL);
    measure_calls();
    set(0);
    measure_changes();
    measure_throughput();
    return 0;
}
