/* tracehost replay: recorded streams into tracers. */
#include "encoding.h"
#include "option_table.h"
#include "replaying.h"

#include <string.h>

enum {
    CLOCK = TH_OPTION_OWN,
    FAIL_ON_LOSS,
    VERIFY,
    RECORDED_CALLERS,
    MAX_FRAMES,
    EACH_RETURNS,
    PROBES,
    CHECK
};

static const struct argp_option options[] = {
    {"check", CHECK, NULL, 0,
     "Watch what the tracers do with the NIF API; exit with 1 if it is forbidden", 4},
    {"clock", CLOCK, "CLOCK", 0,
     "recorded (the default): tracers that ask for the time get that of the event; wall: they get "
     "the real time",
     2},
    {"recorded-callers", RECORDED_CALLERS, NULL, 0,
     "For all -p: the recording was made with {message,{caller}}, so that its results are callers",
     3},
    {"each-returns", EACH_RETURNS, NULL, 0,
     "For all -p: tail calls have returns of their own in the recording, though it tells that they "
     "are tail calls",
     3},
    {"max-frames", MAX_FRAMES, "N", 0,
     "For all -p: remember at most N calls of a process that have not returned, and 16 N of all "
     "together (default: 1000000)",
     3},
    {"probes", PROBES, NULL, 0, "Events hit the USDT probes that they would hit in a host", 2},
    {"verify", VERIFY, NULL, 0, "Decode every term of every record, wanted or not", 4},
    {"fail-on-loss", FAIL_ON_LOSS, NULL, 0,
     "Exit with 4 if the recorder dropped events or calls were forgotten", 4},
    {0},
};

static const struct th_choices choices[] = {{CLOCK, "--clock", TH_WORDS("recorded", "wall"), 0},
                                            {0}};

static void set_max_frames(struct th_execution_options *options, const char *value,
                           struct argp_state *state)
{
    enum { ALL = TH_EXECUTION_ALL_FRAMES / TH_EXECUTION_FRAMES, MOST = 1000000000 };
    uint64_t frames = th_option_count(value, state, "--max-frames");

    if (frames < 2 || frames > MOST)
        argp_error(state, "--max-frames is from 2 to %d, not %s", MOST, value);
    options->frames = (uint32_t)frames;
    options->all_frames = ALL * frames;
}

static error_t parse_own(int key, char *value, struct argp_state *state)
{
    struct th_replaying *replay = state->input;

    switch (key) {
    case CLOCK:
        replay->wall_clock = th_option_choice(choices, key, value, state) == 1;
        return 0;
    case TH_KEY_ABOUT:
        ((struct th_about *)state->hook)->choices = choices;
        return 0;
    case FAIL_ON_LOSS:
        replay->fail_on_loss = true;
        return 0;
    case CHECK:
        replay->check = true;
        return 0;
    case PROBES:
        replay->play.probes = true;
        return 0;
    case VERIFY:
        replay->play.verify = true;
        return 0;
    case RECORDED_CALLERS:
        replay->recorded_callers = true;
        return 0;
    case MAX_FRAMES:
        set_max_frames(&replay->execution, value, state);
        return 0;
    case EACH_RETURNS:
        replay->execution.each_returns = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct th_replaying *replay = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &replay->trace;
        state->child_inputs[1] = &replay->stream;
        state->child_inputs[2] = &replay->play;
        return 0;
    case ARGP_KEY_ARGS:
        replay->streams = state->argv + state->next;
        replay->stream_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which STREAM?");
        return 0;
    default:
        return parse_own(key, value, state);
    }
}

static const struct argp_child children[] = {{&th_trace_argp, 0, NULL, 0},
                                             {&th_stream_argp, 0, NULL, 0},
                                             {&th_bounds_argp, 0, NULL, 0},
                                             {&th_encoding_argp, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    options,
    parse,
    "STREAM...",
    "Loads tracers by name and plays recorded streams into them, one stream after the other.\v"
    "STREAM is a trace-port file, a file of a wrap set or its pattern NAME*TAIL, JSON lines, - for "
    "stdin, or tcp://HOST:PORT for what a running node sends to dbg:trace_port(ip, PORT).\n\n"
    "TRACER is a name, looked up as NAME.so, or a path with a '/'. Its state, which every callback "
    "gets, is an Erlang term: the value of STATE, an expression; "
    "the map of the keys, whose values are integers, true, false or else binaries; or #{}. "
    "`console`, also inside of it, stands for a process that prints what it is sent.\n\n"
    "T is a time after the first record, of several streams the first one's: 1.5 or 1.5s, 250ms, "
    "10us, 3ns, 2min. After an @ it is a time of the recording's own clock: @1795233754.349.\n\n"
    "Examples:\n"
    "  tracehost replay calls.trace\n"
    "  tracehost replay -t msg -t count,output=counts.txt calls.trace\n"
    "  tracehost replay -t ./my_tracer.so='{level,2}' --flags=call,arity a.trace\n"
    "  tracehost replay -t erl_msg_tracer=console --from=10ms sends.jsonl\n"
    "  tracehost replay --session a -t msg --processes=new --session b a.trace\n"
    "  tracehost replay -p lists:map/2 --return -p ets:_ --kind=count a.trace\n"
    "  tracehost replay -t count --reconnect=30s tcp://localhost:4711\n"
    "  tracehost replay -p send --match-spec \"[{['_',stop],[],[]}]\" a.trace\n",
    children,
    NULL,
    NULL,
};

int th_command_replay(int argc, char **argv)
{
    struct th_replaying replay = {.command = "replay"};
    int status;

    th_trace_options_init(&replay.trace, false);
    th_command_parse(&argp, argc, argv, &replay);
    status = th_replaying_run(&replay);
    th_trace_options_free(&replay.trace);
    return status;
}
