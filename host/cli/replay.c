/* tracehost replay: plays recorded streams into tracers. */
#include "replaying.h"
#include "subcommand.h"

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
        return th_error_raise(TH_USAGE, "--max-frames is from 2 to %d, not %s", MOST, value);
    replay->execution.frames = (uint32_t)frames;
    replay->execution.all_frames = (uint64_t)(ALL * frames);
    return TH_OK;
}

static const struct th_argument arguments[] = {
    TH_WORD("STREAM", FILE, TH_ARGUMENT_NEEDED | TH_ARGUMENT_REPEATS,
            TH_INTO(struct th_replaying, streams)),
    TH_OPTION("check", NULL, FLAG, 4,
              "Watch what the tracers do with the NIF API; exit with 1 if it is forbidden",
              TH_INTO(struct th_replaying, check)),
    TH_OPTION("clock", "CLOCK", CHOICE, 2,
              "recorded (the default): tracers that ask for the time get that of the event; wall: "
              "they get the real time",
              .words = TH_WORDS("recorded", "wall"), TH_INTO(struct th_replaying, wall_clock)),
    TH_OPTION("recorded-callers", NULL, FLAG, 3,
              "For all -p: the recording was made with {message,{caller}}, so that its results are "
              "callers",
              TH_INTO(struct th_replaying, recorded_callers)),
    TH_OPTION("each-returns", NULL, FLAG, 3,
              "For all -p: tail calls have returns of their own in the recording, though it tells "
              "that they are tail calls",
              TH_INTO(struct th_replaying, execution.each_returns)),
    TH_OPTION("max-frames", "N", NUMBER, 3,
              "For all -p: remember at most N calls of a process that have not returned, and 16 N "
              "of all together (default: 1000000)",
              .take = replay_take_frames),
    TH_OPTION("probes", NULL, FLAG, 2, "Events hit the USDT probes that they would hit in a host",
              TH_INTO(struct th_replaying, play.probes)),
    TH_OPTION("verify", NULL, FLAG, 4, "Decode every term of every record, wanted or not",
              TH_INTO(struct th_replaying, play.verify)),
    TH_OPTION("fail-on-loss", NULL, FLAG, 4,
              "Exit with 4 if the recorder dropped events or calls were forgotten",
              TH_INTO(struct th_replaying, fail_on_loss)),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments},
    {.items = th_options_trace_arguments,
     .offset = offsetof(struct th_replaying, trace),
     .check = th_options_trace_options_check},
    {.items = th_control_session_arguments,
     .offset = offsetof(struct th_replaying, trace.sessions)},
    {.items = th_cli_stream_arguments, .offset = offsetof(struct th_replaying, stream)},
    {.items = th_cli_bounds_arguments,
     .offset = offsetof(struct th_replaying, play),
     .check = th_cli_bounds_check},
    {.items = th_cli_encoding_arguments},
    {0},
};

static const struct th_usage usage = {
    .sets = sets,
    .before =
        "Loads tracers by name and plays recorded streams into them, one stream after the other.",
    .after = TH_STREAM_HELP
    "\n\n"
    "TRACER is a name, looked up as NAME.so, or a path with a '/'. Its state, which every "
    "callback gets, is an Erlang term: the value of STATE, an expression; the map of the "
    "keys, whose values are integers, true, false or else binaries; or #{}. `console`, "
    "also inside of it, stands for a process that prints what it is sent.\n\n"
    "T is a time after the first record, of several streams the first one's: 1.5 or 1.5s, "
    "250ms, 10us, 3ns, 2min. After an @ it is a time of the recording's own clock: "
    "@1795233754.349.\n\n"
    "Examples:\n"
    "  tracehost replay calls.trace\n"
    "  tracehost replay -t msg -t count,output=counts.txt calls.trace\n"
    "  tracehost replay -t ./my_tracer.so='{level,2}' --flags=call,arity a.trace\n"
    "  tracehost replay -t erl_msg_tracer=console --from=10ms sends.jsonl\n"
    "  tracehost replay --session a -t msg --processes=new --session b a.trace\n"
    "  tracehost replay -p lists:map/2 --return -p ets:_ --kind=count a.trace\n"
    "  tracehost replay -t count --reconnect=30s tcp://localhost:4711\n"
    "  tracehost replay -p send --match-spec \"[{['_',stop],[],[]}]\" a.trace\n",
    .flags = true,
};

int th_cli_command_replay(int argc, char **argv)
{
    struct th_replaying replay = {.command = "replay"};
    int status;

    th_options_trace_options_init(&replay.trace, false);
    th_cli_command_parse(&usage, argc, argv, &replay);
    status = th_cli_replaying_run(&replay);
    th_options_trace_options_free(&replay.trace);
    th_free(replay.streams.items);
    return status;
}
