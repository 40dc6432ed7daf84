/* The mail of a process: what has arrived, and how it waits for more. Inner header of runtime/. */
#ifndef TH_MAILBOX_H
#define TH_MAILBOX_H

#include "runtime_internal.h"

#include <time.h>

struct th_host_remains;
struct th_buffer;

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

/* Waits until there is an answer, which the arrival of its signal sets, or until the process is to
 * end. Calls GO_ON; then the code that is next goes on with the term of the answer as its first
 * argument; the memory is the heap's, as a message's is. False: see th_runtime_mailbox_offer(). */
bool th_runtime_mailbox_await(struct th_process *process,
                              void (*go_on)(struct th_process *process,
                                            const struct th_message *answer));

/* Under the mailbox's lock: the mailbox's hook; a timer's. */
void th_runtime_mailbox_wake(void *context, const struct th_message *message);
void th_runtime_mailbox_timed_out(void *context);

/* --- Signals (signal.c) ----------------------------------------------------------------------- */

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

/* --- Processes whose functions run on dirty threads (dirty_end.c) ----------------------------- */

/* The process of a function that runs on a dirty thread is ended, or was, by a normal scheduler. */
static inline bool th_runtime_dirty_is_over(const struct th_process *process)
{
    return atomic_load_explicit(&process->dirty, memory_order_relaxed) >= TH_DIRTY_ENDS;
}

/*
 * Around all that a function has the runtime do with its process: th_runtime_dirty_take() keeps
 * signals from ending the process until th_runtime_dirty_let_go(). Callbacks may run in between.
 * These nest. False: the process has ended, or is about to, and is not to be touched or let go of.
 * On a normal scheduler it is false only while that ends the process of a function that still runs.
 */
bool th_runtime_dirty_take_back(struct th_process *process);
static inline bool th_runtime_dirty_take(struct th_process *process)
{
    if (__builtin_expect(
            atomic_load_explicit(&process->dirty, memory_order_relaxed) != TH_DIRTY_HELD, 0))
        return th_runtime_dirty_take_back(process);
    process->takes++;
    return true;
}
void th_runtime_dirty_let_go_at_last(struct th_process *process);
static inline void th_runtime_dirty_let_go(struct th_process *process)
{
    if (__builtin_expect(--process->takes == 0, 0))
        th_runtime_dirty_let_go_at_last(process);
}

/* By a dirty thread that could not take PROCESS back: it is done with the process. */
void th_runtime_dirty_over(struct th_process *process);

/* By a normal scheduler, which has ended PROCESS for all others. True: the dirty thread is not done
 * with the process yet, and brings it to a run queue when it is. */
bool th_runtime_dirty_goes_on(struct th_process *process);

/* SIGNAL has come into the mailbox. Under its lock. */
void th_runtime_dirty_arrived(struct th_process *process, const struct th_message *signal);

/* --- Timers that wake processes (timer.c) ----------------------------------------------------- */

/* PROCESS is to be woken at DUE, on the monotonic clock; stop before it runs on. */
void th_runtime_timer_start(struct th_process *process, int64_t due);
void th_runtime_timer_stop(struct th_process *process);
void th_runtime_timers_end(void); /* the thread; no timer may be left */
int64_t th_runtime_timer_now(void);
struct timespec th_runtime_moment(clockid_t clock, long nanoseconds); /* from now */
int64_t th_runtime_timer_in(int64_t nanoseconds); /* -1: later than the clock can tell */

/* --- Steps that wait for an answer ------------------------------------------------------------ */

/* An operation on a file (file_wait.c): submits the operation that is next, waits for it, and goes
 * on with its result. False: see th_runtime_mailbox_offer(). */
bool th_runtime_file_step(struct th_process *process);

/* The process ends: what it waits for is cancelled, its files are closed. Before its mailbox goes;
 * a signal that is still to come then is handed to th_runtime_file_unwanted(), in place of the
 * process. */
void th_runtime_file_end(struct th_process *process);
void th_runtime_file_unwanted(const struct th_message *signal);

/* Changing code (code_order.c): on a dirty thread prepares, and orders the rest. On a normal one:
 * orders what is next, unless that was done, waits for the answer, and goes on with it. False: as
 * before. */
bool th_runtime_code_step(struct th_process *process);

/* How many orders there are that the loader has not carried out to the end. Any thread. */
size_t th_runtime_loader_orders(void);

/* Ends the loader, having carried out what there is. */
void th_runtime_loader_end(void);

/* --- Sequential tokens and user tags (seq_token.c) -------------------------------------------- */

/* The token for MESSAGE, which the process sends now, in ENV; TH_NONE: it has none. */
th_term th_runtime_seq_send(struct th_process *process, th_env *env, th_term to, th_term message);

/* It has received what carried TOKEN, TH_NONE: none. */
void th_runtime_seq_receive(struct th_process *process, th_term token);

/*
 * The message that is offered is taken, as far as its token goes: that is told, unless it was
 * before. When the function that has the message has returned; or as soon as that uses the token
 * or does something else that is told, so that the order is a BEAM's. One that skips the message
 * after that is told to have received it.
 */
void th_runtime_seq_taken(struct th_process *process);

/* Sends the exit signal with REASON over the link to TO. */
void th_runtime_seq_exit(struct th_process *process, th_term to, th_term reason);

/* The time stamp that the token asks for. */
enum th_time_kind th_runtime_seq_time(const struct th_seq *seq);

/* The token as it is, [] if there is none, in ENV. */
th_term th_runtime_seq_token(const struct th_process *process, th_env *env);

/* CHILD was spawned. */
void th_runtime_seq_spawn(struct th_process *parent, struct th_process *child);
void th_runtime_seq_end(struct th_seq *seq);

/* All of it goes, the user tag too. */
void th_runtime_seq_release(struct th_seq *seq);

struct th_message *th_runtime_tag_copy(const struct th_seq *seq);

/* The tag as text, "" if there is none; appended to TEXT. */
void th_runtime_tag_text(const struct th_process *process, struct th_buffer *text);

#endif
