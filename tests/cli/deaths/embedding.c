/*
 * An embedding program that does what `tracehost replay` does in the table of deaths.
 *
 *     embedding RECORDING FOLDER FILE
 *
 * It plays RECORDING into three tracers: text into FILE, text on stdout, and dies of FOLDER.
 */
#include <tracehost.h>

#include <stdio.h>
#include <stdlib.h>

static void must(enum tracehost_status status)
{
    if (status == TRACEHOST_OK)
        return;
    tracehost_error_print(stderr, "tracehost embedding");
    exit(status);
}

static void attach(tracehost_host *host, const char *tracer, const char *options)
{
    const struct tracehost_session_setup setup = {
        .size = sizeof setup,
        .tracer = tracer,
        .state_options = options,
        .recorded_flags = TRACEHOST_FLAGS_EVENTS | TRACEHOST_FLAG_AS_RECORDED,
    };
    tracehost_session session;

    must(tracehost_session_create(host, &setup, &session));
}

int main(int argc, char **argv)
{
    const struct tracehost_setup setup = {.size = sizeof setup, .guard = true};
    tracehost_host *host;
    tracehost_stream *stream;
    tracehost_replay *replay;
    char options[1000];

    if (argc != 4 || !tracehost_supervise("tracehost embedding"))
        return TRACEHOST_USAGE;
    snprintf(options, sizeof options, "output=%s", argv[3]);
    must(tracehost_host_start(&setup, &host));
    must(tracehost_host_add_folder(host, argv[2]));
    attach(host, "text", options);
    attach(host, "text", NULL);
    attach(host, "dies", NULL);
    must(tracehost_stream_open(argv[1], NULL, &stream));
    must(tracehost_replay_begin(host, stream, NULL, &replay));
    must(tracehost_replay_play(replay));
    must(tracehost_replay_end(replay));
    must(tracehost_stream_close(stream));
    must(tracehost_host_stop(host));
    return TRACEHOST_OK;
}
