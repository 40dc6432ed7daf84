/*
 * The structs of processes. Inner header of runtime/.
 *
 * One thread at a time uses a process: the thread that took it from a run queue, until that thread
 * puts it into another queue or records under the mailbox's lock that the process waits. All fields
 * without another rule are handed over together with the process. Other threads reach a process
 * only by its mailbox. While a function runs on a dirty thread, the process is released; see
 * dirty_end.c.
 *
 * Locks, the outermost first: the timers' lock, a mailbox's lock (process/), a queue's lock, the
 * lock of the sleeping schedulers. No code of a library runs under any of them.
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
    TH_MOST_ARGUMENTS = 255, /* arguments of a function */
    TH_TURN = 4000           /* reductions of a turn, as in a BEAM */
};

/* The next step of a process. */
enum th_step {
    TH_STEP_NONE,    /* none: waits for a request */
    TH_STEP_RUN,     /* call CODE on a thread of type `where` */
    TH_STEP_CALL,    /* make the external call MODULE:FUNCTION with ARGV; of CALLEE if set */
    TH_STEP_AWAIT,   /* wait for the next message, then run CODE with it as argv[0] */
    TH_STEP_SKIP,    /* leave the offered message in the inbox, repeat the step that offered it */
    TH_STEP_FILE,    /* wait for a file operation, then run CODE with its result as argv[0] */
    TH_STEP_CODE,    /* wait for a change of code, then run CODE with its outcome as argv[0] */
    TH_STEP_RECEIVE, /* pass the next message to th_runtime_run_receive() */
    /* End the call. Only a normal scheduler takes this step, also for a dirty function: destructors
     * run on normal schedulers, as in a BEAM, before the caller continues. */
    TH_STEP_CONCLUDE
};

/* Returns whether STEP runs CODE of CALLEE, at once or after waiting. */
static inline bool th_runtime_step_is_code(enum th_step step)
{
    return step == TH_STEP_RUN || step == TH_STEP_AWAIT || step == TH_STEP_FILE ||
           step == TH_STEP_CODE;
}

struct th_continuation {
    enum th_step step;
    int where; /* thread type, ERL_NIF_THR_... */
    ERL_NIF_TERM (*code)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
    const struct th_callee *callee; /* owner of CODE */
    const char *name;               /* name of CODE, valid for ever */
    th_term module, function;
    int argc;
    th_term *argv;    /* array and terms in the process' environment */
    bool goes_on;     /* CODE continues in the place of a function; see struct th_call */
    bool resumes;     /* a breakpoint at the entry of CODE reports no call */
    int64_t deadline; /* of TH_STEP_AWAIT and TH_STEP_RECEIVE, in nanoseconds; below 0: none */
};

/* A kept frame: a function that waits for its callee (th_call_then()). */
struct th_frame_kept {
    struct th_continuation then; /* argv[0] gets the callee's result */
    bool catches;
};

/* Open calls of a process in a ring, the oldest first; see traced_call.h. */
struct th_open_calls {
    struct th_open_call *ring;
    size_t bottom, count, capacity; /* of RING: a power of two, or 0 */
    size_t limit;                   /* COUNT at which the ring must grow or drop a call */
};

/* A waiting function that a stack walk found (traced_call.h). */
struct th_waiter {
    const struct th_callee *callee;
    uintptr_t frame; /* stack pointer before its call; 0: it waits in a kept frame */
    uintptr_t at;    /* address of its call, or code that will continue; 0: not known */
    bool outermost;  /* called by the runtime */
    const struct th_frame_kept *kept; /* kept frame in which it waits, valid until it continues;
                                         else NULL */
};

/* A request of a thread outside of the runtime to a driven process. The requesting thread waits, so
 * that a scheduler may use the memory that the request points to. */
struct th_request {
    enum { TH_REQUEST_CALL, TH_REQUEST_RECEIVE } what;
    const struct th_callee *callee; /* function to call; NULL: the code that ENTRY reaches */
    const struct th_export *entry;
    const th_term *argv;
    th_env *env; /* environment of the result */
    th_term result;
    enum th_call_end end;
    struct th_exception_raised raised; /* exception of the call, with terms in ENV */
    int64_t deadline;
    struct th_message *message;
    sem_t done;
};

/* A sequential token with the counters of its process, and the user tag that travels with the
 * token. */
struct th_seq {
    struct th_message *tag; /* a binary; NULL: none; see seq_token.c */
    bool tag_stays, tag_spreads;
    bool set; /* there is a token */
    unsigned flags;
    th_term from;             /* the process that sent or started the token last */
    struct th_message *label; /* a term; NULL: 0 */
    int64_t serial, previous; /* counters of the token */
    int64_t clock, last;      /* counters of the process */
};

/* State of a process whose functions run on dirty threads; see dirty_end.c. */
enum th_dirty {
    TH_DIRTY_HELD,     /* a thread uses the process, or it waits or is in a run queue */
    TH_DIRTY_LET_GO,   /* its function runs, or it is in the queue of a dirty type */
    TH_DIRTY_ENDS,     /* as before, and a normal scheduler ends the process or will */
    TH_DIRTY_ENDED,    /* as before, and the process has ended */
    TH_DIRTY_RETURNED, /* the dirty thread has finished with the process, which ends */
};

/* --- Published state of a process ------------------------------------------------------------- */

struct th_process_shown {
    _Atomic uint32_t doing;       /* enum th_process_doing */
    const char *_Atomic function; /* "module:function/arity"; stays valid */
    /* Serials of instances, 0: none. `code`: of FUNCTION while that is not over. `kept`: the oldest
     * of the functions in kept frames, from the end of the last turn. */
    _Atomic uint64_t code, kept;
    _Atomic uint64_t inbox; /* messages in the inbox */
    _Atomic uint64_t reductions, words, links;
};

static inline void th_runtime_shown_set(_Atomic uint64_t *shown, uint64_t value)
{
    atomic_store_explicit(shown, value, memory_order_relaxed);
}

/* Adds MORE. One thread at a time writes SHOWN, so no atomic addition is needed. */
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

/* Sends a purge signal to each process: processes in the code of INSTANCE end as soon as they are
 * between two functions. */
void th_runtime_processes_purge(const struct th_instance *instance);

/* Appends to TEXT the first of the processes that were seen in the code of INSTANCE. */
void th_runtime_processes_show_inside(const struct th_instance *instance, struct th_buffer *text);

struct th_process {
    struct th_mailbox *mailbox;
    th_term pid;
    struct th_live_tracee live; /* the tracee of trace/; zeros: no tracing */
    struct th_process_shown shown;

    /* The heap; see heap.c. */
    th_env *env;          /* environment of its terms; a collection replaces it */
    size_t collect_at;    /* size in bytes above which the heap is collected */
    size_t recent;        /* words that the last collection left */
    uint64_t left_behind; /* words made in other environments, less the copies in this one; modulo
                             2^64; complete only if there is a tracing */
    const struct th_offheap *collected; /* binaries of ENV that `held` counts already */
    size_t held;                        /* bytes of binaries held since the last collection */
    struct th_message *fragments;       /* received messages whose terms the heap may refer to */
    size_t fragment_words;

    struct th_continuation next;
    struct th_frame_kept *frames;
    size_t frame_count, frame_capacity;
    size_t base;                /* frames below BASE belong to callers of the current nested call */
    th_term outcome;            /* result of the call that was concluded; TH_NONE: RAISED */
    struct th_open_calls open;  /* calls with return requests */
    size_t native_bytes;        /* bytes of the thread's stack that native frames take */
    struct th_waiter raised_to; /* function an exception came to, while live.returning_to */
    struct th_frame_kept then;  /* frame that the running function wants to keep */
    bool then_is_set;
    struct th_exception_raised raised; /* exception for the catching function; terms in ENV */
    int reductions;                    /* rest of the turn; below 1: used up */
    uint64_t reductions_before;        /* of all former turns */

    /* Messages that were taken out of the mailbox, the oldest first. */
    struct th_message *inbox, **inbox_end;
    struct th_message **offer;         /* place of the next message to be offered */
    struct th_message *offered;        /* message that the running function has; NULL: none */
    struct th_continuation offered_to; /* step that offered it, to be repeated */
    struct th_seq seq_before;          /* token before that message, if `seq_changed` */
    bool seq_changed;
    bool seq_untold;     /* see th_runtime_seq_taken() */
    bool receive_probed; /* see th_traced_probed_taken() */

    /* File operations; see file_wait.c. */
    struct th_file_owner files;
    struct th_file_operation *operation; /* operation awaited, or NULL; the pool, then `answer`,
                                            holds the reference */
    struct th_file_last last_operation;

    bool code_ordered; /* the loader has an order of this process; see code_order.c */
    struct th_message
        *answer; /* signal that ends the wait for OPERATION or the loader; NULL: not yet */

    /* Links, monitors and exits; see signal.c. */
    struct th_table links;    /* pid -> TH_LINKED or the mark of an unlink */
    struct th_table monitors; /* number -> pid that this process monitors */
    struct th_table watchers; /* number -> pid that monitors this process */
    uint64_t unlinked;        /* counter that numbers unlinks */
    bool traps_exits;
    struct th_message *ending; /* signal that ended it, whose term is the reason; NULL: none */
    struct th_seq seq;

    /* Driven processes. */
    bool told;                  /* this is a driven process */
    struct th_request *request; /* request that is carried out */
    _Atomic bool yields; /* th_runtime_run_yield(); relaxed: the request after it goes through the
                            mailbox's lock */
    struct th_message *end_message; /* message whose term is the exit reason; set at the end */
    sem_t over;                     /* posted when only the driving thread uses the process */

    bool has_timer; /* a timer was started and not stopped; it may have fired */

    /* Links in queues. Under the queue's lock; outside of queues, by the thread that uses the
     * process. */
    struct th_process *behind;
    struct th_process *behind_dirty; /* likewise, in a queue of dirty threads */
    unsigned home;                   /* index of the scheduler that ran it last, from 0 */

    /* Under the mailbox's lock; `timed_out` also by the thread that uses the process, while no
     * timer runs. */
    bool waiting, timed_out;
    /* Something has arrived. Set under the mailbox's lock; cleared by the thread that uses the
     * process, before it takes the mail. Relaxed: the mail is read under that lock. */
    _Atomic bool mail;
    /* A signal has arrived that may end the process. Written and relaxed like `mail`. */
    _Atomic bool end_arrived;

    /* Changed under the mailbox's lock up to TH_DIRTY_ENDS, and read so by senders. Relaxed for the
     * thread that holds the process or took it from a queue; see dirty_end.c. */
    _Atomic enum th_dirty dirty;
    unsigned takes; /* nested takes: at least 1 while a thread uses the process; 0: released */

    /* Under the timers' lock. */
    size_t timer_place; /* index in the heap of timers, from 1; 0: no timer */
    int64_t timer_due;
};

static inline struct th_process *th_runtime_process_of_live(const struct th_live_tracee *live)
{
    return (struct th_process *)((char *)live - offsetof(struct th_process, live));
}

#endif
