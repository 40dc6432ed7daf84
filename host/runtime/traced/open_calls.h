/*
 * Open calls of this host: those whose end somebody wants to know, in a ring for each process.
 * Inner header of runtime/.
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
#ifndef TH_OPEN_CALLS_H
#define TH_OPEN_CALLS_H

#include "host/runtime/runtime_internal.h"

/* A process keeps at most LIMIT open calls, 0: a million. While there are no processes. */
void th_traced_open_begin(size_t limit);

struct th_open_call {
    const struct th_traceable_function *function;
    const struct th_call *outer; /* which of the runtime's frames it is on, or was called from */
    size_t frames;
    uintptr_t native; /* the stack pointer of its native frame, 0: it is on the runtime's */
    size_t below;     /* of that: bytes that the ones below take */
    struct th_live_wants wants;
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
void th_traced_open_refuse(struct th_process *process, struct th_live_wants *wants);

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

/* Gives the memory back if no call is open, unless it is little. */
void th_traced_open_shrink(struct th_process *process);

/* Drops all, and gives the memory back: nothing is told of their ends. */
void th_traced_open_drop_all(struct th_process *process);

#endif
