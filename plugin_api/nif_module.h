/*
 * What a plugin or a tracer may ask of tracehost beyond the NIF API.
 *
 *   #include <nif_module.h>
 *
 *   static ERL_NIF_TERM trace_call(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
 *   {
 *       ...
 *       if (seen_enough && th_host_present())
 *           th_disarm(env);
 *       return enif_make_atom(env, "ok");
 *   }
 *
 * All functions are weak symbols: where the library is loaded into a BEAM, or into a host that is
 * older than a function, that function's address is NULL, and it must not be called. So one .so
 * serves both; compile it with `pkg-config --cflags tracehost-plugin` and link it with nothing.
 *
 * Long because: everything that this host offers to libraries is to be found in one place.
 */
#ifndef TH_NIF_MODULE_H
#define TH_NIF_MODULE_H

#ifndef __ERL_NIF_H__
#include <erl_nif.h> /* ours or OTP's */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- Versions ----------------------------------------------------------------------------------
 */

/*
 * This header's version. It grows by one with each release that adds functions; functions are never
 * changed or removed.
 *
 *   1  tracehost 0.1: every function below that has no "Since:" line
 *   2  th_host_version()
 *
 * th_host_present(), at the end of the functions, has the ways to check what a host offers.
 */
#define TH_MODULE_VERSION 2

/* The declaration of a function of the host: a weak symbol, NULL where the host lacks the function.
 * The table of the functions, module_functions.h, is made from the declarations. */
#define TH_MODULE_API extern __attribute__((weak, visibility("default")))

/* Not 0 if the host has the function NAME. */
#define TH_HAS(name) ((name) != NULL)

/*
 * Parameters that take flags of one family. In C the parameter has the family's type, so that
 * compilers warn about a flag of another family (-Wenum-conversion, part of gcc's -Wextra). In C++,
 * where 0 and a set of flags do not convert to an enumeration, the parameter is an int.
 */
#ifdef __cplusplus
#define TH_FLAGS_OF(family) int
#else
#define TH_FLAGS_OF(family) family
#endif

/**
 * @defgroup module_version The host's version
 * On failure: the function is NULL in hosts of version 1, and in a BEAM.
 * @{
 */

/** Returns the TH_MODULE_VERSION that the host implements: of two numbers the host's can be the
 * larger or the smaller one.
 * Thread: any, at any time.
 * Since: 2; see th_host_present(). */
TH_MODULE_API int th_host_version(void);

/** @} */

/* --- Types and flags ---------------------------------------------------------------------------
 */

/* The flags of one family are distinct from all others by their type; the numbers of different
 * families overlap. Older names of a flag stand behind the name that has the family in it. */

/* Facts about a call: th_call_fact(). */
typedef enum {
    TH_CALL_EXTERNAL = 1, /* an external call, so that global breakpoints meet it */
    TH_CALL_TAIL = 2      /* a tail call; only recordings have this fact */
} ThCallFact;

/* A set: th_call_then(). */
typedef enum {
    TH_THEN_CATCHES = 1, /* an exception of the callee does not pass by THEN */
    TH_CATCHES = TH_THEN_CATCHES
} ThThenFlags;

/* A set: th_load_code(), th_purge_code(), th_delete_code(). */
typedef enum {
    TH_CODE_HARD = 1, /* processes in old code that is in the way are killed */
    TH_HARD = TH_CODE_HARD
} ThCodeFlags;

/* A set: th_spawn(). */
typedef enum { TH_SPAWN_LINK = 1, TH_SPAWN_MONITOR = 2 } ThSpawnFlags;

/* A set: th_demonitor(). */
typedef enum {
    TH_DEMONITOR_FLUSH = 1, /* the message is taken out of the mailbox */
    TH_FLUSH = TH_DEMONITOR_FLUSH
} ThDemonitorFlags;

/* A set: the result of th_user_trace_enabled(). */
typedef enum { TH_USER_TRACE_S1 = 1, TH_USER_TRACE_I4S4 = 2 } ThUserTraceProbes;

/* A timeout: th_await() waits without end. */
enum { TH_INFINITY = -1 };

/* A set: th_file_open(). The probes show these numbers. */
typedef enum {
    TH_OPEN_READ = 1,
    TH_OPEN_WRITE = 2, /* the file is made if it is not there; see th_file_open() */
    TH_OPEN_APPEND = 4,
    TH_OPEN_EXCLUSIVE = 16, /* {error, eexist} if the file is there */
    TH_OPEN_KEEP = 32,      /* the file is not cut to nothing */
    TH_OPEN_SYNC = 64
} ThOpenFlags;

/* One option: th_file_setopt(). */
typedef enum {
    TH_SETOPT_DELAYED_WRITE = 0,
    TH_DELAYED_WRITE = TH_SETOPT_DELAYED_WRITE,
    TH_SETOPT_READ_AHEAD = 1,
    TH_READ_AHEAD = TH_SETOPT_READ_AHEAD
} ThFileOption;

/* An export entry: see th_export_entry(). Only the host looks inside. */
typedef struct th_export ThExport;

/* A function that goes on in another one's place: as those of a library's table, with any number of
 * arguments. */
typedef ERL_NIF_TERM ThContinuation(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

/* An operation on a file: th_file_last(). The command is a number of OTP's guide to the probes, as
 * 12 for th_file_rename(). */
typedef struct {
    int command;
    int thread, tag; /* together, the operation's name */
    int error;       /* errno, 0 if the operation succeeded */
} ThFileLast;

/* --- Functions ---------------------------------------------------------------------------------
 */

/*
 * What erl_nif.h says of environments, success and threads holds here as well. KEPT and TERMS,
 * which many functions have, are terms that the host keeps for the continuation THEN: KEPT of them
 * (at most 254), which THEN gets as its last arguments.
 */

/**
 * @defgroup module_tracing For tracers
 * ENV is the callback's, unless a function says otherwise. Facts about an event that a callback
 * reports, and that Opts does not carry, are those of now for a live event; for a recorded event
 * they are as complete as the recording.
 *
 * On failure: 0, or -1 of th_call_fact().
 * @{
 */

/** Pauses the breakpoint of the function that is called, for this session and this kind of
 * breakpoint (tracing or meta), until a pattern is set or restarted there: the tracer has seen
 * enough of the function, whose calls then cost the tracer nothing. Returns 1 if this will be done.
 * Order: in a callback about a call only, one that asks whether the call is to be traced
 * (`enabled_call`, or `enabled` with the tag `call`) or one that reports it (`trace_call`, or
 * `trace` with the tag `call`). It takes effect soon, not at once: the requests of many callbacks
 * are done in one change, and calls before that still ask. The answer of an `enabled` callback
 * counts as ever for the call at hand, and the call's end is reported if a match specification
 * asked for it. Errors: 0, and nothing happens, if there is no breakpoint to pause: the callback is
 * about something else, such as a return, or the session takes calls as they were recorded, without
 * patterns. */
TH_MODULE_API int th_disarm(ErlNifEnv *env);

/** Lists the recorded streams that are replayed: a map for each stream that has begun, in their
 * order, the one at hand last.
 *
 *     name         a binary: the stream's name, as the user gave it
 *     records      records that were read of the stream so far, damaged ones included
 *     lost         events that the recorder reports as dropped
 *     gaps         places where an unknown number of events was lost
 *     damaged      records that were skipped because they are damaged, and places where the stream
 * is damaged or cut off interrupted  1 if reading was ended before the stream's end, as by Ctrl-C;
 * else 0
 *
 * The list is [] where nothing was replayed; events of the host itself are no stream.
 * Thread: any; ENV is any in which terms can be made. In callbacks, load() and unload(). */
TH_MODULE_API ERL_NIF_TERM th_recordings(ErlNifEnv *env);

/** Returns the length of the list of th_recordings(), in a few nanoseconds: a callback that asks
 * each time sees when another stream begins, with other processes and names. Thread: as of
 * th_recordings(). */
TH_MODULE_API int th_recordings_begun(ErlNifEnv *env);

/** Reports that the tracer cannot do its work. REASON is one line of UTF-8 that names the act that
 * failed and the cause: "cannot write calls.txt: No space left on device". The host shows it with
 * the tracer's name, once for each call of this function, and the command ends with status 1.
 *   - In the callback that asks whether the tracer can be attached (`enabled` with the tag
 *     `trace_status`), the tracer is not attached, whatever the callback answers, and REASON is the
 *     error.
 *   - In any other callback the session gets no more events; other sessions go on.
 *   - In load() and unload() it is shown, and counts.
 * Thread: that of the callback, of load() or of unload(), whose environment ENV is. */
TH_MODULE_API void th_tracer_failed(ErlNifEnv *env, const char *reason);

/** Returns 1 in a callback for `trace_status` while it is unknown whether the work for which the
 * tracer is attached can begin: another tracer may be refused, or the stream missing. So a tracer
 * that would replace a file checks that it can, and leaves the file as it is.
 * Order: as soon as all has begun, a tracer that called this function is asked for its
 * `trace_status` again, and then the answer is 0. If nothing begins, unload() follows without that.
 * 0 in all other callbacks. */
TH_MODULE_API int th_attach_pending(ErlNifEnv *env);

/** Gets the time at which the recording begins, by the clock of the callback's event: *ZERO is the
 * value of enif_monotonic_time(UNIT) in a callback for the first record that has a time by that
 * clock, whatever filters and patterns let through. There are three clocks: system time
 * (`timestamp` in Opts), CPU time (`cpu_timestamp`), and monotonic time, strict or not. Their times
 * cannot be compared, so each has a zero of its own. Streams that are replayed together are parts
 * of one recording, and the first of them has its zeros; where a connection goes on with another
 * node, all zeros but system time's begin anew. Errors: 0 if the event has no recorded time, so
 * that enif_monotonic_time() reads the host's clock, or UNIT is no unit. */
TH_MODULE_API int th_recording_zero(ErlNifEnv *env, ErlNifTimeUnit unit, ErlNifTime *zero);

/** Returns 1 or 0, whether FACT is so of the call that the callback reports.
 * Errors: -1 if that is unknown. */
TH_MODULE_API int th_call_fact(ErlNifEnv *env, TH_FLAGS_OF(ThCallFact) fact);

/** Lists the callers of the call that the callback reports, the nearest first, at most eight:
 * {Module, Function, Arity, Location}, as a stack trace has them. The list is [] for a process'
 * first function; it ends with `undefined` in place of [] if the next caller is unknown. The stack
 * is walked, which takes about a microsecond for each caller. Errors: 0 if nothing is known. */
TH_MODULE_API ERL_NIF_TERM th_call_callers(ErlNifEnv *env);

/** Gets the integer that stood beside the time of a recorded event with the time stamp
 * strict_monotonic. It is the same in all callbacks that one record causes.
 * Errors: 0 if there is none. */
TH_MODULE_API int th_recorded_unique(ErlNifEnv *env, ErlNifSInt64 *unique);

/** Writes TERM to TEXT as the host shows terms to people, in UTF-8: as io:format("~0p") in Erlang,
 * or, if the user's encoding is Unicode, "~0tp" in `erl +pc unicode`. At most SIZE bytes are
 * written, of which the last is a 0; the result is the bytes of the whole text, as of snprintf().
 * For text that does not depend on the user, use enif_snprintf("%T"). Thread: any. */
TH_MODULE_API size_t th_show_term(char *text, size_t size, ERL_NIF_TERM term);

/** Marks the file PATH, which the tracer has made, as of no use until it is complete (UNFINISHED
 * 1): if the program exits first, for want of memory, say, the host removes the file. UNFINISHED 0:
 * the tracer has completed, renamed or removed it. Returns 1. Thread: any. Errors: 0 if the program
 * exits already, so that nobody but the tracer removes the file. */
TH_MODULE_API int th_file_unfinished(const char *path, int unfinished);

/** @} */

/**
 * @defgroup module_calling Calling
 * An exception of a callee stays with ENV until it is taken (th_catch()): if the function returns
 * 0, the exception goes on to the function's caller; if the function returns a term, the exception
 * is dropped. A further th_call() replaces it. An exception that the function raises itself, with
 * enif_raise_exception() and the like, is another matter: it is raised whatever is returned, and
 * th_catch() does not see it. enif_is_exception() and enif_has_pending_exception() report both.
 *
 * th_tail_call(), th_call_then() and th_raise() request what is done when the function has returned
 * their result, which is 0, so that the thread's stack is not used meanwhile: `return
 * th_tail_call(...);`. As of enif_schedule_nif(), the last request counts. Any number of steps
 * takes constant space.
 *
 * On failure: `badarg` is raised if ENV is not that of a function that runs for a process, a name
 * is no atom, or there are more than 255 arguments.
 * @{
 */

/** Calls MODULE:FUNCTION with ARGC arguments, as code in another module does: a breakpoint may be
 * there, and the code that the call reaches is decided now. The call runs on this thread to its
 * end. A callee that yields (enif_schedule_nif()) goes on in place. Returns the result, a term of
 * ENV. Calls of functions of the same library, in C, are local calls. Errors: 0 is an exception of
 * the callee. A callee that must wait or leave the thread raises the error `nested_await` or
 * `nested_dirty`; a function that is missing `undef`; a call that would use up the thread's stack
 * `system_limit`. */
TH_MODULE_API ERL_NIF_TERM th_call(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function,
                                   int argc, const ERL_NIF_TERM argv[]);

/** Looks up MODULE:FUNCTION/ARITY once, for frequent calls, as a BEAM does when it loads code: the
 * entry holds the function that such a call reaches, now or later. There is one entry for each
 * name. Owner: the host; the entry is valid for ever, in any thread and any library, whether such a
 * function is loaded or not. It takes some 70 bytes until the program ends: ask for names that are
 * called, not for names that come from outside.
 * Thread: any, also in load() and outside of calls.
 * Errors: NULL if a name is no atom, or ARITY is below 0 or above 255. */
TH_MODULE_API const ThExport *th_export_entry(ERL_NIF_TERM module, ERL_NIF_TERM function,
                                              int arity);

/** Calls the function of ENTRY, with as many arguments as its arity, as th_call() does, and faster.
 * Errors: as of th_call(); a NULL ENTRY raises `badarg`. */
TH_MODULE_API ERL_NIF_TERM th_call_export(ErlNifEnv *env, const ThExport *entry,
                                          const ERL_NIF_TERM argv[]);

/** Takes the exception of a callee: 1, and its class (`error`, `exit`, `throw`), reason and stack
 * trace, where these are not NULL.
 * Errors: 0 if there is none. */
TH_MODULE_API int th_catch(ErlNifEnv *env, ERL_NIF_TERM *class_, ERL_NIF_TERM *reason,
                           ERL_NIF_TERM *stacktrace);

/** Goes on with an external call, whose result is the function's result. The call is made when the
 * function has returned, which then is no caller any more.
 * Order: `return th_tail_call(...);`. */
TH_MODULE_API ERL_NIF_TERM th_tail_call(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function,
                                        int argc, const ERL_NIF_TERM argv[]);

/** Makes an external call that is not nested: the callee may wait and go dirty. Then THEN goes on
 * in the function's place, its arguments the result and the KEPT terms. An exception passes by,
 * unless FLAGS have TH_THEN_CATCHES: then THEN is called with 0 in place of the result, and
 * th_catch() takes the exception, which else goes on when THEN returns 0. For tracing, the function
 * has not returned while it waits for THEN. Order: `return th_call_then(...);`. */
TH_MODULE_API ERL_NIF_TERM th_call_then(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function,
                                        int argc, const ERL_NIF_TERM argv[], ThContinuation *then,
                                        TH_FLAGS_OF(ThThenFlags) flags, int kept,
                                        const ERL_NIF_TERM terms[]);

/** Raises an exception as erlang:raise/3: one that th_catch() took goes on to the function's
 * caller, with the class, reason and stack trace given. As an exception of a callee, it is dropped
 * if the function returns a term after all. Order: `return th_raise(...);`. Errors: also `badarg`
 * for a CLASS_ that is none, and a STACKTRACE that is no list. */
TH_MODULE_API ERL_NIF_TERM th_raise(ErlNifEnv *env, ERL_NIF_TERM class_, ERL_NIF_TERM reason,
                                    ERL_NIF_TERM stacktrace);

/** Raises an exception of the class `throw`, as enif_raise_exception() does of the class `error`.
 */
TH_MODULE_API ERL_NIF_TERM th_throw(ErlNifEnv *env, ERL_NIF_TERM reason);

/** Raises an exception of the class `exit`. If nobody catches it, the process ends with REASON,
 * which is as good an end as any, and not reported. */
TH_MODULE_API ERL_NIF_TERM th_exit(ErlNifEnv *env, ERL_NIF_TERM reason);

/** @} */

/**
 * @defgroup module_waiting Waiting for messages
 * A process that waits takes no thread. In a nested call (th_call()) nobody can wait.
 *
 * On failure: `badarg` is raised if ENV is not that of a function that runs for a process.
 * @{
 */

/** Has THEN go on in the function's place with the oldest message in the mailbox, at once or when
 * one arrives; its arguments are the message and the KEPT terms. If MILLISECONDS pass before
 * (TH_INFINITY: never), THEN gets 0 in place of the message; with 0 milliseconds that is so if
 * there is no message now. The message is taken out of the mailbox when THEN returns, unless THEN
 * returns the result of th_skip(). The next th_await() begins with the oldest message again. Order:
 * `return th_await(...);`. Errors: in a nested call raises `nested_await`. */
TH_MODULE_API ERL_NIF_TERM th_await(ErlNifEnv *env, ThContinuation *then, long milliseconds,
                                    int kept, const ERL_NIF_TERM terms[]);

/** Leaves the message at hand in the mailbox: THEN is offered the next one, with the same kept
 * terms; the time goes on running. So a selective receive looks at each message once. Order:
 * `return th_skip(env);`, in the THEN of th_await(). Errors: raises `badarg` where no message is
 * offered. */
TH_MODULE_API ERL_NIF_TERM th_skip(ErlNifEnv *env);

/** @} */

/**
 * @defgroup module_code Loading code, while it runs
 * As erlang:prepare_loading/2 and finish_loading/1, for any number of modules, which become visible
 * at one instant, or not at all.
 *
 * `return th_load_code(...);` has THEN go on in the function's place when it is done; its arguments
 * are the result and the KEPT terms. As of th_await(), the last request counts: a request is not
 * done if the function returns another one. The process waits without a thread, its messages stay
 * in the mailbox, and a signal that ends it does. The request of a process that is killed before
 * its turn is not done.
 *
 * The function that has asked waits in the code that it is of; so do the functions that wait for
 * it. If that is old code, it is in use. Old code that a module has is purged before there is other
 * old code of the module. With TH_CODE_HARD among FLAGS the processes that are in old code are
 * killed first, the one that has asked among them; without, old code is not purged while a process
 * is in it.
 *
 * If a request fails, THEN gets {error, {Why, Texts}}, and all is as it was. TEXTS is a list of
 * binaries with details, the first cause last. WHY is
 *
 *   not_purged  a process is in the old code
 *   refused     a library was refused: by the host, because the file is missing or not a library
 * that the host takes, or by the library's own load(), th_upgrade_check() or upgrade() duplicate
 * two of PATHS are one module not_loaded  th_delete_code(): MODULE has no current code failed
 * anything else
 *
 * On failure: `badarg` is raised if ENV is not that of a function that runs for a process, PATHS is
 * no list of paths, MODULE no atom; `nested_await` in a nested call (th_call()), where nobody can
 * wait.
 * @{
 */

/** Loads the libraries of PATHS, a list of files: binaries of any bytes, or lists of characters,
 * which become UTF-8. THEN gets [{Module, Generation}], in the order of PATHS: 1 is the first that
 * was loaded of a module. A module that has current code is upgraded: its current code becomes old
 * code, in which processes go on. If the new code of a function has no room for local breakpoints
 * that are set, stderr says so. Thread: a dirty I/O thread opens a private copy of each file,
 * examines it, and calls constructors and nif_init(), in the order of the list; several processes
 * do so at once. The rest, load() and upgrade() with LOAD_INFO and then making all of it visible,
 * is done by one thread of the host, which is no scheduler, in the order in which processes have
 * come to it. */
TH_MODULE_API ERL_NIF_TERM th_load_code(ErlNifEnv *env, ERL_NIF_TERM paths, ERL_NIF_TERM load_info,
                                        TH_FLAGS_OF(ThCodeFlags) flags, ThContinuation *then,
                                        int kept, const ERL_NIF_TERM terms[]);

/** Removes the old code of MODULE, with its library. THEN gets `true`, or `false` if there was
 * none. */
TH_MODULE_API ERL_NIF_TERM th_purge_code(ErlNifEnv *env, ERL_NIF_TERM module,
                                         TH_FLAGS_OF(ThCodeFlags) flags, ThContinuation *then,
                                         int kept, const ERL_NIF_TERM terms[]);

/** Makes the current code of MODULE old code. THEN gets `true`. */
TH_MODULE_API ERL_NIF_TERM th_delete_code(ErlNifEnv *env, ERL_NIF_TERM module,
                                          TH_FLAGS_OF(ThCodeFlags) flags, ThContinuation *then,
                                          int kept, const ERL_NIF_TERM terms[]);

/** @} */

/**
 * @defgroup module_processes Processes
 * As Erlang's functions of these names, for the process that runs. Messages and signals of one
 * process to another arrive in the order in which they were sent. The receiver acts on signals when
 * the function that runs there has returned: a process that is killed never stops in the middle of
 * a function. On a dirty thread, a process that a signal ends is dead for all others at once, and
 * the function still runs to its end: its links, monitors, signals and messages then do nothing,
 * enif_send() returns 0, and th_spawn() raises `system_limit`.
 *
 * Sending, names and who is alive are the NIF API's: enif_send(), enif_whereis_pid(),
 * enif_is_process_alive().
 *
 * On failure: 0; `badarg` is raised if ENV is not that of a function that runs for a process.
 * @{
 */

/** Starts a process with a call of MODULE:FUNCTION. OPTIONS is a set of TH_SPAWN_LINK and
 * TH_SPAWN_MONITOR; *PID gets its pid and *MONITOR, if monitored, a reference (NULL: not wanted).
 * The process ends with `normal` when its function has returned; with the reason of an exit; with
 * {Reason, Stack} of an error, with {{nocatch, Term}, Stack} of a throw, which are both reported on
 * stderr. Errors: also raises `badarg` for names that are no atoms and more than 255 arguments;
 * `system_limit` if there are 1,048,576 processes. */
TH_MODULE_API int th_spawn(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function, int argc,
                           const ERL_NIF_TERM argv[], TH_FLAGS_OF(ThSpawnFlags) options,
                           ErlNifPid *pid, ERL_NIF_TERM *monitor);

/** Links the process that runs with PID; if PID is dead, an exit signal with the reason `noproc`
 * comes. Errors: 0, and nothing happens, for a pid of another node. */
TH_MODULE_API int th_link(ErlNifEnv *env, const ErlNifPid *pid);

/** Ends a link: signals that the link caused and that have not come yet do not come any more. */
TH_MODULE_API int th_unlink(ErlNifEnv *env, const ErlNifPid *pid);

/** Monitors PID, and returns a reference: one message {'DOWN', Reference, process, Pid, Reason}
 * will come, with the reason `noproc` if PID is dead already. */
TH_MODULE_API ERL_NIF_TERM th_monitor(ErlNifEnv *env, const ErlNifPid *pid);

/** Ends a monitor: its message does not come any more, but can be in the mailbox already; with
 * TH_DEMONITOR_FLUSH it is taken out, whatever the result.
 * Errors: 0 if the process has no such monitor (any more). */
TH_MODULE_API int th_demonitor(ErlNifEnv *env, ERL_NIF_TERM monitor,
                               TH_FLAGS_OF(ThDemonitorFlags) flags);

/** Sends an exit signal, as exit/2: TO ends with REASON, unless REASON is `normal` (and TO another
 * process), or TO traps exits and gets {'EXIT', From, Reason}; `kill` ends any process, with the
 * reason `killed`. Returns 1, also for a process that is dead, which gets nothing. */
TH_MODULE_API int th_exit_signal(ErlNifEnv *env, const ErlNifPid *to, ERL_NIF_TERM reason);

/** Sets whether the process that runs traps exits, and returns the setting before, 0 or 1. */
TH_MODULE_API int th_trap_exit(ErlNifEnv *env, int on);

/** Registers PID as NAME.
 * Errors: 0 where Erlang raises badarg: NAME is taken, or `undefined`; PID is not alive, or has a
 * name. */
TH_MODULE_API int th_register(ErlNifEnv *env, ERL_NIF_TERM name, const ErlNifPid *pid);

/** Takes the name NAME away.
 * Errors: 0 if nobody has it. */
TH_MODULE_API int th_unregister(ErlNifEnv *env, ERL_NIF_TERM name);

/** @} */

/**
 * @defgroup module_seq_tokens Sequential tokens, as of the module seq_trace
 * Messages of a process that has a token carry it, and a process that receives such a message has
 * the token then.
 *
 * On failure: 0; `badarg` is raised for a COMPONENT that is none, a VALUE that the component cannot
 * have, and if ENV is not that of a function that runs for a process.
 * @{
 */

/** Sets a component of the token, as seq_trace:set_token/2, with a new token if there was none, and
 * returns the value before. Components: `label`, any term; `serial`, {Previous, Current}; `send`,
 * 'receive', `print`, `timestamp`, `monotonic_timestamp`, `strict_monotonic_timestamp`, true or
 * false. */
TH_MODULE_API ERL_NIF_TERM th_seq_set_token(ErlNifEnv *env, ERL_NIF_TERM component,
                                            ERL_NIF_TERM value);

/** Makes {Component, Value} of the token, as seq_trace:get_token/1; [] without a token. */
TH_MODULE_API ERL_NIF_TERM th_seq_get_token(ErlNifEnv *env, ERL_NIF_TERM component);

/** Takes the token away, as seq_trace:set_token([]). */
TH_MODULE_API int th_seq_reset_token(ErlNifEnv *env);

/** Delivers INFO to tracers, as seq_trace:print/2; 1 if the process has a token with LABEL. */
TH_MODULE_API int th_seq_print(ErlNifEnv *env, ERL_NIF_TERM label, ERL_NIF_TERM info);

/** @} */

/**
 * @defgroup module_files Files
 * Threads of the host's own do the operations; the process waits without a thread.
 *
 * `return th_file_...(...);` has the operation done when the function has returned, and then THEN
 * goes on in the function's place; its arguments are the result and the KEPT terms. As of
 * th_await(), the last request counts: an operation is not done if the function returns another
 * request.
 *
 * A result is `ok`, {ok, Value}, or {error, Reason}, where Reason is the atom of an errno
 * (`enoent`); of functions that read also `eof`. Each does what the system call of its name does,
 * with all of the data: after a write that stops short, the rest is tried again.
 *
 * A PATH is a binary of any bytes, or a list of characters, which become UTF-8, and of such
 * binaries; without a character 0. A FILE is a port of th_file_open(). The operations on one file
 * are done in the order in which they are requested. An operation whose process ends while it is
 * queued is not done; one that is under way is, and a file that it has opened is closed.
 *
 * The probes efile_drv__... of provider `erlang` report each operation, with the process' user tag.
 * In all of them {thread, tag} names the operation: see th_file_last().
 *
 * On failure: `badarg` is raised for a term that is no path, data, pieces or port, for negative
 * sizes and offsets (other than th_file_lseek()'s), and if ENV is not that of a function that runs
 * for a process; `nested_await` in a nested call (th_call()), where nobody can wait.
 * @{
 */

/** Opens PATH: {ok, File}. A file that is opened for writing is made if it is not there, and cut to
 * nothing, unless it is opened for reading as well, or with TH_OPEN_APPEND or TH_OPEN_KEEP.
 * Owner: the process that opens: the file is closed when that process ends. The port can be sent,
 * and other processes can use it. */
TH_MODULE_API ERL_NIF_TERM th_file_open(ErlNifEnv *env, ERL_NIF_TERM path,
                                        TH_FLAGS_OF(ThOpenFlags) flags, ThContinuation *then,
                                        int kept, const ERL_NIF_TERM terms[]);

/** Reads at most SIZE bytes: {ok, Binary} of as many as there are, or come at once. */
TH_MODULE_API ERL_NIF_TERM th_file_read(ErlNifEnv *env, ERL_NIF_TERM file, ErlNifUInt64 size,
                                        ThContinuation *then, int kept, const ERL_NIF_TERM terms[]);

/** Moves the position: {ok, Position} in bytes. ORIGIN is SEEK_SET, SEEK_CUR or SEEK_END. */
TH_MODULE_API ERL_NIF_TERM th_file_lseek(ErlNifEnv *env, ERL_NIF_TERM file, ErlNifSInt64 offset,
                                         int origin, ThContinuation *then, int kept,
                                         const ERL_NIF_TERM terms[]);

/** Writes DATA, iodata. */
TH_MODULE_API ERL_NIF_TERM th_file_write(ErlNifEnv *env, ERL_NIF_TERM file, ERL_NIF_TERM data,
                                         ThContinuation *then, int kept,
                                         const ERL_NIF_TERM terms[]);

/** Describes the file: {ok, Map} with size, type (`regular`, `directory`, `symlink`, `device`,
 * `other`), mode, links, inode, device, rdev, uid, gid; atime, mtime, ctime in seconds. */
TH_MODULE_API ERL_NIF_TERM th_file_fstat(ErlNifEnv *env, ERL_NIF_TERM file, ThContinuation *then,
                                         int kept, const ERL_NIF_TERM terms[]);

/** Gets the current folder: {ok, Binary}. */
TH_MODULE_API ERL_NIF_TERM th_file_pwd(ErlNifEnv *env, ThContinuation *then, int kept,
                                       const ERL_NIF_TERM terms[]);

/** Lists a folder: {ok, [Binary]}, without `.` and `..`, in no order. */
TH_MODULE_API ERL_NIF_TERM th_file_readdir(ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then,
                                           int kept, const ERL_NIF_TERM terms[]);

/** Changes the current folder of the whole program. */
TH_MODULE_API ERL_NIF_TERM th_file_chdir(ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then,
                                         int kept, const ERL_NIF_TERM terms[]);

/** Has the system write the file's data and description to the device. */
TH_MODULE_API ERL_NIF_TERM th_file_fsync(ErlNifEnv *env, ERL_NIF_TERM file, ThContinuation *then,
                                         int kept, const ERL_NIF_TERM terms[]);

/** Makes a folder. */
TH_MODULE_API ERL_NIF_TERM th_file_mkdir(ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then,
                                         int kept, const ERL_NIF_TERM terms[]);

/** Deletes a file, by unlink(2). */
TH_MODULE_API ERL_NIF_TERM th_file_delete(ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then,
                                          int kept, const ERL_NIF_TERM terms[]);

/** Renames a file or folder. */
TH_MODULE_API ERL_NIF_TERM th_file_rename(ErlNifEnv *env, ERL_NIF_TERM old_name,
                                          ERL_NIF_TERM new_name, ThContinuation *then, int kept,
                                          const ERL_NIF_TERM terms[]);

/** Removes an empty folder. */
TH_MODULE_API ERL_NIF_TERM th_file_rmdir(ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then,
                                         int kept, const ERL_NIF_TERM terms[]);

/** Ends the file at its position. */
TH_MODULE_API ERL_NIF_TERM th_file_truncate(ErlNifEnv *env, ERL_NIF_TERM file, ThContinuation *then,
                                            int kept, const ERL_NIF_TERM terms[]);

/** Reads a whole file: {ok, Binary}. */
TH_MODULE_API ERL_NIF_TERM th_file_read_file(ErlNifEnv *env, ERL_NIF_TERM path,
                                             ThContinuation *then, int kept,
                                             const ERL_NIF_TERM terms[]);

/** Sets the mode and the owner of a file; a MODE, UID or GID below 0 stays as it is. */
TH_MODULE_API ERL_NIF_TERM th_file_write_info(ErlNifEnv *env, ERL_NIF_TERM path, ErlNifSInt64 mode,
                                              ErlNifSInt64 uid, ErlNifSInt64 gid,
                                              ThContinuation *then, int kept,
                                              const ERL_NIF_TERM terms[]);

/** Describes a file by its path, a symbolic link itself: as th_file_fstat(). */
TH_MODULE_API ERL_NIF_TERM th_file_lstat(ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then,
                                         int kept, const ERL_NIF_TERM terms[]);

/** Gets the target of a symbolic link: {ok, Binary}. */
TH_MODULE_API ERL_NIF_TERM th_file_readlink(ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then,
                                            int kept, const ERL_NIF_TERM terms[]);

/** Makes a further name of a file. */
TH_MODULE_API ERL_NIF_TERM th_file_link(ErlNifEnv *env, ERL_NIF_TERM existing_path,
                                        ERL_NIF_TERM new_path, ThContinuation *then, int kept,
                                        const ERL_NIF_TERM terms[]);

/** Makes a symbolic link. */
TH_MODULE_API ERL_NIF_TERM th_file_symlink(ErlNifEnv *env, ERL_NIF_TERM existing_path,
                                           ERL_NIF_TERM new_path, ThContinuation *then, int kept,
                                           const ERL_NIF_TERM terms[]);

/** Closes a file, for all processes at once: operations of others that were requested and not begun
 * get {error, ebadf}, and so do all later ones. */
TH_MODULE_API ERL_NIF_TERM th_file_close(ErlNifEnv *env, ERL_NIF_TERM file, ThContinuation *then,
                                         int kept, const ERL_NIF_TERM terms[]);

/** Writes PIECES, [{Position, Iodata}]. */
TH_MODULE_API ERL_NIF_TERM th_file_pwritev(ErlNifEnv *env, ERL_NIF_TERM file, ERL_NIF_TERM pieces,
                                           ThContinuation *then, int kept,
                                           const ERL_NIF_TERM terms[]);

/** Reads PIECES, [{Position, Size}]: {ok, [Binary or eof]}. */
TH_MODULE_API ERL_NIF_TERM th_file_preadv(ErlNifEnv *env, ERL_NIF_TERM file, ERL_NIF_TERM pieces,
                                          ThContinuation *then, int kept,
                                          const ERL_NIF_TERM terms[]);

/** Sets a buffer of VALUE bytes; 0 ends it. TH_SETOPT_DELAYED_WRITE: so many bytes are gathered
 * before they are written: by the next operation on the file that is no write, at the latest when
 * the file is closed, and errors come then. TH_SETOPT_READ_AHEAD: so many bytes are read at once.
 */
TH_MODULE_API ERL_NIF_TERM th_file_setopt(ErlNifEnv *env, ERL_NIF_TERM file,
                                          TH_FLAGS_OF(ThFileOption) option, ErlNifSInt64 value,
                                          ThContinuation *then, int kept,
                                          const ERL_NIF_TERM terms[]);

/** Reads through a pointer: at OFFSET stand four bytes of a size and four of a position, the
 * highest first: {ok, {Size, Position, Binary or eof}}; `eof` if they are not there, or the size is
 * more than SIZE. */
TH_MODULE_API ERL_NIF_TERM th_file_ipread(ErlNifEnv *env, ERL_NIF_TERM file, ErlNifSInt64 offset,
                                          ErlNifSInt64 size, ThContinuation *then, int kept,
                                          const ERL_NIF_TERM terms[]);

/** Answers {error, enotsup}: short names are another system's. */
TH_MODULE_API ERL_NIF_TERM th_file_altname(ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then,
                                           int kept, const ERL_NIF_TERM terms[]);

/** Reads up to the next line feed, with it: {ok, Binary}. */
TH_MODULE_API ERL_NIF_TERM th_file_read_line(ErlNifEnv *env, ERL_NIF_TERM file,
                                             ThContinuation *then, int kept,
                                             const ERL_NIF_TERM terms[]);

/** Has the system write the file's data to the device. */
TH_MODULE_API ERL_NIF_TERM th_file_fdatasync(ErlNifEnv *env, ERL_NIF_TERM file,
                                             ThContinuation *then, int kept,
                                             const ERL_NIF_TERM terms[]);

/** Announces how LENGTH bytes from OFFSET on will be used; ADVICE is POSIX_FADV_... */
TH_MODULE_API ERL_NIF_TERM th_file_fadvise(ErlNifEnv *env, ERL_NIF_TERM file, ErlNifSInt64 offset,
                                           ErlNifSInt64 length, int advice, ThContinuation *then,
                                           int kept, const ERL_NIF_TERM terms[]);

/** Gets the name, command and errno of the operation whose result the process got last.
 * Errors: 0 if there was none. */
TH_MODULE_API int th_file_last(ErlNifEnv *env, ThFileLast *last);

/** @} */

/**
 * @defgroup module_tags User tags, as of OTP's module dyntrace
 * A user tag is a binary with which a process marks its work, for tools that look on by probes.
 *
 * On failure: 0; `badarg` is raised for a tag that is no binary, for a state that th_spread_tag()
 * has not returned, and if ENV is not that of a function that runs for a process.
 * @{
 */

/** Sets the process' tag, or with `undefined` takes it away, and returns the tag before. */
TH_MODULE_API ERL_NIF_TERM th_put_tag(ErlNifEnv *env, ERL_NIF_TERM tag);

/** Returns the process' tag, or `undefined`. */
TH_MODULE_API ERL_NIF_TERM th_get_tag(ErlNifEnv *env);

/** Returns the process' tag, or, if the process has set none, the one that came with the message
 * that it received last, or `undefined`. */
TH_MODULE_API ERL_NIF_TERM th_get_tag_data(ErlNifEnv *env);

/** Sets whether the tag goes with the messages that the process sends from now on, until it
 * receives one without a tag; a process that receives one with a tag spreads it as well. Returns
 * the state before, for th_restore_tag(). */
TH_MODULE_API ERL_NIF_TERM th_spread_tag(ErlNifEnv *env, int spreads);

/** Restores a state that th_spread_tag() has returned. */
TH_MODULE_API int th_restore_tag(ErlNifEnv *env, ERL_NIF_TERM state);

/** @} */

/**
 * @defgroup module_probes User probes, as of OTP's module dyntrace
 * A library's own reports to users of SystemTap, bpftrace, perf or gdb. The arguments of the probes
 * stand in probe_table.h. Texts end with a 0 and are in UTF-8; NULL stands for "". They are needed
 * during the call only.
 *
 * Thread: any, also in load() and outside of calls; ENV may be NULL.
 *
 * On failure: nothing fails; 0 if nobody watched.
 * @{
 */

/** Returns the set of probes that are watched now (ThUserTraceProbes), 0 if none: then no text
 * needs to be made. It takes some nanoseconds. */
TH_MODULE_API int th_user_trace_enabled(void);

/** Hits user_trace__s1; 1 if it was watched. */
TH_MODULE_API int th_user_trace_s1(const char *message);

/** Hits user_trace__i4s4, with the process that runs in ENV, if there is one, as its first
 * argument; 1 if it was watched. */
TH_MODULE_API int th_user_trace_i4s4(ErlNifEnv *env, const char *user_tag, int i_1, int i_2,
                                     int i_3, int i_4, const char *s_1, const char *s_2,
                                     const char *s_3, const char *s_4);

/** @} */

/*
 * Returns 1 if the host is tracehost, of any version: then all functions of version 1 are there.
 * 0: the library is in a BEAM or another host.
 *
 * A library that is compiled with a newer header goes on working in an older host, so this function
 * does not look for newer functions. A library that uses one (its comment has "Since: N") checks
 * for that function, or for the version:
 *
 *     if (TH_HAS(th_some_function))
 *         th_some_function(env);
 *
 *     if (TH_HAS(th_host_version) && th_host_version() >= 2)
 *         ... all functions of version 2 ...
 */
static inline int th_host_present(void)
{
    return TH_HAS(th_disarm);
}

/* --- Functions of the library -------------------------------------------------------------------
 */

/*
 * Not of the host: a function that a library may define, to be asked whether it can take over from
 * the version that is loaded, before its upgrade() or that of any module loaded along with it is
 * called. OLD_PRIVATE_DATA is that version's, which goes on using it: it may be read as far as both
 * versions know how to, and is not to be changed. LOAD_INFO is what upgrade() will get. Nothing of
 * the new version has run but constructors and nif_init(); resource types cannot be opened here.
 *
 * 0: it can. Anything else refuses the upgrade, and all stays as it is; so it costs less to refuse
 * here than in upgrade(), after which those that were upgraded before must be handed back. It must
 * be defined in the library itself, and be visible, which this declaration says. A BEAM does not
 * call it: upgrade() is still to refuse what it cannot take over.
 */
extern int th_upgrade_check(ErlNifEnv *env, void *old_private_data, ERL_NIF_TERM load_info)
    __attribute__((weak, visibility("default")));

/*
 * Functions that can be traced where they are called in C, by others of the library; such a call is
 * a local call. Of two kinds.
 *
 * Of the library's table, Module:lookup/2 if the table says so. (One that is not made so can be
 * traced just the same, but C calls of it may not be seen: compilers put its body in their place.)
 *
 *   TH_NIF(lookup)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
 *   {
 *       ...
 *   }
 *
 * Not in a table, Module:indirections/1. Their arguments are terms, up to five; the name and the
 * number of these are a local function's, once in a library:
 *
 *   TH_FUNCTION(indirections, 1)(ErlNifEnv *env, ERL_NIF_TERM depth)
 *   {
 *       ...
 *   }
 *
 * Both declare and begin the definition of a static function that returns a term. The compiler
 * neither inlines nor clones it, nor changes how it is called; and on x86-64 leaves room for a
 * breakpoint at its entry: NOPs that cost next to nothing (with gcc -fcf-protection=none, which
 * `pkg-config --cflags tracehost-plugin` has: what else is put there takes the room). For
 * TH_FUNCTION, the section `tracehost_functions` of the library tells where it is. In a BEAM all of
 * that does no harm. For gcc and clang.
 *
 * A function that ends with a call of itself is made a loop, where the compiler optimises, with no
 * call in it. TH_SELF is the function it is given, of which the compiler does not know that it is
 * that:
 *
 *       return TH_SELF(indirections)(env, enif_make_int(env, n - 1));
 */
struct th_local_function {
    const char *name;
    void (*code)(void);
    unsigned long arity;
};

#ifdef __clang__
#define TH_AS_WRITTEN noinline, used
#else
#define TH_AS_WRITTEN noipa, used
#endif

/* Nothing refers to the section: linkers that look for what is not needed are to leave it. */
#ifdef __has_attribute
#if __has_attribute(retain)
#define TH_RETAINED used, retain
#endif
#endif
#ifndef TH_RETAINED
#define TH_RETAINED used
#endif

#if defined(__x86_64__)
#define TH_PATCHABLE __attribute__((patchable_function_entry(16, 8), aligned(16)))
#else
#define TH_PATCHABLE
#endif

#define TH_PARAMETERS_0 ErlNifEnv *
#define TH_PARAMETERS_1 TH_PARAMETERS_0, ERL_NIF_TERM
#define TH_PARAMETERS_2 TH_PARAMETERS_1, ERL_NIF_TERM
#define TH_PARAMETERS_3 TH_PARAMETERS_2, ERL_NIF_TERM
#define TH_PARAMETERS_4 TH_PARAMETERS_3, ERL_NIF_TERM
#define TH_PARAMETERS_5 TH_PARAMETERS_4, ERL_NIF_TERM

#ifdef __cplusplus
#define TH_AS_CODE(function) reinterpret_cast<void (*)(void)>(function)
#else
#define TH_AS_CODE(function) ((void (*)(void))(function))
#endif

#define TH_NIF(name)                                                 \
    static ERL_NIF_TERM name(ErlNifEnv *, int, const ERL_NIF_TERM[]) \
        __attribute__((TH_AS_WRITTEN)) TH_PATCHABLE;                 \
    static ERL_NIF_TERM name

#define TH_FUNCTION(name, arity)                                                                 \
    static ERL_NIF_TERM name(TH_PARAMETERS_##arity) __attribute__((TH_AS_WRITTEN)) TH_PATCHABLE; \
    static const struct th_local_function th_local_function_##name                               \
        __attribute__((TH_RETAINED, section("tracehost_functions"), aligned(8))) = {             \
            #name, TH_AS_CODE(name), arity};                                                     \
    static ERL_NIF_TERM name

#define TH_SELF(function)                                       \
    (__extension__({                                            \
        __typeof__(&(function)) th_self_address_ = &(function); \
        __asm__("" : "+r"(th_self_address_));                   \
        th_self_address_;                                       \
    }))

#ifdef __cplusplus
}
#endif

#endif
