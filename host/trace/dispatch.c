/*
 * The one path that every event takes.
 *
 *   1. group and flag: is the tracee traced for such an event? Before that, who is spawned, opened
 *      or named by it gets its flags (inheritance.h).
 *   2. a process that is scheduled in: trace_status; `remove` takes the session away from it.
 *   3. enabled; or, for a return, whether its call was wanted.
 *   4. the first session that wants it has the terms decoded, into the arena that all share.
 *   5. trace.
 *
 * Up to step 4 nothing is built and nothing allocated, but for a process that is seen for the first
 * time, and once a session has discarded some calls and wanted others (discard_habit.h).
 */
#include "dispatch.h"

#include "inheritance.h"
#include "opts.h"
#include "pattern_hit.h"
#include "points.h"
#include "host/trace/recorded/recordings.h"
#include "thread.h"

static bool fill_clock(struct th_clock *clock)
{
    struct th_event_clock *self = (struct th_event_clock *)clock;
    struct th_event *event = self->event;

    if (th_event_time(event) != TH_OK || event->time.kind == TH_TIME_NONE) {
        th_error_clear(); /* whoever wants the terms will meet the damage again */
        return false;
    }
    clock->monotonic = event->time.ns;
    clock->cpu = event->time.ns;
    clock->offset = 0;
    clock->zero = th_recordings_zero(&event->time);
    clock->ready = true;
    return true;
}

static void begin(struct th_tracing *tracing, struct th_event *event)
{
    tracing->clock.clock.ready = false;
    tracing->clock.clock.fill = fill_clock;
    tracing->clock.event = event;
    th_clock_current = tracing->wall_clock ? NULL : &tracing->clock.clock;
    th_callback_current.event = event;
    th_callback_current.tracee = event->tracee;
}

static void end(struct th_tracing *tracing)
{
    th_clock_current = NULL;
    th_callback_current.event = NULL;
    th_env_clear(&tracing->arena);
    if (tracing->unsettled)
        th_tracing_settle(tracing);
}

/* Where OTP 25 acts on `remove`: not in receive and procs events, which come from outside of the
 * tracee. */
static bool can_remove(enum th_tracer_group group)
{
    return group != TH_GROUP_receive && group != TH_GROUP_procs && group != TH_GROUP_generic;
}

static void forget(struct th_way *way, struct th_session *session)
{
    if (way->event->live)
        th_traced_forget(way->event->live, session);
    else
        th_tracee_forget(way->tracing, way->event->tracee, session);
}

/* An answer that is neither trace nor discard counts as remove. */
static void take_away(struct th_way *way, struct th_session *session)
{
    if (!can_remove(way->group))
        th_session_count(session, TH_COUNTED(kept));
    else
        forget(way, session);
}

th_term th_way_question(struct th_way *way, struct th_attachment *attachment)
{
    th_term argv[] = {way->tag, attachment->state, way->tracee};
    struct th_session *session = attachment->session;
    th_term answer;

    answer = th_attachment_call(attachment, TH_SLOT_enabled + 2 * way->group, argv, TH_NONE);
    way->offered |= (uint64_t)1 << session->index;
    if (answer == TH_AM(discard)) {
        th_session_count(session, TH_COUNTED(discarded));
        way->declined |= (uint64_t)1 << session->index;
        return answer;
    }
    th_session_count(session, TH_COUNTED(enabled));
    if (answer != TH_AM(trace))
        return TH_AM(remove);
    return th_session_is_attached(session) ? answer
                                           : TH_AM(discard); /* it may have been destroyed */
}

/* Step 3. */
bool th_way_ask(struct th_way *way, struct th_attachment *attachment)
{
    th_term answer = th_way_question(way, attachment);

    if (answer == TH_AM(remove))
        take_away(way, attachment->session);
    return answer == TH_AM(trace);
}

th_env *th_way_arena(const struct th_way *way)
{
    return way->event->live ? &th_thread_own()->arena : &way->tracing->arena;
}

/* Step 4. */
bool th_way_decode(struct th_way *way)
{
    if (way->status == TH_OK)
        way->status = th_event_decode(way->event, th_way_arena(way));
    if (way->status == TH_OK)
        way->status = th_event_time(way->event);
    return way->status == TH_OK;
}

/* {M, F, Args} as {M, F, Arity}, for a session with the flag arity. */
static th_term with_arity(th_env *env, th_term call)
{
    const th_term *mfa = th_tuple_elements(call);
    size_t arity;

    if (!th_is_tuple(call) || th_tuple_arity(call) != 3 || !th_get_list_length(mfa[2], &arity))
        return call;
    return th_make_tuple_of(env, mfa[0], mfa[1], th_small((int64_t)arity));
}

/* In these groups the callback runs in the tracee itself. */
static th_term self_of(enum th_tracer_group group, th_term tracee)
{
    static const bool has_self[] = {
#define X(group, self) self,
        TH_TRACER_GROUPS(X)
#undef X
    };

    return has_self[group] && th_is_local_pid(tracee) ? tracee : TH_NONE;
}

/* Step 5. */
void th_way_hand_over(const struct th_way *way, struct th_attachment *attachment,
                      const struct th_event *event, uint32_t flags)
{
    th_env *env = th_attachment_env(attachment);
    th_term argv[5];

    argv[0] = th_tag_atom(event->tag);
    argv[1] = attachment->state;
    argv[2] = event->kind == TH_EVENT_SEQ_TRACE ? event->label : way->tracee;
    argv[3] = event->term;
    if (flags & TH_FLAG_ARITY && event->tag == TH_TAG_call)
        argv[3] = with_arity(env, event->term);
    if (event->live && event->kind == TH_EVENT_SEQ_TRACE)
        flags = TH_FLAG_AS_RECORDED; /* it is the token that says how it looks */
    argv[4] = th_opts_make(env, event, flags);
    th_session_count(attachment->session, TH_COUNTED(traced));
    th_attachment_call(attachment, TH_SLOT_trace + 2 * way->group, argv,
                       self_of(way->group, way->tracee));
}

/* A call of a silent tracee leaves no trace, nor will its return, be it silent then or not. */
static void keep_silent(struct th_way *way, struct th_session *session)
{
    th_session_count(session, TH_COUNTED(silenced));
    way->declined |= (uint64_t)1 << session->index;
}

/* A return that may not be SESSION's to see. */
static bool withholds_return(const struct th_way *way, struct th_session *session)
{
    if (way->doubtful >> session->index & 1)
        th_session_count(session, TH_COUNTED_BY_PATTERNS(returns_doubtful));
    else
        th_session_count(session, TH_COUNTED(untraced));
    return !(way->offered >> session->index & 1);
}

static void offer(struct th_way *way, const struct th_tracee_ref *ref,
                  struct th_attachment *attachment, bool gated)
{
    struct th_session *session = ref->session;

    if (way->group == TH_GROUP_call && th_session_patterned(session)) /* see pattern_hit.c */
        return;
    if (!(ref->flags & way->flag))
        th_session_count(session, TH_COUNTED(filtered));
    else if (th_message_filter_is_set(&session->messages, way->group) && !th_is_port(way->tracee) &&
             th_message_filter_offer(way, attachment))
        return; /* see message_filter.c */
    else if (!gated && way->declined >> session->index & 1 && withholds_return(way, session))
        return;
    else if (gated && !th_way_ask(way, attachment))
        return;
    else if (gated && ref->flags & TH_FLAG_SILENT && way->group == TH_GROUP_call)
        keep_silent(way, session);
    else if (th_way_decode(way))
        th_way_hand_over(way, attachment, way->event, ref->flags);
}

/* Step 2. */
static bool may_run(struct th_way *way, struct th_attachment *attachment)
{
    struct th_session *session = attachment->session;
    bool stays;

    if (way->event->tag != TH_TAG_in || way->group != TH_GROUP_running_procs)
        return true;
    stays = th_attachment_ask_status(attachment, way->tracee);
    if (!stays)
        forget(way, session);
    return stays && th_session_is_attached(session);
}

static inline const struct th_tracee_refs *refs_of(const struct th_tracing *tracing, th_term id)
{
    const struct th_process *process = th_is_immediate(id) ? th_world_see(id) : NULL;
    const struct th_tracee *tracee = process ? process->tracing : NULL;

    return tracee ? th_traced_refs(&tracee->traced) : th_found_refs(tracing, id);
}

/* Those of one that is exiting, whose exit was before; NULL: those that it has. */
static const struct th_tracee_refs *last_refs_of(const struct th_tracing *tracing, th_term id)
{
    if (tracing->departures == 0 || th_process_alive(id))
        return NULL;
    for (size_t i = 1; i <= TH_DEPARTED && i <= tracing->departures; i++) {
        const struct th_departed *departed =
            &tracing->departed[(tracing->departures - i) % TH_DEPARTED];
        if (departed->id == id)
            return atomic_load_explicit(&departed->refs, memory_order_acquire);
    }
    return NULL;
}

/* The refs that are there now serve the whole event: what replaces them counts from the next one
 * on. */
static void offer_to_all(struct th_way *way, bool gated)
{
    const struct th_tracee_refs *refs =
        way->refs ? way->refs : refs_of(way->tracing, way->event->tracee);

    for (uint32_t i = 0; i < refs->count; i++) {
        struct th_attachment *attachment;
        if (!th_session_is_attached(refs->refs[i].session))
            continue;
        attachment = th_session_attachment(refs->refs[i].session);
        if (may_run(way, attachment))
            offer(way, &refs->refs[i], attachment, gated);
    }
}

/* A call is offered; then its fate is remembered, unless it is the same as that of all before. */
static void offer_call(struct th_way *way)
{
    struct th_event *event = way->event;
    struct th_discard_habit *habit = &way->tracing->habit;
    struct th_execution_call call = {.tail = TH_UNKNOWN};

    offer_to_all(way, true);
    if (th_recorded_habit_holds(habit, way->offered, way->declined) || way->status != TH_OK)
        return;
    way->status = event->source->function(event, &call.function);
    if (way->status != TH_OK || !th_is_immediate(event->tracee))
        return;
    call.recorded = th_tracing_recorded_caller(way->tracing, event);
    th_recorded_habit_enter(&th_tracee_own(way->tracing, event->tracee)->offered, habit, &call,
                            way->offered, way->declined);
}

/* Some calls were discarded, and others not. */
static __attribute__((noinline)) void find_withheld(struct th_way *way)
{
    struct th_execution_end end = {.tag = way->event->tag};
    struct th_tracing *tracing = way->tracing;

    way->status = th_recorded_end_function(way->event, &end.function) ? TH_OK : TH_MALFORMED;
    if (way->status != TH_OK)
        return;
    way->declined = th_recorded_habit_leave(&th_tracee_own(tracing, way->event->tracee)->offered,
                                            &tracing->habit, end, &way->doubtful);
    way->offered = way->doubtful & ~way->declined;
    way->declined |= way->doubtful;
}

/* return_from, exception_from, return_to: who discarded the call does not see how it ends. */
static void offer_return(struct th_way *way)
{
    way->declined = way->tracing->habit.discarding;
    if (way->tracing->habit.broken && th_is_immediate(way->event->tracee))
        find_withheld(way);
    if (way->status == TH_OK)
        offer_to_all(way, false);
}

static th_term actor_of(struct th_event *event)
{
    th_term actor = event->source->actor(event);

    return actor == TH_NONE ? TH_AM(undefined) : actor;
}

static bool is_heeded(const struct th_tracing *tracing, const struct th_event *event)
{
    return atomic_load_explicit(&tracing->heeded, memory_order_relaxed) >> event->tag & 1;
}

/* What is neither a call nor its end. */
static void offer_other(struct th_way *way)
{
    struct th_tracing *tracing = way->tracing;
    struct th_event *event = way->event;

    if (is_heeded(tracing, event))
        th_inheritance_heed(tracing, event);
    if (event->kind == TH_EVENT_SEQ_TRACE)
        way->refs = atomic_load_explicit(&tracing->everyone, memory_order_acquire);
    else if ((event->tag >= TH_TAG_in_exiting && event->tag <= TH_TAG_out_exited) ||
             event->tag == TH_TAG_unregister)
        way->refs = last_refs_of(tracing, event->tracee);
    offer_to_all(way, true);
}

static bool is_return(const struct th_event *event)
{
    return event->tag > TH_TAG_call && event->tag <= TH_TAG_exception_from;
}

/* The sessions that have patterns come after those that have none. */
static void offer_to_patterns(struct th_way *way)
{
    if (way->event->tag == TH_TAG_call)
        th_patterns_call(way);
    else if (is_return(way->event))
        th_patterns_return(way);
    else if (way->event->tag == TH_TAG_spawned)
        th_patterns_spawned(way->tracing, way->event->tracee);
    else
        th_patterns_run(way->tracing, way->event);
    if (!way->tracing->shared &&
        atomic_load_explicit(&way->tracing->meta_ended, memory_order_relaxed))
        way->tracing->unsettled = true;
}

/* True if the event ends here: nobody wants such, and it changes nothing. Who traces a live
 * process, with whatever flag, is asked when it is scheduled in. */
static bool is_unwanted(const struct th_way *way)
{
    const struct th_tracing *tracing = way->tracing;
    bool question =
        way->event->live && way->event->tag == TH_TAG_in && way->group == TH_GROUP_running_procs;

    return !(way->flag & atomic_load_explicit(&tracing->wanted, memory_order_relaxed)) &&
           !is_heeded(tracing, way->event) && !question;
}

/* All of it is the replaying thread's. */
static void take_recorded(struct th_way *way)
{
    struct th_tracing *tracing = way->tracing;

    tracing->seen |= way->flag;
    begin(tracing, way->event);
    if (way->event->tag == TH_TAG_call)
        offer_call(way);
    else if (is_return(way->event))
        offer_return(way);
    else
        offer_other(way);
    if (atomic_load_explicit(&tracing->patterned, memory_order_relaxed))
        offer_to_patterns(way);
    end(tracing);
}

static void count_unwanted(struct th_way *way)
{
    if (way->event->live)
        return;
    way->tracing->seen |= way->flag;
    th_thread_add(&way->tracing->unwanted);
}

/* --- where other threads are --- */

/* A function that is met for the first time gets its breakpoints before the section: there they are
 * waited for. */
static void meet_function(struct th_way *way)
{
    struct th_function name;

    if (way->event->tag != TH_TAG_call ||
        !atomic_load_explicit(&way->tracing->patterned, memory_order_relaxed))
        return;
    if (way->event->source->function(way->event, &name) == TH_OK)
        th_patterns_meet(way->tracing, &name);
    else
        th_error_clear(); /* whoever wants it will meet the damage again */
}

/* In a section; calls and their ends come another way: live_call.c. */
static void take_live(struct th_way *way)
{
    struct th_event *event = way->event;

    th_callback_current.event = event;
    th_callback_current.tracee = event->tracee;
    if (event->kind == TH_EVENT_SEQ_TRACE)
        way->refs = atomic_load_explicit(&way->tracing->everyone, memory_order_acquire);
    else
        way->refs = th_traced_refs(event->live);
    offer_to_all(way, true);
    th_callback_current.event = NULL;
    th_env_clear(&th_thread_own()->arena);
}

static void take_shared(struct th_way *way)
{
    if (way->event->live && th_callback_current.attachment) {
        th_thread_add(&th_thread_own()->suppressed);
        return;
    }
    if (!way->event->live)
        meet_function(way);
    th_progress_enter();
    if (way->event->live) {
        take_live(way);
    } else {
        th_tracing_catch_up(way->tracing);
        take_recorded(way);
    }
    th_progress_leave();
}

enum th_status th_trace(struct th_tracing *tracing, struct th_event *event)
{
    struct th_way way = {.tracing = tracing, .event = event, .tracee = event->tracee};

    if (atomic_load_explicit(&tracing->attached, memory_order_relaxed) == 0)
        return TH_END;
    if (event->kind > TH_EVENT_SEQ_TRACE) /* a drop, or no trace message */
        return TH_OK;
    way.group = th_tag_group(event->tag, event->tracee);
    if (way.group == TH_GROUP_none)
        return th_error_raise(TH_MALFORMED, "a %s has no '%s' events",
                              th_is_port(event->tracee) ? "port" : "process",
                              th_atom_name(th_tag_atom(event->tag))->text);
    way.flag = th_tag_flag(event->tag, way.group);
    if (is_unwanted(&way)) {
        count_unwanted(&way);
        return TH_OK;
    }
    way.tag = th_tag_atom(event->tag);
    if (event->kind == TH_EVENT_SEQ_TRACE)
        way.tracee = actor_of(event);
    if (__builtin_expect(tracing->shared, 0))
        take_shared(&way);
    else
        take_recorded(&way);
    return way.status;
}

static void take_aside(struct th_tracing *tracing, struct th_event *event)
{
    begin(tracing, event);
    if (atomic_load_explicit(&tracing->patterned, memory_order_relaxed))
        th_patterns_aside(tracing, event);
    if (is_heeded(tracing, event))
        th_inheritance_heed(tracing, event);
    end(tracing);
}

void th_trace_aside(struct th_tracing *tracing, struct th_event *event)
{
    if (event->kind == TH_EVENT_DROP)
        th_recorded_gap(&tracing->execution);
    if (event->kind >= TH_EVENT_SEQ_TRACE ||
        th_tag_group(event->tag, event->tracee) == TH_GROUP_none)
        return;
    if (!atomic_load_explicit(&tracing->patterned, memory_order_relaxed) &&
        !is_heeded(tracing, event))
        return;
    if (tracing->shared) {
        th_progress_enter();
        th_tracing_catch_up(tracing);
    }
    take_aside(tracing, event);
    if (tracing->shared)
        th_progress_leave();
}
