/*
 * Measures local calls: how much longer a call from one function of a plugin to another in C takes
 * than a plain one, from the breakpoint in machine code to the tracer and back. In one process of
 * the runtime, and in two at once on two threads, with the host set up as `tracehost run` does.
 *
 *   local PLUGIN TRACER [CASE]    tests/bench/patchable/local.so, tests/tracers/as_state.so; only
 *                                 the calls of one case, for callgrind
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

/* Rounds are shorter than a scheduler's time slice, also on a busy machine. */
enum { CALLS = 20000, GOES = 151, PROCESSES = 2 };

/* The plugin's functions, in the plugin's order. */
enum function { PLAIN, UNTOUCHED, CLEAR, DISCARDED, TRACED, RETURNED, REJECTED };

static struct th_tracing *tracing;
static struct th_library *plugin, *tracer;
static struct th_session *discarding, *tracing_all;
static struct th_process *traced[PROCESSES], *untraced[PROCESSES];
static th_env env;

static void fail(void)
{
    th_error_print(stderr, "bench");
    exit(1);
}

/* --- Calls ------------------------------------------------------------------------------------ */

static bool of_table, two_threads;

/* The calls of one process. */
struct calls {
    struct th_process *by;
    enum function which;
};

static void *make_calls(void *context)
{
    const struct calls *calls = context;
    const th_term argv[] = {th_small(of_table), th_small(calls->which), th_small(CALLS)};
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

static uint64_t call(struct th_process *const by[], enum function which)
{
    struct calls first = {by[0], which}, second = {by[1], which};
    pthread_t beside;

    if (two_threads)
        pthread_create(&beside, NULL, make_calls, &second);
    make_calls(&first);
    if (two_threads)
        pthread_join(beside, NULL);
    return CALLS;
}

static uint64_t call_plain(void)
{
    return call(traced, PLAIN);
}

static uint64_t call_untouched(void)
{
    return call(traced, UNTOUCHED);
}

static uint64_t call_clear(void)
{
    return call(traced, CLEAR);
}

static uint64_t call_untraced(void)
{
    return call(untraced, TRACED);
}

static uint64_t call_discarded(void)
{
    return call(traced, DISCARDED);
}

static uint64_t call_traced(void)
{
    return call(traced, TRACED);
}

static uint64_t call_returned(void)
{
    return call(traced, RETURNED);
}

static uint64_t call_rejected(void)
{
    return call(traced, REJECTED);
}

static const struct measure_case cases[] = {
    {"plain", call_plain},
    {"not patched", call_untouched},
    {"flags clear", call_clear},
    {"process not traced", call_untraced},
    {"discarded", call_discarded},
    {"call", call_traced},
    {"call and return", call_returned},
    {"rejected by a guard", call_rejected},
};
enum { CASES = sizeof cases / sizeof *cases };

static void measure_calls(void)
{
    double ratios[CASES];

    printf("A local call of a %s, %s:\n", of_table ? "TH_NIF" : "TH_FUNCTION",
           two_threads ? "two processes at once, a call of each" : "one process");
    measure_pairs(stdout, cases, CASES, GOES, ratios);
    printf("  of a plain call:");
    for (size_t i = 1; i < CASES; i++)
        printf("%s %s %.1f", i > 1 ? "," : "", cases[i].name, ratios[i]);
    printf("\n");
}

static void measure_all(void)
{
    for (int i = 0; i < 4; i++) {
        of_table = i & 1;
        two_threads = i & 2;
        measure_calls();
    }
}

/* Runs one case, of TH_FUNCTIONs, for callgrind. */
static void repeat(const char *name)
{
    for (size_t i = 0; i < CASES; i++)
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].run();
            return;
        }
    th_bug("no case '%s'", name);
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

static struct th_session *create(const char *state)
{
    struct th_session_setup setup = {.name = state, .library = tracer, .state = th_atom(state)};
    struct th_session *session;

    th_library_keep(tracer);
    if (th_trace_session_create(tracing, &setup, &session) != TH_OK)
        fail();
    for (int i = 0; i < PROCESSES; i++)
        th_trace_session_trace_one(session, th_runtime_run_pid(traced[i]), true, TH_FLAG_CALL);
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
    for (int i = 0; i < PROCESSES; i++) {
        traced[i] = th_runtime_run_start();
        untraced[i] = th_runtime_run_start();
    }
    discarding = create("discard");
    tracing_all = create("trace");
    set(discarding, "discarded", "true");
    set(tracing_all, "traced", "true");
    set(tracing_all, "returned", "[{'_',[],[{return_trace}]}]");
    set(tracing_all, "rejected", "[{['$1'],[{'>','$1',100}],[]}]");
    arm("clear");
    arm("clear_nif");
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
    for (int i = 0; i < PROCESSES; i++) {
        th_runtime_run_exit(traced[i], TH_AM(normal));
        th_runtime_run_exit(untraced[i], TH_AM(normal));
    }
    th_runtime_kill_all();
    th_code_module_remove(plugin);
    th_library_release(plugin);
    th_library_release(tracer);
    th_env_release(&env);
    th_runtime_stop();
    th_trace_free(tracing);
    th_crash_end();
}

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4)
        return TH_USAGE;
    begin(argv + 1);
    if (argc == 4)
        repeat(argv[3]);
    else
        measure_all();
    end();
    return 0;
}
