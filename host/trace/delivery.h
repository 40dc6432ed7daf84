/*
 * Delivery: offers one event, or one call, to the tracer of one session.
 *
 * Only this file and delivery.c know the order of a BEAM, and the effect of each answer of
 * `enabled`:
 *
 *   1. flag            the session traces the tracee for such events; meta breakpoints: each tracee
 *   2. enabled         `trace`; `discard`; any other answer takes the tracee away from the session
 *   3. specification   decides whether the call matches; without one each call does
 *   4. silent          a silent call is not sent, nor is its end
 *   5. return request  the wanted ends of the call are kept with its frame
 *   6. trace
 *
 * A message at a pattern takes the steps 1, 3, 4, 2, 6. The end of a call has no `enabled`: an end
 * that passes step 1 is sent if its call was delivered.
 *
 * Producers fill a struct th_delivery for each session: recorded and live events (dispatch.c),
 * messages at patterns (message_pattern.c), recorded calls at breakpoints and their ends
 * (pattern_hit.c), live calls (live_call.c) and their ends (live_end.c). The functions in which
 * producers differ are in a struct th_delivery_source. This struct is a constant where
 * th_trace_deliver() is called, so that the compiler inlines its functions: a discarded live call
 * costs no more than its `enabled`.
 *
 * Thread: the one that replays the event, or runs its tracee; in a reader section, if the tracing
 * is shared.
 */
#ifndef TH_DELIVERY_H
#define TH_DELIVERY_H

#include "pattern_internal.h"
#include "trace_thread.h"

#include "host/match/match.h"

/* --- Return requests -------------------------------------------------------------------------- */

/* Return request: the ends that a session wants of a call. Each call frame keeps a word for each
 * session with a request: of a live call see live/live.h, of a recorded one execution.h. These are
 * the low bits; the others are the session's id or, for TH_REQUEST_TIME, the number of a struct
 * th_timing_frame. */
enum {
    TH_REQUEST_RETURN = 1,
    TH_REQUEST_EXCEPTION = 2,
    TH_REQUEST_META = 4,
    TH_REQUEST_RETURN_TO = 8,
    TH_REQUEST_TIME = 16,
    TH_REQUEST_BITS = 5
};

/* True if a call with this MESSAGE is sent. Not sent: {message, false}, and a message that depends
 * on something unknown. */
static inline bool th_trace_sends(th_term message)
{
    return message != TH_AM(false) && message != TH_NONE;
}

/* Returns the request for a call that matched with RESULT, at a breakpoint of KIND (META: a meta
 * breakpoint), under FLAGS. As in a BEAM, return_to is requested for local calls that are sent,
 * other ends for each call that matches. */
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
 * Returns the options map, as a BEAM would make it, for an event under a session's FLAGS. Its keys
 * are at most
 *   extra              EXTRA; absent if TH_NONE
 *   match_spec_result  RESULT; absent if TH_NONE or `true`
 *   scheduler_id       SCHEDULER_ID; absent if TH_NONE, unknown, or if FLAGS do not request it
 *   timestamp          the kind of time, never the time itself; RECORDED is the recording's kind
 * The map is made in ENV, or is a constant.
 */
th_term th_trace_opts_make(th_env *env, th_term extra, th_term result, th_term scheduler_id,
                           enum th_time_kind recorded, uint32_t flags);

/* #{}. The map differs from it only under TH_OPTS_FLAGS, or with an extra term or a result. */
extern th_term th_trace_opts_empty[] __attribute__((visibility("hidden")));

/* #{timestamp => KIND}, by kind. */
extern th_term th_trace_opts_stamps[][4];

/* As th_trace_opts_make(), with the common case of a recorded event inlined: at most a time, as
 * recorded. */
static inline th_term th_trace_opts_make_recorded(th_env *env, th_term extra, th_term result,
                                                  th_term scheduler_id, enum th_time_kind recorded,
                                                  uint32_t flags)
{
    if (extra != TH_NONE || result != TH_NONE || scheduler_id != TH_NONE ||
        !(flags & TH_FLAG_AS_RECORDED))
        return th_trace_opts_make(env, extra, result, scheduler_id, recorded, flags);
    return th_boxed(recorded == TH_TIME_NONE ? th_trace_opts_empty
                                             : th_trace_opts_stamps[recorded]);
}

/* As th_trace_opts_make(), for live events, with the common cases inlined: an empty map, or only
 * the value of a return. SCHEDULER is the process's, 0: unknown. */
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

/* --- The context in which match specifications query the tracee, and act on it ---------------- */

/* Context of a specification's run: a call or message, recorded or of this host. */
struct th_match_context {
    struct th_session *session;       /* the specification's */
    th_env *env;                      /* environment of new terms */
    th_term id;                       /* the tracee's */
    struct th_tracee *traced;         /* the tracee; NULL: of another node */
    const struct th_event *event;     /* if recorded */
    struct th_live_tracee *process;   /* if of this host; NULL: recorded */
    const struct th_call_event *call; /* of `process`; NULL: a message */
};

/* Calls th_match_run() in CONTEXT. */
void th_trace_match_context_run(struct th_match_context *context, const struct th_match_spec *spec,
                                const struct th_match_subject *subject,
                                struct th_match_result *result);

/* --- Deliveries ------------------------------------------------------------------------------- */

struct th_delivery {
    struct th_attachment *attachment; /* the tracer, the same for `enabled` and `trace` */
    struct th_shared_spec *spec;      /* NULL: each call matches */
    struct th_session *owner;         /* session that has set the meta breakpoint */
    enum th_tracer_group group;       /* unless the source has it */
    uint32_t kind;                    /* of the breakpoint: TH_BP_LOCAL, TH_BP_GLOBAL, TH_BP_META */
    uint32_t flags;                   /* of the tracee, before a specification changes them */
    struct th_match_result matched;   /* of a message, before `enabled` */
    th_term argv[5]; /* Tag, State, Tracee, TraceTerm, Opts; `enabled` gets three */
};

enum th_delivery_outcome {
    TH_DELIVERY_PASSED,    /* `enabled` was not called */
    TH_DELIVERY_DISCARDED, /* by the answer of `enabled` */
    TH_DELIVERY_SILENCED,
    TH_DELIVERY_REMOVED, /* the tracer wants no more events of the tracee */
    TH_DELIVERY_OVER     /* sent; or dropped for another reason, which is counted if necessary */
};

/* Functions of a producer for its deliveries. NULL: nothing to do. */
struct th_delivery_source {
    enum th_tracer_group group; /* TH_GROUP_none: that of the delivery */
    bool in_thread;    /* the thread is in no callback, and has its struct th_trace_thread */
    bool meta;         /* meta breakpoints: flags of the tracee do not matter */
    bool is_message;   /* the specification comes before `enabled` */
    bool counts_flags; /* deliveries that flags hold back are counted */
    bool by_index;     /* in_thread, and the session is never a meta tracer's */
    bool of_process;   /* a call of a process of this host: `trace` runs in that process */

    /* Makes the terms of the event, once. False: damaged. */
    bool (*decode)(struct th_delivery *delivery);
    /* Return the subject and fill the context of a specification. NULL: no specifications. */
    struct th_match_subject (*subject)(struct th_delivery *delivery);
    void (*context)(const struct th_delivery *delivery, struct th_match_context *context);
    /* Returns the present flags of the tracee, which a specification may have changed; for a meta
     * breakpoint those of `delivery->owner`. NULL: `delivery->flags`. */
    uint32_t (*flags)(const struct th_delivery *delivery);
    /* For th_trace_delivery_choose(): returns whether one of TH_FLAGS_SPECIAL is among these
     * flags; without FLAGS, whether the event is silent. */
    bool (*is_special)(const struct th_delivery *delivery);
    /* Fills TraceTerm and Opts in ENV, under FLAGS; MESSAGE is the specification's result, `true`:
     * none. */
    void (*fill)(struct th_delivery *delivery, th_env *env, th_term message, uint32_t flags);
    /* Keeps the return request WORD with the frame of the call. */
    void (*request)(struct th_delivery *delivery, uint64_t word);
    /* For ends: notes that SESSION wants the return_to that follows. */
    void (*returns_to)(struct th_delivery *delivery, struct th_session *session);
    /* For ends: returns the flags for a meta breakpoint that OWNER has set. */
    uint32_t (*meta_flags)(const struct th_session *owner);
    /* Takes the tracee away from SESSION. */
    void (*forget)(struct th_delivery *delivery, struct th_session *session);
    /* For recorded ends without patterns: true if the session must not see the end. */
    bool (*withholds)(struct th_delivery *delivery);
    /* th_trace_delivery_go_on(), out of line. NULL: th_trace_delivery_decide() does all steps. */
    enum th_delivery_outcome (*go_on)(struct th_delivery *delivery, th_term answer);
};

#define TH_DELIVERY_INLINE static inline __attribute__((always_inline))

/* Result without a specification: each call matches, with message `true`. */
extern const struct th_match_result th_trace_delivery_matched;

/* Sets the tracer to call, and its state. */
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
    if (source->by_index && what < TH_COUNTED_CALLS)
        th_trace_thread_count_call(th_self.trace_thread, delivery->attachment->session, what);
    else if (source->in_thread)
        th_trace_thread_count_in(th_self.trace_thread, delivery->attachment->session, what);
    else
        th_trace_session_count(delivery->attachment->session, what);
}

/* Step 2: calls `enabled`. */
TH_DELIVERY_INLINE th_term th_trace_delivery_ask(struct th_delivery *delivery,
                                                 const struct th_delivery_source *source)
{
    if (source->in_thread)
        return th_trace_thread_ask(delivery->attachment, delivery->argv);
    return th_trace_attachment_call(delivery->attachment,
                                    TH_SLOT_enabled + 2 * th_trace_delivery_group(delivery, source),
                                    delivery->argv, TH_NONE);
}

/* Returns the process in which `trace` of GROUP runs: the tracee, for some groups; else TH_NONE. */
static inline th_term th_trace_delivery_self(enum th_tracer_group group, th_term tracee)
{
    static const bool has_self[] = {
#define X(group, self) self,
        TH_TRACER_GROUPS(X)
#undef X
    };

    return has_self[group] && th_is_local_pid(tracee) ? tracee : TH_NONE;
}

/* Step 6: calls `trace`. */
TH_DELIVERY_INLINE void th_trace_delivery_send(struct th_delivery *delivery,
                                               const struct th_delivery_source *source,
                                               th_term message, uint32_t flags)
{
    struct th_attachment *attachment = delivery->attachment;
    enum th_tracer_group group = th_trace_delivery_group(delivery, source);
    th_env *env =
        source->in_thread ? &th_self.trace_thread->env : th_trace_attachment_env(attachment);
    th_term self;

    source->fill(delivery, env, message, flags); /* for an end, also the tracee */
    self =
        source->of_process ? delivery->argv[2] : th_trace_delivery_self(group, delivery->argv[2]);
    th_trace_delivery_count(delivery, source, TH_COUNTED(traced));
    if (source->in_thread)
        th_trace_thread_deliver(attachment, delivery->argv, self);
    else
        th_trace_attachment_call(attachment, TH_SLOT_trace + 2 * group, delivery->argv, self);
}

/* Step 5. */
TH_DELIVERY_INLINE void th_trace_delivery_request(struct th_delivery *delivery,
                                                  const struct th_delivery_source *source,
                                                  const struct th_match_result *result,
                                                  uint32_t flags)
{
    uint64_t what = th_trace_return_request_of(result, source->meta, delivery->kind, flags);

    if (what)
        source->request(delivery, delivery->attachment->session->id << TH_REQUEST_BITS | what);
}

/* Steps 5 and 6. */
TH_DELIVERY_INLINE void th_trace_delivery_accept(struct th_delivery *delivery,
                                                 const struct th_delivery_source *source,
                                                 const struct th_match_result *result,
                                                 th_term message, uint32_t flags)
{
    if (source->request)
        th_trace_delivery_request(delivery, source, result, flags);
    if (!th_trace_sends(message))
        return;
    if (source->subject || source->decode(delivery)) /* a subject was decoded before */
        th_trace_delivery_send(delivery, source, message, flags);
}

/* Does steps 3 to 6 for ANSWER of `enabled`, which is not `discard`. */
enum th_delivery_outcome th_trace_delivery_decide(struct th_delivery *delivery,
                                                  const struct th_delivery_source *source,
                                                  th_term answer);

/* The rest of a delivery after th_trace_delivery_choose(). */
enum th_delivery_rest {
    TH_DELIVERY_SEND,  /* step 6, with message `true` and no flag that matters */
    TH_DELIVERY_END,   /* nothing */
    TH_DELIVERY_DECIDE /* th_trace_delivery_decide() */
};

/* Does the steps 3 to 5 for ANSWER of `enabled`, which is not `discard`, in the common case: the
 * answer is `trace`, no flag matters, and the specification, if any, needs no run. */
TH_DELIVERY_INLINE enum th_delivery_rest
th_trace_delivery_choose(struct th_delivery *delivery, const struct th_delivery_source *source,
                         th_term answer)
{
    const struct th_match_result *result;
    struct th_match_subject subject;

    if (__builtin_expect(answer != TH_AM(trace) || source->is_special(delivery) ||
                             !th_trace_session_is_attached(delivery->attachment->session),
                         0))
        return TH_DELIVERY_DECIDE;
    if (source->subject && delivery->spec) {
        subject = source->subject(delivery);
        result = th_match_at_once(delivery->spec->spec, subject.arguments, subject.count);
        if (result == &th_match_no) {
            th_trace_delivery_count(delivery, source, TH_COUNTED(enabled));
            return TH_DELIVERY_END;
        }
        if (__builtin_expect(!result || result->message != TH_AM(true), 0))
            return TH_DELIVERY_DECIDE;
        th_trace_delivery_request(delivery, source, result, TH_FLAG_NONE);
    }
    th_trace_delivery_count(delivery, source, TH_COUNTED(enabled));
    return TH_DELIVERY_SEND;
}

/* Does the steps 3 to 6, with the common case inlined. */
TH_DELIVERY_INLINE enum th_delivery_outcome
th_trace_delivery_go_on(struct th_delivery *delivery, const struct th_delivery_source *source,
                        th_term answer)
{
    enum th_delivery_rest rest = th_trace_delivery_choose(delivery, source, answer);

    if (rest == TH_DELIVERY_DECIDE)
        return th_trace_delivery_decide(delivery, source, answer);
    if (rest == TH_DELIVERY_SEND && (!source->decode || source->decode(delivery)))
        th_trace_delivery_send(delivery, source, TH_AM(true),
                               source->flags ? TH_FLAG_NONE : delivery->flags);
    return TH_DELIVERY_OVER;
}

/* Does steps 3 and 4 for a message, before `enabled`. False: the message is dropped. */
bool th_trace_delivery_match_first(struct th_delivery *delivery,
                                   const struct th_delivery_source *source);

/* Offers DELIVERY to its session. TRACED: the flags let it pass (step 1). */
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
                             : th_trace_delivery_decide(delivery, source, answer);
    th_trace_delivery_count(delivery, source, TH_COUNTED(discarded));
    return TH_DELIVERY_DISCARDED;
}

/* --- Ends of calls at breakpoints ------------------------------------------------------------- */

/* Delivers the end of a call for which WORD was kept, if WORD's session in TRACING still wants it
 * and calls of the tracee are still traced. A silent flag that was set since the call does not
 * matter. RAISED: an exception; UNTOLD: no record shows how the call ended, so that the end is only
 * counted. */
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

/*
 * Returns the session to which the return of a call of TRACED is sent, for which WORD was kept, in
 * the common case: the session of WORD is attached and still traces calls of TRACED, no flag
 * matters, and only the return was requested. NULL: th_trace_deliver_end() decides.
 * Thread: in a section.
 */
TH_DELIVERY_INLINE struct th_session *th_trace_return_session(const struct th_tracee *traced,
                                                              uint64_t word)
{
    const uint64_t others = TH_REQUEST_META | TH_REQUEST_RETURN_TO | TH_REQUEST_TIME;
    const th_session_id id = word >> TH_REQUEST_BITS;
    struct th_session *session = th_trace_at(traced->tracing, id & (TH_SESSIONS_LIMIT - 1));
    const struct th_tracee_words *words;
    uint64_t calling;

    if (__builtin_expect(word & others || !session || session->id != id, 0))
        return NULL;
    words = atomic_load_explicit(&traced->words, memory_order_acquire);
    calling = atomic_load_explicit(&words->calling, memory_order_acquire);
    calling &= ~atomic_load_explicit(&words->special, memory_order_relaxed);
    calling &= atomic_load_explicit(&session->calls_bit, memory_order_relaxed);
    return __builtin_expect(calling != 0, 1) ? session : NULL;
}

/* Delivers a return_to to the sessions WAITING, by index, except those whose number of creation is
 * BEFORE or higher. The flag silent does not matter. */
void th_trace_deliver_return_to(struct th_delivery *delivery,
                                const struct th_delivery_source *source,
                                const struct th_tracing *tracing, uint64_t waiting,
                                uint64_t before);

#endif
