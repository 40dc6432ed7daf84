/*
 * Four threads, each with a process of this host, call functions whose meta tracers another thread
 * sets and clears all the time. The meta tracers sometimes answer `remove`. One more thread reads
 * their counters.
 * // Each meta tracer has a number, which is its state. For each function, `phases` states which
 * one is set: if a call finds the same phase before and after it, without CHANGING, that meta
 * tracer must have got the call once, unless it has left, and no other may have got it. A meta
 * tracer has left when a call that it answered with `remove` is over; `left` is its number then.
 * The test counts all callbacks; the sums must be those of trace/, including ended meta tracers.
 * Runs for STRESS_SECONDS, 1 by default.
 */
#include "host/term/term.h"
#include "tests/support/alive.h"
#include "tests/support/assertions.h"
#include "tests/support/loaded.h"

#include "host/base/base.h"
#include "host/progress/progress.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

enum { CALLERS = 4 };

static atomic_bool over;
static struct th_session *session;
static struct th_library *library;

/* CHANGING during a control call about the function; ON if it has a meta tracer; above these bits
 * the number of changes, which is the meta tracer's number, so no phase comes twice. Stored with
 * release before and after a control call; loaded with acquire. `left`, and `leaving`, which is
 * stored before the answer, are numbers with the same orders. */
enum { CHANGING = 1, ON = 2, NUMBER = 4 };
static _Atomic uint64_t phases[ALIVE_FUNCTIONS], left[ALIVE_FUNCTIONS], leaving[ALIVE_FUNCTIONS];

struct caller {
    pthread_t thread;
    struct alive *process;
    uint32_t random;
    unsigned function;                               /* function of the current call */
    uint64_t asked, told, ended;                     /* callbacks of the current call, ... */
    uint64_t number;                                 /* ... the last of them for this meta tracer */
    bool leaves;                                     /* the meta tracer answered `remove` */
    uint64_t checked, seen, enabled, traced, untold; /* of all calls */
    uint64_t lost, twice, wrong;                     /* must all be 0 */
};

static struct caller callers[CALLERS];
static _Thread_local struct caller *self;

static uint32_t next_random(uint32_t *seed)
{
    return *seed = *seed * 1664525u + 1013904223u, *seed >> 8;
}

/* Raises *WORD to NUMBER; numbers never decrease. */
static void raise_to(_Atomic uint64_t *word, uint64_t number)
{
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

    while (old < number && !atomic_compare_exchange_weak_explicit(
                               word, &old, number, memory_order_release, memory_order_relaxed))
        ;
}

static ERL_NIF_TERM note(const char *callback, ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)callback;
    (void)env;
    if (!self || argv[0] == TH_AM(trace_status))
        return TH_AM(trace);
    self->number = (uint64_t)th_small_value(argv[1]);
    if (argc == 5 && argv[0] == TH_AM(call))
        self->told++;
    else if (argc == 5)
        self->ended++;
    else
        self->asked++;
    if (argc == 5)
        return TH_AM(ok);
    self->leaves = next_random(&self->random) % 64 == 0;
    if (self->leaves)
        raise_to(&leaving[self->function], self->number);
    return self->leaves ? TH_AM(remove) : TH_AM(trace);
}

/* Checks a call during which meta tracer NUMBER was set (0: none). HAD_LEFT: it had left before. */
static void check(unsigned f, uint64_t number, bool had_left)
{
    self->checked++;
    self->seen += self->asked;
    if (self->asked)
        self->wrong += had_left || self->number != number;
    else if (number) /* unless another call has made this one, or a later one, leave */
        self->lost += atomic_load_explicit(&leaving[f], memory_order_acquire) < number;
}

static void call(unsigned f)
{
    uint64_t before = atomic_load_explicit(&phases[f], memory_order_acquire), after;
    uint64_t number = before & ON ? before / NUMBER : 0;
    bool had_left = number && atomic_load_explicit(&left[f], memory_order_acquire) == number;
    struct th_live_requests requests;

    self->asked = self->told = self->ended = 0;
    self->leaves = false;
    self->function = f;
    requests = alive_call(self->process, f, th_small(1));
    after = atomic_load_explicit(&phases[f], memory_order_acquire);
    self->twice += self->asked > 1 || self->told > self->asked;
    self->lost += self->asked && !self->leaves && !self->told;
    if (before == after && !(before & CHANGING))
        check(f, number, had_left);
    if (self->leaves)
        raise_to(&left[f], self->number);
    self->untold += requests.count;
    alive_return(self->process, f, &requests, "ok");
    self->untold -= self->ended;
    self->enabled += self->asked;
    self->traced += self->told + self->ended;
}

static void *call_all_along(void *caller)
{
    self = caller;
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        for (int i = 0; i < 100; i++)
            call(next_random(&self->random) % ALIVE_FUNCTIONS);
    return NULL;
}

/* --- Changes ---------------------------------------------------------------------------------- */

static void set_meta(const struct th_pattern *pattern, uint64_t number, th_term match)
{
    struct th_session_setup setup = {.name = number % 2 ? "odd" : "even",
                                     .library = library,
                                     .state = th_small((int64_t)number)};

    th_library_keep(library);
    assert_int_equal(th_trace_session_meta_function(session, pattern, match, &setup, NULL), TH_OK);
}

static uint64_t change_one(uint64_t number, uint32_t random, th_term match)
{
    unsigned f = random % ALIVE_FUNCTIONS;
    struct th_pattern one = {th_atom("m"), alive_functions[f].function.name.function, 1, false};
    bool on = random / 8 % 4;

    atomic_fetch_or_explicit(&phases[f], CHANGING, memory_order_release);
    if (on)
        set_meta(&one, number, match);
    else
        th_trace_session_function(session, &one, TH_AM(false), TH_BP_META, NULL);
    atomic_store_explicit(&phases[f], number * NUMBER | (on ? ON : 0), memory_order_release);
    return on;
}

static uint64_t changes, metas;

static void *change_all_along(void *unused)
{
    const char *spec = "[{'_',[],[{return_trace}]}]";
    uint32_t random = 5;
    th_term match;
    th_env env;

    (void)unused;
    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, spec, strlen(spec), &match), TH_OK);
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        metas += change_one(++changes, next_random(&random), match);
    th_env_release(&env);
    return NULL;
}

/* Sums of counters never decrease. */
static void *ask_all_along(void *unused)
{
    struct th_meta_tracer_counts counts;
    uint64_t sum = 0, before;

    (void)unused;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        before = sum;
        sum = 0;
        for (size_t i = 0; th_trace_session_meta_tracer(session, i, &counts); i++)
            sum += counts.counts.traced;
        assert_order(sum, >=, before);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return NULL;
}

/* --- The test --------------------------------------------------------------------------------- */

static unsigned seconds(void)
{
    const char *text = getenv("STRESS_SECONDS");
    unsigned given = text ? (unsigned)strtoul(text, NULL, 10) : 1;

    return given ? given : 1;
}

static void load(void)
{
    library = scene_library();
    loaded_hook(note);
}

static void run(void)
{
    pthread_t change, ask;

    for (uint32_t i = 0; i < CALLERS; i++) {
        callers[i].random = i * 7919;
        callers[i].process = alive_spawn(1 + i, NULL, false);
        pthread_create(&callers[i].thread, NULL, call_all_along, &callers[i]);
    }
    pthread_create(&change, NULL, change_all_along, NULL);
    pthread_create(&ask, NULL, ask_all_along, NULL);
    nanosleep(&(struct timespec){.tv_sec = seconds()}, NULL);
    atomic_store(&over, true);
    pthread_join(change, NULL);
    pthread_join(ask, NULL);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        alive_exit(callers[i].process);
    }
}

static struct caller sum_up(void)
{
    struct caller sum = {0};

    for (int i = 0; i < CALLERS; i++) {
        sum.checked += callers[i].checked;
        sum.seen += callers[i].seen;
        sum.enabled += callers[i].enabled;
        sum.traced += callers[i].traced;
        sum.untold += callers[i].untold;
        sum.lost += callers[i].lost;
        sum.twice += callers[i].twice;
        sum.wrong += callers[i].wrong;
    }
    return sum;
}

static struct th_session_counts counted(size_t *present)
{
    struct th_session_counts sum = {0};
    struct th_meta_tracer_counts counts;

    *present = 0;
    for (size_t i = 0; th_trace_session_meta_tracer(session, i, &counts); i++) {
        *present += counts.present;
        sum.enabled += counts.counts.enabled;
        sum.traced += counts.counts.traced;
        sum.removed += counts.counts.removed;
        sum.status += counts.counts.status;
    }
    return sum;
}

static void assert_all_well(void)
{
    struct caller sum = sum_up();
    struct th_session_counts counts;
    struct th_pattern_counts patterns = th_trace_session_pattern_counts(session);
    size_t present;

    counts = counted(&present);
    print_message(
        "%lu changes, %lu meta tracers, %lu left; %lu calls checked, %lu of them traced\n", changes,
        metas, counts.removed, sum.checked, sum.seen);
    assert_true(sum.checked > 0 && sum.seen > 0 && counts.removed > 0);
    assert_int_equal(sum.lost, 0);
    assert_int_equal(sum.twice, 0);
    assert_int_equal(sum.wrong, 0);
    assert_int_equal(counts.enabled, sum.enabled);
    assert_int_equal(counts.traced, sum.traced);
    assert_int_equal(counts.status, metas);
    assert_int_equal(patterns.meta_removed, counts.removed);
    assert_int_equal(patterns.meta_untold, sum.untold);
}

static void meta_tracers_change_while_functions_are_called(void **state)
{
    struct th_pattern all = {TH_NONE, TH_NONE, TH_ANY_ARITY, false};
    size_t present = 1;

    (void)state;
    alive_begin();
    session = scene_create("s");
    load();
    run();
    th_trace_session_function(session, &all, TH_AM(false), TH_BP_META, NULL);
    for (int i = 0; i < 1000 && present > 0; i++) {
        th_progress_settle();
        counted(&present);
    }
    assert_int_equal(present, 0);
    assert_all_well();
    th_library_release(library);
    alive_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meta_tracers_change_while_functions_are_called)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
