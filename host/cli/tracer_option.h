/* The tracers that -t asks for, from their text to attached sessions. */
#ifndef TH_TRACER_OPTION_H
#define TH_TRACER_OPTION_H

#include "host/trace/trace.h"

struct th_tracer_option {
    char *name;
    th_term state; /* in `env` */
    th_env env;
};

/*
 * Reads NAME, NAME=ERLANG_TERM or NAME,key=value,...; the first of = and , decides. Values are
 * integers, true and false, else binaries. The state is the term; the map of the keys; without
 * either the empty map. `console`, as the whole state or as a value, is the pid of the console.
 * TH_USAGE with the cause.
 */
enum th_status th_tracer_option_parse(const char *text, struct th_tracer_option *option);
void th_tracer_option_free(struct th_tracer_option *option);

/* Finds, opens, checks, loads and attaches the tracer. Its remarks are warnings. */
enum th_status th_tracer_option_attach(const struct th_tracer_option *option,
                                       const struct th_search *search, uint32_t flags,
                                       struct th_tracing *tracing);

#endif
