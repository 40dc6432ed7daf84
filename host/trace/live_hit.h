/* Live calls at breakpoints: what the hooks of patterns do where hit->context is NULL. The first is
 * the hook itself, and hands on the others (th_patterns_hit()), so that a live call has one jump
 * less. */
#ifndef TH_LIVE_HIT_H
#define TH_LIVE_HIT_H

#include "live.h"
#include "way.h"

uint32_t th_live_hit_call(struct th_hit *hit, struct th_bp_session *points, struct th_shared *spec,
                          uint32_t kind);
uint32_t th_live_hit_meta(struct th_hit *hit, struct th_session *session, struct th_session *called,
                          struct th_shared *spec);
struct th_account *th_live_hit_account(struct th_hit *hit, struct th_bp_session *points,
                                       struct th_account_reading *reading);
void th_live_hit_entered(struct th_hit *hit, struct th_bp_session *points,
                         const struct th_account_frame *frame);

/* The event that CALL is, not decoded. */
void th_live_call_event(struct th_event *event, const struct th_live_call *call);

/* A way for EVENT, of PROCESS, in the group of calls. In a section. */
void th_live_way(struct th_way *way, struct th_event *event, const struct th_live_process *process);

/* {M, F, Arity} */
th_term th_live_function_term(th_env *env, const struct th_function *name);

/* Whose event it is. */
struct th_live_process *th_live_process_of(const struct th_event *event);

/* What PROCESS has spent up to now. */
void th_live_read(struct th_live_process *process, struct th_account_reading *reading);

/* For sources: there is no time, the tracer takes it; the scheduler, if it is known; the tuple. */
enum th_status th_live_time(struct th_event *event);
th_term th_live_scheduler(const struct th_event *event);
enum th_status th_live_whole(struct th_event *event, th_env *env, th_term *tuple);
th_term th_live_actor(struct th_event *event);

/* What match specifications ask of a live call: the context of th_live_operations. */
struct th_live_surroundings {
    const struct th_live_call *call;
    struct th_session *session;
};
extern const struct th_match_operations th_live_operations;

#endif
