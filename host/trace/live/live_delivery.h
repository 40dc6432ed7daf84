/*
 * Deliveries of live calls: for live_call.c, and for the handlers of native sites (runtime/traced),
 * into which the most frequent delivery is inlined.
 *
 * That delivery is in memory of its thread, struct th_live_thread. A function that it is inlined
 * into passes on no address of a local variable, so the function can end with a jump. Data that is
 * needed after a callback is in that memory, not in registers: so no register is saved. A thread
 * has one such delivery at a time, as calls that callbacks make are suppressed. th_self.subject is
 * NULL during its callbacks.
 */
#ifndef TH_LIVE_DELIVERY_H
#define TH_LIVE_DELIVERY_H

#include "live_hit.h"

#include "host/breakpoint/generic_bp.h"
#include "host/trace/delivery.h"
#include "host/trace/trace_internal.h"

/* A call that is offered to a session. */
struct th_live_delivery {
    struct th_delivery delivery; /* first member */
    const struct th_call_event *call;
    struct th_live_requests *requests;
    struct th_callback_subject subject;
};

/* --- Parts of delivery sources ---------------------------------------------------------------- */

static inline const struct th_call_event *th_live_call_of(const struct th_delivery *delivery)
{
    return ((const struct th_live_delivery *)delivery)->call;
}

static inline struct th_match_subject th_live_call_subject(struct th_delivery *delivery)
{
    const struct th_call_event *call = th_live_call_of(delivery);

    return (struct th_match_subject){TH_NONE, call->arguments, call->function->function.name.arity};
}

/* Returns the flags that SESSION has for PROCESS. */
static inline uint32_t th_live_flags_in(const struct th_live_tracee *process,
                                        const struct th_session *session)
{
    return th_trace_flags_of_session(th_trace_traced_flags(&process->traced), session);
}

static inline uint32_t th_live_call_flags(const struct th_delivery *delivery)
{
    return th_live_flags_in(th_live_call_of(delivery)->process, delivery->attachment->session);
}

static inline bool th_live_call_is_special(const struct th_delivery *delivery)
{
    const struct th_tracee_words *words = atomic_load_explicit(
        &th_live_call_of(delivery)->process->traced.words, memory_order_acquire);

    return atomic_load_explicit(&words->special, memory_order_relaxed) &
           delivery->attachment->session->bit;
}

static inline void th_live_call_fill(struct th_delivery *delivery, th_env *env, th_term message,
                                     uint32_t flags)
{
    const struct th_call_event *call = th_live_call_of(delivery);
    th_term result = message == TH_AM(true) ? TH_NONE : message;

    delivery->argv[3] = th_live_call_term(call, env, flags);
    delivery->argv[4] =
        th_trace_opts_make_live(env, TH_NONE, result, call->process->scheduler, flags);
}

void th_live_call_context(const struct th_delivery *delivery, struct th_match_context *context);
void th_live_call_forget(struct th_delivery *delivery, struct th_session *session);

/* --- The delivery in the thread's memory ------------------------------------------------------ */

enum { TH_LIVE_ARGUMENTS = 5 }; /* calls with more arguments are delivered in another way */

/* A thread that delivers live calls. th_self.trace_thread points to the first member. */
struct th_live_thread {
    struct th_trace_thread thread; /* first member */

    /* The delivery. th_thread_begin() sets the parts that are the same for all calls. */
    struct th_live_delivery live;
    struct th_call_event call;
    struct th_live_requests requests; /* one at most, in `few` */
    th_term arguments[TH_LIVE_ARGUMENTS];
    /* {M, F, Args}. The last cells of the list are used, so that it always ends with the same one;
     * only the words that differ from call to call are written. */
    th_term tuple[4], cells[2 * TH_LIVE_ARGUMENTS];

    /* The arguments of `trace` for a return, with its #{extra => Value}. */
    th_term returned[5];
    struct th_callback_subject ending;
    struct th_live_end end; /* `process` NULL: no return is being delivered */
    th_term extra[4];

    /* Data of runtime/traced: the entry's record, the environment of the call, and functions of
     * the handler. */
    struct th_native *native;
    th_env *env;
    const struct th_native_form_handler *form;
    struct th_open_call *open; /* place of the call, if it gets a native frame */
    /* Bounds of the stack for th_traced_native_may_open(); 0: not known yet. */
    uintptr_t stack_low;
    size_t stack_size, stack_more;
};

void th_live_thread_init(struct th_live_thread *own);

/* Returns the calling thread's struct; NULL: its calls are delivered in another way. */
static inline struct th_live_thread *th_live_thread_own(void)
{
    return th_self.live_thread;
}

/* Fills in the terms {M, F, Args} and #{}, which are ready in the thread's memory. They are
 * overwritten by the next call. ARITY is at most TH_LIVE_ARGUMENTS. */
static inline __attribute__((always_inline)) void
th_live_thread_fill(struct th_live_thread *own, const th_term arguments[], unsigned arity)
{
    const struct th_mfa *name = &own->call.function->function.name;
    th_term *cell = &own->cells[2 * (TH_LIVE_ARGUMENTS - arity)];

    own->tuple[1] = name->module;
    own->tuple[2] = name->function;
    own->tuple[3] = arity ? th_listed(cell) : TH_NIL;
    switch (arity) { /* no loop, whose cost would be that of some arguments */
    case 5:
        cell[8] = arguments[4]; /* fall through */
    case 4:
        cell[6] = arguments[3]; /* fall through */
    case 3:
        cell[4] = arguments[2]; /* fall through */
    case 2:
        cell[2] = arguments[1]; /* fall through */
    case 1:
        cell[0] = arguments[0]; /* fall through */
    case 0:
        break;
    }
}

/* Undoes th_live_call_fill(): the terms are ready again. */
static inline void th_live_thread_unfill(struct th_live_thread *own)
{
    own->live.delivery.argv[3] = th_boxed(own->tuple);
    own->live.delivery.argv[4] = th_boxed(th_trace_opts_empty);
}

static inline void th_live_thread_request(struct th_delivery *delivery, uint64_t word)
{
    struct th_live_requests *requests = ((struct th_live_delivery *)delivery)->requests;

    requests->count = 1;
    requests->few[0] = word;
}

static const struct th_delivery_source th_live_thread_source = {
    .group = TH_GROUP_call,
    .in_thread = true,
    .by_index = true,
    .of_process = true,
    .subject = th_live_call_subject,
    .context = th_live_call_context,
    .flags = th_live_call_flags,
    .is_special = th_live_call_is_special,
    .fill = th_live_call_fill,
    .request = th_live_thread_request,
    .forget = th_live_call_forget,
};

/*
 * Begins the delivery of a call of PROCESS at a breakpoint with DATA, which is all that is active
 * at the entry: sets all but the parts of `call` that the caller knows. CALLING are the sessions
 * that trace calls of PROCESS. Returns false if the breakpoint's session is not among them.
 * Thread: in a section.
 */
static inline __attribute__((always_inline)) bool
th_live_thread_begin(struct th_live_thread *own, struct th_live_tracee *process, uint64_t calling,
                     const struct th_bp_data *data)
{
    const struct th_session *session = data->owner;

    if (!(calling & atomic_load_explicit(&session->calls_bit, memory_order_relaxed)))
        return false;
    own->call.process = process;
    own->live.subject.breakpoint = data;
    own->live.delivery.spec = (struct th_shared_spec *)data->spec;
    own->live.delivery.argv[2] = process->id;
    th_trace_delivery_address(&own->live.delivery, th_trace_session_attachment(session));
    return true;
}

/* Returns the tracer that gets the return of a call of PROCESS for which WORD was kept, if
 * th_live_thread_return() can send the return; NULL: th_live_return() must deliver the return.
 * Thread: in a section. */
static inline __attribute__((always_inline)) struct th_attachment *
th_live_thread_returns_to(const struct th_live_tracee *process, uint64_t word)
{
    const struct th_session *session = th_trace_return_session(&process->traced, word);
    struct th_attachment *attachment;

    if (__builtin_expect(!session, 0))
        return NULL;
    attachment = th_trace_session_attachment(session);
    return __builtin_expect(!attachment->watched, 1) ? attachment : NULL;
}

/* Sends the return of a call of FUNCTION, by PROCESS, to ATTACHMENT. The value is in OWN->extra. */
static inline __attribute__((always_inline)) void
th_live_thread_return(struct th_live_thread *own, struct th_attachment *attachment,
                      struct th_live_tracee *process, const struct th_traceable_function *function)
{
    own->end.process = process;
    own->end.function = &function->function.name;
    own->returned[1] = attachment->state;
    own->returned[2] = process->id;
    own->returned[3] = th_boxed(function->term);
    th_trace_thread_count_call(&own->thread, attachment->session, TH_COUNTED(traced));
    th_trace_thread_deliver_begin(&own->thread, attachment, own->returned, process->id);
}

#endif
