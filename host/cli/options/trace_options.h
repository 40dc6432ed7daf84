/*
 * The options of commands that trace: which tracers, in which sessions, trace whom and what; and
 * how that is shown.
 *
 *   th_options_trace_options_init(&options, live);
 *   ... th_cli_command_parse(), with th_options_trace_arguments and th_control_session_arguments
 *   ... status = th_options_trace_options_begin(&options, &host);
 *   th_options_trace_options_free(&options);
 */
#ifndef TH_TRACE_OPTIONS_H
#define TH_TRACE_OPTIONS_H

#include "host/control/commands/session_options.h"

struct th_trace_options {
    bool live; /* what happens in this host is traced, not a recording */
    struct th_control_session_options sessions;
    struct th_texts folders; /* of -L */
    bool stats, json;        /* json: counts are shown so */
    bool watch;              /* tracers are replaced when their files are */
    int64_t timeout;         /* of a callback, in nanoseconds; 0: none */
    const char *control;     /* of --control; NULL: not given */
    int64_t top;             /* --top: how often it is shown anew, in nanoseconds; 0: not at all */
};

/* The arguments beside th_control_session_arguments, whose struct is ->sessions: of a struct
 * th_trace_options, which is checked after the last one. Groups 1 to 4 are theirs; a command may
 * have more options in these. */
extern const struct th_argument th_options_trace_arguments[];
enum th_status th_options_trace_options_check(void *input);

void th_options_trace_options_init(struct th_trace_options *options, bool live);
void th_options_trace_options_free(struct th_trace_options *options);

/* Serves the socket of --control, loads the tracers, begins the sessions and has them trace, on
 * hold: th_trace_go() is to follow when all else that the command needs is there. Watches files,
 * shows the view, and sets what else the options say of HOST's tracing and of callbacks. With
 * --control, and without anything to trace, nobody traces yet. th_control_host_end() comes after it
 * in any case. */
enum th_status th_options_trace_options_begin(const struct th_trace_options *options,
                                              struct th_control_host *host);

#endif
