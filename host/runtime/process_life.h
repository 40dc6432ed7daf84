/* Start, turns and end of processes. Inner header of runtime/. */
#ifndef TH_PROCESS_LIFE_H
#define TH_PROCESS_LIFE_H

#include "runtime.h"

#include "host/term/word.h"

struct th_request;

/* Creates a process. TOLD: a driven process (runtime.h), which waits; otherwise the caller sets the
 * process up and queues it. PARENT, which may be NULL, spawns it, with a link if LINKED. */
struct th_process *th_runtime_process_create(bool told, struct th_process *parent, bool linked);

/* Ends PROCESS with REASON and frees it; a driven process is freed by th_runtime_run_exit().
 * Owner: REASON must stay valid until the return.
 * Thread: a normal scheduler. */
void th_runtime_process_end(struct th_process *process, th_term reason);

/* Runs PROCESS for a turn. Afterwards other threads may use or free PROCESS.
 * Thread: a scheduler of the type that PROCESS needs next. */
void th_runtime_process_turn(struct th_process *process);

/* Gives PROCESS a new turn with all reductions. By the thread that uses PROCESS. */
void th_runtime_process_begin_turn(struct th_process *process);

/* Publishes the state of PROCESS, before other threads may use it. */
void th_runtime_process_show(struct th_process *process);

/* --- Driven processes (process_run.c) --------------------------------------------------------- */

/* Begins REQUEST, which a signal brought. */
void th_runtime_request_begin(struct th_process *process, struct th_request *request);

/* Completes the request of PROCESS: END and OUTCOME are the result. */
void th_runtime_request_finish(struct th_process *process, enum th_call_end end, th_term outcome);

/* Completes REQUEST because its process has ended with REASON. */
void th_runtime_request_end(struct th_request *request, th_term reason);

/* --- Memory for processes (process_memory.c) -------------------------------------------------- */

/* Returns memory for a process: all zeros, except `env`, an empty environment.
 * Owner: the caller returns the memory by th_runtime_process_memory_give().
 * Thread: any. */
struct th_process *th_runtime_process_memory_take(void);

/* Takes back the memory of PROCESS, which has ended and is unreachable, and clears its `env`, which
 * may be NULL.
 * Thread: any. */
void th_runtime_process_memory_give(struct th_process *process);

/* th_runtime_process_memory_leave(): frees the memory that the calling scheduler has kept.
 * th_runtime_process_memory_end(): frees the depot, when no scheduler is left. */
void th_runtime_process_memory_leave(void);
void th_runtime_process_memory_end(void);

/* --- Heaps (heap.c) --------------------------------------------------------------------------- */

/* th_runtime_heap_start(): resets the collection limits when a process or request begins.
 * th_runtime_heap_collect(): collects between two functions if the heap has grown enough.
 * th_runtime_heap_end(): drops all terms of the process. */
void th_runtime_heap_start(struct th_process *process);
void th_runtime_heap_collect(struct th_process *process);
void th_runtime_heap_end(struct th_process *process);

/* Makes the terms of MESSAGE, which was taken out of the inbox, part of the heap.
 * Owner: takes MESSAGE over. */
void th_runtime_heap_attach(struct th_process *process, struct th_message *message);

/* Continues the count of th_runtime_heap_words() in TO, the environment that PROCESS uses from now
 * on instead of FROM. The words of TO so far are copies, and do not count. */
void th_runtime_heap_move(struct th_process *process, const th_env *from, const th_env *to);

/* Returns the number of words made since the process' start; the number never goes down. Complete
 * only while there is a tracing.
 * Thread: the one that runs the process. */
uint64_t th_runtime_heap_words(const struct th_process *process);

#endif
