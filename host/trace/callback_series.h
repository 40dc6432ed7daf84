/*
 * Calls of a tracer's callbacks without events: to measure what the callbacks cost.
 *
 * A callback is called as delivery.c calls it in a live event: through the attachment's slots, in the
 * thread's environment, in a reader section if the tracing is shared. Everything else that the
 * delivery of an event needs is left out: flags, patterns, the world, the terms.
 */
#ifndef TH_CALLBACK_SERIES_H
#define TH_CALLBACK_SERIES_H

#include "host/term/word.h"
#include "plugin_api/erl_tracer.h"

#include <stddef.h>

struct th_session;

/* One call of a callback. */
struct th_callback_call {
    th_term argv[5]; /* as the callback gets them, but argv[1], the state, is the session's */
    th_term tracee;  /* to which the callback must not send; TH_NONE: none */
};

/*
 * Calls SLOT of SESSION's tracer with each of COUNT CALLS, and returns the answer to the last call;
 * TH_NONE after an exception. If the session has no tracer, functions of the host that do nothing
 * are called. A tracer that has reported a failure gets no more calls.
 * Owner: the terms must stay until the return.
 * Thread: any, several at once if the tracing is shared; outside of events, callbacks and sections.
 */
th_term th_trace_session_call_series(struct th_session *session, enum th_tracer_slot slot,
                                     const struct th_callback_call calls[], size_t count);

/*
 * Gives later series of the calling thread a clock that advances by a microsecond at each reading: the
 * work of the callbacks then repeats exactly, also of those that look at the time.
 */
void th_trace_session_series_clock(void);

/* Returns the name of the callback that serves SLOT: "trace_call", or "trace" in its place. */
const char *th_trace_session_callback(const struct th_session *session, enum th_tracer_slot slot);

#endif
