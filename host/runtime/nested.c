/*
 * Nested calls: external calls that run to their end on the thread, and on its stack, of whoever
 * makes them.
 */
#include "traced_call.h"

/* What is left of the stack for a callee: for its own frames, and what it calls of the C library
 * and of the host. */
enum { RESERVE = 256 * 1024 };

/* Of the calling thread; 0: not known yet. */
static _Thread_local uintptr_t lowest;

static uintptr_t find_lowest(void)
{
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t size, guard = 0;

    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &stack, &size);
        pthread_attr_getguardsize(&attributes, &guard);
        pthread_attr_destroy(&attributes);
    }
    return (uintptr_t)stack + guard + RESERVE;
}

static bool stack_is_low(void)
{
    if (lowest == 0)
        lowest = find_lowest();
    return (uintptr_t)__builtin_frame_address(0) < lowest;
}

/* ARGV, or while the checker is on a copy without what is no term. */
static th_term *checked(th_env *env, int argc, const th_term argv[])
{
    th_term *copies;

    if (!th_check_on())
        return (th_term *)argv; /* nobody writes there */
    copies = th_env_take(env, (size_t)argc);
    for (int i = 0; i < argc; i++)
        copies[i] = th_check_term(env, argv[i], "th_call");
    return copies;
}

/* Goes on with what is next until it is over. */
static void go_on(struct th_process_run *process, struct th_call *call)
{
    while (process->next.step != TH_STEP_CONCLUDE || process->frame_count > process->base)
        th_step_take(process, call);
}

/* Makes the call EXTERNAL, into which the code is put. Its arguments are the caller's own array,
 * which stays until it is over. */
static void run(struct th_process_run *process, struct th_call *call,
                struct th_continuation *external)
{
    const struct th_callee *callee;
    struct th_export *entry;
    uintptr_t word;
    size_t base = process->base;

    process->base = process->frame_count;
    if (stack_is_low()) {
        th_exception_of_callee(process, call, th_atom("system_limit"), external);
        process->outcome = TH_NONE;
        process->base = base;
        return;
    }
    entry = th_step_reach(external);
    word = th_export_word(entry);
    callee = th_export_reached(word);
    if (__builtin_expect(callee && callee->function->flags == 0, 1)) {
        if (__builtin_expect(word & TH_EXPORT_ARMED, 0))
            th_traced_call(process, entry, external->argv, call);
        external->code = callee->function->fptr;
        external->callee = callee;
        external->name = callee->function->name;
        th_step_run(process, call, external);
    } else {
        process->next = *external;
    }
    if (__builtin_expect(process->next.step != TH_STEP_CONCLUDE, 0))
        go_on(process, call);
    else
        th_traced_frame_over(process, call);
    process->base = base;
}

/* What the caller has asked for before, to be done when it returns. */
struct asked {
    struct th_continuation next;
    struct th_frame_kept then;
    bool then_is_set;
};

static void call_later(struct th_process_run *process, struct th_call *call,
                       struct th_continuation *external)
{
    struct asked asked = {process->next, process->then, process->then_is_set};

    process->then_is_set = false;
    run(process, call, external);
    if (process->outcome == TH_NONE)
        return; /* of the two the exception is the later */
    process->next = asked.next;
    process->then = asked.then;
    process->then_is_set = asked.then_is_set;
}

th_term th_call_nested(th_env *env, th_term module, th_term function, int argc,
                       const th_term argv[])
{
    struct th_call *call = th_call_of(env);
    struct th_continuation external;
    struct th_process_run *process;

    if (!call || !th_is_atom(module) || !th_is_atom(function) || argc < 0 ||
        argc > TH_MOST_ARGUMENTS)
        return th_call_raise(env, TH_RAISED_ERROR, TH_AM(badarg));
    process = call->process;
    external = (struct th_continuation){.step = TH_STEP_CALL,
                                        .where = ERL_NIF_THR_NORMAL_SCHEDULER,
                                        .module = module,
                                        .function = function,
                                        .argc = argc,
                                        .argv = checked(env, argc, argv)};
    call->passed.class = TH_RAISED_NOTHING;
    if (__builtin_expect(process->next.step == TH_STEP_NONE, 1))
        run(process, call, &external);
    else
        call_later(process, call, &external);
    if (__builtin_expect(process->outcome == TH_NONE, 0)) {
        call->passed = process->raised;
        process->raised.class = TH_RAISED_NOTHING;
    }
    if (process->next.step == TH_STEP_CONCLUDE || process->outcome == TH_NONE) {
        process->next.step = TH_STEP_NONE;
        process->then_is_set = false;
    }
    return process->outcome;
}

bool th_call_catch(th_env *env, struct th_exception_raised *exception)
{
    struct th_call *call = th_call_of(env);

    if (!call || !call->passed.class)
        return false;
    *exception = call->passed;
    call->passed = (struct th_exception_raised){0};
    return true;
}
