/* Steps that wait for a signal. Inner header of runtime/. */
#ifndef TH_PROCESS_WAIT_H
#define TH_PROCESS_WAIT_H

#include "runtime_internal.h"

/* --- Operations on files (file_wait.c) --- */

/* Submits the operation that is next, waits for it, and goes on with its result. False: see
 * th_runtime_mailbox_offer(). */
bool th_runtime_file_step(struct th_process *process);

/* SIGNAL, which this takes over, has come. */
void th_runtime_file_arrived(struct th_process *process, struct th_message *signal);

/* The process ends: what it waits for is cancelled, its files are closed. Before its mailbox goes;
 * a signal that is still to come then is handed to th_runtime_file_unwanted(), in place of the
 * process. */
void th_runtime_file_end(struct th_process *process);
void th_runtime_file_unwanted(const struct th_message *signal);

/* --- Changing code (code_wait.c) --- */

/* On a dirty thread: prepares, and orders the rest. On a normal one: orders what is next, unless
 * that was done, waits for the answer, and goes on with it. False: see th_runtime_mailbox_offer().
 */
bool th_runtime_code_step(struct th_process *process);

/* SIGNAL, which this takes over, has come. */
void th_runtime_code_arrived(struct th_process *process, struct th_message *signal);

#endif
