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

#include "runtime.h"

#include "host/file/file.h"
#include "host/trace/live/live.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

struct th_buffer;

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
    TH_STEP_RECEIVE, /* hands the next message to who waits for th_runtime_run_receive() */
    /* Its call is over. Only a normal scheduler says so, also of a dirty function: destructors run
     * there, as in a BEAM, before the caller goes on. */
    TH_STEP_CONCLUDE
};

/* CODE of CALLEE goes on, now or when there is what it waits for. */
static inline bool th_runtime_step_is_code(enum th_step step)
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

/* A function that waits, as it is found on a stack (traced_call.h). */
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
    struct th_message *tag; /* a binary, NULL: none; see seq_token.c */
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

/* --- What a process shows of itself ----------------------------------------------------------- */

struct th_process_shown {
    _Atomic uint32_t doing;       /* enum th_process_doing */
    const char *_Atomic function; /* "module:function/arity"; stays */
    /* Of whose code they are, serials of instances; 0: of none, or nothing: FUNCTION, while it is
     * not over; of those that wait for it the oldest, as of the end of the last turn. */
    _Atomic uint64_t code, kept;
    _Atomic uint64_t inbox; /* messages that were taken out of the mailbox */
    _Atomic uint64_t reductions, words, links;
};

static inline void th_runtime_shown_set(_Atomic uint64_t *shown, uint64_t value)
{
    atomic_store_explicit(shown, value, memory_order_relaxed);
}

/* One thread at a time writes it: no atomic addition. */
static inline void th_runtime_shown_add(_Atomic uint64_t *shown, uint64_t more)
{
    th_runtime_shown_set(shown, atomic_load_explicit(shown, memory_order_relaxed) + more);
}

static inline void th_runtime_shown_doing(struct th_process_shown *shown,
                                          enum th_process_doing doing)
{
    atomic_store_explicit(&shown->doing, (uint32_t)doing, memory_order_relaxed);
}

/* --- Purging (process_life.c) --- */

/* Has the processes killed that are in INSTANCE's code, once they are between two functions. */
void th_runtime_processes_purge(const struct th_instance *instance);

/* Adds to TEXT which processes they are, the first of many: those that are seen to be. */
void th_runtime_processes_show_inside(const struct th_instance *instance, struct th_buffer *text);

struct th_process {
    struct th_mailbox *mailbox;
    th_term pid;
    struct th_live_tracee live; /* as trace/ knows it; zeros: there is no tracing */
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
    bool seq_untold;     /* see th_runtime_seq_taken() */
    bool receive_probed; /* see th_traced_probed_taken() */

    /* Operations on files; see file_wait.c. */
    struct th_file_owner files;
    struct th_file_operation *operation; /* that it waits for, or NULL; the pool has the share, and
                                            then `answer` */
    struct th_file_last last_operation;

    bool code_ordered; /* the loader has an order of it; see code_order.c */
    struct th_message
        *answer; /* the signal that OPERATION is over, or the loader's, NULL: not yet */

    /* What it does with others; see signal.c. */
    struct th_table links;    /* pid -> a number, see there */
    struct th_table monitors; /* number -> pid: whom it watches */
    struct th_table watchers; /* number -> pid: who watches it */
    uint64_t unlinked;        /* numbers unlinks */
    bool traps_exits;
    struct th_message
        *ending; /* what ended it: the signal whose term is the reason; NULL: nothing */
    struct th_seq seq;

    /* Of a driven process. */
    bool told;                  /* it is one */
    struct th_request *request; /* what it does */
    _Atomic bool yields; /* th_runtime_run_yield(). Relaxed: a request follows in the mailbox */
    struct th_message *end_message; /* once it has ended: its term is the reason */
    sem_t over;                     /* nobody uses it any more but who told it */

    bool has_timer; /* perhaps: it may have fired */

    /* In a run queue, under its lock; by the thread that uses it. */
    struct th_process *behind;
    struct th_process *behind_dirty; /* the same of a queue of dirty threads */
    unsigned home;                   /* the scheduler that ran it last, from 0 */

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

static inline struct th_process *th_runtime_process_of_live(const struct th_live_tracee *live)
{
    return (struct th_process *)((char *)live - offsetof(struct th_process, live));
}

#endif
