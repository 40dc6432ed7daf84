/* What `tracehost call` and `run` share: a process that evaluates programs, one form after the
 * other, and what ends that. */
#ifndef TH_CALL_SESSION_H
#define TH_CALL_SESSION_H

#include "host/base/error.h"
#include "host/runtime/runtime.h"
#include "host/shell/shell.h"
#include "host/term/word.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * What ends a run that does not end by itself: a time that has passed, or a signal.
 *
 *   th_cli_run_limit_begin(&limit);
 *   ... the call ...
 *   if (!th_cli_run_limit_pass(&limit))      it was stopped
 *   ... others end ...
 *   th_cli_run_limit_end(&limit);
 */
struct th_run_limit {
    const char *command; /* for messages */
    int64_t duration;    /* nanoseconds; below 0: none */
    /* Has the call end, soon: called at most once, by a thread of the limit's own, before
     * th_cli_run_limit_pass() returns. */
    void (*stop)(void *context);
    /* From when it was stopped or has ended on, nanoseconds; below 0: for ever. Then, if not all
     * has ended, it is given up: by the same thread, which names the functions that hang and ends
     * the program. The function is called before; NULL: nothing is. */
    int64_t grace;
    void (*give_up)(void *context);
    void *context;

    pthread_t thread;
    pthread_mutex_t
        lock; /* around the look at `passed` and `stop`, and the writing of both below */
    bool passed, stopped;
    atomic_bool ended; /* relaxed: th_cli_interrupt_wake() comes after it */
};

/* Begins to wait, after th_cli_interrupt_install(). TH_FAILED if there is no thread for it. */
enum th_status th_cli_run_limit_begin(struct th_run_limit *limit);

/* The call has ended: it is not stopped any more. False if it was. */
bool th_cli_run_limit_pass(struct th_run_limit *limit);

/* All has ended. Until then, and for the time since the call was stopped or has ended, it says what
 * is waited for, if that is long; and gives it up. */
void th_cli_run_limit_end(struct th_run_limit *limit);

/* What all sessions share. */
struct th_call_work {
    const struct th_program *programs;
    size_t program_count;
    uint64_t rounds; /* of each session */
    unsigned sessions;
    _Atomic uint64_t done;   /* rounds; relaxed, as counts are read after the threads have ended */
    _Atomic uint64_t failed; /* evaluations, likewise */
    atomic_bool stopped;     /* nothing more is to be evaluated; relaxed, as nothing hangs on it */
    /* Begins once all is evaluated, as functions that hang may keep even the end of a session
     * waiting. */
    struct th_run_limit *ending;
    bool ends; /* it has begun */
};

struct th_call_session {
    struct th_call_work *work;  /* NULL: a state of a tracer is evaluated */
    unsigned number;            /* from 1 */
    struct th_process *process; /* NULL: none has begun */
    struct th_evaluation evaluation;
    struct th_exception_raised
        raised; /* by the last call, as th_runtime_run_call_export() has it */
};

/* What expressions may do with processes, names and ports. */
extern const struct th_shell_module th_cli_call_functions[];

/* Starts the process; ends it. */
void th_cli_call_session_start(struct th_call_session *session, struct th_call_work *work,
                               unsigned number);
void th_cli_call_session_end(struct th_call_session *session);

/* Shows VALUE as a line of OUT. */
void th_cli_call_show_value(th_term value, FILE *out);

/* Evaluates the forms of a program. Values are printed on stdout if SHOWN, exceptions on stderr,
 * behind a line with WHERE if that is not NULL. False once nothing more is to be evaluated. */
bool th_cli_call_session_evaluate(struct th_call_session *session, const struct th_program *program,
                                  bool shown, const char *where);

/* All is evaluated; the sessions are about to end. */
enum th_status th_cli_call_work_evaluated(struct th_call_work *work);

/* All rounds of the work, in as many threads as it has sessions, which end. */
enum th_status th_cli_call_work_run(struct th_call_work *work);

/* From now on the state of a tracer may be an expression (th_tracer_state_evaluate). SELF is what
 * self() in it gives, TH_NONE: the console. Before other threads read states. */
void th_cli_state_expressions_begin(th_term self);

#endif
