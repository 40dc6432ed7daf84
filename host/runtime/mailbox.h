/* The mail of a process: what has arrived, and how it waits for more. Inner header of runtime/. */
#ifndef TH_MAILBOX_H
#define TH_MAILBOX_H

#include "runtime_internal.h"

/* Puts MESSAGE at the end of the inbox; takes the one at PLACE out of it, and frees it. */
void th_runtime_inbox_add(struct th_process *process, struct th_message *message);
void th_runtime_inbox_drop(struct th_process *process, struct th_message **place);

/* Takes what has arrived. */
void th_runtime_mailbox_look(struct th_process *process);

/* Offers the next message, or what has come instead: then PROCESS->next is to be run. False: there
 * is none yet, and the process is not this thread's any more. */
bool th_runtime_mailbox_offer(struct th_process *process);

/* The function that had the message has returned. */
void th_runtime_mailbox_offered(struct th_process *process);

/* Waits for a signal, having nothing to do. True: there was mail, which was taken. False: see
 * th_runtime_mailbox_offer(). */
bool th_runtime_mailbox_wait(struct th_process *process);

/* Waits until there is *SIGNAL, which the arrival of signals sets, and calls GO_ON, or until the
 * process is to end. False: see th_runtime_mailbox_offer(). */
bool th_runtime_mailbox_await(struct th_process *process, struct th_message *const *signal,
                              void (*go_on)(struct th_process *process));

/* The code that is next goes on with the term of SIGNAL as its first argument; the memory is the
 * heap's, as a message's is. */
void th_runtime_mailbox_answered(struct th_process *process, struct th_message *signal);

/* Under the mailbox's lock: the mailbox's hook; a timer's. */
void th_runtime_mailbox_wake(void *context, const struct th_message *message);
void th_runtime_mailbox_timed_out(void *context);

#endif
