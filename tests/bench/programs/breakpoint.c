/*
 * Breakpoints: what a call costs that passes a site, what a change costs, and what changes cost the
 * threads that call.
 *
 *   breakpoint
 */
#include "measure.h"

#include "host/base/base.h"
#include "host/breakpoint/breakpoint.h"
#include "host/progress/progress.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 4000000, SITES = 10000 };

/* --- Calls ------------------------------------------------------------------------------------ */

/* What a tracer's enabled_call looks like to who calls it: three terms, and it says no. */
typedef uint64_t enabled_call(void *env, int argc, const uint64_t argv[]);

static __attribute__((noinline)) uint64_t discard(void *env, int argc, const uint64_t argv[])
{
    (void)env;
    (void)argv;
    return (uint64_t)argc - 3;
}

/* Volatile: so that it is a call through a pointer, each time. */
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

/* What stands in a function that may be traced. */
static __attribute__((noinline)) void pass(uint32_t kinds)
{
    struct th_hit hit = {.kinds = kinds};

    if (th_site_is_armed(site))
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
    struct th_change *change = th_change_create();

    th_change_add(change, &(struct th_bp_setting){
                              .site = site, .session = &session, .clear = TH_BP_ALL, .set = kinds});
    th_change_run(change, NULL, NULL);
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
    struct th_change *change = th_change_create();

    for (size_t i = 0; i < count; i++)
        th_change_add(change, &(struct th_bp_setting){.site = sites[i],
                                                      .session = &session,
                                                      .set = kinds,
                                                      .clear = kinds ? 0 : TH_BP_ALL});
    th_change_run(change, NULL, NULL);
}

enum { ADDED = 20000 /* breakpoints, in each case */ };

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

/* --- Threads that call while breakpoints change ----------------------------------------------- */

enum { ROUNDS = 5, SPAN = 200 /* milliseconds */ };

static atomic_bool over;

static void *call_all_along(void *calls)
{
    uint64_t count = 0;

    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        struct th_hit hit = {.kinds = TH_BP_ALL};
        struct th_site *one = sites[count++ * 7 % SITES];
        if (th_site_is_armed(one))
            asked += th_breakpoint_hit(one, &hit);
    }
    *(uint64_t *)calls = count;
    return NULL;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How the other thread changes breakpoints, while one calls: each on a processor of its own. */
struct pace {
    const char *name;
    size_t count; /* breakpoints of a change; 0: none, and the thread is as busy */
    double every; /* seconds from one to the next; 0: at once */
    uint64_t calls, changes;
};

/* Updates: what is called costs the same all along. */
static void change_for_a_while(struct pace *pace)
{
    double end = now() + SPAN / 1e3, next = now();

    while (now() < end) {
        if (!pace->count || now() < next)
            continue;
        change_sites(pace->count, TH_BP_LOCAL);
        pace->changes++;
        next += pace->every;
    }
}

static void run_pace(struct pace *pace)
{
    pthread_t thread;
    uint64_t calls;

    atomic_store(&over, false);
    pthread_create(&thread, NULL, call_all_along, &calls);
    change_for_a_while(pace);
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    pace->calls += calls;
}

static void measure_throughput(void)
{
    struct pace paces[] = {
        {"none", 0, 0, 0, 0},
        {"1, 1,000 times a second", 1, 1e-3, 0, 0},
        {"1,000, 100 times a second", 1000, 1e-2, 0, 0},
        {"1, without a pause", 1, 0, 0, 0},
        {"10,000, without a pause", SITES, 0, 0, 0},
    };
    enum { PACES = sizeof paces / sizeof *paces };

    change_sites(SITES, TH_BP_LOCAL);
    for (int i = 0; i < ROUNDS; i++)
        for (size_t k = 0; k < PACES; k++)
            run_pace(&paces[k]);
    change_sites(SITES, 0);
    printf("Discarded calls of a thread while another changes so many breakpoints:\n");
    for (size_t k = 0; k < PACES; k++)
        printf("  %-30s %6.1f million calls/s, %5.1f %%; %.0f changes/s\n", paces[k].name,
               (double)paces[k].calls / SPAN / ROUNDS / 1e3,
               100.0 * (double)paces[k].calls / (double)paces[0].calls,
               (double)paces[k].changes * 1e3 / SPAN / ROUNDS);
}

static void measure_calls(void)
{
    const struct measure_case cases[] = {
        {"enabled_call alone", call_enabled}, {"no breakpoint", pass_untraced},
        {"flags clear", pass_clear},          {"discarded", pass_discarded},
        {"call_count", pass_counted},         {"call_time, no clock", pass_timed},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    double medians[CASES];

    printf("A call that passes a site, breakpoints of one session:\n");
    measure(stdout, cases, CASES, medians);
    printf("  a discarded hit takes %.1f times what its enabled_call takes\n",
           medians[3] / medians[0]);
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

    printf("A change that adds or removes so many breakpoints, or updates; with its waits, which\n"
           "find nobody to wait for:\n");
    measure(stdout, cases, CASES, medians);
}

int main(void)
{
    th_bp_session_init(&session, &hooks, end_session);
    site = th_site_create(&th_site_virtual, NULL, NULL);
    for (int i = 0; i < SITES; i++)
        sites[i] = th_site_create(&th_site_virtual, NULL, NULL);
    measure_calls();
    set(0);
    measure_changes();
    measure_throughput();
    return 0;
}
