/*
 * Counts and times calls over a recording, without events for a tracer: call_count and call_time,
 * by function and process; paused half way, and restarted.
 *
 *     counts STREAM
 */
#include <tracehost.h>

#include <inttypes.h>
#include <stdlib.h>

static void must(enum tracehost_status status)
{
    if (status == TRACEHOST_OK)
        return;
    tracehost_error_print(stderr, "counts");
    exit(status);
}

static void show(void *context, const struct tracehost_function *function)
{
    char *name = tracehost_term_to_text(function->function);

    (void)context;
    printf("  %s/%u: %" PRIu64 " calls", name, function->arity, function->calls);
    if (function->kinds & TRACEHOST_CALL_TIME)
        printf(", %" PRId64 " us in %zu processes", function->time / 1000, function->usage_count);
    printf("%s\n", function->active == function->kinds ? "" : " (paused)");
    tracehost_free(name);
}

static void set(tracehost_host *host, tracehost_session session, const char *match)
{
    const struct tracehost_pattern pattern = {
        .size = sizeof pattern,
        .function = "gen_server:loop/7",
        .match = match,
        .kinds = TRACEHOST_CALL_COUNT | TRACEHOST_CALL_TIME,
    };

    must(tracehost_session_set_pattern(host, session, &pattern, NULL));
    printf("%s\n", match);
}

int main(int argc, char **argv)
{
    const struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = "text"};
    tracehost_host *host;
    tracehost_session session;
    tracehost_stream *stream;
    tracehost_replay *replay;

    if (argc < 2) {
        fputs("usage: counts STREAM\n", stderr);
        return TRACEHOST_USAGE;
    }
    must(tracehost_host_start(NULL, &host));
    must(tracehost_session_create(host, &setup, &session));
    /* Flags select the processes whose calls are counted. No call is traced, as no pattern requests
     * it. */
    must(
        tracehost_session_trace(host, session, TRACEHOST_PROCESSES_ALL, true, TRACEHOST_FLAG_CALL));
    must(tracehost_stream_open(argv[1], NULL, &stream));
    must(tracehost_replay_begin(host, stream, NULL, &replay));
    set(host, session, "true");
    for (int i = 0; i < 300; i++)
        must(tracehost_replay_step(replay, NULL));
    set(host, session, "pause");
    must(tracehost_session_visit_functions(host, session, NULL, show, NULL));
    for (int i = 0; i < 200; i++)
        must(tracehost_replay_step(replay, NULL));
    must(tracehost_session_visit_functions(host, session, "gen_server:loop/7", show, NULL));
    set(host, session, "restart");
    must(tracehost_replay_play(replay));
    must(tracehost_session_visit_functions(host, session, NULL, show, NULL));
    must(tracehost_replay_end(replay));
    must(tracehost_stream_close(stream));
    must(tracehost_host_stop(host));
    return 0;
}
