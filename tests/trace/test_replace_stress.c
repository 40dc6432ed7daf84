/*
 * Four threads run processes of this host that call functions, while another thread replaces the
 * tracer of their session as fast as it can: with new files at one path, by upgrade(), and with
 * some that refuse.
 * // `enabled` and the event of a call must reach the same tracer; a process never reaches an older
 * one than before; no callback runs before its tracer's upgrade() or after its unload(), which
 * comes when no thread is in the tracer. A second session, which stays untouched, must see each
 * call. Runs for STRESS_SECONDS, 1 by default; on a slow machine until enough calls were checked.
 */
#include "tests/support/succession.h"
#include "tests/trace/live.h"

#include <stdlib.h>
#include <time.h>

enum { CALLERS = 4, TRACERS = 4096, LONGEST = 60 /* more seconds */, ENOUGH = 20 /* times */ };

static struct successor tracers[TRACERS], untouched;
static atomic_bool over;
static atomic_uint replaced, refused;

struct caller {
    pthread_t thread;
    struct alive *process;
    int asked, told;  /* numbers of the tracers of the current call; 0: none */
    unsigned seen;    /* by the untouched session, of the current call */
    int latest;       /* number of the last tracer that the process has reached */
    unsigned changes; /* of that number */
    uint64_t calls, lost, twice, torn, older, unseen;
};

static struct caller callers[CALLERS];
static _Thread_local struct caller *self;

static ERL_NIF_TERM note(struct successor *tracer, ErlNifEnv *env, int argc,
                         const ERL_NIF_TERM argv[])
{
    int *place;

    (void)env;
    if (argv[0] != TH_AM(call) || !self) /* the replacing thread's call for the trace status */
        return TH_AM(trace);
    if (tracer == &untouched) {
        self->seen += argc == 5;
        return TH_AM(trace);
    }
    place = argc == 3 ? &self->asked : &self->told;
    self->twice += *place != 0;
    *place = tracer->number;
    return TH_AM(trace);
}

static void check(struct caller *caller)
{
    caller->calls++;
    caller->lost += !caller->asked || !caller->told;
    caller->torn += caller->asked != caller->told;
    caller->older += caller->told < caller->latest;
    caller->changes += caller->told != caller->latest;
    caller->unseen += caller->seen != 1;
    caller->latest = caller->told;
}

static void *call_all_along(void *context)
{
    self = context;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        struct th_live_requests requests;
        self->asked = self->told = 0;
        self->seen = 0;
        requests = alive_call(self->process, (unsigned)self->calls % ALIVE_FUNCTIONS, th_small(1));
        if (requests.count > 0)
            abort();
        check(self);
    }
    return NULL;
}

/* Some refuse. */
static void make(int number)
{
    tracers[number] = (struct successor){.number = number, .called = note};
    if (number % 8 == 3)
        tracers[number].answer = 1;
}

static void *replace_all_along(void *context)
{
    (void)context;
    for (int i = 2; i < TRACERS && !atomic_load_explicit(&over, memory_order_relaxed); i++) {
        struct th_session_setup setup = {.name = "successor", .state = TH_NONE};
        make(i);
        setup.library = succession_open(&tracers[i]);
        if (th_trace_session_replace(session, &setup) == TH_OK)
            atomic_fetch_add(&replaced, 1);
        else
            atomic_fetch_add(&refused, 1);
    }
    return NULL;
}

static struct th_session *start(struct successor *tracer)
{
    struct th_session_setup setup = {.name = "successor", .state = th_atom("s")};
    struct th_session *created;

    tracer->called = note;
    setup.library = succession_open(tracer);
    assert_int_equal(th_library_load(setup.library, NULL, th_small(0)), TH_OK);
    assert_int_equal(th_trace_session_create(scene_tracing(), &setup, &created), TH_OK);
    th_trace_session_trace(created, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    set(created, NULL, "true", TH_BP_LOCAL);
    return created;
}

static unsigned seconds(void)
{
    const char *text = getenv("STRESS_SECONDS");
    unsigned given = text ? (unsigned)strtoul(text, NULL, 10) : 1;

    return given ? given : 1;
}

static bool has_seen_enough(void)
{
    return atomic_load(&replaced) >= ENOUGH && atomic_load(&refused) >= 2;
}

static void run(void)
{
    pthread_t replacer;

    for (unsigned i = 0; i < CALLERS; i++)
        callers[i].process = alive_spawn(i + 1, NULL, false);
    for (int i = 0; i < CALLERS; i++)
        pthread_create(&callers[i].thread, NULL, call_all_along, &callers[i]);
    pthread_create(&replacer, NULL, replace_all_along, NULL);
    nanosleep(&(struct timespec){.tv_sec = seconds()}, NULL);
    for (int i = 0; i < LONGEST && !has_seen_enough(); i++)
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    atomic_store(&over, true);
    pthread_join(replacer, NULL);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i].thread, NULL);
}

static uint64_t check_callers(void)
{
    uint64_t calls = 0;
    unsigned changes = 0;

    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(callers[i].lost, 0);
        assert_int_equal(callers[i].twice, 0);
        assert_int_equal(callers[i].torn, 0);
        assert_int_equal(callers[i].older, 0);
        assert_int_equal(callers[i].unseen, 0);
        calls += callers[i].calls;
        changes += callers[i].changes;
    }
    assert_order(changes, >, CALLERS); /* the first tracer counts, too */
    return calls;
}

/* Each tracer took over from the previous one that was not refused. */
static void check_tracers(void)
{
    struct successor *before = &tracers[1];
    unsigned upgraded = 0;

    for (int i = 2; i < TRACERS && tracers[i].number; i++) {
        assert_int_equal(tracers[i].wrong, 0);
        assert_ptr_equal(tracers[i].predecessor, before);
        assert_int_equal(tracers[i].loads, 0);
        assert_int_equal(tracers[i].unloads, tracers[i].upgrades);
        if (tracers[i].upgrades)
            before = &tracers[i];
        upgraded += tracers[i].upgrades;
    }
    assert_int_equal(upgraded, replaced);
    assert_int_equal(tracers[1].unloads, 1);
}

static void each_call_goes_to_exactly_one_tracer(void **state)
{
    struct th_session_counts counts;
    uint64_t calls;

    (void)state;
    succession_begin();
    alive_begin();
    make(1);
    session = start(&tracers[1]);
    other = start(&untouched);
    run();
    calls = check_callers();
    counts = th_trace_session_counts(session);
    assert_int_equal(counts.traced, calls);
    assert_int_equal(counts.enabled, calls);
    assert_int_equal(counts.status, 1 + replaced);
    for (int i = 0; i < CALLERS; i++)
        alive_exit(callers[i].process);
    alive_end();
    check_tracers();
    assert_int_equal(untouched.wrong, 0);
    succession_end();
    print_message("%llu calls, %u tracers replaced, %u refused\n", (unsigned long long)calls,
                  replaced, refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_goes_to_exactly_one_tracer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
