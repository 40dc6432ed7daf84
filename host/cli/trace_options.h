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
#include "option_table.h"
#include "trace_session.h"

struct th_trace_options {
    bool live; /* what happens in this host is traced, not a recording */
    struct th_session_options sessions;
    const char **folders; /* of -L */
    size_t folder_count, folder_capacity;
    bool stats, json;    /* json: counts are shown so */
    bool watch;          /* tracers are replaced when their files are */
    int64_t timeout;     /* of a callback, in nanoseconds; 0: none */
    const char *control; /* of --control; NULL: not given */
    int64_t top;         /* --top: how often it is shown anew, in nanoseconds; 0: not at all */
};

/* The keys of options that others than argp take. */
enum th_trace_key {
    TH_TRACE_FLAGS = TH_OPTION_TRACE,
    TH_TRACE_SESSION,
    TH_TRACE_PROCESSES,
    TH_TRACE_PORTS,
    TH_TRACE_OWN /* and so on: trace_options.c's */
};

/* Whether KEY is of an option that belongs to a -p, and of which. */
bool th_trace_option_is_pattern(int key, enum th_pattern_key *option);

/* Takes one of the options whose place matters: it is for the session that was begun last. TH_USAGE
 * if it is wrong, in one sentence; TH_END, with no chain, if KEY is of another option. */
enum th_status th_trace_options_take(struct th_trace_options *options, int key, const char *value);

/* Words that options may have, NULL behind them. */
extern const char *const th_trace_flag_words[];
extern const char *const th_trace_group_words[]; /* of processes and ports */
extern const char *const th_trace_spec_words[];

/* For an argp child; its input is a struct th_trace_options. Groups 1 to 4 are its own; a command
 * may have more options in these. Behind the command's text its help shows the flags. */
extern const struct argp th_trace_argp;
extern const struct argp_option th_trace_option_table[];
extern const struct th_choices th_trace_option_choices[];

void th_trace_options_init(struct th_trace_options *options, bool live);
void th_trace_options_free(struct th_trace_options *options);

/* Fills SEARCH with the folders of tracers; it opens them replaceable if the host may be told to
 * replace them. End with th_search_free(). */
void th_trace_options_search(const struct th_trace_options *options, struct th_search *search);

/* Loads the tracers, begins the sessions and has them trace, on hold: th_tracing_go() is to follow
 * when all else that the command needs is there. And sets what else the options say of TRACING and
 * of callbacks. With --control, and without anything to trace, nobody traces yet. */
enum th_status th_trace_options_attach(const struct th_trace_options *options,
                                       struct th_tracing *tracing);

#endif
