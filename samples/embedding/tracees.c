/*
 * Selects the tracees of a session and their flags: one process, any process that registers a name,
 * and processes that they spawn; and queries them in the middle of a recording.
 *
 *     tracees STREAM
 */
#include <tracehost.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void must(enum tracehost_status status)
{
    if (status == TRACEHOST_OK)
        return;
    tracehost_error_print(stderr, "tracees");
    exit(status);
}

/* Prints that a process is spawned, and its flags. */
static void tell_spawned(tracehost_host *host, tracehost_session session,
                         const struct tracehost_record *record)
{
    char *pid = tracehost_term_to_text(record->tracee);
    uint32_t flags;

    must(tracehost_session_get_flags(host, session, record->tracee, &flags));
    printf("record %" PRIu64 ": %s is spawned with the flags 0x%x\n", record->number, pid, flags);
    tracehost_free(pid);
}

int main(int argc, char **argv)
{
    const struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = "text"};
    struct tracehost_record record = {.size = sizeof record};
    tracehost_host *host;
    tracehost_session session;
    tracehost_stream *stream;
    tracehost_replay *replay;
    enum tracehost_status status;
    uint32_t flags;
    ErlNifEnv *env = enif_alloc_env();
    ERL_NIF_TERM parent;

    if (argc < 2) {
        fputs("usage: tracees STREAM\n", stderr);
        return TRACEHOST_USAGE;
    }
    must(tracehost_host_start(NULL, &host));
    must(tracehost_session_create(host, &setup, &session));
    must(tracehost_flags_parse("procs,send", &flags));
    must(tracehost_session_trace(host, session, TRACEHOST_PROCESSES_NEW, true, flags));
    must(tracehost_term_parse(env, "<0.94.0>", &parent));
    must(tracehost_session_expect(host, session, parent, TRACEHOST_FLAG_PROCS));
    must(tracehost_stream_open(argv[1], NULL, &stream));
    must(tracehost_replay_begin(host, stream, NULL, &replay));
    while ((status = tracehost_replay_step(replay, &record)) == TRACEHOST_OK) {
        if (!record.tag || strcmp(record.tag, "spawned") != 0)
            continue;
        tell_spawned(host, session, &record);
        /* Ends the tracing of its messages. */
        must(tracehost_session_trace_one(host, session, record.tracee, false, TRACEHOST_FLAG_SEND));
    }
    must(status == TRACEHOST_END ? TRACEHOST_OK : status);
    must(tracehost_replay_end(replay));
    must(tracehost_stream_close(stream));
    must(tracehost_host_stop(host));
    enif_free_env(env);
    return 0;
}
