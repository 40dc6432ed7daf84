/*
 * The handlers of native sites, one for each calling convention of functions (breakpoint's
 * native.h), and the frames from which they call bodies (native_call.h).
 *
 * This file is compiled with -O2 in all modes and without the code that sanitizers add, as a
 * handler's frame must be gone when the body runs; and with -fexceptions, as a native frame must
 * notice unwinding (SConscript).
 */
#include "native_delivery.h"

#include "host/runtime/thread_stack.h"

/* Attributes of a function that ends with a jump, or whose stack pointer does not change. */
#define PLAIN __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

/* Declares a native frame. RUNNING is NULL when the body has returned: so unwinding alone calls
 * unwind(). */
#define FRAME                     \
    struct th_native_frame frame; \
    const struct th_native_frame *running __attribute__((cleanup(unwind))) = &frame

static inline __attribute__((always_inline)) void unwind(const struct th_native_frame **running)
{
    if (*running)
        th_traced_native_frame_unwound(*running);
}

/* The stack pointer before the call of the enclosing function. */
#define BEFORE_CALL ((uintptr_t)__builtin_dwarf_cfa())

/* --- The rest of a delivery, for all forms --------------------------------------------------- */

/* Goes on to the body after the end of a section for which a thread waits. */
static PLAIN th_term wake(const struct th_native_form_handler *form)
{
    th_progress_wake();
    return form->body();
}

/* Keeps the call's request in another way than th_traced_native_open(). */
static PLAIN th_term keep(void)
{
    struct th_live_thread *own = th_live_thread_own();
    const struct th_native_form_handler *form = own->form;

    return th_traced_native_keep(own->call.function, &own->requests) ? form->kept() : form->body();
}

static inline __attribute__((always_inline)) th_term go_on(struct th_live_thread *own)
{
    if (own->requests.count == 0)
        return own->form->body();
    return __builtin_expect(th_traced_native_may_open(own), 1) ? own->form->frame() : keep();
}

static PLAIN th_term wake_and_go_on(void)
{
    th_progress_wake();
    return go_on(th_live_thread_own());
}

static inline __attribute__((always_inline)) th_term leave_and_go_on(struct th_live_thread *own)
{
    if (__builtin_expect(th_progress_leave_outermost_awaited(th_self.progress_word), 0))
        return wake_and_go_on();
    return go_on(own);
}

static PLAIN th_term leave(void)
{
    return leave_and_go_on(th_live_thread_own());
}

static PLAIN th_term tidy_sent(void)
{
    th_trace_thread_tidy(&th_live_thread_own()->thread.env, TH_NONE);
    return leave();
}

static PLAIN th_term native_sent(void)
{
    struct th_live_thread *own = th_live_thread_own();

    th_trace_callback_set(NULL);
    own->thread.env.self = TH_NONE;
    if (__builtin_expect(th_trace_thread_is_untidy(&own->thread), 0))
        return tidy_sent();
    return leave_and_go_on(own);
}

/* Delivers the call with new terms, as the checker finds terms that a tracer keeps. */
static PLAIN th_term send_checked(void)
{
    struct th_live_thread *own = th_live_thread_own();

    th_trace_delivery_send(&own->live.delivery, &th_live_thread_source, TH_AM(true), TH_FLAG_NONE);
    th_live_thread_unfill(th_live_thread_own());
    return leave();
}

static PLAIN th_term decide(th_term answer)
{
    th_trace_delivery_decide(&th_live_thread_own()->live.delivery, &th_live_thread_source, answer);
    th_live_thread_unfill(th_live_thread_own());
    return leave();
}

static PLAIN th_term tidy_asked(th_term answer, const struct th_native_form_handler *form)
{
    struct th_live_thread *own = th_live_thread_own();

    own->form = form;
    own->requests.count = own->requests.capacity = 0;
    answer = th_trace_thread_tidy(&own->thread.env, answer);
    if (answer != TH_AM(discard))
        return decide(answer);
    th_trace_thread_count_call(&own->thread, own->live.delivery.attachment->session,
                               TH_COUNTED(discarded));
    return leave();
}

static PLAIN th_term choose_rest(th_term answer, const struct th_native_form_handler *form)
{
    struct th_live_thread *own = th_live_thread_own();

    own->form = form;
    own->requests.count = own->requests.capacity = 0;
    switch (th_trace_delivery_choose(&own->live.delivery, &th_live_thread_source, answer)) {
    case TH_DELIVERY_SEND:
        return __builtin_expect(own->live.delivery.attachment->watched != NULL, 0)
                   ? send_checked()
                   : own->form->send();
    case TH_DELIVERY_DECIDE:
        return decide(answer);
    case TH_DELIVERY_END:
        break;
    }
    if (__builtin_expect(th_progress_leave_outermost_awaited(th_self.progress_word), 0))
        return wake(own->form);
    return own->form->body();
}

/* --- Returns from bodies, for all forms ------------------------------------------------------ */

/* Returns what the body has returned. */
static inline __attribute__((always_inline)) th_term go_back(const struct th_live_thread *own)
{
    th_term answer = own->extra[3];

    th_traced_native_release();
    return answer;
}

static PLAIN th_term wake_and_go_back(void)
{
    th_progress_wake();
    return go_back(th_live_thread_own());
}

static inline __attribute__((always_inline)) th_term leave_and_go_back(struct th_live_thread *own)
{
    own->end.process = NULL;
    if (__builtin_expect(th_progress_leave_outermost_awaited(th_self.progress_word), 0))
        return wake_and_go_back();
    return go_back(own);
}

static PLAIN th_term tidy_returned(void)
{
    th_trace_thread_tidy(&th_live_thread_own()->thread.env, TH_NONE);
    return leave_and_go_back(th_live_thread_own());
}

static PLAIN th_term native_returned(void)
{
    struct th_live_thread *own = th_live_thread_own();

    th_trace_callback_set(NULL);
    own->thread.env.self = TH_NONE;
    if (__builtin_expect(th_trace_thread_is_untidy(&own->thread), 0))
        return tidy_returned();
    return leave_and_go_back(own);
}

/* Delivers the return of ANSWER from FRAME in another way than th_live_thread_return(). */
static PLAIN th_term return_slowly(const struct th_native_frame *frame, th_term answer)
{
    th_traced_native_frame_over(frame, answer);
    return answer;
}

static PLAIN th_term release_and_return_slowly(const struct th_native_frame *frame, bool leaves)
{
    th_term answer = th_live_thread_own()->extra[3];

    if (leaves)
        th_progress_leave_outermost();
    th_traced_native_release();
    return return_slowly(frame, answer);
}

/* Delivers the return of ANSWER by the body that FRAME has called. Returns ANSWER. */
static PLAIN th_term returned(const struct th_native_frame *frame, th_term answer)
{
    struct th_open_call *last = th_traced_native_returned(frame, answer);
    struct th_live_thread *own = th_live_thread_own();
    struct th_process *process = frame->call->process;
    struct th_attachment *attachment;

    if (__builtin_expect(!last || TH_PROBE_ENABLED(function__return), 0))
        return return_slowly(frame, answer);
    th_traced_native_hold(frame->at);
    own->extra[3] = own->end.value = answer;
    if (__builtin_expect(!th_progress_enter_outermost(), 0))
        return release_and_return_slowly(frame, false);
    attachment = th_live_thread_returns_to(&process->live, last->requests.few[0]);
    if (__builtin_expect(last->requests.count != 1 || !attachment, 0))
        return release_and_return_slowly(frame, true);
    process->native_bytes = frame->below;
    process->open.count--;
    th_live_thread_return(own, attachment, &process->live, last->function);
    return native_returned();
}

/* --- (env, argc, argv) ----------------------------------------------------------------------- */

typedef th_term nif_body(th_env *env, int argc, const th_term argv[]);

static PLAIN th_term slow_frame_nif(th_env *env, int argc, const th_term argv[],
                                    struct th_native *native)
{
    FRAME;
    th_term answer;

    th_traced_native_frame_begin(&frame, th_stack_pointer());
    answer = ((nif_body *)native->body)(env, argc, argv);
    running = NULL;
    th_traced_native_frame_over(&frame, answer);
    return answer;
}

static PLAIN bool meet_nif(const struct th_native *native, int argc, const th_term argv[],
                           uintptr_t at)
{
    return th_traced_native_met(native, argc, argv, at);
}

static PLAIN th_term slow_nif(th_env *env, int argc, const th_term argv[], struct th_native *native)
{
    if (__builtin_expect(meet_nif(native, argc, argv, BEFORE_CALL), 0))
        return slow_frame_nif(env, argc, argv, native);
    return ((nif_body *)native->body)(env, argc, argv);
}

static inline __attribute__((always_inline)) th_term go_on_nif(const struct th_live_thread *own)
{
    const struct th_native *native = own->native;
    const th_term *argv = own->call.arguments;
    th_env *env = own->env;

    th_traced_native_release();
    return ((nif_body *)native->body)(env, native->arity, argv);
}

static PLAIN th_term body_nif(void)
{
    return go_on_nif(th_live_thread_own());
}

static PLAIN th_term kept_nif(void)
{
    const struct th_live_thread *own = th_live_thread_own();

    return slow_frame_nif(own->env, own->native->arity, own->call.arguments, own->native);
}

/* Calls the body itself, not by go_on_nif(), so that debuggers show one function. */
static PLAIN th_term frame_nif(void)
{
    struct th_live_thread *own = th_live_thread_own();
    const struct th_native *native = own->native;
    const th_term *argv = own->call.arguments;
    th_env *env = own->env;
    FRAME;
    th_term answer;

    th_traced_native_open(own, &frame, th_stack_pointer());
    th_traced_native_release();
    answer = ((nif_body *)native->body)(env, native->arity, argv);
    running = NULL;
    return returned(&frame, answer);
}

/* By arity: so the terms of most calls are made without a loop. */
#define SEND_NIF(N)                                         \
    static PLAIN th_term send_nif_##N(void)                 \
    {                                                       \
        struct th_live_thread *own = th_live_thread_own();  \
                                                            \
        th_traced_native_send(own, own->call.arguments, N); \
        return native_sent();                               \
    }
SEND_NIF(0)
SEND_NIF(1)
SEND_NIF(2)
SEND_NIF(3)
SEND_NIF(4)
SEND_NIF(5)

static const struct th_native_form_handler forms_nif[TH_LIVE_ARGUMENTS + 2] = {
    {send_nif_0, body_nif, frame_nif, kept_nif},   {send_nif_1, body_nif, frame_nif, kept_nif},
    {send_nif_2, body_nif, frame_nif, kept_nif},   {send_nif_3, body_nif, frame_nif, kept_nif},
    {send_nif_4, body_nif, frame_nif, kept_nif},   {send_nif_5, body_nif, frame_nif, kept_nif},
    {send_checked, body_nif, frame_nif, kept_nif},
};

static inline const struct th_native_form_handler *form_of(const struct th_native *native)
{
    return &forms_nif[native->arity <= TH_LIVE_ARGUMENTS ? native->arity : TH_LIVE_ARGUMENTS + 1];
}

static PLAIN th_term asked_nif(th_term answer)
{
    struct th_live_thread *own = th_live_thread_own();

    switch (th_traced_native_asked(own, answer)) {
    case TH_NATIVE_WANTED:
        return choose_rest(answer, form_of(own->native));
    case TH_NATIVE_UNTIDY:
        return tidy_asked(answer, form_of(own->native));
    case TH_NATIVE_DISCARDED:
        break;
    }
    if (th_progress_leave_outermost_awaited(th_self.progress_word))
        return wake(form_of(own->native));
    return go_on_nif(own);
}

static PLAIN th_term slow_in_nif(bool leaves)
{
    const struct th_live_thread *own = th_live_thread_own();
    struct th_native *native = own->native;
    const th_term *argv = own->call.arguments;
    th_env *env = own->env;

    if (leaves)
        th_progress_leave_outermost();
    th_traced_native_release();
    return slow_nif(env, native->arity, argv, native);
}

static PLAIN th_term deliver_nif(th_env *env, int argc, const th_term argv[],
                                 struct th_native *native)
{
    struct th_live_tracee *process = &th_self.call->process->live;
    struct th_live_thread *own;

    if (!th_traced_native_is_wanted(native, process) && !th_native_others(native))
        return ((nif_body *)native->body)(env, argc, argv);
    own = th_live_thread_own();
    if (__builtin_expect(!own || argc != native->arity, 0))
        return slow_nif(env, argc, argv, native);
    th_traced_native_hold(BEFORE_CALL);
    own->call.arguments = argv;
    own->native = native;
    own->env = env;
    switch (th_traced_native_begin(own, native, process)) {
    case TH_NATIVE_DELIVER:
        return asked_nif(th_traced_native_ask(own));
    case TH_NATIVE_LEAVE:
        return slow_in_nif(true);
    default:
        return slow_in_nif(false);
    }
}

static PLAIN th_term handle_nif(th_env *env, int argc, const th_term argv[],
                                struct th_native *native)
{
    enum th_native_way way = th_traced_native_look(native);

    if (way == TH_NATIVE_DELIVER)
        return deliver_nif(env, argc, argv, native);
    if (way == TH_NATIVE_SLOW)
        return slow_nif(env, argc, argv, native);
    return ((nif_body *)native->body)(env, argc, argv);
}

/* --- (env, terms) ---------------------------------------------------------------------------- */

#define TERMS(...) __VA_ARGS__

/*
 * slow_N is separate, so that other calls save no register. meet_N is separate, because a function
 * that has passed on the address of its own array cannot end with a jump. RECORD declares the last
 * parameter; NATIVE_ is the struct th_native that it stands for. KEEP stores the arguments in the
 * thread's memory, as another call may change the registers; KEPT declares them as read there.
 */
#define HANDLER(N, PARAMETERS, ARGUMENTS, VALUES, KEEP, KEPT, RECORD, NATIVE_)               \
    typedef th_term body_##N(th_env *env PARAMETERS);                                        \
    static PLAIN bool meet_##N(struct th_native *native, uintptr_t at PARAMETERS)            \
    {                                                                                        \
        const th_term argv[] = {VALUES};                                                     \
                                                                                             \
        return th_traced_native_met(native, -1, argv, at);                                   \
    }                                                                                        \
    static PLAIN th_term slow_frame_##N(th_env *env PARAMETERS, RECORD)                      \
    {                                                                                        \
        FRAME;                                                                               \
        th_term answer;                                                                      \
                                                                                             \
        th_traced_native_frame_begin(&frame, th_stack_pointer());                            \
        answer = ((body_##N *)(NATIVE_)->body)(env ARGUMENTS);                               \
        running = NULL;                                                                      \
        th_traced_native_frame_over(&frame, answer);                                         \
        return answer;                                                                       \
    }                                                                                        \
    static PLAIN th_term slow_##N(th_env *env PARAMETERS, RECORD)                            \
    {                                                                                        \
        if (__builtin_expect(meet_##N(NATIVE_, BEFORE_CALL ARGUMENTS), 0))                   \
            return slow_frame_##N(env ARGUMENTS, record);                                    \
        return ((body_##N *)(NATIVE_)->body)(env ARGUMENTS);                                 \
    }                                                                                        \
    static inline __attribute__((always_inline))                                             \
    th_term go_on_##N(const struct th_live_thread *own)                                      \
    {                                                                                        \
        body_##N *body = (body_##N *)own->native->body;                                      \
        th_env *env = own->env;                                                              \
        KEPT;                                                                                \
                                                                                             \
        th_traced_native_release();                                                          \
        return body(env ARGUMENTS);                                                          \
    }                                                                                        \
    static PLAIN th_term body_in_##N(void)                                                   \
    {                                                                                        \
        return go_on_##N(th_live_thread_own());                                              \
    }                                                                                        \
    static PLAIN th_term frame_##N(void)                                                     \
    {                                                                                        \
        struct th_live_thread *own = th_live_thread_own();                                   \
        body_##N *body = (body_##N *)own->native->body;                                      \
        th_env *env = own->env;                                                              \
        KEPT;                                                                                \
        FRAME;                                                                               \
        th_term answer;                                                                      \
                                                                                             \
        th_traced_native_open(own, &frame, th_stack_pointer());                              \
        th_traced_native_release();                                                          \
        answer = body(env ARGUMENTS);                                                        \
        running = NULL;                                                                      \
        return returned(&frame, answer);                                                     \
    }                                                                                        \
    static PLAIN th_term kept_##N(void)                                                      \
    {                                                                                        \
        const struct th_live_thread *own = th_live_thread_own();                             \
        KEPT;                                                                                \
                                                                                             \
        return slow_frame_##N(own->env ARGUMENTS, RECORD_OF(N, own->native));                \
    }                                                                                        \
    static PLAIN th_term send_##N(void)                                                      \
    {                                                                                        \
        struct th_live_thread *own = th_live_thread_own();                                   \
                                                                                             \
        th_traced_native_send(own, own->arguments, N);                                       \
        return native_sent();                                                                \
    }                                                                                        \
    static const struct th_native_form_handler form_##N = {send_##N, body_in_##N, frame_##N, \
                                                           kept_##N};                        \
    static PLAIN th_term asked_##N(th_term answer)                                           \
    {                                                                                        \
        struct th_live_thread *own = th_live_thread_own();                                   \
                                                                                             \
        switch (th_traced_native_asked(own, answer)) {                                       \
        case TH_NATIVE_WANTED:                                                               \
            return choose_rest(answer, &form_##N);                                           \
        case TH_NATIVE_UNTIDY:                                                               \
            return tidy_asked(answer, &form_##N);                                            \
        case TH_NATIVE_DISCARDED:                                                            \
            break;                                                                           \
        }                                                                                    \
        if (th_progress_leave_outermost_awaited(th_self.progress_word))                      \
            return wake(&form_##N);                                                          \
        return go_on_##N(own);                                                               \
    }                                                                                        \
    static PLAIN th_term slow_in_##N(bool leaves)                                            \
    {                                                                                        \
        const struct th_live_thread *own = th_live_thread_own();                             \
        struct th_native *native = own->native;                                              \
        th_env *env = own->env;                                                              \
        KEPT;                                                                                \
                                                                                             \
        if (leaves)                                                                          \
            th_progress_leave_outermost();                                                   \
        th_traced_native_release();                                                          \
        return slow_##N(env ARGUMENTS, RECORD_OF(N, native));                                \
    }                                                                                        \
    static PLAIN th_term deliver_##N(th_env *env PARAMETERS, RECORD)                         \
    {                                                                                        \
        struct th_live_tracee *process = &th_self.call->process->live;                       \
        struct th_live_thread *own;                                                          \
                                                                                             \
        if (!th_traced_native_is_wanted(NATIVE_, process) && !th_native_others(NATIVE_))     \
            return ((body_##N *)(NATIVE_)->body)(env ARGUMENTS);                             \
        own = th_live_thread_own();                                                          \
        if (__builtin_expect(!own, 0))                                                       \
            return slow_##N(env ARGUMENTS, record);                                          \
        th_traced_native_hold(BEFORE_CALL);                                                  \
        KEEP;                                                                                \
        own->call.arguments = own->arguments;                                                \
        own->native = NATIVE_;                                                               \
        own->env = env;                                                                      \
        switch (th_traced_native_begin(own, NATIVE_, process)) {                             \
        case TH_NATIVE_DELIVER:                                                              \
            return asked_##N(th_traced_native_ask(own));                                     \
        case TH_NATIVE_LEAVE:                                                                \
            return slow_in_##N(true);                                                        \
        default:                                                                             \
            return slow_in_##N(false);                                                       \
        }                                                                                    \
    }                                                                                        \
    static PLAIN th_term handle_##N(th_env *env PARAMETERS, RECORD)                          \
    {                                                                                        \
        enum th_native_way way = th_traced_native_look(NATIVE_);                             \
                                                                                             \
        if (way == TH_NATIVE_DELIVER)                                                        \
            return deliver_##N(env ARGUMENTS, record);                                       \
        if (way == TH_NATIVE_SLOW)                                                           \
            return slow_##N(env ARGUMENTS, record);                                          \
        return ((body_##N *)(NATIVE_)->body)(env ARGUMENTS);                                 \
    }

#define POINTER struct th_native *record
#define P1 , th_term a
#define P2 P1, th_term b
#define P3 P2, th_term c
#define P4 P3, th_term d
#define P5 P4, th_term e
#define A1 , a
#define A2 A1, b
#define A3 A2, c
#define A4 A3, d
#define A5 A4, e
#define K0 (void)0
#define K1 own->arguments[0] = a
#define K2 K1, own->arguments[1] = b
#define K3 K2, own->arguments[2] = c
#define K4 K3, own->arguments[3] = d
#define K5 K4, own->arguments[4] = e
#define T0 (void)own
#define T1 th_term a = own->arguments[0]
#define T2 T1, b = own->arguments[1]
#define T3 T2, c = own->arguments[2]
#define T4 T3, d = own->arguments[3]
#define T5 T4, e = own->arguments[4]
#define RECORD_OF(N, NATIVE_) RECORD_##N(NATIVE_)
#define RECORD_0(NATIVE_) NATIVE_
#define RECORD_1(NATIVE_) NATIVE_
#define RECORD_2(NATIVE_) NATIVE_
#define RECORD_3(NATIVE_) NATIVE_
#define RECORD_4(NATIVE_) NATIVE_
#define RECORD_5(NATIVE_) th_native_in(NATIVE_)

HANDLER(0, , , 0, K0, T0, POINTER, record)
HANDLER(1, P1, A1, TERMS(a), K1, T1, POINTER, record)
HANDLER(2, P2, A2, TERMS(a, b), K2, T2, POINTER, record)
HANDLER(3, P3, A3, TERMS(a, b, c), K3, T3, POINTER, record)
HANDLER(4, P4, A4, TERMS(a, b, c, d), K4, T4, POINTER, record)
HANDLER(5, P5, A5, TERMS(a, b, c, d, e), K5, T5, double record, th_native_of(record))

void *const th_traced_native_handlers[TH_NATIVE_FORMS] = {
    [TH_NATIVE_TERMS_0] = handle_0, [TH_NATIVE_TERMS_1] = handle_1, [TH_NATIVE_TERMS_2] = handle_2,
    [TH_NATIVE_TERMS_3] = handle_3, [TH_NATIVE_TERMS_4] = handle_4, [TH_NATIVE_TERMS_5] = handle_5,
    [TH_NATIVE_NIF] = handle_nif,
};
