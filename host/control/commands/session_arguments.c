/* Parses the arguments that describe tracers, sessions, tracees and patterns. */

#include "commands_internal.h"

#include "host/base/buffer.h"
#include "host/term/text.h"

#include <string.h>

/* Default events of this host. Scheduling and garbage collection are left out; users can request
 * them. */
enum { LIVE_FLAGS = TH_FLAG_CALL | TH_FLAG_SEND | TH_FLAG_RECEIVE | TH_FLAG_PROCS | TH_FLAG_PORTS };

static struct th_control_session_option *add_option(struct th_control_session_options *options,
                                                    const char *title)
{
    struct th_control_session_option *option;

    TH_ARRAY_GROW(options->items, options->count, options->capacity);
    option = &options->items[options->count++];
    *option = (struct th_control_session_option){
        .title = title,
        .flags = options->live ? LIVE_FLAGS : TH_FLAGS_EVENTS | TH_FLAG_AS_RECORDED,
        .patterns.live = options->live,
    };
    return option;
}

void th_control_session_options_init(struct th_control_session_options *options, bool live)
{
    *options = (struct th_control_session_options){.live = live};
    add_option(options, NULL);
}

void th_control_session_options_free(struct th_control_session_options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        th_free(options->items[i].tracers);
        th_free(options->items[i].tracees);
        th_free(options->items[i].patterns.items);
    }
    th_free(options->items);
}

static struct th_control_session_option *latest(struct th_control_session_options *options)
{
    return &options->items[options->count - 1];
}

/* --- Sessions --------------------------------------------------------------------------------- */

enum th_status th_control_take_tracer(const struct th_argument *argument, const char *value,
                                      void *input)
{
    struct th_control_session_option *option = latest(input);

    (void)argument;
    if (option->title && option->tracer_count)
        return th_error_raise(
            TH_USAGE, "session '%s' has the tracer '%s' already; begin another --session for '%s'",
            option->title, option->tracers[0], value);
    TH_ARRAY_GROW(option->tracers, option->tracer_count, option->tracer_capacity);
    option->tracers[option->tracer_count++] = value;
    return TH_OK;
}

static enum th_status take_flags(const struct th_argument *argument, const char *value, void *input)
{
    struct th_control_session_option *option = latest(input);

    (void)argument;
    if (th_trace_flags_parse(value, &option->flags) != TH_OK) {
        char *sentence = th_printf("%s; %s", th_error_link(0), th_error_link(1));
        th_error_raise(TH_USAGE, "%s", sentence);
        th_free(sentence);
        return TH_USAGE;
    }
    if (!(option->flags & TH_FLAGS_EVENTS))
        return th_error_raise(
            TH_USAGE, "--flags=%s selects no event: add a flag such as call or send", value);
    option->flag_list = value;
    return TH_OK;
}

/* Parses the first LENGTH bytes of TEXT. Group words come first, so that 'new' in quotes is a name.
 * Returns false if TEXT is no group, identifier or name. */
static bool parse_chosen(const char *text, size_t length, bool port,
                         struct th_control_chosen *chosen)
{
    th_env env;
    bool good;

    *chosen = (struct th_control_chosen){port ? TH_PORTS_ALL : TH_PROCESSES_ALL, TH_NONE};
    for (unsigned i = 0; th_control_group_words[i]; i++)
        if (strlen(th_control_group_words[i]) == length &&
            memcmp(text, th_control_group_words[i], length) == 0) {
            chosen->group += i;
            return true;
        }
    chosen->one = th_text_elixir_module(text, length);
    if (chosen->one != TH_NONE)
        return true;
    th_env_init(&env, TH_ENV_PLAIN);
    good = th_text_parse(&env, text, length, &chosen->one) == TH_OK;
    th_env_release(&env); /* a valid term is an immediate */
    if (!good)
        th_error_clear();
    return good && (th_is_atom(chosen->one) ||
                    (port ? th_is_local_port(chosen->one) : th_is_local_pid(chosen->one)));
}

enum th_status th_control_session_options_tracees(struct th_control_session_options *options,
                                                  bool ports, const char *list)
{
    struct th_control_session_option *option = latest(options);

    for (;; list++) {
        struct th_control_chosen *chosen;
        size_t length = 0; /* number of bytes up to a comma outside quotes */
        bool quoted = false;
        for (; list[length] && (quoted || list[length] != ','); length++) {
            if (quoted && list[length] == '\\' && list[length + 1])
                length++;
            else if (list[length] == '\'')
                quoted = !quoted;
        }
        TH_ARRAY_GROW(option->tracees, option->tracee_count, option->tracee_capacity);
        chosen = &option->tracees[option->tracee_count++];
        if (!parse_chosen(list, length, ports, chosen))
            return th_error_raise(
                TH_USAGE, "--%s must be all, existing, new, %s or registered names, not '%.*s'",
                ports ? "ports" : "processes",
                ports ? "ports such as #Port<0.5>" : "processes such as <0.95.0>", (int)length,
                list);
        if (options->live && !options->running && chosen->one != TH_NONE)
            return th_error_raise(
                TH_USAGE, "--%s must be all, existing or new, not '%.*s', which does not exist yet",
                ports ? "ports" : "processes", (int)length, list);
        list += length;
        if (!*list)
            break;
    }
    option->chosen = ports ? "--ports" : "--processes";
    return TH_OK;
}

enum th_status th_control_take_tracees(const struct th_argument *argument, const char *value,
                                       void *input)
{
    return th_control_session_options_tracees(input, strcmp(argument->name, "ports") == 0, value);
}

static enum th_status begin_session(const struct th_argument *argument, const char *value,
                                    void *input)
{
    struct th_control_session_options *options = input;

    (void)argument;
    if (!*value)
        return th_error_raise(TH_USAGE, "--session needs a name");
    for (size_t i = 1; i < options->count; i++)
        if (strcmp(options->items[i].title, value) == 0)
            return th_error_raise(TH_USAGE, "session '%s' exists already: choose another name",
                                  value);
    add_option(options, value);
    return TH_OK;
}

/* --- Patterns --------------------------------------------------------------------------------- */

static enum th_status begin_pattern(const struct th_argument *argument, const char *value,
                                    void *input)
{
    struct th_control_session_options *options = input;

    (void)argument;
    return th_control_pattern_take(value, &latest(options)->patterns);
}

/* Parses the kinds in LIST, "count,time". For recordings `memory` is accepted, too: setting it
 * fails with an explanation. */
static enum th_status parse_kinds(const char *list, bool live, uint32_t *kinds)
{
    *kinds = 0;
    for (;; list++) {
        size_t length = strcspn(list, ","), i = 0;
        const char *name;
        while ((name = th_trace_pattern_kind_names[i]) &&
               (strlen(name) != length || memcmp(list, name, length) != 0))
            i++;
        if (!name)
            return th_error_raise(TH_USAGE,
                                  "--kind must be local, global, meta, count%s, not '%.*s'",
                                  live ? ", time or memory" : " or time", (int)length, list);
        *kinds |= th_trace_pattern_kinds[i];
        list += length;
        if (!*list)
            return TH_OK;
    }
}

/* Stores an option of the latest -p. */
static enum th_status take_pattern_option(const struct th_argument *argument, const char *value,
                                          void *input)
{
    struct th_control_pattern_options *options = &latest(input)->patterns;
    enum th_control_session_argument which =
        (enum th_control_session_argument)(argument - th_control_session_arguments);
    struct th_control_pattern_option *option;
    enum th_status status = TH_OK;

    if (!options->count)
        return th_error_raise(TH_USAGE, "--%s must follow the -p to which it applies",
                              argument->name);
    option = &options->items[options->count - 1];
    if (option->object != TH_PATTERN_FUNCTIONS && which != TH_SESSION_SPEC)
        return th_error_raise(TH_USAGE, "-p %s is for messages: --%s is for calls only",
                              option->text, argument->name);
    if (which == TH_SESSION_SPEC) {
        option->spec = value;
    } else if (which == TH_SESSION_META_TRACER) {
        option->meta_tracer = value;
    } else if (which == TH_SESSION_KIND) {
        option->kind_list = value;
        status = parse_kinds(value, options->live, &option->kinds);
    }
    option->returns |= which == TH_SESSION_RETURN;
    option->exceptions |= which == TH_SESSION_EXCEPTION;
    option->callers |= which == TH_SESSION_CALLER;
    option->lines |= which == TH_SESSION_CALLER_LINE;
    if (status != TH_OK)
        return status;
    if (option->spec && th_control_pattern_option_asks(option))
        return th_error_raise(TH_USAGE,
                              "-p %s: --match-spec cannot be combined with --return, --exception, "
                              "--caller or --caller-line: write their actions in the specification",
                              option->text);
    if (option->kind_list && option->kinds & TH_BP_GLOBAL && option->kinds != TH_BP_GLOBAL)
        return th_error_raise(TH_USAGE, "-p %s: the kind global cannot be combined with another",
                              option->text);
    return TH_OK;
}

/* --- Checks ----------------------------------------------------------------------------------- */

/* Chooses the default flags: if functions are named, calls, and messages that are named as well; if
 * only messages are named, all events. With --flags, each pattern's flag must be among them. */
static enum th_status check_patterns(struct th_control_session_option *option)
{
    static const struct {
        uint32_t flag;
        const char *name;
    } objects[] = {
        [TH_PATTERN_FUNCTIONS] = {TH_FLAG_CALL, "call"},
        [TH_PATTERN_SEND] = {TH_FLAG_SEND, "send"},
        [TH_PATTERN_RECEIVE] = {TH_FLAG_RECEIVE, "receive"},
    };
    uint32_t flags = 0;

    for (size_t i = 0; i < option->patterns.count; i++) {
        const struct th_control_pattern_option *pattern = &option->patterns.items[i];
        const char *name = objects[pattern->object].name;
        uint32_t flag = objects[pattern->object].flag;
        /* Without its flag a pattern has no effect; but counts and times of calls need no flag. */
        bool traces = flag != TH_FLAG_CALL || pattern->kinds & (TH_BP_LOCAL | TH_BP_GLOBAL);
        flags |= flag;
        if (option->flag_list && traces && !(option->flags & flag))
            return th_error_raise(TH_USAGE, "-p %s needs the flag %s: add it to --flags=%s",
                                  pattern->text, name, option->flag_list);
        if (pattern->meta_tracer && !(pattern->kinds & TH_BP_META))
            return th_error_raise(TH_USAGE, "-p %s: --meta-tracer needs --kind=meta",
                                  pattern->text);
    }
    if (flags & TH_FLAG_CALL && !option->flag_list)
        option->flags = flags | (option->flags & TH_FLAG_AS_RECORDED);
    return TH_OK;
}

enum th_status th_control_session_options_check(struct th_control_session_options *options)
{
    const struct th_control_session_option *first = &options->items[0];
    const char *loose = first->flag_list ? "--flags" : first->patterns.count ? "-p" : first->chosen;
    enum th_status status = TH_OK;

    if (options->count > 1 && !first->tracer_count && !options->optional && loose)
        return th_error_raise(TH_USAGE, "%s must follow the --session to which it applies", loose);
    for (size_t i = 0; i < options->count && status == TH_OK; i++)
        status = check_patterns(&options->items[i]);
    return status;
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

const char *const th_control_group_words[] = {"all", "existing", "new", NULL};

/* Help for recordings, and for this host if that differs. */
const struct th_argument th_control_session_arguments[TH_SESSION_ARGUMENTS + 1] = {
    [TH_SESSION_TRACER] = TH_OPTION("tracer", "TRACER", TRACER, TRACERS,
                                    "Load NAME, NAME=STATE or NAME,key=value,... (default: text; "
                                    "repeatable; `tracehost tracers` lists names)",
                                    .letter = 't', .take = th_control_take_tracer),
    [TH_SESSION_FLAGS] =
        TH_OPTION("flags", "LIST", TEXT, EVENTS,
                  "Deliver only these events: flags of erlang:trace/3 such as call,procs (default: "
                  "all recorded)",
                  .how = TH_ARGUMENT_LIST, .words = th_control_flag_words, .take = take_flags,
                  .live_help = "Deliver only these events: flags of erlang:trace/3 (default: "
                               "call,send,receive,procs,ports)"),
    [TH_SESSION_PROCESSES] =
        TH_OPTION("processes", "LIST", TRACEES, EVENTS,
                  "Deliver only events of these processes: all, existing, new, pids, registered "
                  "names (default: all recorded)",
                  .how = TH_ARGUMENT_LIST | TH_ARGUMENT_OTHERS, .words = th_control_group_words,
                  .take = th_control_take_tracees,
                  .live_help = "Deliver only events of these processes: all (default), existing "
                               "(evaluates the EXPRESSIONs), new (spawned)"),
    [TH_SESSION_PORTS] =
        TH_OPTION("ports", "LIST", TEXT, EVENTS, "Likewise for ports",
                  .how = TH_ARGUMENT_LIST | TH_ARGUMENT_OTHERS, .words = th_control_group_words,
                  .take = th_control_take_tracees),
    [TH_SESSION_BEGIN] = TH_OPTION("session", "NAME", TEXT, TRACERS,
                                   "Begin a session: one -t, --flags, --processes, --ports and -p "
                                   "that follow apply to this session only",
                                   .how = TH_ARGUMENT_RARE, .take = begin_session),
    [TH_SESSION_PATTERN] =
        TH_OPTION("pattern", "PATTERN", PATTERN, PATTERNS,
                  "Deliver only calls of M:F/A, M:F, M:_ or _:_ (and events of --flags); send, "
                  "receive: filter messages",
                  .letter = 'p', .how = TH_ARGUMENT_REPEATS, .take = begin_pattern),
    [TH_SESSION_SPEC] = TH_OPTION(
        "match-spec", "SPEC", TEXT, PATTERNS,
        "Deliver only calls or messages that match SPEC: Erlang text, or c, x, cx, r",
        .how = TH_ARGUMENT_OTHERS | TH_ARGUMENT_BELONGS,
        .words = TH_WORDS("c", "x", "cx", "r", "true", "false"), .take = take_pattern_option),
    [TH_SESSION_RETURN] = TH_OPTION("return", NULL, FLAG, PATTERNS, "Also deliver returns",
                                    .how = TH_ARGUMENT_BELONGS, .take = take_pattern_option),
    [TH_SESSION_EXCEPTION] =
        TH_OPTION("exception", NULL, FLAG, PATTERNS, "Also deliver returns and exceptions",
                  .how = TH_ARGUMENT_BELONGS, .take = take_pattern_option),
    [TH_SESSION_CALLER] = TH_OPTION("caller", NULL, FLAG, PATTERNS, "Add the caller to each call",
                                    .how = TH_ARGUMENT_BELONGS, .take = take_pattern_option),
    [TH_SESSION_CALLER_LINE] = TH_OPTION("caller-line", NULL, FLAG, PATTERNS,
                                         "Add the caller, and file and line if they are known",
                                         .how = TH_ARGUMENT_BELONGS, .take = take_pattern_option),
    [TH_SESSION_KIND] = TH_OPTION(
        "kind", "LIST", TEXT, PATTERNS,
        "local (default: all calls), global (external calls), meta (calls by any process), count "
        "or time",
        .how = TH_ARGUMENT_LIST | TH_ARGUMENT_BELONGS, .words = recorded_kind_words,
        .live_words = th_trace_pattern_kind_names, .take = take_pattern_option,
        .live_help = "local (all calls), global (external calls), meta (calls by any process), "
                     "count, time or memory (default: local if possible, else global)"),
    [TH_SESSION_META_TRACER] =
        TH_OPTION("meta-tracer", "TRACER", TRACER, PATTERNS,
                  "With --kind=meta: deliver calls to TRACER, not to the tracer of -t",
                  .how = TH_ARGUMENT_BELONGS | TH_ARGUMENT_RARE, .take = take_pattern_option),
};
