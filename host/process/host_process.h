/*
 * The host's own processes and ports, as the rest of process/ sees them. Any thread.
 */
#ifndef TH_HOST_PROCESS_H
#define TH_HOST_PROCESS_H

#include "host_slot.h"

enum th_host_life { TH_HOST_NEVER, TH_HOST_STOPPED, TH_HOST_RUNNING };

/* Whether ID, a local pid or port, is, or once was, one of the host. */
enum th_host_life th_host_process_life(th_term id);

/* Gives MESSAGE to it; false if it runs no more. */
bool th_host_process_deliver(th_term id, th_term message);

/* Starts a port: as th_host_process_start(), but what is sent are commands. */
struct th_host_process *th_host_port_start(void (*receive)(void *context, th_term command),
                                           void *context);

/* The first half of th_host_process_exit(): all but telling those who watch it. The identifier that
 * it had. */
th_term th_host_process_die(struct th_host_process *process);

#endif
