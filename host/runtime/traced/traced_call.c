/* Calls that meet breakpoints, and their ends. */
#include "traced_call.h"

#include "native_call.h"

#include "host/self/self.h"

void th_traced_calls_begin(const struct th_runtime_setup *setup)
{
    th_traced_open_begin(setup->open_calls);
    th_traced_native_calls_begin();
    if (setup->tracing)
        th_traced_functions_begin(setup->tracing);
}

void th_traced_calls_end(void)
{
    th_traced_functions_end();
}

/* The call goes on to NEXT, the native site of CALLEE; NULL: that has no breakpoint. */
static inline __attribute__((always_inline)) void
meet_at_entry(struct th_process *process, const struct th_callee *callee, const th_term *argv,
              const struct th_call *outer, struct th_site *next)
{
    const struct th_module_function *traced = callee->entry->known;
    struct th_call_event call = {.process = &process->live,
                                 .function = &traced->live,
                                 .site = traced->live.function.site,
                                 .arguments = argv,
                                 .external = true};
    struct th_live_wants wants;
    struct th_open_call *made;

    if (th_self.in_trace_hook)
        return;
    th_self.in_trace_hook = TH_BUSY;
    if (th_live_is_returning(&process->live))
        th_traced_caught_by_caller(process, TH_FROM_KEPT);
    if (next)
        th_live_call_before(&call, next, &wants);
    else
        th_live_call(&call, &wants);
    if (wants.count > 0) {
        made = th_traced_open_add(process);
        made->function = &traced->live;
        made->outer = outer;
        made->frames = process->frame_count;
        made->native = 0;
        th_live_wants_move(&made->wants, &wants);
    }
    th_self.in_trace_hook = 0;
}

static __attribute__((noinline)) void meet_both(struct th_process *process,
                                                const struct th_callee *callee, const th_term *argv,
                                                const struct th_call *outer, struct th_site *next)
{
    meet_at_entry(process, callee, argv, outer, next);
}

void th_traced_call(struct th_process *process, const struct th_callee *callee, const th_term *argv,
                    const struct th_call *outer)
{
    const struct th_instance_function *code = callee->known;

    if (__builtin_expect(code && code->site && th_breakpoint_site_has_any(code->site), 0))
        meet_both(process, callee, argv, outer, code->site);
    else
        meet_at_entry(process, callee, argv, outer, NULL);
}

th_term th_traced_class_atom(enum th_raised class)
{
    return class == TH_RAISED_ERROR   ? TH_AM(error)
           : class == TH_RAISED_THROW ? TH_AM(throw)
                                      : TH_AM(exit);
}

/* Ends the open calls of that frame. False: there was none. */
static bool end_open_calls(struct th_process *process, const struct th_call *outer)
{
    struct th_open_calls *open = &process->open;
    bool ended = false;

    for (; open->count > 0; ended = true) {
        struct th_open_call call = *th_traced_open_top(process);
        if (call.outer != outer || call.frames != process->frame_count)
            break;
        open->count--;
        if (process->outcome != TH_NONE)
            th_live_return(&process->live, call.function, &call.wants, process->outcome);
        else
            th_live_raise(&process->live, call.function, &call.wants,
                          th_traced_class_atom(process->raised.class), process->raised.reason);
    }
    th_traced_open_shrink(process);
    return ended;
}

/* An exception that passes a frame of which nobody knows is not followed further. */
void th_traced_calls_over(struct th_process *process, const struct th_call *outer)
{
    bool raised = process->outcome == TH_NONE;

    if (th_self.in_trace_hook)
        return;
    th_self.in_trace_hook = TH_BUSY;
    th_traced_open_drop_code(process, outer);
    if (!raised && th_live_is_returning(&process->live))
        th_traced_caught_by_code(process);
    if (!end_open_calls(process, outer) && raised)
        th_traced_caught_at(process, 0);
    if (th_live_is_returning(&process->live))
        (raised ? th_traced_raise_to_caller : th_traced_return_to_caller)(process, TH_FROM_KEPT);
    th_self.in_trace_hook = 0;
}
