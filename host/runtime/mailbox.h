/* Mail of a process: arrival, and the steps that wait for it. Inner header of runtime/. */
#ifndef TH_MAILBOX_H
#define TH_MAILBOX_H

#include "runtime_internal.h"

#include <time.h>

struct th_host_remains;
struct th_buffer;

/* th_runtime_inbox_add(): appends MESSAGE to the inbox. th_runtime_inbox_drop(): removes the
 * message at PLACE from the inbox and frees it. */
void th_runtime_inbox_add(struct th_process *process, struct th_message *message);
void th_runtime_inbox_drop(struct th_process *process, struct th_message **place);

/* Takes all mail out of the mailbox and acts on its signals. */
void th_runtime_mailbox_look(struct th_process *process);

/* Offers the next message, or the timeout, to the function that waits: PROCESS->next becomes the
 * step that runs it. Returns true if the caller may go on with PROCESS, which may be `ending`.
 * Returns false if nothing has come: the process waits, and the caller must not use it any more. */
bool th_runtime_mailbox_offer(struct th_process *process);

/* Acts on the answer of the function that had the message: it was taken, or was skipped. */
void th_runtime_mailbox_offered(struct th_process *process);

/* Waits for mail. Returns true if there was mail, which was taken; false as
 * th_runtime_mailbox_offer(). */
bool th_runtime_mailbox_wait(struct th_process *process);

/* Waits until a signal has set PROCESS->answer, or until the process is `ending`. With an answer,
 * calls GO_ON and makes the next step run the waiting code with the answer's term as argv[0].
 * Returns false as th_runtime_mailbox_offer().
 * Owner: the memory of the answer becomes part of the heap. */
bool th_runtime_mailbox_await(struct th_process *process,
                              void (*go_on)(struct th_process *process,
                                            const struct th_message *answer));

/* th_runtime_mailbox_wake(): hook of the mailbox. th_runtime_mailbox_timed_out(): called by a
 * timer. Both under the mailbox's lock. */
void th_runtime_mailbox_wake(void *context, const struct th_message *message);
void th_runtime_mailbox_timed_out(void *context);

/* --- Signals (signal.c) ----------------------------------------------------------------------- */

enum th_signal {
    TH_SIGNAL_MESSAGE,
    TH_SIGNAL_LINK,
    TH_SIGNAL_UNLINK,   /* NUMBER identifies the unlink; gets an answer */
    TH_SIGNAL_UNLINKED, /* answer to an unlink */
    TH_SIGNAL_EXIT_LINKED,
    TH_SIGNAL_EXIT,
    TH_SIGNAL_MONITOR, /* NUMBER: of the reference */
    TH_SIGNAL_DEMONITOR,
    TH_SIGNAL_DOWN,
    TH_SIGNAL_NAMED,   /* TERM: the name; NUMBER: tag of the event to deliver */
    TH_SIGNAL_REQUEST, /* NUMBER: address of a struct th_request */
    TH_SIGNAL_PURGE,   /* NUMBER: serial of an instance that is being purged */
    TH_SIGNAL_FILE,    /* NUMBER: struct th_file_operation *, with reference; TERM: result */
    TH_SIGNAL_CODE,    /* TERM: answer of the loader */
    TH_SIGNAL_END      /* ends the process with reason TERM, trapping or not */
};

/* Value of a link without an unlink mark; see signal.c. */
#define TH_LINKED ((void *)1)

/* Sends a signal to TO. Returns false if TO is dead or has no mailbox. */
bool th_runtime_signal_send(th_term to, enum th_signal kind, th_term from, uint64_t number,
                            th_term term);

/* Moves messages of MAIL to the inbox and acts on its signals. If a signal ends the process,
 * PROCESS->ending becomes that signal, and the later mail goes to the inbox unchanged. */
void th_runtime_signals_take(struct th_process *process, struct th_message *mail);

/* Returns whether SIGNAL, which is in the mailbox, will end the process, if no earlier mail does.
 * Thread: under the mailbox's lock, while the process' links and flags do not change. */
bool th_runtime_signal_ends(const struct th_process *process, const struct th_message *signal);

/* Completes the end of PROCESS: sends exit signals to linked processes and 'DOWN' to monitoring
 * ones, answers the remaining signals in the inbox and in REMAINS.
 * Owner: frees the mail of REMAINS. */
void th_runtime_signals_end(struct th_process *process, const struct th_host_remains *remains,
                            th_term reason);

/* --- Ends of processes during dirty functions (dirty_end.c) ----------------------------------- */

/* Returns whether a normal scheduler ends or has ended PROCESS, whose function runs on a dirty
 * thread. */
static inline bool th_runtime_dirty_is_over(const struct th_process *process)
{
    return atomic_load_explicit(&process->dirty, memory_order_relaxed) >= TH_DIRTY_ENDS;
}

/*
 * Holds PROCESS during a request of its function: between th_runtime_dirty_take() and
 * th_runtime_dirty_let_go() no signal ends the process. Takes nest; callbacks may run in between.
 * Returns false if the process has ended or is about to: then the caller must neither use nor
 * release it. On a normal scheduler, returns false only while that scheduler ends a process whose
 * function still runs.
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

/* Finishes the use of PROCESS by a dirty thread that could not take it back. */
void th_runtime_dirty_over(struct th_process *process);

/* Records that a normal scheduler has ended PROCESS for all others. Returns true if the dirty
 * thread still uses the process: that thread puts it into a run queue afterwards. */
bool th_runtime_dirty_goes_on(struct th_process *process);

/* Starts the end of PROCESS if SIGNAL, just put into the mailbox, ends it. Under the mailbox's
 * lock. */
void th_runtime_dirty_arrived(struct th_process *process, const struct th_message *signal);

/* --- Timers that wake processes (timer.c) ----------------------------------------------------- */

/* th_runtime_timer_start(): wakes PROCESS at DUE, nanoseconds of the monotonic clock.
 * th_runtime_timer_stop(): removes the timer.
 * Order: stop before the process runs again. */
void th_runtime_timer_start(struct th_process *process, int64_t due);
void th_runtime_timer_stop(struct th_process *process);
void th_runtime_timers_end(void); /* ends the thread; no timer may be left */
int64_t th_runtime_timer_now(void);
struct timespec th_runtime_moment(clockid_t clock, long nanoseconds); /* from now; below 1 s */
int64_t th_runtime_timer_in(int64_t nanoseconds); /* due time; -1: beyond the range of the clock */

/* --- Steps that wait for an answer ------------------------------------------------------------ */

/* Submits the file operation of the next step (file_wait.c) and waits for its result. Returns false
 * as th_runtime_mailbox_offer(). */
bool th_runtime_file_step(struct th_process *process);

/* th_runtime_file_end(): for a process that ends, cancels the operation that it waits for and
 * closes its files. th_runtime_file_unwanted(): settles the operation of SIGNAL, which came too
 * late for its process.
 * Order: _end before the process leaves its mailbox. */
void th_runtime_file_end(struct th_process *process);
void th_runtime_file_unwanted(const struct th_message *signal);

/* Takes the next step of a change of code (code_order.c). On a dirty thread: prepares, and orders
 * the rest. On a normal scheduler: orders, unless that was done, and waits for the answer. Returns
 * false as th_runtime_mailbox_offer(). */
bool th_runtime_code_step(struct th_process *process);

/* Returns the number of orders that the loader has not finished.
 * Thread: any. */
size_t th_runtime_loader_orders(void);

/* Ends the loader after it has carried out all orders. */
void th_runtime_loader_end(void);

/* --- Sequential tokens and user tags (seq_token.c) -------------------------------------------- */

/* Returns what travels with MESSAGE, which the process sends to TO now: token and spreading tag, in
 * ENV; TH_NONE: neither. Counts the token up and delivers its event. */
th_term th_runtime_seq_send(struct th_process *process, th_env *env, th_term to, th_term message);

/* Receives TOKEN, which came with a message; TH_NONE: none. */
void th_runtime_seq_receive(struct th_process *process, th_term token);

/*
 * Delivers the event that the offered message's token was received, unless it was delivered before.
 * Called when the function that has the message has returned, or earlier, when that function uses
 * the token or causes another event, so that the events are in the order of a BEAM. The event then
 * stands even if the function skips the message.
 */
void th_runtime_seq_taken(struct th_process *process);

/* Sends the exit signal with REASON and the token over the link to TO. */
void th_runtime_seq_exit(struct th_process *process, th_term to, th_term reason);

/* Returns the kind of time stamp that the token requests. */
enum th_time_kind th_runtime_seq_time(const struct th_seq *seq);

/* Returns the token as a term in ENV; [] if there is none. */
th_term th_runtime_seq_token(const struct th_process *process, th_env *env);

/* th_runtime_seq_spawn(): gives CHILD a copy of PARENT's token. th_runtime_seq_end(): drops the
 * token. */
void th_runtime_seq_spawn(struct th_process *parent, struct th_process *child);
void th_runtime_seq_end(struct th_seq *seq);

/* Drops the token and the user tag. */
void th_runtime_seq_release(struct th_seq *seq);

struct th_message *th_runtime_tag_copy(const struct th_seq *seq);

/* Appends the tag to TEXT; nothing if there is none. */
void th_runtime_tag_text(const struct th_process *process, struct th_buffer *text);

#endif
