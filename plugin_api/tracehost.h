/*
 * Embeds tracehost in a program: loads tracers, chooses what they trace, plays recordings into
 * them.
 *
 * This header is for a program that is the host itself, in C11 or C++11. Tracers and plugins, which
 * a host loads, include erl_tracer.h and erl_nif.h and must not be linked with libtracehost: they
 * take the functions of the NIF API from the program that loads them.
 *
 *     struct tracehost_session_setup setup = {.size = sizeof setup};
 *     tracehost_host *host;
 *     tracehost_session session;
 *     tracehost_stream *stream;
 *     tracehost_replay *replay;
 *
 *     setup.tracer = "count";
 *     setup.recorded_flags =
 *         TRACEHOST_FLAGS_EVENTS | TRACEHOST_FLAG_AS_RECORDED;
 *     tracehost_host_start(NULL, &host);
 *     tracehost_session_create(host, &setup, &session);
 *     tracehost_stream_open("calls.trace", NULL, &stream);
 *     tracehost_replay_begin(host, stream, NULL, &replay);
 *     tracehost_replay_play(replay);
 *     tracehost_replay_end(replay);
 *     tracehost_stream_close(stream);
 *     tracehost_host_stop(host);
 *
 * The folder samples/embedding has a program for each part, which checks every status. The comments
 * below name functions of OTP 27's module `trace`, as trace:function/4: that module is the model of
 * this interface.
 *
 * Threads. One thread at a time uses a host, its sessions, replays and streams. Calls may come from
 * several threads if the program orders them, so that they do not overlap and the next thread sees
 * the effects of the last one (a mutex does both). A host that was started as `live` allows more:
 * any thread may create, change and query sessions, several threads at once, as long as no thread
 * uses a session that another thread destroys; and any number of threads may raise live events.
 * Replays of a live host, its start and its stop still belong to one thread. Callbacks of tracers,
 * and functions that the program passes to this library, run in the thread that makes the call. A
 * function that any thread may call at any time has "any thread" in its comment.
 *
 * Calls from callbacks. This library calls a function that the program has passed to it (a process'
 * `receive`, a visitor) from inside of a call, possibly while a callback of a tracer runs. Such a
 * function may make all calls, except those marked "Not in a callback", which return
 * TRACEHOST_USAGE there. A change made during an event takes effect with the next event.
 *
 * Errors. A function that can fail returns a status, TRACEHOST_OK for success. On failure nothing
 * has changed, unless its comment says otherwise, results are not written, and the thread's chain
 * of causes holds the reason (tracehost_error_link()). Wrong arguments return TRACEHOST_USAGE; so
 * do a NULL for a mandatory argument, and an object that has ended, as far as the library can
 * detect that.
 *
 * Memory. If memory runs out, calls return TRACEHOST_FAILED, and the chain says "out of memory":
 * the library refuses to read input, to make texts and terms of the program, and to write text,
 * whatever the size. A record that is refused for want of memory counts as damaged, and the next
 * read continues behind it. The library takes memory that it cannot do without (its own tables,
 * sessions, the ends of acts that have begun) from a reserve of 32 MiB, which is only address space
 * until then. If half of the reserve is in use, no act begins until memory is free again. In two
 * cases the program ends with a line on stderr: if the rest of the reserve is used up, too (for
 * example by a table of very many processes), or if the system refuses a thread or a
 * thread-specific key to a tracer that requests timers or events of descriptors. Tracers allocate
 * memory on their own: most report what they had no memory for (tracehost_host_stop()).
 *
 * Ownership. The library copies texts and terms that the program passes before a call returns. The
 * comment of a function names the owner of its results.
 *
 * Terms are ERL_NIF_TERM. The functions of erl_nif.h make, read and keep them: enif_alloc_env()
 * returns an environment that belongs to the program, whose terms are valid until it is cleared or
 * freed. Atoms, small integers, and pids and ports of the recorded node need no environment and are
 * valid for ever. 0 is no term; it stands for a term that is not given. Functions of the NIF API
 * that need a process-bound environment or the environment of a callback are not for such programs.
 *
 * Locale. The library never calls setlocale(): plugins use the locale that the program has set. The
 * program `tracehost` sets LC_CTYPE from the environment, as a BEAM does.
 *
 * Binary compatibility. The first member of each structure below is its size, which the program
 * sets: `struct tracehost_setup setup = {.size = sizeof setup}`, or in C++ `struct tracehost_setup
 * setup = {}; setup.size = sizeof setup;`. All other members may be 0. Structures grow at their
 * ends only: the library fills or reads no more than the size, takes 0 for members that are
 * missing, and refuses members that it does not know and that are not 0. Enumerations get new
 * values behind their last one; functions get no new arguments. Any other change changes the
 * library's soname.
 */
/* Long because: the whole interface of libtracehost is to be found in one place. */
#ifndef TRACEHOST_H
#define TRACEHOST_H

#include "erl_nif.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exports of libtracehost. The list for the linker is made from the declarations that begin with
 * this macro. */
#define TRACEHOST_API extern __attribute__((visibility("default")))

/* --- Versions --------------------------------------------------------------------------------- */

/* Version of this header: its parts, and one number that grows with each version. */
#define TRACEHOST_VERSION_MAJOR 0
#define TRACEHOST_VERSION_MINOR 1
#define TRACEHOST_VERSION_PATCH 0
#define TRACEHOST_VERSION \
    (TRACEHOST_VERSION_MAJOR * 10000 + TRACEHOST_VERSION_MINOR * 100 + TRACEHOST_VERSION_PATCH)

/* Version of the library, which may be later than the header's: as TRACEHOST_VERSION, and as text,
 * "0.1.0", valid for ever. Any thread. */
TRACEHOST_API int tracehost_version(void);
TRACEHOST_API const char *tracehost_version_text(void);

/* --- The supervisor --------------------------------------------------------------------------- */

/*
 * Makes two processes of the program: the calling one becomes the supervisor, which waits and never
 * returns; in the other one, the worker, the function returns true, and the program goes on. NAME,
 * such as "shopd", begins the supervisor's messages; the caller keeps the text.
 *
 * If a tracer or plugin ends the worker, by a crash, exit(), _exit(), exec, or otherwise, the
 * supervisor names the library and the callback on stderr, writes out what was left in the buffer
 * of stdout and in the outputs of the tracers that ship, removes unfinished files, and exits with 6.
 * A worker that is killed from outside, or crashes in the program's own code, accuses no library:
 * the supervisor ends by the same signal. A worker that ends by exit(), or by the end of main(),
 * ends the supervisor with the same status; the program's own calls of _exit() count as a library's.
 * The worker dies if the supervisor is killed.
 *
 * The host must be started with the setup's `guard`. stdout is given a buffer of this library.
 * Order: main's first call, before threads exist and anything is written to stdout.
 * Errors: returns false in the calling process, which then has no supervisor: under a debugger,
 * strace or valgrind, or if the system refuses a process or memory.
 */
TRACEHOST_API bool tracehost_supervise(const char *name);

/* --- Errors ----------------------------------------------------------------------------------- */

/* The numbers are also the exit statuses of the program `tracehost`. */
enum tracehost_status {
    TRACEHOST_OK = 0,
    TRACEHOST_FAILED = 1,    /* an attempt failed */
    TRACEHOST_USAGE = 2,     /* a call that makes no sense, or not now */
    TRACEHOST_MALFORMED = 3, /* unreadable text, term or input */
    TRACEHOST_PARTIAL = 4,   /* damaged input, of which a part was used */
    TRACEHOST_REFUSED = 5,   /* a library that was refused, or failed to load */
    TRACEHOST_END = 64       /* no error: end of the sequence */
};

/*
 * The chain of causes of the thread's latest call that failed; TRACEHOST_END is no failure. A call
 * that succeeds may keep or clear the chain. Each thread has its own chain; any thread.
 *
 * tracehost_error_status() returns the status of the chain, TRACEHOST_OK if there is none.
 * tracehost_error_link() returns link I of the chain in UTF-8, NULL behind the last link: link 0 is
 * the outermost one (the attempt that failed), the last link is the first cause (with a remedy).
 * The text is valid until the thread's next call. tracehost_error_print() writes "PREFIX:
 * outermost" and each cause on a line of its own below. tracehost_error_text() writes the chain as
 * one line, "outermost: cause: cause", as snprintf() does: at most SIZE bytes, the last of which is
 * a 0 (if SIZE is not 0); it returns the bytes of the whole line without the 0.
 * tracehost_error_clear() clears the chain.
 */
TRACEHOST_API enum tracehost_status tracehost_error_status(void);
TRACEHOST_API const char *tracehost_error_link(size_t i);
TRACEHOST_API void tracehost_error_print(FILE *out, const char *prefix);
TRACEHOST_API size_t tracehost_error_text(char *buffer, size_t size);
TRACEHOST_API void tracehost_error_clear(void);

/* --- Terms and text --------------------------------------------------------------------------- */

/*
 * Reads TEXT, one Erlang term in UTF-8 ("[{'_',[],[{return_trace}]}]"; a full stop may follow),
 * into ENV. Pids and ports, as "<0.95.0>", are those of the recorded node.
 * Errors: TRACEHOST_MALFORMED with line and column; also for variables, expressions, and all funs
 * but `fun Module:Function/Arity`.
 */
TRACEHOST_API enum tracehost_status tracehost_term_parse(ErlNifEnv *env, const char *text,
                                                         ERL_NIF_TERM *term);

/* Returns TERM as text in UTF-8, as io:format("~0p") writes it; tracehost_free() frees the text.
 * Thread: any that may read the term.
 * Errors: NULL if TERM is 0. NULL with the status TRACEHOST_FAILED (tracehost_error_status()) if
 * there is no memory. */
TRACEHOST_API char *tracehost_term_to_text(ERL_NIF_TERM term);

/* Frees a result whose comment names this function. NULL is allowed. Any thread. */
TRACEHOST_API void tracehost_free(void *memory);

/* --- The host --------------------------------------------------------------------------------- */

typedef struct tracehost_host tracehost_host;

/* Clock of enif_monotonic_time() and the other time functions in callbacks. */
enum tracehost_clock {
    TRACEHOST_CLOCK_RECORDED = 0, /* the time of the event, if it has one */
    TRACEHOST_CLOCK_WALL = 1      /* the host's clock */
};

struct tracehost_setup {
    size_t size;
    /* Folders that are searched first for tracers; see tracehost_host_add_folder(). */
    const char *const *folders;
    size_t folder_count;
    enum tracehost_clock clock;
    /* True if the recordings were made with the match specification {message,{caller}}: the results
     * in them are then callers, for patterns that request callers. */
    bool recorded_callers;
    /* Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT until the host is stopped. A signal that
     * a callback of a tracer causes ends the program with status 6, after a report on stderr that
     * names tracer, callback and event; so does an exit() in a callback. Other signals reach the
     * handlers that were installed before. If `guard` is false, the library installs no handler.
     * Thread: the one that starts and stops the host. */
    bool guard;
    /* Traces the program's own processes and functions while they run: see tracehost_live_begin().
     */
    bool live;
    /* Maximum number of open calls that are kept for each recorded process, for patterns that
     * request returns and callers; 0: a million. Older calls are dropped, and counted. */
    uint32_t frames;
    /* Gets the terms that match specifications `display`; NULL: they are dropped. The term is valid
     * during the call. */
    void (*display)(ERL_NIF_TERM term);
};

/*
 * Starts the host; SETUP may be NULL. A program has one host at a time, in a process that has
 * loaded libtracehost once; after tracehost_host_stop() it may start another. A program may open
 * the library with dlopen(), also with RTLD_LOCAL: after this call tracers find the library's
 * functions. dlclose() leaves the library loaded.
 * Errors: TRACEHOST_USAGE if a host runs already; TRACEHOST_FAILED if no thread can be started.
 */
TRACEHOST_API enum tracehost_status tracehost_host_start(const struct tracehost_setup *setup,
                                                         tracehost_host **host);

/*
 * Stops HOST: ends all sessions, whose tracers write what they have left and are unloaded. For
 * tracers this is the end of the node: first the library calls the callbacks of tracers that
 * requested them (enif_set_option(), ERL_NIF_OPT_ON_HALT). NULL is allowed. HOST must not be used
 * afterwards; streams, match specifications and terms stay valid. Not in a callback.
 * Order: after the end of each replay, of the control, and of all live processes and functions;
 * else TRACEHOST_USAGE.
 * Errors: TRACEHOST_FAILED with the latest failure, if a tracer has reported one since the host was
 * started, such as a file that it could not write. The host is stopped all the same.
 */
TRACEHOST_API enum tracehost_status tracehost_host_stop(tracehost_host *host);

/*
 * Adds FOLDER to the folders that are searched for tracers. A tracer's name without a '/' stands
 * for a file NAME.so, searched for in the setup's folders, then in the folders that were added
 * here, in their order; then in the folders of the variable TRACEHOST_PATH, separated by ':'; then
 * in lib/tracehost/tracers beside libtracehost.so. A folder need not exist.
 */
TRACEHOST_API enum tracehost_status tracehost_host_add_folder(tracehost_host *host,
                                                              const char *folder);

/* A tracer that was found. Valid during the visit. */
struct tracehost_found {
    size_t size;
    const char *name;
    const char *path;
    bool shadowed; /* a tracer of the same name comes first */
};

/* Calls VISIT for each tracer that can be found, sorted by name. Runs no code of the tracers and
 * does not examine them. */
TRACEHOST_API enum tracehost_status
tracehost_host_visit_tracers(tracehost_host *host,
                             void (*visit)(void *context, const struct tracehost_found *found),
                             void *context);

/* Counts that belong to no single session, since the host was started. */
struct tracehost_host_counts {
    size_t size;
    uint64_t sessions;        /* sessions that are alive or, in a host that is not live, clearing */
    uint64_t calls_forgotten; /* calls dropped for want of room (too many open calls in a process):
                                  their ends can no longer be withheld */
    uint64_t returns_not_kept; /* returns requested of calls for which a stack had no room, or that
                                  were open when events were lost */
    uint64_t mail_dropped;     /* messages of tracers to recorded processes, which do not run; count
                                  of the whole program */
};
TRACEHOST_API enum tracehost_status tracehost_host_get_counts(tracehost_host *host,
                                                              struct tracehost_host_counts *counts);

/*
 * Calls DONE(CONTEXT) when every event of TRACEE, a pid or port, up to now has been delivered to
 * the tracers; TRACEE 0: events of all tracees. Unless the host is live, it calls DONE before it
 * returns, or, in a callback, after the current event. On a live host a thread of the library calls
 * DONE later, after a grace period. Source: trace:delivered/2.
 */
TRACEHOST_API enum tracehost_status tracehost_host_delivered(tracehost_host *host,
                                                             ERL_NIF_TERM tracee,
                                                             void (*done)(void *context),
                                                             void *context);

/* --- Processes of the program ----------------------------------------------------------------- */

/*
 * A process of the program to which tracers can send: the program puts its pid into a session's
 * state. tracehost_process_start() needs no host. The library calls RECEIVE (NULL: messages are
 * dropped) for each message, one call at a time, in the thread that sends, before the send returns;
 * the message is valid during the call. RECEIVE must neither send to the process nor stop it. The
 * pid stays the same until the process is stopped, and is dead for ever after.
 * tracehost_process_stop() waits while a message is being received, and frees PROCESS.
 *
 * tracehost_console_pid() returns the pid of a process that prints each message on a line of its
 * own to OUT (stdout, if OUT is NULL or tracehost_console_set_output() was not called). Any thread.
 */
typedef struct tracehost_process tracehost_process;
TRACEHOST_API enum tracehost_status
tracehost_process_start(void (*receive)(void *context, ERL_NIF_TERM message), void *context,
                        tracehost_process **process);
TRACEHOST_API ERL_NIF_TERM tracehost_process_pid(const tracehost_process *process);
TRACEHOST_API void tracehost_process_stop(tracehost_process *process);
TRACEHOST_API ERL_NIF_TERM tracehost_console_pid(void);
TRACEHOST_API void tracehost_console_set_output(FILE *out);

/* --- Sessions --------------------------------------------------------------------------------- */

/*
 * A session: a tracer with its state, tracees and patterns. 64 sessions may exist at a time,
 * several of them with one tracer, whose library's private data they then share. The number of a
 * session is not 0 and is never used again: a call with the number of a session that has ended
 * returns TRACEHOST_USAGE and is safe. Numbers belong to one host.
 */
typedef uint64_t tracehost_session;

/* The clock of an event's time. */
enum tracehost_time_kind {
    TRACEHOST_TIME_NONE = 0,
    TRACEHOST_TIME_TIMESTAMP = 1, /* system time, since 1970 */
    TRACEHOST_TIME_CPU = 2,
    TRACEHOST_TIME_MONOTONIC = 3,
    TRACEHOST_TIME_STRICT_MONOTONIC = 4
};

/*
 * An event, as the callbacks of a tracer in the program get it: what a tracer that is a library
 * gets as the arguments of its callbacks, with the keys of the map Opts as members. Source:
 * erl_tracer of OTP. Valid during the callback, and so are the terms; enif_make_copy() keeps them.
 * 0 and TRACEHOST_TIME_NONE stand for what the event does not have.
 *
 * Shapes, by tag: `call`: TERM is {M, F, Args}, or {M, F, Arity} if only the arity is known;
 * `return_from`, `exception_from`: {M, F, Arity}, and EXTRA is the value, or {Class, Reason};
 * `return_to`: {M, F, Arity} or undefined; `send`: the message, and EXTRA is the receiver;
 * `receive`: the message; the other tags: see erl_tracer.h.
 */
struct tracehost_event {
    size_t size; /* that the library fills */
    tracehost_session session;
    const char *tag;       /* "call", "send", ...; valid for ever */
    ERL_NIF_TERM tag_term; /* the same as an atom */
    ERL_NIF_TERM tracee;   /* pid or port; seq_trace: the label */
    ERL_NIF_TERM state;    /* the session's */
    ErlNifEnv *env;        /* the callback's, for the functions of the NIF API */
    uint64_t number;       /* of the record in its stream, from 1; 0: no recorded event */
    /* The rest: in `trace` alone, not in `enabled`. */
    ERL_NIF_TERM term;
    ERL_NIF_TERM extra;
    ERL_NIF_TERM match_spec_result;
    ERL_NIF_TERM scheduler_id; /* an integer */
    /* The record's time, whatever the flags request. Live events: the present time by the clock
     * that the session's flags request. */
    enum tracehost_time_kind time_kind;
    int64_t time; /* nanoseconds of that clock */
};

enum tracehost_answer {
    TRACEHOST_ANSWER_TRACE = 0,   /* `trace` gets the event */
    TRACEHOST_ANSWER_DISCARD = 1, /* not this event */
    TRACEHOST_ANSWER_REMOVE = 2   /* as `remove` of erl_tracer; any other value counts as this */
};

/*
 * A tracer that is no library but functions of the program, in any language that C can call. No
 * name is searched for and nothing is loaded; all else is as for other tracers.
 *
 * Threads: the one that plays the recording; on a live host each thread that raises an event, any
 * number of them at once. `end` runs in the thread that ends the session, or in one of the library.
 * Errors: a callback must return; an exception or a longjmp() out of it is not allowed.
 */
struct tracehost_callbacks {
    size_t size;
    void *context; /* first argument of each callback */
    /* Decides whether `trace` gets the event. NULL: all events. Ends of calls are not asked for:
     * they follow the answer for their call. */
    enum tracehost_answer (*enabled)(void *context, const struct tracehost_event *event);
    void (*trace)(void *context, const struct tracehost_event *event); /* not NULL */
    /* Called once, after the last callback of the session; not if its creation fails. NULL: no
     * call. */
    void (*end)(void *context);
    /* True: the callbacks look at functions alone. They get {M, F, Arity} for {M, F, Args},
     * `undefined` as the term of events without a function, and neither EXTRA nor MATCH_SPEC_RESULT
     * of recorded events; those are not decoded. As th_tracer_functions_only of erl_tracer.h. */
    bool functions_only;
};

struct tracehost_session_setup {
    size_t size;
    const char *tracer; /* name of the tracer, or its path if it has a '/' */
    const char *name;   /* name of the session, for reports; NULL: none */
    /* The state, an argument of each callback. At most one of these three is given; without any the
     * state is #{}. */
    ERL_NIF_TERM state;        /* a term */
    const char *state_text;    /* Erlang text; `console` in it stands for the console's pid */
    const char *state_options; /* "key=value,key=value": a map; values are integers, true, false,
                                  `console`, else binaries */
    /* Flags (enum tracehost_flag) for every tracee that the recording shows; processes that are
     * spawned in it inherit them, as under its recorder. 0: no tracee until the calls below add
     * some. */
    uint32_t recorded_flags;
    /* The tracer, copied, if it is functions of the program. Then `tracer` only names it in
     * reports; NULL: "callbacks". */
    const struct tracehost_callbacks *callbacks;
};

/*
 * Finds, examines and loads the tracer, and calls its enabled(trace_status, State, undefined),
 * unless the tracer is functions of the program. A remarkable property of a library that is no reason to refuse it is logged as a warning on stderr.
 * Errors: TRACEHOST_REFUSED with the fault of the library; TRACEHOST_FAILED if the tracer returns
 * `remove` or reports a failure (th_tracer_failed() of nif_module.h); TRACEHOST_USAGE if there are
 * too many sessions, if the state cannot be read or has a key or value that the tracer does not
 * declare, or if another tracer writes a file that this one would write.
 * Source: trace:session_create/3.
 */
TRACEHOST_API enum tracehost_status
tracehost_session_create(tracehost_host *host, const struct tracehost_session_setup *setup,
                         tracehost_session *session);

/* Ends the session with its flags and patterns. Outside of callbacks, no callback of the session
 * runs after this returns. In a callback, the current callbacks are its last ones, and the session
 * is dead after the event, or soon after.
 * Errors: TRACEHOST_FAILED if the tracer reports a failure while it is unloaded; the session has
 * ended all the same.
 * Source: trace:session_destroy/1. */
TRACEHOST_API enum tracehost_status tracehost_session_destroy(tracehost_host *host,
                                                              tracehost_session session);

enum tracehost_session_state {
    TRACEHOST_SESSION_ALIVE = 0,
    TRACEHOST_SESSION_CLEARING = 1, /* destroyed during the current event */
    TRACEHOST_SESSION_DEAD = 2      /* ended, or never a session; also without a host */
};
TRACEHOST_API enum tracehost_session_state tracehost_session_get_state(tracehost_host *host,
                                                                       tracehost_session session);

/* Calls the session's tracer for its trace_status; in a callback, *ATTACHED is the last known
 * status. If the tracer returns `remove`, it has no tracees any more, and *ATTACHED is false from
 * then on. */
TRACEHOST_API enum tracehost_status
tracehost_session_ask_status(tracehost_host *host, tracehost_session session, bool *attached);

/* Counts of a session's events, and of facts that were unknown at its patterns. */
struct tracehost_session_counts {
    size_t size;
    uint64_t enabled;   /* callbacks of the enabled family, without trace_status */
    uint64_t traced;    /* callbacks of the trace family */
    uint64_t discarded; /* events that `enabled` discarded */
    uint64_t silenced;  /* calls that `enabled` accepted, of tracees with the flag silent */
    uint64_t untraced;  /* returns withheld because their call was discarded or silent */
    uint64_t filtered;  /* events that the flags exclude; live: if any session requests them */
    uint64_t removed;   /* tracees removed by the result `remove`, or an invalid one */
    uint64_t kept;      /* `remove` results for tags for which `remove` only discards */
    uint64_t refused;   /* messages and port commands of the tracer to its tracees */
    uint64_t status;    /* callbacks for trace_status */

    uint64_t undecided;        /* calls whose match specification depends on an unknown fact */
    uint64_t callers_unknown;  /* unknown callers that a match specification requests */
    uint64_t actions_unsure;   /* actions skipped because they depend on an unknown fact */
    uint64_t external_unknown; /* calls at a global pattern that may be local calls */
    uint64_t untimed;          /* calls at a call_time pattern without a time: not counted */
    uint64_t returns_unknown;  /* returns requested of calls whose end is not recorded */
    uint64_t lines_unknown;    /* unknown lines of callers */

    uint64_t messages_unmatched; /* sends and receives that a message pattern excludes */
    uint64_t messages_silenced;  /* messages that match, of a silent process */
    uint64_t messages_undecided; /* messages excluded because the match depends on an unknown
                                    fact */
    uint64_t messages_unsure;    /* actions of message patterns skipped because of an unknown
                                    fact */

    uint64_t returns_doubtful; /* return_to records delivered or dropped, and times taken, although
                                  the recording does not show which calls ended */
};
TRACEHOST_API enum tracehost_status
tracehost_session_get_counts(tracehost_host *host, tracehost_session session,
                             struct tracehost_session_counts *counts);

/* Names and state of a session, valid until the session ends. `name` is NULL if the session has
 * none; `tracer` is the name as it was given. */
struct tracehost_session_info {
    size_t size;
    const char *name;
    const char *tracer;
    ERL_NIF_TERM state;
    bool attached;  /* false once the tracer has returned `remove` to a trace_status of its own, or
                       reported a failure */
    bool patterned; /* true once a function pattern was set */
};
TRACEHOST_API enum tracehost_status tracehost_session_get_info(tracehost_host *host,
                                                               tracehost_session session,
                                                               struct tracehost_session_info *info);

/*
 * Writes at most ROOM sessions to SESSIONS, and returns the number of all: sessions that are alive,
 * or, if TRACEE is not 0, those that trace this pid or port. Source: trace:session_info/1.
 */
TRACEHOST_API size_t tracehost_session_list(tracehost_host *host, ERL_NIF_TERM tracee,
                                            tracehost_session *sessions, size_t room);

/* --- Tracees of a session --------------------------------------------------------------------- */

/*
 * Trace flags. Names and meanings are those of trace:process/4; flags that have no meaning for
 * ports are ignored there.
 */
enum tracehost_flag {
    TRACEHOST_FLAG_SEND = 1 << 0,
    TRACEHOST_FLAG_RECEIVE = 1 << 1,
    TRACEHOST_FLAG_CALL = 1 << 2, /* calls, returns and exceptions */
    TRACEHOST_FLAG_RETURN_TO = 1 << 3,
    TRACEHOST_FLAG_PROCS = 1 << 4, /* spawn, exit, link, register and the like */
    TRACEHOST_FLAG_PORTS = 1 << 5, /* the same of ports */
    TRACEHOST_FLAG_RUNNING = 1 << 6,
    TRACEHOST_FLAG_RUNNING_PROCS = 1 << 7,
    TRACEHOST_FLAG_RUNNING_PORTS = 1 << 8,
    TRACEHOST_FLAG_EXITING = 1 << 9,
    TRACEHOST_FLAG_GARBAGE_COLLECTION = 1 << 10,
    TRACEHOST_FLAG_TIMESTAMP = 1 << 11,     /* asks the tracer to add a time stamp, as do the next
                                               three */
    TRACEHOST_FLAG_CPU_TIMESTAMP = 1 << 12, /* for all processes or none */
    TRACEHOST_FLAG_MONOTONIC_TIMESTAMP = 1 << 13,
    TRACEHOST_FLAG_STRICT_MONOTONIC_TIMESTAMP = 1 << 14,
    TRACEHOST_FLAG_ARITY = 1 << 15,        /* calls show their arity instead of their arguments */
    TRACEHOST_FLAG_SCHEDULER_ID = 1 << 16, /* adds the scheduler's number, if it was recorded */
    TRACEHOST_FLAG_SILENT = 1 << 17,       /* for a call, `enabled` is called and `trace` is not */
    TRACEHOST_FLAG_SET_ON_SPAWN = 1 << 18, /* a spawned process inherits all flags */
    TRACEHOST_FLAG_SET_ON_FIRST_SPAWN = 1 << 19,
    TRACEHOST_FLAG_SET_ON_LINK = 1 << 20,
    TRACEHOST_FLAG_SET_ON_FIRST_LINK = 1 << 21,

    /* Time stamps and scheduler as recorded, whatever the flags above request; arguments as
     * recorded, unless TRACEHOST_FLAG_ARITY is set. */
    TRACEHOST_FLAG_AS_RECORDED = 1 << 30,

    /* All flags that select events. */
    TRACEHOST_FLAGS_EVENTS = 0x7FF
};

/* Reads flag names separated by commas, as `tracehost replay --flags` takes them:
 * "call,return_to,timestamp". TRACEHOST_USAGE with the known names. Any thread. */
TRACEHOST_API enum tracehost_status tracehost_flags_parse(const char *list, uint32_t *flags);

/*
 * Groups of processes and ports. A recording does not show which processes existed when it began:
 * its new processes and ports are those that are spawned or opened in it; all others are existing
 * ones, also those that no record has named yet.
 */
enum tracehost_tracees {
    TRACEHOST_PROCESSES_ALL = 0,
    TRACEHOST_PROCESSES_EXISTING = 1,
    TRACEHOST_PROCESSES_NEW = 2,
    TRACEHOST_PORTS_ALL = 3,
    TRACEHOST_PORTS_EXISTING = 4,
    TRACEHOST_PORTS_NEW = 5
};

/*
 * Sets (ON) or clears FLAGS of a group of tracees; other flags stay. Flags of groups also apply to
 * later recordings. Source: trace:process/4 and trace:port/4.
 */
TRACEHOST_API enum tracehost_status tracehost_session_trace(tracehost_host *host,
                                                            tracehost_session session,
                                                            enum tracehost_tracees which, bool on,
                                                            uint32_t flags);

/* Sets (ON) or clears FLAGS of one pid or port, until the recording or TRACEE ends.
 * Errors: TRACEHOST_USAGE if TRACEE is no pid or port of the recorded node or of a live host, or
 * has ended, or if FLAGS has TRACEHOST_FLAG_CPU_TIMESTAMP. */
TRACEHOST_API enum tracehost_status tracehost_session_trace_one(tracehost_host *host,
                                                                tracehost_session session,
                                                                ERL_NIF_TERM tracee, bool on,
                                                                uint32_t flags);

/* Sets FLAGS of WHO in this recording and later ones. WHO is a pid, a port, or an atom: then the
 * flags are those of any process or port that registers this name. */
TRACEHOST_API enum tracehost_status tracehost_session_expect(tracehost_host *host,
                                                             tracehost_session session,
                                                             ERL_NIF_TERM who, uint32_t flags);

/*
 * Gets the flags of a pid or port, and the flags that new or existing ones get (`all`: those of
 * existing ones); 0: not traced. Outside of callbacks, first calls the tracer for its trace_status,
 * as OTP does. Source: trace:info/3.
 */
TRACEHOST_API enum tracehost_status tracehost_session_get_flags(tracehost_host *host,
                                                                tracehost_session session,
                                                                ERL_NIF_TERM tracee,
                                                                uint32_t *flags);
TRACEHOST_API enum tracehost_status
tracehost_session_get_default_flags(tracehost_host *host, tracehost_session session,
                                    enum tracehost_tracees which, uint32_t *flags);

/* --- Function and message patterns ------------------------------------------------------------ */

enum tracehost_kind {
    TRACEHOST_LOCAL = 0x01,      /* traces each call */
    TRACEHOST_GLOBAL = 0x02,     /* traces each external call; excludes all other kinds, except as
                                    `kinds` below allows */
    TRACEHOST_META = 0x04,       /* traces each call of any process, traced or not */
    TRACEHOST_CALL_COUNT = 0x08, /* counts calls */
    TRACEHOST_CALL_TIME = 0x10,  /* counts calls and their time, by process */
    TRACEHOST_CALL_MEMORY = 0x20 /* counts calls and the words that they allocate, by process; live
                                    hosts only: recordings lack the words */
};

struct tracehost_pattern {
    size_t size;
    /* The function, as text or as a term. Text: M:F/A, M:F/_, M:_/_ or _:_/_, with atoms as in
     * Erlang; or as in Elixir, M.F/A, M.F/_ or M._/_. Term: {M,F,A}, with '_' in the same places, or
     * the atom on_load, which means '_' for all with `on_load` set. */
    const char *function;
    ERL_NIF_TERM function_term;
    /* The match specification, as text or as a term; without any it is true. Text: Erlang text, or
     * a name as in dbg: x (exceptions), c (callers), cx, and r (returns). Term: a match
     * specification or true; false, which clears these kinds; pause or restart, for kinds that
     * count; restart also ends the pause of a tracer's th_disarm() (nif_module.h). */
    const char *match;
    ERL_NIF_TERM match_term;
    /* Set of enum tracehost_kind; 0: TRACEHOST_LOCAL. LOCAL with GLOBAL, and no other kind, means
     * for each function the kind that it can have, LOCAL if it can have both, as recorded functions
     * can; with false, both are cleared. */
    uint32_t kinds;
    bool on_load; /* applies to functions that come later, not to present ones */
};

/*
 * Sets, changes or clears breakpoints. As in a BEAM, a global pattern replaces all other kinds at
 * each function that it matches, exported or not; and any other kind replaces a global one, except
 * at functions of this host that cannot have a local breakpoint. *MATCHED (NULL: not wanted) is the
 * number of functions matched so far: a function of a recording exists from its first call on, or
 * once a pattern names it in full; functions that come later get the patterns in the order in which
 * they were set.
 *
 * A session without any pattern gets calls, returns and exceptions as they were recorded. From its
 * first pattern on it gets only those that its patterns request, whatever the recording was made
 * for; if all patterns are cleared, it gets none. The flag `call` selects the tracees whose calls
 * it gets.
 *
 * The pattern applies to all calls after this returns; in a callback, from the next event on or
 * soon after.
 * Errors: TRACEHOST_MALFORMED or TRACEHOST_USAGE with the fault; TRACEHOST_FAILED if a client of
 * the control or another thread ends the session meanwhile.
 * Source: trace:function/4.
 */
TRACEHOST_API enum tracehost_status
tracehost_session_set_pattern(tracehost_host *host, tracehost_session session,
                              const struct tracehost_pattern *pattern, size_t *matched);

/* Breakpoints of a session at a function, with their counts. Valid during the visit. */
struct tracehost_function {
    size_t size;
    ERL_NIF_TERM module, function; /* atoms */
    unsigned arity;
    uint32_t kinds;          /* set of enum tracehost_kind */
    uint32_t active;         /* subset of `kinds` that is not paused */
    ERL_NIF_TERM match_spec; /* as given to LOCAL or GLOBAL, without these kinds to META; true:
                                none */
    uint64_t calls;          /* call_count */
    int64_t time;            /* call_time: nanoseconds of all processes, by the records' clock */
    uint64_t time_calls;     /* call_time: calls */
    const struct tracehost_usage *usage; /* call_time of each process, in no order */
    size_t usage_count;
    int64_t words; /* call_memory: words of all processes */
    uint64_t words_calls;
    const struct tracehost_usage *words_usage;
    size_t words_usage_count;
    ERL_NIF_TERM meta_match_spec; /* as given to META; true: none; 0: no META */
};
struct tracehost_usage { /* an array's element: does not grow */
    ERL_NIF_TERM process;
    uint64_t calls;
    int64_t amount; /* nanoseconds, or words */
};

/* Calls VISIT for each function at which the session has a breakpoint, in no order. FUNCTION, a
 * text M:F/A, selects this one alone (NULL: all). FUNCTION "on_load" selects functions that come
 * later: VISIT is called once, for _:_/0, with the setting of on_load patterns for all modules, if
 * there is one. Source: trace:info/3. */
TRACEHOST_API enum tracehost_status tracehost_session_visit_functions(
    tracehost_host *host, tracehost_session session, const char *function,
    void (*visit)(void *context, const struct tracehost_function *function), void *context);

/*
 * Selects which messages a session traces, among those that the flags select: by MATCH, Erlang text
 * as in struct tracehost_pattern, or if MATCH is NULL by the term MATCH_TERM. true: all, as without
 * a pattern; false: none; or a match specification for [Receiver, Message] (send) or [Node, Sender,
 * Message] (receive). The tracer gets no `enabled` for an excluded message. Recordings lack Node
 * and Sender: a message whose match depends on them is excluded, and counted. Takes effect with the
 * next event. Source: trace:send/3, trace:recv/3.
 */
TRACEHOST_API enum tracehost_status tracehost_session_set_send_pattern(tracehost_host *host,
                                                                       tracehost_session session,
                                                                       const char *match,
                                                                       ERL_NIF_TERM match_term);
TRACEHOST_API enum tracehost_status tracehost_session_set_receive_pattern(tracehost_host *host,
                                                                          tracehost_session session,
                                                                          const char *match,
                                                                          ERL_NIF_TERM match_term);

/* Gets the setting, as a term of ENV: true, false, or the match specification as it was given. */
TRACEHOST_API enum tracehost_status tracehost_session_get_send_pattern(tracehost_host *host,
                                                                       tracehost_session session,
                                                                       ErlNifEnv *env,
                                                                       ERL_NIF_TERM *match);
TRACEHOST_API enum tracehost_status tracehost_session_get_receive_pattern(tracehost_host *host,
                                                                          tracehost_session session,
                                                                          ErlNifEnv *env,
                                                                          ERL_NIF_TERM *match);

/* --- Match specifications without a session --------------------------------------------------- */

/*
 * A compiled match specification, for use without a session. The match specification never changes:
 * any number of threads may run it at once, each with an environment of its own. These functions
 * need no host.
 */
typedef struct tracehost_match tracehost_match;

enum tracehost_match_kind {
    TRACEHOST_MATCH_CALL = 0,   /* matches the list of a call's arguments */
    TRACEHOST_MATCH_SEND = 1,   /* matches [Receiver, Message] */
    TRACEHOST_MATCH_RECEIVE = 2 /* matches [Node, Sender, Message] */
};

enum tracehost_match_part {
    TRACEHOST_MATCH_WHOLE = 0,
    TRACEHOST_MATCH_HEAD = 1,
    TRACEHOST_MATCH_GUARD = 2,
    TRACEHOST_MATCH_BODY = 3
};

/* A fault of a match specification, with its place. Valid during the visit. */
struct tracehost_match_fault {
    size_t size;
    size_t clause; /* number from 1; 0: in no clause */
    enum tracehost_match_part part;
    size_t item;       /* number from 1 of the element of the head, guard, or expression of the
                          body; 0: none */
    const char *text;  /* text of erlang:match_spec_test/3 */
    const char *term;  /* faulty part as Erlang text, cut if it is long; NULL: the whole */
    const char *place; /* "clause 2, guard 1"; "" if the clause is 0 */
};

/*
 * Compiles SPECIFICATION, or TEXT (Erlang text, or a name as in struct tracehost_pattern). Before
 * this returns, it calls FAULT (NULL: not wanted) for each fault of the first clause that has any,
 * as a BEAM does. Any thread.
 * Owner: the caller; tracehost_match_free() frees *MATCH, which no thread may be running. NULL is
 * allowed.
 * Errors: TRACEHOST_MALFORMED with the first fault.
 */
TRACEHOST_API enum tracehost_status
tracehost_match_compile(enum tracehost_match_kind kind, ERL_NIF_TERM specification,
                        void (*fault)(void *context, const struct tracehost_match_fault *fault),
                        void *context, tracehost_match **match);
TRACEHOST_API enum tracehost_status tracehost_match_compile_text(
    enum tracehost_match_kind kind, const char *text,
    void (*fault)(void *context, const struct tracehost_match_fault *fault), void *context,
    tracehost_match **match);
TRACEHOST_API void tracehost_match_free(tracehost_match *match);

/* The input of a match. The library does not guess unknown facts: the result may be "unknown". */
struct tracehost_match_subject {
    size_t size;
    ERL_NIF_TERM target; /* a list; 0: ARITY arguments that are not known */
    unsigned arity;      /* at most 255 */
    ERL_NIF_TERM self;   /* the tracee; 0: unknown */
    ERL_NIF_TERM caller; /* {M,F,Arity} or undefined; 0: unknown */
};

enum tracehost_match_end {
    TRACEHOST_MATCH_NO = 0,
    TRACEHOST_MATCH_YES = 1,
    TRACEHOST_MATCH_UNKNOWN = 2
};

struct tracehost_match_result {
    size_t size;
    enum tracehost_match_end end;
    size_t clause; /* number from 1 of the clause that matched, or that depends on an unknown fact;
                      0: none matched */
    /* Only of a match. The message, valid as long as ENV, the specification and the subject. true:
     * nothing is added to the trace message; false: no trace message; another term: added to it; 0:
     * depends on an unknown fact. */
    ERL_NIF_TERM message;
    bool return_trace, exception_trace;
    unsigned callers_unknown; /* unknown callers that were requested */
    unsigned unsure;          /* actions skipped because they depend on an unknown fact */
};

/*
 * Runs MATCH on SUBJECT, without its actions. TRACEHOST_USAGE if SUBJECT does not fit the kind of
 * MATCH. tracehost_match_explain() makes a text instead, as `tracehost match` shows it: a first
 * line with the result of erlang:match_spec_test/3, then the reason why each clause failed, and the
 * actions. tracehost_free() frees the text.
 */
TRACEHOST_API enum tracehost_status
tracehost_match_run(const tracehost_match *match, ErlNifEnv *env,
                    const struct tracehost_match_subject *subject,
                    struct tracehost_match_result *result);
TRACEHOST_API enum tracehost_status
tracehost_match_explain(const tracehost_match *match, const struct tracehost_match_subject *subject,
                        char **text);

/* --- Recorded streams ------------------------------------------------------------------------- */

/*
 * A stream: a recording, read record by record. Formats, detected by content: files of
 * dbg:trace_port(file, ...), wrapped sets of them, JSON lines, each also compressed (gzip, zstd).
 * Streams need no host and are independent: each may have a thread of its own. Memory does not grow
 * with the length of the stream.
 */
typedef struct tracehost_stream tracehost_stream;

struct tracehost_stream_options {
    size_t size;
    /* True if the stream was recorded with the flag scheduler_id: an integer that may be a match
     * specification's result or a scheduler's number is then the latter. */
    bool scheduler_id;
    /* Maximum memory for one event in bytes, from its record or line to its terms: 1 MiB or more. A
     * larger event counts as damaged and is skipped. 0: 512 MiB. */
    size_t max_memory;
};

/*
 * Opens the stream NAME: a file; "-" for stdin; a wrapped set by its first file or as NAME*TAIL;
 * tcp://HOST:PORT, a node that sends from dbg:trace_port(ip, PORT). OPTIONS may be NULL. Waits for
 * the first bytes, for a node only until it is connected. tracehost_stream_open_fd() reads from an
 * open file descriptor, such as a pipe or socket; NAME is for messages.
 *
 * tracehost_stream_close() closes and frees it; NULL is allowed.
 * Owner: tracehost_stream_open_fd() takes FD and closes it, also on failure.
 * Errors: TRACEHOST_MALFORMED with the format that was found instead. TRACEHOST_USAGE if the stream
 * is closed while a replay of it has not ended.
 */
TRACEHOST_API enum tracehost_status
tracehost_stream_open(const char *name, const struct tracehost_stream_options *options,
                      tracehost_stream **stream);
TRACEHOST_API enum tracehost_status
tracehost_stream_open_fd(int fd, const char *name, const struct tracehost_stream_options *options,
                         tracehost_stream **stream);
TRACEHOST_API enum tracehost_status tracehost_stream_close(tracehost_stream *stream);

enum tracehost_record_kind {
    TRACEHOST_RECORD_TRACE = 0,     /* {trace, ...} or {trace_ts, ...} */
    TRACEHOST_RECORD_SEQ_TRACE = 1, /* {seq_trace, ...} */
    TRACEHOST_RECORD_DROP = 2,      /* events that the recorder lost */
    TRACEHOST_RECORD_OTHER = 3      /* no trace message */
};

struct tracehost_record {
    size_t size;
    uint64_t number;   /* number in its stream, from 1 */
    uint64_t position; /* offset of its first byte in its file, from 0 */
    enum tracehost_record_kind kind;
    const char *tag;     /* "call", "send", ..., valid for ever; NULL unless kind is
                            TRACEHOST_RECORD_TRACE */
    ERL_NIF_TERM tracee; /* a pid or port of the recorded node; 0: none */
    enum tracehost_time_kind time_kind;
    int64_t time;     /* nanoseconds of that clock */
    uint64_t dropped; /* TRACEHOST_RECORD_DROP: number of events */
};

/*
 * Takes the next record.
 *   TRACEHOST_OK         *RECORD (NULL: not wanted) holds the record
 *   TRACEHOST_END        no record is left, or tracehost_stream_stop() was called
 *   TRACEHOST_MALFORMED  this record is damaged, as the chain describes with its place; the next
 *                        call continues behind it
 *   TRACEHOST_PARTIAL    the stream is truncated or damaged at the place that the chain names; the
 *                        next call continues if any trustworthy data is left
 *   TRACEHOST_FAILED     no memory to read this record; the next call continues behind it
 */
TRACEHOST_API enum tracehost_status tracehost_stream_next(tracehost_stream *stream,
                                                          struct tracehost_record *record);

/* Gets the record that was taken last, also by a replay, as its original term in ENV; {drop,N} for
 * drops.
 * Errors: TRACEHOST_USAGE if there is none, TRACEHOST_MALFORMED if it is damaged. */
TRACEHOST_API enum tracehost_status tracehost_stream_get_term(tracehost_stream *stream,
                                                              ErlNifEnv *env, ERL_NIF_TERM *term);

/* Description of a whole stream. Texts are valid until the next record is taken. */
struct tracehost_stream_info {
    size_t size;
    const char *format; /* "trace-port" or "jsonl" */
    const char *file;   /* file being read; differs from the name of a wrapped set */
    const char *note;   /* how the name was understood, for the user; NULL: literally */
    ERL_NIF_TERM node;  /* the recorded node, an atom; 0: not known yet */
    uint64_t records;   /* read so far */
    uint64_t drops;     /* events lost, as reported by the recorder */
    uint64_t malformed; /* records for which TRACEHOST_MALFORMED was returned */
    uint64_t damages;   /* places for which TRACEHOST_PARTIAL was returned */
    uint64_t bytes;     /* read so far */
    uint64_t all_bytes; /* size of all its files; 0: unknown */
};
TRACEHOST_API enum tracehost_status tracehost_stream_get_info(const tracehost_stream *stream,
                                                              struct tracehost_stream_info *info);

/* Ends reading and replaying before the next record. Any thread, and signal handlers, as long as
 * the stream is not closed. A thread that waits for bytes of a pipe continues to wait, unless a
 * signal interrupts it: by a handler without SA_RESTART. */
TRACEHOST_API void tracehost_stream_stop(tracehost_stream *stream);

/* --- Replaying -------------------------------------------------------------------------------- */

/*
 * A replay: delivers a stream to the sessions. There is one replay at a time. Each begins without
 * processes, ports and names, while sessions stay.
 */
typedef struct tracehost_replay tracehost_replay;

enum tracehost_bound_kind {
    TRACEHOST_BOUND_NONE = 0,
    TRACEHOST_BOUND_RELATIVE = 1, /* nanoseconds since the stream's first time of that clock */
    TRACEHOST_BOUND_ABSOLUTE = 2  /* nanoseconds of the recording's own clock, absolute */
};
struct tracehost_bound { /* a member: does not grow */
    enum tracehost_bound_kind kind;
    int64_t time;
};

struct tracehost_replay_options {
    size_t size;
    uint64_t max_events; /* number of records after which the replay ends; 0: no limit */
    /* Time range of the events, with both ends; records without a time pass. A record outside of
     * the range is not offered to sessions, but still changes the processes of the replay. */
    struct tracehost_bound from, to;
    bool verify; /* decodes every term of every record, even if no session uses it */
    /* Called by tracehost_replay_play(); NULL: not called. `progress`: after every few records,
     * while no callback of a tracer runs. `damage`: for each damaged record, or place where the
     * stream is damaged; the chain of causes describes it. */
    void (*progress)(void *context, tracehost_replay *replay);
    void (*damage)(void *context, tracehost_replay *replay);
    void *context;
    /* Only calls that lasted this long, in nanoseconds, are offered to sessions, with their ends;
     * 0: all calls. A record is held back for no longer than this time of the stream. A call whose
     * duration the recording does not show is offered. See --min-duration in
     * tracehost-replay(1). */
    int64_t min_duration;
    /* Only calls that are at most this deep, with their ends; the outermost recorded call of a
     * process has the depth 1. 0: all calls. See --depth in tracehost-replay(1). */
    uint32_t depth;
};

/*
 * Begins a replay: the sessions drop what they know of processes and ports of the stream before.
 * OPTIONS may be NULL. Records that tracehost_stream_next() takes during the replay are not
 * delivered to the sessions. Not in a callback.
 *
 * tracehost_replay_end() ends and frees the replay; NULL is allowed. Not in a callback.
 * Owner: the stream stays the caller's.
 * Errors: TRACEHOST_USAGE while cannot begin the replay: another replay has not ended.
 */
TRACEHOST_API enum tracehost_status
tracehost_replay_begin(tracehost_host *host, tracehost_stream *stream,
                       const struct tracehost_replay_options *options, tracehost_replay **replay);
TRACEHOST_API enum tracehost_status tracehost_replay_end(tracehost_replay *replay);

/*
 * Plays the rest of the stream: to its end, until max_events were read, until the stream is
 * stopped, or until no session is attached any more. Not in a callback.
 * Errors: TRACEHOST_PARTIAL with the first damage, if there was any; all undamaged records were
 * played. TRACEHOST_FAILED as soon as memory runs out, with the record concerned; the next call
 * continues behind it.
 */
TRACEHOST_API enum tracehost_status tracehost_replay_play(tracehost_replay *replay);

/* Plays one record. Returns the statuses of tracehost_stream_next(), and TRACEHOST_END also where
 * tracehost_replay_play() ends. Not in a callback. */
TRACEHOST_API enum tracehost_status tracehost_replay_step(tracehost_replay *replay,
                                                          struct tracehost_record *record);

/* Counts of a replay's records. */
struct tracehost_replay_counts {
    size_t size;
    uint64_t records;   /* read, drops included */
    uint64_t played;    /* offered to the sessions */
    uint64_t skipped;   /* outside of the time range */
    uint64_t drops;     /* drop records */
    uint64_t lost;      /* events that the recorder dropped, as drop records state */
    uint64_t malformed; /* damaged records, skipped */
    uint64_t damages;   /* places where the stream is truncated or damaged */
    /* With `min_duration` or `depth`. */
    uint64_t short_calls; /* calls left out, as they lasted less */
    uint64_t deep_calls;  /* calls left out, as they are deeper */
    uint64_t left_ends;   /* ends left out with their calls */
    uint64_t unended;     /* calls offered, as no record shows how long they lasted */
    uint64_t shallow;     /* calls offered, as calls around them may have ended */
    uint64_t untimed;     /* calls offered, as they have no time */
    uint64_t held_most;   /* calls offered, as too many records were held back (a million) */
    uint64_t doubtful;    /* return_to offered, as they may be those of calls that were offered */
    uint64_t unmatched;   /* ends offered, as their calls were not recorded */
};
TRACEHOST_API enum tracehost_status
tracehost_replay_get_counts(const tracehost_replay *replay, struct tracehost_replay_counts *counts);

/* --- Live tracing ----------------------------------------------------------------------------- */

/*
 * Live tracing: a program that runs code of its own, such as an interpreter, lets tracers observe
 * this code as a node does: while it runs, on any number of threads, by sessions that come and go.
 * The host must be started as `live`. The program reports its processes, its functions and its
 * events; sessions, flags, patterns and tracers are those above, and apply as to recordings.
 *
 * One thread at a time runs a process, and that thread raises its events. Only the beginning and
 * the end of a function wait for other threads. All processes and functions must have ended before
 * the host stops.
 */
typedef struct tracehost_live_process tracehost_live_process;
typedef struct tracehost_live_function tracehost_live_function;

struct tracehost_live_setup {
    size_t size;
    const tracehost_process *process; /* from tracehost_process_start(); stopped after
                                         tracehost_live_end() */
    tracehost_live_process *parent;   /* run by the calling thread; NULL: none */
    bool linked;                      /* spawned with a link */
    /* Returns the words that the process has allocated since its start, for call_memory; called by
     * the thread that runs the process. NULL: call_memory counts no words for it. */
    uint64_t (*words)(void *context);
    void *context;
};

/*
 * Makes a process of the program traceable: sessions find it among the existing ones. The process
 * gets the flags for new processes, and the flags of its parent that set_on_spawn and the like pass
 * on. The program raises the events of the birth, `spawn` and `spawned`, itself.
 *
 * tracehost_live_end() ends and frees *LIVE; NULL is allowed.
 * Order: tracehost_live_end() comes after the last event of the process.
 * Errors: TRACEHOST_USAGE if the host is not live.
 */
TRACEHOST_API enum tracehost_status tracehost_live_begin(tracehost_host *host,
                                                         const struct tracehost_live_setup *setup,
                                                         tracehost_live_process **live);
TRACEHOST_API void tracehost_live_end(tracehost_live_process *live);

/*
 * Raises an event of the process. TAG is the tag of a trace message ("send", "exit", "in", ...;
 * calls and their ends have functions of their own below). TERM and EXTRA are its further elements:
 * for `send` the message and the receiver. EXTRA is 0 if the tag has none.
 * Errors: TRACEHOST_USAGE if the tag is unknown, if processes have no such event, or if EXTRA is
 * given for a tag that has none or is missing.
 * Source: erlang:trace/3.
 */
TRACEHOST_API enum tracehost_status tracehost_live_event(tracehost_live_process *live,
                                                         const char *tag, ERL_NIF_TERM term,
                                                         ERL_NIF_TERM extra);

/*
 * Makes FUNCTION, a text M:F/A, traceable: patterns find it, and patterns for later code (on_load)
 * apply to it, when this returns. Not in a callback.
 *
 * tracehost_live_function_end() removes the function's breakpoints, waits until no thread uses
 * them, and frees FUNCTION; events of calls that have not ended are not delivered. NULL is allowed.
 * Not in a callback.
 */
TRACEHOST_API enum tracehost_status tracehost_live_function_begin(tracehost_host *host,
                                                                  const char *function,
                                                                  tracehost_live_function **made);
TRACEHOST_API enum tracehost_status tracehost_live_function_end(tracehost_live_function *function);

/* Return requests: the wish of sessions to see the end of a call. The program keeps it with the
 * call's frame; the library owns the content. */
struct tracehost_live_frame { /* does not grow */
    uint64_t content[8];
};

/*
 * Reports a call of FUNCTION by LIVE, with as many ARGUMENTS as its arity. LIVE NULL: a thread that
 * runs no process calls, which is counted and raises no event. EXTERNAL: a call by module and
 * function, as global patterns select. CALLER is the function to which the call will return, for
 * sessions that request callers; NULL: unknown. Sets *FRAME. Costs one load and a call if no
 * session traces FUNCTION. Source: trace:function/4.
 * Order: the thread that then runs the process reports the end of the call by one of these
 * functions, once, with the same FUNCTION and FRAME:
 *
 *   tracehost_live_return()  FUNCTION returns VALUE
 *   tracehost_live_raise()   an exception of EXCEPTION_CLASS (error, exit, throw) leaves FUNCTION
 *   tracehost_live_drop()    the frame is discarded, as the process exits
 */
TRACEHOST_API void tracehost_live_call(tracehost_live_process *live,
                                       const tracehost_live_function *function,
                                       const ERL_NIF_TERM arguments[], bool external,
                                       const tracehost_live_function *caller,
                                       struct tracehost_live_frame *frame);
TRACEHOST_API void tracehost_live_return(tracehost_live_process *live,
                                         const tracehost_live_function *function,
                                         struct tracehost_live_frame *frame, ERL_NIF_TERM value);
TRACEHOST_API void tracehost_live_raise(tracehost_live_process *live,
                                        const tracehost_live_function *function,
                                        struct tracehost_live_frame *frame,
                                        ERL_NIF_TERM exception_class, ERL_NIF_TERM reason);
TRACEHOST_API void tracehost_live_drop(tracehost_live_process *live,
                                       struct tracehost_live_frame *frame);

/* Reports that control is in FUNCTION again (NULL: the process ends), after a function that it
 * called has returned, or after it has caught an exception. For the flag return_to. */
TRACEHOST_API void tracehost_live_return_to(tracehost_live_process *live,
                                            const tracehost_live_function *function);

/* Counts of calls and events that were not delivered. */
struct tracehost_live_counts {
    size_t size;
    uint64_t suppressed; /* calls and events that a callback of a tracer caused */
    uint64_t strangers;  /* calls at a pattern by threads that run no process */
};
TRACEHOST_API enum tracehost_status tracehost_live_get_counts(tracehost_host *host,
                                                              struct tracehost_live_counts *counts);

/* --- Control ---------------------------------------------------------------------------------- */

/*
 * Setup of the control of a host: other programs send commands to a running host, and tracers whose
 * files change are replaced, as by `tracehost run --control --watch`.
 */
struct tracehost_control_setup {
    size_t size;
    /* The program's name, for clients and reports. Not NULL. */
    const char *program;
    /* Path of the Unix socket to make, mode 0600, for `tracehost ctl PATH`, in a folder that no
     * other user may write to. An existing socket that no process serves is replaced. NULL: no
     * socket, only `watch`. */
    const char *path;
    /* Replaces a session's tracer when its file is compiled anew, or another file is moved to its
     * path. If the new tracer is refused, the session keeps the old one. */
    bool watch;
    /* Carries out the command `stop`: makes the program end soon. A thread of the library calls it,
     * any number of times; it must not wait for tracehost_control_close(). NULL: `stop` is refused.
     */
    void (*stop)(void *context);
    /* Reports an act of the watch, or its failure: a line, then its causes in further lines, each
     * with its newline. A thread of the library calls it, one call at a time. NULL: reports go to
     * stderr, the first line with the program's name before it. */
    void (*report)(void *context, const char *text);
    void *context;
};

/*
 * Opens the control of HOST, which was started as `live`: serves the socket and watches files, by
 * threads of the library that block the signals of the program. Sessions of clients and of the
 * program are all HOST's: each side sees and changes both. All commands of `tracehost ctl` work,
 * except load, purge, delete and modules: such programs run no code of libraries.
 *
 * Owner: the texts of SETUP are copied.
 * Thread: the one that starts and stops HOST. Not in a callback.
 * Order: after tracehost_host_start(); tracehost_control_close() comes before
 * tracehost_host_stop(). Only tracers of sessions that are created afterwards can be replaced and
 * are watched. While the control is open, a client may destroy any session at any time: a call with
 * a session's number stands between tracehost_control_lock() and tracehost_control_unlock().
 * Errors: TRACEHOST_USAGE if HOST has a control already or is not live, if SETUP has neither path
 * nor watch, or if PATH is served by another process, no socket, another user's, or in a folder
 * that others may write to; TRACEHOST_FAILED if the system refuses a socket, a thread or a watch.
 * No control is open then.
 */
TRACEHOST_API enum tracehost_status
tracehost_control_open(tracehost_host *host, const struct tracehost_control_setup *setup);

/*
 * Closes the control of HOST: waits for commands that have begun, disconnects all clients, removes
 * the socket and ends the watch. Sessions stay. No effect if HOST has no control.
 *
 * Thread: as tracehost_control_open(); not between lock and unlock, nor in `stop` and `report`.
 * Errors: TRACEHOST_USAGE in a callback.
 */
TRACEHOST_API enum tracehost_status tracehost_control_close(tracehost_host *host);

/*
 * Lock and unlock the sessions of HOST: clients' commands and the watch change sessions only before
 * or after. A session may have ended before the lock is taken: see tracehost_session_get_state().
 * The library itself releases the lock while it calls a tracer for its trace_status or unloads it,
 * and while it waits for other threads, as in tracehost_session_create(), _set_pattern() and
 * _destroy(). No effect if HOST has no control.
 *
 * Thread: any; not recursive; not in a callback, nor in `stop` and `report`.
 * Order: HOST's control is neither opened nor closed between the two.
 */
TRACEHOST_API void tracehost_control_lock(tracehost_host *host);
TRACEHOST_API void tracehost_control_unlock(tracehost_host *host);

#ifdef __cplusplus
}
#endif

#endif
