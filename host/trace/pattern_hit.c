/*
 * Patterns at work: what recorded calls do at breakpoints, and what becomes of their ends.
 *
 * In the order of a BEAM: flag `call` (a meta breakpoint: for each tracee), enabled, the match
 * specification, silent, trace. Who asked for its end is told once the stack says that the call has
 * ended. Long because: calls and their ends share what a session wanted of them.
 */
#include "pattern_hit.h"

#include "live_hit.h"
#include "points.h"
#include "surroundings.h"
#include "wants.h"

struct call_hit {
    struct th_hit hit;
    struct th_way *way;
    struct th_tracee *tracee; /* NULL: it is of another node */
};

static uint32_t flags_now(const struct th_way *way, const struct th_session *session)
{
    return th_refs_flags(th_tracee_refs(way->tracing, way->tracee), session);
}

/* Meta trace has time stamps, whatever the tracee's flags; where the session takes a recording as
 * it is, those that are there. */
static uint32_t meta_flags(const struct th_session *session)
{
    return atomic_load_explicit(&session->flags, memory_order_relaxed) & TH_FLAG_AS_RECORDED
               ? TH_FLAG_AS_RECORDED
               : TH_FLAG_TIMESTAMP;
}

static void want(const struct call_hit *call, const struct th_session *session, uint64_t what)
{
    if (what && call->tracee)
        th_execution_want(&call->way->tracing->execution, &call->tracee->stack,
                          session->id << WANT_BITS | what);
}

/* --- match specifications --- */

static struct th_match_subject subject_of(th_term call)
{
    struct th_match_subject subject = {.target = TH_NONE};
    th_term last = th_tuple_elements(call)[2];

    if (th_is_small(last))
        subject.count = (size_t)th_small_value(last);
    else
        subject.target = last;
    return subject;
}

void th_wants_count_unknown(struct th_session *session, const struct th_match_result *result)
{
    for (unsigned i = 0; i < result->callers_unknown; i++)
        th_session_count(session, TH_COUNTED_BY_PATTERNS(callers_unknown));
    for (unsigned i = 0; i < result->unsure; i++)
        th_session_count(session, TH_COUNTED_BY_PATTERNS(actions_unsure));
    if (result->end == TH_MATCH_UNKNOWN ||
        (result->end == TH_MATCH_YES && result->message == TH_NONE))
        th_session_count(session, TH_COUNTED_BY_PATTERNS(undecided));
}

/* Without a specification each call matches. False: the event is damaged. */
static bool match(const struct call_hit *call, struct th_session *session, struct th_shared *spec,
                  struct th_match_result *result)
{
    struct th_surroundings context = {call->way, session, call->tracee};
    struct th_match_surroundings surroundings = {&th_pattern_operations, &context};
    struct th_match_subject subject;

    *result = (struct th_match_result){.end = TH_MATCH_YES, .message = TH_AM(true)};
    if (!th_way_decode(call->way))
        return false;
    if (!spec)
        return true;
    subject = subject_of(call->way->event->term);
    th_match_run(((struct th_shared_spec *)spec)->spec, &subject, &surroundings,
                 &call->way->tracing->arena, result);
    th_wants_count_unknown(session, result);
    return result->end == TH_MATCH_YES;
}

/* The tracer gets the call, unless the specification says no. */
static void tell_call(const struct call_hit *call, struct th_attachment *attachment,
                      const struct th_match_result *result, uint32_t flags)
{
    struct th_event event = *call->way->event;

    if (result->message == TH_AM(false) || result->message == TH_NONE)
        return;
    event.match_spec_result = result->message;
    th_way_hand_over(call->way, attachment, &event, flags);
}

/* --- breakpoints that are hit --- */

static struct th_session *session_of(struct th_bp_session *points)
{
    struct th_session *session = ((struct th_points *)points)->session;

    return session && th_session_is_attached(session) ? session : NULL;
}

/* What th_disarm() pauses in the callbacks that come next: the breakpoint of HIT, for KINDS. */
static void callbacks_about(struct th_hit *hit, uint32_t kinds)
{
    th_callback_current.breakpoint = hit ? hit->breakpoint : NULL;
    th_callback_current.breakpoint_data = hit ? hit->data : NULL;
    th_callback_current.hit_kinds = kinds;
}

/* A global breakpoint is about external calls. */
static bool is_external(const struct call_hit *call, struct th_session *session)
{
    enum th_fact external = call->way->event->external;

    if (external == TH_UNKNOWN)
        th_session_count(session, TH_COUNTED_BY_PATTERNS(external_unknown));
    return external == TH_YES;
}

uint32_t th_patterns_hit(struct th_hit *hit, struct th_bp_session *points, struct th_shared *spec,
                         uint32_t kind)
{
    struct call_hit *call = hit->context;
    struct th_session *session = session_of(points);
    struct th_attachment *attachment;
    struct th_match_result result;
    uint32_t flags;

    if (!session || !(flags_now(call->way, session) & TH_FLAG_CALL))
        return 0;
    if (kind == TH_BP_GLOBAL && !is_external(call, session))
        return 0;
    callbacks_about(hit, kind);
    attachment = th_session_attachment(session);
    if (!th_way_ask(call->way, attachment) || !match(call, session, spec, &result))
        return 0;
    flags = flags_now(call->way, session); /* the specification may have changed them */
    if (flags & TH_FLAG_SILENT) {
        th_session_count(session, TH_COUNTED(silenced));
        return 0;
    }
    tell_call(call, attachment, &result, flags);
    want(call, session,
         th_wants_of(&result) |
             (kind == TH_BP_LOCAL && flags & TH_FLAG_RETURN_TO ? WANT_RETURN_TO : 0));
    return 0;
}

/* Who is called for a meta breakpoint: the session itself, or a tracer of its own. */
static struct th_session *meta_called(struct th_bp_session *points, struct th_shared *tracer)
{
    return tracer == &points->shared ? ((struct th_points *)points)->session
                                     : ((struct th_meta_tracer *)tracer)->session;
}

static void meta_removed(struct th_bp_session *points, struct th_shared *tracer)
{
    th_session_count(((struct th_points *)points)->session, TH_COUNTED_BY_PATTERNS(meta_removed));
    if (tracer != &points->shared)
        th_session_count(meta_called(points, tracer), TH_COUNTED(removed));
}

static uint32_t hit_meta(struct th_hit *hit, struct th_bp_session *points, struct th_shared *spec,
                         struct th_shared *tracer)
{
    struct call_hit *call = hit->context;
    struct th_session *session = session_of(points), *called;
    struct th_attachment *attachment;
    struct th_match_result result;
    th_term answer;
    uint64_t wanted;

    if (!session)
        return 0;
    called = meta_called(points, tracer);
    if (!th_session_is_attached(called))
        return TH_HIT_REMOVE;
    if (!call)
        return th_live_hit_meta(hit, session, called, spec);
    callbacks_about(hit, TH_BP_META);
    attachment = th_session_attachment(called);
    answer = th_way_question(call->way, attachment);
    if (answer == TH_AM(remove))
        return TH_HIT_REMOVE;
    if (answer != TH_AM(trace) || !th_session_is_attached(session) ||
        !match(call, session, spec, &result))
        return 0;
    tell_call(call, attachment, &result, meta_flags(session));
    wanted = th_wants_of(&result);
    want(call, called, wanted ? wanted | WANT_META : 0);
    return 0;
}

static struct th_account *hit_account(struct th_hit *hit, struct th_bp_session *points,
                                      struct th_account_reading *reading)
{
    struct call_hit *call = hit->context;
    struct th_session *session = session_of(points);

    if (!call)
        return th_live_hit_account(hit, points, reading);
    if (!session || !call->tracee || !(flags_now(call->way, session) & TH_FLAG_CALL))
        return NULL;
    if (!th_timing_read(call->way->event, reading)) {
        th_session_count(session, TH_COUNTED_BY_PATTERNS(untimed));
        return NULL;
    }
    return th_timing_account(&call->tracee->timing, session);
}

static void hit_entered(struct th_hit *hit, struct th_bp_session *points,
                        const struct th_account_frame *frame)
{
    struct call_hit *call = hit->context;
    uint32_t number;

    if (!call) {
        th_live_hit_entered(hit, points, frame);
        return;
    }
    number = th_timing_enter(&call->tracee->timing, session_of(points), frame);
    if (number != UINT32_MAX)
        th_execution_want(&call->way->tracing->execution, &call->tracee->stack,
                          (uint64_t)number << WANT_BITS | WANT_TIME);
}

const struct th_bp_hooks th_pattern_hooks = {
    .call = th_live_hit_call, /* which hands on what is recorded */
    .meta = hit_meta,
    .account = hit_account,
    .entered = hit_entered,
    .meta_removed = meta_removed,
};

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
static void end_for(const struct returning *returning, struct th_session *session,
                    enum th_ending ending, const struct th_function *function, uint64_t word)
{
    uint64_t need = ending == TH_ENDED_RAISED ? WANT_EXCEPTION : WANT_RETURN;
    uint32_t flags;

    if (word & WANT_RETURN_TO)
        returning->tracee->returning_to |= (uint64_t)1 << session->index;
    if (!(word & need))
        return;
    flags = word & WANT_META ? meta_flags(session) : flags_now(returning->way, session);
    if (ending == TH_ENDED_UNTOLD)
        th_session_count(session, TH_COUNTED_BY_PATTERNS(returns_unknown));
    else if (word & WANT_META || flags & TH_FLAG_CALL) /* silent or not, as the call was told */
        tell_end(returning->way, session, function, flags);
    else
        th_session_count(session, TH_COUNTED(untraced));
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
    else if (ending == TH_ENDED_UNTOLD)
        th_session_count(owner, TH_COUNTED_BY_PATTERNS(returns_unknown));
    else
        tell_end(returning->way, called, function, meta_flags(owner));
}

static void ended(void *context, enum th_ending ending, const struct th_function *function,
                  uint64_t word)
{
    struct returning *returning = context;
    struct th_session *session = NULL;

    if (word & WANT_TIME) {
        stop_timing(returning, word);
        return;
    }
    if (!returning->way)
        return;
    session = th_session_find(returning->tracing, word >> WANT_BITS);
    if (session && th_session_is_attached(session))
        end_for(returning, session, ending, function, word);
    else if (!session && word & WANT_META)
        end_for_meta(returning, ending, function, word);
}

/* --- return_to --- */

/* Those who wait are told that control came back to TO. */
static void tell_return_to(struct th_way *way, struct th_tracee *tracee, const struct th_caller *to)
{
    uint64_t waiting = tracee->returning_to;
    struct th_event event;

    tracee->returning_to = 0;
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
        uint32_t flags = waiting >> i & 1 && session ? flags_now(way, session) : 0;
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

static struct th_caller recorded_caller(struct th_tracing *tracing, struct th_event *event)
{
    if (tracing->recorded_callers && th_event_decode(event, &tracing->arena) == TH_OK)
        return th_execution_recorded_caller(event->match_spec_result);
    return (struct th_caller){.kind = TH_CALLER_UNKNOWN};
}

static void enter(struct th_tracing *tracing, struct th_tracee *tracee, struct th_event *event,
                  const struct th_function *name)
{
    struct th_execution_call call = {*name, event->tail, recorded_caller(tracing, event)};

    th_error_clear(); /* whoever wants the terms will meet the damage again */
    if (tracee)
        th_execution_enter(&tracing->execution, &tracee->stack, &call);
}

void th_patterns_call(struct th_way *way)
{
    struct call_hit call = {.hit = {.kinds = TH_BP_ALL & ~TH_BP_MEMORY}, .way = way};
    struct th_event *event = way->event;
    struct th_traced_function *function;
    struct th_function name;

    if (way->status == TH_OK)
        way->status = event->source->function(event, &name);
    if (way->status != TH_OK)
        return;
    call.hit.context = &call;
    call.tracee = tracee_of(way->tracing, event);
    if (call.tracee)
        tell_return_to(way, call.tracee, &call.tracee->returned_to);
    enter(way->tracing, call.tracee, event, &name);
    function = th_patterns_meet(way->tracing, &name);
    if (!__atomic_load_n(&function->called, __ATOMIC_RELAXED))
        __atomic_store_n(&function->called, true, __ATOMIC_RELAXED);
    if (th_site_is_armed(function->site)) {
        th_breakpoint_hit(function->site, &call.hit);
        callbacks_about(NULL, 0);
    }
}

/* --- returns --- */

/* The function of an end; that of a return_to may be no function, as the process ends. */
static bool function_of(struct th_event *event, struct th_caller *function)
{
    function->kind = TH_CALLER_FUNCTION;
    if (event->source->function(event, &function->function) == TH_OK)
        return true;
    function->kind = TH_CALLER_UNDEFINED;
    if (event->tag == TH_TAG_return_to)
        th_error_clear();
    return event->tag == TH_TAG_return_to;
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
    struct th_caller to;

    if (way->status != TH_OK || !returning.tracee)
        return;
    if (!function_of(way->event, &end.function)) {
        way->status = TH_MALFORMED;
        return;
    }
    if (end.tag == TH_TAG_return_from && returning.tracee->returned_to.kind != TH_CALLER_UNKNOWN)
        tell_return_to(way, returning.tracee, &returning.tracee->returned_to);
    if (end.tag == TH_TAG_exception_from) /* only the call counts that is nearest to who catches */
        returning.tracee->returning_to = 0;
    to = th_execution_leave(&way->tracing->execution, &returning.tracee->stack, &end);
    came_back(way, returning.tracee, end.tag == TH_TAG_return_to ? &end.function : &to);
}

/* --- what nobody gets, and what is no call --- */

static void leave_aside(struct th_tracing *tracing, struct th_tracee *tracee,
                        struct th_event *event)
{
    struct returning returning = {NULL, tracing, event, tracee};
    struct th_execution_end end = {.tag = event->tag, .ended = ended, .context = &returning};

    if (function_of(event, &end.function))
        th_execution_leave(&tracing->execution, &tracee->stack, &end);
    tracee->returning_to = 0;
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
        th_execution_spawned(&tracing->execution, &tracee->stack);
}
