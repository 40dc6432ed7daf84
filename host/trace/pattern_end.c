/*
 * Patterns at work: what recorded calls and their ends do to the stack of their process.
 *
 * A call is entered and meets its breakpoints (pattern_hit.c), which leave on the stack what is
 * wanted of its end. An end is delivered once the stack says that the call has ended; a return_to
 * once it is known where control came back to.
 */
#include "dispatch.h"

#include "delivery.h"

/* --- the deliveries of ends ------------------------------------------------------------------- */

static th_term term_of(th_env *env, const struct th_mfa *name)
{
    return name ? th_make_tuple_of(env, name->module, name->function, th_small(name->arity))
                : TH_AM(undefined);
}

static void fill_end(struct th_delivery *delivery, th_env *env, th_term message, uint32_t flags)
{
    const struct th_dispatch *dispatch = th_trace_dispatch_of(delivery);
    const struct th_event *event = dispatch->event;

    (void)message;
    delivery->argv[0] = th_trace_tag_atom(event->tag);
    delivery->argv[2] = dispatch->tracee;
    delivery->argv[3] = term_of(env, dispatch->function);
    delivery->argv[4] =
        th_trace_opts_make(env, event, event->extra, event->match_spec_result, flags);
}

/* The event at hand is whatever came next, or the return that is one to a known function. */
static void fill_return_to(struct th_delivery *delivery, th_env *env, th_term message,
                           uint32_t flags)
{
    const struct th_dispatch *dispatch = th_trace_dispatch_of(delivery);

    (void)message;
    delivery->argv[0] = TH_AM(return_to);
    delivery->argv[2] = dispatch->tracee;
    delivery->argv[3] = term_of(env, dispatch->function);
    delivery->argv[4] = th_trace_opts_make(env, dispatch->event, TH_NONE, TH_NONE, flags);
}

static void returns_to(struct th_delivery *delivery, struct th_session *session)
{
    th_trace_dispatch_of(delivery)->waiting |= (uint64_t)1 << session->index;
}

static const struct th_delivery_source end_source = {
    .group = TH_GROUP_call,
    .decode = th_trace_dispatch_decode,
    .flags = th_trace_dispatch_flags,
    .meta_flags = th_trace_pattern_meta_flags,
    .fill = fill_end,
    .returns_to = returns_to,
};

static const struct th_delivery_source return_to_source = {
    .group = TH_GROUP_call,
    .flags = th_trace_dispatch_flags,
    .fill = fill_return_to,
};

/* --- ends ------------------------------------------------------------------------------------- */

struct returning {
    struct th_dispatch *dispatch; /* NULL: nobody gets it */
    struct th_tracing *tracing;
    struct th_event *event;
    struct th_recorded_tracee *tracee;
};

static void stop_timing(const struct returning *returning, uint64_t word)
{
    struct th_account_reading reading;

    if (!th_trace_timing_read(returning->event, &reading))
        return; /* it goes with the next one that ends below it */
    th_trace_timing_leave(&returning->tracee->timing, returning->tracing,
                          (uint32_t)(word >> TH_REQUEST_BITS), &reading);
}

/* A call has ended for which WORD was kept. */
static uint64_t ended(void *context, enum th_ending ending, const struct th_mfa *function,
                      uint64_t word)
{
    struct returning *returning = context;
    struct th_dispatch *dispatch = returning->dispatch;

    if (word & TH_REQUEST_TIME)
        stop_timing(returning, word);
    if (word & TH_REQUEST_TIME || !dispatch)
        return 0;
    dispatch->function = function;
    dispatch->waiting = 0;
    th_trace_deliver_end(&dispatch->delivery, &end_source, dispatch->tracing, word,
                         ending == TH_ENDED_RAISED, ending >= TH_ENDED_UNTOLD);
    return dispatch->waiting;
}

/* --- return_to -------------------------------------------------------------------------------- */

/* Control came back to TO, for those who wait for that. */
static void send_return_to(struct th_dispatch *dispatch, struct th_recorded_tracee *tracee,
                           const struct th_caller *to)
{
    uint64_t waiting = tracee->stack.sessions.due;

    tracee->stack.sessions.due = 0;
    if (!waiting || to->kind == TH_CALLER_UNKNOWN || !th_trace_dispatch_decode(&dispatch->delivery))
        return;
    dispatch->function = to->kind == TH_CALLER_FUNCTION ? &to->function : NULL;
    th_trace_deliver_return_to(&dispatch->delivery, &return_to_source, dispatch->tracing, waiting,
                               UINT64_MAX);
}

/* --- calls --- */

/* The stack of the event's process, which it is on now; NULL if that is of another node. */
static struct th_recorded_tracee *tracee_of(struct th_tracing *tracing,
                                            const struct th_event *event)
{
    return th_is_immediate(event->tracee) ? th_trace_tracee_own(tracing, event->tracee) : NULL;
}

static void enter(struct th_tracing *tracing, struct th_recorded_tracee *tracee,
                  struct th_event *event, const struct th_mfa *name)
{
    struct th_recorded_call call = {*name, event->tail, th_trace_recorded_caller(tracing, event)};

    if (tracee)
        th_recorded_enter(&tracing->execution, &tracee->stack, &call);
}

void th_trace_patterns_call(struct th_dispatch *dispatch)
{
    struct th_event *event = dispatch->event;
    struct th_function_sites *function;
    struct th_recorded_tracee *tracee;
    struct th_mfa name;

    if (dispatch->status == TH_OK)
        dispatch->status = event->source->function(event, &name);
    if (dispatch->status != TH_OK)
        return;
    tracee = tracee_of(dispatch->tracing, event);
    if (tracee)
        send_return_to(dispatch, tracee, &tracee->returned_to);
    enter(dispatch->tracing, tracee, event, &name);
    function = th_trace_patterns_meet(dispatch->tracing, &name);
    if (!atomic_load_explicit(&function->called, memory_order_relaxed))
        atomic_store_explicit(&function->called, true, memory_order_relaxed);
    if (th_breakpoint_site_is_armed(function->site))
        th_trace_patterns_hit_site(dispatch, tracee, function->site);
}

/* --- returns --- */

static void count_doubtful(const struct th_tracing *tracing, uint64_t sessions)
{
    for (size_t i = 0; sessions; i++, sessions >>= 1) {
        struct th_session *session = sessions & 1 ? th_trace_at(tracing, i) : NULL;
        if (session && th_trace_session_is_attached(session))
            th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(returns_doubtful));
    }
}

/* An exception may go on: who catches it is known with what comes next. */
static void came_back(struct th_dispatch *dispatch, struct th_recorded_tracee *tracee,
                      const struct th_caller *to)
{
    tracee->returned_to = *to;
    if (dispatch->event->tag == TH_TAG_return_to ||
        (dispatch->event->tag == TH_TAG_return_from && to->kind != TH_CALLER_UNKNOWN))
        send_return_to(dispatch, tracee, to);
}

void th_trace_patterns_return(struct th_dispatch *dispatch)
{
    struct returning returning = {dispatch, dispatch->tracing, dispatch->event,
                                  tracee_of(dispatch->tracing, dispatch->event)};
    struct th_execution_end end = {
        .tag = dispatch->event->tag, .ended = ended, .context = &returning};
    struct th_execution_left left;

    if (dispatch->status != TH_OK || !returning.tracee)
        return;
    if (!th_recorded_end_function(dispatch->event, &end.function)) {
        dispatch->status = TH_MALFORMED;
        return;
    }
    if (end.tag == TH_TAG_return_from && returning.tracee->returned_to.kind != TH_CALLER_UNKNOWN)
        send_return_to(dispatch, returning.tracee, &returning.tracee->returned_to);
    left = th_recorded_leave(&dispatch->tracing->execution, &returning.tracee->stack, &end);
    count_doubtful(dispatch->tracing, left.doubtful);
    came_back(dispatch, returning.tracee, end.tag == TH_TAG_return_to ? &end.function : &left.to);
}

/* --- what nobody gets, and what is no call --- */

static void leave_aside(struct th_tracing *tracing, struct th_recorded_tracee *tracee,
                        struct th_event *event)
{
    struct returning returning = {NULL, tracing, event, tracee};
    struct th_execution_end end = {.tag = event->tag, .ended = ended, .context = &returning};

    if (th_recorded_end_function(event, &end.function))
        th_recorded_leave(&tracing->execution, &tracee->stack, &end);
    tracee->stack.sessions.due = 0;
}

void th_trace_patterns_aside(struct th_tracing *tracing, struct th_event *event)
{
    struct th_recorded_tracee *tracee;
    struct th_mfa name;

    th_trace_patterns_run(tracing, event);
    if (event->tag == TH_TAG_spawned)
        th_trace_patterns_spawned(tracing, event->tracee);
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

void th_trace_patterns_run(struct th_tracing *tracing, struct th_event *event)
{
    bool begins = event->tag == TH_TAG_in;
    bool stops = event->tag == TH_TAG_out || event->tag == TH_TAG_exit;
    struct th_recorded_tracee *tracee =
        begins || stops ? th_trace_tracee_find(event->tracee) : NULL;
    struct th_account_reading reading;

    if (!tracee || !tracee->timing.account_count || !th_trace_timing_read(event, &reading))
        return;
    if (begins)
        th_trace_timing_resume(&tracee->timing, &reading);
    else
        th_trace_timing_pause(&tracee->timing, tracing, &reading);
}

void th_trace_patterns_spawned(struct th_tracing *tracing, th_term id)
{
    struct th_recorded_tracee *tracee = th_trace_tracee_expect(tracing, id);

    if (tracee)
        th_recorded_spawned(&tracing->execution, &tracee->stack);
}
