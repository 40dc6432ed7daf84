/*
 * The face of process/: processes and ports of the recording being replayed, the host's own
 * processes and ports, names, mail.
 *
 * There is one world, the state of the recording, at a time; th_process_world_reset() begins the
 * next. The world belongs to the thread that replays: only this thread may see, end or register
 * recorded processes. th_process_alive(), th_process_whereis(), monitors and mail are for any
 * thread.
 *
 * A recorded process or port exists from its first sight, or its spawn, until its exit. Its struct
 * is dropped at the exit, or after some idle time if nothing but its existence is known. One bit
 * for each ended process stays. An identifier that was never seen counts as alive: its holder got
 * it from the recording or from the user. The host's own identifiers (TH_HOST_SERIAL,
 * TH_HOST_PORT_ID) are different: the host knows which of them are alive.
 */
#ifndef TH_PROCESS_H
#define TH_PROCESS_H

#include "host/term/etf.h"

/* Least serial of the host's own processes, and least id of its own ports. No recorded node reaches
 * them. */
enum { TH_HOST_SERIAL = 4096 };
#define TH_HOST_PORT_ID ((uint64_t)1 << 40)

enum {
    TH_HOST_INDEX_BITS = 24, /* of a port's id */
    TH_HOST_MOST = 1 << TH_HOST_INDEX_BITS
};

/* Returns the index of ID, one of the host's own processes or ports, below TH_HOST_MOST; any number
 * for other identifiers. Those that live at the same time have different indices. */
static inline uint32_t th_process_host_index(th_term id)
{
    return th_is_local_port(id) ? th_local_port_id(id) & (TH_HOST_MOST - 1)
                                : th_local_pid_number(id) - 1;
}

struct th_recorded_process {
    th_term id;    /* a pid or port of this node; TH_NONE if its number is out of a BEAM's range */
    th_term name;  /* registered name; TH_NONE: none */
    void *tracing; /* data of trace/; NULL: none. See th_process_world_reset() */
    uint32_t seen; /* sweep in which it was last seen */
    bool expected; /* expected, not seen yet */
};

/*
 * Begins a new world: forgets processes, ports, names and the node. Calls DROP (if not NULL) for
 * each struct whose `tracing` is not NULL, now and whenever such a process ends. Then fires the
 * monitors of recorded processes with `noconnection`, as a BEAM does when a node is gone:
 * identifiers of the next world mean other processes, and no monitor waits in vain.
 */
void th_process_world_reset(void (*drop)(struct th_recorded_process *process));

/* Returns the struct of ID, any pid or port; creates it if necessary. Never NULL. Allocates nothing
 * if the struct exists. An ended process stays ended however often it is seen.
 * Owner: valid until the process ends; if `tracing` and `name` are empty, only until the second
 *   next th_process_world_see(). */
struct th_recorded_process *th_process_world_see(th_term id);

/* Returns the struct of ID like th_process_world_see(), without counting ID as seen: ID may never
 * appear in the recording. */
struct th_recorded_process *th_process_world_expect(th_term id);

/* Returns the struct of ID; NULL if there is none. */
struct th_recorded_process *th_process_world_find(th_term id);

/* Calls SEEN for each struct. SEEN must not change the world.
 * Thread: the world's. */
void th_process_world_each(void (*seen)(void *context, const struct th_recorded_process *process),
                           void *context);

/* Ends ID: frees its name, drops its struct, fires its monitors with `noproc`. */
void th_process_world_end(th_term id);

/* Register and unregister names of the recording. Each node has its own names: that of ID, which for
 * unregistering is any process of the node. A name that is taken moves to ID, as a recording can have
 * lost the unregister event. Processes without `id` get no name. */
void th_process_world_register(th_term id, th_term name);
void th_process_world_unregister(th_term id, th_term name);

/* Returns the pid or port that is registered as NAME, an atom, in this node (PEER 0) or in a peer
 * (term/peer.h); TH_NONE: none.
 * Thread: any, without a lock. */
th_term th_process_world_named(th_term name, unsigned peer);

/* Returns whether a recording of this program has registered a name, in any world.
 * Thread: the world's. */
bool th_process_world_has_named(void);

/*
 * Returns the pid or port that is registered as NAME; TH_NONE: none, or NAME is no atom. Names of
 * the recorded node hide names of the host's own; names of its peers are not looked up.
 * Thread: any, without a lock.
 */
th_term th_process_whereis(th_term name);

/*
 * Register and unregister names of the host's own processes and ports. Return false if NAME is
 * taken by one of them, is `undefined` or no atom, if ID is no living process or port of the host
 * or has a name already; th_process_name_unregister() if NAME is not registered. A name ends with
 * its process or port.
 * Thread: any.
 */
bool th_process_name_register(th_term name, th_term id);
bool th_process_name_unregister(th_term name);

/* Returns the name of ID, one of the host's own; TH_NONE: none.
 * Thread: any. */
th_term th_process_name_of(th_term id);

/* The recorded node, whose identifiers are local ones; {0} until it is set.
 * Thread: set by the world's thread, read by any. */
void th_process_world_set_node(struct th_etf_node node);
struct th_etf_node th_process_world_node(void);

/*
 * Callbacks about the host's own processes and ports, for the room that watches them. There is one
 * watcher (NULL: none), set while no process runs.
 * Thread: each callback runs in the acting thread, with no lock of this room held.
 */
struct th_process_watcher {
    void (*named)(th_term id, th_term name, bool given); /* GIVEN: registered; else unregistered
                                                            while alive */

    /* A port was opened for WHAT by OWNER (TH_NONE: the running process); gets the command IODATA,
     * called before and after it is written, by several threads at once; was closed. NAME is the
     * name that the port had; TH_NONE: none. */
    void (*port_opened)(th_term port, const char *what, th_term owner);
    void (*port_commanded)(th_term port, th_term iodata, bool written);
    void (*port_closed)(th_term port, const char *what, th_term reason, th_term name);
};
void th_process_watch(const struct th_process_watcher *watcher);

/* Numbers of structs, of processes ever seen, and of ended ones, for --stats and tests. */
struct th_world_counts {
    uint64_t present, seen, ended;
};
struct th_world_counts th_process_world_counts(void);

/* Calls SEEN for each pid and port of this node that the world has seen, ended ones included.
 * Returns false if the world has also seen identifiers that are out of a BEAM's range.
 * Thread: the world's. */
bool th_process_world_each_seen(void (*seen)(void *context, th_term id), void *context);

/* Returns whether ID is alive. Terms that are no pid or port of this node are not alive; there is
 * no distribution.
 * Thread: any, without a lock. */
bool th_process_alive(th_term id);

/*
 * A message: TERM, copied into memory of its own, with a copy of the TOKEN if it has one. Signals
 * between processes are messages as well: all that is sent to a mailbox arrives in one order.
 */
struct th_message {
    struct th_message *next;
    th_term term;
    th_term token;              /* travels with it; TH_NONE: none */
    th_term from;               /* sender; TH_NONE: none or unknown */
    uint64_t number;            /* of a signal; see its kind */
    unsigned kind;              /* 0: a message; others: defined by the mailbox's owner */
    unsigned words_count;       /* of WORDS; UINT_MAX: that or more */
    struct th_offheap *offheap; /* references of the terms */
    th_term words[];
};
struct th_message *th_process_message_create(th_term term);
struct th_message *th_process_message_create_with(th_term term, th_term token);

/* Numbers of a message for probes: words of TERM, and numbers of TOKEN, 0 if there is none. */
struct th_message_numbers {
    uint32_t words;
    int label, previous, serial; /* LABEL: 0 unless it is a small integer */
};
struct th_message_numbers th_process_message_numbers(th_term term, th_term token);
void th_process_message_free(struct th_message *message);
void th_process_messages_free(struct th_message *messages); /* also those linked with it */

/*
 * Start a process of the host. Its pid is never used again.
 *
 * A process of th_process_start() gets each message by a call of RECEIVE, one at a time, in the
 * thread that sends; the message is valid during the call. RECEIVE must neither send to nor stop
 * its own process. Stopping waits for the running call.
 *
 * A process of th_process_start_mailbox() has a mailbox. ARRIVED runs in the sending thread, under
 * the mailbox's lock, after a message was put into the empty mailbox, and after each signal; it may
 * only wake the thread that takes messages out. KEPT counts messages taken out but not received yet
 * and must stay valid until the process stops; NULL: not counted.
 */
struct th_mailbox;
struct th_mailbox *th_process_start(void (*receive)(void *context, th_term message), void *context);
typedef void th_host_arrived(void *context, const struct th_message *message);
struct th_mailbox *th_process_start_mailbox(th_host_arrived *arrived, void *context,
                                            const _Atomic uint64_t *kept);
th_term th_process_pid(const struct th_mailbox *process);

/* Appends MESSAGE to the mailbox of PID. Returns false if PID is no living process with a mailbox.
 * Owner: takes MESSAGE over, and frees it on failure.
 * Thread: any. */
bool th_process_enqueue(th_term pid, struct th_message *message);

/* Returns the number of messages in the mailbox and of those taken out but not received yet.
 * Thread: the thread that takes messages out. */
uint64_t th_process_queue(struct th_mailbox *process);

/* Takes all messages and signals out of the mailbox, linked, the oldest first; NULL: empty.
 * Owner: the caller frees each by th_process_message_free().
 * Thread: any. */
struct th_message *th_process_take(struct th_mailbox *process);

/*
 * Takes all mail like th_process_take(); but if the mailbox is empty, calls WAIT(context) under its
 * lock and returns WAIT's result, so that no message is missed between looking and waiting. Returns
 * false if there was mail.
 */
bool th_process_take_or(struct th_mailbox *process, struct th_message **mail,
                        bool (*wait)(void *context));

/* Returns the oldest message in the mailbox, linked with the later ones; NULL: none. Under the
 * mailbox's lock, that is in ARRIVED or in CALLED of th_process_with(). */
const struct th_message *th_process_first(const struct th_mailbox *process);

/* Calls CALLED(CONTEXT) under the mailbox's lock. */
void th_process_with(struct th_mailbox *process, void (*called)(void *context), void *context);

/* Calls SEEN for each process with a mailbox and this ARRIVED, under its lock, with the context
 * that it was started with and its pid. */
void th_process_each(th_host_arrived *arrived, void (*seen)(void *context, void *what, th_term pid),
                     void *context);

/* Returns the number of messages, signals included, in the mailbox of PID. Only in SEEN of
 * th_process_each(), for the process that SEEN is called for. */
uint64_t th_process_mail(th_term pid);

/* Ends PROCESS: frees its name, empties its mailbox, then fires its monitors with REASON in the
 * calling thread. The process is dead before. */
void th_process_exit(struct th_mailbox *process, th_term reason);

/* Ends PROCESS like th_process_exit(), and leaves the contents of the mailbox to the caller in
 * REMAINS. */
struct th_host_remains {
    struct th_message *mail; /* contents of the mailbox */
    th_term name;            /* former name; TH_NONE: none */
    bool observed;           /* it had a name or a monitor, or may have had one */
};
void th_process_leave(struct th_mailbox *process, th_term reason, struct th_host_remains *remains);

/*
 * Monitors: report the end of a process or port of the host or of the recording. DOWN is called
 * once, in the thread that ended the process, with no lock of this room held; REASON is valid
 * during the call. DOWN may start and stop monitors, but must not free SELF while another thread
 * may call th_process_monitor_stop(SELF). th_process_world_reset() fires the monitors of the old
 * world.
 * Owner: the caller's struct must stay valid until the monitor has fired or was stopped.
 */
struct th_monitor {
    struct th_monitor *next, **place; /* in the list of monitors; under the lock */
    th_term watched;
    void (*down)(struct th_monitor *self, th_term reason);
};

/* Starts MONITOR and sets `next`, `place` and `watched`. Returns false if ID is not alive: DOWN
 * will not be called. */
bool th_process_monitor_start(struct th_monitor *monitor, th_term id);

/* Stops MONITOR. Returns true if DOWN will not be called. Returns false if DOWN was or is being
 * called, or will be at once by another thread, or if the monitor was stopped or not started. A
 * monitor of zeros counts as not started. */
bool th_process_monitor_stop(struct th_monitor *monitor);

/*
 * Ports of the host. A port takes commands: iodata, written in the order of the commands.
 *
 * th_process_port_open_file() creates the file PATH ("-": stdout), which appears complete when the
 * port is closed and does not exist before (base/output.h). th_process_port_close() waits for the
 * command that is being written; then monitors of the port get `normal`.
 * th_process_port_close_all() closes the ports that are open at the end of the program.
 *
 * th_process_port_console() returns the console's port, opened at the first call: it writes at once
 * to the console's output, and is never closed.
 *
 * Thread: any. A command must not close ports.
 * Errors: opening fails with a status and its cause. Closing returns TH_FAILED with the cause if
 *   data could not be written, or if PORT is no open port of a file.
 */
enum th_status th_process_port_open_file(const char *path, th_term *port);
th_term th_process_port_console(void);
enum th_status th_process_port_close(th_term port);
enum th_status th_process_port_close_all(void);

/* Creates a port, for a room's own use, that takes no commands, is owned by OWNER, a process, and
 * is reported as opened for WHAT. th_process_port_end(), with the same WHAT, closes the port; its
 * monitors get REASON.
 * Thread: any. */
th_term th_process_port_begin(const char *what, th_term owner);
void th_process_port_end(th_term port, const char *what, th_term reason);

/* Writes the command IODATA to PORT. Returns false, and writes nothing, if PORT is no open port of
 * the host that takes commands or if IODATA is no iodata. Closing the port reports write errors. */
bool th_process_port_command(th_term port, th_term iodata);

/* Copies the purpose of PORT, its path or "console", to TEXT of SIZE bytes, cut off if necessary;
 * "" for any other port. Returns TEXT. */
const char *th_process_port_what(th_term port, char *text, size_t size);

/*
 * Sends MESSAGE to PID. Returns false if the receiver is not alive. Mail to recorded processes,
 * which nobody runs, is counted and dropped.
 * Thread: any.
 */
bool th_process_send(th_term pid, th_term message);

/* Sends MESSAGE like th_process_send(), with a sender FROM and a TOKEN (TH_NONE: none). */
bool th_process_send_from(th_term pid, th_term message, th_term token, th_term from);

/* Sends MESSAGE like th_process_send(), without a copy for a mailbox.
 * Owner: takes over MESSAGE, which is linked with no other. */
bool th_process_send_message(th_term pid, struct th_message *message);
uint64_t th_process_mail_dropped(void);

/*
 * The console: a host process that prints each message as io:format("~p~n") of an Erlang shell
 * does, but always on one line, to OUT (NULL and default: stdout). Started at the first call; the
 * pid never changes. Messages are not flushed.
 * Thread: any.
 */
th_term th_process_console_pid(void);
void th_process_console_set_output(FILE *out);

#endif
