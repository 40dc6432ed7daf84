/*
 * tracehost in a program of your own: load tracers, decide what they trace, play recordings into
 * them.
 *
 * This header is for a program that is the host itself, in C11 or C++11. Tracers and plugins, which
 * a host loads, need erl_tracer.h and erl_nif.h and must not be linked with libtracehost: they find
 * the functions of the NIF API in whoever loads them.
 *
 *     cc $(pkg-config --cflags tracehost) -o program program.c $(pkg-config --libs tracehost)
 *
 *     struct tracehost_session_setup setup = {.size = sizeof setup, .tracer = "count"};
 *     tracehost_host *host;
 *     tracehost_session session;
 *     tracehost_stream *stream;
 *     tracehost_replay *replay;
 *
 *     setup.recorded_flags = TRACEHOST_FLAGS_EVENTS | TRACEHOST_FLAG_AS_RECORDED;
 *     tracehost_host_start(NULL, &host);
 *     tracehost_session_create(host, &setup, &session);
 *     tracehost_stream_open("calls.trace", NULL, &stream);
 *     tracehost_replay_begin(host, stream, NULL, &replay);
 *     tracehost_replay_play(replay);
 *     tracehost_replay_end(replay);
 *     tracehost_stream_close(stream);
 *     tracehost_host_stop(host);
 *
 * samples/embedding has a program for each part, with every status looked at. In a source's
 * comments, trace:function/4 and the like are functions of OTP 27's module `trace`, which is the
 * model of all this.
 *
 * Threads. A host, its sessions, replays and streams are used by one thread at a time: the calls
 * may come from several threads if the program sees to it that they do not overlap, and that what
 * one has done is seen by the next (a mutex does both). A host that was started as `live` is more
 * than that: any thread may create sessions, change and ask about them, two at once, too, as long
 * as none uses a session that another destroys; and any number of threads raise live events. Its
 * replays are for one thread, as is starting and stopping. Callbacks of tracers, and functions that
 * were handed in here, run in the thread that makes the call. What else any thread may do at any
 * time says so.
 *
 * Calls from callbacks. A function that was handed in (a process' `receive`, a visitor) is called
 * from inside of this library, perhaps while a tracer's callback runs. There all calls are allowed
 * but those that say "not in a callback", which answer TRACEHOST_USAGE. What is changed during an
 * event is changed from the next one on.
 *
 * Errors. What can fail answers a status, TRACEHOST_OK for success. Else nothing has changed,
 * unless said otherwise, results are as they were, and the thread's chain of causes tells why
 * (tracehost_error_link()). Wrong arguments, NULL where something is wanted and objects that are
 * gone among them where that can be known, are TRACEHOST_USAGE.
 *
 * Memory. When it runs out, calls answer TRACEHOST_FAILED, and the chain says "out of memory": what
 * is read, made of texts and terms of the program, or written as text is refused, whatever its size
 * is. A record that is refused so is counted as damaged; it is passed over if reading goes on. What
 * the library cannot do without meanwhile (its own tables, sessions, the ends of what was begun)
 * comes from a reserve of 32 MiB, which is no more than address space until then; once half of it
 * is used, nothing more is begun until it is free again. Only if the rest is used up, too, by a
 * table of very many processes, say, or if the system refuses a thread or a thread-specific key to
 * a tracer that asks the host for timers or events of descriptors, the program is ended with a line
 * on stderr. Tracers are on their own: most report what they had no memory for
 * (tracehost_host_stop()).
 *
 * Ownership. Texts and terms that are given are copied before a call returns. Results say whose
 * they are.
 *
 * Terms are ERL_NIF_TERM, made, read and kept with the functions of erl_nif.h: enif_alloc_env()
 * gives an environment that is the program's, and terms are valid until it is cleared or freed.
 * Atoms, small integers, and pids and ports of the recorded node need none and are valid for ever.
 * 0 is no term, and stands for one that is not given. Functions of the NIF API whose
 * description asks for a process-bound or a callback's environment are not for such programs.
 *
 * Locale. The library never calls setlocale(): plugins find what the program has set. The program
 * `tracehost` sets LC_CTYPE from the environment, as a BEAM does.
 *
 * Binary compatibility. The structures below begin with their size, which whoever makes one sets:
 * `struct tracehost_setup setup = {.size = sizeof setup}`, or in C++ `struct tracehost_setup setup
 * = {}; setup.size = sizeof setup;`. All other members may be 0. They grow at their ends only:
 * a library fills or reads no more than the size says, takes what is missing for 0, and refuses
 * what it does not know and is not 0. Enumerations get new values behind their last; functions get
 * no new arguments. Anything else changes the library's soname.
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

/* What libtracehost exports; the list for the linker is made from the declarations that begin with
 * it. */
#define TRACEHOST_API extern __attribute__((visibility("default")))

/* --- Versions --------------------------------------------------------------------------------- */

/* This header's version, and both of them as one number that grows. */
#define TRACEHOST_VERSION_MAJOR 0
#define TRACEHOST_VERSION_MINOR 1
#define TRACEHOST_VERSION_PATCH 0
#define TRACEHOST_VERSION \
    (TRACEHOST_VERSION_MAJOR * 10000 + TRACEHOST_VERSION_MINOR * 100 + TRACEHOST_VERSION_PATCH)

/* The library's, which may be a later one: as TRACEHOST_VERSION, and as text, "0.1.0", valid for
 * ever. Any thread. */
TRACEHOST_API int tracehost_version(void);
TRACEHOST_API const char *tracehost_version_text(void);

/* --- Errors ----------------------------------------------------------------------------------- */

/* The numbers are also the exit statuses of the program `tracehost`. */
enum tracehost_status {
    TRACEHOST_OK = 0,
    TRACEHOST_FAILED = 1,    /* it was tried and failed */
    TRACEHOST_USAGE = 2,     /* the call makes no sense, or not now */
    TRACEHOST_MALFORMED = 3, /* text, a term or input that cannot be read */
    TRACEHOST_PARTIAL = 4,   /* input that is damaged: a part of it was used */
    TRACEHOST_REFUSED = 5,   /* a library was refused, or failed to load */
    TRACEHOST_END = 64       /* no error: there is no more */
};

/*
 * The chain of causes of the thread's latest call that failed, TRACEHOST_END excepted. Calls that
 * succeed may leave it as it is or forget it. Each thread has its own; any thread.
 *
 * tracehost_error_status() is its status, TRACEHOST_OK if there is none. tracehost_error_link() is
 * its link number I in UTF-8, 0 being the outermost ("what was tried") and the last the first cause
 * ("what went wrong, and what would mend it"), NULL behind that; the text is good until the
 * thread's next call. tracehost_error_print() writes "PREFIX: outermost" and each cause on a line
 * of its own under it. tracehost_error_text() writes them as one line, "outermost: cause: cause",
 * as snprintf() would: at most SIZE bytes, the last one 0 (if SIZE is not 0), and answers how many
 * the whole takes without that.
 */
TRACEHOST_API enum tracehost_status tracehost_error_status(void);
TRACEHOST_API const char *tracehost_error_link(size_t i);
TRACEHOST_API void tracehost_error_print(FILE *out, const char *prefix);
TRACEHOST_API size_t tracehost_error_text(char *buffer, size_t size);
TRACEHOST_API void tracehost_error_clear(void);

/* --- Terms and text --------------------------------------------------------------------------- */

/*
 * Reads the one Erlang term that TEXT, in UTF-8, is ("[{'_',[],[{return_trace}]}]"; a full stop may
 * follow) into ENV. TRACEHOST_MALFORMED with line and column. Funs, maps' variables and expressions
 * are no terms; pids and ports are those of the node that is recorded, "<0.95.0>".
 */
TRACEHOST_API enum tracehost_status tracehost_term_parse(ErlNifEnv *env, const char *text,
                                                         ERL_NIF_TERM *term);

/* TERM as io:format("~0p") writes it, in UTF-8; tracehost_free() frees it. NULL for 0, and
 * if there is no memory, for which tracehost_error_status() is TRACEHOST_FAILED. Any thread that
 * may read the term. */
TRACEHOST_API char *tracehost_term_to_text(ERL_NIF_TERM term);

/* Frees what a function here says is to be freed by it. NULL is allowed. Any thread. */
TRACEHOST_API void tracehost_free(void *memory);

/* --- The host --------------------------------------------------------------------------------- */

typedef struct tracehost_host tracehost_host;

/* What enif_monotonic_time() and its like tell in callbacks. */
enum tracehost_clock {
    TRACEHOST_CLOCK_RECORDED = 0, /* the time of the event, where it has one */
    TRACEHOST_CLOCK_WALL = 1      /* the real time */
};

struct tracehost_setup {
    size_t size;
    /* Where tracers are looked for first; see tracehost_host_add_folder(). */
    const char *const *folders;
    size_t folder_count;
    enum tracehost_clock clock;
    /* The recordings were made with the match specification {message,{caller}}, so that the results
     * in them are callers: for patterns that ask for callers. */
    bool recorded_callers;
    /* Takes SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT until the host is stopped: one that a
     * tracer's callback causes ends the program with status 6, after a report on stderr that names
     * tracer, callback and event; so does an exit() in one. Others get to the handlers that were
     * there before. Without it the library touches no signal. It is for the thread that starts and
     * stops the host. */
    bool guard;
    /* What the program itself does can be traced while it does it: see tracehost_live_begin(). */
    bool live;
    /* The most calls of a recorded process that are kept open for patterns that ask for returns and
     * callers; 0: a million. Older ones are forgotten, and counted. */
    uint32_t frames;
    /* Gets what match specifications `display`, which is lost without it. The term is good during
     * the call. */
    void (*display)(ERL_NIF_TERM term);
};

/*
 * Starts the host; SETUP may be NULL. TRACEHOST_USAGE if there is one already: a program has one at
 * a time, in a process that has loaded libtracehost once, and may have others after it. A program
 * may open the library with dlopen(), also for itself alone (RTLD_LOCAL): from here on tracers find
 * its functions. dlclose() leaves it loaded.
 */
TRACEHOST_API enum tracehost_status tracehost_host_start(const struct tracehost_setup *setup,
                                                         tracehost_host **host);

/*
 * Stops it: all sessions end, their tracers write what they have left and are unloaded. To tracers
 * this is the end of the node: those that asked for it (enif_set_option(), ERL_NIF_OPT_ON_HALT) are
 * told before. Not in a callback, and with no replay that has begun. NULL is allowed. HOST is not
 * to be used any more; streams, match specifications and terms stay. TRACEHOST_FAILED with the
 * latest one, if a tracer has reported a failure since the host was started, such as a file that it
 * could not write; the host is stopped all the same.
 */
TRACEHOST_API enum tracehost_status tracehost_host_stop(tracehost_host *host);

/*
 * Tracers without a '/' in their name are looked for as NAME.so in the setup's folders, then those
 * that are added here, in their order; then in those of the variable TRACEHOST_PATH, separated by
 * ':'; then in lib/tracehost/tracers beside libtracehost.so. A folder need not exist.
 */
TRACEHOST_API enum tracehost_status tracehost_host_add_folder(tracehost_host *host,
                                                              const char *folder);

/* A tracer that can be found. Good during the visit. */
struct tracehost_found {
    size_t size;
    const char *name;
    const char *path;
    bool shadowed; /* another of that name comes first */
};

/* Calls VISIT for each, by name. No code of theirs is run, and none is judged. */
TRACEHOST_API enum tracehost_status
tracehost_host_visit_tracers(tracehost_host *host,
                             void (*visit)(void *context, const struct tracehost_found *found),
                             void *context);

/* What cannot be said of one session alone, since the host was started. */
struct tracehost_host_counts {
    size_t size;
    uint64_t sessions;         /* that are not dead */
    uint64_t calls_forgotten;  /* calls whose ends cannot be held back any more: a process had too
                                  many open ones */
    uint64_t returns_not_kept; /* returns asked for of calls that a stack had no room for, or
                                  that were open when events were lost */
    uint64_t mail_dropped;     /* messages of tracers to recorded processes, which nobody runs; of
                                  the process as a whole */
};
TRACEHOST_API enum tracehost_status tracehost_host_get_counts(tracehost_host *host,
                                                              struct tracehost_host_counts *counts);

/*
 * Has DONE(CONTEXT) called once the tracers have had every event of TRACEE, a pid or port, up to
 * now; 0: of all. Outside of callbacks that is at once, before this returns; in one, it is after
 * the event at hand. Source: trace:delivered/2.
 */
TRACEHOST_API enum tracehost_status tracehost_host_delivered(tracehost_host *host,
                                                             ERL_NIF_TERM tracee,
                                                             void (*done)(void *context),
                                                             void *context);

/* --- Processes of the program ----------------------------------------------------------------- */

/*
 * A process that tracers can send to: give its pid as, or in, a session's state. RECEIVE (NULL:
 * what is sent is dropped) is called for each message, one at a time, by whichever thread sends,
 * within the callback that does; the message is good during the call. In it the process must not be
 * sent to or stopped. It needs no host. The pid is the same until it is stopped, and dead for ever
 * after; stopping waits for a message that is being received, and frees PROCESS.
 *
 * tracehost_console_pid() is that of a process which prints each message on a line of its own, to
 * OUT (NULL, and until this is called: stdout). Any thread.
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
 * A tracer at work, with its state, its tracees and its patterns. There may be 64 at a time, also
 * several of one tracer, which then share its library's private data. A session is named by a
 * number that is never used again, and is not 0: naming one that is gone is TRACEHOST_USAGE, never
 * worse. Such numbers are worth something with their host alone.
 */
typedef uint64_t tracehost_session;

struct tracehost_session_setup {
    size_t size;
    const char *tracer; /* its name, or with a '/' its path */
    const char *name;   /* the session's own, for reports; NULL: it has none */
    /* The state that each callback gets; one of these, without any it is #{}. */
    ERL_NIF_TERM state;        /* a term */
    const char *state_text;    /* one as Erlang text; `console` in it is the console's pid */
    const char *state_options; /* "key=value,key=value": a map of them; values are integers, true,
                                  false, `console`, else binaries */
    /* Not 0: enum tracehost_flag with which whoever the recording shows is traced, as its recorder
     * did; who is spawned in it inherits them. 0: nobody is, until the calls below say whom. */
    uint32_t recorded_flags;
};

/*
 * Finds, examines and loads the tracer, and asks its enabled(trace_status, State, undefined).
 * TRACEHOST_REFUSED with what is wrong with the library, TRACEHOST_FAILED if it answers `remove`
 * or reports a failure (th_tracer_failed() of nif_module.h), TRACEHOST_USAGE if there are too many
 * sessions. What is remarkable about a library but no reason to refuse it is a warning on stderr.
 * Source: trace:session_create/3.
 */
TRACEHOST_API enum tracehost_status
tracehost_session_create(tracehost_host *host, const struct tracehost_session_setup *setup,
                         tracehost_session *session);

/* Ends it with all it has set. Outside of callbacks nothing of it is called after this returns; in
 * one, nothing after the callbacks at hand, and it is dead after the event, or soon after. If its
 * tracer is unloaded by that and reports a failure, TRACEHOST_FAILED, and the session has ended all
 * the same. Source: trace:session_destroy/1. */
TRACEHOST_API enum tracehost_status tracehost_session_destroy(tracehost_host *host,
                                                              tracehost_session session);

enum tracehost_session_state {
    TRACEHOST_SESSION_ALIVE = 0,
    TRACEHOST_SESSION_CLEARING = 1, /* destroyed during the event at hand */
    TRACEHOST_SESSION_DEAD = 2      /* also of a number that never was one, and without a host */
};
TRACEHOST_API enum tracehost_session_state tracehost_session_get_state(tracehost_host *host,
                                                                       tracehost_session session);

/* Asks its tracer for its trace_status (not in a callback; there *ATTACHED is what is known). A
 * tracer that answers `remove` has no tracees any more, and *ATTACHED is false from then on. */
TRACEHOST_API enum tracehost_status
tracehost_session_ask_status(tracehost_host *host, tracehost_session session, bool *attached);

/* What became of its events, and what was not known at its patterns. */
struct tracehost_session_counts {
    size_t size;
    uint64_t enabled;   /* callbacks of the enabled family, trace_status left out */
    uint64_t traced;    /* callbacks of the trace family */
    uint64_t discarded; /* events that enabled did not want */
    uint64_t silenced;  /* calls that it wanted, of tracees with the flag silent */
    uint64_t untraced;  /* returns held back, as their call was discarded or silent */
    uint64_t filtered;  /* events that the flags held back */
    uint64_t removed;   /* tracees that its answer `remove` cost the session */
    uint64_t kept;      /* answers `remove` for tags where that only discards */
    uint64_t refused;   /* messages and port commands of it to its tracees */
    uint64_t status;    /* callbacks for trace_status */

    uint64_t undecided;        /* calls whose match specification hangs on something unknown */
    uint64_t callers_unknown;  /* callers that one asked for */
    uint64_t actions_unsure;   /* actions left out, as something they depend on is unknown */
    uint64_t external_unknown; /* calls at a global pattern that may be local ones */
    uint64_t untimed;          /* calls at a call_time pattern without a time: not counted */
    uint64_t returns_unknown;  /* returns asked for of calls whose end no record tells */
    uint64_t lines_unknown;    /* lines of callers */

    uint64_t messages_unmatched; /* sends and receives that a pattern for messages left out, ... */
    uint64_t messages_silenced;  /* ... that matched, but the process is silent, ... */
    uint64_t messages_undecided; /* ... that were left out as it hangs on something unknown */
    uint64_t messages_unsure;    /* actions of these patterns left out, likewise */

    uint64_t returns_doubtful; /* return_to records that were sent or left out, and times that were
                                  taken, though the recording does not tell which calls ended */
};
TRACEHOST_API enum tracehost_status
tracehost_session_get_counts(tracehost_host *host, tracehost_session session,
                             struct tracehost_session_counts *counts);

/* The name, NULL if it has none, and the tracer's as it was given: both good until the session
 * ends. Its state, good until then, too. */
struct tracehost_session_info {
    size_t size;
    const char *name;
    const char *tracer;
    ERL_NIF_TERM state;
    bool attached;  /* its tracer has not answered `remove` to a trace_status of its own, and not
                       reported a failure */
    bool patterned; /* it was given function patterns */
};
TRACEHOST_API enum tracehost_status tracehost_session_get_info(tracehost_host *host,
                                                               tracehost_session session,
                                                               struct tracehost_session_info *info);

/*
 * The sessions that are alive; or, if TRACEE is not 0, those of them that trace this pid or port.
 * Puts at most ROOM of them into SESSIONS, and answers how many there are. Source:
 * trace:session_info/1.
 */
TRACEHOST_API size_t tracehost_session_list(tracehost_host *host, ERL_NIF_TERM tracee,
                                            tracehost_session *sessions, size_t room);

/* --- Whom a session traces -------------------------------------------------------------------- */

/*
 * What is wanted of a tracee. The flags and what they mean are those of trace:process/4; some mean
 * nothing to ports and are left out there.
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
    TRACEHOST_FLAG_TIMESTAMP = 1 << 11, /* asks the tracer for a time stamp, as the next three */
    TRACEHOST_FLAG_CPU_TIMESTAMP = 1 << 12, /* for all processes or none */
    TRACEHOST_FLAG_MONOTONIC_TIMESTAMP = 1 << 13,
    TRACEHOST_FLAG_STRICT_MONOTONIC_TIMESTAMP = 1 << 14,
    TRACEHOST_FLAG_ARITY = 1 << 15,        /* calls tell only how many arguments they have */
    TRACEHOST_FLAG_SCHEDULER_ID = 1 << 16, /* tells the scheduler, where it was recorded */
    TRACEHOST_FLAG_SILENT = 1 << 17,       /* asks of calls, but tells of none */
    TRACEHOST_FLAG_SET_ON_SPAWN = 1 << 18, /* who is spawned gets all flags */
    TRACEHOST_FLAG_SET_ON_FIRST_SPAWN = 1 << 19,
    TRACEHOST_FLAG_SET_ON_LINK = 1 << 20,
    TRACEHOST_FLAG_SET_ON_FIRST_LINK = 1 << 21,

    /* Time stamps, arity and scheduler as the recording has them, instead of asking for them. */
    TRACEHOST_FLAG_AS_RECORDED = 1 << 30,

    /* All that say which events there are. */
    TRACEHOST_FLAGS_EVENTS = 0x7FF
};

/* Reads names separated by commas, as `tracehost replay --flags`: "call,return_to,timestamp".
 * TRACEHOST_USAGE with the names that there are. Any thread. */
TRACEHOST_API enum tracehost_status tracehost_flags_parse(const char *list, uint32_t *flags);

/*
 * Processes and ports as a group. A recording cannot tell who was there when it began; so the new
 * ones are those that are spawned or opened in it, and the existing are all others, also those that
 * were not seen yet.
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
 * Gives FLAGS to tracees (ON) or takes them away; other flags stay. Settings for groups stay for
 * the recordings to come. Source: trace:process/4 and trace:port/4.
 */
TRACEHOST_API enum tracehost_status tracehost_session_trace(tracehost_host *host,
                                                            tracehost_session session,
                                                            enum tracehost_tracees which, bool on,
                                                            uint32_t flags);

/* The same of one pid or port. TRACEHOST_USAGE if it is no pid or port of the recorded node, or has
 * ended. It is forgotten with the recording. */
TRACEHOST_API enum tracehost_status tracehost_session_trace_one(tracehost_host *host,
                                                                tracehost_session session,
                                                                ERL_NIF_TERM tracee, bool on,
                                                                uint32_t flags);

/* Gives FLAGS to WHO in this recording and those to come: a pid or port, or an atom: whoever
 * registers that name. */
TRACEHOST_API enum tracehost_status tracehost_session_expect(tracehost_host *host,
                                                             tracehost_session session,
                                                             ERL_NIF_TERM who, uint32_t flags);

/*
 * The flags that a pid or port has, and those that new or existing ones get (all: those of existing
 * ones); 0: it is not traced. Asks for the trace_status first, as OTP does, but not in a
 * callback. Source: trace:info/3.
 */
TRACEHOST_API enum tracehost_status tracehost_session_get_flags(tracehost_host *host,
                                                                tracehost_session session,
                                                                ERL_NIF_TERM tracee,
                                                                uint32_t *flags);
TRACEHOST_API enum tracehost_status
tracehost_session_get_default_flags(tracehost_host *host, tracehost_session session,
                                    enum tracehost_tracees which, uint32_t *flags);

/* --- Which calls a session traces ------------------------------------------------------------- */

enum tracehost_kind {
    TRACEHOST_LOCAL = 0x01,      /* each call is traced */
    TRACEHOST_GLOBAL = 0x02,     /* each external call; goes with no other kind but as below */
    TRACEHOST_META = 0x04,       /* each call, whoever makes it, traced or not */
    TRACEHOST_CALL_COUNT = 0x08, /* calls are counted */
    TRACEHOST_CALL_TIME = 0x10,  /* calls and their time, by process */
    TRACEHOST_CALL_MEMORY = 0x20 /* calls and the words that they allocate, by process: of a live
                                    host, as recordings do not tell it */
};

struct tracehost_pattern {
    size_t size;
    /* One of these. The text is M:F/A, M:F/_, M:_/_ or _:_/_, with atoms as in Erlang; the term
     * {M,F,A} with '_' likewise, or the atom on_load, which is '_' for all and on_load. */
    const char *function;
    ERL_NIF_TERM function_term;
    /* One of these; without any it is true. Erlang text, or a name as dbg has them: x
     * (exceptions), c (callers), cx, and r (returns). As a term, a match specification or true; or
     * false, which clears these kinds; or pause or restart, for those that count; restart also for
     * what a tracer has disarmed from inside, see nif_module.h. */
    const char *match;
    ERL_NIF_TERM match_term;
    /* Enum tracehost_kind; 0: TRACEHOST_LOCAL. LOCAL and GLOBAL together, and no others: for each
     * function the one that it can have, LOCAL if that is both, as it is for recorded ones; false
     * clears both. */
    uint32_t kinds;
    bool on_load; /* none of the functions that are there, only those that come later */
};

/*
 * Sets, changes or clears breakpoints. As in a BEAM, a global pattern takes the place of all other
 * kinds at each function that it matches, exported or not; and any other kind takes the place of a
 * global one, but at functions of this host that can have no local breakpoint. *MATCHED (NULL: not
 * wanted) is how many functions they concern so far: a recording's function is there once it was
 * called, or named here in full; those that come later get what the patterns, in their order, say.
 *
 * A session that was never given a pattern gets calls, returns and exceptions as they were
 * recorded. From its first pattern on it gets those that its patterns ask for, whatever the
 * recording was made for, and no others: none once all are cleared. Which tracees it gets them of,
 * the flag call decides.
 *
 * When this returns, calls obey it; in a callback, from the next event on or soon after.
 * TRACEHOST_MALFORMED or TRACEHOST_USAGE with what makes no sense. Source: trace:function/4.
 */
TRACEHOST_API enum tracehost_status
tracehost_session_set_pattern(tracehost_host *host, tracehost_session session,
                              const struct tracehost_pattern *pattern, size_t *matched);

/* What a session has set for a function, and what was counted there. Good during the visit. */
struct tracehost_function {
    size_t size;
    ERL_NIF_TERM module, function; /* atoms */
    unsigned arity;
    uint32_t kinds;          /* enum tracehost_kind */
    uint32_t active;         /* of these, the ones that are not paused */
    ERL_NIF_TERM match_spec; /* as it was given to LOCAL or GLOBAL, without these to META; true:
                                there is none */
    uint64_t calls;          /* call_count */
    int64_t time;        /* call_time: nanoseconds of all processes, by the records' clock ... */
    uint64_t time_calls; /* ... and calls */
    const struct tracehost_usage *usage; /* the same of each process, in no order */
    size_t usage_count;
    int64_t words; /* call_memory, likewise */
    uint64_t words_calls;
    const struct tracehost_usage *words_usage;
    size_t words_usage_count;
    ERL_NIF_TERM meta_match_spec; /* as it was given to META; true: there is none; 0: not META */
};
struct tracehost_usage { /* an array's element: it does not grow */
    ERL_NIF_TERM process;
    uint64_t calls;
    int64_t amount; /* nanoseconds, or words */
};

/* Calls VISIT for each function that the session has something set for, in no order; FUNCTION, a
 * text M:F/A, makes it that one alone (NULL: all). FUNCTION "on_load" is for the functions to come:
 * VISIT is called once, for _:_/0, with what on_load patterns for all modules have set, if that is
 * anything. Source: trace:info/3. */
TRACEHOST_API enum tracehost_status tracehost_session_visit_functions(
    tracehost_host *host, tracehost_session session, const char *function,
    void (*visit)(void *context, const struct tracehost_function *function), void *context);

/*
 * Which messages of those that the flags let pass a session traces: what MATCH says, Erlang text as
 * in struct tracehost_pattern, or if that is NULL the term MATCH_TERM. true: all, as without any;
 * false: none; or a match specification, of [Receiver, Message] or [Node, Sender, Message]. A
 * tracer is not asked about what is left out. No recording tells Node and Sender: a message that
 * hangs on them is left out, and counted. Obeyed from the next event on. Source: trace:send/3,
 * trace:recv/3.
 */
TRACEHOST_API enum tracehost_status tracehost_session_set_send_pattern(tracehost_host *host,
                                                                       tracehost_session session,
                                                                       const char *match,
                                                                       ERL_NIF_TERM match_term);
TRACEHOST_API enum tracehost_status tracehost_session_set_receive_pattern(tracehost_host *host,
                                                                          tracehost_session session,
                                                                          const char *match,
                                                                          ERL_NIF_TERM match_term);

/* What is set: true, false, or the match specification as it was given, in ENV. */
TRACEHOST_API enum tracehost_status tracehost_session_get_send_pattern(tracehost_host *host,
                                                                       tracehost_session session,
                                                                       ErlNifEnv *env,
                                                                       ERL_NIF_TERM *match);
TRACEHOST_API enum tracehost_status tracehost_session_get_receive_pattern(tracehost_host *host,
                                                                          tracehost_session session,
                                                                          ErlNifEnv *env,
                                                                          ERL_NIF_TERM *match);

/* --- Match specifications alone --------------------------------------------------------------- */

/*
 * What a match specification would do, without a session. Compiled once, it never changes: any
 * number of threads may run it at once, each with an environment of its own. They need no host.
 */
typedef struct tracehost_match tracehost_match;

enum tracehost_match_kind {
    TRACEHOST_MATCH_CALL = 0,   /* of the arguments of a call */
    TRACEHOST_MATCH_SEND = 1,   /* of [Receiver, Message] */
    TRACEHOST_MATCH_RECEIVE = 2 /* of [Node, Sender, Message] */
};

enum tracehost_match_part {
    TRACEHOST_MATCH_WHOLE = 0,
    TRACEHOST_MATCH_HEAD = 1,
    TRACEHOST_MATCH_GUARD = 2,
    TRACEHOST_MATCH_BODY = 3
};

/* What is wrong, and where. Good during the visit. */
struct tracehost_match_fault {
    size_t size;
    size_t clause; /* from 1; 0: none of them */
    enum tracehost_match_part part;
    size_t item;       /* of the head's elements, the guards, the body's expressions, from 1; 0 */
    const char *text;  /* what erlang:match_spec_test/3 says */
    const char *term;  /* what it is about, as Erlang text, cut where it is long; NULL: the whole */
    const char *place; /* "clause 2, guard 1"; "" if the clause is 0 */
};

/*
 * Compiles SPECIFICATION, or what TEXT says (Erlang text, or a name as in struct
 * tracehost_pattern). TRACEHOST_MALFORMED with the first fault; FAULT (NULL: not wanted) is called
 * for each of the first clause that has any, as in a BEAM, before this returns.
 * tracehost_match_free() frees *MATCH; NULL is allowed, and nobody may be running it. Any thread.
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

/* What is matched. What is not known is not guessed: the answer may be that it is unknown. */
struct tracehost_match_subject {
    size_t size;
    ERL_NIF_TERM target; /* the list; 0: ARITY arguments of which nothing else is known */
    unsigned arity;      /* at most 255 */
    ERL_NIF_TERM self;   /* the tracee; 0: not known */
    ERL_NIF_TERM caller; /* {M,F,Arity} or undefined; 0: not known */
};

enum tracehost_match_end {
    TRACEHOST_MATCH_NO = 0,
    TRACEHOST_MATCH_YES = 1,
    TRACEHOST_MATCH_UNKNOWN = 2
};

struct tracehost_match_result {
    size_t size;
    enum tracehost_match_end end;
    size_t clause; /* that matched, or hangs on something unknown, from 1; 0: all have failed */
    /* Of a match. The message, good as long as ENV, the specification and the subject: true,
     * nothing is added to the trace message; false, there is to be none; another term, which is
     * added; 0, it depends on something unknown. */
    ERL_NIF_TERM message;
    bool return_trace, exception_trace;
    unsigned callers_unknown; /* callers asked for that are not known */
    unsigned unsure;          /* actions left out, as something they depend on is unknown */
};

/*
 * Tries MATCH on SUBJECT. Actions are not taken. TRACEHOST_USAGE if the subject is none of its
 * kind. tracehost_match_explain() tells it as text, as `tracehost match` does: a first line as
 * erlang:match_spec_test/3 answers, why each clause that failed did, and what actions there would
 * be; tracehost_free() frees it.
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
 * A recording, record by record: files of dbg:trace_port(file, ...), sets of wrapped ones, JSON
 * lines. What it is is told by its content. Reading needs no host, and streams do not know of each
 * other: each may have a thread of its own. Memory does not grow with the stream.
 */
typedef struct tracehost_stream tracehost_stream;

struct tracehost_stream_options {
    size_t size;
    /* Where one integer may be a match specification's result or a scheduler's number, it is the
     * latter: the stream was recorded with the flag scheduler_id. */
    bool scheduler_id;
    /* Bytes, 1 MiB or more, that one event may take to be read: from its record or line to its
     * terms. What takes more is damaged, and passed over. 0: 512 MiB. */
    size_t max_memory;
};

/*
 * Opens NAME: a file; "-" for stdin; a wrapped set by its first file or as NAME*TAIL;
 * tcp://HOST:PORT, what a running node sends to dbg:trace_port(ip, PORT). OPTIONS may be NULL.
 * Waits for its first bytes, of a node until it is connected. TRACEHOST_MALFORMED with what it is
 * instead. tracehost_stream_open_fd() reads from an open file descriptor, a pipe or socket, say,
 * and will close it (also if this fails); NAME is for messages.
 *
 * tracehost_stream_close() ends it; NULL is allowed. TRACEHOST_USAGE while a replay of it has not
 * ended.
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
    TRACEHOST_RECORD_DROP = 2,      /* the recorder lost events here */
    TRACEHOST_RECORD_OTHER = 3      /* no trace message */
};

enum tracehost_time_kind {
    TRACEHOST_TIME_NONE = 0,
    TRACEHOST_TIME_TIMESTAMP = 1, /* system time, since 1970 */
    TRACEHOST_TIME_CPU = 2,
    TRACEHOST_TIME_MONOTONIC = 3,
    TRACEHOST_TIME_STRICT_MONOTONIC = 4
};

struct tracehost_record {
    size_t size;
    uint64_t number;   /* in its stream, from 1 */
    uint64_t position; /* of its first byte in its file, from 0 */
    enum tracehost_record_kind kind;
    const char *tag; /* "call", "send", ...; NULL unless it is TRACEHOST_RECORD_TRACE; for ever */
    ERL_NIF_TERM tracee; /* a pid or port of the recorded node; 0: there is none such */
    enum tracehost_time_kind time_kind;
    int64_t time;     /* nanoseconds of that clock */
    uint64_t dropped; /* TRACEHOST_RECORD_DROP: how many events */
};

/*
 * Takes the next record.
 *   TRACEHOST_OK         *RECORD (NULL: not wanted) is it
 *   TRACEHOST_END        there are no more, or tracehost_stream_stop() was called
 *   TRACEHOST_MALFORMED  this one is damaged: the chain says what and where; go on behind it
 *   TRACEHOST_PARTIAL    the stream is cut off or damaged here: the chain says where. The next call
 *                        goes on if there is anything left that can be trusted
 *   TRACEHOST_FAILED     there is no memory to read this one: go on behind it
 */
TRACEHOST_API enum tracehost_status tracehost_stream_next(tracehost_stream *stream,
                                                          struct tracehost_record *record);

/* The record that was taken last, as the term that it was; {drop,N} for drops. In ENV. Also for a
 * record that a replay took. TRACEHOST_USAGE if there is none, TRACEHOST_MALFORMED if it is
 * damaged.
 */
TRACEHOST_API enum tracehost_status tracehost_stream_get_term(tracehost_stream *stream,
                                                              ErlNifEnv *env, ERL_NIF_TERM *term);

/* What is known of the whole stream. Texts are good until the next record is taken. */
struct tracehost_stream_info {
    size_t size;
    const char *format; /* "trace-port" or "jsonl" */
    const char *file;   /* the file being read, which differs from the name of a wrapped set */
    const char *note;   /* how the name was taken, for the user; NULL: as it stands */
    ERL_NIF_TERM node;  /* the recorded node, an atom; 0: not known yet */
    uint64_t records;   /* read so far */
    uint64_t drops;     /* events that the recorder says it lost */
    uint64_t malformed; /* records of which TRACEHOST_MALFORMED was answered, ... */
    uint64_t damages;   /* ... and TRACEHOST_PARTIAL */
    uint64_t bytes;     /* read so far */
    uint64_t all_bytes; /* of all its files; 0: not known */
};
TRACEHOST_API enum tracehost_status tracehost_stream_get_info(const tracehost_stream *stream,
                                                              struct tracehost_stream_info *info);

/* Has reading and replaying end before the next record. Any thread, and signal handlers, as long as
 * the stream is not closed. A thread that waits for bytes of a pipe goes on waiting, unless a
 * signal interrupts it: a handler without SA_RESTART. */
TRACEHOST_API void tracehost_stream_stop(tracehost_stream *stream);

/* --- Replaying -------------------------------------------------------------------------------- */

/*
 * A stream on its way to the sessions. One at a time: each is a world of its own, in which
 * processes, ports and names begin anew, while sessions stay.
 */
typedef struct tracehost_replay tracehost_replay;

enum tracehost_bound_kind {
    TRACEHOST_BOUND_NONE = 0,
    TRACEHOST_BOUND_RELATIVE = 1, /* nanoseconds since the stream's first time of that clock */
    TRACEHOST_BOUND_ABSOLUTE = 2  /* nanoseconds of the recording's own clock */
};
struct tracehost_bound { /* a member: it does not grow */
    enum tracehost_bound_kind kind;
    int64_t time;
};

struct tracehost_replay_options {
    size_t size;
    uint64_t max_events; /* ends after so many records; 0: no limit */
    /* Only events between these, both included; records without a time pass. What is left out is
     * not offered, but processes live and die in it all the same. */
    struct tracehost_bound from, to;
    bool verify; /* decodes every term of every record, wanted or not */
    /* Called by tracehost_replay_play(), NULL: not. `progress` every few records: no callback of a
     * tracer is under way. `damage` for each record that is damaged or place where the stream
     * is, while the chain of causes tells which. */
    void (*progress)(void *context, tracehost_replay *replay);
    void (*damage)(void *context, tracehost_replay *replay);
    void *context;
};

/*
 * Begins: the sessions forget what they knew of processes and ports of the stream before. OPTIONS
 * may be NULL. The stream stays the caller's; what is read of it meanwhile by
 * tracehost_stream_next() has not happened to the sessions. TRACEHOST_USAGE while another replay
 * has not ended. Not in a callback.
 *
 * tracehost_replay_end() ends and frees it; NULL is allowed. Not in a callback.
 */
TRACEHOST_API enum tracehost_status
tracehost_replay_begin(tracehost_host *host, tracehost_stream *stream,
                       const struct tracehost_replay_options *options, tracehost_replay **replay);
TRACEHOST_API enum tracehost_status tracehost_replay_end(tracehost_replay *replay);

/*
 * Plays what is left of the stream: to its end, until max_events were read, until the stream is
 * stopped, or until no session is attached any more. TRACEHOST_PARTIAL if there was damage, with
 * the first of it; all that is whole was played none the less. TRACEHOST_FAILED as soon as memory
 * runs out, with the record for which it did: the next call goes on behind that. Not in a callback.
 */
TRACEHOST_API enum tracehost_status tracehost_replay_play(tracehost_replay *replay);

/* Plays one record. The answers are those of tracehost_stream_next(), TRACEHOST_END also where
 * tracehost_replay_play() ends. Not in a callback. */
TRACEHOST_API enum tracehost_status tracehost_replay_step(tracehost_replay *replay,
                                                          struct tracehost_record *record);

/* What became of the records. */
struct tracehost_replay_counts {
    size_t size;
    uint64_t records;   /* read, drops included */
    uint64_t played;    /* offered to the sessions */
    uint64_t skipped;   /* outside of from and to */
    uint64_t drops;     /* drop records */
    uint64_t lost;      /* events that the recorder dropped, as these say */
    uint64_t malformed; /* records that were damaged: skipped */
    uint64_t damages;   /* places where the stream is cut off or damaged */
};
TRACEHOST_API enum tracehost_status
tracehost_replay_get_counts(const tracehost_replay *replay, struct tracehost_replay_counts *counts);

/* --- What the program itself does ------------------------------------------------------------- */

/*
 * A program that runs code of its own, an interpreter say, can have it traced as a node would:
 * while it happens, on any number of threads, by sessions that come and go meanwhile. The host is
 * started as `live`. The program tells of its processes, its functions, and what happens; sessions,
 * flags, patterns and tracers are those above, and decide as they do about recordings.
 *
 * A process is run by one thread at a time, which raises its events. None of these calls waits, but
 * for the beginning and end of functions. All processes and functions must have ended before the
 * host stops.
 */
typedef struct tracehost_live_process tracehost_live_process;
typedef struct tracehost_live_function tracehost_live_function;

struct tracehost_live_setup {
    size_t size;
    const tracehost_process *process; /* of tracehost_process_start(), to be stopped later than this
                                         ends */
    tracehost_live_process *parent;   /* which the calling thread runs; NULL: none */
    bool linked;                      /* it is spawned with a link */
    /* The words that the process has allocated since its start, for call_memory; called by the
     * thread that runs it. NULL: it is charged none. */
    uint64_t (*words)(void *context);
    void *context;
};

/*
 * A process is run by the program from now on, and may be traced: sessions find it among the
 * existing ones; it gets the flags for new ones, and of its parent's what set_on_spawn and the like
 * say. The events of the birth, `spawn` and `spawned`, are the program's to raise. TRACEHOST_USAGE
 * if the host is not live. tracehost_live_end() comes after its last event; NULL is allowed.
 */
TRACEHOST_API enum tracehost_status tracehost_live_begin(tracehost_host *host,
                                                         const struct tracehost_live_setup *setup,
                                                         tracehost_live_process **live);
TRACEHOST_API void tracehost_live_end(tracehost_live_process *live);

/*
 * Something happens to the process: TAG is that of a trace message ("send", "exit", "in", ...;
 * calls and their ends go below), TERM and EXTRA its further elements, as for `send` the message
 * and the receiver; EXTRA is 0 where the tag has none. TRACEHOST_USAGE if there is no such tag, or
 * such an event cannot be a process'. Source: erlang:trace/3.
 */
TRACEHOST_API enum tracehost_status tracehost_live_event(tracehost_live_process *live,
                                                         const char *tag, ERL_NIF_TERM term,
                                                         ERL_NIF_TERM extra);

/*
 * A function that can be traced, FUNCTION being M:F/A. Patterns find it from now on, and those that
 * wait for code to come (on_load) are in force when this returns. Not in a callback.
 * tracehost_live_function_end() removes its breakpoints and waits until no call is at them; calls
 * of it that have not ended are told no more. Not in a callback. NULL is allowed.
 */
TRACEHOST_API enum tracehost_status tracehost_live_function_begin(tracehost_host *host,
                                                                  const char *function,
                                                                  tracehost_live_function **made);
TRACEHOST_API enum tracehost_status tracehost_live_function_end(tracehost_live_function *function);

/* What is wanted of a call's end: the program keeps it with the call's frame. Its content is the
 * library's. */
struct tracehost_live_frame { /* does not grow */
    uint64_t content[8];
};

/*
 * LIVE calls FUNCTION with as many ARGUMENTS as it has arguments; NULL: a thread that runs no
 * process does, which counts, and raises no event. EXTERNAL: it is a call with module and function,
 * such as global patterns want. CALLER is the function that it will return to, for whoever asks;
 * NULL: not known. Sets *FRAME, whose end one of these is to be told of once, by the thread that
 * runs the process then; with the same FUNCTION: tracehost_live_return()  it returns VALUE
 *   tracehost_live_raise()   an exception passes: EXCEPTION_CLASS (error, exit, throw) and REASON
 *   tracehost_live_drop()    it is given up without an end, as the process exits
 * A function that nobody traces costs a call that looks at one word. Source: trace:function/4.
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

/* Control is in FUNCTION again (NULL: the process ends), after the frame that was called from it
 * has returned, or an exception was caught there. For the flag return_to. */
TRACEHOST_API void tracehost_live_return_to(tracehost_live_process *live,
                                            const tracehost_live_function *function);

/* What was not told. */
struct tracehost_live_counts {
    size_t size;
    uint64_t suppressed; /* calls and events that a tracer's callback caused */
    uint64_t strangers;  /* calls at a pattern, by threads that run no process */
};
TRACEHOST_API enum tracehost_status tracehost_live_get_counts(tracehost_host *host,
                                                              struct tracehost_live_counts *counts);

/* --- Control ---------------------------------------------------------------------------------- */

/*
 * What `--control` and `--watch` are to `tracehost run`: other programs tell a host what to do while
 * it runs, and tracers whose files change are replaced.
 */
struct tracehost_control_setup {
    size_t size;
    /* The name of the program, for those who connect, and for reports. Not NULL. */
    const char *program;
    /* Where a Unix socket is made, mode 0600, in a folder that nobody else may write to: for
     * `tracehost ctl PATH`. A socket of that name that nobody serves is replaced. NULL: none is. */
    const char *path;
    /* When the file of a tracer of a session is compiled anew, or another is moved there, the session
     * goes on with that one. One that is refused leaves the old one at work. */
    bool watch;
    /* Does the command `stop`: has the program end soon. It may be called any number of times, by a
     * thread of the library, and must not wait for tracehost_control_close(). NULL: `stop` is
     * refused. */
    void (*stop)(void *context);
    /* Reports what the watch has done, or has not, and why: a line, with its causes in lines below,
     * each with its newline. By a thread of the library, one call at a time. NULL: such reports go to
     * stderr, the first line behind the program's name. */
    void (*report)(void *context, const char *text);
    void *context;
};

/*
 * Opens the control of HOST, which was started as `live`: serves the socket and watches, by threads
 * of the library that take no signals of the program. Sessions that clients attach are HOST's, as are
 * those of the program to clients. All commands of `tracehost ctl` are there; load, purge, delete and
 * modules are refused, as such programs run no code of libraries.
 *
 * Thread: the one that starts and stops HOST. Not in a callback.
 * Order: after tracehost_host_start(); tracehost_control_close() comes before tracehost_host_stop().
 *        Only tracers of sessions that are created from then on can be replaced and are watched.
 *        While the control is open, a client may destroy any session at any time: what names one is
 *        called between tracehost_control_lock() and tracehost_control_unlock().
 * Owner: the texts of SETUP are copied.
 * Errors: TRACEHOST_USAGE if HOST has a control already, or PATH is served by another process or is
 *         no socket; TRACEHOST_FAILED if the system refuses a socket, a thread or a watch. Nothing is
 *         open then.
 */
TRACEHOST_API enum tracehost_status
tracehost_control_open(tracehost_host *host, const struct tracehost_control_setup *setup);

/*
 * Closes the control of HOST: waits for commands that have begun, lets all clients go, removes the
 * socket and watches no more. Sessions stay. Nothing, if HOST has none.
 *
 * Thread: as tracehost_control_open(); not between lock and unlock, nor in `stop` and `report`.
 * Errors: TRACEHOST_USAGE in a callback.
 */
TRACEHOST_API enum tracehost_status tracehost_control_close(tracehost_host *host);

/*
 * Keep clients' commands, and the watch, from changing sessions between the two: each is carried out
 * before or after. A session may be gone before the lock is taken: tracehost_session_get_state() tells.
 * The library itself lets go of the lock while it asks a tracer for its trace_status or unloads it, and
 * while it waits for other threads, as in tracehost_session_create(), _set_pattern() and _destroy().
 *
 * Thread: any, none twice at a time; not in a callback, nor in `stop` and `report`.
 * Order: HOST's control is neither opened nor closed meanwhile. Nothing, if HOST has none.
 */
TRACEHOST_API void tracehost_control_lock(tracehost_host *host);
TRACEHOST_API void tracehost_control_unlock(tracehost_host *host);

#ifdef __cplusplus
}
#endif

#endif
