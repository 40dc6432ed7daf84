/*
 * Measures local calls: how much longer a call from one function of a plugin to another in C takes
 * than a plain one, from the breakpoint in machine code to the tracer and back. In one process of
 * the runtime, and in two at once on two threads, with the host set up as `tracehost run` does.
 *
 *   local PLUGIN TRACER                        tests/bench/patchable/local.so,
 *                                              tests/tracers/as_state.so: measures all
 *   local PLUGIN TRACER CASE [nif] [second]    only makes REPEATS calls of CASE, for callgrind: of
 *                                              a TH_NIF, not a TH_FUNCTION; in processes that
 *                                              another session traces first
 */
#include "measure.h"

#include "host/base/base.h"
#include "host/breakpoint/breakpoint.h"
#include "host/code/code.h"
#include "host/crash/crash.h"
#include "host/library/library.h"
#include "host/runtime/runtime.h"
#include "host/term/term.h"
#include "host/trace/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Rounds are so long that their start and end do not count. PLAIN_CALLS take about as long as CALLS
 * that are discarded. */
enum { CALLS = 2000000, PLAIN_CALLS = 10000000, REPEATS = 20000, GOES = 7, PROCESSES = 2 };

/* The plugin's functions, in the plugin's order. */
enum function { PLAIN, UNTOUCHED, CLEAR, DISCARDED, TRACED, RETURNED, REJECTED };

/* The processes, by the session that traces them. */
enum by { DISCARDING, TRACING, NOBODY, OWNERS };

static struct th_tracing *tracing;
static struct th_library *plugin, *tracer;
static struct th_process *processes[OWNERS][PROCESSES];
static th_env env;

static void fail(void)
{
    th_error_print(stderr, "bench");
    exit(1);
}

/* --- Calls ------------------------------------------------------------------------------------ */

static bool of_table, two_threads;
static long many; /* calls of a round; 0: CALLS */

/* The calls of one process. */
struct calls {
    struct th_process *by;
    enum function which;
    long count;
};

static void *make_calls(void *context)
{
    const struct calls *calls = context;
    const th_term argv[] = {th_small(of_table), th_small(calls->which), th_small(calls->count)};
    const struct th_export *entry = th_code_export_find(th_atom("local"), th_atom("calls"), 3);
    th_term result;
    th_env own;

    th_env_init(&own, TH_ENV_PLAIN);
    if (th_runtime_run_call(calls->by, th_code_export_callee(entry), argv, &own, &result) !=
        TH_CALL_RETURNED)
        th_bug("local:calls/3 failed");
    th_env_release(&own);
    return NULL;
}

static uint64_t call(enum by by, enum function which)
{
    long count = many ? many : CALLS;
    struct calls first = {processes[by][0], which, count},
                 second = {processes[by][1], which, count};
    pthread_t beside;

    if (two_threads)
        pthread_create(&beside, NULL, make_calls, &second);
    make_calls(&first);
    if (two_threads)
        pthread_join(beside, NULL);
    return (uint64_t)count;
}

/* The cases: X(identifier, name, session that traces the process, function). */
#define CASES_OF(X)                                   \
    X(plain, "plain", NOBODY, PLAIN)                  \
    X(untouched, "not patched", TRACING, UNTOUCHED)   \
    X(clear, "flags clear", TRACING, CLEAR)           \
    X(untraced, "process not traced", NOBODY, TRACED) \
    X(discarded, "discarded", DISCARDING, DISCARDED)  \
    X(traced, "call", TRACING, TRACED)                \
    X(returned, "call and return", TRACING, RETURNED) \
    X(rejected, "rejected by a guard", TRACING, REJECTED)

#define X(identifier, name, by, which)      \
    static uint64_t call_##identifier(void) \
    {                                       \
        return call(by, which);             \
    }
CASES_OF(X)
#undef X

static const struct measure_case cases[] = {
#define X(identifier, name, by, which) {name, call_##identifier},
    CASES_OF(X)
#undef X
};
enum { CASES = sizeof cases / sizeof *cases };

static void measure_calls(void)
{
    double medians[CASES], ratios[CASES];
    char name[80];

    printf("A local call of a %s, %s:\n", of_table ? "TH_NIF" : "TH_FUNCTION",
           two_threads ? "two processes at once, a call of each" : "one process");
    measure_pairs(stdout, cases, CASES, GOES, medians, ratios);
    printf("  of a plain call:");
    for (size_t i = 1; i < CASES; i++)
        printf("%s %s %.1f", i > 1 ? "," : "", cases[i].name, ratios[i]);
    printf("\n");
    for (size_t i = 0; i < CASES && !of_table && !two_threads; i++) {
        snprintf(name, sizeof name, "local/%s", cases[i].name);
        measure_figure(name, medians[i]);
    }
}

/* --- Two threads ------------------------------------------------------------------------------ */

static uint64_t by_one(enum by by, enum function which)
{
    uint64_t calls;

    many = which == PLAIN ? PLAIN_CALLS : 0;
    calls = call(by, which);
    many = 0;
    return calls;
}

static uint64_t by_two(enum by by, enum function which)
{
    uint64_t calls;

    two_threads = true;
    calls = 2 * by_one(by, which);
    two_threads = false;
    return calls;
}

static uint64_t plain_by_one(void)
{
    return by_one(NOBODY, PLAIN);
}

static uint64_t plain_by_two(void)
{
    return by_two(NOBODY, PLAIN);
}

static uint64_t discarded_by_one(void)
{
    return by_one(DISCARDING, DISCARDED);
}

static uint64_t discarded_by_two(void)
{
    return by_two(DISCARDING, DISCARDED);
}

/* Measures how many calls two threads make in the time in which one makes a call. */
static void measure_threads(void)
{
    static const struct measure_case pairs[][2] = {
        {{"plain, one thread", plain_by_one}, {"plain, two threads", plain_by_two}},
        {{"discarded, one thread", discarded_by_one}, {"discarded, two threads", discarded_by_two}},
    };
    double ratios[2][2];

    printf("Calls of two threads, beside those of one:\n");
    for (int i = 0; i < 2; i++)
        measure_pairs(stdout, pairs[i], 2, 2 * GOES + 1, NULL, ratios[i]);
    printf("  two threads make %.2f times the plain calls of one, %.2f times the discarded ones\n",
           1 / ratios[0][1], 1 / ratios[1][1]);
    measure_figure("threads/plain", 1 / ratios[0][1]);
    measure_figure("threads/discarded", 1 / ratios[1][1]);
    measure_figure("threads/ratio", ratios[0][1] / ratios[1][1]);
}

static void measure_all(void)
{
    for (int i = 0; i < 4; i++) {
        of_table = i & 1;
        two_threads = i & 2;
        measure_calls();
    }
    of_table = two_threads = false;
    measure_threads();
}

static void repeat(const struct measure_case *only)
{
    many = REPEATS;
    only->run();
}

/* --- The scene -------------------------------------------------------------------------------- */

static struct th_library *load(const char *path)
{
    struct th_library *loaded;

    if (th_library_open(path, &loaded) != TH_OK ||
        th_library_load(loaded, NULL, th_small(0)) != TH_OK)
        fail();
    return loaded;
}

static void trace_processes(struct th_session *session, enum by by)
{
    for (int i = 0; i < PROCESSES; i++)
        th_trace_session_trace_one(session, th_runtime_run_pid(processes[by][i]), true,
                                   TH_FLAG_CALL);
}

static struct th_session *create(const char *state)
{
    struct th_session_setup setup = {.name = state, .library = tracer, .state = th_atom(state)};
    struct th_session *session;

    th_library_keep(tracer);
    if (th_trace_session_create(tracing, &setup, &session) != TH_OK)
        fail();
    return session;
}

/* Sets a pattern on the TH_FUNCTION NAME and on its counterpart in the table. */
static void set(struct th_session *session, const char *name, const char *match)
{
    char of_table_[32];
    const char *names[] = {name, of_table_};
    th_term term;

    snprintf(of_table_, sizeof of_table_, "%s_nif", name);
    if (th_text_parse(&env, match, strlen(match), &term) != TH_OK)
        fail();
    for (int i = 0; i < 2; i++) {
        struct th_pattern pattern = {th_atom("local"), th_atom(names[i]), 1, false};
        if (th_trace_session_function(session, &pattern, term, TH_BP_LOCAL, NULL) != TH_OK)
            fail();
    }
}

/* Arms the site without a breakpoint, as while its last breakpoint is being removed. */
static void arm(const char *name)
{
    const struct th_mfa function = {th_atom("local"), th_atom(name), 1};
    struct th_site *site = th_live_function_find(tracing, &function)->function.local;

    th_breakpoint_sites_write(&site, 1, true);
}

/* Creates the sessions that have the breakpoints. If ONLY, the one that this case needs. */
static void create_sessions(const struct measure_case *only)
{
    struct th_session *session;

    if (!only || only->run == call_discarded) {
        session = create("discard");
        trace_processes(session, DISCARDING);
        set(session, "discarded", "true");
    }
    if (!only || only->run != call_discarded) {
        session = create("trace");
        trace_processes(session, TRACING);
        set(session, "traced", "true");
        set(session, "returned", "[{'_',[],[{return_trace}]}]");
        set(session, "rejected", "[{['$1'],[{'>','$1',100}],[]}]");
    }
}

static void begin(char **paths)
{
    th_env_init(&env, TH_ENV_PLAIN);
    th_crash_install();
    tracing = th_trace_create();
    th_trace_share(tracing);
    th_trace_replay_nothing(tracing);
    th_runtime_start(&(const struct th_runtime_setup){.tracing = tracing});
    plugin = load(paths[0]);
    tracer = load(paths[1]);
    th_code_module_add(plugin);
    for (int by = 0; by < OWNERS; by++)
        for (int i = 0; i < PROCESSES; i++)
            processes[by][i] = th_runtime_run_start();
}

/* Traces all processes by one more session, which has no breakpoint. */
static void create_first_session(void)
{
    struct th_session *first = create("trace");

    for (int by = 0; by < OWNERS; by++)
        trace_processes(first, by);
}

static void disarm(const char *name)
{
    const struct th_mfa function = {th_atom("local"), th_atom(name), 1};
    struct th_site *site = th_live_function_find(tracing, &function)->function.local;

    th_breakpoint_sites_write(&site, 1, false);
}

static void end(void)
{
    disarm("clear");
    disarm("clear_nif");
    for (int by = 0; by < OWNERS; by++)
        for (int i = 0; i < PROCESSES; i++)
            th_runtime_run_exit(processes[by][i], TH_AM(normal));
    th_runtime_kill_all();
    th_code_module_remove(plugin);
    th_library_release(plugin);
    th_library_release(tracer);
    th_env_release(&env);
    th_runtime_stop();
    th_trace_free(tracing);
    th_crash_end();
}

static const struct measure_case *find(const char *name)
{
    for (size_t i = 0; i < CASES; i++)
        if (strcmp(cases[i].name, name) == 0)
            return &cases[i];
    th_bug("no case '%s'", name);
}

int main(int argc, char **argv)
{
    const struct measure_case *only = argc > 3 ? find(argv[3]) : NULL;
    bool second = false;

    if (argc < 3)
        return TH_USAGE;
    for (int i = 4; i < argc; i++) {
        of_table |= strcmp(argv[i], "nif") == 0;
        second |= strcmp(argv[i], "second") == 0;
    }
    begin(argv + 1);
    if (second)
        create_first_session();
    create_sessions(only);
    arm("clear");
    arm("clear_nif");
    if (only)
        repeat(only);
    else
        measure_all();
    end();
    return 0;
}
