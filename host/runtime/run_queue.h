/*
 * The run queues of the normal schedulers, one each. Inner header of runtime/.
 *
 * Who makes a process runnable puts it into its own queue, if it is a scheduler; else into that of
 * the scheduler that ran the process last. A scheduler without work takes from others, looks again
 * for some microseconds, and then sleeps, for short if others are at work and nobody else does so;
 * whoever has put a process into a queue while somebody sleeps, and nobody looks for work, wakes
 * one, unless it is the only process of a scheduler at work.
 */
#ifndef TH_RUN_QUEUE_H
#define TH_RUN_QUEUE_H

#include "runtime_internal.h"

void th_runtime_run_queues_open(unsigned count);
void th_runtime_run_queues_close(void);

void th_runtime_run_queue_add(struct th_process *process);

/* The next process for scheduler OWN, from 0; waits for one. NULL: there is something else to do
 * (th_runtime_run_queue_poke()), or it is to be asked again. */
struct th_process *th_runtime_run_queue_next(unsigned own);

/* Has scheduler OWN's th_runtime_run_queue_next() return NULL once, soon. Any thread. */
void th_runtime_run_queue_poke(unsigned own);

/* True once after th_runtime_run_queue_poke(OWN). */
bool th_runtime_run_queue_poked(unsigned own);

/* How many wait in it: for tests. */
unsigned th_runtime_run_queue_length(unsigned own);

#endif
