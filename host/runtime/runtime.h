/*
 * The face of runtime/: threads that run functions of libraries on behalf of processes.
 *
 *   th_runtime_start(&setup);
 *   process = th_runtime_run_start();                                 a driven process
 *   end = th_runtime_run_call(process, &callee, argv, env, &result);  waits; a scheduler runs it
 *   th_runtime_run_exit(process, TH_AM(normal));
 *   th_runtime_stop();
 *
 * A program has at most one runtime. A scheduler thread takes a runnable process from its run
 * queue, calls one function of the process, and acts on the function's answer: the call is over, or
 * it continues with another function, on this thread, on a dirty thread, or when a message has
 * arrived. A process runs on one thread at a time and owns no stack: between two functions a
 * process consists of its continuation and of terms in its own environment.
 *
 * Functions that run can spawn processes, link with them, monitor them and send messages: the
 * second half of this file has the functions for these requests.
 *
 * The poll thread (select.h) waits for file descriptors. A scheduler runs the destructors of
 * resources that other threads have released.
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
    unsigned schedulers; /* 0 means one for each processor */
    unsigned dirty_cpu;  /* 0 means as many as schedulers */
    unsigned dirty_io;   /* 0 means ten, as in a BEAM */
    unsigned async;      /* threads for file operations; 0 means ten, as in a BEAM */
    size_t processes;    /* limit of processes, for spawns; 0 means 1,048,576, as in a BEAM */
    /* Traces events of processes; NULL means no tracing. Shared (th_trace_share()); must stay valid
     * until th_runtime_stop(). */
    struct th_tracing *tracing;
    /* The most open calls of a process (calls with return requests); 0 means a million. Beyond the
     * limit the oldest open call is dropped (th_runtime_calls_not_kept()). */
    size_t open_calls;
};

/* Starts the schedulers and the pool for file operations; dirty threads start when they are needed.
 * From then on, reports of crash/ name a "library" instead of a "tracer".
 * Order: before libraries are loaded.
 * Errors: none; the host gives up if the first scheduler cannot be started. */
void th_runtime_start(const struct th_runtime_setup *setup);

/* Ends the threads and the poll thread. The runtime can be started again.
 * Order: after all processes have exited. */
void th_runtime_stop(void);

/* Sends exit signals with reason `kill` to all processes but driven ones, and to processes that are
 * spawned meanwhile, until only driven processes are left. Waits until running functions have
 * returned, and until requested file operations and changes of code are carried out.
 * Order: before libraries are released. */
void th_runtime_kill_all(void);

/* Calls EACH for the work that each thread of the runtime does now: "module:function/arity", "file
 * operation NAME" or "changes of code".
 * Thread: any, while no module is removed. */
void th_runtime_each_running(void (*each)(void *context, const char *function), void *context);

/* Returns the number of processes.
 * Thread: any. */
size_t th_runtime_processes(void);

/* Returns the number of open calls that were dropped since the start because a process had too
 * many, or because there was no room for a native frame. No tracer gets the return of such a call.
 * Thread: any. */
uint64_t th_runtime_calls_not_kept(void);

/* th_runtime_calls_left(): returns the number of open calls that were dropped since the start
 * because longjmp() had left their native frames. th_runtime_no_calls(): returns how often C code
 * called a traced function with an argument count for which the library's table has no function; no
 * tracer gets such a call.
 * Thread: any. */
uint64_t th_runtime_calls_left(void);
uint64_t th_runtime_no_calls(void);

/* Sets whether the end of a process by an error is reported on stderr. Default: true. */
void th_runtime_set_reports(bool reports);

/* Returns the numbers of threads. While the runtime is not started: one scheduler (the thread that
 * replays) and one dirty thread of each kind. The variable is written by th_runtime_start() before
 * there are threads, and by th_runtime_stop() after they have ended. */
extern struct th_runtime_setup th_runtime_current;
static inline struct th_runtime_setup th_runtime_threads(void)
{
    return th_runtime_current;
}

/* --- Threads ---------------------------------------------------------------------------------- */

/* A thread of the runtime (th_self.scheduler), as enif_thread_type() and enif_scheduler_id() report
 * it. */
struct th_scheduler {
    int type;        /* ERL_NIF_THR_NORMAL_SCHEDULER... */
    unsigned number; /* from 1; dirty threads come after the schedulers */
};

/* --- Driven processes ------------------------------------------------------------------------- */

/*
 * A driven process makes the calls that a thread outside of the runtime requests, and waits between
 * these calls. A driven process lives until th_runtime_run_exit(), or until a signal ends the
 * process; then each later call returns TH_CALL_ENDED.
 * Thread: one driving thread at a time, which is no scheduler. A scheduler runs the calls.
 */
struct th_process;
struct th_process *th_runtime_run_start(void);
th_term th_runtime_run_pid(const struct th_process *process);

/* Gives the next call a whole time slice. Calls without th_runtime_run_yield() between them share
 * one time slice until they have used it up (enif_consume_timeslice()), as calls of one function do
 * in a BEAM. */
void th_runtime_run_yield(struct th_process *process);

/* Sends an exit signal with reason `kill`. A call that is open ends with TH_CALL_ENDED as soon as
 * the running function has returned.
 * Thread: any, before th_runtime_run_exit(). */
void th_runtime_run_kill(const struct th_process *process);

/* Ends PROCESS with REASON, if the process still lives, and frees PROCESS. */
void th_runtime_run_exit(struct th_process *process, th_term reason);

/* Waits at most NANOSECONDS for a message (0: not at all; below 0: for ever) and returns the
 * message; NULL if none came or the process has ended.
 * Owner: the caller frees the message with th_process_message_free(). */
struct th_message *th_runtime_run_receive(struct th_process *process, int64_t nanoseconds);

enum th_call_end {
    TH_CALL_RETURNED,
    TH_CALL_RAISED, /* exception of class error; here and below, *RESULT is the reason */
    TH_CALL_THREW,  /* exception of class throw */
    TH_CALL_EXITED, /* exception of class exit */
    TH_CALL_ENDED   /* a signal has ended the process, now or before; *RESULT is the exit reason */
};

/*
 * Makes PROCESS call CALLEE with the first ARITY terms of ARGV. Waits until the call is over and
 * until the destructors of resources that the call released have run.
 *
 * If a function gives several answers, one counts, as in a BEAM. An exception counts more than a
 * returned term, and a returned term more than a continuation; of an exception and a continuation
 * alone, the later one counts. If a function returns 0 without an exception or a continuation, which
 * crashes a BEAM, the call raises badarg; while the checker is on, the call returns `undefined`. A
 * continuation that is due when the program ends (th_library_halting()) does not run: the call
 * raises `halting`.
 *
 * Owner: CALLEE must stay valid until the return. *RESULT is a copy in ENV, made by another thread.
 */
enum th_call_end th_runtime_run_call(struct th_process *process, const struct th_callee *callee,
                                     const th_term argv[], th_env *env, th_term *result);

/* Like th_runtime_run_call(), but makes an external call of ENTRY: the process calls the code that
 * ENTRY reaches when the scheduler makes the call. If RAISED is not NULL, *RAISED becomes the
 * exception that was raised, with terms in ENV.
 * Errors: the call raises `undef` if ENTRY reaches no code. */
struct th_exception_raised;
enum th_call_end th_runtime_run_call_export(struct th_process *process,
                                            const struct th_export *entry, const th_term argv[],
                                            th_env *env, th_term *result,
                                            struct th_exception_raised *raised);

/* --- Functions that run ----------------------------------------------------------------------- */

enum th_raised { TH_RAISED_NOTHING, TH_RAISED_ERROR, TH_RAISED_EXIT, TH_RAISED_THROW };

/* An exception. STACK is a list of {Module, Function, Arity or arguments, Location}. While
 * LINES_DUE, a Location can be a code address; th_runtime_call_stack() replaces these addresses. */
struct th_exception_raised {
    enum th_raised class;
    bool lines_due;
    th_term reason, stack;
};

/*
 * The call that a thread is in (th_self.call); NULL outside of calls. Each function of a library
 * that runtime/ calls has one, and runs with `env`.
 */
struct th_call {
    struct th_process *process;
    const struct th_callee *callee; /* the function that was called first */
    const char *function;           /* callee's name, or that given to enif_schedule_nif() */
    int argc;
    const th_term *argv; /* arguments of the running function */
    th_env *env;
    struct th_call *outer; /* the call that made this nested call; NULL at depth 0 */
    size_t frames;         /* number of kept frames of the process when OUTER called */
    const void *code;      /* start of the running code */
    uintptr_t sp;          /* stack pointer with which CODE was called */
    /* Return addresses in the function: of the host function that raised the exception, and of the
     * nested call that the function is in. 0 or an address in the host: not known. */
    uintptr_t raised_at, calls_at;
    /* CODE, if CODE continues in the place of a function that was called before: then a breakpoint
     * at the entry of CODE delivers no call. NULL after the first hit. */
    const void *resumed;
    struct th_exception_raised passed; /* exception of a callee, until the function catches it */
    bool goes_on;                      /* CODE is a continuation; ARGV are not the arguments */
};

/* Returns the call of the thread if ENV belongs to it, else NULL. */
static inline struct th_call *th_runtime_call_of(const th_env *env)
{
    struct th_call *call = th_self.call;

    return call && call->env == env ? call : NULL;
}

/*
 * Implements enif_schedule_nif(): CODE runs when the function of ENV's call returns TH_NONE, the
 * result of th_runtime_call_schedule().
 * Owner: FUNCTION, a name, and ARGV are copied.
 * Errors: raises badarg if FUNCTION cannot be an atom, if FLAGS are others than 0 or the dirty
 *   kinds (both together count as IO), or if ARGC is above 255; also, where a BEAM crashes, if ARGC
 *   is below 0 or ENV is not of the thread's call. In a nested call, dirty FLAGS of another type
 *   than the thread's raise `nested_dirty`.
 */
th_term th_runtime_call_schedule(th_env *env, const char *function, int flags,
                                 ERL_NIF_TERM (*code)(ErlNifEnv *, int, const ERL_NIF_TERM[]),
                                 int argc, const th_term argv[]);

/*
 * Implements enif_consume_timeslice(): uses up PERCENT (1 to 100; others count as the nearest) of
 * the turn of 4000 reductions, of which each function costs one. Returns true if the turn is used
 * up: a scheduled function then waits for other processes. On dirty threads, or if ENV is not of
 * the thread's call, returns false and changes nothing.
 */
bool th_runtime_call_consume(th_env *env, int percent);

/* Implements enif_is_current_process_alive(). For a function on a dirty thread, returns false as
 * soon as a signal has arrived that will end the process, before other processes see the end. */
bool th_runtime_call_process_alive(const th_env *env);

/* Implement the functions of nif_module.h with these names; nif_module.h has the contracts. AT is
 * the return address in the caller's code. */
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

/* A continuation in a function's place, with terms that it keeps. */
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

/* Requests OPERATION. The process submits OPERATION when the function has returned, and continues
 * with THEN and the result.
 * Owner: takes over the caller's reference to OPERATION. */
th_term th_runtime_call_file(th_env *env, struct th_file_operation *operation,
                             const struct th_call_then *then);

/* The file operation whose result the process got last. `command` is 0 before the first
 * operation. */
struct th_file_last {
    enum th_file_command command;
    int thread, tag, error;
};
struct th_file_last th_runtime_call_last_file(const struct th_call *call);

/* A request to code/. th_runtime_call_code(): when the function has returned, the process makes the
 * request, and continues with THEN and the outcome. `what` is a list of paths (TH_CODE_LOAD) or the
 * name of a module; `info` is the argument of load() (TH_CODE_LOAD).
 * Errors: raises `badarg` or `nested_await`, as in nif_module.h ("Loading code"). */
enum th_code_command { TH_CODE_LOAD, TH_CODE_PURGE, TH_CODE_DELETE };
struct th_code_request {
    enum th_code_command command;
    th_term what, info;
    enum th_purge purge;
};
th_term th_runtime_call_code(th_env *env, const struct th_code_request *request,
                             const struct th_call_then *then);

/* Raises REASON in ENV and returns TH_NONE. */
th_term th_runtime_call_raise(th_env *env, enum th_raised class, th_term reason);

/* Raises REASON like th_runtime_call_raise(), in a host function that a library's code called; AT
 * is the return address. */
static inline th_term th_runtime_call_raise_at(th_env *env, enum th_raised class, th_term reason,
                                               const void *at)
{
    struct th_call *call = th_runtime_call_of(env);

    th_runtime_call_raise(env, class, reason);
    if (call)
        call->raised_at = (uintptr_t)at;
    return TH_NONE;
}

/* Returns whether an exception is pending in ENV, raised by the function itself or passed by a
 * callee. *REASON becomes its reason. */
static inline bool th_runtime_call_pending(const th_env *env, th_term *reason)
{
    const struct th_call *call;

    if (env->exception != TH_NONE) {
        *reason = env->exception;
        return true;
    }
    call = th_runtime_call_of(env);
    if (!call || !call->passed.class)
        return false;
    *reason = call->passed.reason;
    return true;
}

/* --- Requests of a running process to others -------------------------------------------------- */

enum { TH_PROCESS_LINK = 1, TH_PROCESS_MONITOR = 2 };

/* nif_module.h has the contracts. CALL is a call of the requesting process. */
/* Returns the pid of the child, or TH_NONE if the limit of processes is reached or the parent has
 * ended while its function runs on a dirty thread. */
th_term th_runtime_process_spawn(struct th_call *call, th_term module, th_term function, int argc,
                                 const th_term argv[], int options, th_term *monitor);
bool th_runtime_process_link(struct th_call *call, th_term pid);
void th_runtime_process_unlink(struct th_call *call, th_term pid);
th_term th_runtime_process_monitor(struct th_call *call, th_term pid);
bool th_runtime_process_demonitor(struct th_call *call, th_term monitor, bool flush);
void th_runtime_process_exit_signal(struct th_call *call, th_term pid, th_term reason);
bool th_runtime_process_trap_exit(struct th_call *call, bool traps);

/* Sends MESSAGE to PID. If ENV is of the thread's call, its process is the sender, and the message
 * carries the process' sequential token; otherwise this is th_process_send(). */
bool th_runtime_process_send(th_env *env, th_term pid, th_term message);

/* Implement sequential tokens; TH_NONE in the cases for which nif_module.h has badarg. */
th_term th_runtime_seq_set(struct th_process *process, th_env *env, th_term component,
                           th_term value);
th_term th_runtime_seq_get(struct th_call *call, th_term component);
void th_runtime_seq_reset(struct th_call *call);
bool th_runtime_seq_print_label(struct th_call *call, th_term label, th_term info);

/* Implement user tags (nif_module.h). ITEM is a binary or `undefined`, STATE a result of
 * th_runtime_tag_spread(). An invalid ITEM or STATE results in TH_NONE or false. */
th_term th_runtime_tag_put(struct th_call *call, th_term item);
th_term th_runtime_tag_get(struct th_call *call);
th_term th_runtime_tag_get_data(struct th_call *call);
th_term th_runtime_tag_spread(struct th_call *call, bool spreads);
bool th_runtime_tag_restore(struct th_call *call, th_term state);

/* --- Heaps ------------------------------------------------------------------------------------ */

/* Sizes of a heap in words, by the names of gc_* trace events. Items without a field (an old heap,
 * bounds of a virtual heap) do not exist in this host and are reported as 0. */
struct th_heap_sizes {
    size_t heap_block_size; /* room of the heap */
    size_t heap_size;       /* words in use */
    size_t mbuf_size;       /* received messages that were not collected yet */
    size_t stack_size;      /* terms that continuations keep */
    size_t recent_size;     /* words that survived the last collection */
    size_t bin_vheap_size;  /* binaries outside of the heap */
};
struct th_heap_sizes th_runtime_heap_sizes(const struct th_process *process);

/* --- List of processes ------------------------------------------------------------------------ */

/* State of a process. */
enum th_process_doing {
    TH_PROCESS_QUEUED,  /* runnable, waits for a scheduler or a dirty thread */
    TH_PROCESS_RUNNING, /* a thread runs it */
    TH_PROCESS_WAITING  /* waits for a message, a timeout or a request */
};

/*
 * A snapshot of a process, taken while the process goes on. `doing`, `function`, `code`, `messages`
 * and `name` are current, each by itself; the other fields are from the end of the process' last
 * turn.
 */
struct th_process_seen {
    th_term pid;
    th_term name; /* TH_NONE if it has no name */
    enum th_process_doing doing;
    /* "module:function/arity" that the runtime called last at depth 0, running or waiting; NULL:
     * none. Valid as long as no library is released. */
    const char *function;
    /* Serials of instances, 0: none. `code`: the instance of FUNCTION, while the function runs or
     * waits. `kept`: the oldest instance in which a kept frame's function is; only the four
     * outermost frames are looked at. */
    uint64_t code, kept;
    uint64_t messages;   /* messages in mailbox and inbox, signals included */
    uint64_t reductions; /* reductions since the start */
    uint64_t words;      /* words of the heap in use */
    uint64_t links;
    bool driven; /* driven by a thread outside of the runtime */
};

/* Lists all processes in *PROCESSES, in no order, and returns their number.
 * Owner: the caller frees the array.
 * Thread: any. */
size_t th_runtime_list(struct th_process_seen **processes);

#endif
