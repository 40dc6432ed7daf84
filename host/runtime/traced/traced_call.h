/*
 * Traced calls: calls of functions that have breakpoints, in their export entries, which external
 * calls meet, or in their machine code, which all calls meet; and their ends, if they stay open
 * (below). Inner header of runtime/.
 *
 * All by the thread that runs the process.
 */
#ifndef TH_TRACED_CALL_H
#define TH_TRACED_CALL_H

#include "host/runtime/runtime_internal.h"

/* From now on calls are traced as SETUP says, and the functions of modules are known to the
 * tracing. By the thread that adds and removes modules, while there are no processes. */
void th_traced_calls_begin(const struct th_runtime_setup *setup);

/* PROCESS makes a call, which reaches CALLEE by an entry that is armed, with ARGV; in a nested call
 * that OUTER has made, NULL: in none. Its frame is that of whoever runs in OUTER. */
void th_traced_call(struct th_process *process, const struct th_callee *callee, const th_term *argv,
                    const struct th_call *outer);

/* Ends the open calls of the frame that is as deep as PROCESS is now, with its `outcome`, or with
 * what was `raised`. */
void th_traced_calls_over(struct th_process *process, const struct th_call *outer);

static inline void th_traced_frame_over(struct th_process *process, const struct th_call *outer)
{
    if (__builtin_expect(process->open.count | process->live.returning_to, 0))
        th_traced_calls_over(process, outer);
}

/* The atom that tells it. */
th_term th_traced_class_atom(enum th_raised class);

/* Values of th_self.in_trace_hook while the host works on open calls, or reports a call: calls that
 * a signal handler makes then are not reported. Else it is 0. While a call is reported that was met
 * in machine code it is the stack pointer before that call. */
enum { TH_BUSY = 1, TH_FORKED = 2 /* for ever: the process is a child that was forked */ };

/* --- Open calls (traced_call.c) --------------------------------------------------------------- */

/*
 * Open calls of this host: those whose end somebody wants to know, in a ring for each process.
 *
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

struct th_open_call {
    const struct th_traceable_function *function;
    const struct th_call *outer; /* which of the runtime's frames it is on, or was called from */
    size_t frames;
    uintptr_t native; /* the stack pointer of its native frame, 0: it is on the runtime's */
    size_t below;     /* of that: bytes that the ones below take */
    struct th_live_requests requests;
};

static inline struct th_open_call *th_traced_open_at(const struct th_open_calls *open, size_t i)
{
    return &open->ring[(open->bottom + i) & (open->capacity - 1)];
}

/* The call that was kept last, NULL: there is none. */
static inline struct th_open_call *th_traced_open_top(const struct th_process *process)
{
    const struct th_open_calls *open = &process->open;

    return open->count > 0 ? th_traced_open_at(open, open->count - 1) : NULL;
}

/* Makes room for a call, if need be at the cost of the oldest. */
void th_traced_open_make_room(struct th_process *process);

/* A call that is to be kept: the caller sets all of it. */
static inline struct th_open_call *th_traced_open_add(struct th_process *process)
{
    struct th_open_calls *open = &process->open;

    if (__builtin_expect(open->count == open->limit, 0))
        th_traced_open_make_room(process);
    return th_traced_open_at(open, open->count++);
}

/* The wants of a call cannot be kept. */
void th_traced_open_refuse(struct th_process *process, struct th_live_requests *requests);

static inline bool th_traced_open_is_below(const struct th_open_call *call, uintptr_t at)
{
    return call && call->native != 0 && call->native < at;
}

/* Drops those of native frames that are not there any more: below the stack pointer AT. Until the
 * first that is still there. */
void th_traced_open_drop_left(struct th_process *process, uintptr_t at);
static inline void th_traced_open_drop_below(struct th_process *process, uintptr_t at)
{
    if (__builtin_expect(th_traced_open_is_below(th_traced_open_top(process), at), 0))
        th_traced_open_drop_left(process, at);
}

/* The last one is the only one of the native frame AT, and was kept last. */
static inline bool th_traced_open_is_single(const struct th_process *process, uintptr_t at)
{
    const struct th_open_calls *open = &process->open;

    return open->count > 0 && th_traced_open_at(open, open->count - 1)->native == at &&
           (open->count == 1 || th_traced_open_at(open, open->count - 2)->native != at);
}

/* Ends those of the native frame AT, with what END(CONTEXT, ...) does; those that were kept later
 * are of the runtime's frame, and stay. */
typedef void th_traced_open_end(void *context, struct th_process *process,
                                struct th_open_call *call);
void th_traced_open_end_native(struct th_process *process, uintptr_t at, th_traced_open_end *end,
                               void *context);

/* They are the runtime's frame's from now on. */
void th_traced_open_hand_over(struct th_process *process, uintptr_t at);

/* The code of a function of PROCESS has returned without an end of the function: what is left of
 * its native frames is dropped. */
void th_traced_open_drop_code(struct th_process *process, const struct th_call *outer);

/* Drops all, and gives the memory back: nothing is told of their ends. */
void th_traced_open_drop_all(struct th_process *process);

/* --- Callers (caller.c) ----------------------------------------------------------------------- */

/*
 * Who called: the functions that wait on a process' stacks.
 *
 * A process waits in kept frames and, while it runs, on the C stack of the thread: that of the code
 * that runs, then that of the code which has called th_call(), and so on, each with the kept frames
 * of what waits for it in between. On a C stack the unwinder finds frames, and a frame is a
 * function's that begins where the frame's code does (th_code_at()); what is none is a C function
 * that nobody can trace, or the host's, and passed over. What runs in the place of a function (a
 * continuation, a static function that it ended with a jump to) is that function, where it is
 * called by the runtime itself.
 *
 * Callers are found when somebody asks, and not kept. A walk takes about a microsecond a frame; so
 * the stack trace of an exception has no local functions, as each exception would take a walk. By
 * the thread that runs the process.
 */

/* Begin with kept frames: for what the runtime calls, or ends. Else with the C frames that were
 * there when the stack pointer was FROM; TH_FROM_HERE: with who has called the host. */
enum { TH_FROM_KEPT = 0, TH_FROM_HERE = 1 };

/* The nearest first, at most LIMIT. Returns how many there are. */
size_t th_traced_callers_find(const struct th_process *process, uintptr_t from,
                              struct th_waiter found[], size_t limit);

/*
 * Who wants to know is told where control comes back to (th_live_return_to()): at once when calls
 * have ended with a value, which FROM tells as above.
 *
 * After an exception it is when that is caught. How code of libraries catches: th_call_then() with
 * TH_CATCHES; th_catch(); or it goes on although what it has called has raised: it returns a term,
 * or calls another function. Only who catches in the frame that the exception came to last has been
 * returned to; an exception that passes a function of which nobody has wanted to know the end is
 * not followed any further.
 */
void th_traced_return_to_caller(struct th_process *process, uintptr_t from);
void th_traced_raise_to_caller(struct th_process *process, uintptr_t from);

/* An exception may have been caught: by who is found FROM there; by CALLEE, for sure. And where
 * that is known: if CAUGHT by the function that the exception came to, else by nobody who is known.
 */
void th_traced_caught_by_caller(struct th_process *process, uintptr_t from);
void th_traced_caught_by(struct th_process *process, const struct th_callee *callee);
void th_traced_caught(struct th_process *process, bool caught);

#endif
