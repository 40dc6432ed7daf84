/*
 * Processes that wait for code to be loaded, purged or deleted.
 *
 * A function asks for it by a continuation (th_runtime_call_code()). When it has returned,
 *
 *  1. a dirty thread prepares the libraries, as part of the process' turn: so any number of
 *     processes prepare at once, up to the number of those threads. There is no such step where
 *     nothing is to be prepared;
 *  2. the loader is ordered to do the rest (code_order.h), and has all that was prepared;
 *  3. the process waits without a thread, as for a message. The answer is a signal and no message:
 *     it comes in order, and messages stay in the mailbox.
 *
 * A process that ends meanwhile has nothing to give back: its order is dropped at its turn, or
 * carried out to the end, and nobody gets the answer.
 */
#include "mailbox.h"
#include "process_wait.h"
#include "queue.h"

#include "host/base/base.h"
#include "host/file/file.h"

/* What th_runtime_call_code() has put in the place of the answer. */
static struct th_code_request request_of(const struct th_process *process)
{
    const th_term *parts = th_tuple_elements(process->next.argv[0]);

    return (struct th_code_request){
        .command = (enum th_code_command)th_small_value(parts[0]),
        .what = parts[1],
        .info = parts[2],
        .purge = (enum th_purge)th_small_value(parts[3]),
    };
}

static enum th_status prepare_one(struct th_code_order *order, th_term path_term)
{
    char *path = th_file_path(path_term);
    struct th_library *library;
    enum th_status status = th_library_open_copy(path, &library);

    if (status == TH_OK)
        order->prepared[order->count++] = th_code_prepare(library);
    th_free(path);
    return status;
}

static void prepare(struct th_code_order *order, const struct th_code_request *request)
{
    enum th_status status = TH_OK;
    size_t length = 0;

    th_get_list_length(request->what, &length);
    order->prepared = th_alloc((length + 1) * sizeof *order->prepared);
    order->info = th_copy(&order->env, request->info);
    for (th_term list = request->what; status == TH_OK && th_is_list(list); list = th_cell(list)[1])
        status = prepare_one(order, th_cell(list)[0]);
    if (status != TH_OK)
        th_runtime_code_order_fail(order, status == TH_REFUSED ? TH_CODE_REFUSED : TH_CODE_FAILED);
    th_error_clear();
}

/* From here on the answer may arrive at any time. */
static void order(struct th_process *process)
{
    struct th_code_request request = request_of(process);
    struct th_code_order *made = th_runtime_code_order_create(request.command, process->pid);

    made->purge = request.purge;
    if (request.command == TH_CODE_LOAD)
        prepare(made, &request);
    else
        made->module = request.what;
    process->next.argv[0] = TH_NONE;
    process->next.where = ERL_NIF_THR_NORMAL_SCHEDULER;
    process->code_ordered = true;
    th_runtime_loader_submit(made);
}

/* The thread is shown to run the function that has asked. */
static void order_here(struct th_process *process)
{
    th_runtime_thread_runs(process->next.callee->name);
    order(process);
    th_runtime_thread_runs(NULL);
}

void th_runtime_code_arrived(struct th_process *process, struct th_message *signal)
{
    signal->next = NULL;
    process->code_answer = signal;
}

/* The answer is an argument, as a message is. */
static void go_on(struct th_process *process)
{
    struct th_message *signal = process->code_answer;

    process->code_ordered = false;
    process->code_answer = NULL;
    th_runtime_mailbox_answered(process, signal);
}

bool th_runtime_code_step(struct th_process *process)
{
    if (!process->code_ordered) {
        order_here(process);
        return true;
    }
    return th_runtime_mailbox_await(process, &process->code_answer, go_on);
}
