/*
 * Functions of tracehost for plugins and tracers, beyond the NIF API.
 *
 *   #include <nif_module.h>
 *
 *   static ERL_NIF_TERM trace_call(ErlNifEnv *env, int argc,
 *                                  const ERL_NIF_TERM argv[])
 *   {
 *       ...
 *       if (seen_enough && th_host_present())
 *           th_disarm(env);
 *       return enif_make_atom(env, "ok");
 *   }
 *
 * All functions are weak symbols. In a BEAM, and in a host that is older than a function, the
 * function's address is NULL, and the library must not call it. So one .so serves both; compile it
 * with `pkg-config --cflags tracehost-plugin` and link it with nothing.
 *
 * Long because: everything that this host offers to libraries is to be found in one place.
 */
#ifndef TH_NIF_MODULE_H
#define TH_NIF_MODULE_H

#ifndef __ERL_NIF_H__
#include <erl_nif.h> /* that of tracehost or of OTP */
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* --- Versions --------------------------------------------------------------------------------- */

/*
 * Version of this header. The version grows by one with each release that adds functions; functions
 * are never changed or removed.
 *
 *   1  tracehost 0.1: every function below that has no "Since:" line
 *   2  th_host_version()
 *   3  th_output_buffer() and its companions, th_output_continued(), th_share_file(),
 *      th_recorded_name(), th_recorded_node(), th_recorded_owner(), th_recorded_first_call(),
 *      th_elixir_name()
 *
 * th_host_present(), behind the functions, shows how a library checks which functions a host has.
 */
#define TH_MODULE_VERSION 3

/* Declares a function of the host: a weak symbol, NULL if the host lacks the function. The table of
 * the functions, module_functions.h, is made from the declarations. */
#define TH_MODULE_API extern __attribute__((weak, visibility("default")))

/* Non-zero if the host has the function NAME. */
#define TH_HAS(name) ((name) != NULL)

/*
 * Type of a parameter that takes flags of one family. In C the parameter has the family's type, so
 * that compilers warn about a flag of another family (-Wenum-conversion, part of gcc's -Wextra). In
 * C++, where 0 and a set of flags do not convert to an enumeration, the parameter is an int.
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

/** Returns the TH_MODULE_VERSION of the host, which can be larger or smaller than the library's.
 * Thread: any, at any time.
 * Since: 2; see th_host_present(). */
TH_MODULE_API int th_host_version(void);

/** @} */

/* --- Types and flags -------------------------------------------------------------------------- */

/* Each family of flags has a type of its own; the numbers of different families overlap. The older
 * name of a flag stands after the name that contains the family. */

/* Facts about a call, for th_call_fact(). */
typedef enum {
    TH_CALL_EXTERNAL = 1, /* an external call, at which global breakpoints act */
    TH_CALL_TAIL = 2      /* a tail call; known for recordings only */
} ThCallFact;

/* A set, for th_call_then(). */
typedef enum {
    TH_THEN_CATCHES = 1, /* THEN also runs if the callee raises an exception */
    TH_CATCHES = TH_THEN_CATCHES
} ThThenFlags;

/* A set, for th_load_code(), th_purge_code(), th_delete_code(). */
typedef enum {
    TH_CODE_HARD = 1, /* kills processes that run in old code which must be purged */
    TH_HARD = TH_CODE_HARD
} ThCodeFlags;

/* A set, for th_spawn(). */
typedef enum { TH_SPAWN_LINK = 1, TH_SPAWN_MONITOR = 2 } ThSpawnFlags;

/* A set, for th_demonitor(). */
typedef enum {
    TH_DEMONITOR_FLUSH = 1, /* removes the message from the mailbox */
    TH_FLUSH = TH_DEMONITOR_FLUSH
} ThDemonitorFlags;

/* A set, returned by th_user_trace_enabled(). */
typedef enum { TH_USER_TRACE_S1 = 1, TH_USER_TRACE_I4S4 = 2 } ThUserTraceProbes;

/* A timeout for th_await(): none. */
enum { TH_INFINITY = -1 };

/* A set, for th_file_open(). Probes show these numbers. */
typedef enum {
    TH_OPEN_READ = 1,
    TH_OPEN_WRITE = 2, /* creates a missing file; see th_file_open() */
    TH_OPEN_APPEND = 4,
    TH_OPEN_EXCLUSIVE = 16, /* creates the file; {error, eexist} if it exists */
    TH_OPEN_KEEP = 32,      /* does not truncate the file */
    TH_OPEN_SYNC = 64
} ThOpenFlags;

/* One option, for th_file_setopt(). */
typedef enum {
    TH_SETOPT_DELAYED_WRITE = 0,
    TH_DELAYED_WRITE = TH_SETOPT_DELAYED_WRITE,
    TH_SETOPT_READ_AHEAD = 1,
    TH_READ_AHEAD = TH_SETOPT_READ_AHEAD
} ThFileOption;

/* An export entry, opaque: see th_export_entry(). */
typedef struct th_export ThExport;

/* A continuation: a function that continues in the place of another function. Its form is that of a
 * library's functions, with any number of arguments. */
typedef ERL_NIF_TERM ThContinuation(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

/* An operation on a file, for th_file_last(). The command is the number in OTP's guide to the
 * probes, such as 12 for th_file_rename(). */
typedef struct {
    int command;
    int thread, tag; /* together, the name of the operation */
    int error;       /* errno, 0 if the operation succeeded */
} ThFileLast;

/* --- Functions -------------------------------------------------------------------------------- */

/*
 * The rules of erl_nif.h for environments, success and threads hold here as well. Many functions
 * have parameters KEPT and TERMS: the host keeps these KEPT terms (at most 254) for the
 * continuation THEN, which gets them as its last arguments. Any other KEPT, and a NULL for THEN,
 * raise `badarg`.
 */

/**
 * @defgroup module_tracing For tracers
 * ENV is the callback's, unless a function's comment names another one. Some functions return facts
 * about the event of a callback that Opts does not carry. For a live event they are the facts of
 * this moment; for a recorded event they are as complete as the recording.
 *
 * On failure: 0, or -1 of th_call_fact().
 * @{
 */

/** Pauses the breakpoint of the called function, for this session and this kind of breakpoint
 * (tracing or meta), until a pattern is set or restarted there. From then on calls of the function
 * cost the tracer nothing. Returns 1 if the request was queued.
 * Order: only in a callback about a call: `enabled_call` or `trace_call`, or `enabled` or `trace`
 * with the tag `call`. The pause takes effect soon, not at once: one change carries out the
 * requests of many callbacks, and `enabled` is still called for calls before that change. If a
 * pattern is set or restarted there before, the request is dropped. The result of an `enabled`
 * callback applies to the current call as usual, and the end of this call is delivered if a match
 * specification has requested it.
 * Errors: 0, without effect, if there is no breakpoint to pause: the callback is about another
 * event, such as a return, or the session gets calls as they were recorded, without patterns. */
TH_MODULE_API int th_disarm(ErlNifEnv *env);

/** Lists the recorded streams that are replayed: a map for each stream that has begun, in their
 * order, the current one last.
 *
 *     name         a binary: the stream's name, as the user gave it
 *     records      records read of the stream so far, damaged ones included
 *     lost         events that the recorder reports as dropped
 *     gaps         places where an unknown number of events was lost
 *     damaged      records skipped because they are damaged, and places where the stream is damaged
 *                  or truncated
 *     interrupted  1 if reading was ended before the stream's end, as by Ctrl-C; else 0
 *
 * The list is [] if nothing was replayed; events of the host itself are no stream.
 * Thread: any, in callbacks, load() and unload(); ENV is any in which terms can be made. */
TH_MODULE_API ERL_NIF_TERM th_recordings(ErlNifEnv *env);

/** Returns the length of the list of th_recordings(), in a few nanoseconds. A callback that
 * compares it each time notices that another stream has begun, with other processes and names.
 * Thread: as th_recordings(). */
TH_MODULE_API int th_recordings_begun(ErlNifEnv *env);

/** Reports that the tracer cannot do its work. REASON is one line of UTF-8 with the act that failed
 * and the cause: "cannot write calls.txt: No space left on device". The host shows each report
 * with the tracer's name, and the command ends with status 1.
 *   - In the first `enabled` for `trace_status`, with which the host attaches the tracer: the
 *     tracer is not attached, whatever the callback returns, and REASON is the error.
 *   - In any other callback: the session gets no more events; other sessions continue.
 *   - In load() and unload(): REASON is shown, and the status is 1.
 * Thread: that of the callback, of load() or of unload(), whose environment ENV is. */
TH_MODULE_API void th_tracer_failed(ErlNifEnv *env, const char *reason);

/** Returns 1 in a callback for `trace_status` while it is unknown whether the work for which the
 * tracer is attached can begin: the host may still refuse another tracer, or lack the stream. A
 * tracer that would replace a file then only checks that it can, and leaves the file as it is.
 * Returns 0 in all other callbacks.
 * Order: once all has begun, the host calls `enabled` for `trace_status` again if the tracer
 * called this function; the result is then 0. If nothing begins, unload() follows without this
 * second call. */
TH_MODULE_API int th_attach_pending(ErlNifEnv *env);

/** Gets the time at which the recording begins, by the clock of the callback's event: *ZERO is the
 * result of enif_monotonic_time(UNIT) in a callback for the first record that has a time by that
 * clock, whether filters and patterns let the record through or not. There are three clocks:
 * system time (`timestamp` in Opts), CPU time (`cpu_timestamp`), and monotonic time, strict or
 * not. Times of different clocks cannot be compared, so each clock has a zero of its own. Streams
 * that are replayed together are parts of one recording, and the first of them sets the zeros; if
 * a connection continues with another node, the zeros of CPU time and monotonic time begin anew.
 * Errors: 0 if the event has no recorded time (enif_monotonic_time() then reads the host's clock),
 * or UNIT is no unit. */
TH_MODULE_API int th_recording_zero(ErlNifEnv *env, ErlNifTimeUnit unit, ErlNifTime *zero);

/** Gets the name that the process or port TRACEE had when the recording began: *NAME becomes an atom.
 * Recordings of a node that tracehost has asked to trace tell names. Later registrations are events,
 * and change nothing here.
 * Since: 3; see th_host_present().
 * Thread: that of a callback for a recorded event.
 * Errors: 0 if the recording does not tell, and in other threads. */
TH_MODULE_API int th_recorded_name(ERL_NIF_TERM tracee, ERL_NIF_TERM *name);

/** Gets the number of a node that is replayed: *NUMBER becomes 0 for the first one and 1 to 15 for
 * the others, in the order of the streams. OF is a pid or port that enif_get_local_pid() or
 * enif_get_local_port() accepts, or the name of a node, an atom. Each node has its own registered
 * names: with this number a tracer keeps them apart.
 * Since: 3; see th_host_present().
 * Thread: any.
 * Errors: 0 if OF is of no node that is replayed, or another term. */
TH_MODULE_API int th_recorded_node(ERL_NIF_TERM of, unsigned *number);

/** The reverse of th_recorded_name(): *TRACEE becomes the pid or port that had NAME in the node with
 * the number NODE.
 * Since: 3; see th_host_present().
 * Thread: as th_recorded_name().
 * Errors: likewise. */
TH_MODULE_API int th_recorded_owner(ERL_NIF_TERM name, unsigned node, ERL_NIF_TERM *tracee);

/** Gets the function with which PROCESS, a local pid, was started, as
 * proc_lib:translate_initial_call/1 returns it: *MODULE and *FUNCTION become atoms. Recordings of a
 * node that tracehost has asked to trace tell the first functions of the processes that ran when the
 * recording began; `spawn` and `spawned` tell those of later processes, until they exit. The function
 * of a process that was started with a fun is unknown.
 * Since: 3; see th_host_present().
 * Thread: as th_recorded_name().
 * Errors: likewise; *MODULE, *FUNCTION and *ARITY then stay as they are. */
TH_MODULE_API int th_recorded_first_call(ERL_NIF_TERM process, ERL_NIF_TERM *module,
                                         ERL_NIF_TERM *function, unsigned *arity);

/** Returns 1 if FACT holds for the call that the callback reports, else 0.
 * Errors: -1 if that is unknown. */
TH_MODULE_API int th_call_fact(ErlNifEnv *env, TH_FLAGS_OF(ThCallFact) fact);

/** Lists the callers of the call that the callback reports, the nearest first, at most eight:
 * {Module, Function, Arity, Location}, as in a stack trace. The list is [] for a process' first
 * function; it ends with `undefined` in place of [] if the next caller is unknown. A walk of the
 * stack takes about a microsecond for each caller.
 * Errors: 0 if nothing is known. */
TH_MODULE_API ERL_NIF_TERM th_call_callers(ErlNifEnv *env);

/** Gets the integer that a recorded time stamp of the kind strict_monotonic carries. The integer is
 * the same in all callbacks that one record causes.
 * Errors: 0 if there is none. */
TH_MODULE_API int th_recorded_unique(ErlNifEnv *env, ErlNifSInt64 *unique);

/** Writes TERM to TEXT as the host shows terms to people, in UTF-8: as io:format("~0p") in Erlang,
 * or, if the user's encoding is Unicode, "~0tp" in `erl +pc unicode`. Writes at most SIZE bytes,
 * the last of which is a 0; returns the bytes of the whole text, as snprintf() does. For a text
 * that does not depend on the user, use enif_snprintf("%T").
 * Thread: any. */
TH_MODULE_API size_t th_show_term(char *text, size_t size, ERL_NIF_TERM term);

/** Writes the function MODULE:FUNCTION to TEXT as Elixir writes it, such as Enum.sort or :lists.sort,
 * in UTF-8, if the user has asked for such names (`--names=elixir`). If FUNCTION is 0, writes the name
 * MODULE alone, without the prefix "Elixir.": for modules, and for processes that have the name of a
 * module. Writes at most SIZE bytes, the last of which is a 0; returns the bytes of the whole text, as
 * snprintf() does.
 * Since: 3; see th_host_present().
 * Thread: any.
 * Errors: 0, and nothing is written, if the names are to be those of Erlang, MODULE or FUNCTION is no
 * atom, or a name alone is no module of Elixir: then write it as any term. */
TH_MODULE_API size_t th_elixir_name(char *text, size_t size, ERL_NIF_TERM module,
                                    ERL_NIF_TERM function);

/** Marks the file PATH, which the tracer has made, as useless until it is complete (UNFINISHED 1):
 * if the program exits first, for example for want of memory, the host removes the file.
 * UNFINISHED 0: the tracer has completed, renamed or removed the file. Returns 1.
 * Thread: any.
 * Errors: 0 if the program exits already or cannot register an exit handler; then only the tracer
 * can remove the file. */
TH_MODULE_API int th_file_unfinished(const char *path, int unfinished);

/**
 * Returns a buffer of SIZE bytes for output to DESCRIPTOR that outlives the program: if the program
 * dies, the host writes the rest of the buffer to DESCRIPTOR. The buffer is filled with bytes 0xFB,
 * and the rest ends before those that are left. Give the buffer to stdio by setvbuf(), with a stream
 * of fopencookie() whose write function calls th_output_buffer_written().
 *
 * Owner: the caller ends the buffer by th_output_buffer_end() before it closes DESCRIPTOR.
 * Thread: any; one thread at a time uses a buffer.
 * Errors: NULL if the host has no supervisor, or no room: use memory of your own.
 * Since: 3; see th_host_present(). */
TH_MODULE_API char *th_output_buffer(int descriptor, size_t size);

/** Notes that the SIZE bytes at DATA, if they lie in BUFFER, were written to the descriptor, or
 * moved elsewhere. TORN is 1 if the library keeps bytes elsewhere that belong before those in BUFFER:
 * the host then writes nothing of BUFFER.
 * Since: 3; see th_host_present(). */
TH_MODULE_API void th_output_buffer_written(char *buffer, const char *data, size_t size, int torn);

/** The output to the descriptor of BUFFER consists of gzip members (RFC 1952): the host writes the rest
 * of BUFFER as a member, too.
 * Since: 3; see th_host_present(). */
TH_MODULE_API void th_output_buffer_gzip(char *buffer);

/** Ends BUFFER, which may be NULL.
 * Since: 3; see th_host_present(). */
TH_MODULE_API void th_output_buffer_end(char *buffer);

/** Returns 1 if the file PATH, or stdout if PATH is NULL, has output of the same tracer in a process
 * that died (`tracehost replay --on-crash=continue`), or if the file PATH has some, and the replay goes on where a
 * reader was (`--resume`): the tracer then appends to the file, and does
 * not write the head of its format again. Else 0, also if the tracer plays all records again.
 * Order: when the tracer begins the file.
 * Thread: any.
 * Since: 3; see th_host_present(). */
TH_MODULE_API int th_output_continued(const char *path);

/** Returns a descriptor of a new, empty file without a name, if this process plays another share of
 * the recording than the first one (`tracehost replay --shards`). A tracer that writes while events
 * come writes to this file in place of PATH ("-": stdout), and its save() names the file:
 * "/proc/PID/fd/DESCRIPTOR" can be opened until merge() has returned. Errors and losses that the
 * tracer reports in a share lead to a replay without shares. See TH_TRACER_SAVE() in erl_tracer.h.
 * Owner: the tracer; it may leave the descriptor open.
 * Thread: any.
 * Errors: -1 if the process plays the first share or the whole recording: PATH is to be written.
 * Since: 3 */
TH_MODULE_API int th_share_file(const char *path);

/** @} */

/**
 * @defgroup module_calling Calling
 * An exception of a callee stays with ENV until th_catch() takes it. If the function returns 0, the
 * exception passes to the function's caller; if the function returns a term, the exception is
 * dropped. A further th_call() replaces it. An exception that the function raises itself, with
 * enif_raise_exception() and the like, is different: it is raised whatever the function returns,
 * and th_catch() does not see it. enif_is_exception() and enif_has_pending_exception() report both.
 *
 * th_tail_call(), th_call_then() and th_raise() request an act for the time after the function has
 * returned their result, which is 0; so the thread's stack is not in use meanwhile: `return
 * th_tail_call(...);`. As with enif_schedule_nif(), the last request counts. Any number of steps
 * takes constant space.
 *
 * On failure: `badarg` is raised if ENV is not that of a function that runs for a process, a name
 * is no atom, or there are more than 255 arguments.
 * @{
 */

/** Calls MODULE:FUNCTION with ARGC arguments, as code in another module does: breakpoints apply,
 * and the call reaches the code that is current now. The call runs on this thread to its end. A
 * callee that yields (enif_schedule_nif()) continues in place. Returns the result, a term of ENV.
 * C calls of functions of the same library are local calls.
 * Errors: 0 if the callee raises an exception. Without a call, or in place of its result, these
 * errors are raised as the callee's: `nested_await` if the callee must wait, `nested_dirty` if it
 * must leave the thread, `undef` if the function is missing, `system_limit` if the call would use
 * up the thread's stack. */
TH_MODULE_API ERL_NIF_TERM th_call(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function,
                                   int argc, const ERL_NIF_TERM argv[]);

/** Looks up MODULE:FUNCTION/ARITY once, for frequent calls, as a BEAM does when it loads code: the
 * entry leads to the function that such a call reaches, now or later. There is one entry for each
 * name.
 * Owner: the host; the entry is valid for ever, in any thread and any library, whether such a
 * function is loaded or not. The entry takes some 70 bytes until the program ends: look up names
 * that the library calls, not names that come from outside.
 * Thread: any, also in load() and outside of calls.
 * Errors: NULL if a name is no atom, or ARITY is below 0 or above 255. */
TH_MODULE_API const ThExport *th_export_entry(ERL_NIF_TERM module, ERL_NIF_TERM function,
                                              int arity);

/** Calls the function of ENTRY, with as many arguments as its arity, as th_call() does, and faster.
 * Errors: as th_call(); a NULL ENTRY raises `badarg`. */
TH_MODULE_API ERL_NIF_TERM th_call_export(ErlNifEnv *env, const ThExport *entry,
                                          const ERL_NIF_TERM argv[]);

/** Takes the exception of a callee and returns 1, with its class (`error`, `exit`, `throw`), reason
 * and stack trace in the results that are not NULL.
 * Errors: 0 if there is none. */
TH_MODULE_API int th_catch(ErlNifEnv *env, ERL_NIF_TERM *class_, ERL_NIF_TERM *reason,
                           ERL_NIF_TERM *stacktrace);

/** Makes an external call in the function's place: the callee's result is the function's result.
 * The host makes the call after the function has returned, so the function is no caller of it.
 * Order: `return th_tail_call(...);`. */
TH_MODULE_API ERL_NIF_TERM th_tail_call(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function,
                                        int argc, const ERL_NIF_TERM argv[]);

/** Makes an external call that is not nested, so that the callee may wait and go dirty; then THEN
 * continues in the function's place, with the result and the KEPT terms as arguments. An exception
 * of the callee skips THEN, unless FLAGS contain TH_THEN_CATCHES: then the host calls THEN with 0
 * in place of the result, and th_catch() takes the exception; an exception that is not taken
 * passes on when THEN returns 0. For tracing, the function has not returned while it waits for
 * THEN.
 * Order: `return th_call_then(...);`. */
TH_MODULE_API ERL_NIF_TERM th_call_then(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function,
                                        int argc, const ERL_NIF_TERM argv[], ThContinuation *then,
                                        TH_FLAGS_OF(ThThenFlags) flags, int kept,
                                        const ERL_NIF_TERM terms[]);

/** Raises an exception as erlang:raise/3 does, with the class, reason and stack trace given, for
 * example to pass on an exception that th_catch() took. As an exception of a callee, it is dropped
 * if the function returns a term after all.
 * Order: `return th_raise(...);`.
 * Errors: also `badarg` for a CLASS_ that is none, and a STACKTRACE that is no list. */
TH_MODULE_API ERL_NIF_TERM th_raise(ErlNifEnv *env, ERL_NIF_TERM class_, ERL_NIF_TERM reason,
                                    ERL_NIF_TERM stacktrace);

/** Raises an exception of the class `throw`, as enif_raise_exception() does of the class `error`.
 */
TH_MODULE_API ERL_NIF_TERM th_throw(ErlNifEnv *env, ERL_NIF_TERM reason);

/** Raises an exception of the class `exit`. If no function catches it, the process ends with
 * REASON, without a report: this is a regular end. */
TH_MODULE_API ERL_NIF_TERM th_exit(ErlNifEnv *env, ERL_NIF_TERM reason);

/** @} */

/**
 * @defgroup module_waiting Waiting for messages
 * A process that waits takes no thread. In a nested call (th_call()) a function cannot wait.
 *
 * On failure: `badarg` is raised if ENV is not that of a function that runs for a process.
 * @{
 */

/** Waits for a message; then THEN continues in the function's place with the oldest message in the
 * mailbox and the KEPT terms as arguments. If no message arrives within MILLISECONDS (TH_INFINITY:
 * no limit), THEN gets 0 in place of the message; with 0 milliseconds this happens if there is no
 * message now. The message leaves the mailbox when THEN returns, unless THEN returns the result of
 * th_skip(). The next th_await() begins with the oldest message again.
 * Order: `return th_await(...);`.
 * Errors: in a nested call raises `nested_await`. */
TH_MODULE_API ERL_NIF_TERM th_await(ErlNifEnv *env, ThContinuation *then, long milliseconds,
                                    int kept, const ERL_NIF_TERM terms[]);

/** Leaves the current message in the mailbox: the host calls THEN with the next one and the same
 * kept terms; the timeout keeps running. So a selective receive looks at each message once.
 * Order: `return th_skip(env);`, in the THEN of th_await().
 * Errors: raises `badarg` if THEN has no message. */
TH_MODULE_API ERL_NIF_TERM th_skip(ErlNifEnv *env);

/** @} */

/**
 * @defgroup module_code Loading code, while it runs
 * As erlang:prepare_loading/2 and finish_loading/1, for any number of modules, which become visible
 * at one instant, or not at all.
 *
 * After `return th_load_code(...);` THEN continues in the function's place when the request is
 * done, with the result and the KEPT terms as arguments. As with th_await(), the last request
 * counts: a request is dropped if the function returns another one. The process waits without a
 * thread, its messages stay in the mailbox, and a signal can end it. If it is killed before its
 * turn, its request is dropped.
 *
 * The requesting function waits in the code that contains it; so do the functions that wait for
 * this function. If that code is old, it is in use. The host purges the old code of a module before
 * the module gets other old code. With TH_CODE_HARD in FLAGS it first kills the processes that are
 * in old code, the requesting one included; without, it does not purge old code while a process is
 * in it.
 *
 * If a request fails, THEN gets {error, {Why, Texts}}, and nothing has changed. TEXTS is a list of
 * binaries with details, the first cause last. WHY is
 *
 *   not_purged  a process is in the old code
 *   refused     a library was refused: by the host, because the file is missing or not a library
 *               that the host takes, or by the library's own load(), th_upgrade_check() or
 *               upgrade()
 *   duplicate   two of PATHS are one module
 *   not_loaded  th_delete_code(): MODULE has no current code
 *   failed      any other failure
 *
 * On failure: `badarg` is raised if ENV is not that of a function that runs for a process, PATHS is
 * no list of paths, MODULE no atom; `nested_await` in a nested call (th_call()), where a function
 * cannot wait.
 * @{
 */

/** Loads the libraries of PATHS, a list of files: binaries of any bytes, or lists of characters,
 * which become UTF-8. THEN gets [{Module, Generation}], in the order of PATHS: Generation is 1 for
 * the first load of a module. A module that has current code is upgraded: its current code becomes
 * old code, in which processes continue. If the new code of a function has no room for local
 * breakpoints that are set, the host logs a warning on stderr.
 * Thread: a dirty I/O thread opens a private copy of each file, examines it, and calls
 * constructors and nif_init(), in the order of the list; several processes do so at once. One
 * thread of the host, which is no scheduler, does the rest, request by request in the order of
 * their arrival: load() and upgrade() with LOAD_INFO, then the step that makes all of it visible.
 */
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
 * Erlang's functions of these names, for the process that runs. Messages and signals from one
 * process to another arrive in the order in which they were sent. The receiver acts on signals when
 * the function that runs there has returned: a process that is killed never stops in the middle of
 * a function. On a dirty thread, a process that a signal ends is dead for all others at once, and
 * the function still runs to its end: its links, monitors, signals and messages then have no
 * effect, enif_send() returns 0, and th_spawn() raises `system_limit`.
 *
 * The NIF API has the functions for messages, names and live processes: enif_send(),
 * enif_whereis_pid(), enif_is_process_alive().
 *
 * On failure: 0; `badarg` is raised if ENV is not that of a function that runs for a process.
 * @{
 */

/** Starts a process with a call of MODULE:FUNCTION. OPTIONS is a set of TH_SPAWN_LINK and
 * TH_SPAWN_MONITOR. *PID gets the pid; *MONITOR gets the reference of the monitor, or 0 without
 * TH_SPAWN_MONITOR. PID and MONITOR may be NULL.
 * The process ends with `normal` when its function has returned. If no function catches an
 * exception, the process ends with the reason of an exit, with {Reason, Stack} of an error, or with
 * {{nocatch, Term}, Stack} of a throw; the last two are reported on stderr.
 * Errors: also raises `badarg` for names that are no atoms and more than 255 arguments;
 * `system_limit` if there are 1,048,576 processes (or as many as the host allows). */
TH_MODULE_API int th_spawn(ErlNifEnv *env, ERL_NIF_TERM module, ERL_NIF_TERM function, int argc,
                           const ERL_NIF_TERM argv[], TH_FLAGS_OF(ThSpawnFlags) options,
                           ErlNifPid *pid, ERL_NIF_TERM *monitor);

/** Links the running process with PID; if PID is dead, an exit signal with the reason `noproc`
 * arrives.
 * Errors: 0, without effect, for a pid of another node. */
TH_MODULE_API int th_link(ErlNifEnv *env, const ErlNifPid *pid);

/** Ends a link: signals of the link that have not arrived yet are dropped. */
TH_MODULE_API int th_unlink(ErlNifEnv *env, const ErlNifPid *pid);

/** Monitors PID, and returns a reference: one message {'DOWN', Reference, process, Pid, Reason}
 * will arrive, with the reason `noproc` if PID is dead already. */
TH_MODULE_API ERL_NIF_TERM th_monitor(ErlNifEnv *env, const ErlNifPid *pid);

/** Ends a monitor: its message does not arrive any more, but can be in the mailbox already;
 * TH_DEMONITOR_FLUSH removes it from there, whatever the result.
 * Errors: 0 if the process has no such monitor (any more). */
TH_MODULE_API int th_demonitor(ErlNifEnv *env, ERL_NIF_TERM monitor,
                               TH_FLAGS_OF(ThDemonitorFlags) flags);

/** Sends an exit signal, as exit/2: TO ends with REASON, unless REASON is `normal` (and TO another
 * process), or TO traps exits and gets {'EXIT', From, Reason}; `kill` ends any process, with the
 * reason `killed`. Returns 1, also if TO is dead. */
TH_MODULE_API int th_exit_signal(ErlNifEnv *env, const ErlNifPid *to, ERL_NIF_TERM reason);

/** Sets whether the running process traps exits, and returns the setting before, 0 or 1. */
TH_MODULE_API int th_trap_exit(ErlNifEnv *env, int on);

/** Registers PID as NAME.
 * Errors: 0 where Erlang raises badarg: NAME is taken, or `undefined`; PID is not alive, or has a
 * name. */
TH_MODULE_API int th_register(ErlNifEnv *env, ERL_NIF_TERM name, const ErlNifPid *pid);

/** Unregisters NAME.
 * Errors: 0 if NAME is not registered. */
TH_MODULE_API int th_unregister(ErlNifEnv *env, ERL_NIF_TERM name);

/** @} */

/**
 * @defgroup module_seq_tokens Sequential tokens, as of the module seq_trace
 * Messages of a process that has a token carry it; a process that receives such a message gets the
 * token.
 *
 * On failure: 0; `badarg` is raised for a COMPONENT that is none, a VALUE that the component cannot
 * have, and if ENV is not that of a function that runs for a process. On a dirty thread, if a signal
 * has ended the process, th_seq_set_token() and th_seq_get_token() raise `badarg`, and the other
 * functions have no effect.
 * @{
 */

/** Sets a component of the token, as seq_trace:set_token/2, and returns the value before; makes a
 * new token if there was none. Components: `label`, any term; `serial`, {Previous, Current}, two
 * small integers; `send`, 'receive', `print`, `timestamp`, `monotonic_timestamp`,
 * `strict_monotonic_timestamp`, true or false. */
TH_MODULE_API ERL_NIF_TERM th_seq_set_token(ErlNifEnv *env, ERL_NIF_TERM component,
                                            ERL_NIF_TERM value);

/** Makes {Component, Value} of the token, as seq_trace:get_token/1; [] without a token. */
TH_MODULE_API ERL_NIF_TERM th_seq_get_token(ErlNifEnv *env, ERL_NIF_TERM component);

/** Removes the token, as seq_trace:set_token([]). */
TH_MODULE_API int th_seq_reset_token(ErlNifEnv *env);

/** Delivers INFO to tracers, as seq_trace:print/2; returns 1 if the process has a token with LABEL.
 */
TH_MODULE_API int th_seq_print(ErlNifEnv *env, ERL_NIF_TERM label, ERL_NIF_TERM info);

/** @} */

/**
 * @defgroup module_files Files
 * Threads of the host carry out the operations; the process waits without a thread.
 *
 * `return th_file_...(...);` requests an operation. The host carries it out after the function has
 * returned; then THEN continues in the function's place, with the result and the KEPT terms as
 * arguments. As with th_await(), the last request counts: an operation is dropped if the function
 * returns another request.
 *
 * A result is `ok`, {ok, Value}, or {error, Reason}, where Reason is the atom of an errno
 * (`enoent`); functions that read can also return `eof`. Each function does what the system call of
 * its name does, with all of the data: after a write that stops short, the rest is tried again.
 *
 * A PATH is a binary of any bytes, or a list of characters, which become UTF-8, and of such
 * binaries; without a character 0. A FILE is a port of th_file_open(). The host carries out the
 * operations on one file in the order of the requests. If a process ends, its operation is dropped
 * while it is queued, and completed if it has begun; a file that it has opened is then closed.
 *
 * The probes efile_drv__... of provider `erlang` report each operation, with the process' user tag.
 * In all of them {thread, tag} names the operation: see th_file_last().
 *
 * On failure: `badarg` is raised for a term that is no path, data, pieces or port, for negative
 * sizes and offsets (other than th_file_lseek()'s), and if ENV is not that of a function that runs
 * for a process; `nested_await` in a nested call (th_call()), where a function cannot wait.
 * @{
 */

/** Opens PATH: {ok, File}. A file that is opened for writing is created if it does not exist. The
 * file is truncated to 0 bytes, unless it is opened for reading as well, or with TH_OPEN_APPEND or
 * TH_OPEN_KEEP.
 * Owner: the process that opens: the file is closed when that process ends. The port can be sent,
 * and other processes can use it. */
TH_MODULE_API ERL_NIF_TERM th_file_open(ErlNifEnv *env, ERL_NIF_TERM path,
                                        TH_FLAGS_OF(ThOpenFlags) flags, ThContinuation *then,
                                        int kept, const ERL_NIF_TERM terms[]);

/** Reads at most SIZE bytes: {ok, Binary} with the bytes that are available at once. */
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

/** Returns {ok, Map}, a description of the file with size, type (`regular`, `directory`, `symlink`,
 * `device`, `other`), mode, links, inode, device, rdev, uid, gid; atime, mtime, ctime in seconds.
 */
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

/** Writes the file's data and metadata to the device. */
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

/** Truncates the file at its position. */
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

/** Describes a file by its path, as th_file_fstat() does; for a symbolic link, the link itself. */
TH_MODULE_API ERL_NIF_TERM th_file_lstat(ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then,
                                         int kept, const ERL_NIF_TERM terms[]);

/** Gets the target of a symbolic link: {ok, Binary}. */
TH_MODULE_API ERL_NIF_TERM th_file_readlink(ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then,
                                            int kept, const ERL_NIF_TERM terms[]);

/** Makes a further name (a hard link) of a file. */
TH_MODULE_API ERL_NIF_TERM th_file_link(ErlNifEnv *env, ERL_NIF_TERM existing_path,
                                        ERL_NIF_TERM new_path, ThContinuation *then, int kept,
                                        const ERL_NIF_TERM terms[]);

/** Makes a symbolic link. */
TH_MODULE_API ERL_NIF_TERM th_file_symlink(ErlNifEnv *env, ERL_NIF_TERM existing_path,
                                           ERL_NIF_TERM new_path, ThContinuation *then, int kept,
                                           const ERL_NIF_TERM terms[]);

/** Closes a file, for all processes at once: operations of others that were requested and have not
 * begun get {error, ebadf}, and so do all later ones. */
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

/** Sets the size of a buffer to VALUE bytes; 0 ends the buffer. TH_SETOPT_DELAYED_WRITE: VALUE
 * bytes are gathered before they are written; the next operation on the file that is no write also
 * writes them, at the latest the close, and errors are returned then. TH_SETOPT_READ_AHEAD: VALUE
 * bytes are read at once. */
TH_MODULE_API ERL_NIF_TERM th_file_setopt(ErlNifEnv *env, ERL_NIF_TERM file,
                                          TH_FLAGS_OF(ThFileOption) option, ErlNifSInt64 value,
                                          ThContinuation *then, int kept,
                                          const ERL_NIF_TERM terms[]);

/** Reads through a pointer: at OFFSET the file has four bytes of a size and four of a position, the
 * highest byte first. Returns {ok, {Size, Position, Binary or eof}}; `eof` if the pointer is not
 * there, or its size is more than SIZE. */
TH_MODULE_API ERL_NIF_TERM th_file_ipread(ErlNifEnv *env, ERL_NIF_TERM file, ErlNifSInt64 offset,
                                          ErlNifSInt64 size, ThContinuation *then, int kept,
                                          const ERL_NIF_TERM terms[]);

/** Returns {error, enotsup}: only another operating system has short names. */
TH_MODULE_API ERL_NIF_TERM th_file_altname(ErlNifEnv *env, ERL_NIF_TERM path, ThContinuation *then,
                                           int kept, const ERL_NIF_TERM terms[]);

/** Reads up to the next line feed, with it: {ok, Binary}. */
TH_MODULE_API ERL_NIF_TERM th_file_read_line(ErlNifEnv *env, ERL_NIF_TERM file,
                                             ThContinuation *then, int kept,
                                             const ERL_NIF_TERM terms[]);

/** Writes the file's data to the device. */
TH_MODULE_API ERL_NIF_TERM th_file_fdatasync(ErlNifEnv *env, ERL_NIF_TERM file,
                                             ThContinuation *then, int kept,
                                             const ERL_NIF_TERM terms[]);

/** Advises the system how LENGTH bytes from OFFSET on will be used; ADVICE is POSIX_FADV_... */
TH_MODULE_API ERL_NIF_TERM th_file_fadvise(ErlNifEnv *env, ERL_NIF_TERM file, ErlNifSInt64 offset,
                                           ErlNifSInt64 length, int advice, ThContinuation *then,
                                           int kept, const ERL_NIF_TERM terms[]);

/** Gets the name, command and errno of the operation whose result the process got last.
 * Errors: 0 if there was none. */
TH_MODULE_API int th_file_last(ErlNifEnv *env, ThFileLast *last);

/** @} */

/**
 * @defgroup module_tags User tags, as of OTP's module dyntrace
 * A user tag is a binary with which a process marks its work, for tools that observe it by probes.
 *
 * On failure: 0; `badarg` is raised for a tag that is no binary, for a state that th_spread_tag()
 * has not returned, and if ENV is not that of a function that runs for a process.
 * @{
 */

/** Sets the process' tag, or removes it if TAG is `undefined`; returns the previous result of
 * th_get_tag_data().
 * Errors: also `badarg` on a dirty thread, if a signal has ended the process. */
TH_MODULE_API ERL_NIF_TERM th_put_tag(ErlNifEnv *env, ERL_NIF_TERM tag);

/** Returns the process' tag, or `undefined`. */
TH_MODULE_API ERL_NIF_TERM th_get_tag(ErlNifEnv *env);

/** Returns the process' tag; if the process has set none, the tag of the message that it received
 * last, or `undefined`. */
TH_MODULE_API ERL_NIF_TERM th_get_tag_data(ErlNifEnv *env);

/** Sets whether messages that the process sends from now on carry the tag, until it receives a
 * message without a tag; a process that receives a message with a tag passes the tag on as well.
 * SPREADS has no effect if the process has no tag. Returns the state before, for th_restore_tag().
 */
TH_MODULE_API ERL_NIF_TERM th_spread_tag(ErlNifEnv *env, int spreads);

/** Restores a state that th_spread_tag() has returned, the tag included. */
TH_MODULE_API int th_restore_tag(ErlNifEnv *env, ERL_NIF_TERM state);

/** @} */

/**
 * @defgroup module_probes User probes, as of OTP's module dyntrace
 * Reports of a library to users of SystemTap, bpftrace, perf or gdb. probe_table.h lists the
 * arguments of the probes. Texts end with a 0 and are in UTF-8; NULL stands for "". The host needs
 * them during the call only.
 *
 * Thread: any, also in load() and outside of calls; ENV may be NULL.
 *
 * On failure: nothing fails; 0 if no tool watches the probe.
 * @{
 */

/** Returns the set of probes that are watched now (ThUserTraceProbes), 0 if none: then a library
 * need not make their texts. Takes some nanoseconds. */
TH_MODULE_API int th_user_trace_enabled(void);

/** Fires user_trace__s1; returns 1 if a tool watches it. */
TH_MODULE_API int th_user_trace_s1(const char *message);

/** Fires user_trace__i4s4, with the process that runs in ENV, if there is one, as its first
 * argument; returns 1 if a tool watches it. */
TH_MODULE_API int th_user_trace_i4s4(ErlNifEnv *env, const char *user_tag, int i_1, int i_2,
                                     int i_3, int i_4, const char *s_1, const char *s_2,
                                     const char *s_3, const char *s_4);

/** @} */

/*
 * Returns 1 if the host is tracehost, of any version: then all functions of version 1 exist.
 * Returns 0 in a BEAM or another host.
 *
 * A library that is compiled with a newer header still works in an older host, so this function
 * does not check for newer functions. A library that uses a newer function (its comment has "Since:
 * N") checks for that function, or for the version:
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

/* --- Functions of the library ----------------------------------------------------------------- */

/*
 * Checks whether this version of a library can take over from the loaded version. A library may
 * define this function; it is not the host's. The host calls it before the library's upgrade(), and
 * before the upgrade() of any module that is loaded along with it. OLD_PRIVATE_DATA belongs to the
 * loaded version, which continues to use it: the function may read what both versions understand,
 * and must not write. LOAD_INFO is the argument that upgrade() will get. Before this call the host
 * has run only constructors and nif_init() of the new version; resource types cannot be opened
 * here.
 *
 * Returns 0 to accept. Any other result refuses the upgrade, and nothing changes; so a refusal here
 * costs less than one in upgrade(), after which the modules that were upgraded before must be
 * handed back. The library itself must define the function, with default visibility, as this
 * declaration makes it. A BEAM does not call the function: upgrade() must still refuse data that it
 * cannot take over.
 */
extern int th_upgrade_check(ErlNifEnv *env, void *old_private_data, ERL_NIF_TERM load_info)
    __attribute__((weak, visibility("default")));

/* --- Functions that can be traced ------------------------------------------------------------- */

/*
 * Functions that can be traced where other functions of the library call them in C; such a call is
 * a local call. There are two kinds.
 *
 * A function of the library's table, Module:lookup/2 if the table has that name and arity. (Without
 * TH_NIF it can be traced as well, but C calls of it may be invisible: compilers inline its body.)
 *
 *   TH_NIF(lookup)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
 *   {
 *       ...
 *   }
 *
 * A function in no table, Module:indirections/1. Its arguments are terms, up to five; its name and
 * arity are those of the local function, once in a library:
 *
 *   TH_FUNCTION(indirections, 1)(ErlNifEnv *env, ERL_NIF_TERM depth)
 *   {
 *       ...
 *   }
 *
 * Both macros declare and begin the definition of a static function that returns a term. The
 * compiler neither inlines nor clones the function, nor changes how it is called; it leaves room
 * for a breakpoint at the entry: NOPs that cost next to nothing. (On x86-64 gcc needs the option
 * `-fcf-protection=none`, which `pkg-config --cflags tracehost-plugin` contains: otherwise an
 * `endbr64` would take the room.) TH_FUNCTION puts the function's address into the section
 * `tracehost_functions` of the library. In a BEAM none of this does harm. For gcc and clang.
 *
 * An optimising compiler turns a function that ends with a call of itself into a loop, without a
 * call. TH_SELF hides from the compiler that the function calls itself:
 *
 *       return TH_SELF(indirections)(env, enif_make_int(env, n - 1));
 */

/* Element of the section `tracehost_functions`. TH_FUNCTION writes it. */
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

/* Nothing refers to the section: the attribute keeps linkers from removing it as unused. */
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
#elif defined(__aarch64__)
#define TH_PATCHABLE __attribute__((patchable_function_entry(2)))
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
