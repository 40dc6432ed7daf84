/*
 * Steps of calls: runs one function after the other and interprets their answers.
 *
 * If a function gives several answers, one counts, as in a BEAM: of an exception and a continuation
 * the later one; an exception before a returned term; a returned term before a continuation. A
 * function without any answer, which crashes a BEAM, raises badarg, unless a callee has passed it
 * an exception.
 *
 * A process takes the same steps between two turns and in a nested call; the differences are the
 * environment (surroundings, below) and the number of own frames (`base`).
 */
#include "call_steps.h"

#include "process_life.h"
#include "queue.h"
#include "thread_stack.h"

#include "host/base/output.h"
#include "host/check/check.h"
#include "host/code/export.h"
#include "host/code/instance.h"
#include "host/library/load.h"
#include "host/runtime/traced/traced_call.h"
#include "host/runtime/traced/tracepoint.h"
#include "host/term/text.h"

#include <string.h>
#include <unistd.h>

enum { ARGUMENTS_BYTES = 4096 /* of their text in a report */ };

/* --- Environments ---------------------------------------------------------------------------- */

/*
 * The environment of a function. At depth 0: the process' environment. In a nested call: the
 * caller's, which the caller does not use meanwhile, so that the result need not be copied. While
 * the checker is on, a nested call has its own environment, so that terms left from elsewhere are
 * recognized.
 */
struct surroundings {
    th_env *keeps; /* keeps the function's results */
    th_env *own;   /* NULL: the function runs in KEEPS */
    /* Values in KEEPS before the call, restored after it. */
    void *library;
    th_term exception;
    unsigned char exception_class;
};

static th_env *surround(struct surroundings *s, struct th_process *process, struct th_call *outer)
{
    th_env *env = outer ? outer->env : process->env;

    *s = (struct surroundings){env, NULL, env->library, env->exception, env->exception_class};
    env->exception = TH_NONE;
    if (!outer || !th_check_on())
        return env;
    s->own = th_env_create(TH_ENV_CALLBACK);
    s->own->self = process->pid;
    return s->own;
}

/* At depth 0 there was no exception, and no code reads the library. */
static void give_back(const struct surroundings *s)
{
    s->keeps->library = s->library;
    s->keeps->exception = s->exception;
    s->keeps->exception_class = s->exception_class;
}

th_term *th_runtime_terms_copy(th_env *env, int count, const th_term terms[])
{
    th_term *copies = th_env_take(env, (size_t)count);

    for (int i = 0; i < count; i++)
        copies[i] = terms[i] == TH_NONE ? TH_NONE : th_copy(env, terms[i]);
    return copies;
}

/* Copies the function's results from its own environment to the kept one: ANSWER, the exception,
 * the next step. */
static void call_steps_leave(struct surroundings *s, struct th_process *process,
                             struct th_call *call, th_term *answer)
{
    th_env *env = call->env;

    if (*answer != TH_NONE)
        *answer = th_copy(s->keeps, *answer);
    if (env->exception != TH_NONE)
        env->exception = th_copy(s->keeps, env->exception);
    if (call->passed.class) {
        call->passed.reason = th_copy(s->keeps, call->passed.reason);
        call->passed.stack = th_copy(s->keeps, call->passed.stack);
    }
    if (process->next.step != TH_STEP_NONE)
        process->next.argv =
            th_runtime_terms_copy(s->keeps, process->next.argc, process->next.argv);
    if (process->then_is_set)
        process->then.then.argv =
            th_runtime_terms_copy(s->keeps, process->then.then.argc, process->then.then.argv);
    th_runtime_heap_move(process, env, s->keeps);
}

/* --- Steps ----------------------------------------------------------------------------------- */

/* Clears the next step except STEP. (Setting all fields takes longer than a short call.) */
static void clear_next(struct th_process *process, enum th_step step)
{
    process->next.step = step;
    process->next.where = ERL_NIF_THR_NORMAL_SCHEDULER;
    process->next.argc = 0;
}

static void call_steps_conclude(struct th_process *process, th_term outcome)
{
    process->outcome = outcome;
    clear_next(process, TH_STEP_CONCLUDE);
}

/*
 * Uses of an instance (code/): the next step if it is code, each running function, each kept frame.
 */
void th_runtime_steps_drop(struct th_process *process)
{
    if (th_runtime_step_is_code(process->next.step))
        th_code_instance_leave(process->next.callee->instance);
    for (size_t i = 0; i < process->frame_count; i++)
        th_code_instance_leave(process->frames[i].then.callee->instance);
    process->frame_count = 0;
}

bool th_runtime_steps_are_in(const struct th_process *process, uint64_t instance)
{
    for (size_t i = 0; i < process->frame_count; i++)
        if (th_code_callee_is_of(process->frames[i].then.callee, instance))
            return true;
    return th_runtime_step_is_code(process->next.step) &&
           th_code_callee_is_of(process->next.callee, instance);
}

/* Turns the external call that is next into the code that it reaches. */
static void resolve(struct th_process *process, struct th_call *outer)
{
    struct th_continuation now = process->next;
    const struct th_callee *callee = now.callee;
    uintptr_t word;
    int where;

    th_progress_enter();
    word = th_code_export_word(
        callee ? callee->entry : th_code_export_find(now.module, now.function, (unsigned)now.argc));
    if (!callee)
        callee = th_code_export_reached(word);
    if (callee)
        th_code_instance_enter(callee->instance);
    th_progress_leave();
    if (!callee) {
        th_runtime_exception_of_callee(process, outer, TH_AM(undef), &now);
        call_steps_conclude(process, TH_NONE);
        return;
    }

    where = callee->function->flags == ERL_NIF_DIRTY_JOB_CPU_BOUND ? ERL_NIF_THR_DIRTY_CPU_SCHEDULER
            : callee->function->flags == ERL_NIF_DIRTY_JOB_IO_BOUND ? ERL_NIF_THR_DIRTY_IO_SCHEDULER
                                                                    : ERL_NIF_THR_NORMAL_SCHEDULER;
    process->next = (struct th_continuation){
        .step = TH_STEP_RUN,
        .where = where,
        .code = callee->function->fptr,
        .callee = callee,
        .name = callee->function->name,
        .argc = (int)callee->function->arity,
        .argv = now.argv,
    };
    if (outer && where != ERL_NIF_THR_NORMAL_SCHEDULER && where != th_self.scheduler->type) {
        th_runtime_exception_of_callee(process, outer, th_atom("nested_dirty"), &now);
        call_steps_conclude(process, TH_NONE);
        th_code_instance_leave(callee->instance);
        return;
    }
    th_traced_probed_external(process, callee, outer);
    if (__builtin_expect(word & TH_EXPORT_ARMED, 0))
        th_traced_call(process, callee, now.argv, outer);
}

/* Writes the called function and its arguments, for the report of a crash. */
static void tell_call(int output, const struct th_library_frame *self)
{
    const struct th_call *call = th_self.call;
    struct th_buffer text = {0};

    (void)self;
    if (strcmp(call->function, call->callee->function->name) != 0) {
        th_text_show_atom(&text, th_library_name(call->callee->library));
        th_write_text(output, "  function: %s:%s/%d\n", th_buffer_text(&text), call->function,
                      call->argc);
    }
    for (int i = 0; i < call->argc; i++) {
        text.size = 0;
        if (call->argv[i] != TH_NONE)
            th_text_show_limited(&text, call->argv[i], ARGUMENTS_BYTES);
        th_write_text(output, "  argument %d: %s\n", i + 1, th_buffer_text(&text));
    }
}

/* Calls CODE, of CALL's callee; CHECKED: under the checker. All calls by the runtime and their
 * returns go through here. (Inlined into each of the two callers.) */
static inline __attribute__((always_inline)) th_term
call_code(ERL_NIF_TERM (*code)(ErlNifEnv *, int, const ERL_NIF_TERM[]), struct th_call *call,
          bool checked)
{
    const struct th_callee *callee = call->callee;
    struct th_library *library = callee->library;
    struct th_call *outer = call->outer;
    th_env *env = call->env; /* these three stay in registers up to the call */
    int argc = call->argc;
    const th_term *argv = call->argv;
    struct th_library_frame running;
    struct th_check_call watched;
    th_term answer;

    env->library = library;
    th_self.call = call;
    th_library_enter(library);
    th_library_begin_reporting(&running, th_library_path(library), callee->name, tell_call);
    if (checked) {
        watched = (struct th_check_call){callee, call->function, call->argc, call->argv, call->env};
        th_check_begin(&watched);
    }
    call->code = (const void *)(uintptr_t)code;
    call->sp = th_stack_pointer();
    if (TH_PROBE_ENABLED(nif__entry))
        th_traced_probe_code(call, true);
    answer = code(env, argc, argv);
    if (checked)
        answer = th_check_answer(&watched, answer,
                                 call->process->next.step != TH_STEP_NONE || call->passed.class);
    if (TH_PROBE_ENABLED(nif__return))
        th_traced_probe_code(call, false);
    th_library_end(&running);
    th_library_leave(library);
    th_self.call = outer;
    return answer;
}

static inline bool just_returns(const th_env *env, th_term answer)
{
    return __builtin_expect(answer != TH_NONE && env->exception == TH_NONE, 1);
}

/* Handles answers of a function other than a returned term alone. ARGV are the arguments in the
 * kept environment. */
static __attribute__((noinline)) void interpret(struct surroundings *s, struct th_call *call,
                                                const th_term *argv, th_term answer)
{
    struct th_process *process = call->process;
    struct th_call left = *call;
    size_t frames = process->frame_count;
    th_term reason = call->env->exception;
    enum th_raised class = reason == TH_NONE ? TH_RAISED_NOTHING : call->env->exception_class + 1u;
    bool says_nothing = class == TH_RAISED_NOTHING && answer == TH_NONE;

    call->env->exception = TH_NONE;
    if (__builtin_expect(process->open.count != 0, 0))
        th_traced_open_drop_code(process, call->outer);
    give_back(s);
    left.env = s->keeps;
    left.argv = argv;

    /* If the function gave no answer, the host raises an exception. */
    if (says_nothing &&
        (process->next.step != TH_STEP_NONE ? th_library_halting() : !call->passed.class)) {
        left.raised_at = 0;
        class = TH_RAISED_ERROR;
        reason = process->next.step != TH_STEP_NONE ? th_atom("halting") : TH_AM(badarg);
    }
    if (class != TH_RAISED_NOTHING) {
        th_runtime_exception_of_call(process, &left, class, reason);
        call_steps_conclude(process, TH_NONE);
    } else if (answer != TH_NONE) {
        th_traced_probed_return(&left);
        call_steps_conclude(process, answer);
    } else if (process->next.step == TH_STEP_NONE) {
        process->raised = left.passed;
        call_steps_conclude(process, TH_NONE);
    } else if (process->then_is_set) {
        TH_ARRAY_GROW(process->frames, process->frame_count, process->frame_capacity);
        process->frames[process->frame_count++] = process->then;
    }
    process->then_is_set = false;

    /* A function that ends passes its use of the instance on to a continuation. */
    if (!th_runtime_step_is_code(process->next.step) && process->next.step != TH_STEP_SKIP &&
        process->frame_count <= frames)
        th_code_instance_leave(call->callee->instance);
}

static void run_step(struct th_process *process, struct th_call *outer,
                     const struct th_continuation *now)
{
    struct surroundings s;
    th_term answer;
    struct th_call call = {
        .process = process,
        .callee = now->callee,
        .function = now->name,
        .argc = now->argc,
        .argv = now->argv,
        .env = surround(&s, process, outer),
        .outer = outer,
        .frames = process->base,
        .goes_on = now->goes_on,
        .resumed = now->resumes ? (const void *)now->code : NULL,
        .passed = process->raised,
    };

    if (s.own) {
        call.argv = th_runtime_terms_copy(s.own, now->argc, now->argv);
        th_runtime_heap_move(process, s.keeps, s.own);
    }
    call.env->thread = (unsigned char)th_self.scheduler->type;
    process->raised.class = TH_RAISED_NOTHING;
    clear_next(process, TH_STEP_NONE);
    process->reductions--;
    if (!outer) {
        th_runtime_thread_runs(now->callee->name);
        atomic_store_explicit(&process->shown.function, now->callee->name, memory_order_relaxed);
        th_runtime_shown_set(&process->shown.code, th_code_callee_serial(now->callee));
    }
    answer = call_code(now->code, &call, th_check_on());
    if (!outer)
        th_runtime_thread_runs(NULL);
    if (s.own)
        call_steps_leave(&s, process, &call, &answer);
    if (just_returns(call.env, answer)) {
        give_back(&s);
        process->then_is_set = false;
        th_traced_probed_return(&call);
        call_steps_conclude(process, answer);
        th_code_instance_leave(now->callee->instance);
    } else {
        interpret(&s, &call, now->argv, answer);
    }
    if (s.own)
        th_check_retire(s.own);
}

th_term th_runtime_step_nested(struct th_call *outer, uintptr_t word, const th_term *argv,
                               struct th_entered *own)
{
    struct th_process *process = outer->process;
    const struct th_callee *callee = th_code_export_reached(word);
    th_env *env = outer->env;
    void *library = env->library;
    struct th_call call; /* set field by field: PASSED is not read without a class */
    th_term answer;

    process->base = process->frame_count;
    th_traced_probed_external(process, callee, outer);
    if (__builtin_expect(word & TH_EXPORT_ARMED, 0))
        th_traced_call(process, callee, argv, outer);
    call.process = process;
    call.callee = callee;
    call.function = callee->function->name;
    call.argc = (int)callee->function->arity;
    call.argv = argv;
    call.env = env;
    call.outer = outer;
    call.frames = process->frame_count;
    call.goes_on = false;
    call.resumed = NULL;
    call.calls_at = 0;
    call.passed.class = TH_RAISED_NOTHING;
    process->reductions--;
    answer = call_code(callee->function->fptr, &call, false);
    process = outer->process; /* OUTER gives access to all, without a register */
    env = outer->env;
    if (!just_returns(env, answer)) {
        interpret(&(struct surroundings){.keeps = env, .library = library}, &call, argv, answer);
        return th_runtime_nested_end(outer, outer->frames);
    }
    env->library = library;
    th_traced_probed_return(&call);
    th_code_instance_leave_quickly(own);
    if (__builtin_expect(process->next.step != TH_STEP_NONE, 0)) {
        clear_next(process, TH_STEP_NONE); /* a returned term counts more */
        process->then_is_set = false;
    }
    if (__builtin_expect(process->open.count | process->live.returning_to, 0)) {
        process->outcome = answer;
        th_traced_calls_over(process, outer);
    }
    process->base = outer->frames;
    return answer;
}

void th_runtime_step_take(struct th_process *process, struct th_call *outer)
{
    struct th_continuation now;

    if (process->next.step == TH_STEP_CALL) {
        resolve(process, outer);
    } else {
        now = process->next;
        run_step(process, outer, &now);
    }
    if (process->next.step != TH_STEP_CONCLUDE)
        return;

    /* Continues the frame that waits for the outcome. Each function that the outcome ends is over,
     * and so are the functions that it replaced. */
    th_traced_frame_over(process, outer);
    while (process->frame_count > process->base) {
        const struct th_frame_kept *frame = &process->frames[--process->frame_count];
        if (process->outcome != TH_NONE || frame->catches) {
            if (__builtin_expect(th_live_is_returning(&process->live), 0))
                th_traced_caught_by(process, frame->then.callee);
            process->next = frame->then;
            process->next.argv[0] = process->outcome;
            return;
        }
        th_code_instance_leave(frame->then.callee->instance);
        th_traced_frame_over(process, outer);
    }
}
