/*
 * Sessions: a tracer at work, with its state and flags; and the one path that every event takes to
 * them.
 *
 *   struct th_tracing *tracing = th_tracing_create();
 *   th_session_attach(tracing, &setup, &session);        for each tracer
 *   th_tracing_new_world(tracing);                       before each stream but the first
 *   th_trace(tracing, &event);                           for each event
 *   th_tracing_free(tracing);                            unloads the tracers
 *
 * All of it belongs to one thread, the one that replays.
 *
 * For each session whose flags let the event pass: `enabled_X(Tag, State, Tracee)`; if it answers
 * `trace`, the terms are decoded (once for all sessions) and `trace_X(Tag, State, Tracee, Term,
 * Opts)` is called, in an environment of its own. return_from, exception_from and return_to have no
 * `enabled`; they are held back if the call that they belong to was discarded. Nothing is allocated
 * for a discarded event.
 */
#ifndef TH_SESSION_H
#define TH_SESSION_H

#include "event.h"
#include "host/library/library.h"

struct th_tracing;
struct th_session;

struct th_session_setup {
    const char *name;           /* of the tracer, as the user gave it */
    struct th_library *library; /* loaded, a tracer; the session takes over the caller's share */
    th_term state;              /* copied */
    uint32_t flags;             /* enum th_flag */
};

/* What became of a session's events. */
struct th_session_counts {
    uint64_t enabled;   /* callbacks of the enabled family, trace_status left out */
    uint64_t traced;    /* callbacks of the trace family */
    uint64_t discarded; /* events that enabled did not want */
    uint64_t untraced;  /* returns held back, as their call was discarded */
    uint64_t filtered;  /* events that the flags held back */
    uint64_t removed;   /* tracees that `remove`, or what is taken for it, cost the session */
    uint64_t kept;      /* answers `remove` for a tag where it only discards */
    uint64_t refused;   /* messages and port commands to the tracee */
    uint64_t status;    /* callbacks for trace_status */
};

struct th_tracing *th_tracing_create(void);
void th_tracing_free(struct th_tracing *tracing);

/* Callbacks read real clocks from now on, not the records' own time. */
void th_tracing_use_wall_clock(struct th_tracing *tracing);

/* Begins the next stream: forgets all processes, ports, names and calls. Sessions stay. */
void th_tracing_new_world(struct th_tracing *tracing);

/*
 * Asks enabled(trace_status, State, undefined) and attaches. TH_FAILED if the answer is `remove`:
 * then the library is unloaded and nothing else changes.
 */
enum th_status th_session_attach(struct th_tracing *tracing, const struct th_session_setup *setup,
                                 struct th_session **session);

/*
 * Takes one event along. TH_END if no session is attached any more. TH_MALFORMED if a tracer wanted
 * terms that are damaged: then nobody got it, and the chain says why.
 */
enum th_status th_trace(struct th_tracing *tracing, struct th_event *event);

/* ID has ended: sessions whose state it is are asked for their trace_status. Call it after
 * th_trace() of the exit. */
void th_trace_ended(struct th_tracing *tracing, th_term id);

/* Asks a session for its trace_status; one that answers `remove` is detached from all tracees. True
 * while attached. */
bool th_session_status(struct th_session *session);

/* False once its tracer has answered `remove` to a trace_status of its own. */
bool th_session_attached(const struct th_session *session);

const char *th_session_name(const struct th_session *session);
struct th_session_counts th_session_counts(const struct th_session *session);
size_t th_tracing_sessions(const struct th_tracing *tracing);
struct th_session *th_tracing_session(const struct th_tracing *tracing, size_t i);

/* Calls that were forgotten while open, as a process had too many of them: see calls.h. */
uint64_t th_tracing_calls_forgotten(const struct th_tracing *tracing);

#endif
