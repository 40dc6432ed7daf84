/* tracehost streams: lists the recordings in logs. */
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/cli/options/usage.h"
#include "host/replay/log/log_job.h"

#include <string.h>

struct streams {
    const char *server, *job;
};

static const struct th_argument arguments[] = {
    TH_WORD("SERVER", TEXT, TH_ARGUMENT_NEEDED, TH_INTO(struct streams, server)),
    TH_OPTION("remove-job", "ID", TEXT, OTHER,
              "Remove a job of workers, with their results, and list nothing",
              TH_INTO(struct streams, job)),
    {0},
};

static const struct th_argument_set sets[] = {{.items = arguments}, {0}};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Lists the recordings in logs: node, number and bytes of records, span of time; with "
              "NAME, also the jobs of workers and the readers of --resume, and how far each lags.\n"
              "SERVER is nats://HOST[:PORT], for all streams of the server, or "
              "nats://HOST[:PORT]/NAME.",
    .after = "tracehost-nats(7) describes logs, and what may follow the name.",
    .examples = "  tracehost streams nats://localhost",
};

/* Prints the time from the least to the greatest of the recording's clock; the monotonic clock, if it has several. */
static void print_span(const struct th_log_batch *last)
{
    for (int clock = TH_CLOCKS - 1; clock >= 0; clock--) {
        const struct th_log_times *span = &last->span[clock];
        if (!span->known)
            continue;
        printf("  %12.6f s", (double)(span->greatest - span->least) / 1e9);
        return;
    }
    printf("  %12s  ", "-");
}

static void print_recording(void *context, const struct th_log_summary *summary)
{
    const struct th_log_batch *last = &summary->last;
    bool *begun = context;

    if (!*begun)
        printf("%-16s  %-16s  %-20s  %12s  %14s  %14s\n", "stream", "recording", "node", "records",
               "bytes", "span");
    *begun = true;
    printf("%-16s  ", summary->stream);
    if (!summary->recording) {
        printf("no recordings\n");
        return;
    }
    printf("%-16s  ", summary->recording);
    if (!summary->readable) {
        printf("its last message is no batch of records\n");
        return;
    }
    printf("%-20s  %12llu  %14llu", *last->node ? last->node : "-",
           (unsigned long long)(last->first + last->count - 1),
           (unsigned long long)(last->position + last->bytes));
    print_span(last);
    printf("  %s\n", last->last ? "complete" : "not complete");
}

/* Prints the recordings of NAME, and the jobs. */
static enum th_status list_streams(const struct th_log_name *name)
{
    struct th_buffer jobs = {0};
    bool begun = false;
    enum th_status status = th_replay_log_list(name, print_recording, &begun);

    if (status == TH_OK && name->stream)
        status = th_replay_log_job_list(name, &jobs);
    fputs(th_buffer_text(&jobs), stdout);
    th_buffer_free(&jobs);
    if (status == TH_OK && !begun)
        printf("no streams of recordings\n");
    return status;
}

int th_cli_command_streams(int argc, char **argv)
{
    struct streams streams = {0};
    struct th_log_name name = {0};
    enum th_status status;

    th_cli_command_parse(&usage, argc, argv, &streams);
    if (!th_replay_log_is_name(streams.server)) {
        th_error_raise(TH_USAGE, "SERVER must be nats://HOST[:PORT], not '%s'", streams.server);
        return th_cli_command_fail("streams");
    }
    status = th_replay_log_name_parse(streams.server, &name);
    if (status == TH_OK && streams.job && !name.stream)
        status = th_error_raise(TH_USAGE, "the name lacks the stream: nats://HOST[:PORT]/NAME");
    if (status == TH_OK)
        status = streams.job ? th_replay_log_job_remove(&name, streams.job) : list_streams(&name);
    th_replay_log_name_free(&name);
    if (status != TH_OK) {
        th_error_context(streams.job ? "cannot remove a job of %s" : "cannot list %s",
                         streams.server);
        return th_cli_command_fail("streams");
    }
    return th_cli_command_finish("streams", TH_OK);
}
