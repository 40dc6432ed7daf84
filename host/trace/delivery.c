/* Delivers events and calls: the less common cases of delivery.h, and the options map. */
#include "delivery.h"

const struct th_match_result th_trace_delivery_matched = {.end = TH_MATCH_YES,
                                                          .message = TH_AM(true)};

/* --- Step 3: the specification ---------------------------------------------------------------- */

/* Returns the session that has set the specification, and counts its results. */
static struct th_session *matching(const struct th_delivery *delivery,
                                   const struct th_delivery_source *source)
{
    return source->meta ? delivery->owner : delivery->attachment->session;
}

static bool is_undecided(const struct th_match_result *result)
{
    return result->end == TH_MATCH_UNKNOWN ||
           (result->end == TH_MATCH_YES && result->message == TH_NONE);
}

static void delivery_run(struct th_delivery *delivery, const struct th_delivery_source *source,
                         struct th_match_result *result)
{
    struct th_match_subject subject = source->subject(delivery);
    struct th_match_context context;

    source->context(delivery, &context);
    context.session = matching(delivery, source);
    th_trace_match_context_run(&context, delivery->spec->spec, &subject, result);
}

/* Matches a call. Returns ROOM, or a constant result; NULL: the call is damaged. */
static const struct th_match_result *match(struct th_delivery *delivery,
                                           const struct th_delivery_source *source,
                                           struct th_match_result *room)
{
    struct th_session *session = matching(delivery, source);

    if (source->subject && source->decode && !source->decode(delivery))
        return NULL;
    if (!source->subject || !delivery->spec)
        return &th_trace_delivery_matched;
    if (source->in_thread) { /* all arguments are known */
        struct th_match_subject subject = source->subject(delivery);
        const struct th_match_result *result =
            th_match_quickly(delivery->spec->spec, subject.arguments, subject.count);
        if (result)
            return result;
    }
    delivery_run(delivery, source, room);
    for (unsigned i = 0; i < room->callers_unknown; i++)
        th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(callers_unknown));
    for (unsigned i = 0; i < room->unsure; i++)
        th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(actions_unsure));
    if (is_undecided(room))
        th_trace_session_count(session, TH_COUNTED_BY_PATTERNS(undecided));
    return room;
}

/* The specification may have changed the flags. If the specification cleared the flag for such
 * events, the change applies from the next event on; but a tracee without any flag is skipped at
 * once. */
bool th_trace_delivery_match_first(struct th_delivery *delivery,
                                   const struct th_delivery_source *source)
{
    struct th_session *session = delivery->attachment->session;
    struct th_match_result *result = &delivery->matched;

    if (!delivery->spec->spec) {
        th_trace_session_count(session, TH_COUNTED_OF_MESSAGES(unmatched));
        return false;
    }
    if (!source->decode(delivery))
        return false;
    delivery_run(delivery, source, result);
    for (unsigned i = 0; i < result->unsure; i++)
        th_trace_session_count(session, TH_COUNTED_OF_MESSAGES(actions_unsure));
    if (is_undecided(result)) {
        th_trace_session_count(session, TH_COUNTED_OF_MESSAGES(undecided));
        return false;
    }
    if (result->end == TH_MATCH_NO || result->message == TH_AM(false)) {
        th_trace_session_count(session, TH_COUNTED_OF_MESSAGES(unmatched));
        return false;
    }
    delivery->flags = source->flags(delivery);
    if (delivery->flags & TH_FLAG_SILENT) {
        th_trace_session_count(session, TH_COUNTED_OF_MESSAGES(silenced));
        return false;
    }
    return delivery->flags != 0;
}

/* --- Steps 3 to 6 ----------------------------------------------------------------------------- */

enum th_delivery_outcome th_trace_delivery_decide(struct th_delivery *delivery,
                                                  const struct th_delivery_source *source,
                                                  th_term answer)
{
    struct th_session *session = delivery->attachment->session;
    enum th_tracer_group group = th_trace_delivery_group(delivery, source);
    enum th_delivery_outcome outcome = TH_DELIVERY_OVER;
    const struct th_match_result *result = NULL;
    struct th_match_result room;
    uint32_t flags;

    th_trace_delivery_count(delivery, source, TH_COUNTED(enabled));
    /* Step 2. A meta breakpoint is not for one tracee: the breakpoint's hook removes the tracer.
     * OTP 25 ignores `remove` for receive and procs events, which come from outside of the
     * tracee. */
    if (answer != TH_AM(trace)) {
        if (!source->meta && group != TH_GROUP_receive && group != TH_GROUP_procs &&
            group != TH_GROUP_generic)
            source->forget(delivery, session);
        else if (!source->meta)
            th_trace_session_count(session, TH_COUNTED(kept));
        return TH_DELIVERY_REMOVED;
    }
    if (!th_trace_session_is_attached(session) ||
        (source->meta && !th_trace_session_is_attached(delivery->owner)))
        return outcome; /* may have been destroyed */
    if (source->is_message)
        th_trace_delivery_send(delivery, source, delivery->matched.message, delivery->flags);
    else
        result = match(delivery, source, &room);
    if (result && result->end == TH_MATCH_YES) {
        flags = source->flags ? source->flags(delivery) : delivery->flags;
        if (flags & TH_FLAG_SILENT && group == TH_GROUP_call) {
            th_trace_session_count(session, TH_COUNTED(silenced));
            outcome = TH_DELIVERY_SILENCED;
        } else {
            th_trace_delivery_accept(delivery, source, result, result->message, flags);
        }
    }
    if (source->in_thread)
        th_env_clear(&th_self.trace_thread->arena);
    return outcome;
}

/* --- Ends of calls at breakpoints ------------------------------------------------------------- */

void th_trace_deliver_return_to(struct th_delivery *delivery,
                                const struct th_delivery_source *source,
                                const struct th_tracing *tracing, uint64_t waiting, uint64_t before)
{
    for (size_t i = 0; i < TH_SESSIONS_LIMIT; i++) {
        struct th_session *session = waiting >> i & 1 ? th_trace_at(tracing, i) : NULL;
        uint32_t flags;
        if (!session || session->id / TH_SESSIONS_LIMIT >= before)
            continue;
        th_trace_delivery_address(delivery, th_trace_session_attachment(session));
        flags = source->flags(delivery);
        if (flags & TH_FLAG_RETURN_TO && th_trace_session_is_attached(session))
            th_trace_delivery_send(delivery, source, TH_AM(true), flags);
    }
}

/* --- Steps 2 and 6: the call ------------------------------------------------------------------ */

static inline th_term delivery_call(struct th_attachment *attachment, th_env *env,
                                    enum th_tracer_slot slot, const th_term argv[], th_term self)
{
    th_term answer;

    env->self = self;
    th_self.reported += slot % 2;
    answer = th_trace_attachment_enter(attachment, env, slot, argv);
    if (env->exception != TH_NONE)
        answer = TH_NONE;
    th_env_clear(env);
    th_resource_reap(); /* frees resources that the callback has released */
    return answer;
}

/* Calls in the thread's environment; in a new one if a callback is using that. */
static __attribute__((noinline)) th_term call_shared(struct th_attachment *attachment,
                                                     enum th_tracer_slot slot, const th_term argv[],
                                                     th_term self)
{
    struct th_trace_thread *thread = th_trace_thread_own();
    th_env nested;
    th_term answer;

    if (!th_self.attachment) {
        thread->env.library = attachment->library;
        return delivery_call(attachment, &thread->env, slot, argv, self);
    }
    th_env_init(&nested, TH_ENV_CALLBACK);
    nested.library = attachment->library;
    answer = delivery_call(attachment, &nested, slot, argv, self);
    th_env_release(&nested);
    return answer;
}

th_term th_trace_attachment_call(struct th_attachment *attachment, enum th_tracer_slot slot,
                                 const th_term argv[], th_term self)
{
    if (__builtin_expect(attachment->session->shared, 0))
        return call_shared(attachment, slot, argv, self);
    return delivery_call(attachment, &attachment->env, slot, argv, self);
}

th_env *th_trace_attachment_env(struct th_attachment *attachment)
{
    return attachment->session->shared ? &th_trace_thread_own()->env : &attachment->env;
}

/* --- The options map -------------------------------------------------------------------------- */

/* The words of #{} and of #{timestamp => KIND}, in the layout of term/word.h. */
th_term th_trace_opts_empty[] = {(th_term)1 << 6 | TH_MAP, 0};

#define STAMP_MAP(kind)                                            \
    {                                                              \
        (th_term)3 << 6 | TH_MAP, 1, TH_AM(timestamp), TH_AM(kind) \
    }
th_term th_trace_opts_stamps[][4] = {
    [TH_TIME_TIMESTAMP] = STAMP_MAP(timestamp),
    [TH_TIME_CPU] = STAMP_MAP(cpu_timestamp),
    [TH_TIME_MONOTONIC] = STAMP_MAP(monotonic),
    [TH_TIME_STRICT_MONOTONIC] = STAMP_MAP(strict_monotonic),
};

/* Returns the kind of time for FLAGS, in the BEAM's order of precedence, or RECORDED. */
static enum th_time_kind wanted_time(enum th_time_kind recorded, uint32_t flags)
{
    if (flags & TH_FLAG_AS_RECORDED)
        return recorded;
    if (flags & TH_FLAG_TIMESTAMP)
        return TH_TIME_TIMESTAMP;
    if (flags & TH_FLAG_STRICT_MONOTONIC)
        return TH_TIME_STRICT_MONOTONIC;
    if (flags & TH_FLAG_MONOTONIC)
        return TH_TIME_MONOTONIC;
    return flags & TH_FLAG_CPU_TIMESTAMP ? TH_TIME_CPU : TH_TIME_NONE;
}

th_term th_trace_opts_make(th_env *env, th_term extra, th_term result, th_term scheduler_id,
                           enum th_time_kind recorded, uint32_t flags)
{
    enum th_time_kind time = wanted_time(recorded, flags);
    th_term *words, *key, *value;
    size_t count;

    if (result == TH_AM(true))
        result = TH_NONE;
    if (!(flags & (TH_FLAG_SCHEDULER_ID | TH_FLAG_AS_RECORDED)))
        scheduler_id = TH_NONE;
    count = (extra != TH_NONE) + (result != TH_NONE) + (size_t)(scheduler_id != TH_NONE);
    if (count == 0)
        return th_boxed(time == TH_TIME_NONE ? th_trace_opts_empty : th_trace_opts_stamps[time]);
    count += time != TH_TIME_NONE;

    /* By ascending keys. */
    words = th_env_take(env, 2 + 2 * count);
    words[0] = th_header(TH_MAP, 1 + 2 * count);
    words[1] = count;
    key = words + 2;
    value = key + count;
    if (extra != TH_NONE)
        *key++ = TH_AM(extra), *value++ = extra;
    if (result != TH_NONE)
        *key++ = TH_AM(match_spec_result), *value++ = result;
    if (scheduler_id != TH_NONE)
        *key++ = TH_AM(scheduler_id), *value++ = scheduler_id;
    if (time != TH_TIME_NONE)
        *key = TH_AM(timestamp), *value = th_trace_opts_stamps[time][3];
    return th_boxed(words);
}
