/*
 * Plays a recording into a tracer: the smallest program that is a host. The program loads the
 * tracer by its name, traces everything that was recorded, and prints the counts of records at the
 * end, also for a damaged recording.
 *
 *     replay_into_tracer STREAM [TRACER [key=value,...]]
 */
#include <tracehost.h>

#include <inttypes.h>
#include <stdlib.h>

static void must(enum tracehost_status status)
{
    if (status == TRACEHOST_OK)
        return;
    tracehost_error_print(stderr, "replay_into_tracer");
    exit(status);
}

static void tell_damage(void *context, tracehost_replay *replay)
{
    (void)context;
    (void)replay;
    fprintf(stderr, "damage: %s\n", tracehost_error_link(0));
}

int main(int argc, char **argv)
{
    const struct tracehost_setup setup = {.size = sizeof setup, .guard = true};
    const struct tracehost_session_setup tracer = {
        .size = sizeof tracer,
        .tracer = argc > 2 ? argv[2] : "text",
        .state_options = argc > 3 ? argv[3] : NULL,
        .recorded_flags = TRACEHOST_FLAGS_EVENTS | TRACEHOST_FLAG_AS_RECORDED,
    };
    const struct tracehost_replay_options options = {.size = sizeof options, .damage = tell_damage};
    struct tracehost_replay_counts counts = {.size = sizeof counts};
    tracehost_host *host;
    tracehost_session session;
    tracehost_stream *stream;
    tracehost_replay *replay;
    enum tracehost_status status;

    if (argc < 2) {
        fputs("usage: replay_into_tracer STREAM [TRACER [key=value,...]]\n", stderr);
        return TRACEHOST_USAGE;
    }
    must(tracehost_host_start(&setup, &host));
    must(tracehost_session_create(host, &tracer, &session));
    must(tracehost_stream_open(argv[1], NULL, &stream));
    must(tracehost_replay_begin(host, stream, &options, &replay));
    status = tracehost_replay_play(replay); /* damage was reported; all undamaged records were
                                               played */
    must(tracehost_replay_get_counts(replay, &counts));
    must(tracehost_replay_end(replay));
    must(tracehost_stream_close(stream));
    must(tracehost_host_stop(host)); /* the tracer writes its remaining output here */
    fflush(stdout);
    fprintf(stderr, "%" PRIu64 " records, %" PRIu64 " played\n", counts.records, counts.played);
    return status;
}
