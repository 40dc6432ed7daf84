/*
 * Several sessions at once, and a program that takes part: the program is the process that receives
 * a tracer's messages, plays record by record, and ends a session while others continue.
 *
 *     sessions STREAM        with samples/erl_msg_tracer.so in a folder of $TRACEHOST_PATH
 */
#include <tracehost.h>

#include <inttypes.h>
#include <stdlib.h>

static void must(enum tracehost_status status)
{
    if (status == TRACEHOST_OK)
        return;
    tracehost_error_print(stderr, "sessions");
    exit(status);
}

/* Receives messages of the tracer, which sends {trace, Sender, Receiver}. */
static void receive(void *context, ERL_NIF_TERM message)
{
    char *text = tracehost_term_to_text(message);

    printf("message %u: %s\n", ++*(unsigned *)context, text);
    tracehost_free(text);
}

/* Creates a session of TRACER for all messages sent. */
static tracehost_session create(tracehost_host *host, const char *tracer, ERL_NIF_TERM state)
{
    const struct tracehost_session_setup setup = {
        .size = sizeof setup, .tracer = tracer, .name = tracer, .state = state};
    tracehost_session session;

    must(tracehost_session_create(host, &setup, &session));
    must(
        tracehost_session_trace(host, session, TRACEHOST_PROCESSES_ALL, true, TRACEHOST_FLAG_SEND));
    return session;
}

static void tell(tracehost_host *host, tracehost_session session)
{
    struct tracehost_session_info info = {.size = sizeof info};
    struct tracehost_session_counts counts = {.size = sizeof counts};

    must(tracehost_session_get_info(host, session, &info));
    must(tracehost_session_get_counts(host, session, &counts));
    printf("%s: %" PRIu64 " traced, %" PRIu64 " discarded\n", info.name, counts.traced,
           counts.discarded);
}

int main(int argc, char **argv)
{
    unsigned received = 0;
    struct tracehost_record record = {.size = sizeof record};
    tracehost_host *host;
    tracehost_process *inbox;
    tracehost_session messages, lines;
    tracehost_stream *stream;
    tracehost_replay *replay;
    enum tracehost_status status;

    if (argc < 2) {
        fputs("usage: sessions STREAM\n", stderr);
        return TRACEHOST_USAGE;
    }
    must(tracehost_host_start(NULL, &host));
    must(tracehost_process_start(receive, &received, &inbox));
    messages = create(host, "erl_msg_tracer", tracehost_process_pid(inbox));
    lines = create(host, "text", 0);
    must(tracehost_stream_open(argv[1], NULL, &stream));
    must(tracehost_replay_begin(host, stream, NULL, &replay));
    while ((status = tracehost_replay_step(replay, &record)) == TRACEHOST_OK) {
        if (received < 3 || tracehost_session_get_state(host, messages) == TRACEHOST_SESSION_DEAD)
            continue;
        tell(host, messages);
        must(tracehost_session_destroy(host, messages));
        printf("destroyed after record %" PRIu64 ", a %s; sessions left: %zu\n", record.number,
               record.tag, tracehost_session_list(host, 0, NULL, 0));
    }
    must(status == TRACEHOST_END ? TRACEHOST_OK : status);
    tell(host, lines);
    must(tracehost_replay_end(replay));
    must(tracehost_stream_close(stream));
    must(tracehost_host_stop(host));
    tracehost_process_stop(inbox);
    return 0;
}
