/*
 * Deliveries: one event, or one call, offered to the tracer of one session.
 *
 * This file and delivery.c alone know the order of a BEAM, and what each answer of `enabled` does:
 *
 *   1. flag            the session traces the tracee for such events; meta breakpoints: each tracee
 *   2. enabled         `trace`; `discard`; any other answer takes the tracee away from the session
 *   3. specification   says whether the call matches; without one each call does
 *   4. silent          of a call: nothing is sent, nor will its end be
 *   5. return request  what is wanted of the end of the call is kept with its frame
 *   6. trace
 *
 * A message at a pattern takes the steps 1, 3, 4, 2, 6. The end of a call has no `enabled`: 1, then
 * whether its call was delivered, then 6.
 *
 * Producers are: recorded and live events (dispatch.c), messages at patterns (message_pattern.c),
 * recorded calls at breakpoints and their ends (pattern_hit.c), live calls
 * (live_call.c) and their ends (live_end.c). For each session a producer fills a struct
 * th_delivery. What differs from one producer to the other stands in its struct
 * th_delivery_source. That is a constant where th_trace_deliver() is called, so that a compiler
 * puts the producer's functions in place: a live call that is discarded takes no more than its
 * `enabled`.
 *
 * Thread: the one that replays the event, or runs its tracee. In a section, if the tracing is
 * shared. Inner header of trace/.
 */
#ifndef TH_DELIVERY_H
#define TH_DELIVERY_H

#include "pattern_internal.h"
#include "trace_thread.h"

#include "host/match/match.h"

/* --- Return requests: what is wanted of a call's end. A word for each session that wants anything
 * is kept with the call's frame: of a live call see live.h, of a recorded one execution.h. --- */

/* The low bits; the others are the session's id, for TH_REQUEST_TIME the number of a struct
 * th_timing_frame. */
enum {
    TH_REQUEST_RETURN = 1,
    TH_REQUEST_EXCEPTION = 2,
    TH_REQUEST_META = 4,
    TH_REQUEST_RETURN_TO = 8,
    TH_REQUEST_TIME = 16,
    TH_REQUEST_BITS = 5
};

/* False: {message, false} leaves the call out, and so does a message that depends on something
 * unknown. */
static inline bool th_trace_sends(th_term message)
{
    return message != TH_AM(false) && message != TH_NONE;
}

/* The request for a call that matched with RESULT, at a breakpoint of KIND, under FLAGS; META: of a
 * meta breakpoint. As in a BEAM, a return_to comes for local calls that are sent; other ends for
 * each call that matches. */
static inline uint64_t th_trace_return_request_of(const struct th_match_result *result, bool meta,
                                                  uint32_t kind, uint32_t flags)
{
    uint64_t request = (result->return_trace ? TH_REQUEST_RETURN : 0) |
                       (result->exception_trace ? TH_REQUEST_RETURN | TH_REQUEST_EXCEPTION : 0);

    if (meta)
        return request ? request | TH_REQUEST_META : 0;
    if (kind == TH_BP_LOCAL && flags & TH_FLAG_RETURN_TO && th_trace_sends(result->message))
        request |= TH_REQUEST_RETURN_TO;
    return request;
}

/* --- The options map of trace_X(Tag, State, Tracee, Term, Opts) ------------------------------- */

/*
 * The map for an event under a session's FLAGS: at most extra (EXTRA), match_spec_result (RESULT;
 * TH_NONE or `true`: there is none), scheduler_id (SCHEDULER_ID; TH_NONE: it is not known) and
 * timestamp, as a BEAM would make it. The time itself is never in it; RECORDED is the kind that the
 * recording has. It is made in ENV, or is a constant.
 */
th_term th_trace_opts_make(th_env *env, th_term extra, th_term result, th_term scheduler_id,
                           enum th_time_kind recorded, uint32_t flags);

/* #{}; and the flags without which it is that. */
extern th_term th_trace_opts_empty[];
enum {
    TH_OPTS_FLAGS =
        TH_FLAGS_STAMPS | TH_FLAG_CPU_TIMESTAMP | TH_FLAG_SCHEDULER_ID | TH_FLAG_AS_RECORDED
};

/* The same of this host, for who counts instructions: most have nothing to say, or of a return its
 * value. SCHEDULER is the process', 0: it is not told. */
static inline th_term th_trace_opts_make_live(th_env *env, th_term extra, th_term result,
                                              unsigned scheduler, uint32_t flags)
{
    th_term *words;

    if (__builtin_expect(flags & TH_OPTS_FLAGS || result != TH_NONE, 0))
        return th_trace_opts_make(env, extra, result, scheduler ? th_small(scheduler) : TH_NONE,
                                  TH_TIME_NONE, flags);
    if (extra == TH_NONE)
        return th_boxed(th_trace_opts_empty);
    words = th_env_take(env, 4);
    words[0] = th_header(TH_MAP, 3);
    words[1] = 1;
    words[2] = TH_AM(extra);
    words[3] = extra;
    return th_boxed(words);
}

/* --- Match specifications of patterns ask about the tracee, and act on it, by a context ------- */

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

/* --- Deliveries ------------------------------------------------------------------------------- */

struct th_delivery {
    struct th_attachment *attachment; /* the tracer, the same for `enabled` and `trace` */
    struct th_shared_spec *spec;      /* NULL: each call matches */
    struct th_session *owner;         /* of a meta breakpoint: the session that has set it */
    enum th_tracer_group group;       /* unless the source has it */
    uint32_t kind;                    /* of the breakpoint: TH_BP_LOCAL, TH_BP_GLOBAL, TH_BP_META */
    uint32_t flags;                   /* of the tracee, before a specification changes them */
    struct th_match_result matched;   /* of a message, before `enabled` */
    th_term argv[5]; /* Tag, State, Tracee, TraceTerm, Opts; `enabled` gets three */
};

enum th_delivery_outcome {
    TH_DELIVERY_PASSED,    /* `enabled` was not called */
    TH_DELIVERY_DISCARDED, /* `enabled` said so */
    TH_DELIVERY_SILENCED,
    TH_DELIVERY_REMOVED, /* the tracer wants no more of the tracee */
    TH_DELIVERY_OVER     /* sent; or there was something else, which is counted, if need be */
};

/* How a producer's deliveries are made. Functions that are NULL have nothing to do. */
struct th_delivery_source {
    enum th_tracer_group group; /* TH_GROUP_none: that of the delivery */
    bool in_thread;    /* the thread is in no callback, and its struct th_trace_thread is there */
    bool meta;         /* of meta breakpoints: the flags of the tracee do not count */
    bool is_message;   /* the specification comes before `enabled` */
    bool counts_flags; /* what the flags hold back is counted */

    /* Makes the terms of the event, once. False: it is damaged. */
    bool (*decode)(struct th_delivery *delivery);
    /* The subject and the context of a specification. NULL: there are no specifications. */
    struct th_match_subject (*subject)(struct th_delivery *delivery);
    void (*context)(const struct th_delivery *delivery, struct th_match_context *context);
    /* The flags of the tracee now, which a specification may have changed; of a meta breakpoint
     * those of `delivery->owner`. NULL: `delivery->flags`. */
    uint32_t (*flags)(const struct th_delivery *delivery);
    /* Fills TraceTerm and Opts in ENV, under FLAGS; MESSAGE is what the specification says, `true`
     * if there is nothing to be said. */
    void (*fill)(struct th_delivery *delivery, th_env *env, th_term message, uint32_t flags);
    /* Keeps WORD (delivery.h) with the frame of the call. */
    void (*request)(struct th_delivery *delivery, uint64_t word);
    /* For ends: SESSION wants the return_to that follows. */
    void (*returns_to)(struct th_delivery *delivery, struct th_session *session);
    /* For ends: the flags for a meta breakpoint that OWNER has set. */
    uint32_t (*meta_flags)(const struct th_session *owner);
    /* Takes the tracee away from SESSION. */
    void (*forget)(struct th_delivery *delivery, struct th_session *session);
    /* For ends that go the way of events: true if the session may not see the end. */
    bool (*withholds)(struct th_delivery *delivery);
    /* th_trace_delivery_go_on(), out of line. NULL: th_trace_delivery_decide() does all of it. */
    enum th_delivery_outcome (*go_on)(struct th_delivery *delivery, th_term answer);
};

#define TH_DELIVERY_INLINE static inline __attribute__((always_inline))

/* Without a specification: each call matches, and there is nothing to be said. */
extern const struct th_match_result th_trace_delivery_matched;

/* Sets the tracer that is called, and its state. */
static inline void th_trace_delivery_address(struct th_delivery *delivery,
                                             struct th_attachment *attachment)
{
    delivery->attachment = attachment;
    delivery->argv[1] = attachment->state;
}

TH_DELIVERY_INLINE enum th_tracer_group
th_trace_delivery_group(const struct th_delivery *delivery, const struct th_delivery_source *source)
{
    return source->group == TH_GROUP_none ? delivery->group : source->group;
}

TH_DELIVERY_INLINE void th_trace_delivery_count(const struct th_delivery *delivery,
                                                const struct th_delivery_source *source,
                                                size_t what)
{
    if (source->in_thread)
        th_trace_thread_count_in(th_self.trace_thread, delivery->attachment->session, what);
    else
        th_trace_session_count(delivery->attachment->session, what);
}

/* Step 2. */
TH_DELIVERY_INLINE th_term th_trace_delivery_ask(struct th_delivery *delivery,
                                                 const struct th_delivery_source *source)
{
    if (source->in_thread)
        return th_trace_thread_ask(delivery->attachment, delivery->argv);
    return th_trace_attachment_call(delivery->attachment,
                                    TH_SLOT_enabled + 2 * th_trace_delivery_group(delivery, source),
                                    delivery->argv, TH_NONE);
}

/* In these groups `trace` runs in the tracee itself. */
static inline th_term th_trace_delivery_self(enum th_tracer_group group, th_term tracee)
{
    static const bool has_self[] = {
#define X(group, self) self,
        TH_TRACER_GROUPS(X)
#undef X
    };

    return has_self[group] && th_is_local_pid(tracee) ? tracee : TH_NONE;
}

/* Step 6. */
TH_DELIVERY_INLINE void th_trace_delivery_send(struct th_delivery *delivery,
                                               const struct th_delivery_source *source,
                                               th_term message, uint32_t flags)
{
    struct th_attachment *attachment = delivery->attachment;
    enum th_tracer_group group = th_trace_delivery_group(delivery, source);
    th_env *env =
        source->in_thread ? &th_self.trace_thread->env : th_trace_attachment_env(attachment);

    source->fill(delivery, env, message, flags);
    th_trace_delivery_count(delivery, source, TH_COUNTED(traced));
    if (source->in_thread)
        th_trace_thread_deliver(attachment, delivery->argv,
                                th_trace_delivery_self(group, delivery->argv[2]));
    else
        th_trace_attachment_call(attachment, TH_SLOT_trace + 2 * group, delivery->argv,
                                 th_trace_delivery_self(group, delivery->argv[2]));
}

/* Steps 5 and 6. */
TH_DELIVERY_INLINE void th_trace_delivery_accept(struct th_delivery *delivery,
                                                 const struct th_delivery_source *source,
                                                 const struct th_match_result *result,
                                                 th_term message, uint32_t flags)
{
    uint64_t what;

    if (source->request) {
        what = th_trace_return_request_of(result, source->meta, delivery->kind, flags);
        if (what)
            source->request(delivery, delivery->attachment->session->id << TH_REQUEST_BITS | what);
    }
    if (!th_trace_sends(message))
        return;
    if (source->subject || source->decode(delivery)) /* it is decoded for the specification */
        th_trace_delivery_send(delivery, source, message, flags);
}

/* Steps 3 to 6: the answer of `enabled` is ANSWER, which is not `discard`. RESULT is what the
 * specification gives, if that is known without a run; else NULL. */
enum th_delivery_outcome th_trace_delivery_decide(struct th_delivery *delivery,
                                                  const struct th_delivery_source *source,
                                                  th_term answer,
                                                  const struct th_match_result *result);

/* The same of a live call. In place is what most are: the answer is `trace`; a specification, if
 * there is one, takes no run; and no flag says anything else. */
TH_DELIVERY_INLINE enum th_delivery_outcome
th_trace_delivery_go_on(struct th_delivery *delivery, const struct th_delivery_source *source,
                        th_term answer)
{
    const uint32_t special = TH_FLAG_SILENT | TH_FLAG_RETURN_TO | TH_FLAG_ARITY | TH_OPTS_FLAGS;
    struct th_session *session = delivery->attachment->session;
    const struct th_match_result *result = NULL;
    struct th_match_subject subject = source->subject(delivery);

    if (__builtin_expect(answer == TH_AM(trace) && th_trace_session_is_attached(session), 1))
        result = delivery->spec
                     ? th_match_quickly(delivery->spec->spec, subject.arguments, subject.count)
                     : &th_trace_delivery_matched;
    if (result && result->end == TH_MATCH_NO) {
        th_trace_delivery_count(delivery, source, TH_COUNTED(enabled));
        return TH_DELIVERY_OVER;
    }
    if (__builtin_expect(
            !result || result->message != TH_AM(true) || source->flags(delivery) & special, 0))
        return th_trace_delivery_decide(delivery, source, answer, result);
    th_trace_delivery_count(delivery, source, TH_COUNTED(enabled));
    th_trace_delivery_accept(delivery, source, result, TH_AM(true), TH_FLAG_NONE);
    return TH_DELIVERY_OVER;
}

/* The message is matched before `enabled`. */
bool th_trace_delivery_match_first(struct th_delivery *delivery,
                                   const struct th_delivery_source *source);

/* Offers what DELIVERY is about, which its session traces TRACED for (step 1). */
TH_DELIVERY_INLINE enum th_delivery_outcome
th_trace_deliver(struct th_delivery *delivery, const struct th_delivery_source *source, bool traced)
{
    th_term answer;

    if (!source->meta && __builtin_expect(!traced, 0)) {
        if (source->counts_flags)
            th_trace_delivery_count(delivery, source, TH_COUNTED(filtered));
        return TH_DELIVERY_PASSED;
    }
    if (source->withholds) {
        if (!source->withholds(delivery) && source->decode(delivery))
            th_trace_delivery_send(delivery, source, TH_AM(true), delivery->flags);
        return TH_DELIVERY_OVER;
    }
    if (source->is_message && !th_trace_delivery_match_first(delivery, source))
        return TH_DELIVERY_PASSED;
    answer = th_trace_delivery_ask(delivery, source);
    if (__builtin_expect(answer != TH_AM(discard), 0))
        return source->go_on ? source->go_on(delivery, answer)
                             : th_trace_delivery_decide(delivery, source, answer, NULL);
    th_trace_delivery_count(delivery, source, TH_COUNTED(discarded));
    return TH_DELIVERY_DISCARDED;
}

/* --- Ends of calls at breakpoints ------------------------------------------------------------- */

/* The end of a call for which WORD was kept, which somebody of TRACING wants. It is sent, silent or
 * not, as the call was, if calls of the tracee are still traced. RAISED: an exception; UNTOLD: the
 * recording does not tell how the call ended. */
TH_DELIVERY_INLINE void th_trace_deliver_end(struct th_delivery *delivery,
                                             const struct th_delivery_source *source,
                                             struct th_tracing *tracing, uint64_t word, bool raised,
                                             bool untold)
{
    const uint64_t needed = raised ? TH_REQUEST_EXCEPTION : TH_REQUEST_RETURN;
    struct th_session *session = th_trace_session_find(tracing, word >> TH_REQUEST_BITS);
    struct th_session *owner = session;
    uint32_t flags;

    if (session && !th_trace_session_is_attached(session))
        return;
    if (session && word & TH_REQUEST_RETURN_TO)
        source->returns_to(delivery, session);
    if (!(word & needed))
        return;
    if (!session && word & TH_REQUEST_META)
        session = th_trace_meta_tracer_find(tracing, word >> TH_REQUEST_BITS, &owner);
    if (!session)
        return;
    if (untold) {
        th_trace_session_count(owner, TH_COUNTED_BY_PATTERNS(returns_unknown));
        return;
    }
    th_trace_delivery_address(delivery, th_trace_session_attachment(session));
    flags = word & TH_REQUEST_META ? source->meta_flags(owner) : source->flags(delivery);
    if (!(word & TH_REQUEST_META) && !(flags & TH_FLAG_CALL))
        th_trace_session_count(session, TH_COUNTED(untraced));
    else if (!source->decode || source->decode(delivery))
        th_trace_delivery_send(delivery, source, TH_AM(true), flags);
}

/* A return_to for the sessions WAITING, by index, silent or not, that were created before there
 * were BEFORE. */
void th_trace_deliver_return_to(struct th_delivery *delivery,
                                const struct th_delivery_source *source,
                                const struct th_tracing *tracing, uint64_t waiting,
                                uint64_t before);

#endif
