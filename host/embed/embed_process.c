/* Processes of the program, and the console. */
#include "embed_sized.h"

#include "host/process/process.h"

struct tracehost_process {
    struct th_mailbox *process;
};

static void ignore(void *context, th_term message)
{
    (void)context;
    (void)message;
}

enum tracehost_status tracehost_process_start(void (*receive)(void *context, ERL_NIF_TERM message),
                                              void *context, tracehost_process **process)
{
    enum th_status status = th_embed_need(process, "result") ?: th_embed_enter();

    if (status != TH_OK)
        return th_embed_answer(status);
    *process = th_alloc(sizeof **process);
    (*process)->process = th_process_start(receive ? receive : ignore, context);
    return TRACEHOST_OK;
}

ERL_NIF_TERM tracehost_process_pid(const tracehost_process *process)
{
    return process ? th_process_pid(process->process) : TH_NONE;
}

void tracehost_process_stop(tracehost_process *process)
{
    if (!process)
        return;
    th_process_stop(process->process);
    th_free(process);
}

ERL_NIF_TERM tracehost_console_pid(void)
{
    return th_process_console_pid();
}

void tracehost_console_set_output(FILE *out)
{
    th_process_console_set_output(out);
}
