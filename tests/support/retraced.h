/*
 * Traces the calls of a recording again, and returns the events that a BEAM would have sent if more
 * had been traced than was recorded. For tests of executions. One event a line, values as text:
 *
 *   call ex:bar/1 <- ex:foo/0         the caller: a function, undefined or unknown
 *   return_from ex:bar/1 done
 *   exception_from ex:c4/1 {error,boom}
 *   return_to ex:foo/0
 */
#ifndef RETRACED_H
#define RETRACED_H

#include "host/replay/replay.h"
#include "host/trace/trace.h"

struct th_execution_counts;

struct retracing {
    const char *module;    /* traced module; NULL: all modules */
    bool external_only;    /* global tracing: external calls only, no return_to */
    bool returns;          /* {return_trace} */
    bool exceptions;       /* {exception_trace}; return_from, too */
    bool return_to;        /* the trace flag return_to */
    bool recorded_callers; /* match specification results are taken for callers */
    struct th_execution_options options;
};

/* Reads FILE and returns its events. COUNTS may be NULL. The text is valid until the next call. */
const char *retraced(const char *file, const struct retracing *retracing,
                     struct th_execution_counts *counts);

/* Like retraced(), with a stream in memory. */
const char *retraced_bytes(const char *bytes, const struct retracing *retracing,
                           struct th_execution_counts *counts);

/* Returns the events that FILE records, in the same form. The caller of a call is the recorded
 * result of its match specification, "unknown" if there is none. */
const char *retraced_not(const char *file);

#endif
