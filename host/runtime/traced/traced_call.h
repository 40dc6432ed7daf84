/*
 * Traced calls: calls of functions that have breakpoints, in their export entries, which external
 * calls meet, or in their machine code, which all calls meet; and calls of which somebody wants to
 * know the end, which stay open until it. Inner header of runtime/.
 *
 * An open call belongs to a physical frame. Most are on the runtime's: a function that runs, or
 * waits for what it has called. Which one that is, two things tell: the function that made the
 * nested call in which it runs, and how many functions of the process wait on kept frames below it.
 * Tail calls stay on the frame, so several calls can be open on it, and end together, the latest
 * first. A function that yields or awaits keeps its place, and so its frame. A call that C code has
 * made is on a frame of the C stack (native_call.h).
 *
 * A process keeps as many open calls as the runtime was told to (struct th_runtime_setup); of more,
 * the oldest are forgotten, so that what happens now stays exact, and counted.
 *
 * All by the thread that runs the process.
 */
#ifndef TH_TRACED_CALL_H
#define TH_TRACED_CALL_H

#include "caller.h"
#include "host/runtime/process_internal.h"

/* From now on the functions of modules are known to the tracing; no more. By the thread that adds
 * and removes modules. */
void th_traced_calls_begin(const struct th_runtime_setup *setup);
void th_traced_calls_end(void);

/* PROCESS makes a call, which reaches CALLEE by an entry that is armed, with ARGV; in a nested call
 * that OUTER has made, NULL: in none. Its frame is that of whoever runs in OUTER. */
void th_traced_call(struct th_process_run *process, const struct th_callee *callee,
                    const th_term *argv, const struct th_call *outer);

/* Ends the open calls of the frame that is as deep as PROCESS is now, with its `outcome`, or with
 * what was `raised`. */
void th_traced_calls_over(struct th_process_run *process, const struct th_call *outer);

static inline void th_traced_frame_over(struct th_process_run *process, const struct th_call *outer)
{
    if (__builtin_expect(process->open.count | process->live.returning_to, 0))
        th_traced_calls_over(process, outer);
}

/* The atom that tells it. */
th_term th_class_atom(enum th_raised class);

/* The code of a function of PROCESS has returned without an end of the function: what is left of
 * its native frames is dropped. */
void th_traced_code_over(struct th_process_run *process, const struct th_call *outer);

/* PROCESS ends with calls that are open: nothing is told of their ends. */
void th_traced_calls_drop(struct th_process_run *process);

/* --- Native frames (native_call.c) ------------------------------------------------------------ */

/* The host works on open calls, or tells a call: what a signal handler calls then is not told. Else
 * 0. While a call is told that was met in machine code it is the stack pointer before that call. */
enum { TH_BUSY = 1, TH_FORKED = 2 /* for ever: the process is a child that was forked */ };
extern _Thread_local uintptr_t th_traced_busy
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

struct th_open_call {
    const struct th_live_function *function;
    const struct th_call *outer; /* which of the runtime's frames it is on, or was called from */
    size_t frames;
    uintptr_t native; /* the stack pointer of its native frame, 0: it is on the runtime's */
    size_t below;     /* of that: bytes that the ones below take */
    struct th_live_wants wants;
};

static inline struct th_open_call *th_open_at(const struct th_open_calls *open, size_t i)
{
    return &open->ring[(open->bottom + i) & (open->capacity - 1)];
}

/* The call that was kept last, NULL: there is none. */
static inline struct th_open_call *th_open_top(const struct th_process_run *process)
{
    const struct th_open_calls *open = &process->open;

    return open->count > 0 ? th_open_at(open, open->count - 1) : NULL;
}

/* Makes room for a call, if need be at the cost of the oldest. */
void th_open_make_room(struct th_process_run *process);

/* A call that is to be kept: the caller sets all of it. */
static inline struct th_open_call *th_open_add(struct th_process_run *process)
{
    struct th_open_calls *open = &process->open;

    if (__builtin_expect(open->count == open->limit, 0))
        th_open_make_room(process);
    return th_open_at(open, open->count++);
}

/* The wants of a call cannot be kept. */
void th_open_refuse(struct th_process_run *process, struct th_live_wants *wants);

static inline bool th_open_is_below(const struct th_open_call *call, uintptr_t at)
{
    return call && call->native != 0 && call->native < at;
}

/* Drops those of native frames that are not there any more: below the stack pointer AT. Until the
 * first that is still there. */
void th_open_drop_left(struct th_process_run *process, uintptr_t at);
static inline void th_open_drop_below(struct th_process_run *process, uintptr_t at)
{
    if (__builtin_expect(th_open_is_below(th_open_top(process), at), 0))
        th_open_drop_left(process, at);
}

/* The last one is the only one of the native frame AT, and was kept last. */
static inline bool th_open_is_single(const struct th_process_run *process, uintptr_t at)
{
    const struct th_open_calls *open = &process->open;

    return open->count > 0 && th_open_at(open, open->count - 1)->native == at &&
           (open->count == 1 || th_open_at(open, open->count - 2)->native != at);
}

/* Ends those of the native frame AT, with what END(CONTEXT, ...) does; those that were kept later
 * are of the runtime's frame, and stay. */
typedef void th_open_end(void *context, struct th_process_run *process, struct th_open_call *call);
void th_open_end_native(struct th_process_run *process, uintptr_t at, th_open_end *end,
                        void *context);

/* They are the runtime's frame's from now on. */
void th_open_hand_over(struct th_process_run *process, uintptr_t at);

#endif
