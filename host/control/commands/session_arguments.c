#include "session_arguments.h"

#include <string.h>

static enum th_status take_tracer(const struct th_argument *argument, const char *value,
                                  void *input)
{
    (void)argument;
    return th_control_session_options_tracer(input, value);
}

static enum th_status take_flags(const struct th_argument *argument, const char *value, void *input)
{
    (void)argument;
    return th_control_session_options_flags(input, value);
}

static enum th_status take_tracees(const struct th_argument *argument, const char *value,
                                   void *input)
{
    return th_control_session_options_tracees(input, strcmp(argument->name, "ports") == 0, value);
}

static enum th_status begin_session(const struct th_argument *argument, const char *value,
                                    void *input)
{
    (void)argument;
    return th_control_session_options_begin(input, value);
}

static enum th_status begin_pattern(const struct th_argument *argument, const char *value,
                                    void *input)
{
    (void)argument;
    return th_control_pattern_options_begin(th_control_session_options_patterns(input), value);
}

static enum th_status take_kinds(struct th_control_pattern_option *option, bool live,
                                 const char *list)
{
    option->kind_list = list;
    return th_control_kinds_parse(list, live, &option->kinds);
}

/* An option of the latest -p. */
static enum th_status take_pattern(const struct th_argument *argument, const char *value,
                                   void *input)
{
    struct th_control_pattern_options *options = th_control_session_options_patterns(input);
    enum th_control_session_argument which =
        (enum th_control_session_argument)(argument - th_control_session_arguments);
    struct th_control_pattern_option *option;
    enum th_status status = TH_OK;

    if (!options->count)
        return th_error_raise(TH_USAGE, "--%s stands before the first -p that it could be for",
                              argument->name);
    option = &options->items[options->count - 1];
    if (option->object != TH_PATTERN_FUNCTIONS && which != TH_SESSION_SPEC)
        return th_error_raise(TH_USAGE, "-p %s is about messages, --%s about calls", option->text,
                              argument->name);
    if (which == TH_SESSION_SPEC)
        option->spec = value;
    else if (which == TH_SESSION_KIND)
        status = take_kinds(option, options->live, value);
    else if (which == TH_SESSION_META_TRACER)
        option->meta_tracer = value;
    option->returns |= which == TH_SESSION_RETURN;
    option->exceptions |= which == TH_SESSION_EXCEPTION;
    option->callers |= which == TH_SESSION_CALLER;
    option->lines |= which == TH_SESSION_CALLER_LINE;
    return status == TH_OK ? th_control_pattern_option_check_words(option) : status;
}

/* --- The table -------------------------------------------------------------------------------- */

const char *const th_control_flag_words[] = {
#define X(name, bit, help) #name,
    TH_FLAGS(X)
#undef X
        "all",
    NULL};

static const char *const recorded_kind_words[] = {
#define X(name, bit) #name,
    TH_PATTERN_KINDS(X)
#undef X
        NULL};

static const char *const group_words[] = {"all", "existing", "new", NULL};

/* Help of recordings, and of this host where that is another. */
const struct th_argument th_control_session_arguments[TH_SESSION_ARGUMENTS + 1] = {
    [TH_SESSION_TRACER] =
        TH_OPTION("tracer", "TRACER", TRACER, 1,
                  "NAME, NAME=STATE or NAME,key=value,...; may be given more than once "
                  "(default: text)",
                  .letter = 't', .take = take_tracer),
    [TH_SESSION_FLAGS] =
        TH_OPTION("flags", "LIST", TEXT, 2,
                  "What to trace, as in erlang:trace/3, separated by commas (default: all that "
                  "was recorded, as it was recorded)",
                  .how = TH_ARGUMENT_LIST, .words = th_control_flag_words, .take = take_flags,
                  .live_help = "What to trace, as in erlang:trace/3, separated by commas (default: "
                               "call,send,receive,procs,ports)"),
    [TH_SESSION_PROCESSES] = TH_OPTION(
        "processes", "LIST", TRACEES, 2,
        "Only these: all; existing (when the recording began); new (spawned in it); "
        "pids; registered names (default: whoever was recorded, unless --ports is "
        "given)",
        .how = TH_ARGUMENT_LIST | TH_ARGUMENT_OTHERS, .words = group_words, .take = take_tracees,
        .live_help = "Only these: all; existing (who evaluates the expressions); new (whoever "
                     "is spawned) (default: all, unless --ports is given)"),
    [TH_SESSION_PORTS] = TH_OPTION(
        "ports", "LIST", TEXT, 2, "The same of ports (default: likewise)",
        .how = TH_ARGUMENT_LIST | TH_ARGUMENT_OTHERS, .words = group_words, .take = take_tracees),
    [TH_SESSION_BEGIN] =
        TH_OPTION("session", "NAME", TEXT, 2,
                  "Begins a session: -t (one), --flags, --processes, --ports and -p that follow "
                  "are for it alone",
                  .take = begin_session),
    [TH_SESSION_PATTERN] = TH_OPTION(
        "pattern", "PATTERN", PATTERN, 3,
        "Of all calls only those of M:F/A, M:F/_, M:_/_ or _:_/_ (/_ may be left out), "
        "whatever the recording was made for, and, without --flags, nothing but calls; "
        "on_load: of functions that come later; of all messages sent (send) or received "
        "(receive) those that --match-spec says; the options of this group are for the -p "
        "before them",
        .letter = 'p', .how = TH_ARGUMENT_REPEATS, .take = begin_pattern,
        .live_help =
            "Of all calls only those of M:F/A, M:F/_, M:_/_ or _:_/_ (/_ may be left out), "
            "and, without --flags, nothing but calls; functions that are not there yet are "
            "waited for, all of them by on_load; of all messages sent (send) or received "
            "(receive) those that --match-spec says; the options of this group are for the -p "
            "before them (default: all calls)"),
    [TH_SESSION_SPEC] =
        TH_OPTION("match-spec", "SPEC", TEXT, 3,
                  "Only those that match SPEC, Erlang text or one of c, x, cx, r; false: none "
                  "any more",
                  .how = TH_ARGUMENT_OTHERS | TH_ARGUMENT_BELONGS,
                  .words = TH_WORDS("c", "x", "cx", "r", "true", "false"), .take = take_pattern),
    [TH_SESSION_RETURN] = TH_OPTION("return", NULL, FLAG, 3, "With what they return",
                                    .how = TH_ARGUMENT_BELONGS, .take = take_pattern),
    [TH_SESSION_EXCEPTION] = TH_OPTION("exception", NULL, FLAG, 3, "With what they return or raise",
                                       .how = TH_ARGUMENT_BELONGS, .take = take_pattern),
    [TH_SESSION_CALLER] = TH_OPTION("caller", NULL, FLAG, 3, "With their callers",
                                    .how = TH_ARGUMENT_BELONGS, .take = take_pattern),
    [TH_SESSION_CALLER_LINE] =
        TH_OPTION("caller-line", NULL, FLAG, 3,
                  "With their callers, and the file and line of the call where that is known",
                  .how = TH_ARGUMENT_BELONGS, .take = take_pattern),
    [TH_SESSION_KIND] = TH_OPTION(
        "kind", "LIST", TEXT, 3,
        "local (the default); global: only external calls; meta: whoever makes them; "
        "count: they are counted; time: how long they take",
        .how = TH_ARGUMENT_LIST | TH_ARGUMENT_BELONGS, .words = recorded_kind_words,
        .live_words = th_trace_pattern_kind_names, .take = take_pattern,
        .live_help =
            "local: all calls; global: only those from other libraries; meta: whoever makes "
            "them; count: they are counted; time: how long they take; memory: how many words "
            "they take (default: local of functions with room for a breakpoint, global of "
            "others)"),
    [TH_SESSION_META_TRACER] =
        TH_OPTION("meta-tracer", "TRACER", TRACER, 3,
                  "With --kind=meta: calls go to this tracer, not to that of -t",
                  .how = TH_ARGUMENT_BELONGS, .take = take_pattern),
};
