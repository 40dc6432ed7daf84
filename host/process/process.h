/*
 * The face of process/: who there is. Processes and ports of the recording being replayed, the
 * host's own processes, names, mail.
 *
 * There is one world at a time (th_process_world_reset() begins the next). It belongs to the thread
 * that replays: only that thread may see, end or register; th_process_alive(),
 * th_process_whereis(), monitors and mail are for any thread.
 *
 * A process or port of a recording exists from its first sight, or its spawn, until its exit. Its
 * struct is dropped when it ends, or when it has been idle and nothing is known of it but that it
 * lives. What has ended stays known in one bit each. An identifier that was never seen counts as
 * alive: whoever holds it got it from the recording, or was given it by the user. Not so one of the
 * host's own (TH_HOST_SERIAL, TH_HOST_PORT_ID), which is known by who has it.
 */
#ifndef TH_PROCESS_H
#define TH_PROCESS_H

#include "host/term/etf.h"

/* The host's own processes have this serial and above, its ports this id and above, which no
 * recorded node reaches. */
enum { TH_HOST_SERIAL = 4096 };
#define TH_HOST_PORT_ID ((uint64_t)1 << 40)

struct th_recorded_process {
    th_term id;   /* a pid or port of this node; TH_NONE for one whose number is no BEAM's */
    th_term name; /* the registered name, TH_NONE: none */
    void *
        tracing; /* what trace/ knows of it; NULL: nothing special. See th_process_world_reset(). */
    uint32_t seen; /* the sweep in which it was last seen */
    bool expected; /* but not seen yet */
};

/*
 * Begins a new world: forgets processes, ports, names and the node. DROP (NULL: nothing) is called
 * for each struct whose `tracing` is not NULL, here and whenever such a process ends. Then monitors
 * of what was recorded fire with `noconnection`, as in a BEAM when a node is gone: identifiers of
 * the next world are others', and whoever waits to be told is told.
 */
void th_process_world_reset(void (*drop)(struct th_recorded_process *process));

/* The struct of ID, any pid or port, made if it is not there. Never NULL; valid until the process
 * ends, or the second next th_process_world_see() if its `tracing` and `name` are empty. Allocates
 * nothing for one that is there. What has ended stays so, however often it is seen after that. */
struct th_recorded_process *th_process_world_see(th_term id);

/* The same of one that perhaps never turns up in the recording: it does not count as seen. */
struct th_recorded_process *th_process_world_expect(th_term id);

/* The struct of ID, NULL if nothing special is known of it. */
struct th_recorded_process *th_process_world_find(th_term id);

/* Calls SEEN for each struct that there is. Only by the world's thread; SEEN changes nothing. */
void th_process_world_each(void (*seen)(void *context, const struct th_recorded_process *process),
                           void *context);

/* ID has ended: its name is free again, its struct goes, its monitors fire with `noproc`. */
void th_process_world_end(th_term id);

/* Names. Registering a name that is taken moves it, as a recording can have lost the unregister.
 * What has no `id` has no name. */
void th_process_world_register(th_term id, th_term name);
void th_process_world_unregister(th_term name);

/*
 * Who has NAME, an atom: a pid or port; TH_NONE: nobody. Any thread, without a lock. Names of the
 * recording hide the host's own.
 */
th_term th_process_whereis(th_term name);

/*
 * Names of the host's own processes and ports. False if NAME is taken, is `undefined`, or if ID is
 * not alive or has one already. A name goes with its process or port. Any thread.
 */
bool th_process_name_register(th_term name, th_term id);
bool th_process_name_unregister(th_term name);

/* The name of one of the host's own, TH_NONE: it has none. Any thread. */
th_term th_process_name_of(th_term id);

/* The recorded node, whose identifiers are the local ones; {0} until it is set. Set by the world's
 * thread, read by any. */
void th_process_world_set_node(struct th_etf_node node);
struct th_etf_node th_process_world_node(void);

/*
 * What happens to the host's own processes and ports, for the room that watches it. Each is called
 * by the thread that did it, with no lock of this room held. There is one watcher (NULL: none); it
 * is set while nothing happens.
 */
struct th_process_watcher {
    void (*named)(th_term id, th_term name, bool given); /* else taken away, while ID goes on */

    /* A port was opened by OWNER, a process (TH_NONE: who runs), for WHAT; is given a command,
     * IODATA, before and after that is written, which other threads may do at the same time; was
     * closed. NAME is that which it had, TH_NONE: none. */
    void (*port_opened)(th_term port, const char *what, th_term owner);
    void (*port_commanded)(th_term port, th_term iodata, bool written);
    void (*port_closed)(th_term port, const char *what, th_term reason, th_term name);
};
void th_process_watch(const struct th_process_watcher *watcher);

/* How many structs there are, how many were ever seen, how many ended: for --stats and tests. */
struct th_world_counts {
    uint64_t present, seen, ended;
};
struct th_world_counts th_process_world_counts(void);

/* Any thread, without a lock. ID is a pid or port of this node, or any other term: what is of
 * another node (there is no distribution), or is no identifier, is not alive. */
bool th_process_alive(th_term id);

/*
 * A message on its way: TERM, copied into memory of its own. Also anything else that one process
 * does to another, a signal: what is sent to a mailbox arrives there in one order.
 */
struct th_message {
    struct th_message *next;
    th_term term;
    th_term token;              /* that travels with it, TH_NONE: none */
    th_term from;               /* who sent it; TH_NONE: nobody, or nobody said it */
    uint64_t number;            /* for the signals that have one */
    unsigned kind;              /* 0: a message; others are whoever's that has the mailbox */
    unsigned words_count;       /* of WORDS; UINT_MAX: more */
    struct th_offheap *offheap; /* what the terms hold on to */
    th_term words[];
};
struct th_message *th_process_message_create(th_term term);
struct th_message *th_process_message_create_with(th_term term, th_term token);

/* What probes report of a message: the words of its term, and its token: 0, 0, 0 if there is none.
 */
struct th_message_numbers {
    uint32_t words;
    int label, previous, serial; /* the label where that is a small integer, else 0 */
};
struct th_message_numbers th_process_message_numbers(th_term term, th_term token);
void th_process_message_free(struct th_message *message);
void th_process_messages_free(struct th_message *messages); /* those that are linked with it, too */

/*
 * A process of the host itself. Its pid is dead for ever once it has stopped.
 *
 * One started by th_process_start() is called for each message, one at a time, on the thread
 * that sends; the message is valid during the call. It must neither send to nor stop the process
 * that it is. Stopping waits for a message being received.
 *
 * One started by th_process_start_mailbox() has a mailbox. ARRIVED is called after a message
 * was put into it while it was empty, or a signal at any time, on the thread that sends, under the
 * mailbox's lock: it may only wake whoever takes messages out. KEPT counts, until the process
 * stops, the messages that were taken out of its mailbox but are not received yet; NULL: nobody
 * does.
 */
struct th_mailbox;
struct th_mailbox *th_process_start(void (*receive)(void *context, th_term message), void *context);
typedef void th_host_arrived(void *context, const struct th_message *message);
struct th_mailbox *th_process_start_mailbox(th_host_arrived *arrived, void *context,
                                            const _Atomic uint64_t *kept);
th_term th_process_pid(const struct th_mailbox *process);

/* Enqueues MESSAGE, which this takes over, in the mailbox of PID. False, and it is freed, if PID is
 * no process of the host with a mailbox, or dead. Any thread. */
bool th_process_enqueue(th_term pid, struct th_message *message);

/* How many messages are in the mailbox, or were taken out of it but are not received yet; by who
 * takes them out. */
uint64_t th_process_queue(struct th_mailbox *process);

/* All that the mailbox holds, the oldest first, linked; NULL: it is empty. They are the caller's to
 * free. Any thread. */
struct th_message *th_process_take(struct th_mailbox *process);

/*
 * The same; but if the mailbox is empty, WAIT(context) is called under its lock, and what it says
 * returned: so that who begins to wait misses nothing. False if there was mail.
 */
bool th_process_take_or(struct th_mailbox *process, struct th_message **mail,
                        bool (*wait)(void *context));

/* The oldest message in the mailbox, linked with the later ones; NULL: there is none. Under its
 * lock, that is in ARRIVED or in CALLED of th_process_with(). */
const struct th_message *th_process_first(const struct th_mailbox *process);

/* Calls CALLED(CONTEXT) under the mailbox's lock. */
void th_process_with(struct th_mailbox *process, void (*called)(void *context), void *context);

/* Calls SEEN for each that has a mailbox and this ARRIVED, under its lock, with what it was started
 * with and its pid. */
void th_process_each(th_host_arrived *arrived, void (*seen)(void *context, void *what, th_term pid),
                     void *context);

/* How many messages, signals included, the mailbox of PID holds; 0: it has none. In SEEN of
 * th_process_each(), of the process that it is called for. */
uint64_t th_process_mail(th_term pid);

/* Ends it: its name is free again, its mailbox is emptied, its monitors fire with REASON, in
 * this thread, after it is dead. */
void th_process_exit(struct th_mailbox *process, th_term reason);

/* The same, and REMAINS is the caller's. */
struct th_host_remains {
    struct th_message *mail; /* what the mailbox held */
    th_term name;            /* that it had; TH_NONE: none */
    bool observed;           /* it had a name, or was watched, or may have been */
};
void th_process_leave(struct th_mailbox *process, th_term reason, struct th_host_remains *remains);

/*
 * Monitors: to be told when a process or port ends, be it the host's or the recording's. DOWN is
 * called once, by the thread that ended it, with no lock of this room held; REASON is good during
 * the call. It may start and stop monitors, but not free SELF while th_process_monitor_stop(SELF)
 * may be called by another thread. The struct is the caller's and must stay until the monitor has
 * fired or was stopped. See th_process_world_reset() for those of a world that goes.
 */
struct th_monitor {
    struct th_monitor *next, **place; /* in the list of those who watch the same; under the lock */
    th_term watched;
    void (*down)(struct th_monitor *self, th_term reason);
};

/* Sets `next`, `place` and `watched`. False if ID is not alive: then DOWN will not be called. */
bool th_process_monitor_start(struct th_monitor *monitor, th_term id);

/* True: it was there, and DOWN will not be called. False: DOWN has been called, is being called, or
 * will be at once by another thread; or the monitor was stopped before, or not started. A monitor
 * of zeros is one that was not started. */
bool th_process_monitor_stop(struct th_monitor *monitor);

/*
 * Ports of the host itself. A port takes commands: iodata, written in the order in which the
 * commands came. Any thread.
 *
 * th_process_port_open_file() makes the file PATH ("-": stdout), whole when the port is closed and
 * not there before (base/output.h); TH_FAILED with the cause. th_process_port_close() waits for the
 * command that is being written; then those who watch the port are told `normal`. TH_FAILED, with
 * the cause, if anything could not be written, or if PORT is no open port of a file. Ports that are
 * open at the end of the program are closed by th_process_port_close_all(). Neither from inside a
 * command.
 *
 * th_process_port_console() is the console's, which writes to where the console prints, at once,
 * and is never closed. Opened at the first call.
 */
enum th_status th_process_port_open_file(const char *path, th_term *port);
th_term th_process_port_console(void);
enum th_status th_process_port_close(th_term port);
enum th_status th_process_port_close_all(void);

/* Creates a port, for a room's own use, that takes no commands, is owned by OWNER, a process, and
 * is reported as opened for WHAT. th_process_port_end(), with the same WHAT, closes the port; its
 * monitors get REASON. Any thread. */
th_term th_process_port_begin(const char *what, th_term owner);
void th_process_port_end(th_term port, const char *what, th_term reason);

/* False, and nothing is written, if PORT is no open port of the host that takes commands or IODATA
 * is none. Failures to write are told when the port is closed. */
bool th_process_port_command(th_term port, th_term iodata);

/* What PORT was opened for, as far as SIZE bytes of TEXT hold it; "" if it is none. Returns TEXT.
 */
const char *th_process_port_what(th_term port, char *text, size_t size);

/*
 * Sends MESSAGE to PID; any thread. False if the receiver is not alive. Mail to processes of a
 * recording, which nobody runs, is counted and dropped.
 */
bool th_process_send(th_term pid, th_term message);

/* The same; the message comes FROM a process, with its TOKEN (TH_NONE: none). */
bool th_process_send_from(th_term pid, th_term message, th_term token, th_term from);

/* The same of MESSAGE, which this takes over, linked with no other: no copy is made for a mailbox.
 */
bool th_process_send_message(th_term pid, struct th_message *message);
uint64_t th_process_mail_dropped(void);

/*
 * The console: a host process that prints every message as an Erlang shell's io:format("~p~n")
 * does, but always on one line, to OUT (NULL and default: stdout). Started at the first call; the
 * same pid ever after. Any thread. OUT is not flushed.
 */
th_term th_process_console_pid(void);
void th_process_console_set_output(FILE *out);

#endif
