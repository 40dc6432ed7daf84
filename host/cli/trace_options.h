/*
 * The options of commands that trace: which tracers, in which sessions, trace whom and what; and
 * how that is shown.
 *
 *   th_trace_options_init(&options, live);
 *   ... argp, with th_trace_argp as a child ...
 *   status = th_trace_options_attach(&options, tracing);
 *   th_trace_options_free(&options);
 */
#ifndef TH_TRACE_OPTIONS_H
#define TH_TRACE_OPTIONS_H

#include "command.h"
#include "trace_session.h"

struct th_trace_options {
    bool live; /* what happens in this host is traced, not a recording */
    struct th_session_options sessions;
    const char **folders; /* of -L */
    size_t folder_count, folder_capacity;
    bool stats, json; /* json: counts are shown so */
    int64_t timeout;  /* of a callback, in nanoseconds; 0: none */
};

/* For an argp child; its input is a struct th_trace_options. Groups 1 to 4 are its own; a command
 * may have more options in these. Behind the command's text its help shows the flags. */
extern const struct argp th_trace_argp;

void th_trace_options_init(struct th_trace_options *options, bool live);
void th_trace_options_free(struct th_trace_options *options);

/* Loads the tracers, begins the sessions and has them trace; and sets what else the options say of
 * TRACING and of callbacks. */
enum th_status th_trace_options_attach(const struct th_trace_options *options,
                                       struct th_tracing *tracing);

#endif
