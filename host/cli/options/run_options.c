#include "run_options.h"

#include "host/cli/encoding.h"

#include "host/cli/subcommand.h"
#include "host/cli/probe_lines.h"
#include "host/cli/run_limit.h"

enum { MOST_THREADS = 1024 };

/* No probe's name matches PATTERN. */
static enum th_status refuse_probe(const char *pattern)
{
    const char *names[TH_PROBE_COUNT_OF_ALL];
    char *question;

    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        names[i] = th_probe_probes[i].name;
    question = th_library_suggest_question(pattern, names, TH_PROBE_COUNT_OF_ALL);
    th_error_raise(TH_USAGE, "--probe: no probe is called '%s'%s", pattern, question);
    th_free(question);
    return TH_USAGE;
}

static enum th_status take_probe(const struct th_argument *argument, const char *value, void *input)
{
    struct th_run_options *run = input;

    (void)argument;
    if (th_cli_probe_lines_add(value) == 0)
        return refuse_probe(value);
    run->probes = true;
    return TH_OK;
}

static enum th_status take_frames(const struct th_argument *argument, const char *value,
                                  void *input)
{
    struct th_run_options *run = input;
    int64_t frames;
    enum th_status status = th_control_argument_number(argument, value, &frames);

    if (status == TH_OK && frames < 1)
        return th_error_raise(TH_USAGE, "--max-frames is from 1 on");
    if (status == TH_OK)
        run->open_calls = (size_t)frames;
    return status;
}

static enum th_status check(void *input)
{
    const struct th_run_options *run = input;

    if (run->arguments.library_count == 0)
        return th_error_raise(TH_USAGE, "which LIBRARY?");
    if (run->arguments.text_count == 0)
        return th_error_raise(TH_USAGE, "which EXPRESSION?");
    return TH_OK;
}

static const struct th_argument arguments[] = {
    TH_OPTION("grace", "T", TIME, 0, TH_GRACE_HELP, .most = INT64_MAX,
              TH_INTO(struct th_run_options, grace)),
    TH_OPTION("schedulers", "N", NUMBER, 0, "Run on N schedulers (default: as many as processors)",
              .least = 1, .most = MOST_THREADS, TH_INTO(struct th_run_options, schedulers)),
    TH_OPTION("async-threads", "N", NUMBER, 0,
              "Have at most N threads carry out operations on files (default: 10)", .least = 1,
              .most = MOST_THREADS, TH_INTO(struct th_run_options, async)),
    TH_OPTION("duration", "T", TIME, 0, "Stop after T, if the expressions take longer",
              .most = INT64_MAX, TH_INTO(struct th_run_options, duration)),
    TH_OPTION("check", NULL, FLAG, 0,
              "Watch what the libraries do with the NIF API; exit with 1 if it is forbidden",
              TH_INTO(struct th_run_options, check)),
    TH_OPTION("probe", "PATTERN", PROBE, 0,
              "Print when a USDT probe is hit whose name matches PATTERN, as `efile_drv__*`; may "
              "be given more than once. `tracehost probes` lists them",
              .take = take_probe),
    TH_OPTION("fail-on-loss", NULL, FLAG, 0,
              "Exit with 4 if calls or events happened that could not be told",
              TH_INTO(struct th_run_options, fail_on_loss)),
    TH_OPTION("max-frames", "N", NUMBER, 3,
              "For all -p: remember at most N calls of a process that have not returned (default: "
              "1000000)",
              .take = take_frames),
    {0},
};

static const struct th_argument_set sets[] = {
    {.items = arguments, .check = check},
    {.items = th_cli_call_argument_table, .offset = offsetof(struct th_run_options, arguments)},
    {.items = th_options_trace_arguments,
     .offset = offsetof(struct th_run_options, trace),
     .check = th_options_trace_options_check},
    {.items = th_control_session_arguments,
     .offset = offsetof(struct th_run_options, trace.sessions)},
    {.items = th_cli_encoding_arguments},
    {0},
};

const struct th_usage th_options_run_usage = {
    .sets = sets,
    .before = "Loads NIF libraries and evaluates Erlang expressions that call their functions, "
              "while tracers are told what happens.",
    .after = TH_CALL_ARGUMENTS_HELP
    " They are evaluated as `tracehost call` does, by one process; the first exception ends it. "
    "With that process ends the run.\n\n"
    "TRACER is a name, looked up as NAME.so, or a path with a '/'. Its state, which every callback "
    "gets, is an Erlang term: the value of STATE, an expression which may call the libraries' "
    "functions; the map of the keys, whose values are integers, true, false or else binaries; or "
    "#{}. `console`, also inside of it, stands for a process that prints what it is sent.\n\n"
    "With --watch the files of the libraries are watched, too: new code is loaded while they run. "
    "So it is by `tracehost ctl SOCKET load`.\n\n"
    "T is a time: 1.5 or 1.5s, 250ms, 10us, 3ns, 2min.\n\n"
    "Values are printed on stdout, behind what tracers have printed, an exception on stderr; then "
    "the exit status is 1.\n\n"
    "Examples:\n"
    "  tracehost run json 'json:decode(<<\"[1,2]\">>)'\n"
    "  tracehost run -p json:_/_ --return json 'json:encode([1,2])'\n"
    "  tracehost run --probe='message__*' ./my_server.so 'my_server:loop()'\n"
    "  tracehost run -t count --duration=10s ./my_server.so 'my_server:loop()'\n",
    .words = "LIBRARY... EXPRESSION...",
    .live = true,
    .flags = true,
};
