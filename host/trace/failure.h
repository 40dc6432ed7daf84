/*
 * Failures that tracers report (th_tracer_failed()): a file that cannot be written, say. The
 * program goes on, and ends with TH_FAILED.
 *
 * Any thread.
 */
#ifndef TH_FAILURE_H
#define TH_FAILURE_H

#include "host/base/base.h"

/* Shows REASON on stderr, after the name of the TRACER, and counts it. */
void th_trace_failure_report(const char *tracer, const char *reason);

/* Failures from now on show NAME in the place of PATH, a path that the program has given to the
 * tracer and that the user does not know. PATH NULL: no path has another name. The caller keeps
 * both texts until then. Call it before the tracer is loaded. */
void th_trace_failures_name(const char *path, const char *name);

/* How many there were. */
unsigned long th_trace_failures(void);

/* TH_FAILED, with the latest of them, if there were more than BEFORE; else TH_OK. */
enum th_status th_trace_failures_raise(unsigned long before);

#endif
