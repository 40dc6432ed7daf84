/* Live calls at breakpoints: what the hooks of patterns do where hit->context is NULL. The first is
 * the hook itself, and hands on the others (th_trace_patterns_hit()), so that a live call has one
 * jump less. */
#ifndef TH_LIVE_HIT_H
#define TH_LIVE_HIT_H

#include "live.h"
#include "host/trace/trace_thread.h"

uint32_t th_live_hit_call(struct th_hit *hit, struct th_bp_session *points, struct th_shared *spec,
                          uint32_t kind);
uint32_t th_live_hit_meta(struct th_hit *hit, struct th_session *session, struct th_session *called,
                          struct th_shared *spec);
struct th_account *th_live_hit_account(struct th_hit *hit, struct th_bp_session *points,
                                       struct th_account_reading *reading);
void th_live_hit_entered(struct th_hit *hit, struct th_bp_session *points,
                         const struct th_account_frame *frame);

/* The end of a call, or a return to a function. */
struct th_live_end {
    struct th_live_tracee *process;
    const struct th_mfa *function; /* NULL: none is returned to */
    enum th_tracer_tag tag;
    th_term class, value; /* of an exception_from; of a return_from the value */
};

/* The event that it is, not decoded: for who reports what a callback did. Nobody else needs one, as
 * its terms are made of the call itself, for each session in the environment of its callback. */
void th_live_call_event(struct th_event *event, const struct th_call_event *call);
void th_live_end_event(struct th_event *event, const struct th_live_end *end);

/* The rest of such an event. */
void th_live_event_of(struct th_event *event, enum th_tracer_tag tag,
                      struct th_live_tracee *process, const struct th_event_source *source,
                      const void *reader);

/* {M, F, Arity} */
static inline th_term th_live_function_term(th_env *env, const struct th_mfa *name)
{
    th_term *words = th_env_take(env, 4);

    words[0] = th_header(TH_TUPLE, 3);
    words[1] = name->module;
    words[2] = name->function;
    words[3] = th_small(name->arity);
    return th_boxed(words);
}

/* Whose event it is. */
struct th_live_tracee *th_live_process_of(const struct th_event *event);

/* What PROCESS has spent up to now. */
void th_live_read(struct th_live_tracee *process, struct th_account_reading *reading);

/* For sources: there is no time, the tracer takes it; the scheduler, if it is known; the tuple. */
enum th_status th_live_time(struct th_event *event);
th_term th_live_scheduler(const struct th_event *event);
enum th_status th_live_whole(struct th_event *event, th_env *env, th_term *tuple);
th_term th_live_actor(struct th_event *event);

/* Whether CALL, which is told now, is an external one, wherever it was met. */
bool th_live_is_external(const struct th_call_event *call);

/* Who called, as th_event.callers, in ENV; TH_NONE: it is not known. While CALL is told. */
th_term th_live_callers(const struct th_call_event *call, th_env *env);

#endif
