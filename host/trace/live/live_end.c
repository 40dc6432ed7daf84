/* How live calls end: those who want to know are told, the latest first. */
#include "live_hit.h"

#include "host/trace/points.h"
#include "host/trace/return_request.h"

/* --- an end as an event --- */

static th_term term_of(const struct th_live_end *end, th_env *env)
{
    return end->function ? th_live_function_term(env, end->function) : TH_AM(undefined);
}

static inline th_term extra_of(const struct th_live_end *end, th_env *env)
{
    if (end->tag == TH_TAG_return_from)
        return end->value;
    return end->tag == TH_TAG_exception_from ? th_make_tuple_of(env, end->class, end->value)
                                             : TH_NONE;
}

static enum th_status decode(struct th_event *event, th_env *env)
{
    event->term = term_of(event->reader, env);
    event->extra = extra_of(event->reader, env);
    event->scheduler_id = th_live_scheduler(event);
    event->decoded = true;
    return TH_OK;
}

static enum th_status function(struct th_event *event, struct th_function *found)
{
    const struct th_live_end *end = event->reader;

    if (!end->function)
        return th_error_raise(TH_MALFORMED, "no function is returned to");
    *found = *end->function;
    return TH_OK;
}

static const struct th_event_source source = {decode, th_live_time, function, th_live_actor,
                                              th_live_whole};

void th_live_end_event(struct th_event *event, const struct th_live_end *end)
{
    th_live_event_of(event, end->tag, end->process, &source, end);
}

/* In a section, until finish(). */
static inline void start(const struct th_live_end *end)
{
    th_progress_enter();
    th_callback_current.end = end;
    th_callback_current.tracee = end->process->id;
}

static inline void finish(void)
{
    th_callback_current.end = NULL;
    th_progress_leave();
}

static inline void tell(const struct th_live_end *end, struct th_session *session, uint32_t flags)
{
    struct th_thread *thread = th_thread_own();
    th_env *env = &thread->env;

    th_live_tell(thread, th_session_attachment(session), end->process, end->tag, term_of(end, env),
                 extra_of(end, env), TH_NONE, flags);
}

static uint32_t flags_of(const struct th_live_end *end, const struct th_session *session)
{
    return th_refs_flags_quickly(th_traced_refs(&end->process->traced), session);
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

static bool is_needed(const struct th_live_end *end, uint64_t word)
{
    return word & (end->tag == TH_TAG_exception_from ? WANT_EXCEPTION : WANT_RETURN);
}

static void end_for(struct th_live_end *end, struct th_session *session, uint64_t word)
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
static void end_for_meta(struct th_live_end *end, uint64_t word)
{
    struct th_tracing *tracing = end->process->traced.tracing;
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

static void end_word(struct th_live_end *end, uint64_t word)
{
    struct th_session *session;

    if (word & WANT_TIME) {
        stop_timing(end->process, word);
        return;
    }
    session = th_session_find(end->process->traced.tracing, word >> WANT_BITS);
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

/* One session wants to know, and nothing else: which is what most are. Nothing is looked at after
 * the callback that was there before, so that no register is saved. */
static inline bool end_single(struct th_live_end *end, struct th_live_wants *wants)
{
    const uint64_t word = wants->few[0];
    struct th_session *session;

    if (__builtin_expect(wants->count != 1 || wants->capacity ||
                             word & (WANT_TIME | WANT_META | WANT_RETURN_TO),
                         0))
        return false;
    wants->count = 0;
    start(end);
    session = th_session_find(end->process->traced.tracing, word >> WANT_BITS);
    if (session && th_session_is_attached(session))
        end_for(end, session, word);
    finish();
    return true;
}

static __attribute__((noinline)) void end_each(struct th_live_end *end, struct th_live_wants *wants)
{
    start(end);
    for (uint32_t i = wants->count; i > 0; i--)
        end_word(end, words_of(wants)[i - 1]);
    finish();
    give_up(wants);
}

static inline void end_all(struct th_live_end *end, struct th_live_wants *wants)
{
    if (wants->count > 0 && !end_single(end, wants))
        end_each(end, wants);
}

void th_live_return(struct th_live_process *process, const struct th_live_function *function,
                    struct th_live_wants *wants, th_term value)
{
    struct th_live_end end = {process, &function->function.name, TH_TAG_return_from, TH_NONE,
                              value};

    end_all(&end, wants);
}

void th_live_raise(struct th_live_process *process, const struct th_live_function *function,
                   struct th_live_wants *wants, th_term class, th_term reason)
{
    struct th_live_end end = {process, &function->function.name, TH_TAG_exception_from, class,
                              reason};

    process->returning_to = 0;
    end_all(&end, wants);
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

static void tell_return_to(struct th_live_end *end, struct th_session *session)
{
    uint32_t flags = flags_of(end, session);

    if (flags & TH_FLAG_RETURN_TO && th_session_is_attached(session)) /* silent or not */
        tell(end, session, flags);
}

void th_live_return_to(struct th_live_process *process, const struct th_caller *to)
{
    uint64_t waiting = process->returning_to;
    struct th_live_end end = {process, to->kind == TH_CALLER_FUNCTION ? &to->function : NULL,
                              TH_TAG_return_to, TH_NONE, TH_NONE};

    process->returning_to = 0;
    if (!waiting || to->kind == TH_CALLER_UNKNOWN)
        return;
    start(&end);
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        struct th_session *session =
            waiting >> i & 1 ? th_tracing_at(process->traced.tracing, i) : NULL;
        if (is_meant(process, session))
            tell_return_to(&end, session);
    }
    finish();
}
