/* tracehost replay: plays recorded streams into tracers. */
#include "isolation.h"
#include "replaying.h"
#include "resume.h"
#include "smallest_crash.h"
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/memory.h"
#include "host/cli/options/usage.h"

#include <string.h>

static enum th_status replay_take_frames(const struct th_argument *argument, const char *value,
                                         void *input)
{
    enum { ALL = TH_EXECUTION_ALL_FRAMES / TH_EXECUTION_FRAMES, MOST = 1000000000 };
    struct th_replaying *replay = input;
    int64_t frames;
    enum th_status status = th_control_argument_number(argument, value, &frames);

    if (status != TH_OK)
        return status;
    if (frames < 2 || frames > MOST)
        return th_error_raise(TH_USAGE, "--max-frames must be from 2 to %d, not '%s'", MOST, value);
    replay->execution.frames = (uint32_t)frames;
    replay->execution.all_frames = (uint64_t)(ALL * frames);
    return TH_OK;
}

/* Options of replay and merge. */
static const struct th_argument common_arguments[] = {
    TH_OPTION("recorded-callers", NULL, FLAG, INPUT,
              "Read recorded results of match specifications as callers: for recordings made with "
              "{message,{caller}}",
              .how = TH_ARGUMENT_RARE, TH_INTO(struct th_replaying, recorded_callers)),
    TH_OPTION(
        "each-returns", NULL, FLAG, INPUT,
        "The recording has a return for each call, also for calls that are marked as tail calls",
        .how = TH_ARGUMENT_RARE, TH_INTO(struct th_replaying, execution.each_returns)),
    TH_OPTION("segment", "SIZE", BYTES, INPUT,
              "With --join and for merge, cut the recording into segments of SIZE bytes (default: "
              "64MiB)",
              .how = TH_ARGUMENT_RARE, .least = 1, .most = INT64_MAX / 2,
              .wanted = "a size above 0", TH_INTO(struct th_replaying, segment)),
    TH_OPTION("fail-on-loss", NULL, FLAG, LIMITS,
              "Exit with 4 if events were dropped or calls forgotten",
              TH_INTO(struct th_replaying, fail_on_loss)),
    TH_OPTION("verify", NULL, FLAG, OTHER,
              "Decode all terms of all records, also if no tracer needs them",
              .how = TH_ARGUMENT_RARE, TH_INTO(struct th_replaying, play.verify)),
    {0},
};

static const struct th_argument arguments[] = {
    TH_WORD("STREAM", FILE, TH_ARGUMENT_NEEDED | TH_ARGUMENT_REPEATS,
            TH_INTO(struct th_replaying, streams)),
    TH_OPTION("clock", "CLOCK", CHOICE, TRACERS,
              "Time that tracers read: recorded (default), the time of the event, or wall, the "
              "real time",
              .how = TH_ARGUMENT_RARE, .words = TH_WORDS("recorded", "wall"),
              TH_INTO(struct th_replaying, wall_clock)),
    TH_OPTION(
        "shards", "N", NUMBER, INPUT,
        "Play the stream in N parts at the same time, each in a process of its own, and merge "
        "the results of the tracers",
        .how = TH_ARGUMENT_RARE, .least = 1, .most = 256, TH_INTO(struct th_replaying, shards)),
    TH_OPTION("join", NULL, FLAG, INPUT,
              "Be one of the workers, on any machines, that play nats://HOST/NAME in segments; "
              "tracehost merge prints the results",
              .how = TH_ARGUMENT_RARE, TH_INTO(struct th_replaying, join)),
    TH_OPTION("lease", "T", TIME, LIMITS,
              "With --join, take the segment of a worker that has not been heard of for T "
              "(default: 10s)",
              .how = TH_ARGUMENT_RARE, .least = 100000000, .most = INT64_MAX,
              .wanted = "a time of at least 100ms", TH_INTO(struct th_replaying, lease)),
    TH_OPTION("max-frames", "N", NUMBER, LIMITS,
              "For -p, keep at most N calls of a process that have not returned, and 16 N of all "
              "processes (default: 1000000)",
              .how = TH_ARGUMENT_RARE, .take = replay_take_frames),
    TH_OPTION("check", NULL, FLAG, OTHER, "Report misuse of the NIF API; if any, exit with 1",
              TH_INTO(struct th_replaying, check)),
    TH_OPTION("probes", NULL, FLAG, OTHER,
              "Hit the USDT probes that the events would hit in a host", .how = TH_ARGUMENT_RARE,
              TH_INTO(struct th_replaying, play.probes)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = th_control_session_arguments,
     .offset = offsetof(struct th_replaying, trace.sessions)},
    {.items = th_options_trace_arguments,
     .offset = offsetof(struct th_replaying, trace),
     .check = th_options_trace_options_check},
    {.items = th_cli_bounds_arguments,
     .offset = offsetof(struct th_replaying, play),
     .check = th_cli_bounds_check},
    {.items = th_cli_stream_arguments, .offset = offsetof(struct th_replaying, stream)},
    {.items = th_cli_node_arguments, .offset = offsetof(struct th_replaying, stream)},
    {.items = arguments},
    {.items = common_arguments},
    {.items = th_cli_supervisor_arguments},
    {.items = th_cli_encoding_arguments},
    {.items = th_cli_isolation_arguments, .check = th_cli_isolation_check},
    {.items = th_cli_resume_arguments, .check = th_cli_resume_check},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before = "Plays recorded event streams into tracers; several nodes are merged by "
              "time.\n" TH_STREAM_HELP,
    .after = TH_STREAM_MORE_HELP "\n\n" TH_TRACE_HELP "\n\n" TH_TIME_HELP,
    .examples = "  tracehost replay samples/recordings/s13_procs.trace\n"
                "  tracehost replay -p wl:_ samples/recordings/s04_genserver_pingpong.trace",
    .flags = true,
};

int th_cli_command_replay(int argc, char **argv)
{
    struct th_replaying replay = {.command = "replay"};
    int status;

    th_options_trace_options_init(&replay.trace, false);
    th_cli_isolation_init(&replay);
    th_cli_command_parse(&usage, argc, argv, &replay);
    th_cli_replaying_ask_nodes(&replay);
    if (replay.minimize)
        th_cli_minimize_fork(&replay);
    th_cli_isolation_begin(&replay);
    status = th_cli_replaying_run(&replay);
    if (replay.minimize)
        th_cli_minimize_finish(replay.minimize);
    th_options_trace_options_free(&replay.trace);
    th_free(replay.streams.items);
    return status;
}

/* --- merge -------------------------------------------------------------------------------------- */

struct merging {
    struct th_replaying replay; /* the first member, for the sets */
    const char *name;
};

static const struct th_argument merge_arguments[] = {
    TH_WORD("LOG", TEXT, TH_ARGUMENT_NEEDED, TH_INTO(struct merging, name)),
    {0},
};

static const struct th_argument_set merge_sets[] = {
    {.items = th_control_session_arguments,
     .offset = offsetof(struct th_replaying, trace.sessions)},
    {.items = th_options_trace_arguments,
     .offset = offsetof(struct th_replaying, trace),
     .check = th_options_trace_options_check},
    {.items = th_cli_bounds_arguments,
     .offset = offsetof(struct th_replaying, play),
     .check = th_cli_bounds_check},
    {.items = th_cli_stream_arguments, .offset = offsetof(struct th_replaying, stream)},
    {.items = merge_arguments},
    {.items = common_arguments},
    {.items = th_cli_supervisor_arguments},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage merge_usage = {
    .sets = merge_sets,
    .before = "Merges the results of all workers of tracehost replay --join, and prints what one "
              "replay of the recording prints.\nLOG is nats://HOST[:PORT]/NAME, with "
              "?recording=ID if the stream has several recordings.",
    .after = "The workers must have had the same options that decide the results, the same build "
             "of tracehost and the same tracers. tracehost streams lists their jobs; "
             "tracehost-nats(7) describes workers.\n\n" TH_TIME_HELP,
    .examples = "  tracehost replay --join nats://localhost/prod -t count\n"
                "  tracehost merge nats://localhost/prod -t count",
};

int th_cli_command_merge(int argc, char **argv)
{
    struct merging merging = {.replay = {.command = "merge", .merge = true}};
    struct th_texts *streams = &merging.replay.streams;
    int status;

    th_options_trace_options_init(&merging.replay.trace, false);
    th_cli_command_parse(&merge_usage, argc, argv, &merging);
    TH_ARRAY_GROW(streams->items, streams->count, streams->capacity);
    streams->items[streams->count++] = merging.name;
    th_cli_command_supervise("merge", NULL);
    status = th_cli_replaying_run(&merging.replay);
    th_options_trace_options_free(&merging.replay.trace);
    th_free(streams->items);
    return status;
}
