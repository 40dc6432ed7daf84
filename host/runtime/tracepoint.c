#include "tracepoint.h"

static uint64_t words_of(struct th_live_process *live)
{
    return th_heap_words(th_process_of_live(live));
}

void th_tracepoint_begin(struct th_process_run *process, struct th_process_run *parent, bool linked)
{
    struct th_tracing *tracing = th_runtime_threads().tracing;

    if (!tracing)
        return;
    process->live.id = process->pid;
    process->live.asked = &th_process_asked;
    process->live.words = words_of;
    th_live_process_begin(&process->live, tracing, parent ? &parent->live : NULL, linked);
}

void th_tracepoint_end(struct th_process_run *process)
{
    if (!th_tracepoint_is_there(process))
        return;
    th_live_process_end(&process->live);
    process->live.traced.tracing = NULL;
}
