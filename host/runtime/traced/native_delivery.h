/*
 * The common delivery of a call from a handler (native_handler.c): the call meets one local
 * breakpoint, and nothing about the call or the thread is rare. Inner header of runtime/.
 */
#ifndef TH_NATIVE_DELIVERY_H
#define TH_NATIVE_DELIVERY_H

#include "native_call.h"
#include "traced_call.h"

#include "host/trace/live/live_delivery.h"

/* The next act of a handler. */
enum th_native_way {
    TH_NATIVE_PASS,    /* jumps to the body: the call is not traced */
    TH_NATIVE_DELIVER, /* delivers the call from the thread's memory (live_delivery.h) */
    TH_NATIVE_SLOW,    /* calls th_traced_native_met() */
    TH_NATIVE_LEAVE    /* the same, after it has left the section */
};

/*
 * Finds the way of a call at NATIVE's entry by what is known outside of a section.
 *
 * One look for all that is rare: the thread runs no process, is in a callback or in a hook of
 * another call, enters a continuation, or a return_to is due.
 */
static inline __attribute__((always_inline)) enum th_native_way
th_traced_native_look(const struct th_native *native)
{
    uintptr_t rare = (uintptr_t)th_self.attachment | th_self.in_trace_hook;
    const struct th_call *call = th_self.call;
    const struct th_tracee_words *words;

    if (__builtin_expect(!call, 0))
        return TH_NATIVE_SLOW;
    rare |= (uintptr_t)call->resumed;
    rare |= call->process->live.returning_to;
    if (__builtin_expect(rare != 0, 0))
        return TH_NATIVE_SLOW;
    if (__builtin_expect(TH_PROBE_ENABLED(local__function__entry), 0))
        return TH_NATIVE_SLOW;
    words = atomic_load_explicit(&call->process->live.traced.words, memory_order_acquire);
    return atomic_load_explicit(&words->calling, memory_order_relaxed) | th_native_others(native)
               ? TH_NATIVE_DELIVER
               : TH_NATIVE_PASS;
}

/*
 * Take and give back the thread's memory (struct th_live_thread), which the calls of a signal handler
 * would use as well: while in_trace_hook is not 0, those are not delivered. AT is the stack pointer
 * before the call. After th_traced_native_release() nothing there may be read.
 */
static inline void th_traced_native_hold(uintptr_t at)
{
    th_self.in_trace_hook = at;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void th_traced_native_release(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    th_self.in_trace_hook = 0;
}

/* Returns false, as a hint like that of th_native_sessions(), if none of the sessions that trace
 * calls of PROCESS has a breakpoint at NATIVE's entry. */
static inline bool th_traced_native_is_wanted(const struct th_native *native,
                                              const struct th_live_tracee *process)
{
    const struct th_tracee_words *words =
        atomic_load_explicit(&process->traced.words, memory_order_acquire);

    return atomic_load_explicit(&words->calling, memory_order_relaxed) & th_native_sessions(native);
}

/*
 * Begins the delivery of a call of PROCESS, the thread's, after th_traced_native_look(). The call
 * has as many arguments as the only function of the entry. The caller holds OWN, the thread's
 * memory, and has stored `native`, `env` and the arguments there. If the way is TH_NATIVE_DELIVER,
 * the caller calls th_traced_native_ask(). With that way, and with TH_NATIVE_LEAVE, the thread is in
 * a section.
 */
static inline __attribute__((always_inline)) enum th_native_way
th_traced_native_begin(struct th_live_thread *own, const struct th_native *native,
                       struct th_live_tracee *process)
{
    const struct th_instance_function *code;
    const struct th_tracee_words *words;
    const struct th_bp_data *data;
    size_t generation;
    uint64_t calling;

    if (__builtin_expect(!th_progress_enter_outermost(), 0))
        return TH_NATIVE_SLOW;
    /* In the section: a session whose bit was seen before may have ended, and another one have its
     * bit. */
    words = atomic_load_explicit(&process->traced.words, memory_order_acquire);
    calling = atomic_load_explicit(&words->calling, memory_order_acquire);
    generation = th_breakpoint_generation();
    data = atomic_load_explicit(&native->only[generation], memory_order_acquire);
    if (__builtin_expect(!data, 0) ||
        __builtin_expect(!th_live_thread_begin(own, process, calling, data), 0))
        return TH_NATIVE_LEAVE;
    code = native->owner;
    own->call.function = &code->function->live;
    return TH_NATIVE_DELIVER;
}

/*
 * The rest of the delivery, after th_traced_native_begin(). Each function up to a callback ends
 * with a call of the next one, which the compiler makes a jump: so no register is saved.
 *
 *   deliver_N()                th_traced_native_ask()      calls `enabled`
 *   asked_N()                  th_traced_native_asked()    discarded: goes on to the body
 *   choose_rest()              th_trace_delivery_choose()  specification, return request
 *   send_N()                   th_traced_native_send()     calls `trace`
 *   native_sent()                                          leaves the section
 *   body_in_N()                                            jumps to the body
 *   frame_N(), kept_N()                                    call the body from a native frame, which
 *                                                          begins there, or was kept
 */
struct th_native_form_handler {
    th_term (*send)(void), (*body)(void), (*frame)(void), (*kept)(void);
};

static inline __attribute__((always_inline)) th_term
th_traced_native_ask(struct th_live_thread *own)
{
    struct th_attachment *attachment = own->live.delivery.attachment;

    own->thread.env.library = attachment->library;
    return th_trace_attachment_enter_begin(attachment, &own->thread.env, TH_SLOT_enabled_call,
                                           own->live.delivery.argv);
}

enum th_native_asked {
    TH_NATIVE_DISCARDED, /* leaves the section, and goes on to the body */
    TH_NATIVE_WANTED,    /* goes on by the answer */
    TH_NATIVE_UNTIDY     /* the same, after it has tidied up */
};

static inline __attribute__((always_inline)) enum th_native_asked
th_traced_native_asked(struct th_live_thread *own, th_term answer)
{
    th_trace_callback_set(NULL);
    if (__builtin_expect(th_trace_thread_is_untidy(&own->thread), 0))
        return TH_NATIVE_UNTIDY;
    if (__builtin_expect(answer != TH_AM(discard), 0))
        return TH_NATIVE_WANTED;
    th_trace_thread_count_call(&own->thread, own->live.delivery.attachment->session,
                               TH_COUNTED(discarded));
    return TH_NATIVE_DISCARDED;
}

/* Delivers the call with the ARITY ARGUMENTS, whose terms are made as the thread's memory has them
 * ready. */
static inline __attribute__((always_inline)) void
th_traced_native_send(struct th_live_thread *own, const th_term arguments[], unsigned arity)
{
    struct th_delivery *delivery = &own->live.delivery;

    th_live_thread_fill(own, arguments, arity);
    th_trace_thread_count_call(&own->thread, delivery->attachment->session, TH_COUNTED(traced));
    own->thread.env.self = delivery->argv[2];
    th_trace_attachment_enter_begin(delivery->attachment, &own->thread.env, TH_SLOT_trace_call,
                                    delivery->argv);
}

/* --- Native frames ---------------------------------------------------------------------------- */

/* Returns true if a native frame of the call in the thread's memory can begin by
 * th_traced_native_open(): the common case of th_traced_native_keep(). */
static inline __attribute__((always_inline)) bool
th_traced_native_may_open(struct th_live_thread *own)
{
    const uintptr_t before = th_self.in_trace_hook;
    const struct th_call *call = th_self.call;
    const struct th_process *process = call->process;
    const struct th_open_calls *open = &process->open;

    if (__builtin_expect(open->count == open->limit || before == call->sp, 0))
        return false;
    /* The frame of the latest open call is neither gone nor the frame of this call. */
    if (open->count > 0 && __builtin_expect(th_traced_open_top(process)->native - 1 < before, 0))
        return false;
    own->open = th_traced_open_at(open, open->count);
    return __builtin_expect(
        before - own->stack_low < own->stack_size && process->native_bytes < own->stack_more, 1);
}

/* Begins FRAME, with the stack pointer AT, as th_traced_native_keep() and
 * th_traced_native_frame_begin() do, after th_traced_native_may_open(). */
static inline __attribute__((always_inline)) void
th_traced_native_open(struct th_live_thread *own, struct th_native_frame *frame, uintptr_t at)
{
    struct th_call *call = th_self.call;
    struct th_process *process = call->process;
    struct th_open_call *made = own->open;

    *frame = (struct th_native_frame){call, at, call->env->exception, process->native_bytes};
    made->function = own->call.function;
    made->outer = call->outer;
    made->frames = process->frame_count;
    made->native = at;
    made->below = process->native_bytes;
    made->framed = true;
    made->requests.count = 1;
    made->requests.capacity = 0;
    made->requests.few[0] = own->requests.few[0];
    process->open.count++;
    process->native_bytes += th_self.in_trace_hook - at;
}

/* Returns the open call of FRAME if the body has just returned ANSWER, the call is the only one of
 * its frame, and nothing else must be done; else NULL. */
static inline __attribute__((always_inline)) struct th_open_call *
th_traced_native_returned(const struct th_native_frame *frame, th_term answer)
{
    const struct th_process *process = frame->call->process;
    uintptr_t rare = process->live.returning_to | frame->call->env->exception;

    if (__builtin_expect(answer == TH_NONE || rare | th_self.in_trace_hook, 0))
        return NULL;
    return th_traced_open_single(process, frame->at);
}

#endif
