/*
 * Is a tracer itself: functions of the program get the events of a recording. They print each
 * exception with its reason, and count the calls.
 *
 *     exceptions STREAM
 */
#include <tracehost.h>

#include <stdlib.h>
#include <string.h>

static void must(enum tracehost_status status)
{
    if (status == TRACEHOST_OK)
        return;
    tracehost_error_print(stderr, "exceptions");
    exit(status);
}

struct counts {
    unsigned calls, exceptions;
};

/* Other events are discarded before their terms are made. */
static enum tracehost_answer enabled(void *context, const struct tracehost_event *event)
{
    (void)context;
    return strcmp(event->tag, "call") == 0 ? TRACEHOST_ANSWER_TRACE : TRACEHOST_ANSWER_DISCARD;
}

/* Ends of calls follow the calls. */
static void trace(void *context, const struct tracehost_event *event)
{
    struct counts *counts = (struct counts *)context;
    char *tracee, *function, *reason;

    if (strcmp(event->tag, "exception_from") != 0) {
        counts->calls += strcmp(event->tag, "call") == 0;
        return;
    }
    counts->exceptions++;
    tracee = tracehost_term_to_text(event->tracee);
    function = tracehost_term_to_text(event->term);
    reason = tracehost_term_to_text(event->extra);
    printf("%s %s: %s\n", tracee, function, reason);
    tracehost_free(tracee);
    tracehost_free(function);
    tracehost_free(reason);
}

static void end(void *context)
{
    const struct counts *counts = (const struct counts *)context;

    printf("%u calls, %u exceptions\n", counts->calls, counts->exceptions);
}

int main(int argc, char **argv)
{
    struct counts counts = {0, 0};
    const struct tracehost_callbacks callbacks = {.size = sizeof callbacks,
                                                  .context = &counts,
                                                  .enabled = enabled,
                                                  .trace = trace,
                                                  .end = end};
    const struct tracehost_session_setup tracer = {
        .size = sizeof tracer,
        .recorded_flags = TRACEHOST_FLAG_CALL | TRACEHOST_FLAG_AS_RECORDED,
        .callbacks = &callbacks,
    };
    tracehost_host *host;
    tracehost_session session;
    tracehost_stream *stream;
    tracehost_replay *replay;

    if (argc != 2) {
        fputs("usage: exceptions STREAM\n", stderr);
        return TRACEHOST_USAGE;
    }
    must(tracehost_host_start(NULL, &host));
    must(tracehost_session_create(host, &tracer, &session));
    must(tracehost_stream_open(argv[1], NULL, &stream));
    must(tracehost_replay_begin(host, stream, NULL, &replay));
    must(tracehost_replay_play(replay));
    must(tracehost_replay_end(replay));
    must(tracehost_stream_close(stream));
    must(tracehost_host_stop(host)); /* calls end() */
    return 0;
}
