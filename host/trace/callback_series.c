/* Calls callbacks of a session's tracer one after the other. */
#include "callback_series.h"

#include "trace_internal.h"
#include "tracing.h"

/* The result of enif_self() in the callbacks of each slot: the tracee, or none. */
static const bool has_self[TH_SLOTS] = {
#define X(group, self) [2 * TH_GROUP_##group + 1] = (self),
    TH_TRACER_GROUPS(X)
#undef X
};

th_term th_trace_session_call_series(struct th_session *session, enum th_tracer_slot slot,
                                     const struct th_callback_call calls[], size_t count)
{
    struct th_attachment *attachment = th_trace_session_attachment(session);
    const struct th_tracing *tracing = session->tracing;
    struct th_callback_subject subject = {.event = NULL};
    th_term answer = TH_NONE;

    th_self.subject = &subject;
    for (size_t i = 0; i < count && th_trace_session_is_attached(session); i++) {
        const struct th_callback_call *call = &calls[i];
        th_term argv[] = {call->argv[0], attachment->state, call->argv[2], call->argv[3],
                          call->argv[4]};
        bool self = has_self[slot] && !th_is_port(call->tracee);
        subject.tracee = call->tracee;
        th_trace_enter(tracing);
        answer = th_trace_attachment_call(attachment, slot, argv, self ? call->tracee : TH_NONE);
        th_trace_leave(tracing);
    }
    th_self.subject = NULL;
    return answer;
}

static bool step_clock(struct th_clock *clock)
{
    enum { STEP = 1000 };

    clock->monotonic += STEP;
    clock->cpu = clock->monotonic;
    return true;
}

void th_trace_session_series_clock(void)
{
    /* Times have as many digits as those of a node. */
    static _Thread_local struct th_clock clock = {
        .monotonic = 1000000000000000, .offset = 1700000000000000000, .zero = 1000000000000000};

    clock.fill = step_clock; /* `ready` stays false */
    th_self.clock = &clock;
}

const char *th_trace_session_callback(const struct th_session *session, enum th_tracer_slot slot)
{
    return th_trace_session_attachment(session)->slots->filled_by[slot];
}
