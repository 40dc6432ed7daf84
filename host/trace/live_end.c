/* How live calls end: those who want to know are told, the latest first. */
#include "live_hit.h"

#include "points.h"
#include "thread.h"
#include "wants.h"

/* An end as an event. */
struct live_end {
    struct th_event event; /* the first member */
    struct th_live_process *process;
    const struct th_function *function; /* NULL: none is returned to */
    th_term class, value;               /* of an exception_from; of a return_from the value */
    struct th_way way;
};

static enum th_status decode(struct th_event *event, th_env *env)
{
    struct live_end *end = (struct live_end *)event;

    event->term = end->function ? th_live_function_term(env, end->function) : TH_AM(undefined);
    if (event->tag == TH_TAG_return_from)
        event->extra = end->value;
    else if (event->tag == TH_TAG_exception_from)
        event->extra = th_make_tuple_of(env, end->class, end->value);
    event->scheduler_id = th_live_scheduler(event);
    event->decoded = true;
    return TH_OK;
}

static enum th_status function(struct th_event *event, struct th_function *found)
{
    struct live_end *end = (struct live_end *)event;

    if (!end->function)
        return th_error_raise(TH_MALFORMED, "no function is returned to");
    *found = *end->function;
    return TH_OK;
}

static const struct th_event_source source = {decode, th_live_time, function, th_live_actor,
                                              th_live_whole};

/* In a section, until finish(). */
static void start(struct live_end *end, enum th_tracer_tag tag)
{
    struct th_event *event = &end->event;

    th_event_begin(event, TH_EVENT_TRACE);
    event->tag = tag;
    event->tracee = end->process->id;
    event->number = event->position = 0;
    event->source = &source;
    event->reader = NULL;
    event->live = &end->process->traced;
    th_progress_enter();
    th_live_way(&end->way, event, end->process);
    th_callback_current.event = event;
    th_callback_current.tracee = event->tracee;
}

static void finish(void)
{
    th_callback_current.event = NULL;
    th_env_clear(&th_thread_own()->arena);
    th_progress_leave();
}

static void tell(struct live_end *end, struct th_session *session, uint32_t flags)
{
    if (th_way_decode(&end->way))
        th_way_hand_over(&end->way, session, &end->event, flags);
}

static uint32_t flags_of(const struct live_end *end, const struct th_session *session)
{
    return th_refs_flags(th_traced_refs(&end->process->traced), session);
}

/* --- returns and exceptions --- */

/* Whose bit is set stays the same session as long as no more are created than are now. */
static void note_returning(struct th_live_process *process, const struct th_session *session)
{
    if (!process->returning_to)
        process->returning_before =
            atomic_load_explicit(&session->tracing->created, memory_order_relaxed) + 1;
    process->returning_to |= (uint64_t)1 << session->index;
}

static bool is_needed(const struct live_end *end, uint64_t word)
{
    return word & (end->event.tag == TH_TAG_exception_from ? WANT_EXCEPTION : WANT_RETURN);
}

static void end_for(struct live_end *end, struct th_session *session, uint64_t word)
{
    uint32_t flags = TH_FLAG_TIMESTAMP;

    if (word & WANT_RETURN_TO)
        note_returning(end->process, session);
    if (!is_needed(end, word))
        return;
    if (!(word & WANT_META))
        flags = flags_of(end, session);
    if (word & WANT_META || flags & TH_FLAG_CALL) /* silent or not, as the call was told */
        tell(end, session, flags);
    else
        th_session_count(session, TH_COUNTED(untraced));
}

/* The same of a meta tracer that is not the session's own, and may be gone. */
static void end_for_meta(struct live_end *end, uint64_t word)
{
    struct th_tracing *tracing = end->way.tracing;
    struct th_session *owner, *called;

    if (!is_needed(end, word))
        return;
    called = th_meta_tracer_find(tracing, word >> WANT_BITS, &owner);
    if (called)
        tell(end, called, TH_FLAG_TIMESTAMP);
    else
        th_meta_tracer_untold(tracing, word >> WANT_BITS);
}

static void stop_timing(struct th_live_process *process, uint64_t word)
{
    struct th_account_reading reading;

    th_live_read(process, &reading);
    th_timing_leave(&process->timing, process->traced.tracing, (uint32_t)(word >> WANT_BITS),
                    &reading);
}

static void end_word(struct live_end *end, uint64_t word)
{
    struct th_session *session;

    if (word & WANT_TIME) {
        stop_timing(end->process, word);
        return;
    }
    session = th_session_find(end->way.tracing, word >> WANT_BITS);
    if (session && th_session_is_attached(session))
        end_for(end, session, word);
    else if (!session && word & WANT_META)
        end_for_meta(end, word);
}

static const uint64_t *words_of(const struct th_live_wants *wants)
{
    return wants->capacity ? wants->many : wants->few;
}

static void give_up(struct th_live_wants *wants)
{
    if (wants->capacity)
        th_free(wants->many);
    wants->count = wants->capacity = 0;
}

static void end_all(struct live_end *end, struct th_live_wants *wants, enum th_tracer_tag tag)
{
    if (wants->count == 0)
        return;
    start(end, tag);
    for (uint32_t i = wants->count; i > 0; i--)
        end_word(end, words_of(wants)[i - 1]);
    finish();
    give_up(wants);
}

void th_live_return(struct th_live_process *process, const struct th_live_function *function,
                    struct th_live_wants *wants, th_term value)
{
    struct live_end end;

    end.process = process;
    end.function = &function->function.name;
    end.value = value;
    end_all(&end, wants, TH_TAG_return_from);
}

void th_live_raise(struct th_live_process *process, const struct th_live_function *function,
                   struct th_live_wants *wants, th_term class, th_term reason)
{
    struct live_end end;

    process->returning_to = 0;
    end.process = process;
    end.function = &function->function.name;
    end.class = class;
    end.value = reason;
    end_all(&end, wants, TH_TAG_exception_from);
}

void th_live_drop(struct th_live_process *process, struct th_live_wants *wants)
{
    th_progress_enter();
    for (uint32_t i = wants->count; i > 0; i--)
        if (words_of(wants)[i - 1] & WANT_TIME)
            stop_timing(process, words_of(wants)[i - 1]);
    th_progress_leave();
    give_up(wants);
}

/* --- return_to --- */

static bool is_meant(const struct th_live_process *process, const struct th_session *session)
{
    return session && session->id / TH_SESSIONS_LIMIT < process->returning_before;
}

static void tell_return_to(struct live_end *end, struct th_session *session)
{
    uint32_t flags = flags_of(end, session);

    if (flags & TH_FLAG_RETURN_TO && th_session_is_attached(session)) /* silent or not */
        tell(end, session, flags);
}

void th_live_return_to(struct th_live_process *process, const struct th_caller *to)
{
    uint64_t waiting = process->returning_to;
    struct live_end end;

    process->returning_to = 0;
    if (!waiting || to->kind == TH_CALLER_UNKNOWN)
        return;
    end.process = process;
    end.function = to->kind == TH_CALLER_FUNCTION ? &to->function : NULL;
    start(&end, TH_TAG_return_to);
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        struct th_session *session =
            waiting >> i & 1 ? th_tracing_at(process->traced.tracing, i) : NULL;
        if (is_meant(process, session))
            tell_return_to(&end, session);
    }
    finish();
}
