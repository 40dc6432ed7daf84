/*
 * Threads call functions while others add, update and remove breakpoints of these as fast as they
 * can.
 * // Half of the functions have breakpoints of a session that never changes; each call must hit
 * these once. For the session that changes, `phases` states which breakpoint of each function is
 * active: a call that finds the same phase before and after it, without CHANGING, must hit just
 * that breakpoint. Runs for STRESS_SECONDS, 1 by default.
 */
#include "host/breakpoint/breakpoint.h"

#include "host/base/base.h"
#include "host/progress/progress.h"
#include "tests/support/assertions.h"
#include "tests/support/noting.h"

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FUNCTIONS = 10000, CALLERS = 4, STRIDE = 7 /* coprime to FUNCTIONS */ };

static struct th_site *sites[FUNCTIONS];
static atomic_bool over;

/*
 * A function's phase: CHANGING during a change of the function; ON if it has a breakpoint; above
 * these bits the number of the last change, which the match specification stores as well. Stored
 * with release before a change begins and after it ends; loaded with acquire. So a call that has
 * read what a change wrote with release reads CHANGING, too. `armed` is relaxed; for it, the same
 * holds because x86 keeps loads in order.
 */
enum { CHANGING = 1, ON = 2, NUMBER = 4 };
static _Atomic uint64_t phases[FUNCTIONS];

struct version {
    struct th_shared shared; /* the first member */
    uint64_t number;
};

static atomic_int versions_alive;

static void end_version(struct th_shared *shared)
{
    ((struct version *)shared)->number = 0; /* makes a use after the end visible */
    atomic_fetch_sub(&versions_alive, 1);
    free(shared);
}

static struct th_shared *create_version(uint64_t number)
{
    struct version *version = malloc(sizeof *version);

    th_breakpoint_shared_init(&version->shared, end_version);
    version->number = number;
    atomic_fetch_add(&versions_alive, 1);
    return &version->shared;
}

/* --- Threads that call ------------------------------------------------------------------------ */

/* The current call, and the thread's findings. */
struct caller {
    pthread_t thread;
    uint64_t calls, calls_of_untouched, checked;
    uint64_t untouched, changed, version; /* hits of this call; the version of the changed one */
    uint64_t lost, twice, wrong;          /* must all be 0 */
    uint32_t random;
};

static struct caller callers[CALLERS];
static _Thread_local struct caller *self;

static uint32_t next_random(uint32_t *seed)
{
    return *seed = *seed * 1664525u + 1013904223u, *seed >> 8;
}

static uint32_t meet_untouched(struct th_hit *hit, struct th_bp_session *session,
                               struct th_shared *spec, uint32_t kind)
{
    (void)hit;
    (void)session;
    (void)spec;
    (void)kind;
    self->untouched++;
    return 0;
}

static uint32_t meet_changed(struct th_hit *hit, struct th_bp_session *session,
                             struct th_shared *spec, uint32_t kind)
{
    (void)hit;
    (void)session;
    (void)kind;
    self->changed++;
    self->version = ((struct version *)spec)->number;
    return 0;
}

/* A session that sometimes disarms itself, and whose meta tracer ends. */
static uint32_t meet_noise(struct th_hit *hit, struct th_bp_session *session,
                           struct th_shared *spec, uint32_t kind)
{
    (void)session;
    (void)kind;
    if (((struct version *)spec)->number == 0)
        self->wrong++;
    if (next_random(&self->random) % 64 == 0)
        th_breakpoint_disarm(hit, TH_BP_LOCAL);
    return 0;
}

static uint32_t meet_noise_meta(struct th_hit *hit, struct th_bp_session *session,
                                struct th_shared *spec, struct th_shared *tracer)
{
    (void)hit;
    (void)session;
    (void)spec;
    if (((struct version *)tracer)->number == 0)
        self->wrong++;
    return next_random(&self->random) % 64 ? 0 : TH_HIT_REMOVE;
}

static const struct th_bp_hooks untouched_hooks = {.call = meet_untouched};
static const struct th_bp_hooks changed_hooks = {.call = meet_changed};
static const struct th_bp_hooks noise_hooks = {.call = meet_noise, .meta = meet_noise_meta};

static void check_changed(uint64_t before, uint64_t after)
{
    self->twice += self->changed > 1;
    if (before != after || before & CHANGING)
        return;
    self->checked++;
    self->lost += before & ON && self->changed == 0;
    self->wrong += self->changed && (!(before & ON) || self->version != before / NUMBER);
}

static void call(uint32_t f)
{
    struct th_hit hit = {.kinds = TH_BP_ALL};
    uint64_t before = atomic_load_explicit(&phases[f], memory_order_acquire), after;

    self->untouched = self->changed = self->version = 0;
    self->calls++;
    if (th_breakpoint_site_is_armed(sites[f]))
        th_breakpoint_hit(sites[f], &hit);
    after = atomic_load_explicit(&phases[f], memory_order_acquire);
    check_changed(before, after);
    if (f % 2 == 0) {
        self->calls_of_untouched++;
        self->lost += self->untouched == 0;
    }
    self->twice += self->untouched > 1;
}

static void *call_all_along(void *caller)
{
    self = caller;
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        for (int i = 0; i < 1000; i++)
            call(next_random(&self->random) % FUNCTIONS);
    return NULL;
}

/* --- Threads that change breakpoints ---------------------------------------------------------- */

static atomic_int sessions_alive;

static void end_session(struct th_shared *session)
{
    atomic_fetch_sub(&sessions_alive, 1);
    memset(session, 0, sizeof(struct th_bp_session)); /* makes a use after the end visible */
    free(session);
}

static struct th_bp_session *create_session(const struct th_bp_hooks *hooks)
{
    struct th_bp_session *session = malloc(sizeof *session);

    atomic_fetch_add(&sessions_alive, 1);
    th_breakpoint_session_init(session, hooks, end_session);
    return session;
}

static void drop_session(struct th_bp_session *session)
{
    struct th_change *change = th_breakpoint_change_create();

    th_breakpoint_change_end_session(change, session);
    th_breakpoint_change_run(change, NULL, NULL);
    th_breakpoint_shared_drop(&session->shared);
}

struct changer {
    struct th_bp_session *session;
    uint64_t number; /* changes so far */
    uint32_t random;
    uint32_t first, count; /* the functions of the change */
    sem_t done;
};

static uint32_t function_of(const struct changer *changer, uint32_t i)
{
    return (changer->first + i * STRIDE) % FUNCTIONS;
}

static void choose_functions(struct changer *changer)
{
    static const uint32_t counts[] = {1, 1, 1, 10, 100, 1000, FUNCTIONS};

    changer->count = counts[next_random(&changer->random) % (sizeof counts / sizeof *counts)];
    changer->first = next_random(&changer->random) % FUNCTIONS;
}

static void say_changing(const struct changer *changer)
{
    for (uint32_t i = 0; i < changer->count; i++) {
        _Atomic uint64_t *phase = &phases[function_of(changer, i)];
        atomic_store_explicit(phase, atomic_load_explicit(phase, memory_order_relaxed) | CHANGING,
                              memory_order_release);
    }
}

static void say_changed(const struct changer *changer, bool on)
{
    for (uint32_t i = 0; i < changer->count; i++)
        atomic_store_explicit(&phases[function_of(changer, i)],
                              changer->number * NUMBER + (on ? ON : 0), memory_order_release);
}

static void post(struct th_change *change, void *done)
{
    (void)change;
    sem_post(done);
}

/* Runs the change in this thread; for one of 32, as a callback would. */
static void make(struct changer *changer, struct th_change *change)
{
    if (next_random(&changer->random) % 32 > 0) {
        th_breakpoint_change_run(change, NULL, NULL);
        return;
    }
    th_progress_enter();
    th_breakpoint_change_run(change, post, &changer->done);
    th_progress_leave();
    sem_wait(&changer->done);
}

/* Ends the session, whose breakpoints all disappear, and creates its successor. */
static void replace_session(struct changer *changer)
{
    changer->count = FUNCTIONS;
    say_changing(changer);
    drop_session(changer->session);
    changer->session = create_session(&changed_hooks);
    say_changed(changer, false);
}

static void set_functions(struct changer *changer, bool on)
{
    struct th_change *change = th_breakpoint_change_create();
    struct th_shared *version = create_version(changer->number);
    struct th_bp_setting setting = {.session = changer->session,
                                    .set = on ? TH_BP_LOCAL : 0,
                                    .clear = on ? 0 : TH_BP_ALL,
                                    .spec = version};

    say_changing(changer);
    for (uint32_t i = 0; i < changer->count; i++) {
        setting.site = sites[function_of(changer, i)];
        th_breakpoint_change_add(change, &setting);
    }
    make(changer, change);
    th_breakpoint_shared_drop(version);
    say_changed(changer, on);
}

static void *change_all_along(void *context)
{
    struct changer *changer = context;

    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        changer->number++;
        choose_functions(changer);
        if (next_random(&changer->random) % 64 == 0)
            replace_session(changer);
        else
            set_functions(changer, next_random(&changer->random) % 2);
    }
    return NULL;
}

static void *make_noise(void *context)
{
    struct changer *changer = context;

    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        struct th_change *change = th_breakpoint_change_create();
        struct th_shared *version = create_version(++changer->number);
        struct th_bp_setting setting = {.session = changer->session,
                                        .set = TH_BP_LOCAL | TH_BP_META | TH_BP_COUNT,
                                        .spec = version,
                                        .meta_tracer = version};

        choose_functions(changer);
        for (uint32_t i = 0; i < changer->count && i < 100; i++) {
            setting.site = sites[function_of(changer, i)];
            th_breakpoint_change_add(change, &setting);
        }
        make(changer, change);
        th_breakpoint_shared_drop(version);
        if (next_random(&changer->random) % 16 == 0) {
            drop_session(changer->session);
            changer->session = create_session(&noise_hooks);
        }
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

static void set_untouched(struct th_bp_session *session)
{
    struct th_change *change = th_breakpoint_change_create();

    for (int f = 0; f < FUNCTIONS; f += 2)
        th_breakpoint_change_add(
            change, &(struct th_bp_setting){sites[f], session, .set = TH_BP_LOCAL | TH_BP_COUNT});
    th_breakpoint_change_run(change, NULL, NULL);
}

static uint64_t counted(struct th_bp_session *session)
{
    uint64_t sum = 0;

    for (int f = 0; f < FUNCTIONS; f++) {
        struct th_bp_info info;
        th_breakpoint_info(sites[f], session, &info);
        sum += info.calls;
        th_breakpoint_info_free(&info);
    }
    return sum;
}

static void run(struct changer *changer, struct changer *noise)
{
    pthread_t change, disturb;

    for (int i = 0; i < CALLERS; i++) {
        callers[i].random = (uint32_t)i * 7919;
        pthread_create(&callers[i].thread, NULL, call_all_along, &callers[i]);
    }
    pthread_create(&change, NULL, change_all_along, changer);
    pthread_create(&disturb, NULL, make_noise, noise);
    nanosleep(&(struct timespec){.tv_sec = seconds()}, NULL);
    atomic_store(&over, true);
    pthread_join(change, NULL);
    pthread_join(disturb, NULL);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i].thread, NULL);
}

static struct caller sum_up(void)
{
    struct caller all = {0};

    for (int i = 0; i < CALLERS; i++) {
        all.calls += callers[i].calls;
        all.calls_of_untouched += callers[i].calls_of_untouched;
        all.checked += callers[i].checked;
        all.lost += callers[i].lost;
        all.twice += callers[i].twice;
        all.wrong += callers[i].wrong;
    }
    return all;
}

static void calls_hit_just_the_breakpoints_in_force(void **state)
{
    struct th_bp_session *untouched = create_session(&untouched_hooks);
    struct changer changer = {.session = create_session(&changed_hooks), .random = 1};
    struct changer noise = {.session = create_session(&noise_hooks), .random = 2};
    struct caller all;

    (void)state;
    sem_init(&changer.done, 0, 0);
    sem_init(&noise.done, 0, 0);
    for (int f = 0; f < FUNCTIONS; f++)
        sites[f] = th_breakpoint_site_create(&th_breakpoint_site_virtual, NULL, NULL);
    set_untouched(untouched);
    run(&changer, &noise);
    all = sum_up();
    print_message("%lu calls, %lu checked; %lu and %lu changes\n", all.calls, all.checked,
                  changer.number, noise.number);
    assert_true(all.checked > 0 && changer.number > 0 && noise.number > 0);
    assert_int_equal(all.lost, 0);
    assert_int_equal(all.twice, 0);
    assert_int_equal(all.wrong, 0);
    assert_int_equal(counted(untouched), all.calls_of_untouched);
    drop_session(untouched);
    drop_session(changer.session);
    drop_session(noise.session);
    /* Waits for pending requests: a tracer that a hit has removed may outlive its session. */
    for (int i = 0; i < 1000 && atomic_load(&sessions_alive) + atomic_load(&versions_alive) > 0;
         i++)
        th_progress_settle();
    assert_int_equal(atomic_load(&sessions_alive), 0);
    assert_int_equal(atomic_load(&versions_alive), 0);
    for (int f = 0; f < FUNCTIONS; f++)
        assert_false(th_breakpoint_site_is_armed(sites[f]) || atomic_load(&sites[f]->first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_hit_just_the_breakpoints_in_force)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
