/*
 * The face of process/: who there is. Processes and ports of the recording being replayed, the
 * host's own processes, names, mail.
 *
 * There is one world at a time (th_world_reset() begins the next). It belongs to the thread that
 * replays: only that thread may see, end, register or look up; th_process_alive() and
 * th_mail_send() may be called by any thread.
 *
 * A process or port of a recording exists from its first sight, or its spawn, until its exit. Its
 * struct is dropped when it ends, or when it has been idle and nothing is known of it but that it
 * lives. What has ended stays known in one bit each. An identifier that was never seen counts as
 * alive: whoever holds it got it from the recording, or was given it by the user.
 */
#ifndef TH_PROCESS_H
#define TH_PROCESS_H

#include "host/term/term.h"

/* The host's own processes have this serial and above, which no recorded node reaches. */
enum { TH_HOST_SERIAL = 4096 };

struct th_process {
    th_term id;    /* a pid or port of this node; TH_NONE for one whose number is no BEAM's */
    th_term name;  /* the registered name, TH_NONE: none */
    void *tracing; /* what trace/ knows of it; NULL: nothing special. See th_world_reset(). */
    uint32_t seen; /* the sweep in which it was last seen */
};

/*
 * Begins a new world: forgets processes, ports, names and the node. DROP (NULL: nothing) is called
 * for each struct whose `tracing` is not NULL, here and whenever such a process ends.
 */
void th_world_reset(void (*drop)(struct th_process *process));

/* The struct of ID, any pid or port, made if it is not there. Never NULL; valid until the process
 * ends, or the second next th_world_see() if its `tracing` and `name` are empty. Allocates nothing
 * for one that is there. What has ended stays so, however often it is seen after that. */
struct th_process *th_world_see(th_term id);

/* The struct of ID, NULL if nothing special is known of it. */
struct th_process *th_world_find(th_term id);

/* ID has ended: its name is free again, its struct goes. */
void th_world_end(th_term id);

/* Names. Registering a name that is taken moves it, as a recording can have lost the unregister. */
void th_world_register(th_term id, th_term name);
void th_world_unregister(th_term name);
th_term th_world_whereis(th_term name); /* TH_NONE: nobody */

/* The recorded node, whose identifiers are the local ones; {0} until it is set. Set by the world's
 * thread, read by any. */
void th_world_set_node(struct th_etf_node node);
struct th_etf_node th_world_node(void);

/* How many structs there are, how many were ever seen, how many ended: for --stats and tests. */
struct th_world_counts {
    uint64_t present, seen, ended;
};
struct th_world_counts th_world_counts(void);

/* Any thread, without a lock. ID is a pid or port of this node, or any other term: what is of
 * another node (there is no distribution), or is no identifier, is not alive. */
bool th_process_alive(th_term id);

/*
 * A process of the host itself. RECEIVE is called for each message, one at a time, on the thread
 * that sends; the message is valid during the call. It must neither send to nor stop the process
 * that it is. A stopped process' pid is dead for ever; stopping waits for a message being received.
 */
struct th_host_process;
struct th_host_process *th_host_process_start(void (*receive)(void *context, th_term message),
                                              void *context);
th_term th_host_process_pid(const struct th_host_process *process);
void th_host_process_stop(struct th_host_process *process);

/*
 * Delivers MESSAGE to PID; any thread. False if the receiver is not alive. Mail to processes of a
 * recording, which nobody runs, is counted and dropped.
 */
bool th_mail_send(th_term pid, th_term message);
uint64_t th_mail_dropped(void);

/*
 * The console: a host process that prints every message as an Erlang shell's io:format("~p~n")
 * does, but always on one line, to OUT (NULL and default: stdout). Started at the first call; the
 * same pid ever after. Any thread. OUT is not flushed.
 */
th_term th_console_pid(void);
void th_console_set_output(FILE *out);

#endif
