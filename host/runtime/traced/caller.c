#include "traced_call.h"

#include "host/code/export.h"
#include "host/runtime/call_steps.h"
#include "host/runtime/mailbox.h"

#include <unwind.h>

struct walk {
    const struct th_process *process;
    const struct th_call *call; /* whose C frames are examined */
    uintptr_t from;             /* skips frames with a stack pointer below it */
    size_t kept;                /* number of kept frames not visited yet */
    uintptr_t at;               /* code address in the last frame of CALL */
    bool seen, known;           /* a frame of CALL was visited; the last one was a function's */
    struct th_waiter *unplaced; /* the latest entry of FOUND while its frame is not known */
    struct th_waiter *found;
    size_t count, limit;
};

static struct th_waiter *caller_add(struct walk *walk, const struct th_callee *callee,
                                    uintptr_t frame, uintptr_t at)
{
    struct th_waiter *place = &walk->found[walk->count++];

    *place = (struct th_waiter){.callee = callee, .frame = frame, .at = at};
    return place;
}

static void add_kept(struct walk *walk, size_t down_to)
{
    for (; walk->kept > down_to && walk->count < walk->limit; walk->kept--) {
        const struct th_continuation *then = &walk->process->frames[walk->kept - 1].then;
        caller_add(walk, then->callee, 0, (uintptr_t)then->code)->kept =
            &walk->process->frames[walk->kept - 1];
    }
}

/* Ends the C frames of the call. The runtime called the call's function, unless the outermost frame
 * was found as a function: that one was then called by the runtime. */
static void leave_call(struct walk *walk)
{
    const struct th_call *call = walk->call;

    if (walk->seen && !walk->known && walk->count < walk->limit)
        caller_add(walk, call->callee, call->sp, walk->at)->outermost = true;
    add_kept(walk, call->frames);
    walk->call = call->outer;
    walk->from = 0;
    walk->at = 0;
    walk->seen = walk->known = false;
}

/* The unwinder's "CFA" of a frame is its stack pointer at its call; the C ABI uses this name for
 * the CFA of the next frame. */
static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    uintptr_t pointer = _Unwind_GetCFA(context);
    const struct th_callee *callee;
    int interrupted;

    if (walk->unplaced) {
        walk->unplaced->frame = pointer;
        walk->unplaced->outermost = pointer >= walk->call->sp;
        walk->unplaced = NULL;
    }
    if (walk->call && pointer >= walk->call->sp)
        leave_call(walk);
    if (!walk->call || walk->count == walk->limit)
        return _URC_END_OF_STACK; /* ends the walk */
    if (pointer < walk->from)
        return _URC_NO_REASON;
    th_progress_enter();
    callee = th_code_at(_Unwind_GetRegionStart(context));
    th_progress_leave();
    if (callee && callee->code == walk->call->callee->code)
        callee = walk->call->callee; /* if several functions share the code, the call knows which
                                        one runs */
    walk->seen = true;
    walk->known = callee != NULL;
    walk->at = _Unwind_GetIPInfo(context, &interrupted) - 1;
    walk->at += (uintptr_t)interrupted; /* the interrupted instruction, or the call instruction */
    if (callee)
        walk->unplaced = caller_add(walk, callee, 0, walk->at);
    return _URC_NO_REASON;
}

size_t th_traced_callers_find(const struct th_process *process, uintptr_t from,
                              struct th_waiter found[], size_t limit)
{
    struct walk walk = {
        .process = process,
        .call = th_self.call,
        .from = from,
        .kept = process->frame_count,
        .found = found,
        .limit = limit,
    };

    if (th_runtime_dirty_is_over(
            process)) /* another thread may ask while the process' own thread goes on */
        return 0;
    if (from == TH_FROM_KEPT)
        add_kept(&walk, process->base);
    if (walk.call && walk.count < limit)
        _Unwind_Backtrace(visit_frame, &walk);
    while (walk.call && walk.count < limit) { /* for code that cannot be unwound */
        walk.seen = true;
        leave_call(&walk);
    }
    return walk.count;
}

/* --- Returns of control ----------------------------------------------------------------------- */

void th_traced_caught_by(struct th_process *process, const struct th_callee *callee)
{
    struct th_caller to = {.kind = callee ? TH_CALLER_FUNCTION : TH_CALLER_UNDEFINED};

    if (callee)
        to.function = th_runtime_callee_name(callee);
    th_live_return_to(&process->live, &to);
}

static void report_return_to_unknown(struct th_process *process)
{
    th_live_return_to(&process->live, &(struct th_caller){.kind = TH_CALLER_UNKNOWN});
}

void th_traced_return_to_caller(struct th_process *process, uintptr_t from)
{
    struct th_waiter caller;

    th_traced_caught_by(process,
                        th_traced_callers_find(process, from, &caller, 1) ? caller.callee : NULL);
}

void th_traced_raise_to_caller(struct th_process *process, uintptr_t from)
{
    if (th_traced_callers_find(process, from, &process->raised_to, 1) == 0)
        report_return_to_unknown(process);
}

void th_traced_caught(struct th_process *process, bool caught)
{
    if (caught)
        th_traced_caught_by(process, process->raised_to.callee);
    else
        report_return_to_unknown(process);
}

void th_traced_caught_by_caller(struct th_process *process, uintptr_t from)
{
    struct th_waiter caller;

    th_traced_caught(process, th_traced_callers_find(process, from, &caller, 1) > 0 &&
                                  caller.frame != 0 && caller.frame == process->raised_to.frame);
}
