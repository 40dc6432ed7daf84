/* Processes: how they begin, take their turns and end. Inner header of runtime/. */
#ifndef TH_PROCESS_LIFE_H
#define TH_PROCESS_LIFE_H

#include "runtime.h"

#include "host/term/word.h"

struct th_request;

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

/* --- Processes that are driven from outside (process_run.c) ----------------------------------- */

/* Begins what a signal asks for. */
void th_runtime_request_begin(struct th_process *process, struct th_request *request);

/* The call that was asked for is over. */
void th_runtime_request_finish(struct th_process *process, enum th_call_end end, th_term outcome);

/* The process has ended with REASON: so has what was asked of it. */
void th_runtime_request_end(struct th_request *request, th_term reason);

/* --- Memory for processes (process_memory.c) -------------------------------------------------- */

/* A process, all zeros but for an `env` that is empty. Any thread. */
struct th_process *th_runtime_process_memory_take(void);

/* PROCESS has ended, and nobody knows of it any more; what its `env` holds goes. NULL: it has none.
 * Any thread. */
void th_runtime_process_memory_give(struct th_process *process);

/* Frees what the calling scheduler has kept; what all have given up, once there are no more. */
void th_runtime_process_memory_leave(void);
void th_runtime_process_memory_end(void);

/* --- Heaps (heap.c) --------------------------------------------------------------------------- */

/* When a process begins anew; between two functions; when it needs none of its terms any more. */
void th_runtime_heap_start(struct th_process *process);
void th_runtime_heap_collect(struct th_process *process);
void th_runtime_heap_end(struct th_process *process);

/* The terms of MESSAGE, taken out of the inbox, are the heap's now. */
void th_runtime_heap_attach(struct th_process *process, struct th_message *message);

/* The words that were made since the process' start; by the thread that runs it. */
uint64_t th_runtime_heap_words(const struct th_process *process);

#endif
