/*
 * Tracepoints: where what happens to processes becomes events of trace/. Inner header of runtime/.
 *
 * Without a tracing a tracepoint is a load and a branch. With one, what an event tells is built
 * when a tracer has said that it wants it.
 *
 * All by the thread that runs the process, or that makes it.
 */
#ifndef TH_TRACEPOINT_H
#define TH_TRACEPOINT_H

#include "running.h"

static inline bool th_tracepoint_is_there(const struct th_process_run *process)
{
    return __builtin_expect(process->live.traced.tracing != NULL, 0);
}

/* Perhaps somebody wants events with TAG of PROCESS. */
static inline bool th_tracepoint_is_wanted(const struct th_process_run *process,
                                           enum th_tracer_tag tag)
{
    return th_tracepoint_is_there(process) && th_live_is_wanted(&process->live, tag);
}

/* PROCESS is there, before anybody else can have it; and it is no more. No events: it becomes known
 * to trace/, with the flags that it inherits. */
void th_tracepoint_begin(struct th_process_run *process, struct th_process_run *parent,
                         bool linked);
void th_tracepoint_end(struct th_process_run *process);

/* What match specifications ask of a process (struct th_live_process). */
extern const struct th_match_operations th_process_asked;

#endif
