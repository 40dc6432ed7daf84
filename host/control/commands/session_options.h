/* The sessions that options ask for, from their texts to traced tracees. */
#ifndef TH_TRACE_SESSION_H
#define TH_TRACE_SESSION_H

#include "host/control/argument.h"
#include "host/trace/pattern.h"
#include "host/trace/tracees.h"

struct th_search;
struct th_control_host;

/* --- Options ---------------------------------------------------------------------------------- */

/* The object of a -p: functions, or messages that are sent or received. */
enum th_pattern_object { TH_PATTERN_FUNCTIONS, TH_PATTERN_SEND, TH_PATTERN_RECEIVE };

/* One -p, with the options that follow it. */
struct th_control_pattern_option {
    const char *text;
    enum th_pattern_object object;
    struct th_pattern pattern; /* TH_PATTERN_FUNCTIONS */
    const char *spec;          /* of --match-spec; NULL: not given */
    bool returns, exceptions, callers, lines;
    const char *kind_list; /* of --kind; NULL: not given */
    uint32_t kinds;
    const char *meta_tracer; /* of --meta-tracer; NULL: not given */
};

struct th_control_pattern_options {
    struct th_control_pattern_option *items;
    size_t count, capacity;
    bool live; /* of this host's functions, not of recorded ones */
};

/* One of --processes or --ports: a group, or an identifier or a name. */
struct th_control_chosen {
    enum th_tracees group; /* if ->one is TH_NONE; of ports or of processes in any case */
    th_term one;
};

/* The options between one --session and the next. The first of these has no title: its options
 * stand before any --session. */
struct th_control_session_option {
    const char *title;
    const char **tracers; /* texts of -t; at most one if there is a title */
    size_t tracer_count, tracer_capacity;
    const char *flag_list; /* of --flags; NULL: not given */
    uint32_t flags;
    const char *chosen; /* the option that says whom to trace; NULL: all, as they were recorded */
    struct th_control_chosen *tracees;
    size_t tracee_count, tracee_capacity;
    struct th_control_pattern_options
        patterns; /* with any of calls, these alone are traced by default */
    th_session_id
        began; /* filled in: the session that th_control_session_options_attach() began last */
};

struct th_control_session_options {
    struct th_control_session_option *items;
    size_t count, capacity;
    bool live;    /* of this host, not of a recording */
    bool running; /* and that runs already: its processes may be named */
    /* The first session is none unless it has a tracer: what it says is for another (--top). */
    bool optional;
};

/* Begins with the one that has no title. */
void th_control_session_options_init(struct th_control_session_options *options, bool live);
void th_control_session_options_free(struct th_control_session_options *options);

/* Take one option, as rows of tables of arguments do; INPUT is a struct th_control_session_options.
 * TH_USAGE, in one sentence, if VALUE is wrong. */
enum th_status th_control_take_tracer(const struct th_argument *argument, const char *value,
                                      void *input);
enum th_status th_control_take_tracees(const struct th_argument *argument, const char *value,
                                       void *input); /* of --processes or --ports */

/* Begins the options of the pattern in VALUE, which stays, behind those in OPTIONS. TH_USAGE
 * likewise. */
enum th_status th_control_pattern_take(const char *value,
                                       struct th_control_pattern_options *options);

/* After the last option. TH_USAGE likewise. */
enum th_status th_control_session_options_check(struct th_control_session_options *options);

/* Nothing was said of what to trace. */
bool th_control_session_options_are_empty(const struct th_control_session_options *options);

/* Loads the tracers, creates the sessions and has them trace. */
enum th_status th_control_session_options_attach(const struct th_control_session_options *options,
                                                 const struct th_search *search,
                                                 struct th_tracing *tracing);

/* Warns of patterns of functions that no call in what was played was for. */
void th_control_session_options_report_uncalled(const struct th_control_session_options *options,
                                                const struct th_tracing *tracing);

/* Warns of sessions that no event was for, if no other warning says why: what was asked for, and
 * what there is. Those that OPTIONS began last, when all has happened. */
void th_control_session_options_report_unmatched(const struct th_control_session_options *options,
                                                 const struct th_tracing *tracing);

/* Warns of processes, ports and names that sessions were to trace, and that nothing was seen of. */
void th_control_sessions_report_unmet(struct th_tracing *tracing);

/* No session traces anybody any more: what it has counted stays. Any thread, where the tracing is
 * shared. */
void th_control_sessions_rest(struct th_tracing *tracing);

/* --- Patterns --------------------------------------------------------------------------------- */

/* Reads TEXT, Erlang text or a name that dbg knows, as a match specification in ENV. */
enum th_status th_control_match_read(th_env *env, const char *text, th_term *spec);

/* --- Their arguments -------------------------------------------------------------------------- */

/* Arguments of the command line (-t, --flags, -p and so on) and of the commands `attach`, `pattern`
 * and `flags` of the socket. Their place matters: each is for the session, or the -p, that was
 * begun last. Their struct is a struct th_control_session_options. */
enum th_control_session_argument {
    TH_SESSION_TRACER,
    TH_SESSION_FLAGS,
    TH_SESSION_PROCESSES,
    TH_SESSION_PORTS,
    TH_SESSION_BEGIN, /* --session */
    TH_SESSION_PATTERN,
    TH_SESSION_SPEC, /* from here on: of the -p before them */
    TH_SESSION_RETURN,
    TH_SESSION_EXCEPTION,
    TH_SESSION_CALLER,
    TH_SESSION_CALLER_LINE,
    TH_SESSION_KIND,
    TH_SESSION_META_TRACER,
    TH_SESSION_ARGUMENTS
};

/* By enum th_control_session_argument; the last one is {0}. */
extern const struct th_argument th_control_session_arguments[TH_SESSION_ARGUMENTS + 1];

#endif
