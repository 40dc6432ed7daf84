/* What the command line of tracehost run says. */
#ifndef TH_RUN_OPTIONS_H
#define TH_RUN_OPTIONS_H

#include "host/cli/call_arguments.h"
#include "trace_options.h"

struct th_run_options {
    struct th_trace_options trace;
    struct th_call_arguments arguments;
    unsigned schedulers; /* 0: as many as processors */
    unsigned async;      /* threads for operations on files; 0: the runtime's own number */
    int64_t duration;    /* nanoseconds; below 0: as long as it takes */
    int64_t grace;       /* the same, for functions that run in the end */
    size_t open_calls;   /* of a process; 0: the runtime's own bound */
    bool check, fail_on_loss;
    bool probes; /* some are raised, to be printed (probe_lines.h) */
};

/* Its input is a struct th_run_options, whose `trace` th_options_trace_options_init() has begun. */
extern const struct th_usage th_options_run_usage;

#endif
