/*
 * The face of runtime/: threads that run functions of libraries on behalf of processes.
 *
 *   th_runtime_start(&setup);
 *   process = th_run_start();                                 a process: a pid and a mailbox
 *   end = th_run_call(process, &callee, argv, env, &result);  waits; a scheduler runs the function
 *   th_run_exit(process, TH_AM(normal));
 *   th_runtime_stop();
 *
 * There is one runtime in the program. A scheduler thread takes a process that can run from the run
 * queue, calls one function of it, and does with the answer what it says: the call is over, or goes
 * on with another function (enif_schedule_nif), here or on a dirty thread. A process runs on one
 * thread at a time and owns no stack: between two functions it is the continuation, its terms in an
 * environment of its own.
 *
 * The poll thread (select.h) waits for file descriptors. Destructors of resources that others let
 * go of are run by a scheduler.
 */
#ifndef TH_RUNTIME_H
#define TH_RUNTIME_H

#include "host/library/library.h"
#include "host/process/process.h"
#include "plugin_api/erl_nif.h"

#include "check.h"
#include "select.h"

struct th_runtime_setup {
    unsigned schedulers; /* 0: one */
    unsigned dirty_cpu;  /* 0: as many as schedulers */
    unsigned dirty_io;   /* 0: ten, as in a BEAM */
};

/* Starts the threads, before libraries are loaded. Dirty threads are made as they are needed. From
 * now on the guard (trace/) calls who crashes a library. */
void th_runtime_start(const struct th_runtime_setup *setup);

/* Ends them, and the poll thread. All processes must have exited. It can be started again. */
void th_runtime_stop(void);

/* How many there are; 1, and as if one dirty thread of each kind, while the runtime is not started,
 * as the thread that replays counts as a scheduler. */
struct th_runtime_setup th_runtime_threads(void);

/* --- Who runs ----------------------------------------------------------------------------------
 */

/* The calling thread, as enif_thread_type() and enif_scheduler_id() tell it. */
struct th_scheduler {
    int type;        /* ERL_NIF_THR_NORMAL_SCHEDULER... */
    unsigned number; /* from 1; dirty threads count on after the schedulers */
};
extern _Thread_local const struct th_scheduler *th_scheduler_current; /* NULL: no scheduler */

/* --- Processes that run ------------------------------------------------------------------------
 */

struct th_process_run;
struct th_process_run *th_run_start(void);
th_term th_run_pid(const struct th_process_run *process);

/* Ends it; no call may be going on. */
void th_run_exit(struct th_process_run *process, th_term reason);

/* The next message, the caller's to free; waits NANOSECONDS for it at most (0: not at all, below 0:
 * for ever). NULL: none came. One thread at a time. */
struct th_message *th_run_receive(struct th_process_run *process, int64_t nanoseconds);

/* --- Calls -------------------------------------------------------------------------------------
 */

/* What is called. The name is "module:function/arity", for reports; it must stay. */
struct th_callee {
    struct th_library *library; /* loaded; the caller is a user of it */
    const ErlNifFunc *function;
    const char *name;
};

enum th_call_end {
    TH_CALL_RETURNED,
    TH_CALL_RAISED, /* an exception of class error; *RESULT is the reason */
};

/*
 * Has PROCESS call CALLEE with as many terms of ARGV as it has arguments, and waits until it has
 * returned for good, and the destructors of what it let go of have run. *RESULT is copied into ENV,
 * by another thread. The calling thread is no scheduler. One call at a time in one process.
 *
 * What a function said last counts, as in a BEAM: of an exception and a continuation the later; an
 * exception more than a term that is returned as well, and a term more than a continuation. One
 * that returns neither, and 0, which a BEAM does not survive, has raised badarg (`undefined` is
 * returned while the checker is on). What is still scheduled when the program ends
 * (th_library_halting()) does not run: the call raises `halting`.
 */
enum th_call_end th_run_call(struct th_process_run *process, const struct th_callee *callee,
                             const th_term argv[], th_env *env, th_term *result);

/*
 * The call that the thread is in, NULL outside of one. A function of a library that is called by
 * runtime/ has a call; its environment is `env`.
 */
struct th_call {
    struct th_process_run *process;
    const struct th_callee *callee; /* what th_run_call() was given */
    const char *function; /* what runs, "open": the callee's, or what enif_schedule_nif() named */
    int argc;
    const th_term *argv; /* of what runs */
    th_env *env;
};
extern _Thread_local struct th_call *th_call_current;

/*
 * For enif_schedule_nif(): what is to run when the function of ENV's call returns what this
 * returns, TH_NONE. FUNCTION, its name, and ARGV are copied. Raises badarg for what cannot be: a
 * name that is no atom, FLAGS that are other than 0 or dirty jobs (both count as IO), more than 255
 * arguments; and, where a BEAM crashes, fewer than 0, or an ENV that is not that of the thread's
 * call.
 */
th_term th_call_schedule(th_env *env, const char *function, int flags,
                         ERL_NIF_TERM (*code)(ErlNifEnv *, int, const ERL_NIF_TERM[]), int argc,
                         const th_term argv[]);

/*
 * For enif_consume_timeslice(): uses up PERCENT (1 to 100, others count as the nearer) of the turn,
 * which is 4000 reductions; each function costs one. True if it is used up: then what is scheduled
 * waits for the other processes. False, and nothing happens, on dirty threads, and where ENV is not
 * that of the thread's call.
 */
bool th_call_consume(th_env *env, int percent);

#endif
