/*
 * The host's own processes and ports, as the rest of process/ sees them. Any thread.
 */
#ifndef TH_HOST_PROCESS_H
#define TH_HOST_PROCESS_H

#include "host_slot.h"

/* Gives MESSAGE of FROM (TH_NONE: nobody) to ID, a local pid or port. False if that is none of the
 * host, or runs no more. */
bool th_host_process_deliver(th_term id, th_term message, th_term from);

/* Starts a port: as th_host_process_start(), but what is sent are commands. RECEIVE may be NULL: it
 * takes none. */
struct th_host_process *th_host_port_start(void (*receive)(void *context, th_term command),
                                           void *context);

/* Whether ID is a port of the host that runs and takes commands. */
bool th_host_port_takes(th_term id);

/*
 * ID is about to get a name, or to be watched, if it still lives then. False: it is one of the
 * host's that is dead. Who ends it need not look for a name, or for those who watch, unless this
 * came before; and most processes have neither. What is not the host's is left alone. Any thread,
 * with no lock held that is taken while a process receives.
 */
bool th_host_process_attend(th_term id);

/* The first half of th_host_process_exit(): all but telling those who watch it. The identifier that
 * it had; REMAINS is what it leaves behind. */
th_term th_host_process_die(struct th_host_process *process, struct th_host_remains *remains);

#endif
