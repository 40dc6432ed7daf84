/*
 * Traced calls: calls of functions that have breakpoints, in their export entries, which external
 * calls meet, or in their machine code, which all calls meet; and their ends, if they stay open
 * (open_calls.h). Inner header of runtime/.
 *
 * All by the thread that runs the process.
 */
#ifndef TH_TRACED_CALL_H
#define TH_TRACED_CALL_H

#include "caller.h"
#include "open_calls.h"

/* From now on the functions of modules are known to the tracing; no more. By the thread that adds
 * and removes modules. */
void th_traced_calls_begin(const struct th_runtime_setup *setup);
void th_traced_calls_end(void);

/* PROCESS makes a call, which reaches CALLEE by an entry that is armed, with ARGV; in a nested call
 * that OUTER has made, NULL: in none. Its frame is that of whoever runs in OUTER. */
void th_traced_call(struct th_process *process, const struct th_callee *callee, const th_term *argv,
                    const struct th_call *outer);

/* Ends the open calls of the frame that is as deep as PROCESS is now, with its `outcome`, or with
 * what was `raised`. */
void th_traced_calls_over(struct th_process *process, const struct th_call *outer);

static inline void th_traced_frame_over(struct th_process *process, const struct th_call *outer)
{
    if (__builtin_expect(process->open.count | process->live.returning_to, 0))
        th_traced_calls_over(process, outer);
}

/* The atom that tells it. */
th_term th_traced_class_atom(enum th_raised class);

/* Values of th_self.in_trace_hook while the host works on open calls, or reports a call: calls that
 * a signal handler makes then are not reported. Else it is 0. While a call is reported that was met
 * in machine code it is the stack pointer before that call. */
enum { TH_BUSY = 1, TH_FORKED = 2 /* for ever: the process is a child that was forked */ };

#endif
