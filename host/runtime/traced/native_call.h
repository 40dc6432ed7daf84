/*
 * Native calls: what a thread does that comes to a breakpoint in machine code. Inner header of
 * runtime/.
 *
 * A handler has taken the function's place: it tells the call, and then either goes on in the body,
 * by a jump, so that it is gone; or, where somebody wants to know the end of a call that C code has
 * made, calls the body itself, from a *native frame*, and tells the end when the body has returned
 * or is unwound.
 *
 * A frame is known by the stack pointer with which its body was called. That is what any function
 * finds that the body ends with a jump to, as a call that the compiler has made a jump of leaves
 * the stack as it was: so such calls are of the same frame, and end with it. The code of a
 * th_call() (or of a process) is called with the stack pointer that struct th_call has: what finds
 * that is on the runtime's own frame, which the runtime ends, whatever the function does: it may
 * yield, wait, or be replaced.
 *
 * longjmp() leaves frames without an end. They are those below the stack pointer of the next call
 * of which an end is wanted, and those that are left when the code of a th_call() has returned:
 * these are dropped, and counted.
 *
 * A native frame takes stack that the function would not have taken by itself: the host's threads
 * have as much more as those frames may take (th_traced_native_stack()). Where they have, or where
 * the thread is on a stack of its own making, ends are not kept, and counted.
 *
 * By the thread that runs the process. A thread that runs none is told of as a stranger. In a
 * signal handler that has interrupted the host at such work, and in a child that was forked,
 * nothing is told.
 */
#ifndef TH_NATIVE_CALL_H
#define TH_NATIVE_CALL_H

#include "host/breakpoint/native/native.h"
#include "host/code/loading.h"
#include "host/probe/probe.h"
#include "host/runtime/runtime.h"
#include "host/runtime/runtime_internal.h"
#include "host/trace/live/live.h"

/* --- Functions of modules (traced_function.c) ------------------------------------------------- */

/*
 * A function of one instance of its module, which owns the record of its entry. Its memory stays
 * that of such ones for ever, as a thread that comes from a machine instruction is waited for by
 * nobody. Written before a call can be told, but for what begin() and end() keep.
 */
struct th_instance_function {
    struct th_module_function *function;
    struct th_site *site; /* the function's native one */
    struct th_instance_function
        *same;                      /* the next one that is the same code, in the table's order; a
                                       record's owner is the first */
    const struct th_callee *callee; /* compared only */
    const void *start;              /* of the code */
    unsigned arity;

    /* With the code modification permission, or before it has begun: */
    struct th_native *native; /* NULL: it has none, */
    const char *no_local;     /* and why */
    struct th_instance_function
        *older; /* the function's, of the instance before; of free ones the next
                                   */
};

/*
 * A function by its name, whichever instances of its module there are. It stays for ever, as export
 * entries do, and so do its sites: open calls of a function that is gone refer to it, and code that
 * takes another's place finds its breakpoints. An export entry's `known` is one.
 */
struct th_module_function {
    struct th_traceable_function live; /* the first member */
    /* With the code modification permission: */
    struct th_instance_function *code; /* the newest; NULL: there is none */
    struct th_site *kept;              /* the native one, which is in `live` while it is of use */
    struct th_native_place place;      /* of it */
};

/* Who is told of the functions of modules, while they are known to a tracing. */
extern const struct th_module_watcher th_traced_functions_watcher;

/* From now on the functions of modules are known to TRACING, which NULL is not; no more. By the
 * thread that adds and removes modules. */
void th_traced_functions_begin(struct th_tracing *tracing);
void th_traced_functions_end(void);

extern void *const th_traced_native_handlers[TH_NATIVE_FORMS];

/* True: nothing comes of that NATIVE's entry is met; which is so for most processes, where others
 * are traced. */
static inline bool th_traced_native_may_pass(const struct th_native *native)
{
    const struct th_call *call = th_self.call;

    return __builtin_expect(call != NULL, 1) && th_live_may_pass(&call->process->live) &&
           !call->resumed && !th_self.in_trace_hook && !th_native_has_others(native) &&
           !TH_PROBE_ENABLED(local__function__entry);
}

/* NATIVE's entry was met with ARGC arguments (below 0: as many as its function has), with the stack
 * pointer AT before the call. True: the body is to be called by a frame of its own, at once. In
 * place of each handler is what most calls are; where there is more to do than to tell a call that
 * is th_traced_native_met_slowly()'s. */
static inline bool th_traced_native_met(const struct th_native *native, int argc,
                                        const th_term argv[], uintptr_t at);
bool th_traced_native_met_slowly(const struct th_native *native, int argc, const th_term argv[],
                                 uintptr_t at);

/* A frame that calls a body, for the call that was met. */
struct th_native_frame {
    struct th_call *call;
    uintptr_t at;   /* the stack pointer */
    th_term before; /* the exception that there was */
    size_t below;   /* bytes that the frames below take */
    bool over;
};
void th_traced_native_frame_begin(struct th_native_frame *frame, uintptr_t at);
void th_traced_native_frame_over(struct th_native_frame *frame, th_term answer);
void th_traced_native_frame_unwound(struct th_native_frame *frame);

/* How much stack native frames may take, which threads are to have besides their own; to be called
 * before there are such threads. */
size_t th_traced_native_stack(void);

/* Has a child that is forked from now on tell nothing. */
void th_traced_native_calls_begin(void);

/* --- Inline parts ----------------------------------------------------------------------------- */

/* FIRST is meant by ARGC arguments, and no other function is the same code. */
static inline bool th_traced_native_is_only(const struct th_instance_function *first, int argc)
{
    return argc < 0 || (!first->same && (int)first->arity == argc);
}

/* The end of the call of FUNCTION that is being told is wanted: true if it needs a frame for that.
 */
bool th_traced_native_keep(const struct th_traceable_function *function,
                           struct th_live_requests *requests);

/* CODE's function is called. What is needed when that has been told is in memory, so that no
 * register is saved for it. */
static inline bool th_traced_native_deliver(const struct th_call *call,
                                            const struct th_instance_function *code,
                                            const th_term argv[], uintptr_t at)
{
    struct th_call_event met;
    struct th_live_requests requests;

    th_self.in_trace_hook = at;
    met.process = &call->process->live;
    met.function = &code->function->live;
    met.site = code->site;
    met.arguments = argv;
    met.external = false;
    met.caller = NULL;
    th_live_call(&met, &requests);
    if (__builtin_expect(requests.count > 0, 0))
        return th_traced_native_keep(met.function, &requests);
    th_self.in_trace_hook = 0;
    return false;
}

static inline bool th_traced_native_met(const struct th_native *native, int argc,
                                        const th_term argv[], uintptr_t at)
{
    const struct th_call *call = th_self.call;
    const struct th_instance_function *code = native->owner;

    if (__builtin_expect(!call || th_self.in_trace_hook || call->resumed ||
                             TH_PROBE_ENABLED(local__function__entry) ||
                             th_live_is_returning(&call->process->live) ||
                             !th_traced_native_is_only(code, argc),
                         0))
        return th_traced_native_met_slowly(native, argc, argv, at);
    return th_traced_native_deliver(call, code, argv, at);
}

#endif
