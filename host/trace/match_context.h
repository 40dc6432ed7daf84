/* Match specifications of patterns ask about the tracee, and act on it, by a struct
 * th_match_context. Inner header of trace/. */
#ifndef TH_MATCH_CONTEXT_H
#define TH_MATCH_CONTEXT_H

#include "host/trace/live/live.h"
#include "host/match/match.h"
#include "tracing.h"

/* A call, or a message, of a recording or of this host, that a specification is run for. */
struct th_match_context {
    struct th_session *session;       /* the specification's */
    th_env *env;                      /* where terms are made */
    th_term id;                       /* of the tracee */
    struct th_tracee *traced;         /* the tracee; NULL: it is of another node */
    const struct th_event *event;     /* recorded */
    struct th_live_tracee *process;   /* of this host; NULL: all is of a recording */
    const struct th_call_event *call; /* of PROCESS; NULL: it is a message */
};

/* th_match_run() in CONTEXT. */
void th_trace_match_context_run(struct th_match_context *context, const struct th_match_spec *spec,
                                const struct th_match_subject *subject,
                                struct th_match_result *result);

#endif
