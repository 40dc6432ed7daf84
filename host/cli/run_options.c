#include "run_options.h"

#include "encoding.h"

#include "command.h"
#include "probe_lines.h"
#include "run_limit.h"

enum {
    SCHEDULERS = TH_OPTION_OWN,
    ASYNC_THREADS,
    DURATION,
    GRACE,
    LOAD_INFO,
    CHECK,
    MAX_FRAMES,
    PROBE,
    FAIL_ON_LOSS,
    MOST_THREADS = 1024
};

static const struct argp_option options[] = {
    {NULL, 'f', "FILE", 0, "Evaluate what is in FILE, or - for stdin, before the EXPRESSIONs", 0},
    {"grace", GRACE, "T", 0, TH_GRACE_HELP, 0},
    {"load-info", LOAD_INFO, "TERM", 0,
     "What the libraries' load() is given, as by erlang:load_nif/2 (default: 0)", 0},
    {"schedulers", SCHEDULERS, "N", 0, "Run on N schedulers (default: as many as processors)", 0},
    {"async-threads", ASYNC_THREADS, "N", 0,
     "Have at most N threads carry out operations on files (default: 10)", 0},
    {"duration", DURATION, "T", 0, "Stop after T, if the expressions take longer", 0},
    {"check", CHECK, NULL, 0,
     "Watch what the libraries do with the NIF API; exit with 1 if it is forbidden", 0},
    {"probe", PROBE, "PATTERN", 0,
     "Print when a USDT probe is hit whose name matches PATTERN, as `efile_drv__*`; may be given "
     "more than once. `tracehost probes` lists them",
     0},
    {"fail-on-loss", FAIL_ON_LOSS, NULL, 0,
     "Exit with 4 if calls or events happened that could not be told", 0},
    {"max-frames", MAX_FRAMES, "N", 0,
     "For all -p: remember at most N calls of a process that have not returned (default: 1000000)",
     3},
    {0},
};

static unsigned count_threads(const char *value, struct argp_state *state, const char *option)
{
    uint64_t count = th_option_count(value, state, option);

    if (count < 1 || count > MOST_THREADS)
        argp_error(state, "%s wants a number from 1 to %d, not '%s'", option, MOST_THREADS, value);
    return (unsigned)count;
}

/* No probe's name matches PATTERN. */
static void refuse_probe(const char *pattern, struct argp_state *state)
{
    const char *names[TH_PROBE_COUNT_OF_ALL];
    char *question;

    for (size_t i = 0; i < TH_PROBE_COUNT_OF_ALL; i++)
        names[i] = th_probes[i].name;
    question = th_spelling_question(pattern, names, TH_PROBE_COUNT_OF_ALL);
    argp_error(state, "--probe: no probe is called '%s'%s", pattern, question);
    th_free(question);
}

static error_t parse_own(int key, char *value, struct argp_state *state)
{
    struct th_run_options *run = state->input;

    switch (key) {
    case 'f':
        th_call_arguments_add_file(&run->arguments, value);
        return 0;
    case LOAD_INFO:
        run->arguments.info = value;
        return 0;
    case SCHEDULERS:
        run->schedulers = count_threads(value, state, "--schedulers");
        return 0;
    case ASYNC_THREADS:
        run->async = count_threads(value, state, "--async-threads");
        return 0;
    case DURATION:
        run->duration = th_option_wait(value, state, "--duration");
        return 0;
    case GRACE:
        run->grace = th_option_wait(value, state, "--grace");
        return 0;
    case MAX_FRAMES:
        run->open_calls = th_option_count(value, state, "--max-frames");
        if (run->open_calls < 1)
            argp_error(state, "--max-frames is from 1 on");
        return 0;
    case PROBE:
        if (th_probe_lines_add(value) == 0)
            refuse_probe(value, state);
        run->probes = true;
        return 0;
    case CHECK:
        run->check = true;
        return 0;
    case FAIL_ON_LOSS:
        run->fail_on_loss = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct th_run_options *run = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &run->trace;
        return 0;
    case ARGP_KEY_ARG:
        th_call_arguments_add(&run->arguments, value);
        return 0;
    case ARGP_KEY_END:
        if (run->arguments.library_count == 0)
            argp_error(state, "which LIBRARY?");
        if (run->arguments.text_count == 0)
            argp_error(state, "which EXPRESSION?");
        return 0;
    default:
        return parse_own(key, value, state);
    }
}

static const struct argp_child children[] = {
    {&th_trace_argp, 0, NULL, 0}, {&th_encoding_argp, 0, NULL, 0}, {0}};
const struct argp th_run_argp = {
    options,
    parse,
    "LIBRARY... EXPRESSION...",
    "Loads NIF libraries and evaluates Erlang expressions that call their functions, while tracers "
    "are told what happens.\v" TH_CALL_ARGUMENTS_HELP
    " They are evaluated as `tracehost call` does, by one process; the first exception ends it. "
    "With that process ends the run.\n\n"
    "TRACER is a name, looked up as NAME.so, or a path with a '/'. Its state, which every callback "
    "gets, is an Erlang term: the value of STATE, an expression which may call the libraries' "
    "functions; "
    "the map of the keys, whose values are integers, true, false or else binaries; or #{}. "
    "`console`, also inside of it, stands for a process that prints what it is sent.\n\n"
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
    children,
    NULL,
    NULL,
};
