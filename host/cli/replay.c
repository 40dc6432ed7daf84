/* tracehost replay: recorded streams into tracers. */
#include "interrupt.h"
#include "replay_session.h"
#include "replay_summary.h"
#include "stream.h"

#include "host/process/process.h"
#include "host/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct replay {
    struct th_stream_options stream;
    struct th_player_options play;
    struct th_session_options sessions;
    const char **folders; /* of -L */
    size_t folder_count, folder_capacity;
    bool wall_clock, fail_on_loss, stats, json, recorded_callers;
    struct th_execution_options execution;
    int64_t timeout; /* nanoseconds, 0: none */
    char **streams;
    size_t stream_count;
};

enum {
    FLAGS = TH_OPTION_OWN,
    SESSION,
    PROCESSES,
    PORTS,
    CLOCK,
    FROM,
    TO,
    FAIL_ON_LOSS,
    VERIFY,
    STATS,
    TIMEOUT,
    COLOR,
    RECORDED_CALLERS,
    MAX_FRAMES,
    EACH_RETURNS,
    PATTERN_FIRST, /* enum th_pattern_key from here on */
    PATTERN_LAST = PATTERN_FIRST + TH_PATTERN_META_TRACER
};

static const struct argp_option options[] = {
    {"tracer", 't', "TRACER", 0,
     "NAME, NAME=STATE or NAME,key=value,...; may be given more than once (default: text)", 1},
    {NULL, 'L', "DIR", 0,
     "Look for tracers in DIR first, then in $TRACEHOST_PATH, then where tracehost is installed",
     1},
    {"flags", FLAGS, "LIST", 0,
     "What to trace, as in erlang:trace/3, separated by commas (default: all that was recorded, "
     "as it was recorded)",
     2},
    {"processes", PROCESSES, "LIST", 0,
     "Only these: all; existing (when the recording began); new (spawned in it); pids; registered "
     "names (default: whoever was recorded, unless --ports is given)",
     2},
    {"ports", PORTS, "LIST", 0, "The same of ports (default: likewise)", 2},
    {"session", SESSION, "NAME", 0,
     "Begins a session: -t (one), --flags, --processes, --ports and -p that follow are for it "
     "alone",
     2},
    {"from", FROM, "T", 0, "Leave out events before T", 2},
    {"to", TO, "T", 0, "Leave out events after T", 2},
    {"clock", CLOCK, "CLOCK", 0,
     "recorded (the default): tracers that ask for the time get that of the event; wall: they get "
     "the real time",
     2},
    {"pattern", 'p', "PATTERN", 0,
     "Of all calls only those of M:F/A, M:F/_, M:_/_ or _:_/_, whatever the recording was made "
     "for, and, without --flags, nothing but calls; of all messages sent (send) or received "
     "(receive) those that --match-spec says; the options of this group are for the -p before them",
     3},
    {"match-spec", PATTERN_FIRST + TH_PATTERN_SPEC, "SPEC", 0,
     "Only those that match SPEC, Erlang text or one of c, x, cx, r; false: none any more", 3},
    {"return", PATTERN_FIRST + TH_PATTERN_RETURN, NULL, 0, "With what they return", 3},
    {"exception", PATTERN_FIRST + TH_PATTERN_EXCEPTION, NULL, 0, "With what they return or raise",
     3},
    {"caller", PATTERN_FIRST + TH_PATTERN_CALLER, NULL, 0, "With their callers", 3},
    {"kind", PATTERN_FIRST + TH_PATTERN_KIND, "LIST", 0,
     "local (the default); global: only external calls; meta: whoever makes them; count: they are "
     "counted; time: how long they take",
     3},
    {"meta-tracer", PATTERN_FIRST + TH_PATTERN_META_TRACER, "TRACER", 0,
     "With --kind=meta: calls go to this tracer, not to that of -t", 3},
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
    {"callback-timeout", TIMEOUT, "T", 0, "Give up if a callback takes longer than T", 4},
    {"verify", VERIFY, NULL, 0, "Decode every term of every record, wanted or not", 4},
    {"fail-on-loss", FAIL_ON_LOSS, NULL, 0,
     "Exit with 4 if the recorder dropped events or calls were forgotten", 4},
    {"stats", STATS, NULL, 0, "Show what became of all events, at the end on stderr", 4},
    {"format", TH_OPTION_FORMAT, "FORMAT", 0, "How counts are shown: text (the default) or json",
     4},
    {"color", COLOR, "WHEN", 0,
     "always, never or auto (the default): for tracers that use colours; NO_COLOR is obeyed", 4},
    {0},
};

static void add_folder(struct replay *replay, const char *folder)
{
    TH_ARRAY_GROW(replay->folders, replay->folder_count, replay->folder_capacity);
    replay->folders[replay->folder_count++] = folder;
}

static void set_bound(struct th_time_bound *bound, const char *text, struct argp_state *state,
                      const char *option)
{
    bound->set = true;
    bound->relative = *text != '@';
    bound->ns = th_option_time(text + (*text == '@'), state, option);
}

/* Tracers learn it as other programs do. */
static void set_color(const char *when, struct argp_state *state)
{
    if (strcmp(when, "always") == 0)
        setenv("CLICOLOR_FORCE", "1", 1);
    else if (strcmp(when, "never") == 0)
        unsetenv("CLICOLOR_FORCE"), setenv("NO_COLOR", "1", 1);
    else if (strcmp(when, "auto") != 0)
        argp_error(state, "--color is always, never or auto, not '%s'", when);
}

static void set_clock(struct replay *replay, const char *clock, struct argp_state *state)
{
    replay->wall_clock = strcmp(clock, "wall") == 0;
    if (!replay->wall_clock && strcmp(clock, "recorded") != 0)
        argp_error(state, "--clock is recorded or wall, not '%s'", clock);
}

static void set_format(struct replay *replay, const char *format, struct argp_state *state)
{
    replay->json = strcmp(format, "json") == 0;
    if (!replay->json && strcmp(format, "text") != 0)
        argp_error(state, "--format is text or json, not '%s'", format);
}

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

static error_t parse_pattern(int key, const char *value, struct argp_state *state)
{
    struct replay *replay = state->input;
    struct th_pattern_options *patterns = th_session_options_patterns(&replay->sessions);

    if (key == 'p')
        th_pattern_options_begin(patterns, value, state);
    else if (key >= PATTERN_FIRST && key <= PATTERN_LAST)
        th_pattern_options_add(patterns, key - PATTERN_FIRST, value, state);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* Options whose place matters: they are for the session that was begun last. */
static error_t parse_session(int key, char *value, struct argp_state *state)
{
    struct replay *replay = state->input;

    switch (key) {
    case SESSION:
        th_session_options_begin(&replay->sessions, value, state);
        return 0;
    case 't':
        th_session_options_tracer(&replay->sessions, value, state);
        return 0;
    case FLAGS:
        th_session_options_flags(&replay->sessions, value, state);
        return 0;
    case PROCESSES:
    case PORTS:
        th_session_options_tracees(&replay->sessions, key == PORTS, value, state);
        return 0;
    default:
        return parse_pattern(key, value, state);
    }
}

static error_t parse_own(int key, char *value, struct argp_state *state)
{
    struct replay *replay = state->input;

    switch (key) {
    case CLOCK:
        set_clock(replay, value, state);
        return 0;
    case FROM:
        set_bound(&replay->play.from, value, state, "--from");
        return 0;
    case TO:
        set_bound(&replay->play.to, value, state, "--to");
        return 0;
    case FAIL_ON_LOSS:
        replay->fail_on_loss = true;
        return 0;
    case VERIFY:
        replay->play.verify = true;
        return 0;
    case STATS:
        replay->stats = true;
        return 0;
    case TIMEOUT:
        replay->timeout = th_option_time(value, state, "--callback-timeout");
        return 0;
    case COLOR:
        set_color(value, state);
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
    case TH_OPTION_FORMAT:
        set_format(replay, value, state);
        return 0;
    default:
        return parse_session(key, value, state);
    }
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct replay *replay = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &replay->stream;
        return 0;
    case 'L':
        add_folder(replay, value);
        return 0;
    case ARGP_KEY_END:
        th_session_options_check(&replay->sessions, state);
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

/* The flags, from the table that the code uses. */
static char *help_filter(int key, const char *text, void *input)
{
    struct th_buffer help = {0};
    char *whole;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC || !text)
        return (char *)text;
    th_buffer_add_text(&help, text);
    th_buffer_add_text(&help, "\nFlags:\n");
#define X(name, bit, what) th_buffer_printf(&help, "  %-26s %s\n", #name, what);
    TH_FLAGS(X)
#undef X
    th_buffer_add_text(&help,
                       "  all                        all but cpu_timestamp, silent and set_on_...");
    whole = th_strdup(th_buffer_text(&help)); /* argp frees it */
    th_buffer_free(&help);
    return whole;
}

static const struct argp_child children[] = {{&th_stream_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "STREAM...",
    "Loads tracers by name and plays recorded streams into them, one stream after the other.\v"
    "STREAM is a trace-port file, a file of a wrap set or its pattern NAME*TAIL, JSON lines, or - "
    "for stdin.\n\n"
    "TRACER is a name, looked up as NAME.so, or a path with a '/'. Its state, which every callback "
    "gets, is an Erlang term: STATE; the map of the keys, whose values are integers, true, false "
    "or else binaries; or #{}. `console` stands for a process that prints what it is sent.\n\n"
    "T is a time after the stream's first one: 1.5 or 1.5s, 250ms, 10us, 3ns, 2min. After an @ it "
    "is a time of the recording's own clock: @1795233754.349.\n\n"
    "Examples:\n"
    "  tracehost replay calls.trace\n"
    "  tracehost replay -t msg -t count,output=counts.txt calls.trace\n"
    "  tracehost replay -t ./my_tracer.so='{level,2}' --flags=call,arity a.trace\n"
    "  tracehost replay -t erl_msg_tracer=console --from=10ms sends.jsonl\n"
    "  tracehost replay --session a -t msg --processes=new --session b -t count a.trace\n"
    "  tracehost replay -p lists:reverse/1 --return -p gen_server:_/_ --kind=count a.trace\n"
    "  tracehost replay -p send --match-spec \"[{['_',{stop,'_'}],[],[]}]\" a.trace\n",
    children,
    help_filter,
    NULL,
};

/* --- the work --- */

static int attach_all(struct replay *replay, struct th_tracing *tracing)
{
    struct th_search search;
    int status;

    th_search_init(&search, TH_SEARCH_TRACERS, replay->folders, replay->folder_count);
    status = th_session_options_attach(&replay->sessions, &search, tracing);
    th_search_free(&search);
    return status == TH_OK ? TH_OK : th_command_fail("replay");
}

static void complain(void *stream)
{
    th_stream_complain(stream);
}

static void progress(void *stream)
{
    th_stream_step(stream);
}

static void tell_loss(struct th_stream *stream)
{
    uint64_t lost = th_reader_info(stream->reader)->drops;

    if (!lost)
        return;
    th_progress_hide(&stream->progress);
    th_command_flush();
    fprintf(stderr, "tracehost replay: %s: the recorder dropped %llu event%s\n",
            th_stream_title(stream->name), (unsigned long long)lost, th_plural(lost));
}

static int play_stream(struct replay *replay, struct th_tracing *tracing, const char *name,
                       struct th_replay_totals *totals)
{
    struct th_stream stream = {.command = "replay", .name = name, .options = &replay->stream};
    int status = th_stream_open(&stream);

    if (status != TH_OK)
        return status;
    th_guard_set_stream(&th_reader_info(stream.reader)->file);
    th_play(tracing, stream.reader, &replay->play, &th_interrupted, complain, &stream,
            &totals->played);
    th_guard_set_stream(NULL);
    totals->tracees += th_world_counts().seen;
    tell_loss(&stream);
    return th_stream_close(&stream);
}

/* The streams in turn; an unreadable one does not keep the others from being played. */
static int play_all(struct replay *replay, struct th_tracing *tracing)
{
    struct th_replay_totals totals = {0};
    int64_t began = th_clock_real_monotonic();
    int worst = TH_OK;

    for (size_t i = 0; i < replay->stream_count && !th_interrupted; i++) {
        int status = play_stream(replay, tracing, replay->streams[i], &totals);
        if (worst == TH_OK || status == TH_MALFORMED)
            worst = status;
    }
    th_pattern_results(tracing, replay->json);
    totals.seconds = (double)(th_clock_real_monotonic() - began) / 1e9;
    th_command_flush();
    if (replay->stats)
        th_replay_stats(tracing, &totals);
    else
        th_replay_remarks(tracing);
    if (worst == TH_OK && replay->fail_on_loss &&
        (totals.played.lost || th_tracing_calls_forgotten(tracing) ||
         th_tracing_execution_counts(tracing).not_kept))
        worst = TH_PARTIAL;
    return worst;
}

static int run(struct replay *replay)
{
    struct th_tracing *tracing = th_tracing_create();
    int status;

    th_guard_install();
    if (replay->wall_clock)
        th_tracing_use_wall_clock(tracing);
    if (replay->recorded_callers)
        th_tracing_use_recorded_callers(tracing);
    th_tracing_use_execution(tracing, &replay->execution);
    th_tracing_use_display(tracing, th_pattern_display);
    if (replay->timeout && th_guard_set_timeout(replay->timeout) != TH_OK)
        status = th_command_fail("replay");
    else
        status = attach_all(replay, tracing);
    if (status == TH_OK)
        status = play_all(replay, tracing);
    th_library_halt();
    th_select_end();          /* what is selected keeps its tracer loaded */
    th_tracing_free(tracing); /* tracers write what they have left */
    th_guard_end();
    return th_interrupt_status(th_command_finish("replay", status));
}

int th_command_replay(int argc, char **argv)
{
    struct replay replay = {0};
    int status;

    th_session_options_init(&replay.sessions);
    th_command_parse(&argp, argc, argv, &replay);
    replay.play.max_events = replay.stream.max_events;
    replay.play.progress = progress;
    th_interrupt_install();
    status = run(&replay);
    th_session_options_free(&replay.sessions);
    th_free(replay.folders);
    return status;
}
