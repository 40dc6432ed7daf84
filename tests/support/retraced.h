/*
 * Recordings traced again: what a BEAM would have sent for their calls, had it been asked for more
 * than was recorded. For tests of executions; values as text, a line each:
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
    const char *module;    /* calls of this one; NULL: of all */
    bool external_only;    /* global tracing: external calls alone, and no return_to */
    bool returns;          /* return_trace */
    bool exceptions;       /* exception_trace: return_from, too */
    bool return_to;        /* the flag */
    bool recorded_callers; /* results of match specifications are callers */
    struct th_execution_options options;
};

/* Reads FILE to its end; what comes of it is valid until the next call. COUNTS may be NULL. */
const char *retraced(const char *file, const struct retracing *retracing,
                     struct th_execution_counts *counts);

/* The same of a stream in memory. */
const char *retraced_bytes(const char *bytes, const struct retracing *retracing,
                           struct th_execution_counts *counts);

/* What is recorded in FILE, in this form: of calls the result as caller, "unknown" if they have
 * none. */
const char *retraced_not(const char *file);

#endif
