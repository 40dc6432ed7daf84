/*
 * Runs tracehost's side of runtime.py: answers each line "ROW N" with the nanoseconds that doing
 * the
 * row N times took.
 *
 *   runtime LIBRARY TRACER      tests/plugins/party.so, tests/bench/libraries/as_told.so
 */
#include "host/breakpoint/breakpoint.h"
#include "host/code/code.h"
#include "host/library/library.h"
#include "host/process/process.h"
#include "host/runtime/runtime.h"
#include "host/term/term.h"
#include "host/trace/trace.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct th_library *library, *tracer;
static struct th_tracing *tracing;
static struct th_process *process;
static th_env env; /* environment of results */

static int64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * (int64_t)1000000000 + time.tv_nsec;
}

static th_term call(const char *name, unsigned argc, const th_term argv[])
{
    th_term result = TH_NONE;

    if (th_runtime_run_call(
            process,
            th_code_export_callee(th_code_export_find(th_atom("party"), th_atom(name), argc)), argv,
            &env, &result) != TH_CALL_RETURNED) {
        fprintf(stderr, "bench: party:%s/%u failed\n", name, argc);
        exit(1);
    }
    return result;
}

/* --- Traced calls ---------------------------------------------------------------------------- */

static const struct {
    const char *row, *state, *match; /* result of `enabled`; match specification of party:echo/1 */
} ways[] = {
    {"discarded", "discard", "[]"},
    {"traced", "trace", "[]"},
    {"returned", "trace", "[{'_',[],[{return_trace}]}]"},
};

static struct th_session *trace_as(const char *state, const char *match)
{
    const struct th_pattern echo = {th_atom("party"), th_atom("echo"), 1, false};
    struct th_session_setup setup = {.name = state, .library = tracer, .state = th_atom(state)};
    struct th_session *session;
    th_term term;

    th_library_keep(tracer);
    if (th_trace_session_create(tracing, &setup, &session) != TH_OK ||
        th_text_parse(&env, match, strlen(match), &term) != TH_OK ||
        th_trace_session_function(session, &echo, term, TH_BP_GLOBAL, NULL) != TH_OK)
        th_bug("%s", th_error_link(0));
    th_trace_session_trace_one(session, th_runtime_run_pid(process), true, TH_FLAG_CALL);
    return session;
}

/* --- Rows ------------------------------------------------------------------------------------ */

static void answer(const char *row, long times)
{
    struct th_session *session = NULL;
    th_term count = th_small(times);
    th_term ping[2] = {TH_NIL, count};
    int64_t begin;

    th_env_clear(&env);
    if (strcmp(row, "ping") == 0)
        ping[0] = call("spawn", 4,
                       (const th_term[]){th_atom("party"), th_atom("server"), TH_NIL, th_small(0)});
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(row, ways[i].row) == 0) {
            session = trace_as(ways[i].state, ways[i].match);
            row = "exports";
        }
    begin = now();
    if (strcmp(row, "ping") == 0)
        call("ping", 2, ping);
    else
        call(row, 1, &count);
    printf("%lld\n", (long long)(now() - begin));
    fflush(stdout);
    if (session)
        th_trace_session_destroy(session);
    if (strcmp(row, "ping") == 0)
        th_process_send(ping[0], TH_AM(ok));
}

static struct th_library *load(const char *path)
{
    struct th_library *loaded;

    if (th_library_open(path, &loaded) != TH_OK ||
        th_library_load(loaded, NULL, th_small(0)) != TH_OK) {
        th_error_print(stderr, "bench");
        exit(1);
    }
    return loaded;
}

static void begin(char **paths)
{
    th_env_init(&env, TH_ENV_PLAIN);
    tracing = th_trace_create();
    th_trace_share(tracing);
    th_runtime_start(&(const struct th_runtime_setup){.tracing = tracing});
    library = load(paths[0]);
    tracer = load(paths[1]);
    th_code_module_add(library);
    process = th_runtime_run_start();
}

static void end(void)
{
    th_runtime_run_exit(process, TH_AM(normal));
    th_runtime_kill_all();
    th_code_module_remove(library);
    th_library_release(library);
    th_library_release(tracer);
    th_env_release(&env);
    th_runtime_stop();
    th_trace_free(tracing);
}

int main(int argc, char **argv)
{
    char row[64];
    long times;

    if (argc != 3)
        return 2;
    begin(argv + 1);
    while (scanf("%63s %ld", row, &times) == 2)
        answer(row, times);
    end();
    return 0;
}
