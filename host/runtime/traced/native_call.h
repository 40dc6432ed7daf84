/*
 * Native calls: calls that reach a breakpoint in machine code. Inner header of runtime/.
 *
 * The entry of a function with a breakpoint jumps to a handler. The handler reports the call and
 * then jumps to the function's body, so that the handler's frame is gone. If a session has a return
 * request for a call that C code made, the handler instead calls the body from a *native frame*,
 * and reports the end of the call when the body returns or is unwound.
 *
 * A frame is identified by the stack pointer with which its body was called. A function to which
 * the body ends with a jump has the same stack pointer, because a jump leaves the stack as it was:
 * such calls belong to the same frame and end with it. The runtime calls the code of a th_call() or
 * of a process with the stack pointer in struct th_call: a call with this stack pointer belongs to
 * the runtime's own frame, which the runtime ends whether the function returns, yields, waits or is
 * replaced.
 *
 * longjmp() leaves frames without an end: the frames below the stack pointer of the next call with
 * a return request, and the frames that remain when the code of a th_call() has returned. Their
 * open calls are dropped and counted.
 *
 * A native frame takes stack that the function alone would not take: the host's threads have
 * additional stack for these frames (th_traced_native_stack()). If that is used up, or if the
 * thread runs on a stack of its own making, return requests are dropped and counted.
 *
 * Thread: the thread that runs the process. Calls by a thread without a process are reported as
 *   those of a stranger. Calls in a signal handler that interrupted this work of the host, and in a
 *   forked child, are not reported.
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
 * A function of one instance of a module. The first function of an entry owns the entry's record.
 * The memory is only reused for the same struct, never freed, because no grace period waits for a
 * thread that comes from a machine instruction. Written before a call can be reported, except for
 * fields that begin() and end() write.
 */
struct th_instance_function {
    struct th_module_function *function;
    struct th_site *site;              /* native site of the function */
    struct th_instance_function *same; /* next function with the same code, in table order */
    const struct th_callee *callee;    /* compared only */
    const void *start;                 /* of the code */
    unsigned arity;

    /* With the code modification permission, or before the instance has begun: */
    struct th_native *native;           /* NULL: no record at the entry */
    const char *no_local;               /* reason if NATIVE is NULL */
    struct th_instance_function *older; /* of the former instance; in the free list: next */
};

/*
 * A function by name, for all instances of its module. Never freed, like export entries, and its
 * sites neither: open calls refer to functions that are gone, and new code of the function gets its
 * breakpoints. `known` of an export entry points to one.
 */
struct th_module_function {
    struct th_traceable_function live; /* first member */
    /* With the code modification permission: */
    struct th_instance_function *code; /* newest code; NULL: none */
    struct th_site *kept;              /* native site; also in `live` while usable */
    struct th_native_place place;      /* of KEPT */
};

/* Watches the modules while their functions are known to a tracing. */
extern const struct th_module_watcher th_traced_functions_watcher;

/* th_traced_functions_begin(): makes functions of modules known to TRACING, which is not NULL.
 * th_traced_functions_end(): ends that.
 * Thread: the thread that adds and removes modules. */
void th_traced_functions_begin(struct th_tracing *tracing);
void th_traced_functions_end(void);

extern void *const th_traced_native_handlers[TH_NATIVE_FORMS];

/* Delivers the call of NATIVE's function with ARGC arguments (below 0: the function's arity). AT is
 * the stack pointer before the call. Returns true if the handler must call the body from a native
 * frame, at once. */
bool th_traced_native_met(const struct th_native *native, int argc, const th_term argv[],
                          uintptr_t at);

/* A native frame: calls a body for a reported call. */
struct th_native_frame {
    struct th_call *call;
    uintptr_t at;   /* stack pointer */
    th_term before; /* exception that was pending before */
    size_t below;   /* bytes of outer native frames */
};
void th_traced_native_frame_begin(struct th_native_frame *frame, uintptr_t at);
void th_traced_native_frame_over(const struct th_native_frame *frame, th_term answer);
void th_traced_native_frame_unwound(const struct th_native_frame *frame);

/* Returns the stack, in bytes, that native frames of a thread may take in addition to its own.
 * Order: before there are such threads. */
size_t th_traced_native_stack(void);

/* Resets the count of th_runtime_no_calls(), and makes children that are forked from now on report
 * nothing. */
void th_traced_native_calls_begin(void);

/* Returns whether FIRST is the only function of its code that a call with ARGC arguments can be. */
static inline bool th_traced_native_is_only(const struct th_instance_function *first, int argc)
{
    return argc < 0 || (!first->same && (int)first->arity == argc);
}

/* Keeps REQUESTS, the return requests of the call of FUNCTION that is being delivered. Returns true
 * if the call needs a native frame; then in_trace_hook must stay set until the frame begins. If the
 * stack has no room for that frame, drops REQUESTS, counts the call (th_runtime_calls_not_kept())
 * and returns false. */
bool th_traced_native_keep(const struct th_traceable_function *function,
                           struct th_live_requests *requests);

#endif
