/*
 * The host's own processes, as the rest of process/ sees them. Any thread.
 */
#ifndef TH_HOST_PROCESS_H
#define TH_HOST_PROCESS_H

#include "host/term/term.h"

enum th_host_life { TH_HOST_NEVER, TH_HOST_STOPPED, TH_HOST_RUNNING };

/* Whether ID, a local pid or port, is, or once was, the pid of a process of the host. */
enum th_host_life th_host_process_life(th_term id);

/* Gives MESSAGE to it; false if it runs no more. */
bool th_host_process_deliver(th_term id, th_term message);

#endif
