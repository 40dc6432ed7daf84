/*
 * Exceptions: with their stack traces, and as exit reasons of processes.
 *
 * A stack begins with the raising function and its arguments. After it come the functions that wait
 * for it, in nested calls and in kept continuations. Functions that have made tail calls are gone.
 *
 * Lines are searched when the stack is read: by a function that catches the exception, or for an
 * exit reason. The line of the raising function is the place of the exception, which may be in a C
 * function that it called: such functions are not in the stack, and finding where they were called
 * would need the unwinder for each exception. The line of a function that waits in a nested call is
 * the place of the call. If these places are not known, and for kept continuations, the line is
 * that of the code's begin.
 */
#include "call_steps.h"
#include "runtime_internal.h"

#include "host/base/buffer.h"
#include "host/base/log.h"
#include "host/code/export.h"
#include "host/library/code_map.h"
#include "host/library/debuginfo/line.h"
#include "host/library/load.h"
#include "host/term/make.h"
#include "host/term/text.h"
#include "host/term/utf8.h"

#include <string.h>

enum { DEPTH = 8 /* entries, as in a BEAM */ };

struct th_mfa th_runtime_callee_name(const struct th_callee *callee)
{
    return (struct th_mfa){th_library_name(callee->library),
                           th_code_name_atom(callee->function->name), callee->function->arity};
}

struct th_mfa th_runtime_code_name(const struct th_callee *callee, const char *name, bool goes_on,
                                   int argc)
{
    if (goes_on)
        return th_runtime_callee_name(callee);
    return (struct th_mfa){th_library_name(callee->library), th_code_name_atom(name),
                           (uint32_t)argc};
}

/* A stack trace under construction, the oldest entry last. */
struct trace {
    th_env *env;
    th_term entries[DEPTH];
    size_t count;
};

/* Adds an entry; AT is the code address whose line is due. */
static void exception_add(struct trace *trace, th_term module, th_term function, th_term arguments,
                          uintptr_t at)
{
    if (trace->count < DEPTH)
        trace->entries[trace->count++] = th_make_tuple_of(trace->env, module, function, arguments,
                                                          at ? th_small((int64_t)at) : TH_NIL);
}

/* Adds a waiting function with its arity. */
static void exception_add_waiting(struct trace *trace, struct th_mfa name, uintptr_t at)
{
    exception_add(trace, name.module, name.function, th_small((int)name.arity), at);
}

/* Returns the address before the return address RETURNS if that is in CALL's library. If the code
 * has ended with a jump to the host, as optimised code does, returns the start of the code. */
static uintptr_t exception_place_in(const struct th_call *call, uintptr_t returns)
{
    return returns && th_library_executes(call->callee->library, returns - 1, 1)
               ? returns - 1
               : (uintptr_t)call->code;
}

/* Adds the kept frames from the newest down to FROM, then CALL, which waits for them; and so on
 * outwards. */
static void add_outer(struct trace *trace, const struct th_process *process, size_t from,
                      const struct th_call *call)
{
    size_t i = process->frame_count;

    for (;;) {
        for (; i > from && trace->count < DEPTH; i--) {
            const struct th_continuation *then = &process->frames[i - 1].then;
            exception_add_waiting(
                trace, th_runtime_code_name(then->callee, then->name, then->goes_on, then->argc),
                (uintptr_t)then->code);
        }
        if (!call || trace->count == DEPTH)
            return;
        exception_add_waiting(
            trace, th_runtime_code_name(call->callee, call->function, call->goes_on, call->argc),
            exception_place_in(call, call->calls_at));
        from = call->frames;
        call = call->outer;
    }
}

static th_term stack_of(struct trace *trace)
{
    return th_make_list(trace->env, trace->entries, trace->count);
}

void th_runtime_exception_of_call(struct th_process *process, const struct th_call *call,
                                  enum th_raised class, th_term reason)
{
    struct trace trace = {.env = call->env};
    uintptr_t at = exception_place_in(call, call->raised_at);

    if (call->goes_on)
        exception_add_waiting(&trace, th_runtime_callee_name(call->callee), at);
    else
        exception_add(&trace, th_library_name(call->callee->library),
                      th_code_name_atom(call->function),
                      th_make_list(call->env, call->argv, (size_t)call->argc), at);
    add_outer(&trace, process, call->frames, call->outer);
    process->raised = (struct th_exception_raised){class, true, reason, stack_of(&trace)};
}

void th_runtime_exception_of_callee(struct th_process *process, struct th_call *outer,
                                    th_term error, const struct th_continuation *callee)
{
    th_env *env = outer ? outer->env : process->env;
    struct trace trace = {.env = env};

    exception_add(&trace, callee->module, callee->function,
                  th_make_list(env, callee->argv, (size_t)callee->argc), 0);
    add_outer(&trace, process, process->base, outer);
    process->raised = (struct th_exception_raised){TH_RAISED_ERROR, true, error, stack_of(&trace)};
}

/* --- Lines ------------------------------------------------------------------------------------ */

/* Converts a file name: UTF-8, or any bytes. */
static th_term string_of(th_env *env, const char *text)
{
    size_t length = strlen(text), used;
    th_term *characters = th_env_take(env, length);
    size_t count = 0;
    uint32_t c;

    if (!th_utf8_count(text, length, &count))
        return th_make_latin1_string(env, (const unsigned char *)text, length);
    count = 0;
    for (size_t at = 0; at < length; at += used) {
        used = th_utf8_get(text + at, length - at, &c);
        characters[count++] = th_small((int64_t)c);
    }
    return th_make_list(env, characters, count);
}

static bool exception_find_line(struct th_library *library, uintptr_t address, struct th_line *line)
{
    return address && th_library_line(library, address, line) && line->file;
}

th_term th_runtime_source_place(th_env *env, struct th_library *library, uintptr_t address)
{
    struct th_line line;

    if (!exception_find_line(library, address, &line))
        return TH_AM(undefined);
    return th_make_tuple_of(env, string_of(env, line.file), th_small((int64_t)line.line));
}

th_term th_runtime_source_location(th_env *env, struct th_library *library, uintptr_t address)
{
    struct th_line line;
    th_term both[2];

    if (!exception_find_line(library, address, &line))
        return TH_NIL;
    both[0] = th_make_tuple_of(env, th_atom("file"), string_of(env, line.file));
    both[1] = th_make_tuple_of(env, th_atom("line"), th_small((int64_t)line.line));
    return th_make_list(env, both, 2);
}

/* Replaces code addresses in STACK, a trace whose lines are due, by locations. The addresses are
 * small integers, which cost nothing. The list is made anew in ENV; libraries of entries may be
 * gone. */
static th_term locate_all(th_env *env, th_term stack)
{
    size_t length = 0;
    th_term *entries;

    if (!th_get_list_length(stack, &length) || length == 0)
        return stack;
    entries = th_env_take(env, length);
    for (size_t i = 0; i < length; i++, stack = th_cell(stack)[1]) {
        const th_term *e = th_tuple_elements(th_cell(stack)[0]);
        th_term location = e[3];
        if (th_is_small(location)) {
            uintptr_t address = (uintptr_t)th_small_value(location);
            struct th_library *library = th_library_at(address);
            location = TH_NIL;
            if (library) {
                location = th_runtime_source_location(env, library, address);
                th_library_release(library);
            }
        }
        entries[i] = th_make_tuple_of(env, e[0], e[1], e[2], location);
    }
    return th_make_list(env, entries, length);
}

th_term th_runtime_call_stack(th_env *env, const struct th_exception_raised *exception)
{
    return exception->lines_due ? locate_all(env, exception->stack) : exception->stack;
}

/* --- Exit reasons ----------------------------------------------------------------------------- */

th_term th_runtime_exception_exit_reason(th_env *env, const struct th_exception_raised *exception)
{
    th_term reason = exception->reason;

    if (exception->class == TH_RAISED_EXIT)
        return reason;
    if (exception->class == TH_RAISED_THROW)
        reason = th_make_tuple_of(env, TH_AM(nocatch), reason);
    return th_make_tuple_of(env, reason, th_runtime_call_stack(env, exception));
}

static _Atomic bool reports = true; /* relaxed: a setting */

void th_runtime_set_reports(bool wanted)
{
    atomic_store_explicit(&reports, wanted, memory_order_relaxed);
}

void th_runtime_exception_report(const struct th_process *process, th_term reason)
{
    enum { MOST = 8192 /* bytes of the reason's text */ };
    struct th_buffer pid = {0};
    struct th_buffer text = {0};

    if (!atomic_load_explicit(&reports, memory_order_relaxed) || th_library_halting())
        return;
    th_text_print(&pid, process->pid);
    th_text_show_limited(&text, reason, MOST);
    th_warn("Error in process %s with exit value: %s", th_buffer_text(&pid), th_buffer_text(&text));
    th_buffer_free(&pid);
    th_buffer_free(&text);
}
