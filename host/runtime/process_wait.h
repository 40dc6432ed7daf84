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

/* --- The loader (code_order.c) ----------------------------------------------------------------- */

/*
 * The loader: the thread that changes code for processes.
 *
 * A process that wants code to be loaded has it prepared, by a dirty thread as part of its turn,
 * and orders the rest: the loader takes one order after the other, waits for the code modification
 * permission, for libraries' load() and for thread progress, and sends the answer. So one thread
 * waits, whatever the number of processes, and no scheduler does.
 *
 * The thread is started by the first order. Functions in which it calls libraries' code are those
 * of code/loading.h.
 */

struct th_code_order {
    struct th_code_order *next; /* in the queue, under its lock */
    th_term process;            /* who waits for the answer */
    enum th_code_command command;
    enum th_purge purge;
    th_term module; /* that is to be purged or deleted */

    struct th_prepared **prepared; /* that are to be loaded: COUNT of them */
    size_t count;
    th_term info;   /* in ENV */
    th_term answer; /* in ENV; TH_NONE: none yet. If there is one already, nothing is done but to
                       drop what was prepared, and to send it */
    th_env env;
};

struct th_code_order *th_runtime_code_order_create(enum th_code_command command, th_term process);

/* The answer of ORDER is {error, {Why, Texts}}: REFUSAL, and what the thread's error chain says. */
void th_runtime_code_order_fail(struct th_code_order *order, enum th_code_refusal refusal);

/* Takes ORDER over. What a process has ordered that is dead when it is its turn is dropped. Any
 * thread. */
void th_runtime_loader_submit(struct th_code_order *order);

/* How many orders there are that were not carried out to the end. Any thread. */
size_t th_runtime_loader_orders(void);

/* Ends the thread, having carried out what there is. */
void th_runtime_loader_end(void);

#endif
