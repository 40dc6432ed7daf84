/*
 * Sessions: a tracer at work, with its state; and the one path that every event takes to them.
 *
 *   struct th_tracing *tracing = th_trace_create();
 *   th_trace_session_create(tracing, &setup, &session);        for each tracer
 *   th_trace_session_trace(session, TH_PROCESSES_ALL, true, flags);    whom it traces: tracees.h
 *   th_trace_new_world(tracing);                       before each stream but the first
 *   th_trace(tracing, &event);                           for each event
 *   th_trace_session_replace(session, &other);                 at any time
 *   th_trace_session_destroy(session);                         at any time
 *   th_trace_free(tracing);                            unloads the tracers
 *
 * They are OTP 27's (module `trace`). A tracing belongs to one thread, until that shares it
 * (th_trace_share()): then any thread may call what changes sessions and asks about them, two at
 * once, too, as long as nobody uses a session that another destroys; what happens in this host is
 * traced as it happens (live.h); and a recording may still be replayed, by one thread, to which
 * the world and the calls of the recording belong. All may be called from callbacks: what then
 * changes, changes from the next event on.
 *
 * For each session that traces the event's tracee with a flag that lets the event pass:
 * `enabled_X(Tag, State, Tracee)`; if it answers `trace`, the terms are decoded (once for all
 * sessions) and `trace_X(Tag, State, Tracee, Term, Opts)` is called, in an environment of its own.
 * return_from, exception_from and return_to have no `enabled`; they are held back if the call that
 * they belong to was discarded, or was made in silence. Nothing is allocated for a discarded event.
 * seq_trace events, which have no tracee, go to all sessions.
 */
#ifndef TH_SESSION_H
#define TH_SESSION_H

#include "host/base/error.h"
#include "host/term/word.h"

struct th_event;
struct th_tracing;
struct th_session;

enum { TH_SESSIONS_LIMIT = 64 /* at a time: sets of sessions are 64 bits */ };

struct th_session_setup {
    const char *name; /* of the tracer, as the user gave it */
    /* Loaded, a tracer; the session takes over the caller's share. NULL: there is no tracer, and
     * the session is for what its breakpoints count (pattern.h); it wants no event. */
    struct th_library *library;
    th_term state;     /* copied */
    uint32_t flags;    /* enum th_flag; for th_trace_session_attach() alone */
    const char *title; /* the session's own name; NULL: it has none */
};

/* What became of a session's events. */
struct th_session_counts {
    uint64_t enabled;   /* callbacks of the enabled family, trace_status left out */
    uint64_t traced;    /* callbacks of the trace family */
    uint64_t discarded; /* events that enabled did not want */
    uint64_t silenced;  /* calls that enabled wanted, of tracees with the flag silent */
    uint64_t untraced;  /* returns held back, as their call was discarded or silent */
    uint64_t
        filtered;     /* events that the flags held back; of live ones, those that somebody wants */
    uint64_t removed; /* tracees that `remove`, or what is taken for it, cost the session */
    uint64_t kept;    /* answers `remove` for a tag where it only discards */
    uint64_t refused; /* messages and port commands to the tracee */
    uint64_t status;  /* callbacks for trace_status */
};

struct th_tracing *th_trace_create(void);
void th_trace_free(struct th_tracing *tracing);

/*
 * Other threads may use it from now on. By the thread that has it, outside of events, before the
 * first of these. An event is a read section then, replayed ones as well, which costs these 2 ns;
 * sessions that callbacks destroy are buried, and libraries closed, by th_progress_later().
 */
void th_trace_share(struct th_tracing *tracing);
bool th_trace_is_shared(const struct th_tracing *tracing);

/* No recording will be replayed in it: only functions that this host has are there for patterns.
 * (Of a recording, one that is named counts as there before it is met.) As th_trace_share(), for
 * which thread and when. */
void th_trace_replay_nothing(struct th_tracing *tracing);

/* CHECK(CONTEXT, PATH) is called for each file that the settings of a tracer that is attached from
 * now on have it write, before it is opened; any status but TH_OK, which CHECK raises, refuses the
 * tracer. Before th_trace_share(). Thread: CHECK is called by whoever attaches. */
void th_trace_check_outputs(struct th_tracing *tracing,
                            enum th_status (*check)(void *context, const char *path),
                            void *context);

/* Callbacks for recorded events read real clocks from now on, not the records' own time. */
void th_trace_use_wall_clock(struct th_tracing *tracing);

/* Begins the next stream: forgets all processes, ports, names and calls. Sessions stay, with what
 * tracees.h says. The calling thread is the one that replays from now on. */
void th_trace_new_world(struct th_tracing *tracing);

/*
 * Asks enabled(trace_status, State, undefined). TH_FAILED if the answer is `remove`, TH_USAGE if
 * there are too many sessions: then the library is released and nothing else changes.
 */
enum th_status th_trace_session_create(struct th_tracing *tracing,
                                       const struct th_session_setup *setup,
                                       struct th_session **session);

/* The same; and whatever the recording shows is traced with setup->flags: who is spawned in it
 * inherits them, as if its recorder had traced with set_on_spawn. */
enum th_status th_trace_session_attach(struct th_tracing *tracing,
                                       const struct th_session_setup *setup,
                                       struct th_session **session);

/*
 * Whether what sessions are for can begin is not known yet: tracers that the calling thread
 * attaches between hold and go, and that ask for it (th_attach_pending()), touch nothing that they
 * could not leave as it was. th_trace_go() asks these for their trace_status again.
 *
 * th_trace_hold(): false if the thread holds already, and will go on later.
 */
bool th_trace_hold(void);
void th_trace_go(struct th_tracing *tracing);

/*
 * Ends a session with all its settings. Outside of callbacks: when it returns, the library has lost
 * this user, and nothing of the session is called any more; if the tracing is shared, it has waited
 * for thread progress. In a callback of any session: the session is clearing; nothing of it is
 * called after the callback at hand (and what others are in), and it is dead after the event, or,
 * if shared, soon after. SESSION is not to be used any more.
 */
void th_trace_session_destroy(struct th_session *session);

/*
 * Replaces a session's tracer: setup->library with setup->state (TH_NONE: the state that it has)
 * under setup->name; flags and title are not looked at. Flags, patterns and what
 * th_trace_session_counts() and the breakpoints have counted stay; what a tracer has counted itself
 * is upgrade()'s to keep.
 *
 * The library is open, and need not be loaded. If it is not, its upgrade() is called with the
 * private data of the old one, where both are of one module and it has upgrade(), else its load().
 * Meanwhile, and a little longer, other threads may be in callbacks of the old one. Then the new
 * one is asked for its trace_status. After that, each event goes to just one of them, `enabled` and
 * what follows of it; those that begin once this has returned go to the new one, calls that end
 * then as well. The old one's library loses this user after its last callback: outside of callbacks
 * when this returns, having waited for thread progress if the tracing is shared; in a callback of
 * any session after the event at hand, or, if shared, soon after.
 *
 * Other sessions, and meta breakpoints that have a tracer of their own, stay with the library that
 * they have, be it the one that is replaced here; but see th_library_load() for what upgrade()
 * takes over.
 *
 * The library is the session's, whatever comes of it. If this fails, it is released, and the old
 * one stays: TH_REFUSED as th_library_check_tracer() and th_library_load(); TH_USAGE if it has no
 * upgrade() and would write the old one's file, or as th_trace_session_create(); TH_FAILED if it
 * answers `remove`, if the session was detached, or if it ended or got another library meanwhile.
 * One that has upgraded and answers `remove` keeps what it took. As all that loads libraries, by
 * one thread at a time.
 */
enum th_status th_trace_session_replace(struct th_session *session,
                                        const struct th_session_setup *setup);

/* Names a session weakly: the id of one that is dead never names a later one. */
typedef uint64_t th_session_id;
enum th_session_state { TH_SESSION_ALIVE, TH_SESSION_CLEARING, TH_SESSION_DEAD };

th_session_id th_trace_session_id_of(const struct th_session *session);
enum th_session_state th_trace_session_state(struct th_tracing *tracing, th_session_id id);

/* The session; NULL unless it is alive. In an event, or where nobody destroys it meanwhile. */
struct th_session *th_trace_session_find(const struct th_tracing *tracing, th_session_id id);

/*
 * Takes one event along: a recorded one by the thread that replays, a live one (event->live) by the
 * thread that runs its tracee. TH_END if no session is attached any more. TH_MALFORMED if a tracer
 * wanted terms that are damaged: then nobody got it, and the chain says why.
 */
enum th_status th_trace(struct th_tracing *tracing, struct th_event *event);

/* The event has happened, but nobody gets it: what follows from it for later ones. */
void th_trace_skip(struct th_tracing *tracing, struct th_event *event);

/* ID has ended: sessions whose state it is are asked for their trace_status. Call it after
 * th_trace() of the exit. */
void th_trace_ended(struct th_tracing *tracing, th_term id);

/*
 * Calls DONE(CONTEXT) when the tracers have had every event of TRACEE up to now (TH_NONE: of all
 * tracees). While one thread does all, this is at once, or, in a callback, after the event at hand;
 * if the tracing is shared, by th_progress_later().
 */
void th_trace_delivered(struct th_tracing *tracing, th_term tracee, void (*done)(void *context),
                        void *context);

/* Asks a session for its trace_status; one that answers `remove` is detached from all tracees. True
 * while attached. Not asked in a callback. */
bool th_trace_session_status(struct th_session *session);

/* False once its tracer has answered `remove` to a trace_status of its own, or has reported a
 * failure (th_tracer_failed()) in one of its callbacks. */
bool th_trace_session_attached(const struct th_session *session);

/* Its tracer has reported a failure. */
bool th_trace_session_failed(const struct th_session *session);

/* The first such failure, "tracer 'jsonl' failed: ...", to be freed by th_free(); NULL: there was
 * none. */
char *th_trace_session_failure(const struct th_session *session);

bool th_trace_session_has_tracer(const struct th_session *session);

struct th_tracing *th_trace_session_tracing(const struct th_session *session);

/* All three are the tracer's, good until that is replaced. */
const char *th_trace_session_name(const struct th_session *session);
th_term th_trace_session_state_term(const struct th_session *session);
struct th_library *th_trace_session_library(const struct th_session *session);

const char *th_trace_session_title(const struct th_session *session); /* NULL: it has none */
struct th_session_counts th_trace_session_counts(const struct th_session *session);

/* The sessions that are not dead (if shared: that are alive), those that began first mostly first.
 */
size_t th_trace_sessions(const struct th_tracing *tracing);
struct th_session *th_trace_session(const struct th_tracing *tracing, size_t i);

/* The flags of the recorded events so far, whether or not a session wanted them. Thread: the one
 * that replays. */
uint32_t th_trace_seen(const struct th_tracing *tracing);

/* Calls that were forgotten while open, as a process had too many of them: see discard_streak.c. */
uint64_t th_trace_calls_forgotten(const struct th_tracing *tracing);

#endif
