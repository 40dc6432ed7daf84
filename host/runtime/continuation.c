/* Requests of a function that are carried out after its return. */
#include "call_steps.h"
#include "mailbox.h"

#include "host/base/memory.h"
#include "host/check/check.h"
#include "host/term/make.h"

#include <string.h>

enum {
    TURN_PERCENT = TH_TURN / 100, /* reductions */
    MILLION = 1000000
};

th_term th_runtime_call_raise(th_env *env, enum th_raised class, th_term reason)
{
    struct th_call *call = th_runtime_call_of(env);

    env->exception = reason;
    env->exception_class = (unsigned char)(class - TH_RAISED_ERROR);
    if (call)
        call->raised_at = 0;
    return TH_NONE;
}

static th_term continuation_refuse(th_env *env)
{
    return th_runtime_call_raise(env, TH_RAISED_ERROR, TH_AM(badarg));
}

bool th_runtime_call_consume(th_env *env, int percent)
{
    struct th_call *call = th_runtime_call_of(env);
    int share = percent < 1 ? 1 : percent > 100 ? 100 : percent;

    if (!call || env->thread != ERL_NIF_THR_NORMAL_SCHEDULER)
        return false; /* a BEAM does not count the time of dirty threads either */
    call->process->reductions -= share * TURN_PERCENT;
    return call->process->reductions <= 0;
}

/* --- The next step ---------------------------------------------------------------------------- */

th_term *th_runtime_terms_keep(th_env *env, int first, int count, const th_term terms[],
                               const char *function)
{
    th_term *kept = th_env_take(env, (size_t)(first + count));

    for (int i = 0; i < count; i++)
        kept[first + i] = th_check_term(env, terms[i], function);
    return kept;
}

/* Replaces all former requests and exceptions of the function. */
static void set_next(struct th_call *call, const struct th_continuation *next)
{
    call->env->exception = TH_NONE;
    call->passed = (struct th_exception_raised){0};
    call->process->then_is_set = false;
    call->process->next = *next;
}

th_term th_runtime_call_pass(th_env *env, const struct th_exception_raised *exception)
{
    struct th_call *call = th_runtime_call_of(env);
    size_t length;

    if (!call || exception->class == TH_RAISED_NOTHING ||
        !th_get_list_length(exception->stack, &length))
        return continuation_refuse(env);
    set_next(call, &(struct th_continuation){.step = TH_STEP_NONE});
    call->passed = (struct th_exception_raised){
        .class = exception->class,
        .reason = th_check_term(env, exception->reason, "th_raise"),
        .stack = th_check_term(env, exception->stack, "th_raise"),
    };
    return TH_NONE;
}

/* Returns the thread type for FLAGS, 0 if they are invalid. Both dirty kinds together mean input
 * and output, as in a BEAM. */
static int thread_of(int flags)
{
    if (flags == 0)
        return ERL_NIF_THR_NORMAL_SCHEDULER;
    if (flags & ~(ERL_NIF_DIRTY_JOB_CPU_BOUND | ERL_NIF_DIRTY_JOB_IO_BOUND))
        return 0;
    return flags & ERL_NIF_DIRTY_JOB_IO_BOUND ? ERL_NIF_THR_DIRTY_IO_SCHEDULER
                                              : ERL_NIF_THR_DIRTY_CPU_SCHEDULER;
}

th_term th_runtime_call_schedule(th_env *env, const char *function, int flags,
                                 ERL_NIF_TERM (*code)(ErlNifEnv *, int, const ERL_NIF_TERM[]),
                                 int argc, const th_term argv[])
{
    struct th_call *call = th_runtime_call_of(env);
    int where = thread_of(flags);
    th_term name = TH_NONE;

    if (call && where && argc >= 0 && argc <= TH_MOST_ARGUMENTS)
        name = th_atom_latin1(function, strlen(function));
    if (name == TH_NONE)
        return continuation_refuse(env);
    if (call->outer && where != ERL_NIF_THR_NORMAL_SCHEDULER && where != env->thread)
        return th_runtime_call_raise(env, TH_RAISED_ERROR, th_atom("nested_dirty"));
    set_next(call, &(struct th_continuation){
                       .step = TH_STEP_RUN,
                       .where = where,
                       .code = code,
                       .callee = call->callee,
                       .name = th_atom_name(name)->text,
                       .argc = argc,
                       .argv = th_runtime_terms_keep(env, 0, argc, argv, "enif_schedule_nif"),
                       .resumes = true,
                   });
    return TH_NONE;
}

/* Makes an external call the next step. Returns false if CALL or an argument is invalid. */
static bool call_next(struct th_call *call, th_term module, th_term function, int argc,
                      const th_term argv[], const char *by)
{
    if (!call || !th_is_atom(module) || !th_is_atom(function) || argc < 0 ||
        argc > TH_MOST_ARGUMENTS)
        return false;
    set_next(call, &(struct th_continuation){
                       .step = TH_STEP_CALL,
                       .where = ERL_NIF_THR_NORMAL_SCHEDULER,
                       .module = module,
                       .function = function,
                       .argc = argc,
                       .argv = th_runtime_terms_keep(call->env, 0, argc, argv, by),
                   });
    return true;
}

th_term th_runtime_call_tail(th_env *env, th_term module, th_term function, int argc,
                             const th_term argv[])
{
    if (!call_next(th_runtime_call_of(env), module, function, argc, argv, "th_tail_call"))
        return continuation_refuse(env);
    return TH_NONE;
}

/* Returns the continuation THEN in the place of CALL's function. */
static struct th_continuation continuation_place_of(struct th_call *call,
                                                    const struct th_call_then *then, const char *by)
{
    th_term *argv = th_runtime_terms_keep(call->env, 1, then->kept, then->terms, by);

    argv[0] = TH_NONE;
    return (struct th_continuation){
        .step = TH_STEP_RUN,
        .where = ERL_NIF_THR_NORMAL_SCHEDULER,
        .code = then->code,
        .callee = call->callee,
        .name = call->function,
        .argc = 1 + then->kept,
        .argv = argv,
        .goes_on = true,
        .resumes = true,
    };
}

static bool can_keep(const struct th_call_then *then)
{
    return then->code && then->kept >= 0 && then->kept < TH_MOST_ARGUMENTS;
}

th_term th_runtime_call_and_then(th_env *env, th_term module, th_term function, int argc,
                                 const th_term argv[], const struct th_call_then *then)
{
    struct th_call *call = th_runtime_call_of(env);

    if (!can_keep(then) || !call_next(call, module, function, argc, argv, "th_call_then"))
        return continuation_refuse(env);
    call->process->then =
        (struct th_frame_kept){continuation_place_of(call, then, "th_call_then"), then->catches};
    call->process->then_is_set = true;
    return TH_NONE;
}

/* Returns whether CALL can wait. If not, raises an exception; the caller must return TH_NONE. */
static bool can_wait(th_env *env, const struct th_call *call, const struct th_call_then *then)
{
    if (call && can_keep(then) && !call->outer)
        return true;
    if (call && can_keep(then))
        th_runtime_call_raise(env, TH_RAISED_ERROR, th_atom("nested_await"));
    else
        continuation_refuse(env);
    return false;
}

/* --- Changes of code -------------------------------------------------------------------------- */

static bool can_be_asked(const struct th_code_request *request)
{
    th_term list = request->what;
    char *path;

    if (request->command != TH_CODE_LOAD)
        return th_is_atom(request->what);
    for (; th_is_list(list); list = th_cell(list)[1]) {
        path = th_file_path(th_cell(list)[0]);
        th_free(path);
        if (!path)
            return false;
    }
    return list == TH_NIL;
}

/* Until the request is the process' next step, it is a term that the process keeps in the place of
 * the answer; so the function's next request replaces it. */
th_term th_runtime_call_code(th_env *env, const struct th_code_request *request,
                             const struct th_call_then *then)
{
    struct th_call *call = th_runtime_call_of(env);
    struct th_code_request asked = *request;
    struct th_continuation next;

    if (!call || !can_keep(then))
        return continuation_refuse(env);
    asked.what = th_check_term(env, request->what, "th_load_code");
    asked.info = th_check_term(env, request->info, "th_load_code");
    if (!can_be_asked(&asked))
        return continuation_refuse(env);
    if (call->outer)
        return th_runtime_call_raise(env, TH_RAISED_ERROR, th_atom("nested_await"));
    next = continuation_place_of(call, then, "th_load_code");
    next.step = TH_STEP_CODE;
    if (asked.command == TH_CODE_LOAD)
        next.where = ERL_NIF_THR_DIRTY_IO_SCHEDULER;
    next.argv[0] = th_make_tuple_of(env, th_small(asked.command), asked.what, asked.info,
                                    th_small(asked.purge));
    set_next(call, &next);
    return TH_NONE;
}

/* --- Messages --------------------------------------------------------------------------------- */

th_term th_runtime_call_await(th_env *env, const struct th_call_then *then, int64_t milliseconds)
{
    struct th_call *call = th_runtime_call_of(env);
    struct th_continuation next;

    if (!can_wait(env, call, then))
        return TH_NONE;
    next = continuation_place_of(call, then, "th_await");
    next.step = TH_STEP_AWAIT;
    next.deadline = milliseconds; /* below 0: none; 0: at once */
    if (milliseconds > 0)
        next.deadline =
            milliseconds < INT64_MAX / MILLION ? th_runtime_timer_in(milliseconds * MILLION) : -1;
    set_next(call, &next);
    return TH_NONE;
}

th_term th_runtime_call_skip(th_env *env)
{
    struct th_call *call = th_runtime_call_of(env);

    if (!call || call->outer || !call->process->offered)
        return continuation_refuse(env);
    set_next(call, &(struct th_continuation){.step = TH_STEP_SKIP,
                                             .where = ERL_NIF_THR_NORMAL_SCHEDULER});
    return TH_NONE;
}

/* --- File operations -------------------------------------------------------------------------- */

/* An operation begins with its struct th_magic. */
static void keep_operation(struct th_magic *operation)
{
    th_file_operation_keep((struct th_file_operation *)operation);
}

static void release_operation(struct th_offheap *self)
{
    th_file_operation_drop((struct th_file_operation *)th_magic_owner(self));
}

/* An operation is submitted only after the function has returned; until then it is a reference term
 * on the process' heap. So the function's last request counts, and an operation that was not
 * submitted is freed with the heap. */
th_term th_runtime_call_file(th_env *env, struct th_file_operation *operation,
                             const struct th_call_then *then)
{
    struct th_call *call = th_runtime_call_of(env);
    struct th_continuation next;
    th_term kept;

    if (!can_wait(env, call, then)) {
        th_file_operation_drop(operation);
        return TH_NONE;
    }
    operation->magic.keep = keep_operation;
    kept = th_make_magic(env, &operation->magic, release_operation);
    operation->process = call->process->pid;
    next = continuation_place_of(call, then, "th_file");
    next.step = TH_STEP_FILE;
    next.argv[0] = kept;
    set_next(call, &next);
    return TH_NONE;
}
