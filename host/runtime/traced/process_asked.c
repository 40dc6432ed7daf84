/* Operations of match specifications on a running process. */
#include "traced_call.h"
#include "tracepoint.h"

#include "host/code/export.h"
#include "host/code/instance.h"
#include "host/library/load.h"
#include "host/runtime/call_steps.h"
#include "host/runtime/mailbox.h"
#include "host/term/make.h"
#include "host/term/text.h"

static struct th_process *process_asked_of(void *context)
{
    return th_runtime_process_of_live(context);
}

/* --- Callers ---------------------------------------------------------------------------------- */

/* Returns the start of a caller search for the current call: C frames for a local call, kept frames
 * for an external one. */
static uintptr_t told_from(void)
{
    return th_self.in_trace_hook > TH_BUSY ? th_self.in_trace_hook : TH_FROM_KEPT;
}

/* Returns whether the runtime made the current call, which was found in the code of FUNCTION. A
 * call by C code, including a jump from there, has arguments elsewhere. */
static bool is_external(void *context, const struct th_mfa *function, const th_term *arguments)
{
    const struct th_call *call = th_self.call;
    struct th_mfa called;

    (void)context;
    if (!call || call->goes_on || th_self.in_trace_hook != call->sp || arguments != call->argv)
        return false;
    called = th_runtime_callee_name(call->callee);
    return called.module == function->module && called.function == function->function &&
           called.arity == function->arity;
}

/* Returns {Module, Function, Arity, LAST}, without LAST if that is TH_NONE. */
static th_term waiter_term(th_env *env, const struct th_waiter *waiter, th_term last)
{
    struct th_mfa name = th_runtime_callee_name(waiter->callee);
    th_term arity = th_small((int)name.arity);

    return last == TH_NONE ? th_make_tuple_of(env, name.module, name.function, arity)
                           : th_make_tuple_of(env, name.module, name.function, arity, last);
}

static bool find_caller(void *context, struct th_waiter *caller)
{
    return th_traced_callers_find(process_asked_of(context), told_from(), caller, 1) > 0;
}

static th_term process_asked_caller_term(void *context, th_env *env)
{
    struct th_waiter caller;

    return find_caller(context, &caller) ? waiter_term(env, &caller, TH_NONE) : TH_AM(undefined);
}

static th_term caller_line_term(void *context, th_env *env)
{
    struct th_waiter caller;

    if (!find_caller(context, &caller))
        return TH_AM(undefined);
    return waiter_term(env, &caller,
                       th_runtime_source_place(env, caller.callee->library, caller.at));
}

static th_term stack_term(void *context, th_env *env, size_t depth)
{
    struct th_waiter callers[TH_EXECUTION_CALLERS];
    th_term entries[TH_EXECUTION_CALLERS];
    size_t count =
        th_traced_callers_find(process_asked_of(context), told_from(), callers,
                               depth < TH_EXECUTION_CALLERS ? depth : TH_EXECUTION_CALLERS);

    for (size_t i = 0; i < count; i++)
        entries[i] =
            waiter_term(env, &callers[i],
                        th_runtime_source_location(env, callers[i].callee->library, callers[i].at));
    return th_make_list(env, entries, count);
}

/* --- Sequential tokens ----------------------------------------------------------------------- */

static th_term process_asked_is_seq_trace(void *context)
{
    return process_asked_of(context)->seq.set ? TH_AM(true) : TH_AM(false);
}

static th_term process_asked_get_seq_token(void *context, th_env *env)
{
    th_term token;

    if (!th_runtime_dirty_take(process_asked_of(context)))
        return TH_NONE;
    token = th_runtime_seq_token(process_asked_of(context), env);
    th_runtime_dirty_let_go(process_asked_of(context));
    return token;
}

static th_term process_asked_set_seq_token(void *context, th_env *env, th_term component,
                                           th_term value)
{
    th_term before = th_runtime_seq_set(process_asked_of(context), env, component, value);

    return before == TH_NONE ? TH_MATCH_RAISED : before;
}

/* --- The dump -------------------------------------------------------------------------------- */

/*
 * The stack of a process as a BEAM's dump prints it: waiting functions, the nearest first, and the
 * functions that catch exceptions.
 *
 *     Stack dump:
 *     0x00007f2d5a3ffb10 Return addr 0x00007f2d5a61c5f1 (party:call/3 + 113) party.c:160
 *
 *     0x00007f2d4c0012a8 Return addr 0x00007f2d5a61c290 (party:with_kept/2 + 0) party.c:294
 *     y(0)     {kept,term}
 *     y(1)     Catch 0x00007f2d5a61c290 (party:with_kept/2 + 0)
 *
 * A function on the C stack has the stack pointer of its call as address, and the offset to which
 * the call returns. A function in a kept frame (th_call_then()) has the address of its terms, which
 * are its y registers, and the name and address of the code that will continue: the handler, if it
 * catches. A function without symbol is MODULE+0xOFFSET. The source line, if known, is an addition
 * to a BEAM's dump.
 */
enum {
    MOST_FRAMES = 64,
    TERM_BYTES = 200 /* of the text of a kept term */
};

/* Prints the code at ADDRESS, in CALLEE's instance: CALLEE itself, or a function with ARGC
 * arguments. */
static void print_code(struct th_buffer *text, const struct th_callee *callee, uintptr_t address,
                       int argc)
{
    struct th_code_place place;
    bool known;

    th_progress_enter();
    known = th_code_place(address, &place);
    th_progress_leave();
    th_buffer_add_byte(text, '(');
    if (!known) {
        th_buffer_add_text(text, callee->name);
    } else if (address - place.inside == (uintptr_t)callee->code) {
        th_buffer_printf(text, "%s + %zu", callee->name, (size_t)place.inside);
    } else if (place.function) {
        th_text_print_atom(text, th_library_name(callee->library));
        th_buffer_printf(text, ":%s/%d + %zu", place.function, argc, (size_t)place.inside);
    } else {
        th_text_print_atom(text, th_library_name(callee->library));
        th_buffer_printf(text, "+0x%zx", (size_t)place.inside);
    }
    th_buffer_add_byte(text, ')');
}

static void print_address(struct th_buffer *text, const char *before, uintptr_t address)
{
    th_buffer_printf(text, "%s0x%016zx ", before, (size_t)address);
}

/* Prints the waiting CALLEE with its FRAME, its return address BACK, and the line of address AT. */
static void print_waiter(struct th_buffer *text, const struct th_callee *callee, uintptr_t frame,
                         uintptr_t back, uintptr_t at, int argc)
{
    struct th_line line;

    print_address(text, "", frame);
    print_address(text, "Return addr ", back);
    print_code(text, callee, back, argc);
    if (th_library_line(callee->library, at, &line) && line.file)
        th_buffer_printf(text, " %s:%u", line.file, line.line);
    th_buffer_add_byte(text, '\n');
}

static void print_kept(struct th_buffer *text, const struct th_frame_kept *frame)
{
    const struct th_continuation *then = &frame->then;
    uintptr_t code = (uintptr_t)then->code;

    print_waiter(text, then->callee, (uintptr_t)then->argv, code, code, then->argc);
    for (int i = 1; i < then->argc; i++) { /* argv[0] is for the result */
        th_buffer_printf(text, "y(%d)     ", i - 1);
        th_text_print_limited(text, then->argv[i], TERM_BYTES);
        th_buffer_add_byte(text, '\n');
    }
    if (!frame->catches)
        return;
    th_buffer_printf(text, "y(%d)     ", then->argc - 1);
    print_address(text, "Catch ", code);
    print_code(text, then->callee, code, then->argc);
    th_buffer_add_byte(text, '\n');
}

static void print_stack(const struct th_process *process, struct th_buffer *text)
{
    struct th_waiter waiters[MOST_FRAMES];
    size_t count = th_traced_callers_find(process, told_from(), waiters, MOST_FRAMES);

    th_buffer_add_text(text, "Stack dump:\n");
    for (size_t i = 0; i < count; i++) {
        const struct th_waiter *waiter = &waiters[i];
        th_buffer_add_text(text, i > 0 ? "\n" : "");
        if (waiter->kept)
            print_kept(text, waiter->kept);
        else /* on the C stack: the return address is one byte behind AT */
            print_waiter(text, waiter->callee, waiter->frame, waiter->at ? waiter->at + 1 : 0,
                         waiter->at, (int)waiter->callee->function->arity);
    }
}

/* Prints the lines of a BEAM's dump for which this host has data, with their names. */
static th_term process_asked_process_dump(void *context, th_env *env)
{
    struct th_process *process = process_asked_of(context);
    const char *separator = "";
    const struct th_slot *slot;
    struct th_heap_sizes sizes;
    struct th_buffer text = {0};
    size_t position = 0, messages = 0;
    th_term dump;

    if (!th_runtime_dirty_take(process))
        return TH_NONE;
    sizes = th_runtime_heap_sizes(process);
    for (const struct th_message *m = process->inbox; m; m = m->next)
        messages++;
    th_buffer_printf(&text, "State: Running\nMessage queue length: %zu\n", messages);
    th_buffer_printf(&text, "Heap fragment data: %zu\n", sizes.mbuf_size);

    th_buffer_add_text(&text, "Link list: [");
    while ((slot = th_hash_table_next(&process->links, &position))) {
        if (slot->value != TH_LINKED)
            continue;
        th_buffer_add_text(&text, separator);
        th_text_print(&text, slot->key);
        separator = ", ";
    }
    th_buffer_printf(&text, "]\nStack+heap: %zu\nHeap unused: %zu\n",
                     sizes.heap_block_size + sizes.stack_size,
                     sizes.heap_block_size - sizes.heap_size);
    print_stack(process, &text);
    th_runtime_dirty_let_go(process);
    dump = th_make_binary(env, text.data, text.size);
    th_buffer_free(&text);
    return dump;
}

const struct th_match_operations th_traced_process_asked = {
    .caller = process_asked_caller_term,
    .caller_line = caller_line_term,
    .is_external = is_external,
    .stack = stack_term,
    .is_seq_trace = process_asked_is_seq_trace,
    .get_seq_token = process_asked_get_seq_token,
    .set_seq_token = process_asked_set_seq_token,
    .process_dump = process_asked_process_dump,
};
