/* An event that is being printed, and the functions that print its contents. */
#ifndef TEXT_EVENT_H
#define TEXT_EVENT_H

#include <erl_tracer.h>

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

/* Parameter of an SGR escape sequence. */
#define PLAIN "0"
#define DIM "2"
#define RED "31"
#define GREEN "32"
#define YELLOW "33"
#define BLUE "34"
#define MAGENTA "35"
#define CYAN "36"

static inline void event_colour(struct event *event, const char *code)
{
    if (event->colour)
        line_add(&event->line, "\033[%sm", code);
}

/* Makes the atoms of all tags: once, before the first event. */
TRACER_LOCAL void event_load(ErlNifEnv *env);

/* Prints the contents: the tag, its term and extra. */
TRACER_LOCAL void event_print(struct event *event);

/* Returns the tracee; for seq_trace the process that sent, received or printed. */
TRACER_LOCAL ERL_NIF_TERM event_tracee(const struct event *event);

#endif
