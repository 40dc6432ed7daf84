/* A stream written anew, in the same format or another. */
#include "interrupt.h"
#include "stream.h"

#include <string.h>

/* Adds EVENT and all that follow. False if writing failed: the chain says why. */
static bool add_all(struct th_stream *stream, struct th_writer *writer, struct th_event *event)
{
    enum th_status status = TH_OK;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    do {
        status = th_writer_add(writer, event, &env);
        if (status == TH_MALFORMED)
            th_stream_malformed(stream, event);
        th_env_clear(&env);
    } while (status != TH_FAILED && th_stream_next(stream, event));
    th_env_release(&env);
    return status != TH_FAILED;
}

static bool is_file(const char *output)
{
    return output && strcmp(output, "-") != 0;
}

int th_rewrite(const char *command, const char *name, const struct th_stream_options *options,
               const char *output, enum th_format format)
{
    struct th_stream stream = {.command = command, .name = name, .options = options};
    struct th_writer_options how = {.format = format};
    struct th_event event = {0};
    struct th_writer *writer;
    bool some, written;
    int status = th_stream_open(&stream);

    if (status != TH_OK)
        return status;
    some = th_stream_next(&stream, &event); /* the first record tells the node */
    how.here = th_reader_info(stream.reader)->node;
    how.utf8_atoms = th_reader_info(stream.reader)->utf8_atoms;
    if (th_writer_open(output ? output : "-", &how, &writer) != TH_OK) {
        th_reader_close(stream.reader);
        return th_command_fail(command);
    }
    written = !some || add_all(&stream, writer, &event);
    status = th_stream_close(&stream);
    if (written && !(th_interrupted && is_file(output)))
        return th_writer_commit(writer) == TH_OK ? status : th_command_fail(command);
    th_writer_abandon(writer);
    if (!written)
        return th_command_fail(command);
    fprintf(stderr, "tracehost %s: %s was not written\n", command, output);
    return status;
}
