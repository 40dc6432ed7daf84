/*
 * The state of the calling thread, in one variable for all rooms: a debugger shows it whole (`print
 * th_self`), and a nested callback saves and restores it by pointers.
 *
 * Owner: a member belongs to the room that its comment names. The owner writes the member, and its
 * headers define the values. Rooms above may read the member.
 * Thread: only the thread itself reads a member, unless the comment names another thread.
 * Order: the thread's signal handlers may read any member. So an object is complete before a
 * pointer to the object is stored here.
 */
#ifndef TH_SELF_H
#define TH_SELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct th_attachment;
struct th_call;
struct th_callback_subject;
struct th_check_frame;
struct th_clock;
struct th_event;
struct th_library_frame;
struct th_live_thread;
struct th_scheduler;
struct th_trace_thread;

/* The thread's stack, as pthread_getattr_np(3) reports it. */
struct th_self_stack {
    uintptr_t low;      /* lowest address, that of the guard; 0: unknown */
    size_t size, guard; /* in bytes; SIZE includes the guard */
    bool known;         /* the look-up was tried */
};

struct th_self {
    /* trace/callback.h: attachment whose callback the thread runs, NULL: none. The watchdog reads
     * the pointer from another thread: relaxed stores and loads, as it only compares with NULL. */
    struct th_attachment *attachment;
    /* trace/callback.h: subject of the callbacks that are called next. NULL: the thread handles no
     * event. The subject is on the stack of the function that handles the event. library/ sets it
     * aside while destructors run. */
    struct th_callback_subject *subject;
    unsigned slot; /* trace/callback.h: enum th_tracer_slot of the callback */

    unsigned code_slot;      /* code/instance.h: the counters in which the thread counts entries */
    uintptr_t in_trace_hook; /* runtime/traced/traced_call.h: 0: in no hook of a call */
    struct th_call *call;    /* runtime/runtime.h: the call that the thread runs, NULL: none */
    const struct th_scheduler *scheduler;         /* runtime/runtime.h; NULL: no scheduler */
    const struct th_library_frame *library_frame; /* library/load.h: library code that runs outside
                                                     of callbacks; NULL: none */
    /* library/load.h: library and function of `library_frame`, which the supervisor cannot read.
     * Undefined if that is NULL. */
    const char *library, *function;
    struct th_trace_thread *trace_thread; /* trace/trace_thread.h; NULL: no event yet */
    /* trace/live/live_delivery.h: the same. NULL: no event yet, or `progress_word` is NULL.
     * progress/ clears the pointer with that word. */
    struct th_live_thread *live_thread;
    unsigned long *progress_word;       /* progress/progress.h; NULL: sections take the slow path */
    struct th_clock *clock;             /* term/clock.h; NULL: real clocks */
    struct th_check_frame *check_frame; /* check/; NULL: no call is checked */
    unsigned embed_depth;               /* embed/: nested functions of the embedding program */
    uint64_t reported;                  /* trace/: trace callbacks begun */
    /* trace/ and library/: callbacks, and calls of a library, that the thread has begun. Relaxed:
     * the watchdog reads them from another thread and only compares two readings. */
    _Atomic uint64_t callbacks, library_calls;
    /* replay/: the event that the thread plays, in shared memory; NULL: it plays no stream. */
    const struct th_event *played;
    pid_t id;                   /* crash/: of the thread, while the guard watches it, else 0 */
    struct th_self *copy;       /* self/: in libtracehost.so, the supervisor's copy; NULL: none */
    struct th_self_stack stack; /* self/: filled by th_self_stack_find() */
};

/* (Initial-exec: access is not a call in libtracehost.so either.) */
extern _Thread_local struct th_self th_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * th_self_share() shows the calling thread's th_self to the supervisor, th_self_unshare() ends that.
 * Both do nothing without a supervisor.
 *
 * In programs th_self moves into the region that both processes map (base/shared.h). In
 * libtracehost.so, where it cannot have a page of its own, the thread copies it after each change
 * that matters: th_self_changed() in rooms that are compiled with TH_SELF_COPIED.
 */
void th_self_share(void);
void th_self_unshare(void);
void th_self_copy(void);
static inline void th_self_changed(void)
{
#ifdef TH_SELF_COPIED
    if (__builtin_expect(th_self.copy != NULL, 0))
        th_self_copy();
#endif
}

/* th_self_stack() returns the calling thread's stack. The first call in a thread looks the stack up
 * by th_self_stack_find(), and must not be in a signal handler.
 * Errors: `low` is 0 if the look-up failed. If memory or descriptors are used up, the host gives
 * up; in a library, TH_FAILED is raised instead (th_give_up_if_lacking(), base/memory.h). */
__attribute__((cold)) void th_self_stack_find(void);
static inline const struct th_self_stack *th_self_stack(void)
{
    if (__builtin_expect(!th_self.stack.known, 0))
        th_self_stack_find();
    return &th_self.stack;
}

#endif
