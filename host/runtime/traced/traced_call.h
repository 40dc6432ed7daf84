/*
 * Traced calls: calls of functions with breakpoints in export entries (external calls) or in
 * machine code (all calls), and the ends of the calls that stay open. Inner header of runtime/.
 *
 * Thread: the thread that runs the process.
 */
#ifndef TH_TRACED_CALL_H
#define TH_TRACED_CALL_H

#include "host/runtime/runtime_internal.h"

/* Starts tracing of calls as SETUP requests, and makes the functions of modules known to the
 * tracing.
 * Thread: the thread that adds and removes modules, while there are no processes. */
void th_traced_calls_begin(const struct th_runtime_setup *setup);

/* Reports an external call of CALLEE with ARGV by PROCESS, through an export entry that is armed.
 * OUTER made the nested call that the call belongs to; NULL: depth 0. The call is on the frame of
 * the function that runs in OUTER. */
void th_traced_call(struct th_process *process, const struct th_callee *callee, const th_term *argv,
                    const struct th_call *outer);

/* Ends the open calls of the current frame of PROCESS with its `outcome` or `raised`. */
void th_traced_calls_over(struct th_process *process, const struct th_call *outer);

static inline void th_traced_frame_over(struct th_process *process, const struct th_call *outer)
{
    if (__builtin_expect(process->open.count | process->live.returning_to, 0))
        th_traced_calls_over(process, outer);
}

/* Returns the atom of CLASS. */
th_term th_traced_class_atom(enum th_raised class);

/* Values of th_self.in_trace_hook while the host works on open calls or reports a call: calls by a
 * signal handler are then not reported. 0: no such work. While a call from machine code is
 * reported, the value is the stack pointer before the call. */
enum { TH_BUSY = 1, TH_FORKED = 2 /* for ever: the process is a forked child */ };

/* --- Open calls (traced_call.c) --------------------------------------------------------------- */

/*
 * Open calls: calls with return requests, in a ring for each process.
 *
 * An open call belongs to a physical frame. Most open calls are on a frame of the runtime: the
 * frame of a function that runs, or that waits for its callee. Two values identify such a frame:
 * the function that made the nested call (`outer`), and the number of kept frames below (`frames`).
 * Tail calls stay on the frame, so several calls can be open on one frame; they end together, the
 * latest first. A function that yields or awaits keeps its frame. A call made by C code is on a
 * frame of the C stack (native_call.h).
 *
 * A process keeps at most the number of open calls in struct th_runtime_setup. Beyond it the oldest
 * are dropped and counted, so that current events stay exact.
 *
 * Thread: the thread that runs the process.
 */

struct th_open_call {
    const struct th_traceable_function *function;
    const struct th_call *outer; /* the runtime's frame that it is on or was called from */
    size_t frames;
    uintptr_t native; /* stack pointer of its native frame; 0: on the runtime's frame */
    size_t below;     /* with NATIVE: bytes of outer native frames */
    bool framed;      /* with NATIVE: the frame's first call; the others came by jumps */
    struct th_live_requests requests;
};

static inline struct th_open_call *th_traced_open_at(const struct th_open_calls *open, size_t i)
{
    return &open->ring[(open->bottom + i) & (open->capacity - 1)];
}

/* Returns the latest open call; NULL: none. */
static inline struct th_open_call *th_traced_open_top(const struct th_process *process)
{
    const struct th_open_calls *open = &process->open;

    return open->count > 0 ? th_traced_open_at(open, open->count - 1) : NULL;
}

/* Makes room for an open call; at the limit, drops the oldest. */
void th_traced_open_make_room(struct th_process *process);

/* Adds an open call; the caller must set all fields. */
static inline struct th_open_call *th_traced_open_add(struct th_process *process)
{
    struct th_open_calls *open = &process->open;

    if (__builtin_expect(open->count == open->limit, 0))
        th_traced_open_make_room(process);
    return th_traced_open_at(open, open->count++);
}

/* Drops the return requests of a call that cannot be kept, and counts. */
void th_traced_open_refuse(struct th_process *process, struct th_live_requests *requests);

static inline bool th_traced_open_is_below(const struct th_open_call *call, uintptr_t at)
{
    return call && call->native != 0 && call->native < at;
}

/* Drops open calls of native frames that are gone, that is, below the stack pointer AT. Stops at
 * the first call of a frame that exists. */
void th_traced_open_drop_left(struct th_process *process, uintptr_t at);
static inline void th_traced_open_drop_below(struct th_process *process, uintptr_t at)
{
    if (__builtin_expect(th_traced_open_is_below(th_traced_open_top(process), at), 0))
        th_traced_open_drop_left(process, at);
}

/* Returns the latest open call if it is the only one of native frame AT; else NULL. */
static inline struct th_open_call *th_traced_open_single(const struct th_process *process,
                                                         uintptr_t at)
{
    const struct th_open_calls *open = &process->open;
    struct th_open_call *top;

    if (__builtin_expect(open->count == 0, 0))
        return NULL;
    top = th_traced_open_at(open, open->count - 1);
    return top->native == at && top->framed ? top : NULL;
}

/* Ends the open calls of native frame AT by END(CONTEXT, ...). Later calls, which are on the
 * runtime's frame, stay. */
typedef void th_traced_open_end(void *context, struct th_process *process,
                                struct th_open_call *call);
void th_traced_open_end_native(struct th_process *process, uintptr_t at, th_traced_open_end *end,
                               void *context);

/* Moves the open calls of native frame AT to the runtime's frame. */
void th_traced_open_hand_over(struct th_process *process, uintptr_t at);

/* Drops the remaining open calls of native frames, after the code of a function of PROCESS has
 * returned without an end of the function. */
void th_traced_open_drop_code(struct th_process *process, const struct th_call *outer);

/* Drops all open calls, without reporting their ends, and frees the ring. */
void th_traced_open_drop_all(struct th_process *process);

/* --- Callers (caller.c) ----------------------------------------------------------------------- */

/*
 * Callers: the functions that wait on the stacks of a process.
 *
 * A process waits in kept frames and, while it runs, on the C stack of the thread: first the frames
 * of the code that runs, then the frames of the code that called th_call(), and so on; between them
 * come the kept frames of each call. The unwinder finds the C frames. A frame is a function's if
 * the code of the frame begins where the function's code does (th_code_at()). Other frames are of
 * untraceable C functions or of the host, and are skipped. Code that runs in the place of a
 * function (a continuation, or a static function that the function ended with a jump to) counts as
 * the function if the runtime calls it.
 *
 * Callers are searched on request, and not cached. A walk takes about a microsecond a frame; so the
 * stack trace of an exception has no local functions, as each exception would take a walk.
 *
 * Thread: the thread that runs the process.
 */

/* Start of a walk. TH_FROM_KEPT: at kept frames, for calls that the runtime makes or ends.
 * TH_FROM_HERE: at the caller of the host. Other values: at the C frames that existed when the
 * stack pointer was FROM. */
enum { TH_FROM_KEPT = 0, TH_FROM_HERE = 1 };

/* Stores at most LIMIT callers in FOUND, the nearest first, and returns their number. */
size_t th_traced_callers_find(const struct th_process *process, uintptr_t from,
                              struct th_waiter found[], size_t limit);

/*
 * Report to which caller control returns (th_live_return_to()).
 *
 * th_traced_return_to_caller(): at once, after calls have ended with a value; FROM as above.
 *
 * th_traced_raise_to_caller(): after an exception the event waits until the exception is caught.
 * Code of libraries catches with th_call_then() and TH_CATCHES, with th_catch(), or by ignoring the
 * exception: it returns a term or calls another function. The event names the catcher only if that
 * is the frame that the exception came to last. An exception that passes a frame without return
 * requests is not followed further.
 */
void th_traced_return_to_caller(struct th_process *process, uintptr_t from);
void th_traced_raise_to_caller(struct th_process *process, uintptr_t from);

/* Record that an exception may have been caught. th_traced_caught_by_caller(): by the function
 * found from FROM. th_traced_caught_by(): by CALLEE for certain. th_traced_caught(): if CAUGHT, by
 * the function that the exception came to, else by an unknown one. */
void th_traced_caught_by_caller(struct th_process *process, uintptr_t from);
void th_traced_caught_by(struct th_process *process, const struct th_callee *callee);
void th_traced_caught(struct th_process *process, bool caught);

#endif
