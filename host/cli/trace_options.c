#include "trace_options.h"

#include "option_table.h"
#include "state_expression.h"
#include "top.h"

#include "host/crash/crash.h"

#include <stdlib.h>
#include <string.h>

enum {
    STATS = TH_TRACE_OWN,
    TIMEOUT,
    COLOR,
    CONTROL,
    WATCH,
    TOP,
    PATTERN_FIRST, /* enum th_pattern_key from here on */
    PATTERN_LAST = PATTERN_FIRST + TH_PATTERN_META_TRACER
};

/* Nanoseconds after which a callback is named that nothing ends. */
#define SLOW ((int64_t)10 * 1000 * 1000 * 1000)

const struct argp_option th_trace_option_table[] = {
    {"tracer", 't', "TRACER", 0,
     "NAME, NAME=STATE or NAME,key=value,...; may be given more than once (default: text)", 1},
    {NULL, 'L', "DIR", 0,
     "Look for tracers in DIR first, then in $TRACEHOST_PATH, then where tracehost is installed",
     1},
    {"watch", WATCH, NULL, 0,
     "When the file of a tracer of -t is compiled anew, or another is moved there, go on with that "
     "one, with all that is set; one that is refused leaves the old one at work",
     1},
    {"flags", TH_TRACE_FLAGS, "LIST", 0,
     "What to trace, as in erlang:trace/3, separated by commas (default: all that was recorded, "
     "as it was recorded)",
     2},
    {"processes", TH_TRACE_PROCESSES, "LIST", 0,
     "Only these: all; existing (when the recording began); new (spawned in it); pids; registered "
     "names (default: whoever was recorded, unless --ports is given)",
     2},
    {"ports", TH_TRACE_PORTS, "LIST", 0, "The same of ports (default: likewise)", 2},
    {"session", TH_TRACE_SESSION, "NAME", 0,
     "Begins a session: -t (one), --flags, --processes, --ports and -p that follow are for it "
     "alone",
     2},
    {"pattern", 'p', "PATTERN", 0,
     "Of all calls only those of M:F/A, M:F/_, M:_/_ or _:_/_ (/_ may be left out), whatever the "
     "recording was made "
     "for, and, without --flags, nothing but calls; on_load: of functions that come later; of all "
     "messages sent (send) or received "
     "(receive) those that --match-spec says; the options of this group are for the -p before them",
     3},
    {"match-spec", PATTERN_FIRST + TH_PATTERN_SPEC, "SPEC", 0,
     "Only those that match SPEC, Erlang text or one of c, x, cx, r; false: none any more", 3},
    {"return", PATTERN_FIRST + TH_PATTERN_RETURN, NULL, 0, "With what they return", 3},
    {"exception", PATTERN_FIRST + TH_PATTERN_EXCEPTION, NULL, 0, "With what they return or raise",
     3},
    {"caller", PATTERN_FIRST + TH_PATTERN_CALLER, NULL, 0, "With their callers", 3},
    {"caller-line", PATTERN_FIRST + TH_PATTERN_CALLER_LINE, NULL, 0,
     "With their callers, and the file and line of the call where that is known", 3},
    {"kind", PATTERN_FIRST + TH_PATTERN_KIND, "LIST", 0,
     "local (the default); global: only external calls; meta: whoever makes them; count: they are "
     "counted; time: how long they take",
     3},
    {"meta-tracer", PATTERN_FIRST + TH_PATTERN_META_TRACER, "TRACER", 0,
     "With --kind=meta: calls go to this tracer, not to that of -t", 3},
    {"callback-timeout", TIMEOUT, "T", 0,
     "Give up if a callback takes longer than T (default: one that takes 10s is named, and goes "
     "on)",
     4},
    {"stats", STATS, NULL, 0, "Show what became of all events, at the end on stderr", 4},
    {"format", TH_OPTION_FORMAT, "FORMAT", 0, "How counts are shown: text (the default) or json",
     4},
    {"control", CONTROL, "SOCKET", 0,
     "Do what `tracehost ctl SOCKET` says while it runs; without -t, -p and the like nothing is "
     "traced at first",
     4},
    {"top", TOP, "T", OPTION_ARG_OPTIONAL,
     "Show the functions that are called most on the terminal, anew every T (1s): of -p, else all; "
     "without -t no tracer is told. Keys: c and t sort, arrows scroll, r restarts the counts, p "
     "pauses, q ends with status 0 what Ctrl-C ends with 130",
     4},
    {"color", COLOR, "WHEN", 0,
     "always, never or auto (the default): for tracers that use colours; NO_COLOR is obeyed", 4},
    {0},
};

/* --- what they may be --- */

const char *const th_trace_flag_words[] = {
#define X(name, bit, help) #name,
    TH_FLAGS(X)
#undef X
        "all",
    NULL};

static const char *const replay_kind_words[] = {
#define X(name, bit) #name,
    TH_PATTERN_KINDS(X)
#undef X
        NULL};

const char *const th_trace_group_words[] = {"all", "existing", "new", NULL};
const char *const th_trace_spec_words[] = {"c", "x", "cx", "r", "true", "false", NULL};

enum { KIND = PATTERN_FIRST + TH_PATTERN_KIND, SPEC = PATTERN_FIRST + TH_PATTERN_SPEC };

const struct th_choices th_trace_option_choices[] = {
    {KIND, "--kind", th_pattern_kind_names, TH_CHOICES_LIST},
    {TH_TRACE_FLAGS, "--flags", th_trace_flag_words, TH_CHOICES_LIST},
    {TH_TRACE_PROCESSES, "--processes", th_trace_group_words, TH_CHOICES_LIST | TH_CHOICES_OTHERS},
    {TH_TRACE_PORTS, "--ports", th_trace_group_words, TH_CHOICES_LIST | TH_CHOICES_OTHERS},
    {SPEC, "--match-spec", th_trace_spec_words, TH_CHOICES_OTHERS},
    {TH_OPTION_FORMAT, "--format", TH_WORDS("text", "json"), 0},
    {COLOR, "--color", TH_WORDS("always", "never", "auto"), 0},
    {0},
};

/* Of recordings. */
static const struct th_choices replay_kinds = {KIND, "--kind", replay_kind_words, TH_CHOICES_LIST};

/* --- options, one by one --- */

static void add_folder(struct th_trace_options *trace, const char *folder)
{
    TH_ARRAY_GROW(trace->folders, trace->folder_count, trace->folder_capacity);
    trace->folders[trace->folder_count++] = folder;
}

/* Tracers learn it as other programs do. */
static void set_color(const char *when, struct argp_state *state)
{
    switch (th_option_choice(th_trace_option_choices, COLOR, when, state)) {
    case 0:
        setenv("CLICOLOR_FORCE", "1", 1);
        break;
    case 1:
        unsetenv("CLICOLOR_FORCE");
        setenv("NO_COLOR", "1", 1);
        break;
    }
}

bool th_trace_option_is_pattern(int key, enum th_pattern_key *option)
{
    *option = key - PATTERN_FIRST;
    return key >= PATTERN_FIRST && key <= PATTERN_LAST;
}

static void set_top(struct th_trace_options *trace, const char *value, struct argp_state *state)
{
    const int64_t least = 100000000; /* 100 ms */

    trace->top = th_option_time(value ? value : "1s", state, "--top");
    if (trace->top < least)
        argp_error(state, "--top wants a time from 100ms on, not '%s'", value);
}

static enum th_status check(struct th_trace_options *trace)
{
    enum th_status status;

    trace->sessions.optional = trace->top > 0;
    status = th_session_options_check(&trace->sessions);
    return status == TH_OK && trace->top ? th_top_check(trace) : status;
}

static enum th_status take_pattern(struct th_trace_options *trace, int key, const char *value)
{
    struct th_pattern_options *patterns = th_session_options_patterns(&trace->sessions);
    enum th_pattern_key option;

    if (key == 'p')
        return th_pattern_options_begin(patterns, value);
    if (th_trace_option_is_pattern(key, &option))
        return th_pattern_options_add(patterns, option, value);
    return TH_END;
}

enum th_status th_trace_options_take(struct th_trace_options *trace, int key, const char *value)
{
    switch (key) {
    case TH_TRACE_SESSION:
        return th_session_options_begin(&trace->sessions, value);
    case 't':
        return th_session_options_tracer(&trace->sessions, value);
    case TH_TRACE_FLAGS:
        return th_session_options_flags(&trace->sessions, value);
    case TH_TRACE_PROCESSES:
    case TH_TRACE_PORTS:
        return th_session_options_tracees(&trace->sessions, key == TH_TRACE_PORTS, value);
    default:
        return take_pattern(trace, key, value);
    }
}

static error_t parse_session(int key, const char *value, struct argp_state *state)
{
    enum th_status status = th_trace_options_take(state->input, key, value);

    return status == TH_END ? ARGP_ERR_UNKNOWN : th_option_check(status, state);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct th_trace_options *trace = state->input;
    struct th_about *about;

    switch (key) {
    case TH_KEY_ABOUT:
        about = state->hook;
        about->choices = th_trace_option_choices;
        about->instead = trace->live ? NULL : &replay_kinds;
        return 0;
    case 'L':
        add_folder(trace, value);
        return 0;
    case STATS:
        trace->stats = true;
        return 0;
    case WATCH:
        trace->watch = true;
        return 0;
    case TIMEOUT:
        trace->timeout = th_option_time(value, state, "--callback-timeout");
        return 0;
    case CONTROL:
        trace->control = value;
        return 0;
    case COLOR:
        set_color(value, state);
        return 0;
    case TOP:
        set_top(trace, value, state);
        return 0;
    case TH_OPTION_FORMAT:
        trace->json = th_option_choice(th_trace_option_choices, key, value, state) == 1;
        return 0;
    case ARGP_KEY_END:
        return th_option_check(check(trace), state);
    default:
        return parse_session(key, value, state);
    }
}

/* The flags, from the table that the code uses. */
static char *help_flags(void)
{
    struct th_buffer help = {0};
    char *whole;

    th_buffer_add_text(&help, "Flags:\n");
#define X(name, bit, what) th_buffer_printf(&help, "  %-26s %s\n", #name, what);
    TH_FLAGS(X)
#undef X
    th_buffer_add_text(&help,
                       "  all                        all but cpu_timestamp, silent and set_on_...");
    whole = th_strdup(th_buffer_text(&help)); /* argp frees it */
    th_buffer_free(&help);
    return whole;
}

/* What is not as it is of recordings. */
static const struct {
    int key;
    const char *text;
} live_texts[] = {
    {'L', "Look for libraries and tracers in DIR first, then in $TRACEHOST_PATH, then where "
          "tracehost is installed"},
    {TH_TRACE_FLAGS, "What to trace, as in erlang:trace/3, separated by commas (default: "
                     "call,send,receive,procs,ports)"},
    {TH_TRACE_PROCESSES,
     "Only these: all; existing (who evaluates the expressions); new (whoever is "
     "spawned) (default: all, unless --ports is given)"},
    {'p',
     "Of all calls only those of M:F/A, M:F/_, M:_/_ or _:_/_ (/_ may be left out), and, "
     "without --flags, nothing "
     "but calls; functions that are not there yet are waited for, all of them by on_load; of all "
     "messages sent (send) or received (receive) those that --match-spec "
     "says; the options of this group are for the -p before them (default: all calls)"},
    {PATTERN_FIRST + TH_PATTERN_KIND,
     "local: all calls; global: only those from other libraries; meta: whoever makes them; count: "
     "they are counted; time: how long they take; memory: how many words they take (default: local "
     "of functions with room for a breakpoint, global of others)"},
};

/* argp frees what is not TEXT itself. */
static char *help_filter(int key, const char *text, void *input)
{
    const struct th_trace_options *trace = input;

    if (key == ARGP_KEY_HELP_POST_DOC)
        return help_flags();
    for (size_t i = 0; trace->live && i < sizeof live_texts / sizeof live_texts[0]; i++)
        if (live_texts[i].key == key)
            return th_strdup(live_texts[i].text);
    return (char *)text;
}

const struct argp th_trace_argp = {
    .options = th_trace_option_table, .parser = parse, .help_filter = help_filter};

/* --- the work --- */

void th_trace_options_init(struct th_trace_options *trace, bool live)
{
    *trace = (struct th_trace_options){.live = live};
    th_session_options_init(&trace->sessions, live);
    th_state_expressions_begin(TH_NONE);
}

void th_trace_options_free(struct th_trace_options *trace)
{
    th_session_options_free(&trace->sessions);
    th_free(trace->folders);
}

void th_trace_options_search(const struct th_trace_options *trace, struct th_search *search)
{
    th_search_init(search, TH_SEARCH_TRACERS, trace->folders, trace->folder_count);
    search->replaceable = trace->control || trace->watch;
}

enum th_status th_trace_options_attach(const struct th_trace_options *trace,
                                       struct th_tracing *tracing)
{
    struct th_search search;
    enum th_status status;

    th_tracing_use_display(tracing, th_pattern_display);
    status = th_crash_set_timeout(trace->timeout ? trace->timeout : SLOW, trace->timeout != 0);
    if (status != TH_OK)
        return status;
    th_tracing_hold();
    th_trace_options_search(trace, &search);
    if (!trace->control || !th_session_options_are_empty(&trace->sessions))
        status = th_session_options_attach(&trace->sessions, &search, tracing);
    th_search_free(&search);
    th_output_stop = NULL; /* whoever attaches from now on awaits an answer */
    return status;
}
