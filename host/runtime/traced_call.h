/*
 * Traced calls: functions that other modules call have breakpoints in their export entries, and
 * calls of which somebody wants to know the end stay open until it. Inner header of runtime/.
 *
 * An open call belongs to a physical frame: a function that runs, or waits for what it has called.
 * Which one that is, two things tell: the function that made the nested call in which it runs, and
 * how many functions of the process wait on kept frames below it. Tail calls stay on the frame, so
 * several calls can be open on it, and end together, the latest first. A function that yields or
 * awaits keeps its place, and so its frame.
 *
 * A process keeps as many open calls as the runtime was told to (struct th_runtime_setup); of more,
 * the oldest are forgotten, so that what happens now stays exact, and counted.
 *
 * All by the thread that runs the process.
 */
#ifndef TH_TRACED_CALL_H
#define TH_TRACED_CALL_H

#include "running.h"

/* From now on the functions of modules are known to the tracing; no more. By the thread that adds
 * and removes modules. */
void th_traced_calls_begin(const struct th_runtime_setup *setup);
void th_traced_calls_end(void);

/* PROCESS makes a call of ENTRY, which is armed, with ARGV; in a nested call that OUTER has made,
 * NULL: in none. Its frame is that of whoever runs in OUTER. */
void th_traced_call(struct th_process_run *process, const struct th_export *entry,
                    const th_term *argv, const struct th_call *outer);

/* Ends the open calls of the frame that is as deep as PROCESS is now, with its `outcome`, or with
 * what was `raised`. */
void th_traced_calls_over(struct th_process_run *process, const struct th_call *outer);

static inline void th_traced_frame_over(struct th_process_run *process, const struct th_call *outer)
{
    if (__builtin_expect(process->open.count != 0, 0))
        th_traced_calls_over(process, outer);
}

/* PROCESS ends with calls that are open: nothing is told of their ends. */
void th_traced_calls_drop(struct th_process_run *process);

/* What match specifications ask for: who called, {M, F, Arity} or `undefined`; and who called that
 * one, and so on, as a list without lines. CONTEXT is the process' struct th_live_process. */
th_term th_traced_caller(void *context, th_env *env);
th_term th_traced_stack(void *context, th_env *env, size_t depth);

#endif
