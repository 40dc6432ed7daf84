/*
 * Calls: one function after the other, and what their answers say.
 *
 * Where a function says two things, it is as in a BEAM: of an exception and a continuation the
 * later counts; an exception counts more than a term that is returned, and that more than a
 * continuation. A function that says nothing at all, which a BEAM does not survive, has raised
 * badarg.
 */
#include "running.h"

#include <string.h>
#include <unistd.h>

enum {
    TURN = 4000,            /* reductions of a turn, as in a BEAM */
    PERCENT = TURN / 100,   /* of a turn */
    MOST_ARGUMENTS = 255,   /* of a function */
    ARGUMENTS_BYTES = 4096, /* of their text in a report */
};

_Thread_local struct th_call *th_call_current;

/* --- For functions that run ------------------------------------------------------------------ */

/* The call that ENV belongs to, NULL if it is another than that the thread is in. */
static struct th_call *call_of(const th_env *env)
{
    struct th_call *call = th_call_current;

    return call && call->env == env ? call : NULL;
}

bool th_call_consume(th_env *env, int percent)
{
    struct th_call *call = call_of(env);
    int share = percent < 1 ? 1 : percent > 100 ? 100 : percent;

    if (!call || env->thread != ERL_NIF_THR_NORMAL_SCHEDULER)
        return false; /* as in a BEAM, which does not count the time of dirty threads */
    call->process->reductions -= share * PERCENT;
    return call->process->reductions <= 0;
}

/* The thread type that a function with FLAGS runs on, 0 if there is none. Both dirty kinds at once
 * are one for input and output, as in a BEAM. */
static int thread_of(int flags)
{
    if (flags == 0)
        return ERL_NIF_THR_NORMAL_SCHEDULER;
    if (flags & ~(ERL_NIF_DIRTY_JOB_CPU_BOUND | ERL_NIF_DIRTY_JOB_IO_BOUND))
        return 0;
    return flags & ERL_NIF_DIRTY_JOB_IO_BOUND ? ERL_NIF_THR_DIRTY_IO_SCHEDULER
                                              : ERL_NIF_THR_DIRTY_CPU_SCHEDULER;
}

th_term th_call_schedule(th_env *env, const char *function, int flags,
                         ERL_NIF_TERM (*code)(ErlNifEnv *, int, const ERL_NIF_TERM[]), int argc,
                         const th_term argv[])
{
    struct th_call *call = call_of(env);
    int where = thread_of(flags);
    th_term name = TH_NONE;
    th_term *copies;

    if (call && where && argc >= 0 && argc <= MOST_ARGUMENTS)
        name = th_atom_latin1(function, strlen(function));
    if (name == TH_NONE) {
        env->exception = TH_AM(badarg);
        return TH_NONE;
    }
    env->exception = TH_NONE;
    copies = th_env_take(env, (size_t)argc);
    for (int i = 0; i < argc; i++)
        copies[i] = th_check_term(env, argv[i], "enif_schedule_nif");
    call->process->next = (struct th_continuation){
        .code = code,
        .function = th_atom_name(name)->text,
        .argc = argc,
        .argv = copies,
        .where = where,
    };
    return TH_NONE;
}

/* --- Running them ---------------------------------------------------------------------------- */

/* For the report of a crash: what was called, with its arguments. */
static void tell_call(int output, const struct th_library_call *self)
{
    const struct th_call *call = th_call_current;
    struct th_buffer text = {0};

    (void)self;
    if (strcmp(call->function, call->callee->function->name) != 0) {
        th_text_print_atom(&text, th_library_name(call->callee->library));
        dprintf(output, "  function: %s:%s/%d\n", th_buffer_text(&text), call->function,
                call->argc);
    }
    for (int i = 0; i < call->argc; i++) {
        text.size = 0;
        th_text_print_limited(&text, call->argv[i], ARGUMENTS_BYTES);
        dprintf(output, "  argument %d: %s\n", i + 1, th_buffer_text(&text));
    }
}

static void end_with(struct th_process_run *process, enum th_call_end end, th_term outcome)
{
    process->end = end;
    process->outcome = outcome;
    process->next.code = NULL;
    process->next.where = ERL_NIF_THR_NORMAL_SCHEDULER;
}

/* A function has returned ANSWER. */
static void conclude(struct th_process_run *process, th_term answer)
{
    if (process->env->exception != TH_NONE)
        end_with(process, TH_CALL_RAISED, process->env->exception);
    else if (answer != TH_NONE)
        end_with(process, TH_CALL_RETURNED, answer);
    else if (!process->next.code)
        end_with(process, TH_CALL_RAISED, TH_AM(badarg)); /* nothing at all: a BEAM would crash */
    else if (th_library_halting())
        end_with(process, TH_CALL_RAISED, th_atom("halting"));
    else
        th_heap_collect(process);
}

static void run_function(struct th_process_run *process)
{
    struct th_continuation now = process->next;
    struct th_call call = {
        .process = process,
        .callee = process->callee,
        .function = now.function,
        .argc = now.argc,
        .argv = now.argv,
        .env = process->env,
    };
    struct th_library *library = call.callee->library;
    struct th_library_call running;
    bool checked = th_check_on();
    th_term answer;

    process->next.code = NULL;
    process->reductions--;
    process->env->thread = (unsigned char)now.where;
    th_call_current = &call;
    th_library_enter(library);
    th_library_begin(&running, th_library_path(library), call.callee->name);
    running.tell = tell_call;
    if (checked)
        th_check_begin(&call);
    answer = now.code(call.env, now.argc, now.argv);
    if (checked)
        answer = th_check_answer(&call, answer, process->next.code != NULL);
    th_library_end(&running);
    th_library_leave(library);
    th_call_current = NULL;
    conclude(process, answer);
}

/* A function that is to go on somewhere else, or when the turn is used up, waits in a queue. */
void th_process_turn(struct th_process_run *process)
{
    int here = th_scheduler_current->type;

    process->reductions = TURN;
    while (process->next.code && process->next.where == here && process->reductions > 0) {
        run_function(process);
        if (here == ERL_NIF_THR_NORMAL_SCHEDULER)
            th_resource_reap();
    }
    if (!process->next.code && here == ERL_NIF_THR_NORMAL_SCHEDULER)
        th_process_finish(process);
    else
        th_queue_add(process);
}
