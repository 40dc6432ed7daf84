/*
 * Options of commands that trace: the tracers and sessions, the tracees, the events, and how the
 * results are shown.
 *
 *   th_options_trace_options_init(&options, live);
 *   ... th_cli_command_parse(), with th_options_trace_arguments and th_control_session_arguments
 *   ... status = th_options_trace_options_begin(&options, &host);
 *   th_options_trace_options_free(&options);
 */
#ifndef TH_TRACE_OPTIONS_H
#define TH_TRACE_OPTIONS_H

#include "host/control/commands/session_options.h"

/* Texts for help. */
#define TH_EVENTS_HELP                                                                             \
    "If only one of --processes and --ports is given, events of the other tracees are not "        \
    "delivered. In a recording, existing tracees are those that existed when the recording "       \
    "began, new ones were spawned or opened in it.\n\n"                                            \
    "PATTERN is M:F/A, M:F/_, M:_/_ or _:_/_, or as in Elixir, Enum.sort/1; /_ may be left out. "  \
    "With a PATTERN of functions, "                                                                \
    "only calls are delivered unless --flags is given. on_load stands for all functions that are " \
    "loaded later. With send or receive, only messages that match --match-spec are delivered. "    \
    "SPEC is Erlang text, or c (caller), x (exceptions), cx (both), r (returns); false clears "    \
    "the "                                                                                         \
    "pattern."
#define TH_TRACE_HELP                                                                            \
    TH_EVENTS_HELP                                                                               \
    "\n\n"                                                                                       \
    "TRACER is a name, looked up as NAME.so, or a path with a '/'. The state of a tracer is an " \
    "Erlang term: the value of STATE, an expression; the map of the keys, whose values are "     \
    "integers, true, false or else binaries; or #{}. `console` in a state is a process that "    \
    "prints each message that it gets. An expression of `run` may call functions of the "        \
    "libraries."

struct th_trace_options {
    bool live; /* events of this host are traced, not those of a recording */
    struct th_control_session_options sessions;
    struct th_texts folders; /* of -L */
    bool stats, json;        /* json: counts are shown as JSON */
    bool watch;              /* tracers are replaced when their files change */
    int64_t timeout;         /* limit of a callback, in nanoseconds; 0: none */
    const char *control;     /* value of --control; NULL: not given */
    int64_t top;             /* --top: period of the view, in nanoseconds; 0: no view */
};

/* The arguments for struct th_trace_options, apart from th_control_session_arguments, whose struct
 * is ->sessions. th_options_trace_options_check() runs after the last argument. */
extern const struct th_argument th_options_trace_arguments[];
enum th_status th_options_trace_options_check(void *input);

void th_options_trace_options_init(struct th_trace_options *options, bool live);
void th_options_trace_options_free(struct th_trace_options *options);

/* Begins the tracing that OPTIONS describe: serves the socket of --control, loads the tracers,
 * creates the sessions, watches files, and begins the view. Sets the members of HOST that depend on
 * OPTIONS. If --control is given without a tracer, a pattern and the like, no session is created.
 * Order: events are held back until the caller calls th_trace_go(). th_control_host_end() must
 * follow, whatever the status.
 * Errors: the status of the step that failed, with its chain. */
enum th_status th_options_trace_options_begin(const struct th_trace_options *options,
                                              struct th_control_host *host);

#endif
