/*
 * Four threads, each with processes of this host, call 10,000 functions. Meanwhile another thread
 * creates and destroys sessions and adds, updates and removes their patterns as fast as it can, and
 * a third one changes flags of the processes; all by the control calls of trace/.
 * // Each thread numbers its calls; a callback notes the number of its call with its session's
 * state. Each third function has two sites and is also called from its own module. For each
 * function, `phases` states what the changing thread has set: if a call finds the same phase before
 * and after it, without CHANGING, just that session must have seen it, once, under that pattern. A
 * session that stays untouched must have seen each call of the functions with its patterns, without
 * gaps in the numbers.
 * // The first session turns local patterns into global ones all the time, so a call between two
 * sites may hit both or none; the others do not. Runs for STRESS_SECONDS, 1 by default; on a slow
 * machine until enough calls were checked.
 */
#include "host/term/term.h"
#include "tests/support/assertions.h"
#include "tests/support/loaded.h"
#include "tests/support/sited.h"

#include "host/base/base.h"
#include "host/process/process.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

enum {
    FUNCTIONS = 10000,
    CALLERS = 4,
    PROCESSES = 3 /* of each caller */,
    MODULES = 10,
    LONGEST = 60 /* additional seconds */
};

static struct sited functions[FUNCTIONS];
static struct th_traceable_function *all[FUNCTIONS];
static atomic_bool over;

/*
 * A function's phase: CHANGING during a control call that may concern the function; ON if the
 * changed session has a pattern for it, EXTERNAL if that is a global one; above these bits the
 * number of the change, which is also in the pattern's message. Stored with release before and
 * after a control call; loaded with acquire.
 */
enum { CHANGING = 1, ON = 2, EXTERNAL = 4, NUMBER = 8 };
static _Atomic uint64_t phases[FUNCTIONS];

/* --- Threads that call ------------------------------------------------------------------------ */

struct caller {
    pthread_t thread;
    struct th_live_tracee processes[PROCESSES];
    uint64_t number;                               /* of the current call */
    uint64_t untouched, changed, version, flagged; /* callbacks of the current call */
    uint64_t ends, ends_expected;                  /* return_from events of the untouched session */
    uint64_t calls, calls_of_untouched, checked, seen_on;
    uint64_t last_untouched;          /* number of the last call that it saw */
    uint64_t lost, twice, wrong, gap; /* must all be 0 */
    uint32_t random;
};

static struct caller callers[CALLERS];
static _Thread_local struct caller *self; /* NULL in other threads */

static bool has_two_sites(uint32_t f)
{
    return f % 3 == 0;
}

static uint32_t next_random(uint32_t *seed)
{
    return *seed = *seed * 1664525u + 1013904223u, *seed >> 8;
}

/* True for {M, F, [Number]} with the number of the current call. */
static bool is_of_this_call(ERL_NIF_TERM call)
{
    th_term list = th_tuple_elements(call)[2];

    return th_is_list(list) && th_small_value(th_cell(list)[0]) == (int64_t)self->number;
}

static void note_changed(ERL_NIF_TERM opts)
{
    th_term key = th_atom("match_spec_result");
    ERL_NIF_TERM value;

    self->changed++;
    self->version = 0;
    if (enif_get_map_value(NULL, opts, key, &value))
        self->version = (uint64_t)th_small_value(value);
}

static ERL_NIF_TERM note(const char *callback, ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    if (argc == 3 || !self)
        return TH_AM(trace);
    (void)callback;
    if (argv[0] == TH_AM(return_from))
        self->ends++;
    else if (!is_of_this_call(argv[3]))
        self->wrong++;
    else if (argv[1] == th_atom("untouched"))
        self->untouched++;
    else if (argv[1] == th_atom("changed"))
        note_changed(argv[4]);
    else
        self->flagged++;
    return TH_AM(ok);
}

/* The changed session had to see a call of a function with one site, with two. Relaxed. */
static atomic_bool seen[2];

static bool has_seen_enough(void)
{
    return atomic_load_explicit(&seen[0], memory_order_relaxed) &&
           atomic_load_explicit(&seen[1], memory_order_relaxed);
}

static void check_changed(uint64_t before, uint64_t after, bool two_sites, bool external)
{
    bool stable = before == after && !(before & CHANGING);
    bool on = before & ON && (external || !(before & EXTERNAL));

    self->twice += self->changed > (stable || !two_sites ? 1 : 2);
    if (!stable)
        return;
    self->checked++;
    self->seen_on += on;
    if (on)
        atomic_store_explicit(&seen[two_sites], true, memory_order_relaxed);
    self->lost += on && self->changed == 0;
    self->wrong += self->changed && (!on || self->version != before / NUMBER);
}

/* Asserts that the numbers have no gap: the last call that was seen is the last one made. */
static void check_untouched(uint64_t last_call)
{
    self->calls_of_untouched++;
    self->lost += self->untouched == 0;
    self->gap += self->last_untouched != last_call;
    self->last_untouched = self->number;
    self->ends_expected++;
}

static void call(uint32_t f, uint64_t *last_call)
{
    struct th_live_tracee *process = &self->processes[self->number % PROCESSES];
    th_term argument = th_small((int64_t)++self->number);
    bool external = next_random(&self->random) % 2;
    uint64_t before = atomic_load_explicit(&phases[f], memory_order_acquire), after;
    struct sited_wants wants;

    self->untouched = self->changed = self->flagged = 0;
    self->calls++;
    sited_call(process, &functions[f], argument, external, &wants);
    after = atomic_load_explicit(&phases[f], memory_order_acquire);
    sited_return(process, &functions[f], &wants, TH_AM(ok));
    check_changed(before, after, has_two_sites(f), external);
    if (f % 2 == 0) {
        check_untouched(*last_call);
        *last_call = self->number;
    }
    self->twice += self->untouched > 1 || self->flagged > 1;
    self->wrong += f % 2 && self->untouched;
}

static void *call_all_along(void *caller)
{
    uint64_t last_call = 0;

    self = caller;
    while (!atomic_load_explicit(&over, memory_order_relaxed))
        for (int i = 0; i < 100; i++)
            call(next_random(&self->random) % FUNCTIONS, &last_call);
    return NULL;
}

/* --- The thread that changes patterns --------------------------------------------------------- */

struct changer {
    struct th_session *session;
    struct th_library *library;
    uint64_t number;
    uint64_t sessions;
    uint32_t random;
    th_env env;
};

static struct th_session *create(struct th_library *library, const char *state)
{
    struct th_session_setup setup = {.name = state, .library = library, .state = th_atom(state)};
    struct th_session *session;

    th_library_keep(library);
    assert_int_equal(th_trace_session_create(scene_tracing(), &setup, &session), TH_OK);
    return session;
}

static void say(uint32_t first, uint32_t step, uint64_t phase)
{
    for (uint32_t f = first; f < FUNCTIONS; f += step)
        atomic_store_explicit(&phases[f], phase, memory_order_release);
}

static void say_changing(uint32_t first, uint32_t step)
{
    for (uint32_t f = first; f < FUNCTIONS; f += step)
        atomic_fetch_or_explicit(&phases[f], CHANGING, memory_order_release);
}

/* Ends the session, with its patterns, and creates its successor. */
static void replace_session(struct changer *changer)
{
    say_changing(0, 1);
    th_trace_session_destroy(changer->session);
    say(0, 1, changer->number * NUMBER);
    changer->session = create(changer->library, "changed");
    th_trace_session_trace(changer->session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    changer->sessions++;
}

/* [{'_', [], [{message, Number}]}] */
static th_term specification(struct changer *changer)
{
    th_env *env = &changer->env;
    th_term message = th_make_tuple_of(env, th_atom("message"), th_small((int64_t)changer->number));
    th_term clause = th_make_tuple_of(env, th_atom("_"), TH_NIL, th_make_list(env, &message, 1));

    return th_make_list(env, &clause, 1);
}

static const uint32_t change_kinds[] = {TH_BP_LOCAL, TH_BP_GLOBAL, TH_PATTERN_EITHER};

/* Sets (ON) or clears a pattern for one function, for a module, or for all functions. */
static void set_functions(struct changer *changer, bool on)
{
    uint32_t f = next_random(&changer->random) % FUNCTIONS,
             kind = next_random(&changer->random) % 8;
    uint32_t first = kind < 4 ? f : kind < 7 ? f % MODULES : 0;
    uint32_t step = kind < 4 ? FUNCTIONS : kind < 7 ? MODULES : 1;
    struct th_mfa name = functions[f].live.function.name;
    uint32_t kinds = change_kinds[next_random(&changer->random) % 3];
    uint64_t phase =
        changer->number * NUMBER + (on ? ON : 0) + (kinds == TH_BP_GLOBAL ? EXTERNAL : 0);
    struct th_pattern pattern = {kind < 7 ? name.module : TH_NONE,
                                 kind < 4 ? name.function : TH_NONE, kind < 4 ? 1 : TH_ANY_ARITY,
                                 false};
    th_term match = on ? specification(changer) : TH_AM(false);

    say_changing(first, step);
    assert_int_equal(th_trace_session_function(changer->session, &pattern, match,
                                               on ? kinds : TH_PATTERN_EITHER, NULL),
                     TH_OK);
    say(first, step, phase);
    th_env_clear(&changer->env);
}

static void *change_all_along(void *context)
{
    struct changer *changer = context;

    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        changer->number++;
        if (changer->number % 8 == 1)
            replace_session(changer);
        else
            set_functions(changer, next_random(&changer->random) % 3 > 0);
    }
    return NULL;
}

/* --- The thread that changes flags, in a session of its own ----------------------------------- */

static struct th_session *flagged;
static _Atomic uint64_t flag_changes;

static void *change_flags_all_along(void *unused)
{
    uint32_t random = 3;

    (void)unused;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        uint32_t r = next_random(&random);
        struct th_live_tracee *process = &callers[r % CALLERS].processes[r / 8 % PROCESSES];
        th_term id = process->id;
        if (r % 64 == 0)
            th_trace_session_trace(flagged, TH_PROCESSES_EXISTING, r / 64 % 2, TH_FLAG_CALL);
        else if (r % 16 == 1)
            th_trace_session_flags(flagged, id);
        else
            th_trace_session_trace_one(flagged, id, r / 64 % 2, TH_FLAG_CALL | TH_FLAG_SILENT);
        if (atomic_fetch_add_explicit(&flag_changes, 1, memory_order_relaxed) % 256 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
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

static struct th_library *load(void)
{
    struct th_library *library = scene_library();

    loaded_hook(note);
    return library;
}

static void add_functions(void)
{
    char name[16];
    th_term module;

    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        snprintf(name, sizeof name, "m%u", i % MODULES);
        module = th_atom(name);
        snprintf(name, sizeof name, "f%u", i);
        sited_init(&functions[i], module, name, has_two_sites(i), has_two_sites(i));
        all[i] = &functions[i].live;
    }
    scene_begin_functions(all, FUNCTIONS);
}

static void add_processes(void)
{
    for (unsigned i = 0; i < CALLERS; i++)
        for (unsigned k = 0; k < PROCESSES; k++) {
            struct th_live_tracee *process = &callers[i].processes[k];
            process->id = th_local_pid(1 + i * PROCESSES + k, TH_HOST_SERIAL);
            th_live_process_begin(process, scene_tracing(), NULL, false);
        }
}

/* Sets each second function, module by module. */
static void set_untouched(struct th_session *session)
{
    th_env env;
    th_term match;
    const char *spec = "[{'_',[],[{return_trace}]}]";

    th_env_init(&env, TH_ENV_PLAIN);
    assert_int_equal(th_text_parse(&env, spec, strlen(spec), &match), TH_OK);
    for (uint32_t m = 0; m < MODULES; m += 2) { /* f % MODULES is even if f is */
        struct th_pattern pattern = {functions[m].live.function.name.module, TH_NONE, TH_ANY_ARITY,
                                     false};
        assert_int_equal(
            th_trace_session_function(session, &pattern, match, TH_BP_LOCAL | TH_BP_COUNT, NULL),
            TH_OK);
    }
    th_env_release(&env);
}

static void count(void *sum, const struct th_mfa *function, const struct th_bp_info *info)
{
    (void)function;
    *(uint64_t *)sum += info->calls;
}

static void run(struct changer *changer)
{
    pthread_t change, flags;

    for (uint32_t i = 0; i < CALLERS; i++) {
        callers[i].random = i * 7919;
        pthread_create(&callers[i].thread, NULL, call_all_along, &callers[i]);
    }
    pthread_create(&change, NULL, change_all_along, changer);
    pthread_create(&flags, NULL, change_flags_all_along, NULL);
    nanosleep(&(struct timespec){.tv_sec = seconds()}, NULL);
    for (int i = 0; i < LONGEST && !has_seen_enough(); i++)
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    atomic_store(&over, true);
    pthread_join(change, NULL);
    pthread_join(flags, NULL);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i].thread, NULL);
}

static struct caller sum_up(void)
{
    struct caller sum = {0};

    for (int i = 0; i < CALLERS; i++) {
        sum.calls += callers[i].calls;
        sum.calls_of_untouched += callers[i].calls_of_untouched;
        sum.checked += callers[i].checked;
        sum.seen_on += callers[i].seen_on;
        sum.lost += callers[i].lost;
        sum.twice += callers[i].twice;
        sum.wrong += callers[i].wrong;
        sum.gap += callers[i].gap;
        sum.ends += callers[i].ends;
        sum.ends_expected += callers[i].ends_expected;
    }
    return sum;
}

static void assert_all_well(struct th_session *untouched, const struct changer *changer)
{
    struct caller sum = sum_up();
    uint64_t counted = 0;

    print_message("%lu calls, %lu checked, %lu of them traced; %lu changes, %lu sessions, %lu "
                  "changes of flags\n",
                  sum.calls, sum.checked, sum.seen_on, changer->number, changer->sessions,
                  (unsigned long)atomic_load(&flag_changes));
    assert_true(has_seen_enough() && changer->sessions > 0);
    assert_int_equal(sum.lost, 0);
    assert_int_equal(sum.gap, 0);
    assert_int_equal(sum.twice, 0);
    assert_int_equal(sum.wrong, 0);
    assert_int_equal(sum.ends, sum.ends_expected);
    th_trace_session_functions(untouched, count, &counted);
    assert_int_equal(counted, sum.calls_of_untouched);
    assert_int_equal(th_trace_session_counts(untouched).enabled, sum.calls_of_untouched);
    assert_int_equal(th_trace_session_counts(untouched).traced, 2 * sum.calls_of_untouched);
}

static void each_call_reaches_the_sessions_that_trace_it(void **state)
{
    struct changer changer = {.random = 1};
    struct th_session *untouched;
    struct th_pattern each = {TH_NONE, TH_NONE, TH_ANY_ARITY, false};

    (void)state;
    scene_begin_empty(NULL);
    th_trace_share(scene_tracing());
    th_env_init(&changer.env, TH_ENV_PLAIN);
    changer.library = load();
    add_functions();
    add_processes();
    untouched = create(changer.library, "untouched");
    th_trace_session_trace(untouched, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    set_untouched(untouched);
    flagged = create(changer.library, "flagged");
    assert_int_equal(th_trace_session_function(flagged, &each, TH_AM(true), TH_BP_LOCAL, NULL),
                     TH_OK);
    changer.session = create(changer.library, "changed");
    th_trace_session_trace(changer.session, TH_PROCESSES_ALL, true, TH_FLAG_CALL);
    run(&changer);
    assert_all_well(untouched, &changer);
    for (int i = 0; i < CALLERS; i++)
        for (int k = 0; k < PROCESSES; k++)
            th_live_process_end(&callers[i].processes[k]);
    scene_end_functions(all, FUNCTIONS);
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        assert_int_equal(sited_armed(&functions[f]), 0);
        sited_release(&functions[f]);
    }
    th_library_release(changer.library);
    th_env_release(&changer.env);
    scene_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_reaches_the_sessions_that_trace_it)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
