/* Options that describe sessions: from their texts to sessions that trace. */
#ifndef TH_TRACE_SESSION_H
#define TH_TRACE_SESSION_H

#include "host/control/argument.h"
#include "host/trace/pattern.h"
#include "host/trace/tracees.h"

struct th_search;
struct th_control_host;

/* --- Options ---------------------------------------------------------------------------------- */

/* The object of a -p: functions, or sent or received messages. */
enum th_pattern_object { TH_PATTERN_FUNCTIONS, TH_PATTERN_SEND, TH_PATTERN_RECEIVE };

/* One -p, with its options. */
struct th_control_pattern_option {
    const char *text;
    enum th_pattern_object object;
    struct th_pattern pattern; /* TH_PATTERN_FUNCTIONS */
    const char *spec;          /* value of --match-spec; NULL: not given */
    bool returns, exceptions, callers, lines;
    const char *kind_list; /* value of --kind; NULL: not given */
    uint32_t kinds;
    const char *meta_tracer; /* value of --meta-tracer; NULL: not given */
};

struct th_control_pattern_options {
    struct th_control_pattern_option *items;
    size_t count, capacity;
    bool live; /* functions of this host, not recorded ones */
};

/* One item of --processes or --ports: a group, an identifier or a name. */
struct th_control_chosen {
    enum th_tracees group; /* used if ->one is TH_NONE; always separates processes from ports */
    th_term one;
};

/* The options of one --session. The first item has no title: its options stand before any
 * --session. */
struct th_control_session_option {
    const char *title;
    const char **tracers; /* values of -t; at most one if there is a title */
    size_t tracer_count, tracer_capacity;
    const char *flag_list; /* value of --flags; NULL: not given */
    uint32_t flags;
    const char *chosen; /* name of the option that chose tracees; NULL: all, as recorded */
    struct th_control_chosen *tracees;
    size_t tracee_count, tracee_capacity;
    struct th_control_pattern_options
        patterns; /* functions in it: only calls are traced by default */
    bool decided; /* the patterns were decided where the events come from: the session needs none */
    /* Another process has the session of an earlier, or of a later tracer of this item: warnings that
     * come once for all tracers of an item are the business of that process. */
    bool follows, is_followed;
    th_session_id
        began; /* output: the session that th_control_session_options_attach() began last */
};

struct th_control_session_options {
    struct th_control_session_option *items;
    size_t count, capacity;
    bool live;    /* for this host, not for a recording */
    bool running; /* the host runs already: its processes may be named */
    /* The first item is no session unless it has a tracer: its options are for another reader
     * (--top). */
    bool optional;
};

/* Begins with the item that has no title. */
void th_control_session_options_init(struct th_control_session_options *options, bool live);
void th_control_session_options_free(struct th_control_session_options *options);

/* Store one option; rows of tables of arguments. INPUT is a struct th_control_session_options.
 * Errors: TH_USAGE, in one sentence. */
enum th_status th_control_take_tracer(const struct th_argument *argument, const char *value,
                                      void *input);
enum th_status th_control_take_tracees(const struct th_argument *argument, const char *value,
                                       void *input); /* --processes or --ports */

/* Appends a pattern option for VALUE to OPTIONS.
 * Owner: VALUE must stay valid.
 * Errors: TH_USAGE, in one sentence. */
enum th_status th_control_pattern_take(const char *value,
                                       struct th_control_pattern_options *options);

/* Checks OPTIONS after the last option. Errors: TH_USAGE, in one sentence. */
enum th_status th_control_session_options_check(struct th_control_session_options *options);

/* Returns true if OPTIONS name no tracer, flag, tracee or pattern. */
bool th_control_session_options_are_empty(const struct th_control_session_options *options);

/* Returns the index of the first item that is a session: 0 or 1. */
size_t th_control_session_options_first(const struct th_control_session_options *options);

/* Returns the number of sessions that OPTIONS describe, and the name of a session's tracer: the path
 * or name that is loaded, of *LENGTH bytes. */
size_t th_control_session_options_sessions(const struct th_control_session_options *options);
const char *th_control_session_options_tracer(const struct th_control_session_options *options,
                                              size_t session, size_t *length);

/* Leaves the session number SESSION in OPTIONS, counted from 0, as others belong to other processes. */
void th_control_session_options_keep(struct th_control_session_options *options, size_t session);

/* Loads the tracers, creates the sessions, and sets their tracees and patterns.
 * Errors: those of the first session that fails; sessions before it stay. */
enum th_status th_control_session_options_attach(const struct th_control_session_options *options,
                                                 const struct th_search *search,
                                                 struct th_tracing *tracing);

/* Warns about patterns of functions that no played call matched; if a session's patterns were decided
 * elsewhere, only if no event came. */
void th_control_session_options_report_uncalled(const struct th_control_session_options *options,
                                                const struct th_tracing *tracing);

/* Warns about sessions of OPTIONS for which flags, tracees or patterns were given, and which no
 * event matched, unless another warning gives the reason. Shows the requested and the existing
 * events.
 * Order: after the last event. */
void th_control_session_options_report_unmatched(const struct th_control_session_options *options,
                                                 const struct th_tracing *tracing);

/* Warns about processes, ports and names that sessions should trace and that never appeared. */
void th_control_sessions_report_unmet(struct th_tracing *tracing);

/* Clears the trace flags of all processes and ports in all sessions; counts stay.
 * Thread: any, if the tracing is shared. */
void th_control_sessions_rest(struct th_tracing *tracing);

/* --- Match specifications --------------------------------------------------------------------- */

/* Advice behind a message about a specification that is refused, or matches nothing. */
#define TH_CONTROL_MATCH_ADVICE "; try the specification with `tracehost match`"

/* Reads TEXT, Erlang text or a name that dbg knows, as a match specification in ENV. */
enum th_status th_control_match_read(th_env *env, const char *text, th_term *spec);

/* --- The arguments ---------------------------------------------------------------------------- */

/* Arguments of the command line (-t, --flags, -p and so on) and of the socket's commands `attach`,
 * `pattern` and `flags`. The order matters: each belongs to the session, or the -p, begun last.
 * They are stored in a struct th_control_session_options. */
enum th_control_session_argument {
    TH_SESSION_TRACER,
    TH_SESSION_FLAGS,
    TH_SESSION_PROCESSES,
    TH_SESSION_PORTS,
    TH_SESSION_BEGIN, /* --session */
    TH_SESSION_PATTERN,
    TH_SESSION_SPEC, /* from here on: options of the -p before them */
    TH_SESSION_RETURN,
    TH_SESSION_EXCEPTION,
    TH_SESSION_CALLER,
    TH_SESSION_CALLER_LINE,
    TH_SESSION_KIND,
    TH_SESSION_META_TRACER,
    TH_SESSION_ARGUMENTS
};

/* Indexed by enum th_control_session_argument; the last one is {0}. */
extern const struct th_argument th_control_session_arguments[TH_SESSION_ARGUMENTS + 1];

#endif
