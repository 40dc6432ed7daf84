/*
 * The arguments that say which tracers trace whom and what: of the command line (-t, --flags, -p
 * and so on) and of the commands `attach`, `pattern` and `flags` of the socket. Their place
 * matters: each is for the session, or the -p, that was begun last. Their struct is a struct
 * th_control_session_options.
 */
#ifndef TH_SESSION_ARGUMENTS_H
#define TH_SESSION_ARGUMENTS_H

#include "session_options.h"

#include "host/control/server.h"

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

/* The names of trace flags, and "all"; NULL behind them. */
extern const char *const th_control_flag_words[];

#endif
