/* A stream written anew, in the same format or another. */
#include "interrupt.h"
#include "stream.h"

#include <string.h>

/* A recording is of one node: its identifiers are those that are written without the node. */
static bool is_of(const struct th_etf_node *node, const struct th_stream *stream)
{
    const struct th_etf_node *now = &th_replay_reader_info(stream->reader)->node;

    return node->node == TH_NONE || now->node == TH_NONE ||
           (node->node == now->node && node->creation == now->creation);
}

/* Adds EVENT and all that follow, of NODE. False if writing failed: the chain says why. */
static bool add_all(struct th_stream *stream, struct th_writer *writer, struct th_event *event,
                    const struct th_etf_node *node)
{
    enum th_status status = TH_OK;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    do {
        status = th_replay_writer_add(writer, event, &env);
        if (status == TH_MALFORMED)
            th_cli_stream_malformed(stream, event);
        else if (status == TH_OK)
            th_cli_stream_check(stream, event, &env);
        th_env_clear(&env);
    } while (status != TH_FAILED && th_cli_stream_next(stream, event) && is_of(node, stream));
    th_env_release(&env);
    if (status != TH_FAILED && !is_of(node, stream))
        th_cli_stream_leave(stream, "it goes on with another node, whose records belong elsewhere");
    return status != TH_FAILED;
}

/* Nothing stays here while more is awaited. */
static void pass_on(void *writer)
{
    if (th_replay_writer_flush(writer) != TH_OK)
        th_error_clear(); /* it will fail again */
}

static void tell_plain(const char *command, const char *name, uint64_t count)
{
    if (count)
        fprintf(stderr,
                "tracehost %s: %s: calls without `external`, `tail` and callers, which jsonl has: "
                "%llu\n",
                command, th_cli_stream_title(name), (unsigned long long)count);
}

static bool is_file(const char *output)
{
    return output && strcmp(output, "-") != 0;
}

int th_cli_rewrite(const char *command, const char *name, const struct th_stream_options *options,
                   const char *output, enum th_format format)
{
    struct th_stream stream = {.command = command, .name = name, .options = options};
    struct th_writer_options how = {.format = format};
    struct th_event event = {0};
    struct th_writer *writer;
    bool some, written;
    uint64_t plain;
    int status = th_cli_stream_open(&stream);

    if (status != TH_OK)
        return status;
    some = th_cli_stream_next(&stream, &event); /* the first record tells the node */
    how.here = th_replay_reader_info(stream.reader)->node;
    how.utf8_atoms = th_replay_reader_info(stream.reader)->utf8_atoms;
    if (th_replay_writer_open(output ? output : "-", &how, &writer) != TH_OK) {
        th_replay_reader_close(stream.reader);
        return th_cli_interrupt_status(th_cli_command_fail(command));
    }
    stream.idle = is_file(output) ? NULL : pass_on;
    stream.idle_context = writer;
    written = !some || add_all(&stream, writer, &event, &how.here);
    status = th_cli_stream_close(&stream);
    if (written && !(th_cli_interrupt_came() && is_file(output) && !stream.live)) {
        plain = th_replay_writer_plain(writer);
        if (th_replay_writer_commit(writer) != TH_OK)
            return th_cli_command_fail(command);
        tell_plain(command, name, plain);
        return status;
    }
    th_replay_writer_abandon(writer);
    if (!written)
        return th_cli_command_fail(command);
    fprintf(stderr, "tracehost %s: %s was not written\n", command, output);
    return status;
}
