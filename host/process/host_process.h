/*
 * The host's own processes, as the rest of process/ sees them. Any thread.
 */
#ifndef TH_HOST_PROCESS_H
#define TH_HOST_PROCESS_H

#include "host/term/term.h"

/* True if ID is, or once was, the pid of a process of the host. */
bool th_host_process_owns(th_term id);

/* True if ID is the pid of a running one. */
bool th_host_process_alive(th_term id);

/* Gives MESSAGE to it; false if it runs no more. */
bool th_host_process_deliver(th_term id, th_term message);

#endif
