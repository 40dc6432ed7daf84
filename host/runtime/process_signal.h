/* Signals between processes. Inner header of runtime/. */
#ifndef TH_PROCESS_SIGNAL_H
#define TH_PROCESS_SIGNAL_H

#include "runtime_internal.h"

enum th_signal {
    TH_SIGNAL_MESSAGE,
    TH_SIGNAL_LINK,
    TH_SIGNAL_UNLINK,   /* NUMBER tells which; is answered */
    TH_SIGNAL_UNLINKED, /* the answer */
    TH_SIGNAL_EXIT_LINKED,
    TH_SIGNAL_EXIT,
    TH_SIGNAL_MONITOR, /* NUMBER is the reference's */
    TH_SIGNAL_DEMONITOR,
    TH_SIGNAL_DOWN,
    TH_SIGNAL_NAMED,   /* TERM is the name, NUMBER the tag of the event: to be told */
    TH_SIGNAL_REQUEST, /* NUMBER is a struct th_request's address */
    TH_SIGNAL_PURGE,   /* NUMBER is the serial of an instance that is not to be in use any more */
    TH_SIGNAL_FILE,    /* NUMBER is a struct th_file_operation's address, with its share; TERM the
                          result */
    TH_SIGNAL_CODE,    /* TERM is the loader's answer */
    TH_SIGNAL_END      /* to end with TERM, whatever it traps */
};

/* The value of `links` that is no mark; see signal.c. */
#define TH_LINKED ((void *)1)

/* False if TO is dead. */
bool th_runtime_signal_send(th_term to, enum th_signal kind, th_term from, uint64_t number,
                            th_term term);

/* Messages of MAIL go to the inbox, signals are acted on. PROCESS->ending is set if one ends the
 * process; then what comes behind it goes to the inbox as it is. */
void th_runtime_signals_take(struct th_process *process, struct th_message *mail);

/* SIGNAL, which is in the mailbox, will end the process, as far as what comes before it in the
 * mailbox does not. Under the mailbox's lock, while links and the like stay as they are. */
bool th_runtime_signal_ends(const struct th_process *process, const struct th_message *signal);

/* The process has ended: tells those who are linked with it or watch it, and answers what the rest
 * of the mailbox, which is in REMAINS, asks. Frees that. */
void th_runtime_signals_end(struct th_process *process, const struct th_host_remains *remains,
                            th_term reason);

#endif
