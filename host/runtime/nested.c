/*
 * Nested calls: external calls that run to their end on the caller's thread and stack.
 */
#include "call_steps.h"
#include "runtime.h"
#include "thread_stack.h"

#include "host/check/check.h"
#include "host/code/export.h"
#include "host/code/instance.h"
#include "host/runtime/traced/traced_call.h"

#include <stdint.h>

/*
 * Lowest allowed stack pointer of the calling thread. UINTPTR_MAX until it is known, and while the
 * checker is on, so that one comparison tests both. (The checker starts before any thread calls a
 * library and stops after the last call.)
 */
static _Thread_local uintptr_t lowest __attribute__((tls_model("initial-exec"))) = UINTPTR_MAX;

static inline bool stack_is_low(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (__builtin_expect(here >= lowest, 1))
        return false;
    if (th_check_on())
        return here < th_runtime_stack_lowest();
    lowest = th_runtime_stack_lowest();
    return here < lowest;
}

th_term th_runtime_nested_end(struct th_call *outer, size_t base)
{
    struct th_process *process = outer->process;

    if (process->next.step == TH_STEP_CONCLUDE)
        th_traced_frame_over(process, outer);
    while (process->next.step != TH_STEP_CONCLUDE || process->frame_count > process->base)
        th_runtime_step_take(process, outer);
    process->base = base;
    if (process->outcome == TH_NONE) {
        outer->passed = process->raised;
        process->raised.class = TH_RAISED_NOTHING;
    }
    process->next.step = TH_STEP_NONE;
    process->then_is_set = false;
    return process->outcome;
}

/* Makes any nested call. A pending continuation of the caller stays pending, unless the callee
 * raises: the exception is then the later answer. */
static th_term call_any(struct th_call *call, th_term module, th_term function, int argc,
                        const th_term argv[])
{
    struct th_process *process = call->process;
    struct th_continuation asked = process->next;
    bool waits = process->then_is_set;
    struct th_frame_kept then;
    size_t base = process->base;
    struct th_continuation external = {
        .step = TH_STEP_CALL,
        .where = ERL_NIF_THR_NORMAL_SCHEDULER,
        .module = module,
        .function = function,
        .argc = argc,
        /* While the checker is on, a copy in which invalid words are replaced; else the caller's
         * array, which is only read. */
        .argv = th_check_on() ? th_runtime_terms_keep(call->env, 0, argc, argv, "th_call")
                              : (th_term *)argv,
    };

    if (waits)
        then = process->then;
    process->then_is_set = false;
    process->base = process->frame_count;
    process->next = external;
    if (stack_is_low()) {
        th_runtime_exception_of_callee(process, call, th_atom("system_limit"), &external);
        process->outcome = TH_NONE;
        process->next.step = TH_STEP_CONCLUDE;
    }
    if (th_runtime_nested_end(call, base) == TH_NONE)
        return TH_NONE;
    process->next = asked;
    process->then_is_set = waits;
    if (waits)
        process->then = then;
    return process->outcome;
}

/* Enters the instance that a usual WORD reaches, if that needs no function call. */
static inline struct th_entered *enter_usual(uintptr_t word)
{
    return __builtin_expect(word & TH_EXPORT_USUAL, TH_EXPORT_USUAL)
               ? th_code_instance_enter_quickly(th_code_export_reached(word)->instance)
               : NULL;
}

/* As below, on a thread that does so for the first time, as a rule. */
static __attribute__((noinline)) th_term
call_entry(struct th_call *call, const struct th_export *entry, const th_term argv[])
{
    struct th_entered *own;
    uintptr_t word;

    if (call->process->next.step == TH_STEP_NONE && call->env->exception == TH_NONE &&
        !th_check_on() && !stack_is_low()) {
        th_progress_enter();
        word = th_code_export_word(entry);
        own = enter_usual(word);
        th_progress_leave();
        if (own)
            return th_runtime_step_nested(call, word, argv, own);
    }
    return call_any(call, entry->module, entry->function, (int)entry->arity, argv);
}

/* Ends the reader section first. */
static __attribute__((noinline)) th_term
leave_and_call(struct th_call *call, const struct th_export *entry, const th_term argv[])
{
    th_progress_leave_outermost();
    return call_entry(call, entry, argv);
}

/* Wakes the thread that waits for the reader section that has ended. */
static __attribute__((noinline, cold)) th_term
wake_and_call(struct th_call *call, uintptr_t word, const th_term argv[], struct th_entered *own)
{
    th_progress_wake();
    return th_runtime_step_nested(call, word, argv, own);
}

/* Records that CALL makes a nested call AT an address. */
static inline void begin_nested(struct th_call *call, const void *at)
{
    call->calls_at = (uintptr_t)at;
    call->passed.class = TH_RAISED_NOTHING;
}

/*
 * Recognizes the common case by comparisons alone, without saving registers: each function called
 * here ends it. One reader section covers the steps from reading the index to counting the entry.
 */
static inline __attribute__((always_inline)) th_term
call_usual(struct th_call *call, const struct th_export *entry, const th_term argv[])
{
    unsigned long *section;
    struct th_entered *own;
    uintptr_t word;

    _Static_assert(TH_STEP_NONE == 0 && TH_NONE == 0, "one comparison tells both");
    if (__builtin_expect((call->process->next.step | call->env->exception) != 0 ||
                             th_stack_pointer() < lowest,
                         0))
        return call_entry(call, entry, argv);
    if (__builtin_expect(!th_self.progress_word, 0))
        return call_entry(call, entry, argv);
    section = th_progress_enter_outermost();
    if (__builtin_expect(!section, 0))
        return call_entry(call, entry, argv);
    word = th_code_export_word(entry);
    own = enter_usual(word);
    if (__builtin_expect(!own, 0))
        return leave_and_call(call, entry, argv);
    if (th_progress_leave_outermost_awaited(section))
        return wake_and_call(call, word, argv, own);
    return th_runtime_step_nested(call, word, argv, own);
}

th_term th_runtime_call_nested_entry(th_env *env, const struct th_export *entry,
                                     const th_term argv[], const void *at)
{
    struct th_call *call = th_runtime_call_of(env);

    if (__builtin_expect(!call || !entry, 0))
        return th_runtime_call_raise(env, TH_RAISED_ERROR, TH_AM(badarg));
    begin_nested(call, at);
    return call_usual(call, entry, argv);
}

/* Calls a function without an export entry; raises badarg if the name is invalid or ENV is not of
 * the thread's call. */
static __attribute__((cold)) th_term call_unknown(th_env *env, th_term module, th_term function,
                                                  int argc, const th_term argv[], const void *at)
{
    struct th_call *call = th_runtime_call_of(env);

    if (!call || !th_is_atom(module) || !th_is_atom(function) || argc < 0 ||
        argc > TH_MOST_ARGUMENTS)
        return th_runtime_call_raise(env, TH_RAISED_ERROR, TH_AM(badarg));
    begin_nested(call, at);
    return call_any(call, module, function, argc, argv);
}

/* Export entries have valid names, and their arity is ARGC. */
th_term th_runtime_call_nested(th_env *env, th_term module, th_term function, int argc,
                               const th_term argv[], const void *at)
{
    struct th_call *call = th_self.call;
    const struct th_export *entry;

    /* ENV is not needed after this test, nor the name after the next: fewer registers are saved. */
    if (__builtin_expect(!call, 0) || __builtin_expect(call->env != env, 0))
        return call_unknown(env, module, function, argc, argv, at);
    begin_nested(call, at);
    entry = th_code_export_find(module, function, (unsigned)argc);
    if (__builtin_expect(!entry, 0))
        return call_unknown(call->env, module, function, argc, argv, (const void *)call->calls_at);
    return call_usual(call, entry, argv);
}

bool th_runtime_call_catch(th_env *env, struct th_exception_raised *exception)
{
    struct th_call *call = th_runtime_call_of(env);

    if (!call || !call->passed.class)
        return false;
    if (__builtin_expect(th_live_is_returning(&call->process->live), 0))
        th_traced_caught_by_caller(call->process, TH_FROM_HERE);
    *exception = call->passed;
    call->passed = (struct th_exception_raised){0};
    return true;
}
