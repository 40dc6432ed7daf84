/*
 * The face of runtime/: threads that run functions of libraries on behalf of processes.
 *
 *   th_runtime_start(&setup);
 *   process = th_runtime_run_start();                                 a driven process
 *   end = th_runtime_run_call(process, &callee, argv, env, &result);  waits; a scheduler runs the
 *   function th_runtime_run_exit(process, TH_AM(normal));
 *   th_runtime_stop();
 *
 * There is one runtime in the program. A scheduler thread takes a process that can run from its run
 * queue, calls one function of it, and does with the answer what it says: the call is over, or goes
 * on with another function, here or on a dirty thread, or when a message has come. A process runs
 * on one thread at a time and owns no stack: between two functions it is the continuation, its
 * terms in an environment of its own.
 *
 * Functions that run make further processes, link and watch them, and send them messages: what
 * they ask for stands in the second half.
 *
 * The poll thread (select.h) waits for file descriptors. Destructors of resources that others let
 * go of are run by a scheduler.
 */
#ifndef TH_RUNTIME_H
#define TH_RUNTIME_H

#include "host/code/loading.h"
#include "host/file/operations.h"
#include "host/runtime/poll/select.h"
#include "host/self/self.h"
#include "host/term/env.h"
#include "plugin_api/erl_nif.h"

struct th_export;
struct th_callee;

struct th_runtime_setup {
    unsigned schedulers; /* 0: as many as processors */
    unsigned dirty_cpu;  /* 0: as many as schedulers */
    unsigned dirty_io;   /* 0: ten, as in a BEAM */
    unsigned async;      /* threads that operations on files wait in; 0: ten, as in a BEAM */
    size_t processes;    /* the most that functions may spawn; 0: 1,048,576, as in a BEAM */
    /* What happens to processes is traced in it. It is shared (th_trace_share()), and stays until
     * the runtime is stopped. NULL: nothing is traced. */
    struct th_tracing *tracing;
    /* The most calls of a process whose ends tracers wait for; 0: a million. Of more, the oldest
     * are given up (th_runtime_calls_not_kept()). */
    size_t open_calls;
};

/* Starts the threads, before libraries are loaded. Dirty threads are made as they are needed. From
 * now on the guard (trace/) calls who crashes a library. */
void th_runtime_start(const struct th_runtime_setup *setup);

/* Ends them, and the poll thread. All processes must have exited. It can be started again. */
void th_runtime_stop(void);

/* Has `kill` sent to all processes, and to those that they start, until there are none but those of
 * th_runtime_run_start(). Waits for functions that run to return, and for operations on files and
 * changes of code that they asked for to be made. Before libraries are released. */
void th_runtime_kill_all(void);

/* Calls EACH for what each thread of the runtime runs for a process now, "module:function/arity",
 * "file operation NAME" or "changes of code". Any thread, while no module is removed. */
void th_runtime_each_running(void (*each)(void *context, const char *function), void *context);

/* How many processes there are. Any thread. */
size_t th_runtime_processes(void);

/* How many calls were given up since the start, as a process had too many open: tracers that wanted
 * their return are not told of it. Any thread. */
uint64_t th_runtime_calls_not_kept(void);

/* Likewise, of calls that C code has made: how many were given up as longjmp() had left them. And
 * how often a function was met with another number of arguments than the library's table says,
 * which is no call that it could be told as. */
uint64_t th_runtime_calls_left(void);
uint64_t th_runtime_no_calls(void);

/* Whether a process that ends of an error is reported on stderr: true from the start. */
void th_runtime_set_reports(bool reports);

/* How many there are; 1, and as if one dirty thread of each kind, while the runtime is not started,
 * as the thread that replays counts as a scheduler. */
struct th_runtime_setup th_runtime_threads(void);

/* --- Who runs --------------------------------------------------------------------------------- */

/* A thread (th_self.scheduler), as enif_thread_type() and enif_scheduler_id() tell it. */
struct th_scheduler {
    int type;        /* ERL_NIF_THR_NORMAL_SCHEDULER... */
    unsigned number; /* from 1; dirty threads count on after the schedulers */
};

/* --- Driven processes ------------------------------------------------------------------------- */

/*
 * A driven process makes the calls that a thread outside of the runtime asks for, and waits between
 * them. It lives until th_runtime_run_exit(), or until a signal ends it: then each call answers
 * TH_CALL_ENDED. One thread at a time drives it, which is no scheduler; a scheduler runs it.
 */
struct th_process;
struct th_process *th_runtime_run_start(void);
th_term th_runtime_run_pid(const struct th_process *process);

/* The next call begins with a whole time slice. Calls without this between them share one until it
 * is used up (enif_consume_timeslice()), as calls of one function do in a BEAM. */
void th_runtime_run_yield(struct th_process *process);

/* As exit/2 with `kill`: what it is doing is not over, and th_runtime_run_call() returns
 * TH_CALL_ENDED once the function that runs has returned. Any thread, before th_runtime_run_exit().
 */
void th_runtime_run_kill(const struct th_process *process);

/* Ends it, if it has not ended, and frees it. */
void th_runtime_run_exit(struct th_process *process, th_term reason);

/* The next message, the caller's to free; waits NANOSECONDS for it at most (0: not at all, below 0:
 * for ever). NULL: none came, or the process has ended. */
struct th_message *th_runtime_run_receive(struct th_process *process, int64_t nanoseconds);

enum th_call_end {
    TH_CALL_RETURNED,
    TH_CALL_RAISED, /* an exception of class error; *RESULT is the reason */
    TH_CALL_THREW,  /* of class throw */
    TH_CALL_EXITED, /* of class exit */
    TH_CALL_ENDED   /* a signal has ended the process, now or before; the reason of its end */
};

/*
 * Has PROCESS call CALLEE, which must stay until this returns, with as many terms of ARGV as it has
 * arguments, and waits until it has returned for good, and the destructors of what it let go of
 * have run. *RESULT is copied into ENV, by another thread.
 *
 * What a function said last counts, as in a BEAM: of an exception and a continuation the later; an
 * exception more than a term that is returned as well, and a term more than a continuation. One
 * that returns neither, and 0, which a BEAM does not survive, has raised badarg (`undefined` is
 * returned while the checker is on). What is still to go on when the program ends
 * (th_library_halting()) does not run: the call raises `halting`.
 */
enum th_call_end th_runtime_run_call(struct th_process *process, const struct th_callee *callee,
                                     const th_term argv[], th_env *env, th_term *result);

/* The same, an external call: of what ENTRY reaches when the process comes to it. Raises `undef` if
 * that is nothing. *RAISED, unless RAISED is NULL, is the exception that was raised, with terms of
 * ENV. */
struct th_exception_raised;
enum th_call_end th_runtime_run_call_export(struct th_process *process,
                                            const struct th_export *entry, const th_term argv[],
                                            th_env *env, th_term *result,
                                            struct th_exception_raised *raised);

/* --- Functions that run ----------------------------------------------------------------------- */

enum th_raised { TH_RAISED_NOTHING, TH_RAISED_ERROR, TH_RAISED_EXIT, TH_RAISED_THROW };

/* STACK is a list of {Module, Function, Arity or arguments, Location}; until somebody looks at it
 * it may have something else for the locations (th_runtime_call_stack()). */
struct th_exception_raised {
    enum th_raised class;
    bool lines_due;
    th_term reason, stack;
};

/*
 * The call that the thread is in, NULL outside of one. A function of a library that is called by
 * runtime/ has a call; its environment is `env`.
 */
struct th_call {
    struct th_process *process;
    const struct th_callee *callee; /* what was called first */
    const char *function; /* what runs, "open": the callee's, or what enif_schedule_nif() named */
    int argc;
    const th_term *argv; /* of what runs */
    th_env *env;
    struct th_call *outer; /* the function that th_call() was called in, or NULL */
    size_t frames;         /* of the process that were there when OUTER called */
    const void *code;      /* what runs */
    uintptr_t sp;          /* the stack pointer with which it was called */
    /* Where in the function its exception was raised, and where it made the nested call that it is
     * in: return addresses, 0 or the host's own where that is not known. */
    uintptr_t raised_at, calls_at;
    /* What runs, if it does so in the place of a function that was called before: when it is met as
     * a function that has a breakpoint, that is no call. NULL from then on. */
    const void *resumed;
    struct th_exception_raised passed; /* by what it called, until it is taken */
    bool goes_on;                      /* it is a continuation: ARGV are not its arguments */
};

/* The call that ENV belongs to, NULL if it is another than that the thread is in. */
static inline struct th_call *th_runtime_call_of(const th_env *env)
{
    struct th_call *call = th_self.call;

    return call && call->env == env ? call : NULL;
}

/*
 * For enif_schedule_nif(): what is to run when the function of ENV's call returns what this
 * returns, TH_NONE. FUNCTION, its name, and ARGV are copied. Raises badarg for what cannot be: a
 * name that is no atom, FLAGS that are other than 0 or dirty jobs (both count as IO), more than 255
 * arguments; and, where a BEAM crashes, fewer than 0, or an ENV that is not that of the thread's
 * call. In a nested call, FLAGS for another thread than this raise `nested_dirty`.
 */
th_term th_runtime_call_schedule(th_env *env, const char *function, int flags,
                                 ERL_NIF_TERM (*code)(ErlNifEnv *, int, const ERL_NIF_TERM[]),
                                 int argc, const th_term argv[]);

/*
 * For enif_consume_timeslice(): uses up PERCENT (1 to 100, others count as the nearer) of the turn,
 * which is 4000 reductions; each function costs one. True if it is used up: then what is scheduled
 * waits for the other processes. False, and nothing happens, on dirty threads, and where ENV is not
 * that of the thread's call.
 */
bool th_runtime_call_consume(th_env *env, int percent);

/* For enif_is_current_process_alive(). False for a dirty function whose process is to end, also
 * before the function has returned and others see the end. */
bool th_runtime_call_process_alive(const th_env *env);

/* For the functions of nif_module.h that have such names, with the contracts that these have in
 * nif_module.h. AT: the return address of who calls. */
th_term th_runtime_call_nested(th_env *env, th_term module, th_term function, int argc,
                               const th_term argv[], const void *at);
th_term th_runtime_call_nested_entry(th_env *env, const struct th_export *entry,
                                     const th_term argv[], const void *at);
bool th_runtime_call_catch(th_env *env, struct th_exception_raised *exception);
th_term th_runtime_call_stack(th_env *env, const struct th_exception_raised *exception);
th_term th_runtime_call_pass(th_env *env,
                             const struct th_exception_raised *exception); /* th_raise() */
th_term th_runtime_call_tail(th_env *env, th_term module, th_term function, int argc,
                             const th_term argv[]);

/* What goes on in a function's place, with terms that it keeps. */
struct th_call_then {
    ERL_NIF_TERM (*code)(ErlNifEnv *, int, const ERL_NIF_TERM[]);
    int kept;
    const th_term *terms;
    bool catches;
};
th_term th_runtime_call_and_then(th_env *env, th_term module, th_term function, int argc,
                                 const th_term argv[], const struct th_call_then *then);
th_term th_runtime_call_await(th_env *env, const struct th_call_then *then, int64_t milliseconds);
th_term th_runtime_call_skip(th_env *env);

/* OPERATION, of which this takes the share, is submitted when the function has returned; then goes
 * on with its result. */
th_term th_runtime_call_file(th_env *env, struct th_file_operation *operation,
                             const struct th_call_then *then);

/* What is known of the operation whose result the process got last. `command` is 0 at first. */
struct th_file_last {
    enum th_file_command command;
    int thread, tag, error;
};
struct th_file_last th_runtime_call_last_file(const struct th_call *call);

/* What processes ask of code/; WHAT is a list of paths, or the name of a module. It is done when
 * the function has returned; then goes on with what became of it. */
enum th_code_command { TH_CODE_LOAD, TH_CODE_PURGE, TH_CODE_DELETE };
struct th_code_request {
    enum th_code_command command;
    th_term what, info;
    enum th_purge purge;
};
th_term th_runtime_call_code(th_env *env, const struct th_code_request *request,
                             const struct th_call_then *then);

/* Raises REASON in ENV; TH_NONE. */
th_term th_runtime_call_raise(th_env *env, enum th_raised class, th_term reason);

/* The same by a function that code of a library has called from AT, a return address. */
static inline th_term th_runtime_call_raise_at(th_env *env, enum th_raised class, th_term reason,
                                               const void *at)
{
    struct th_call *call = th_runtime_call_of(env);

    th_runtime_call_raise(env, class, reason);
    if (call)
        call->raised_at = (uintptr_t)at;
    return TH_NONE;
}

/* What is pending in ENV: raised by the function itself, or passed by what it called. */
bool th_runtime_call_pending(const th_env *env, th_term *reason);

/* --- What a process that runs does to others -------------------------------------------------- */

enum { TH_PROCESS_LINK = 1, TH_PROCESS_MONITOR = 2 };

/* CALL is of the process that does it. The contracts are those of nif_module.h. */
/* TH_NONE: there are as many as may be. */
th_term th_runtime_process_spawn(struct th_call *call, th_term module, th_term function, int argc,
                                 const th_term argv[], int options, th_term *monitor);
bool th_runtime_process_link(struct th_call *call, th_term pid);
void th_runtime_process_unlink(struct th_call *call, th_term pid);
th_term th_runtime_process_monitor(struct th_call *call, th_term pid);
bool th_runtime_process_demonitor(struct th_call *call, th_term monitor, bool flush);
void th_runtime_process_exit_signal(struct th_call *call, th_term pid, th_term reason);
bool th_runtime_process_trap_exit(struct th_call *call, bool traps);

/* Sends MESSAGE to PID, by the process that runs with ENV, if there is one: with its sequential
 * token. Else as th_process_send(). */
bool th_runtime_process_send(th_env *env, th_term pid, th_term message);

/* Sequential tokens; TH_NONE where nif_module.h says badarg. */
th_term th_runtime_seq_set(struct th_process *process, th_env *env, th_term component,
                           th_term value);
th_term th_runtime_seq_get(struct th_call *call, th_term component);
void th_runtime_seq_reset(struct th_call *call);
bool th_runtime_seq_print_label(struct th_call *call, th_term label, th_term info);

/* User tags; see nif_module.h. ITEM is a binary or `undefined`, STATE what th_runtime_tag_spread()
 * has returned; TH_NONE, or false, for what is none. */
th_term th_runtime_tag_put(struct th_call *call, th_term item);
th_term th_runtime_tag_get(struct th_call *call);
th_term th_runtime_tag_get_data(struct th_call *call);
th_term th_runtime_tag_spread(struct th_call *call, bool spreads);
bool th_runtime_tag_restore(struct th_call *call, th_term state);

/* --- Heaps ------------------------------------------------------------------------------------ */

/* What a collection tells of a heap: in words, by the names that gc_* trace events have. What is
 * not among them does not exist here, and is 0: an old heap, a virtual heap with bounds. */
struct th_heap_sizes {
    size_t heap_block_size; /* that the heap has room for */
    size_t heap_size;       /* in use */
    size_t mbuf_size;       /* of messages that were received and not collected yet */
    size_t stack_size;      /* of what continuations keep */
    size_t recent_size;     /* that survived the last collection */
    size_t bin_vheap_size;  /* of binaries outside of the heap */
};
struct th_heap_sizes th_runtime_heap_sizes(const struct th_process *process);

/* --- Who there is ----------------------------------------------------------------------------- */

/* What a process does. */
enum th_process_doing {
    TH_PROCESS_QUEUED,  /* it can run, and waits for a scheduler or a dirty thread */
    TH_PROCESS_RUNNING, /* one runs it */
    TH_PROCESS_WAITING  /* for a message, for a time, or to be told what to do */
};

/*
 * A process as it was seen. Nobody is stopped for that: what it is doing now, `function` and
 * `messages` are of this moment, each by itself; the rest is of the end of its last turn.
 */
struct th_process_seen {
    th_term pid;
    th_term name; /* TH_NONE: it has none */
    enum th_process_doing doing;
    /* "module:function/arity" that the runtime has called, which nested calls are made by, or that
     * has gone on to wait; NULL: none. As long as no library is released. */
    const char *function;
    /* Whose code it is in, serials of instances, 0: nobody's: by FUNCTION, if that is not over; by
     * functions that wait for it, the oldest. */
    uint64_t code, kept;
    uint64_t messages;   /* signals that are on their way included */
    uint64_t reductions; /* since its start */
    uint64_t words;      /* of its heap, in use */
    uint64_t links;
    bool driven; /* by a thread outside of the runtime */
};

/* All processes, in no order; the array is the caller's to free. Any thread. */
size_t th_runtime_list(struct th_process_seen **processes);

#endif
