/*
 * Sessions (a tracer with a state, flags and patterns), and the function that takes each event to
 * them.
 *
 *   struct th_tracing *tracing = th_trace_create();
 *   th_trace_session_create(tracing, &setup, &session);        for each tracer
 *   th_trace_session_trace(session, TH_PROCESSES_ALL, true, flags);    the tracees: tracees.h
 *   th_trace_new_world(tracing);                       before each stream but the first
 *   th_trace(tracing, &event);                           for each event
 *   th_trace_session_replace(session, &other);                 at any time
 *   th_trace_session_destroy(session);                         at any time
 *   th_trace_free(tracing);                            unloads the tracers
 *
 * For each session that traces the event's tracee with a flag that lets the event pass, the host
 * calls `enabled_X(Tag, State, Tracee)`. If the answer is `trace`, the terms are decoded (once for
 * all sessions) and the host calls `trace_X(Tag, State, Tracee, Term, Opts)`, in an environment of
 * its own. return_from, exception_from and return_to have no `enabled`: an end is held back if its
 * call was discarded or silent. A discarded event allocates nothing, with two exceptions in
 * dispatch.c. A seq_trace event has no tracee and goes to all sessions.
 *
 * Thread: a tracing belongs to one thread until th_trace_share(). Then any thread may change and
 * query sessions, several threads at once, too, as long as no thread uses a session that another
 * one destroys; events of this host are traced as they happen (live/live.h); and one thread may
 * replay a recording, whose world and calls belong to that thread. Callbacks may call all functions
 * below; a change applies from the next event on.
 * Source: OTP 27, module `trace`.
 */
#ifndef TH_SESSION_H
#define TH_SESSION_H

#include "host/base/error.h"
#include "host/term/word.h"

struct th_event;
struct th_tracing;
struct th_session;

/* A tracer that is no library: functions of the program that embeds the host. The first member of
 * its owner's struct. */
struct th_own_tracer {
    const struct th_slots *slots; /* stays until the release */
    /* Called once, when no thread is in a callback any more. CREATED is false if the session could
     * not be created. */
    void (*release)(struct th_own_tracer *own, bool created);
};

enum { TH_SESSIONS_LIMIT = 64 /* at a time: a set of sessions is a 64-bit word */ };

struct th_session_setup {
    const char *name; /* of the tracer, as the user gave it */
    /* A loaded tracer; the session takes over the caller's reference. NULL: `own` is the tracer. */
    struct th_library *library;
    /* NULL, and no library: no tracer, all events are discarded, and the session only serves the
     * counts of its breakpoints (pattern.h). */
    struct th_own_tracer *own;
    th_term state;     /* copied */
    uint32_t flags;    /* enum th_flag; for th_trace_session_attach() alone */
    const char *title; /* the session's own name; NULL: none */
};

/* Counts of a session's events and callbacks. */
struct th_session_counts {
    uint64_t enabled;   /* callbacks of the enabled family, without trace_status */
    uint64_t traced;    /* callbacks of the trace family */
    uint64_t discarded; /* events that `enabled` discarded */
    uint64_t silenced;  /* calls that `enabled` wanted, of tracees with the flag silent */
    uint64_t untraced;  /* ends held back: the call was discarded, silent, or is no longer traced */
    uint64_t filtered;  /* held back by flags; live events: if some session wants them */
    uint64_t removed;   /* tracees that the session lost by `remove` or another wrong answer */
    uint64_t kept;      /* answers `remove` to tags for which they only discard the event */
    uint64_t refused;   /* refused messages and port commands to the tracee */
    uint64_t status;    /* callbacks for trace_status */
};

struct th_tracing *th_trace_create(void);
void th_trace_free(struct th_tracing *tracing);

/*
 * Lets other threads use TRACING from now on. An event is a reader section then, which costs a
 * replayed event 2 ns more; th_progress_later() frees sessions that callbacks destroy, and closes
 * libraries.
 * Thread: the one that owns TRACING, outside of events.
 * Order: before another thread uses TRACING.
 */
void th_trace_share(struct th_tracing *tracing);
bool th_trace_is_shared(const struct th_tracing *tracing);

/* Declares that no recording will be replayed in TRACING: patterns find functions of this host
 * alone. (Otherwise a recorded function exists as soon as a pattern names it, before its first
 * call.)
 * Thread: as th_trace_share(). */
void th_trace_replay_nothing(struct th_tracing *tracing);

/* Returns whether PATH and OTHER name one regular file, also if it does not exist yet. */
bool th_trace_output_is_one_file(const char *path, const char *other);

/* Installs CHECK(CONTEXT, PATH), which is called for each file that the settings of a tracer name
 * as output, before the file is opened. If CHECK raises an error, the tracer is refused with
 * CHECK's status.
 * Thread: the attaching thread calls CHECK.
 * Order: before th_trace_share(); applies to tracers that are attached later. */
void th_trace_check_outputs(struct th_tracing *tracing,
                            enum th_status (*check)(void *context, const char *path),
                            void *context);

/* Lets tracers that are attached later write nothing: /dev/null replaces each file that a setting
 * names as output; in the state of a tracer that declares no settings, the file of the key
 * `output`. */
void th_trace_discard_outputs(struct th_tracing *tracing);

/* Lets callbacks for recorded events read real clocks, not the records' own time. */
void th_trace_use_wall_clock(struct th_tracing *tracing);

/* Begins the next stream: forgets all processes, ports, names and calls. Sessions stay, with the
 * settings that tracees.h describes. The calling thread is the replaying one from now on. */
void th_trace_new_world(struct th_tracing *tracing);

/*
 * Creates a session and asks its tracer enabled(trace_status, State, undefined).
 * Owner: on an error the library is released, and nothing else changes.
 * Errors: TH_FAILED if the tracer answers `remove` or reports a failure; TH_USAGE if there are too
 * many sessions; those of th_trace_outputs_check() (tracing.h).
 */
enum th_status th_trace_session_create(struct th_tracing *tracing,
                                       const struct th_session_setup *setup,
                                       struct th_session **session);

/* As th_trace_session_create(), and traces all that the recording shows with setup->flags. A
 * process that is spawned in the recording inherits the flags, as if the recorder had traced with
 * set_on_spawn. */
enum th_status th_trace_session_attach(struct th_tracing *tracing,
                                       const struct th_session_setup *setup,
                                       struct th_session **session);

/*
 * Begin and end a hold of the calling thread: the time in which the program may still fail to begin
 * the work for which it attaches tracers. A tracer that the thread attaches during the hold can
 * query the hold (th_attach_pending()), and must then change nothing that it could not restore.
 * th_trace_go() asks each tracer that has queried the hold for its trace_status again.
 *
 * th_trace_hold() returns false if the thread holds already; then the caller must not call
 * th_trace_go().
 */
bool th_trace_hold(void);
void th_trace_go(struct th_tracing *tracing);

/*
 * Ends SESSION with all its settings.
 *
 * If the thread may wait (outside of callbacks), no callback of SESSION runs any more on return,
 * and the library has lost this user; in a shared tracing the function waits for grace periods. In
 * a callback of any session, SESSION only becomes `clearing`: after the callbacks of SESSION that
 * run now, on any thread, no other one begins. SESSION is dead when the event is over or, in a
 * shared tracing, soon after.
 * Owner: the caller must not use SESSION any more.
 */
void th_trace_session_destroy(struct th_session *session);

/*
 * Replaces a session's tracer by setup->library with setup->state (TH_NONE: the present state)
 * under setup->name; setup's flags and title are ignored. Flags, patterns, and the counts of
 * th_trace_session_counts() and of breakpoints stay; upgrade() has to keep the tracer's own counts.
 *
 * The library must be open. If it is not loaded, the host calls its upgrade() with the private data
 * of the old library, if both have the same module name and the new one has upgrade(); else its
 * load(). Meanwhile, and for a short time after, other threads may be in callbacks of the old
 * tracer. Then the host asks the new tracer for its trace_status. One tracer gets all callbacks of
 * an event: events that begin after the return go to the new tracer, and so do the ends of calls
 * that are open then. The old library loses this user after its last callback. If the thread may
 * wait, this is before the return (in a shared tracing after a grace period); in a callback of any
 * session it is after the current event or, in a shared tracing, soon after.
 *
 * Other sessions, and meta breakpoints with a tracer of their own, keep their library, even if it
 * is the replaced one; but see th_library_load() for the data that upgrade() takes over.
 *
 * Owner: the session takes over the caller's reference to the library, and on an error releases it
 * and keeps the old tracer. A tracer that has upgraded and then answers `remove` keeps the data
 * that it took over.
 * Thread: one thread at a time, as for each function that loads libraries.
 * Errors: TH_REFUSED as th_library_check_tracer() and th_library_load(); TH_USAGE if the session's
 * tracer is no library, if the new tracer cannot take over the file of the old one as it has no upgrade(),
 * or as th_trace_session_create(); TH_FAILED if the new tracer answers `remove` or reports a
 * failure, or if the session was detached, ended or got another library meanwhile.
 */
enum th_status th_trace_session_replace(struct th_session *session,
                                        const struct th_session_setup *setup);

/* Weak reference to a session: the id of a dead session never names a later one. */
typedef uint64_t th_session_id;
enum th_session_state { TH_SESSION_ALIVE, TH_SESSION_CLEARING, TH_SESSION_DEAD };

th_session_id th_trace_session_id_of(const struct th_session *session);
enum th_session_state th_trace_session_state(struct th_tracing *tracing, th_session_id id);

/* Finds the session of ID; NULL unless the session is alive.
 * Thread: in an event, or while no thread can destroy the session. */
struct th_session *th_trace_session_find(const struct th_tracing *tracing, th_session_id id);

/*
 * Takes EVENT to the sessions.
 * Thread: the replaying one for a recorded event, the one that runs the tracee for a live event
 * (event->live is not NULL).
 * Errors: TH_END if no session is attached any more. TH_MALFORMED, with the cause, if the tracee
 * cannot have such an event, the record of a call or an end names no function, or terms that a
 * tracer wanted are damaged; no session gets an event with damaged terms.
 */
enum th_status th_trace(struct th_tracing *tracing, struct th_event *event);

/* Applies the effects of EVENT on later events, without delivering EVENT: stacks of calls,
 * inheritance, lost events. */
void th_trace_skip(struct th_tracing *tracing, struct th_event *event);

/* Asks the sessions whose state is ID, a process or port that has ended, for their trace_status.
 * Order: after th_trace() of the exit. */
void th_trace_ended(struct th_tracing *tracing, th_term id);

/*
 * Calls DONE(CONTEXT) when the tracers have got every event up to now. In an unshared tracing this
 * is at once or, in a callback, after the current event; in a shared one th_progress_later() calls
 * DONE.
 */
void th_trace_delivered(struct th_tracing *tracing, void (*done)(void *context), void *context);

/* Asks the tracer of SESSION for its trace_status, except in a callback. The answer `remove`
 * detaches the session from all tracees. Returns true while the session is attached. */
bool th_trace_session_status(struct th_session *session);

/* False once the session's tracer has answered `remove` to a trace_status of the session, or has
 * reported a failure (th_tracer_failed()) in one of its callbacks. */
bool th_trace_session_attached(const struct th_session *session);

/* True if the session's tracer has reported a failure. */
bool th_trace_session_failed(const struct th_session *session);

/* Returns the first such failure, "tracer 'jsonl' failed: ..."; NULL: none.
 * Owner: the caller frees the text with th_free(). */
char *th_trace_session_failure(const struct th_session *session);

/* True if the session's tracer is a library, or functions of the program. */
bool th_trace_session_has_tracer(const struct th_session *session);

struct th_tracing *th_trace_session_tracing(const struct th_session *session);

/* Name, state and library of the session's tracer, valid until the tracer is replaced. The library
 * is NULL without a tracer, and if the tracer is functions of the program. */
const char *th_trace_session_name(const struct th_session *session);
th_term th_trace_session_state_term(const struct th_session *session);
struct th_library *th_trace_session_library(const struct th_session *session);

const char *th_trace_session_title(const struct th_session *session); /* NULL: none */
struct th_session_counts th_trace_session_counts(const struct th_session *session);

/* Return the number of sessions that are alive or clearing (in a shared tracing: alive), and the
 * Ith of these sessions by index, which is mostly the order in which they began. */
size_t th_trace_sessions(const struct th_tracing *tracing);
struct th_session *th_trace_session(const struct th_tracing *tracing, size_t i);

/* The flags of the recorded events so far, wanted or not.
 * Thread: the replaying one. */
uint32_t th_trace_seen(const struct th_tracing *tracing);

/* Number of open calls that were forgotten, as a process had too many of them: struct
 * th_discard_streak in recorded/recorded_internal.h. */
uint64_t th_trace_calls_forgotten(const struct th_tracing *tracing);

#endif
