/*
 * Driven processes: calls requested by threads outside of the runtime.
 *
 * A request is a signal to the process. A scheduler acts on it in order with all other signals. The
 * requesting thread waits, so that the scheduler may use the memory that the request points to.
 */

#include "call_steps.h"
#include "mailbox.h"
#include "process_life.h"
#include "runtime.h"

#include "host/code/export.h"
#include "host/library/load.h"
#include "host/library/resource/resource.h"
#include "host/runtime/traced/tracepoint.h"

struct th_process *th_runtime_run_start(void)
{
    struct th_process *process = th_runtime_process_create(true, NULL, false);

    th_traced_probed_spawn(process, NULL);
    sem_init(&process->over, 0, 0); /* the pid is not known yet, so nothing can end the process */
    return process;
}

th_term th_runtime_run_pid(const struct th_process *process)
{
    return process->pid;
}

/* --- Requests --------------------------------------------------------------------------------- */

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ; /* interrupted by a signal handler */
}

/* Returns false if the process has ended before the request began. */
static bool process_run_ask(struct th_process *process, struct th_request *request)
{
    bool asked;

    sem_init(&request->done, 0, 0);
    asked = th_runtime_signal_send(process->pid, TH_SIGNAL_REQUEST, TH_NONE, (uintptr_t)request,
                                   TH_NIL);
    if (asked)
        wait_for(&request->done);
    sem_destroy(&request->done);
    return asked;
}

static enum th_call_end ask_call(struct th_process *process, struct th_request *request,
                                 th_term *result)
{
    request->what = TH_REQUEST_CALL;
    if (!process_run_ask(process, request)) {
        *result = th_copy(request->env, process->end_message->term);
        return TH_CALL_ENDED;
    }
    *result = request->result;
    return request->end;
}

enum th_call_end th_runtime_run_call(struct th_process *process, const struct th_callee *callee,
                                     const th_term argv[], th_env *env, th_term *result)
{
    struct th_request request = {.callee = callee, .argv = argv, .env = env};

    return ask_call(process, &request, result);
}

enum th_call_end th_runtime_run_call_export(struct th_process *process,
                                            const struct th_export *entry, const th_term argv[],
                                            th_env *env, th_term *result,
                                            struct th_exception_raised *raised)
{
    struct th_request request = {.entry = entry, .argv = argv, .env = env};
    enum th_call_end end = ask_call(process, &request, result);

    if (raised)
        *raised = request.raised;
    return end;
}

struct th_message *th_runtime_run_receive(struct th_process *process, int64_t nanoseconds)
{
    struct th_request request = {.what = TH_REQUEST_RECEIVE, .deadline = nanoseconds};

    if (nanoseconds > 0)
        request.deadline = th_runtime_timer_in(nanoseconds);
    process_run_ask(process, &request);
    return request.message;
}

void th_runtime_run_yield(struct th_process *process)
{
    atomic_store_explicit(&process->yields, true, memory_order_relaxed);
}

void th_runtime_run_kill(const struct th_process *process)
{
    th_runtime_signal_send(process->pid, TH_SIGNAL_EXIT, TH_NONE, 0, TH_AM(kill));
}

/* `over` is posted when nothing uses the process any more, whether it ended before or ends now. */
void th_runtime_run_exit(struct th_process *process, th_term reason)
{
    th_runtime_signal_send(process->pid, TH_SIGNAL_END, TH_NONE, 0, reason);
    wait_for(&process->over);
    sem_destroy(&process->over);
    th_process_message_free(process->end_message);
    th_runtime_process_memory_give(process);
}

/* --- Execution, by a scheduler ---------------------------------------------------------------- */

void th_runtime_request_begin(struct th_process *process, struct th_request *request)
{
    const struct th_callee *callee = request->callee;
    const struct th_export *entry = request->entry;
    int argc;

    process->request = request;
    if (atomic_exchange_explicit(&process->yields, false, memory_order_relaxed))
        th_runtime_process_begin_turn(process);
    if (request->what == TH_REQUEST_RECEIVE) {
        process->offer = &process->inbox;
        process->next = (struct th_continuation){.step = TH_STEP_RECEIVE,
                                                 .where = ERL_NIF_THR_NORMAL_SCHEDULER,
                                                 .deadline = request->deadline};
        return;
    }
    argc = (int)(callee ? callee->function->arity : entry->arity);
    process->next = (struct th_continuation){
        .step = TH_STEP_CALL,
        .where = ERL_NIF_THR_NORMAL_SCHEDULER,
        .callee = callee,
        .module = callee ? th_library_name(callee->library) : entry->module,
        .function = callee ? th_code_name_atom(callee->function->name) : entry->function,
        .argc = argc,
        .argv = th_runtime_terms_copy(process->env, argc, request->argv)};
    process->env->self = process->pid;
    th_runtime_heap_start(process);
}

/*
 * Destroys the resources that the call released before the requesting thread continues, so that the
 * caller sees the effects of destructors in order.
 */
void th_runtime_request_finish(struct th_process *process, enum th_call_end end, th_term outcome)
{
    struct th_request *request = process->request;

    request->end = end;
    if (request->what == TH_REQUEST_CALL)
        request->result = th_copy(request->env, outcome);
    if (end == TH_CALL_RAISED || end == TH_CALL_THREW || end == TH_CALL_EXITED) {
        request->raised = process->raised;
        request->raised.reason = request->result;
        request->raised.stack = th_copy(request->env, process->raised.stack);
    }
    th_runtime_heap_end(process);
    th_resource_reap();
    process->raised = (struct th_exception_raised){0};
    process->request = NULL;
    process->next = (struct th_continuation){.where = ERL_NIF_THR_NORMAL_SCHEDULER};
    sem_post(&request->done);
}

void th_runtime_request_end(struct th_request *request, th_term reason)
{
    request->end = TH_CALL_ENDED;
    if (request->what == TH_REQUEST_CALL)
        request->result = th_copy(request->env, reason);
    sem_post(&request->done);
}
