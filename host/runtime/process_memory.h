/* Memory for processes. Inner header of runtime/. */
#ifndef TH_PROCESS_MEMORY_H
#define TH_PROCESS_MEMORY_H

#include "runtime_internal.h"

/* A process, all zeros but for an `env` that is empty. Any thread. */
struct th_process *th_runtime_process_memory_take(void);

/* PROCESS has ended, and nobody knows of it any more; what its `env` holds goes. NULL: it has none.
 * Any thread. */
void th_runtime_process_memory_give(struct th_process *process);

/* Frees what the calling scheduler has kept; what all have given up, once there are no more. */
void th_runtime_process_memory_leave(void);
void th_runtime_process_memory_end(void);

#endif
