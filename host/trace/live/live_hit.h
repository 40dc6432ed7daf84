/* Live calls at breakpoints: hooks of patterns for hit->context NULL. th_live_hit_call() is
 * installed as the hook itself and passes recorded hits on to th_trace_patterns_hit(), so that a
 * live call has one jump less. */
#ifndef TH_LIVE_HIT_H
#define TH_LIVE_HIT_H

#include "live.h"

#include "host/term/atom.h"
#include "host/term/make.h"
#include "host/trace/event.h"

struct th_shared;
struct th_session;
struct th_hit;
struct th_event;
struct th_call_event;
struct th_bp_session;
struct th_account_reading;
struct th_account_frame;

uint32_t th_live_hit_call(struct th_hit *hit, struct th_bp_session *breakpoints,
                          struct th_shared *spec, uint32_t kind);
uint32_t th_live_hit_meta(struct th_hit *hit, struct th_session *session, struct th_session *called,
                          struct th_shared *spec);
struct th_account *th_live_hit_account(struct th_hit *hit, struct th_bp_session *breakpoints,
                                       struct th_account_reading *reading);
void th_live_hit_entered(struct th_hit *hit, struct th_bp_session *breakpoints,
                         const struct th_account_frame *frame);

/* The end of a call, or a return to a function. */
struct th_live_end {
    struct th_live_tracee *process;
    const struct th_mfa *function; /* NULL: no function, for a return_to */
    enum th_tracer_tag tag;
    th_term class, value; /* of an exception_from; `value` also of a return_from */
};

/* Fill EVENT, not decoded, for CALL or END: for reports about a callback alone. Callbacks get terms
 * that are made of the call itself, for each session in the callback's environment. */
void th_live_call_event(struct th_event *event, const struct th_call_event *call);
void th_live_end_event(struct th_event *event, const struct th_live_end *end);

/* Stores the words of {M, F, Arity}. */
static inline void th_live_function_words(th_term words[4], const struct th_mfa *name)
{
    words[0] = th_header(TH_TUPLE, 3);
    words[1] = name->module;
    words[2] = name->function;
    words[3] = th_small(name->arity);
}

/* {M, F, Arity} */
static inline th_term th_live_function_term(th_env *env, const struct th_mfa *name)
{
    th_term *words = th_env_take(env, 4);

    th_live_function_words(words, name);
    return th_boxed(words);
}

/* Returns the tracee of a live event. */
struct th_live_tracee *th_live_process_of(const struct th_event *event);

/* Reads the time and the allocated words of PROCESS. */
void th_live_read(struct th_live_tracee *process, struct th_account_reading *reading);

/* {M, F, Args}, or {M, F, Arity} for a session with the flag arity. */
static inline th_term th_live_call_term(const struct th_call_event *call, th_env *env,
                                        uint32_t flags)
{
    const struct th_mfa *name = &call->function->function.name;
    size_t cells = flags & TH_FLAG_ARITY ? 0 : name->arity;
    th_term *words = th_env_take(env, 4 + 2 * cells), *cell = words + 4;

    words[0] = th_header(TH_TUPLE, 3);
    words[1] = name->module;
    words[2] = name->function;
    words[3] = flags & TH_FLAG_ARITY ? th_small(name->arity) : TH_NIL;
    if (cells == 0)
        return th_boxed(words);
    words[3] = th_listed(cell);
    for (size_t i = 0; i < cells; i++, cell += 2) {
        cell[0] = call->arguments[i];
        cell[1] = th_listed(cell + 2);
    }
    cell[-1] = TH_NIL;
    return th_boxed(words);
}

static inline th_term th_live_end_term(const struct th_live_end *end, th_env *env)
{
    return end->function ? th_live_function_term(env, end->function) : TH_AM(undefined);
}

static inline th_term th_live_end_extra(const struct th_live_end *end, th_env *env)
{
    if (end->tag == TH_TAG_return_from)
        return end->value;
    return end->tag == TH_TAG_exception_from ? th_make_tuple_of(env, end->class, end->value)
                                             : TH_NONE;
}

#endif
