/* Delivers the ends of live calls to the sessions with requests, the latest request first. */
#include "live_delivery.h"

/* --- deliveries of ends --- */

/* Begins a section, up to live_end_finish(). */
struct live_end {
    struct th_delivery delivery; /* first member */
    const struct th_live_end *end;
    struct th_callback_subject subject;
};

static const struct th_live_end *end_of(const struct th_delivery *delivery)
{
    return ((const struct live_end *)delivery)->end;
}

static inline void live_end_start(struct live_end *live, const struct th_live_end *end)
{
    th_progress_enter();
    th_trace_thread_own();
    live->end = end;
    live->subject = (struct th_callback_subject){.end = end};
    th_self.subject = &live->subject;
}

static inline void live_end_finish(void)
{
    th_self.subject = NULL;
    th_progress_leave();
}

static inline uint32_t live_end_flags_of(const struct th_delivery *delivery)
{
    return th_live_flags_in(end_of(delivery)->process, delivery->attachment->session);
}

static inline uint32_t live_end_meta_flags(const struct th_session *owner)
{
    (void)owner;
    return TH_FLAG_TIMESTAMP;
}

static inline void live_end_fill(struct th_delivery *delivery, th_env *env, th_term message,
                                 uint32_t flags)
{
    const struct th_live_end *end = end_of(delivery);

    (void)message;
    delivery->argv[0] = th_trace_tag_atom(end->tag);
    delivery->argv[2] = end->process->id;
    delivery->argv[3] = th_live_end_term(end, env);
    delivery->argv[4] = th_trace_opts_make_live(env, th_live_end_extra(end, env), TH_NONE,
                                                end->process->scheduler, flags);
}

/* Sessions that are created later do not count, even if they reuse an index. */
static void live_end_returns_to(struct th_delivery *delivery, struct th_session *session)
{
    struct th_live_tracee *process = end_of(delivery)->process;

    if (!process->returning_to)
        process->returning_before =
            atomic_load_explicit(&session->tracing->created, memory_order_relaxed) + 1;
    process->returning_to |= session->bit;
}

static const struct th_delivery_source end_source = {
    .group = TH_GROUP_call,
    .in_thread = true,
    .flags = live_end_flags_of,
    .meta_flags = live_end_meta_flags,
    .fill = live_end_fill,
    .returns_to = live_end_returns_to,
};

static inline void deliver(struct live_end *live, uint64_t word)
{
    th_trace_deliver_end(&live->delivery, &end_source, live->end->process->traced.tracing, word,
                         live->end->tag == TH_TAG_exception_from, false);
}

/* --- returns and exceptions --- */

static void stop_timing(struct th_live_tracee *process, uint64_t word)
{
    struct th_account_reading reading;

    th_live_read(process, &reading);
    th_trace_timing_leave(&process->timing, process->traced.tracing,
                          (uint32_t)(word >> TH_REQUEST_BITS), &reading);
}

static const uint64_t *live_end_words_of(const struct th_live_requests *requests)
{
    return requests->capacity ? requests->many : requests->few;
}

static void live_end_give_up(struct th_live_requests *requests)
{
    if (requests->capacity)
        th_free(requests->many);
    requests->count = requests->capacity = 0;
}

/* Handles the common case: one session wants this end and nothing else. Nothing that existed before
 * the callback is used after it, so that no register is saved. */
static inline bool end_single(const struct th_live_end *end, struct th_live_requests *requests)
{
    const uint64_t word = requests->few[0];
    struct live_end live;

    if (__builtin_expect(requests->count != 1 || requests->capacity ||
                             word & (TH_REQUEST_TIME | TH_REQUEST_META | TH_REQUEST_RETURN_TO),
                         0))
        return false;
    requests->count = 0;
    live_end_start(&live, end);
    deliver(&live, word & ~(uint64_t)(TH_REQUEST_META | TH_REQUEST_RETURN_TO));
    live_end_finish();
    return true;
}

static __attribute__((noinline)) void end_each(const struct th_live_end *end,
                                               struct th_live_requests *requests)
{
    struct live_end live;

    live_end_start(&live, end);
    for (uint32_t i = requests->count; i > 0; i--) {
        uint64_t word = live_end_words_of(requests)[i - 1];
        if (word & TH_REQUEST_TIME)
            stop_timing(end->process, word);
        else
            deliver(&live, word);
    }
    live_end_finish();
    live_end_give_up(requests);
}

static inline void end_all(const struct th_live_end *end, struct th_live_requests *requests)
{
    if (requests->count > 0 && !end_single(end, requests))
        end_each(end, requests);
}

void th_live_return(struct th_live_tracee *process, const struct th_traceable_function *function,
                    struct th_live_requests *requests, th_term value)
{
    struct th_live_end end = {process, &function->function.name, TH_TAG_return_from, TH_NONE,
                              value};

    end_all(&end, requests);
}

void th_live_raise(struct th_live_tracee *process, const struct th_traceable_function *function,
                   struct th_live_requests *requests, th_term class, th_term reason)
{
    struct th_live_end end = {process, &function->function.name, TH_TAG_exception_from, class,
                              reason};

    process->returning_to = 0;
    end_all(&end, requests);
}

void th_live_drop(struct th_live_tracee *process, struct th_live_requests *requests)
{
    th_progress_enter();
    for (uint32_t i = requests->count; i > 0; i--)
        if (live_end_words_of(requests)[i - 1] & TH_REQUEST_TIME)
            stop_timing(process, live_end_words_of(requests)[i - 1]);
    th_progress_leave();
    live_end_give_up(requests);
}

void th_live_drop_oldest(struct th_live_tracee *process, struct th_live_requests *requests)
{
    for (uint32_t i = requests->count; i > 0; i--) {
        uint64_t word = live_end_words_of(requests)[i - 1];
        if (word & TH_REQUEST_TIME)
            th_trace_timing_forget(&process->timing, (uint32_t)(word >> TH_REQUEST_BITS));
    }
    live_end_give_up(requests);
}

/* --- return_to --- */

void th_live_return_to(struct th_live_tracee *process, const struct th_caller *to)
{
    uint64_t waiting = process->returning_to;
    struct th_live_end end = {process, to->kind == TH_CALLER_FUNCTION ? &to->function : NULL,
                              TH_TAG_return_to, TH_NONE, TH_NONE};
    struct live_end live;

    process->returning_to = 0;
    if (!waiting || to->kind == TH_CALLER_UNKNOWN)
        return;
    live_end_start(&live, &end);
    th_trace_deliver_return_to(&live.delivery, &end_source, process->traced.tracing, waiting,
                               process->returning_before);
    live_end_finish();
}
