/*
 * Exceptions: with the stack that they come from, and as the ends of processes.
 *
 * The stack begins with the function that raised it, with its arguments. Who comes after that is
 * known, too: the functions that wait for it, in nested calls and in continuations that are kept.
 * Those that have made tail calls are not there any more.
 */
#include "running.h"

#include <string.h>

enum { DEPTH = 8 /* entries, as in a BEAM */ };

/* The atom of a C name, which is UTF-8 or Latin-1 and was looked at before. */
th_term th_name_atom(const char *name)
{
    th_term atom = th_atom_utf8(name, strlen(name));

    return atom == TH_NONE ? th_atom_latin1(name, strlen(name)) : atom;
}

/* A stack that grows downwards, the oldest entry last. */
struct trace {
    th_env *env;
    th_term entries[DEPTH];
    size_t count;
};

static void add(struct trace *trace, th_term module, th_term function, th_term arguments)
{
    if (trace->count < DEPTH)
        trace->entries[trace->count++] =
            th_make_tuple_of(trace->env, module, function, arguments, TH_NIL);
}

/* A function that waits, as it was called. */
static void add_waiting(struct trace *trace, const struct th_callee *callee, const char *name,
                        bool goes_on, int argc)
{
    add(trace, th_library_name(callee->library),
        th_name_atom(goes_on ? callee->function->name : name),
        th_small(goes_on ? (int)callee->function->arity : argc));
}

/* The frames that are kept from the newest down to FROM, then CALL, which waits for them; and so
 * on. */
static void add_outer(struct trace *trace, const struct th_process_run *process, size_t from,
                      const struct th_call *call)
{
    size_t i = process->frame_count;

    for (;;) {
        for (; i > from && trace->count < DEPTH; i--) {
            const struct th_continuation *then = &process->frames[i - 1].then;
            add_waiting(trace, then->callee, then->name, then->goes_on, then->argc);
        }
        if (!call || trace->count == DEPTH)
            return;
        add_waiting(trace, call->callee, call->function, call->goes_on, call->argc);
        from = call->frames;
        call = call->outer;
    }
}

static th_term stack_of(struct trace *trace)
{
    return th_make_list(trace->env, trace->entries, trace->count);
}

void th_exception_of_call(struct th_process_run *process, const struct th_call *call,
                          enum th_raised class, th_term reason)
{
    struct trace trace = {.env = call->env};

    if (call->goes_on)
        add_waiting(&trace, call->callee, NULL, true, 0);
    else
        add(&trace, th_library_name(call->callee->library), th_name_atom(call->function),
            th_make_list(call->env, call->argv, (size_t)call->argc));
    add_outer(&trace, process, call->frames, call->outer);
    process->raised = (struct th_exception_raised){class, reason, stack_of(&trace)};
}

void th_exception_of_callee(struct th_process_run *process, struct th_call *outer, th_term error,
                            const struct th_continuation *callee)
{
    th_env *env = outer ? outer->env : process->env;
    struct trace trace = {.env = env};

    add(&trace, callee->module, callee->function,
        th_make_list(env, callee->argv, (size_t)callee->argc));
    add_outer(&trace, process, process->base, outer);
    process->raised = (struct th_exception_raised){TH_RAISED_ERROR, error, stack_of(&trace)};
}

/* --- Ends of processes ----------------------------------------------------------------------- */

th_term th_exception_exit_reason(th_env *env, const struct th_exception_raised *exception)
{
    th_term reason = exception->reason;

    if (exception->class == TH_RAISED_EXIT)
        return reason;
    if (exception->class == TH_RAISED_THROW)
        reason = th_make_tuple_of(env, TH_AM(nocatch), reason);
    return th_make_tuple_of(env, reason, exception->stack);
}

static _Atomic bool reports = true; /* relaxed: a setting */

void th_runtime_set_reports(bool wanted)
{
    atomic_store_explicit(&reports, wanted, memory_order_relaxed);
}

void th_exception_report(const struct th_process_run *process, th_term reason)
{
    enum { MOST = 8192 /* bytes of the reason's text */ };
    struct th_buffer pid = {0};
    struct th_buffer text = {0};

    if (!atomic_load_explicit(&reports, memory_order_relaxed) || th_library_halting())
        return;
    th_text_print(&pid, process->pid);
    th_text_print_limited(&text, reason, MOST);
    th_warn("Error in process %s with exit value: %s", th_buffer_text(&pid), th_buffer_text(&text));
    th_buffer_free(&pid);
    th_buffer_free(&text);
}
