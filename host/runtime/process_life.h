/* Processes: how they begin, take their turns and end. Inner header of runtime/. */
#ifndef TH_PROCESS_LIFE_H
#define TH_PROCESS_LIFE_H

#include "runtime_internal.h"

/* TOLD: a driven process (runtime.h), which waits. Otherwise the caller sets it up and queues it.
 * PARENT, which may be NULL, spawns it, with a link if LINKED. */
struct th_process *th_runtime_process_create(bool told, struct th_process *parent, bool linked);

/* Ends PROCESS with REASON, a term that stays until this returns, and frees it; a driven process
 * stays, ended. By a normal scheduler. */
void th_runtime_process_end(struct th_process *process, th_term reason);

/* Runs PROCESS for a turn; the calling thread is a scheduler of the type that it is to run on.
 * After it, others may have PROCESS. */
void th_runtime_process_turn(struct th_process *process);

/* PROCESS, which this thread has, is as if it came in anew: with all reductions of a turn. */
void th_runtime_process_begin_turn(struct th_process *process);

/* Updates what others see of PROCESS, before they may have it. */
void th_runtime_process_show(struct th_process *process);

#endif
