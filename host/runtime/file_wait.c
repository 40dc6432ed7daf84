/*
 * Processes that wait for file operations.
 *
 * A function requests an operation by a continuation (th_runtime_call_file()). When the function
 * has returned, a scheduler submits the operation, and the process waits without a thread, as for a
 * message. The pool's thread sends the result as a signal, not a message: so the result comes in
 * order with other signals, and a signal can end the waiting process.
 *
 * A process that ends while it waits abandons the operation. If the operation was carried out
 * before, its signal is in the mailbox or finds the process dead: the thread that notices this
 * settles the operation.
 */
#include "mailbox.h"

#include "host/base/buffer.h"
#include "host/process/process.h"
#include "host/term/make.h"

struct th_file_last th_runtime_call_last_file(const struct th_call *call)
{
    return call->process->last_operation;
}

static struct th_file_operation *operation_of(const struct th_message *signal)
{
    return (struct th_file_operation *)(uintptr_t)signal->number;
}

void th_runtime_file_unwanted(const struct th_message *signal)
{
    th_file_settle(operation_of(signal), NULL);
    th_file_operation_drop(operation_of(signal));
}

/* By a thread of the pool. */
static void report_over(struct th_file_operation *operation)
{
    struct th_message *signal = th_process_message_create(operation->result);

    signal->kind = TH_SIGNAL_FILE;
    signal->number = (uint64_t)(uintptr_t)operation;
    if (th_process_enqueue(operation->process, signal))
        return;
    th_file_settle(operation, NULL);
    th_file_operation_drop(operation);
}

static void file_wait_go_on(struct th_process *process, const struct th_message *answer)
{
    struct th_file_operation *operation = operation_of(answer);

    process->operation = NULL;
    process->last_operation = (struct th_file_last){.command = operation->command,
                                                    .thread = operation->thread,
                                                    .tag = operation->tag,
                                                    .error = operation->error};
    th_file_settle(operation, &process->files);
    th_file_operation_drop(operation);
}

bool th_runtime_file_step(struct th_process *process)
{
    struct th_file_operation *operation;
    struct th_buffer tag = {0};

    if (!process->operation) {
        operation = (struct th_file_operation *)th_magic_object(process->next.argv[0]);
        th_runtime_tag_text(process, &tag);
        process->next.argv[0] = TH_NONE;
        th_file_operation_keep(operation); /* the heap drops the term's reference */
        process->operation = operation;
        operation->done = report_over;
        th_file_submit(operation, &(struct th_file_submission){.thread = th_self.scheduler->number,
                                                               .user_tag = th_buffer_text(&tag)});
        th_buffer_free(&tag);
    }
    return th_runtime_mailbox_await(process, file_wait_go_on);
}

void th_runtime_file_end(struct th_process *process)
{
    if (process->operation && process->answer) {
        th_runtime_file_unwanted(process->answer);
        th_process_message_free(process->answer);
        process->answer = NULL;
    } else if (process->operation) {
        th_file_abandon(process->operation);
    }
    process->operation = NULL;
    if (process->files.has_opened)
        th_file_owner_end(&process->files, th_self.scheduler->number);
}
