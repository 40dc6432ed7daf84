#include "native_delivery.h"

#include "traced_call.h"
#include "tracepoint.h"

#include "host/runtime/thread_stack.h"

#include <pthread.h>

typedef const struct th_instance_function traced_code;

static _Atomic uint64_t no_calls; /* since the start of the runtime; relaxed */

/* Written by a forked child, before it has other threads. */
static bool forked;

uint64_t th_runtime_no_calls(void)
{
    return atomic_load_explicit(&no_calls, memory_order_relaxed);
}

/* The child has one thread, in the middle of any work. */
static void native_call_in_child(void)
{
    forked = true;
    th_self.in_trace_hook = TH_FORKED;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, native_call_in_child);
}

void th_traced_native_calls_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
    atomic_store_explicit(&no_calls, 0, memory_order_relaxed);
}

/* The default stack size of a thread. */
size_t th_traced_native_stack(void)
{
    static size_t size; /* written before threads can read it at once */
    pthread_attr_t attributes;

    if (size == 0) {
        pthread_attr_init(&attributes);
        pthread_attr_getstacksize(&attributes, &size);
        pthread_attr_destroy(&attributes);
    }
    return size;
}

/* --- Calls ----------------------------------------------------------------------------------- */

/* Returns the function that the call is of, among those that share the code: the one that the
 * runtime calls, otherwise the first with ARGC arguments. NULL: none. */
static traced_code *code_of(const struct th_native *native, const struct th_call *call, int argc,
                            uintptr_t at)
{
    traced_code *first = native->owner, *chosen = NULL;

    if (th_traced_native_is_only(first, argc))
        return first;
    for (traced_code *one = first; one; one = one->same)
        if ((int)one->arity == argc) {
            if (call && at == call->sp && one->callee == call->callee)
                return one;
            if (!chosen)
                chosen = one;
        }
    if (!chosen)
        atomic_fetch_add_explicit(&no_calls, 1, memory_order_relaxed);
    return chosen;
}

/* Handles a call by a thread that runs no process, or that is in a hook of another call
 * (in_trace_hook). Returns false: no such call gets a native frame. */
static __attribute__((cold, noinline)) bool met_oddly(const struct th_native *native, int argc,
                                                      const th_term argv[], uintptr_t at)
{
    struct th_call_event met = {.arguments = argv};
    struct th_live_requests requests;
    traced_code *code;

    if (forked)
        return false;
    if (th_self.in_trace_hook) {
        th_live_call_suppressed();
        return false;
    }
    code = code_of(native, NULL, argc, at);
    if (!code)
        return false;
    met.function = &code->function->live;
    met.site = code->site;
    th_live_call(&met, &requests);
    return false;
}

/* Returns whether the stack has room for a native frame. */
static bool has_room(const struct th_process *process, uintptr_t at)
{
    const struct th_self_stack *stack = th_self_stack();

    return at >= th_runtime_stack_lowest() && at < stack->low + stack->size &&
           process->native_bytes < th_traced_native_stack();
}

/* Notes the bounds of has_room() for th_traced_native_may_open(). */
static void note_stack(struct th_live_thread *own)
{
    const struct th_self_stack *stack = th_self_stack();

    own->stack_low = th_runtime_stack_lowest();
    own->stack_size = stack->low + stack->size - own->stack_low;
    own->stack_more = th_traced_native_stack();
}

bool th_traced_native_keep(const struct th_traceable_function *function,
                           struct th_live_requests *requests)
{
    const struct th_call *call = th_self.call;
    struct th_process *process = call->process;
    const uintptr_t at = th_self.in_trace_hook;
    const struct th_open_call *top;
    struct th_open_call *made;
    bool framed;

    th_traced_open_drop_below(process, at);
    top = th_traced_open_top(process);
    framed = at != call->sp && !(top && top->native == at);
    if (framed && __builtin_expect(!has_room(process, at), 0)) {
        th_traced_open_refuse(process, requests);
        return false;
    }
    if (framed && th_self.live_thread)
        note_stack(th_self.live_thread);
    made = th_traced_open_add(process);
    made->function = function;
    made->outer = call->outer;
    made->frames = process->frame_count;
    made->native = at == call->sp ? 0 : at;
    made->below = process->native_bytes;
    made->framed = false;
    th_live_requests_move(&made->requests, requests);
    return framed;
}

/* Returns whether the call is the entry of a continuation in a function's place, once. */
static __attribute__((noinline)) bool is_resumed(struct th_call *call,
                                                 const struct th_native *native, uintptr_t at)
{
    const traced_code *code = native->owner;

    if (at != call->sp || call->resumed != code->start)
        return false;
    call->resumed = NULL;
    return true;
}

/* Reports a call of CODE's function. */
static bool native_call_deliver(const struct th_call *call, traced_code *code, const th_term argv[],
                                uintptr_t at)
{
    const struct th_call_event met = {.process = &call->process->live,
                                      .function = &code->function->live,
                                      .site = code->site,
                                      .arguments = argv};
    struct th_live_requests requests;

    th_self.in_trace_hook = at;
    th_live_call(&met, &requests);
    if (requests.count > 0 && th_traced_native_keep(met.function, &requests))
        return true;
    th_self.in_trace_hook = 0;
    return false;
}

bool th_traced_native_met(const struct th_native *native, int argc, const th_term argv[],
                          uintptr_t at)
{
    struct th_call *call = th_self.call;
    traced_code *code;

    if (!call || th_self.in_trace_hook)
        return met_oddly(native, argc, argv, at);
    if (call->resumed && is_resumed(call, native, at))
        return false;
    code = code_of(native, call, argc, at);
    if (!code)
        return false;
    if (TH_PROBE_ENABLED(local__function__entry) &&
        !(at == call->sp && code->callee == call->callee)) /* that call is the runtime's */
        th_traced_probe_local(call, &code->function->live.function.name, false);
    if (th_live_is_returning(&call->process->live)) {
        th_self.in_trace_hook = at;
        th_traced_caught_by_caller(call->process, at);
    }
    return native_call_deliver(call, code, argv, at);
}

/* --- Frames ---------------------------------------------------------------------------------- */

void th_traced_native_frame_begin(struct th_native_frame *frame, uintptr_t at)
{
    struct th_call *call = th_self.call;
    struct th_process *process = call->process;
    struct th_open_call *top = th_traced_open_top(process);

    *frame = (struct th_native_frame){call, at, call->env->exception, process->native_bytes};
    top->native = at;
    top->framed = true;
    process->native_bytes += th_self.in_trace_hook - at;
    th_self.in_trace_hook = 0;
}

/* How a body has ended. */
struct ending {
    enum { RETURNED, RAISED, NOT_YET } how;
    th_term value; /* or the reason */
    th_term class;
};

static void end_one(void *context, struct th_process *process, struct th_open_call *call)
{
    const struct ending *ending = context;

    if (TH_PROBE_ENABLED(function__return) && ending->how == RETURNED)
        th_traced_probe_local(th_self.call, &call->function->function.name, true);
    if (ending->how == RETURNED)
        th_live_return(&process->live, call->function, &call->requests, ending->value);
    else
        th_live_raise(&process->live, call->function, &call->requests, ending->class,
                      ending->value);
}

static void native_call_end_frame(const struct th_native_frame *frame, struct ending ending)
{
    struct th_process *process = frame->call->process;

    if (ending.how == RETURNED && th_live_is_returning(&process->live))
        th_traced_caught(process, process->raised_to.frame == frame->at);
    th_traced_open_end_native(process, frame->at, end_one, &ending);
    if (th_live_is_returning(&process->live))
        (ending.how == RETURNED ? th_traced_return_to_caller
                                : th_traced_raise_to_caller)(process, frame->at);
}

/* Prepares the report of a frame's end. Returns false if nothing may be reported. */
static bool native_call_leave(const struct th_native_frame *frame)
{
    struct th_process *process = frame->call->process;

    if (th_self.in_trace_hook)
        return false;
    th_self.in_trace_hook = TH_BUSY;
    th_traced_open_drop_below(process, frame->at);
    process->native_bytes = frame->below;
    return true;
}

/* Interprets ANSWER like th_runtime_step_take() for a call of the runtime, with one difference: if
 * the function returns a term, an exception that was pending before is not its own. */
static __attribute__((noinline)) void end_slowly(const struct th_native_frame *frame,
                                                 th_term answer)
{
    const struct th_call *call = frame->call;
    const th_env *env = call->env;
    struct ending ending = {RAISED, TH_AM(badarg), TH_AM(error)};

    if (!native_call_leave(frame))
        return;
    if (env->exception != TH_NONE && (answer == TH_NONE || env->exception != frame->before))
        ending = (struct ending){RAISED, env->exception,
                                 th_traced_class_atom(env->exception_class + 1u)};
    else if (answer != TH_NONE)
        ending = (struct ending){RETURNED, answer, TH_NONE};
    else if (call->passed.class)
        ending =
            (struct ending){RAISED, call->passed.reason, th_traced_class_atom(call->passed.class)};
    else if (call->process->next.step != TH_STEP_NONE)
        ending.how = NOT_YET;
    if (ending.how == NOT_YET)
        th_traced_open_hand_over(call->process, frame->at);
    else
        native_call_end_frame(frame, ending);
    th_self.in_trace_hook = 0;
}

void th_traced_native_frame_over(const struct th_native_frame *frame, th_term answer)
{
    const struct th_call *call = frame->call;
    struct th_process *process = call->process;
    struct th_open_call *last;

    last = th_traced_native_returned(frame, answer);
    if (!last) {
        end_slowly(frame, answer);
        return;
    }
    th_self.in_trace_hook = TH_BUSY;
    process->native_bytes = frame->below;
    process->open.count--;
    if (TH_PROBE_ENABLED(function__return))
        th_traced_probe_local(call, &last->function->function.name, true);
    th_live_return(&process->live, last->function, &last->requests, answer);
    if (__builtin_expect(th_live_is_returning(&process->live), 0))
        th_traced_return_to_caller(process, frame->at);
    th_self.in_trace_hook = 0;
}

void th_traced_native_frame_unwound(const struct th_native_frame *frame)
{
    if (!native_call_leave(frame))
        return;
    native_call_end_frame(frame, (struct ending){RAISED, th_atom("unwound"), TH_AM(error)});
    th_self.in_trace_hook = 0;
}
