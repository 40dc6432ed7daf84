/* The tracers that -t asks for, from their text to loaded libraries. */
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

/* Finds, opens, checks and loads the tracer: fills name, state and library of SETUP, which are
 * valid as long as OPTION; the library is the caller's. Its remarks are warnings. */
enum th_status th_tracer_option_load(const struct th_tracer_option *option,
                                     const struct th_search *search,
                                     struct th_session_setup *setup);

#endif
