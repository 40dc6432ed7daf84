/*
 * A program whose own functions are traced while it runs them: two processes on two threads, with a
 * pattern that is set before, and counted calls. The program reports its processes, functions and
 * calls; sessions, flags, patterns and tracers apply as they do to recordings.
 */
#include <tracehost.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

static void must(enum tracehost_status status)
{
    if (status == TRACEHOST_OK)
        return;
    tracehost_error_print(stderr, "live_calls");
    exit(status);
}

static tracehost_live_function *sum, *square; /* math:sum/1 and math:square/1 */

static long run_square(tracehost_live_process *live, ErlNifEnv *env, long n)
{
    struct tracehost_live_frame frame;
    ERL_NIF_TERM argument = enif_make_long(env, n);

    tracehost_live_call(live, square, &argument, false, sum, &frame);
    tracehost_live_return(live, square, &frame, enif_make_long(env, n * n));
    return n * n;
}

static long run_sum(tracehost_live_process *live, ErlNifEnv *env, long n)
{
    struct tracehost_live_frame frame;
    ERL_NIF_TERM argument = enif_make_long(env, n);
    long result = 0;

    tracehost_live_call(live, sum, &argument, true, NULL, &frame);
    for (long i = 1; i <= n; i++)
        result += run_square(live, env, i);
    tracehost_live_return(live, sum, &frame, enif_make_long(env, result));
    return result;
}

struct work {
    tracehost_host *host;
    tracehost_process *process;
    long n;
};

static void *run(void *argument)
{
    const struct work *work = (const struct work *)argument;
    const struct tracehost_live_setup setup = {.size = sizeof setup, .process = work->process};
    ErlNifEnv *env = enif_alloc_env();
    tracehost_live_process *live;

    must(tracehost_live_begin(work->host, &setup, &live));
    run_sum(live, env, work->n);
    must(tracehost_live_event(live, "exit", enif_make_atom(env, "normal"), 0));
    tracehost_live_end(live);
    enif_free_env(env);
    return NULL;
}

static void show(void *context, const struct tracehost_function *function)
{
    char *name = tracehost_term_to_text(function->function);

    (void)context;
    printf("%s: %" PRIu64 " calls counted\n", name, function->calls);
    tracehost_free(name);
}

static tracehost_session create(tracehost_host *host)
{
    const struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = "text"};
    struct tracehost_pattern pattern = {
        .size = sizeof pattern, .function = "math:sum/1", .match = "r", .kinds = TRACEHOST_LOCAL};
    tracehost_session session;

    must(tracehost_session_create(host, &setup, &session));
    must(tracehost_session_trace(host, session, TRACEHOST_PROCESSES_NEW, true,
                                 TRACEHOST_FLAG_CALL | TRACEHOST_FLAG_PROCS));
    must(tracehost_session_set_pattern(host, session, &pattern, NULL));
    pattern.function = "math:square/1";
    pattern.match = NULL;
    pattern.kinds = TRACEHOST_CALL_COUNT;
    must(tracehost_session_set_pattern(host, session, &pattern, NULL));
    return session;
}

int main(void)
{
    const struct tracehost_setup setup = {.size = sizeof setup, .live = true};
    struct work work[2];
    pthread_t thread;
    tracehost_session session;

    must(tracehost_host_start(&setup, &work[0].host));
    must(tracehost_live_function_begin(work[0].host, "math:sum/1", &sum));
    must(tracehost_live_function_begin(work[0].host, "math:square/1", &square));
    session = create(work[0].host);
    for (int i = 0; i < 2; i++) {
        work[i].host = work[0].host;
        work[i].n = 10 * (i + 1);
        must(tracehost_process_start(NULL, NULL, &work[i].process));
        if (pthread_create(&thread, NULL, run, &work[i]) != 0)
            return 1;
        pthread_join(thread, NULL); /* one after the other, so that their output is in order */
    }
    must(tracehost_session_visit_functions(work[0].host, session, "math:square/1", show, NULL));
    must(tracehost_live_function_end(sum));
    must(tracehost_live_function_end(square));
    must(tracehost_host_stop(work[0].host));
    for (int i = 0; i < 2; i++)
        tracehost_process_stop(work[i].process);
    return 0;
}
