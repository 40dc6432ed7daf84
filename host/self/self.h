/*
 * What a thread of the host is in: one variable for all rooms, so that a debugger shows it whole
 * (`print th_self`), and a nested callback saves and restores it by pointers.
 *
 * A member belongs to the room that its comment names: that room writes it, and its headers say
 * what the values mean. Rooms above may read it. Only the thread itself reads a member, but where
 * another thread is named. Its signal handlers read any of them, so what a pointer leads to is
 * complete before the pointer is stored.
 */
#ifndef TH_SELF_H
#define TH_SELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct th_attachment;
struct th_call;
struct th_callback_subject;
struct th_check_frame;
struct th_clock;
struct th_library_frame;
struct th_scheduler;
struct th_trace_thread;

/* The thread's stack, as pthread_getattr_np(3) says. */
struct th_self_stack {
    uintptr_t low;      /* its lowest address, that of the guard; 0: it could not be found out */
    size_t size, guard; /* bytes; SIZE counts the guard */
    bool known;         /* it has been tried */
};

struct th_self {
    /* trace/callback.h: whose callback the thread is in, NULL: none. The watchdog reads it from
     * another thread: stored and loaded relaxed, as it only wants to know whether there is one. */
    struct th_attachment *attachment;
    /* trace/callback.h: what the callbacks that are called next are about. NULL: the thread handles
     * no event. It is on the stack of the function that handles the event. library/ sets it aside
     * while it calls destructors. */
    struct th_callback_subject *subject;
    unsigned slot; /* trace/callback.h: enum th_tracer_slot of the callback */

    unsigned code_slot;      /* code/instance.h: in which counters the thread counts its entries */
    uintptr_t in_trace_hook; /* runtime/traced/traced_call.h: 0: it is in no hook of a call */
    struct th_call *call;    /* runtime/runtime.h: the call that it runs, NULL: none */
    const struct th_scheduler *scheduler;         /* runtime/runtime.h; NULL: it is none */
    const struct th_library_frame *library_frame; /* library/load.h: code of a library that it
                                                     runs outside of callbacks; NULL: none */
    struct th_trace_thread *trace_thread; /* trace/trace_thread.h; NULL: it had no event yet */
    unsigned long *progress_word;       /* progress/progress.h; NULL: sections take the slow way */
    struct th_clock *clock;             /* term/clock.h; NULL: it reads real clocks */
    struct th_check_frame *check_frame; /* check/; NULL: no call is checked */
    unsigned embed_depth;               /* embed/: functions of the program that it is in */
    uint64_t reported;                  /* trace/: trace callbacks that it has begun */
    /* trace/ and library/: callbacks, and calls of a library, that it has begun. Relaxed, as the
     * watchdog, which reads them from another thread, only compares two readings. */
    _Atomic uint64_t callbacks, library_calls;
    struct th_self_stack stack; /* self/: th_self_stack_find() fills it */
};

/* (Initial-exec: looking is no call in libtracehost.so either.) */
extern _Thread_local struct th_self th_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The calling thread's stack, looked up at the first call in the thread, which must not be in a
 * signal handler. Ends the program if there is no memory for that, as th_alloc() does. */
__attribute__((cold)) void th_self_stack_find(void);
static inline const struct th_self_stack *th_self_stack(void)
{
    if (__builtin_expect(!th_self.stack.known, 0))
        th_self_stack_find();
    return &th_self.stack;
}

#endif
