/* Parts that `tracehost call` and `run` share: a process that evaluates programs form by form, and
 * the limit that ends a run. */
#ifndef TH_CALL_SESSION_H
#define TH_CALL_SESSION_H

#include "host/base/error.h"
#include "host/runtime/runtime.h"
#include "host/shell/shell.h"
#include "host/term/word.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * A limit: ends a run that does not end by itself, after a time or at a signal.
 *
 *   th_cli_run_limit_begin(&limit);
 *   ... the call ...
 *   if (!th_cli_run_limit_pass(&limit))      the limit stopped the call
 *   ... other processes end ...
 *   th_cli_run_limit_end(&limit);
 */
struct th_run_limit {
    const char *command; /* for messages */
    int64_t duration;    /* nanoseconds; below 0: no limit */
    /* Ends the call soon. Called at most once, by the limit's own thread, before
     * th_cli_run_limit_pass() returns. */
    void (*stop)(void *context);
    /* Nanoseconds from the stop or the end of the call; below 0: no limit. If functions still run
     * after this time, the limit's thread calls give_up (NULL: nothing), names the functions that
     * hang, and ends the program. */
    int64_t grace;
    void (*give_up)(void *context);
    void *context;

    pthread_t thread;
    pthread_mutex_t
        lock; /* guards the test of `passed` with the call of `stop`, and both flags below */
    bool passed, stopped;
    atomic_bool ended; /* relaxed: th_cli_interrupt_wake() follows the store */
};

/* Starts the limit's thread.
 * Order: after th_cli_interrupt_install().
 * Errors: TH_FAILED if no thread can be started. */
enum th_status th_cli_run_limit_begin(struct th_run_limit *limit);

/* Marks the call as ended: `stop` is not called any more. Returns false if `stop` was called
 * before. */
bool th_cli_run_limit_pass(struct th_run_limit *limit);

/* Ends the limit, and joins the limit's thread. After th_cli_run_limit_pass() or `stop`, and until
 * this call, that thread reports on stderr if functions still run, and gives up after `grace`.
 * Order: all processes have ended. */
void th_cli_run_limit_end(struct th_run_limit *limit);

/* The work that all sessions share. */
struct th_call_work {
    const struct th_program *programs;
    size_t program_count;
    uint64_t rounds; /* of each session */
    unsigned sessions;
    bool together;           /* all sessions begin each round at once, so that their calls meet */
    _Atomic uint64_t done;   /* rounds; relaxed: read after the threads have ended */
    _Atomic uint64_t failed; /* evaluations; relaxed, likewise */
    atomic_bool stopped;     /* request to stop; relaxed: no other data depends on it */
    /* Begins when all is evaluated: a function that hangs may delay even the end of a session. */
    struct th_run_limit *ending;
    bool ends;               /* `ending` has begun */
    pthread_mutex_t begins;  /* held until all threads exist */
    pthread_barrier_t round; /* of those threads, if they are `together` */
};

struct th_call_session {
    struct th_call_work *work;  /* NULL: the state of a tracer is evaluated */
    unsigned number;            /* from 1 */
    struct th_process *process; /* NULL: no process was started */
    struct th_evaluation evaluation;
    struct th_exception_raised
        raised; /* exception of the last call, filled by th_runtime_run_call_export() */
};

/* Functions for expressions: messages, process names and ports. */
extern const struct th_shell_module th_cli_call_functions[];

/* Start and end the process of SESSION, with its evaluation. */
void th_cli_call_session_start(struct th_call_session *session, struct th_call_work *work,
                               unsigned number);
void th_cli_call_session_end(struct th_call_session *session);

/* Writes VALUE as one line to OUT. */
void th_cli_call_show_value(th_term value, FILE *out);

/* Evaluates the forms of PROGRAM. If SHOWN, values are printed on stdout. Exceptions are printed on
 * stderr, after a line with WHERE unless WHERE is NULL. Returns false if evaluation must stop. */
bool th_cli_call_session_evaluate(struct th_call_session *session, const struct th_program *program,
                                  bool shown, const char *where);

/* Begins work->ending: all is evaluated, and the sessions are about to end.
 * Errors: TH_FAILED if no thread can be started. */
enum th_status th_cli_call_work_evaluated(struct th_call_work *work);

/* Runs all rounds of WORK, with one thread for each session, and ends the sessions.
 * Errors: TH_FAILED if a thread cannot be started; the others still run. */
enum th_status th_cli_call_work_run(struct th_call_work *work);

/* Allows expressions as states of tracers, by setting th_tracer_state_evaluate. SELF is the value
 * of self() in such an expression; TH_NONE: the pid of the console.
 * Order: before other threads read states. */
void th_cli_state_expressions_begin(th_term self);

#endif
