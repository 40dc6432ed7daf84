/* An event that is being printed, and the functions that print its contents. */
#ifndef TEXT_EVENT_H
#define TEXT_EVENT_H

#include <erl_tracer.h>

#include "../kit/colour.h"
#include "../kit/term.h"

#include <stdbool.h>

struct event {
    ErlNifEnv *env;
    ERL_NIF_TERM tag, tracee, term, opts;
    ERL_NIF_TERM extra; /* 0: none */
    bool colour;
    enum args args; /* detail of terms that are data; names are printed completely */
    struct line line;
};

static inline void event_colour(struct event *event, const char *code)
{
    line_colour(&event->line, event->colour, code);
}

/* Makes the atoms of all tags: once, before the first event. */
TRACER_LOCAL void event_load(ErlNifEnv *env);

/* Prints the contents: the tag, its term and extra. */
TRACER_LOCAL void event_print(struct event *event);

/* Returns the tracee; for seq_trace the process that sent, received or printed. */
TRACER_LOCAL ERL_NIF_TERM event_tracee(const struct event *event);

#endif
