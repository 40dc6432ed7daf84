/*
 * Nested calls: external calls that run to their end on the thread, and on its stack, of whoever
 * makes them.
 */
#include "running.h"

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

/* A copy, as the callee may be left for another while the caller goes on using its array. */
static th_term *arguments(th_env *env, int argc, const th_term argv[])
{
    th_term *copies = th_env_take(env, (size_t)argc);

    for (int i = 0; i < argc; i++)
        copies[i] = th_check_term(env, argv[i], "th_call");
    return copies;
}

/* Runs what is next until it is over. */
static void run(struct th_process_run *process, struct th_call *call)
{
    size_t base = process->base;

    process->base = process->frame_count;
    if (stack_is_low()) {
        th_exception_of_callee(process, call, th_atom("system_limit"), &process->next);
        process->outcome = TH_NONE;
    } else {
        do
            th_step_take(process, call);
        while (process->next.step != TH_STEP_CONCLUDE);
    }
    process->base = base;
}

th_term th_call_nested(th_env *env, th_term module, th_term function, int argc,
                       const th_term argv[])
{
    struct th_call *call = th_call_of(env);
    struct th_process_run *process;
    struct th_continuation next;
    struct th_frame_kept then;
    bool then_is_set;

    if (!call || !th_is_atom(module) || !th_is_atom(function) || argc < 0 ||
        argc > TH_MOST_ARGUMENTS)
        return th_call_raise(env, TH_RAISED_ERROR, TH_AM(badarg));
    process = call->process;
    next = process->next;
    then = process->then;
    then_is_set = process->then_is_set;
    call->passed = (struct th_exception_raised){0};
    process->then_is_set = false;
    process->next = (struct th_continuation){
        .step = TH_STEP_CALL,
        .module = module,
        .function = function,
        .argc = argc,
        .argv = arguments(env, argc, argv),
    };
    run(process, call);
    process->next = next;
    process->then = then;
    process->then_is_set = then_is_set;
    if (process->outcome == TH_NONE) {
        call->passed = process->raised;
        process->raised = (struct th_exception_raised){0};
        process->next = (struct th_continuation){0}; /* of the two the exception is the later */
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
