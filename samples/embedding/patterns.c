/*
 * Function patterns over a recording: selects calls with a match specification as text, as a term,
 * and by its name in dbg; then shows the patterns that are set.
 *
 *     patterns STREAM
 */
#include <tracehost.h>

#include <stdlib.h>

static void must(enum tracehost_status status)
{
    if (status == TRACEHOST_OK)
        return;
    tracehost_error_print(stderr, "patterns");
    exit(status);
}

/* MATCH is a text; if it is NULL, TERM is a term. */
static void set(tracehost_host *host, tracehost_session session, const char *function,
                const char *match, ERL_NIF_TERM term)
{
    const struct tracehost_pattern pattern = {
        .size = sizeof pattern,
        .function = function,
        .match = match,
        .match_term = term,
        .kinds = TRACEHOST_LOCAL,
    };
    size_t matched;

    must(tracehost_session_set_pattern(host, session, &pattern, &matched));
    printf("%s: %zu there\n", function, matched);
}

static void show(void *context, const struct tracehost_function *function)
{
    char *module = tracehost_term_to_text(function->module);
    char *name = tracehost_term_to_text(function->function);
    char *spec = tracehost_term_to_text(function->match_spec);

    (void)context;
    printf("%s:%s/%u %s\n", module, name, function->arity, spec);
    tracehost_free(module);
    tracehost_free(name);
    tracehost_free(spec);
}

int main(int argc, char **argv)
{
    const struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = "text"};
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM returns;
    tracehost_host *host;
    tracehost_session session;
    tracehost_stream *stream;
    tracehost_replay *replay;

    if (argc < 2) {
        fputs("usage: patterns STREAM\n", stderr);
        return TRACEHOST_USAGE;
    }
    must(tracehost_host_start(NULL, &host));
    must(tracehost_session_create(host, &setup, &session));
    must(
        tracehost_session_trace(host, session, TRACEHOST_PROCESSES_ALL, true, TRACEHOST_FLAG_CALL));

    /* Calls of bar/1 with an argument above 8, with their callers. */
    set(host, session, "ex:bar/1", "[{['$1'],[{'>','$1',8}],[{message,{caller}}]}]", 0);
    /* Results of foo/0: a term, which enif_make_list() and the like could build as well. */
    must(tracehost_term_parse(env, "[{'_',[],[{return_trace}]}]", &returns));
    set(host, session, "ex:foo/0", NULL, returns);
    /* All calls of another module, with callers. None of its functions is known yet. */
    set(host, session, "sem:_/_", "c", 0);

    must(tracehost_stream_open(argv[1], NULL, &stream));
    must(tracehost_replay_begin(host, stream, NULL, &replay));
    must(tracehost_replay_play(replay));
    must(tracehost_replay_end(replay));
    must(tracehost_stream_close(stream));
    must(tracehost_session_visit_functions(host, session, NULL, show, NULL));
    must(tracehost_host_stop(host));
    enif_free_env(env);
    return 0;
}
