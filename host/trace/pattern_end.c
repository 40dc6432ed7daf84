/*
 * Patterns at work: what recorded calls and their ends do to the stack of their process.
 *
 * A call is entered and meets its breakpoints (pattern_hit.c), which leave on the stack what is
 * wanted of its end. Who wanted something is told once the stack says that the call has ended; and
 * of a return_to, once it is known where control came back to.
 */
#include "pattern_hit.h"

#include "points.h"
#include "return_request.h"

/* --- ends --- */

struct returning {
    struct th_way *way; /* NULL: nobody gets it */
    struct th_tracing *tracing;
    struct th_event *event;
    struct th_tracee *tracee;
};

static void stop_timing(const struct returning *returning, uint64_t word)
{
    struct th_account_reading reading;

    if (!th_timing_read(returning->event, &reading))
        return; /* it goes with the next one that ends below it */
    th_timing_leave(&returning->tracee->timing, returning->tracing, (uint32_t)(word >> WANT_BITS),
                    &reading);
}

static th_term term_of(th_env *env, const struct th_function *name)
{
    return th_make_tuple_of(env, name->module, name->function, th_small(name->arity));
}

static void tell_end(struct th_way *way, struct th_session *session,
                     const struct th_function *function, uint32_t flags)
{
    struct th_event event;

    if (!th_way_decode(way))
        return;
    event = *way->event;
    event.term = term_of(&way->tracing->arena, function);
    th_way_hand_over(way, th_session_attachment(session), &event, flags);
}

/* The call that a session wanted something of has ended. */
static uint64_t end_for(const struct returning *returning, struct th_session *session,
                        enum th_ending ending, const struct th_function *function, uint64_t word)
{
    uint64_t need = ending == TH_ENDED_RAISED ? WANT_EXCEPTION : WANT_RETURN;
    uint64_t waiting = word & WANT_RETURN_TO ? (uint64_t)1 << session->index : 0;
    uint32_t flags;

    if (!(word & need))
        return waiting;
    flags = word & WANT_META ? th_pattern_meta_flags(session)
                             : th_pattern_flags(returning->way, session);
    if (ending >= TH_ENDED_UNTOLD)
        th_session_count(session, TH_COUNTED_BY_PATTERNS(returns_unknown));
    else if (word & WANT_META || flags & TH_FLAG_CALL) /* silent or not, as the call was told */
        tell_end(returning->way, session, function, flags);
    else
        th_session_count(session, TH_COUNTED(untraced));
    return waiting;
}

/* The same of a meta tracer that is not the session's own, and may be gone. */
static void end_for_meta(const struct returning *returning, enum th_ending ending,
                         const struct th_function *function, uint64_t word)
{
    struct th_session *owner, *called;

    if (!(word & (ending == TH_ENDED_RAISED ? WANT_EXCEPTION : WANT_RETURN)))
        return;
    called = th_meta_tracer_find(returning->tracing, word >> WANT_BITS, &owner);
    if (!called)
        th_meta_tracer_untold(returning->tracing, word >> WANT_BITS);
    else if (ending >= TH_ENDED_UNTOLD)
        th_session_count(owner, TH_COUNTED_BY_PATTERNS(returns_unknown));
    else
        tell_end(returning->way, called, function, th_pattern_meta_flags(owner));
}

static uint64_t ended(void *context, enum th_ending ending, const struct th_function *function,
                      uint64_t word)
{
    struct returning *returning = context;
    struct th_session *session = NULL;

    if (word & WANT_TIME)
        stop_timing(returning, word);
    if (word & WANT_TIME || !returning->way)
        return 0;
    session = th_session_find(returning->tracing, word >> WANT_BITS);
    if (session && th_session_is_attached(session))
        return end_for(returning, session, ending, function, word);
    if (!session && word & WANT_META)
        end_for_meta(returning, ending, function, word);
    return 0;
}

/* --- return_to --- */

/* Those who wait are told that control came back to TO. */
static void tell_return_to(struct th_way *way, struct th_tracee *tracee, const struct th_caller *to)
{
    uint64_t waiting = tracee->stack.sessions.due;
    struct th_event event;

    tracee->stack.sessions.due = 0;
    if (!waiting || to->kind == TH_CALLER_UNKNOWN || !th_way_decode(way))
        return;
    event = *way->event;
    event.tag = TH_TAG_return_to;
    event.extra = TH_NONE;
    event.match_spec_result = TH_NONE;
    event.term = to->kind == TH_CALLER_UNDEFINED ? TH_AM(undefined)
                                                 : term_of(&way->tracing->arena, &to->function);
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        struct th_session *session = th_tracing_at(way->tracing, i);
        uint32_t flags = waiting >> i & 1 && session ? th_pattern_flags(way, session) : 0;
        if (flags & TH_FLAG_RETURN_TO && th_session_is_attached(session)) /* silent or not */
            th_way_hand_over(way, th_session_attachment(session), &event, flags);
    }
}

/* --- calls --- */

/* The stack of the event's process, which it is on now; NULL if that is of another node. */
static struct th_tracee *tracee_of(struct th_tracing *tracing, const struct th_event *event)
{
    return th_is_immediate(event->tracee) ? th_tracee_own(tracing, event->tracee) : NULL;
}

static void enter(struct th_tracing *tracing, struct th_tracee *tracee, struct th_event *event,
                  const struct th_function *name)
{
    struct th_execution_call call = {*name, event->tail,
                                     th_tracing_recorded_caller(tracing, event)};

    if (tracee)
        th_recorded_enter(&tracing->execution, &tracee->stack, &call);
}

void th_patterns_call(struct th_way *way)
{
    struct th_event *event = way->event;
    struct th_traced_function *function;
    struct th_tracee *tracee;
    struct th_function name;

    if (way->status == TH_OK)
        way->status = event->source->function(event, &name);
    if (way->status != TH_OK)
        return;
    tracee = tracee_of(way->tracing, event);
    if (tracee)
        tell_return_to(way, tracee, &tracee->returned_to);
    enter(way->tracing, tracee, event, &name);
    function = th_patterns_meet(way->tracing, &name);
    if (!atomic_load_explicit(&function->called, memory_order_relaxed))
        atomic_store_explicit(&function->called, true, memory_order_relaxed);
    if (th_site_is_armed(function->site))
        th_patterns_hit_site(way, tracee, function->site);
}

/* --- returns --- */

static void count_doubtful(const struct th_tracing *tracing, uint64_t sessions)
{
    for (size_t i = 0; sessions; i++, sessions >>= 1) {
        struct th_session *session = sessions & 1 ? th_tracing_at(tracing, i) : NULL;
        if (session && th_session_is_attached(session))
            th_session_count(session, TH_COUNTED_BY_PATTERNS(returns_doubtful));
    }
}

/* An exception may go on: who catches it is known with what comes next. */
static void came_back(struct th_way *way, struct th_tracee *tracee, const struct th_caller *to)
{
    tracee->returned_to = *to;
    if (way->event->tag == TH_TAG_return_to ||
        (way->event->tag == TH_TAG_return_from && to->kind != TH_CALLER_UNKNOWN))
        tell_return_to(way, tracee, to);
}

void th_patterns_return(struct th_way *way)
{
    struct returning returning = {way, way->tracing, way->event,
                                  tracee_of(way->tracing, way->event)};
    struct th_execution_end end = {.tag = way->event->tag, .ended = ended, .context = &returning};
    struct th_execution_left left;

    if (way->status != TH_OK || !returning.tracee)
        return;
    if (!th_recorded_end_function(way->event, &end.function)) {
        way->status = TH_MALFORMED;
        return;
    }
    if (end.tag == TH_TAG_return_from && returning.tracee->returned_to.kind != TH_CALLER_UNKNOWN)
        tell_return_to(way, returning.tracee, &returning.tracee->returned_to);
    left = th_recorded_leave(&way->tracing->execution, &returning.tracee->stack, &end);
    count_doubtful(way->tracing, left.doubtful);
    came_back(way, returning.tracee, end.tag == TH_TAG_return_to ? &end.function : &left.to);
}

/* --- what nobody gets, and what is no call --- */

static void leave_aside(struct th_tracing *tracing, struct th_tracee *tracee,
                        struct th_event *event)
{
    struct returning returning = {NULL, tracing, event, tracee};
    struct th_execution_end end = {.tag = event->tag, .ended = ended, .context = &returning};

    if (th_recorded_end_function(event, &end.function))
        th_recorded_leave(&tracing->execution, &tracee->stack, &end);
    tracee->stack.sessions.due = 0;
}

void th_patterns_aside(struct th_tracing *tracing, struct th_event *event)
{
    struct th_tracee *tracee;
    struct th_function name;

    th_patterns_run(tracing, event);
    if (event->tag == TH_TAG_spawned)
        th_patterns_spawned(tracing, event->tracee);
    if (event->tag < TH_TAG_call || event->tag > TH_TAG_exception_from)
        return;
    tracee = tracee_of(tracing, event);
    if (!tracee)
        return;
    if (event->tag != TH_TAG_call)
        leave_aside(tracing, tracee, event);
    else if (event->source->function(event, &name) == TH_OK)
        enter(tracing, tracee, event, &name);
    th_error_clear(); /* whoever wants a damaged one will meet the damage again */
}

void th_patterns_run(struct th_tracing *tracing, struct th_event *event)
{
    bool begins = event->tag == TH_TAG_in;
    bool stops = event->tag == TH_TAG_out || event->tag == TH_TAG_exit;
    struct th_tracee *tracee = begins || stops ? th_tracee_find(event->tracee) : NULL;
    struct th_account_reading reading;

    if (!tracee || !tracee->timing.account_count || !th_timing_read(event, &reading))
        return;
    if (begins)
        th_timing_resume(&tracee->timing, &reading);
    else
        th_timing_pause(&tracee->timing, tracing, &reading);
}

void th_patterns_spawned(struct th_tracing *tracing, th_term id)
{
    struct th_tracee *tracee = th_tracee_expect(tracing, id);

    if (tracee)
        th_recorded_spawned(&tracing->execution, &tracee->stack);
}
