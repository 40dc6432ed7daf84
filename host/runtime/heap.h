/* The heap of a process. Inner header of runtime/. */
#ifndef TH_HEAP_H
#define TH_HEAP_H

#include "runtime_internal.h"

/* When a process begins anew; between two functions; when it needs none of its terms any more. */
void th_runtime_heap_start(struct th_process *process);
void th_runtime_heap_collect(struct th_process *process);
void th_runtime_heap_end(struct th_process *process);

/* The terms of MESSAGE, taken out of the inbox, are the heap's now. */
void th_runtime_heap_attach(struct th_process *process, struct th_message *message);

/* The words that were made since the process' start; by the thread that runs it. */
uint64_t th_runtime_heap_words(const struct th_process *process);

#endif
