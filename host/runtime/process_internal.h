/*
 * Processes that run. Inner header of runtime/.
 *
 * A process is used by one thread at a time: by the one that took it out of a run queue, until that
 * has put it into another, or has noted under its mailbox's lock that it waits. All of it that is
 * not said to be guarded is handed over together with it. Others reach it by its mailbox only. A
 * function on a dirty thread runs while its process is let go of; see dirty_end.c.
 *
 * Locks, the outer first: the timers', a mailbox's (process/), a queue's, that of the schedulers
 * that sleep. No code of a library runs under any of them.
 */
#ifndef TH_PROCESS_INTERNAL_H
#define TH_PROCESS_INTERNAL_H

#include "process_shown.h"
#include "runtime.h"

#include <pthread.h>
#include <semaphore.h>

enum {
    TH_MOST_ARGUMENTS = 255, /* of a function */
    TH_TURN = 4000           /* reductions of a turn, as in a BEAM */
};

/* What a process does next. */
enum th_step {
    TH_STEP_NONE,    /* nothing: it waits to be told */
    TH_STEP_RUN,     /* calls CODE on a thread of the type `where` */
    TH_STEP_CALL,    /* makes the external call MODULE:FUNCTION with ARGV; of CALLEE if set */
    TH_STEP_AWAIT,   /* CODE goes on with the next message, which will be argv[0] */
    TH_STEP_SKIP,    /* as before: the message that was offered stays */
    TH_STEP_FILE,    /* CODE goes on with the result of an operation on a file, as argv[0] */
    TH_STEP_CODE,    /* CODE goes on with what became of loading that was asked for, as argv[0] */
    TH_STEP_RECEIVE, /* hands the next message to who waits for th_run_receive() */
    TH_STEP_CONCLUDE /* its call is over: only a normal scheduler may say so */
};

/* CODE of CALLEE goes on, now or when there is what it waits for. */
static inline bool th_step_is_code(enum th_step step)
{
    return step == TH_STEP_RUN || step == TH_STEP_AWAIT || step == TH_STEP_FILE ||
           step == TH_STEP_CODE;
}

struct th_continuation {
    enum th_step step;
    int where; /* ERL_NIF_THR_... */
    ERL_NIF_TERM (*code)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
    const struct th_callee *callee; /* whose code it is */
    const char *name;               /* of CODE, constant for ever */
    th_term module, function;
    int argc;
    th_term *argv;    /* in the process' environment, as the terms are */
    bool goes_on;     /* CODE goes on in the place of a function; see struct th_call */
    bool resumes;     /* CODE goes on where a function was called before: its entry is no call */
    int64_t deadline; /* TH_STEP_AWAIT, TH_STEP_RECEIVE: nanoseconds; below 0: none */
};

/* A function that waits for what it has called (th_call_then()). */
struct th_frame_kept {
    struct th_continuation then; /* argv[0] is for the result */
    bool catches;
};

/* Calls that are open, in a ring, the oldest first; see traced_call.h. */
struct th_open_calls {
    struct th_open_call *ring;
    size_t bottom, count, capacity; /* a power of two, or 0 */
    size_t limit;                   /* of COUNT: where that has come to it, room is to be made */
};

/* A function that waits, as it is found on a stack (caller.h). */
struct th_waiter {
    const struct th_callee *callee;
    uintptr_t frame; /* the stack pointer before it was called; 0: it waits in a kept frame */
    uintptr_t at;    /* its code that has called, or that will go on; 0: not known */
    bool outermost;  /* the runtime has called it */
    const struct th_frame_kept *kept; /* that it waits in, until it goes on; else NULL */
};

/* What a thread outside of the runtime has a process do. It waits, so that a scheduler may use what
 * this points to. */
struct th_request {
    enum { TH_REQUEST_CALL, TH_REQUEST_RECEIVE, TH_REQUEST_END } what;
    const struct th_callee *callee; /* of a call; NULL: what ENTRY reaches then */
    const struct th_export *entry;
    const th_term *argv;
    th_env *env; /* for the result */
    th_term result;
    enum th_call_end end;
    struct th_exception_raised raised; /* of a call that raised one, likewise */
    int64_t deadline;
    struct th_message *message;
    sem_t done;
};

/* A sequential token, and what a process counts for it; and the user tag, which travels with it. */
struct th_seq {
    struct th_message *tag; /* a binary, NULL: none; see user_tag.c */
    bool tag_stays, tag_spreads;
    bool set; /* there is a token */
    unsigned flags;
    th_term from;             /* the process that has sent, or begun, last */
    struct th_message *label; /* a term; NULL: 0 */
    int64_t serial, previous; /* of the token */
    int64_t clock, last;      /* of the process */
};

/* How far a process has come whose functions run on dirty threads; see dirty_end.c. */
enum th_dirty {
    TH_DIRTY_HELD,     /* a thread uses the process, or it waits, or is in a run queue */
    TH_DIRTY_LET_GO,   /* its function runs, or it is in the queue of a dirty type */
    TH_DIRTY_ENDS,     /* the same, and a normal scheduler ends the process, or will */
    TH_DIRTY_ENDED,    /* the same, and the process has ended */
    TH_DIRTY_RETURNED, /* the dirty thread is done with the process, which ends */
};

struct th_process_run {
    struct th_host_process *mailbox;
    th_term pid;
    struct th_live_process live; /* as trace/ knows it; zeros: there is no tracing */
    struct th_process_shown shown;

    /* The heap; see heap.c. */
    th_env *env;       /* where its terms live; replaced by collecting */
    size_t collect_at; /* bytes: collect when there are more */
    size_t recent;     /* words that the last collection left */
    uint64_t
        left_behind; /* words that were made in what ENV has replaced, where that is asked for */
    const struct th_offheap *collected; /* what ENV held on to when it was collected */
    size_t held;                        /* bytes of binaries that it has come to hold since */
    struct th_message *fragments;       /* messages whose terms the heap may refer to */
    size_t fragment_words;

    struct th_continuation next;
    struct th_frame_kept *frames;
    size_t frame_count, frame_capacity;
    size_t base;     /* frames below are those of whoever made the nested call that goes on */
    th_term outcome; /* of what was concluded; TH_NONE: RAISED */
    struct th_open_calls open;  /* whose end somebody wants to know */
    size_t native_bytes;        /* of the thread's stack, that native frames take */
    struct th_waiter raised_to; /* where an exception came to, while live.returning_to */
    struct th_frame_kept then;  /* what the function that runs wants to wait with */
    bool then_is_set;
    struct th_exception_raised raised; /* for the function that is to catch it, terms in ENV */
    int reductions;                    /* left of the turn; below 1: it is used up */
    uint64_t reductions_before;        /* of all turns before it */

    /* Messages that were taken out of the mailbox, the oldest first. */
    struct th_message *inbox, **inbox_end;
    struct th_message **offer;         /* where the next one to be offered is, or will be */
    struct th_message *offered;        /* to the function that runs; NULL: none */
    struct th_continuation offered_to; /* its step, to be repeated */
    struct th_seq seq_before;          /* the token before that message, if `seq_changed` */
    bool seq_changed;
    bool seq_untold;     /* see th_seq_taken() */
    bool receive_probed; /* see th_probed_taken() */

    /* Operations on files; see file_wait.c. */
    struct th_file_owner files;
    struct th_file_operation *operation; /* that it waits for, or NULL; the pool has the share, and
                                            then `operation_over` */
    struct th_message *operation_over;   /* the signal that it is over, with the result */
    struct th_file_last last_operation;

    bool code_ordered;              /* the loader has an order of it; see code_wait.c */
    struct th_message *code_answer; /* to that, NULL: not yet */

    /* What it does with others; see signal.c. */
    struct th_table links;    /* pid -> a number, see there */
    struct th_table monitors; /* number -> pid: whom it watches */
    struct th_table watchers; /* number -> pid: who watches it */
    uint64_t unlinked;        /* numbers unlinks */
    bool traps_exits;
    struct th_message
        *ending; /* what ended it: the signal whose term is the reason; NULL: nothing */
    struct th_seq seq;

    /* For one that does as it is told. */
    bool told;                      /* it is one */
    struct th_request *request;     /* what it does */
    _Atomic bool yields;            /* th_run_yield(). Relaxed: a request follows in the mailbox */
    struct th_message *end_message; /* once it has ended: its term is the reason */
    sem_t over;                     /* nobody uses it any more but who told it */

    bool has_timer; /* perhaps: it may have fired */

    /* In a run queue, under its lock; by the thread that uses it. */
    struct th_process_run *behind;
    struct th_process_run *behind_dirty; /* the same of a queue of dirty threads */
    unsigned home;                       /* the scheduler that ran it last, from 0 */

    /* Under the mailbox's lock. */
    bool waiting, timed_out;
    /* Something has arrived. Written under the mailbox's lock. Relaxed: what it stands for is read
     * under that lock. */
    _Atomic bool mail;
    /* So has a signal that may end the process; likewise. */
    _Atomic bool end_arrived;

    /* Changed under the mailbox's lock up to TH_DIRTY_ENDS, and read so by senders. Relaxed for
     * the thread that holds the process or has taken it out of a queue; see dirty_end.c. */
    _Atomic enum th_dirty dirty;
    unsigned takes; /* how often it was taken: 1 while a thread uses it; 0: it was let go of */

    /* Under the timers' lock. */
    size_t timer_place; /* in the heap of timers, from 1; 0: no timer */
    int64_t timer_due;
};

static inline struct th_process_run *th_process_of_live(const struct th_live_process *live)
{
    return (struct th_process_run *)((char *)live - offsetof(struct th_process_run, live));
}

/* --- Queues (run_queue.c, scheduler.c) --- */

/* Puts PROCESS at the end of a queue of its next thread type. */
void th_queue_add(struct th_process_run *process);

/* Runs PROCESS for a turn; the calling thread is a scheduler of the type that it is to run on.
 * After it, others may have PROCESS. */
void th_process_turn(struct th_process_run *process);

/* PROCESS, which this thread has, is as if it came in anew: with all reductions of a turn. */
void th_process_begin_turn(struct th_process_run *process);

/* Updates what others see of PROCESS, before they may have it. */
void th_process_show(struct th_process_run *process);

/* A thread that takes no signals from outside, with a stack that is guarded (errno, or 0). */
int th_thread_create(pthread_t *thread, void *(*run)(void *context), void *context);

/* --- Beginning and end (process_life.c) --- */

/* TOLD: it does as it is told, and waits. Else it is the caller's to set up and queue. PARENT
 * spawns it, LINKED to itself; NULL: nobody does. */
struct th_process_run *th_process_create(bool told, struct th_process_run *parent, bool linked);

/* Ends PROCESS with REASON, a term that stays until this returns, and frees it; one that does as it
 * is told stays, ended. By a normal scheduler. */
void th_process_end(struct th_process_run *process, th_term reason);

/* --- As it is told (process_run.c) --- */

/* Begins what a signal asks for. */
void th_request_begin(struct th_process_run *process, struct th_request *request);

/* The call that was asked for is over. */
void th_request_finish(struct th_process_run *process, enum th_call_end end, th_term outcome);

/* The process has ended with REASON: so has what was asked of it. */
void th_request_end(struct th_request *request, th_term reason);

/* --- Steps (call.c) --- */

/* Takes the next step, a call of code or an external call; in a nested call, which OUTER made, or
 * at depth 0, with OUTER NULL. What is over then goes on with the frame that waits for it; there
 * being none above `base`, the next step is TH_STEP_CONCLUDE, with `outcome` and `raised`. */
void th_step_take(struct th_process_run *process, struct th_call *outer);

/* The export entry of the external call NEXT, NULL if there is none. Its word tells what code it
 * reaches, and if that has to be told first (th_traced_call()). */
static inline struct th_export *th_step_reach(const struct th_continuation *next)
{
    return th_export_find(next->module, next->function, (unsigned)next->argc);
}

/* The first half of that for code, NOW: its outcome, or what it wants next, is told, and no frame
 * looked at. */
void th_step_run(struct th_process_run *process, struct th_call *outer,
                 const struct th_continuation *now);

/*
 * A nested call that OUTER makes, of an entry whose WORD is TH_EXPORT_USUAL, and whose instance was
 * entered with OWN as the answer: its result, or what th_nested_end() says. For the usual case:
 * OUTER has nothing to be done after itself and has raised nothing, and the checker is off.
 */
th_term th_step_nested(struct th_call *outer, uintptr_t word, const th_term *argv,
                       struct th_entered *own);

/* PROCESS has ended, with steps that are left: it is in their code no more. */
void th_steps_drop(struct th_process_run *process);

/* What PROCESS does next, or a frame that it keeps, is code of the instance with that serial. */
bool th_steps_are_in(const struct th_process_run *process, uint64_t instance);

/* --- Nested calls (nested.c) --- */

/* The code that OUTER has called has run, or is next: goes on with what is next until the call is
 * over. Its result, or TH_NONE: an exception was passed to OUTER. BASE is the `base` of OUTER. */
th_term th_nested_end(struct th_call *outer, size_t base);

/* --- Exceptions (exception.c) --- */

/* What the function of CALL has raised, with the stack. */
void th_exception_of_call(struct th_process_run *process, const struct th_call *call,
                          enum th_raised class, th_term reason);

/* `undef`, or another error, of a call of MODULE:FUNCTION that OUTER (or nobody) made. */
void th_exception_of_callee(struct th_process_run *process, struct th_call *outer, th_term error,
                            const struct th_continuation *callee);

/* The atom of a C name of a function. */
th_term th_name_atom(const char *name);

/* The reason with which a process ends that does not catch EXCEPTION, in its environment. */
th_term th_exception_exit_reason(th_env *env, const struct th_exception_raised *exception);
void th_exception_report(const struct th_process_run *process, th_term reason);

/* --- Signals and messages (signal.c, mailbox.c) --- */

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
bool th_signal_send(th_term to, enum th_signal kind, th_term from, uint64_t number, th_term term);

/* Messages of MAIL go to the inbox, signals are acted on. PROCESS->ending is set if one ends the
 * process; then what comes behind it goes to the inbox as it is. */
void th_signals_take(struct th_process_run *process, struct th_message *mail);

/* SIGNAL, which is in the mailbox, will end the process, as far as what comes before it in the
 * mailbox does not. Under the mailbox's lock, while links and the like stay as they are. */
bool th_signal_ends(const struct th_process_run *process, const struct th_message *signal);

/* The process has ended: tells those who are linked with it or watch it, and answers what the rest
 * of the mailbox, which is in REMAINS, asks. Frees that. */
void th_signals_end(struct th_process_run *process, const struct th_host_remains *remains,
                    th_term reason);

/* Puts MESSAGE at the end of the inbox; takes the one at PLACE out of it, and frees it. */
void th_inbox_add(struct th_process_run *process, struct th_message *message);
void th_inbox_drop(struct th_process_run *process, struct th_message **place);

/* Takes what has arrived. */
void th_mailbox_look(struct th_process_run *process);

/* Offers the next message, or what has come instead: then PROCESS->next is to be run. False: there
 * is none yet, and the process is not this thread's any more. */
bool th_mailbox_offer(struct th_process_run *process);

/* The function that had the message has returned. */
void th_mailbox_offered(struct th_process_run *process);

/* Waits for a signal, having nothing to do. True: there was mail, which was taken. False: see
 * th_mailbox_offer(). */
bool th_mailbox_wait(struct th_process_run *process);

/* Waits until there is *SIGNAL, which the arrival of signals sets, and calls GO_ON, or until the
 * process is to end. False: see th_mailbox_offer(). */
bool th_mailbox_await(struct th_process_run *process, struct th_message *const *signal,
                      void (*go_on)(struct th_process_run *process));

/* The code that is next goes on with the term of SIGNAL as its first argument; the memory is the
 * heap's, as a message's is. */
void th_mailbox_answered(struct th_process_run *process, struct th_message *signal);

/* Under the mailbox's lock: the mailbox's hook; a timer's. */
void th_mailbox_arrived(void *context, const struct th_message *message);
void th_mailbox_timed_out(void *context);

/* --- Purging (process_list.c) --- */

/* Has the processes killed that are in INSTANCE's code, once they are between two functions. */
void th_processes_purge(const struct th_instance *instance);

/* Adds to TEXT which processes they are, the first of many: those that are seen to be. */
void th_processes_show_inside(const struct th_instance *instance, struct th_buffer *text);

/* --- Operations on files (file_wait.c) --- */

/* Submits the operation that is next, waits for it, and goes on with its result. False: see
 * th_mailbox_offer(). */
bool th_file_step(struct th_process_run *process);

/* SIGNAL, which this takes over, has come. */
void th_file_arrived(struct th_process_run *process, struct th_message *signal);

/* The process ends: what it waits for is cancelled, its files are closed. Before its mailbox goes;
 * a signal that is still to come then is handed to th_file_unwanted(), in place of the process. */
void th_file_end(struct th_process_run *process);
void th_file_unwanted(const struct th_message *signal);

/* --- User tags (user_tag.c) --- */

/* What travels with a message, in ENV: the tag, if it spreads, with TOKEN (TH_NONE: none). TH_NONE
 * if that is neither. And back: what travelled is received, and its token returned. */
th_term th_tag_send(const struct th_seq *seq, th_env *env, th_term token);
th_term th_tag_receive(struct th_seq *seq, th_term travelled);
struct th_message *th_tag_copy(const struct th_seq *seq);
void th_tag_end(struct th_seq *seq);

/* The tag as text, "" if there is none; appended to TEXT. */
void th_tag_text(const struct th_process_run *process, struct th_buffer *text);

/* --- Changing code (code_wait.c) --- */

/* On a dirty thread: prepares, and orders the rest. On a normal one: orders what is next, unless
 * that was done, waits for the answer, and goes on with it. False: see th_mailbox_offer(). */
bool th_code_step(struct th_process_run *process);

/* SIGNAL, which this takes over, has come. */
void th_code_arrived(struct th_process_run *process, struct th_message *signal);

/* --- Timers (timer.c) --- */

/* PROCESS is to be woken at DUE, on the monotonic clock; stop before it runs on. */
void th_timer_start(struct th_process_run *process, int64_t due);
void th_timer_stop(struct th_process_run *process);
void th_timers_end(void); /* the thread; no timer may be left */
int64_t th_timer_now(void);
int64_t th_timer_in(int64_t nanoseconds); /* -1: later than the clock can tell */

/* --- The heap (heap.c) --- */

/* When a process begins anew; between two functions; when it needs none of its terms any more. */
void th_heap_start(struct th_process_run *process);
void th_heap_collect(struct th_process_run *process);
void th_heap_end(struct th_process_run *process);

/* The terms of MESSAGE, taken out of the inbox, are the heap's now. */
void th_heap_attach(struct th_process_run *process, struct th_message *message);

/* The words that were made since the process' start; by the thread that runs it. */
uint64_t th_heap_words(const struct th_process_run *process);

/* --- Sequential tokens (seq_token.c) --- */

/* The token for MESSAGE, which the process sends now, in ENV; TH_NONE: it has none. */
th_term th_seq_send(struct th_process_run *process, th_env *env, th_term to, th_term message);

/* It has received what carried TOKEN, TH_NONE: none. */
void th_seq_receive(struct th_process_run *process, th_term token);

/*
 * The message that is offered is taken, as far as its token goes: that is told, unless it was
 * before. When the function that has the message has returned; or as soon as that uses the token
 * or does something else that is told, so that the order is a BEAM's. One that skips the message
 * after that is told to have received it.
 */
void th_seq_taken(struct th_process_run *process);

/* Sends the exit signal with REASON over the link to TO. */
void th_seq_exit(struct th_process_run *process, th_term to, th_term reason);

/* The time stamp that the token asks for. */
enum th_time_kind th_seq_time(const struct th_seq *seq);

/* The token as it is, [] if there is none, in ENV. Sets a part of it, as th_seq_set(). */
th_term th_seq_token(const struct th_process_run *process, th_env *env);
th_term th_seq_set_in(struct th_process_run *process, th_env *env, th_term component,
                      th_term value);

/* CHILD was spawned. */
void th_seq_spawn(struct th_process_run *parent, struct th_process_run *child);
void th_seq_end(struct th_seq *seq);

/* All of it goes, the user tag too. */
void th_seq_release(struct th_seq *seq);

#endif
