/* What the files of trace/ share about sessions and tracees. */
#ifndef TH_TRACING_H
#define TH_TRACING_H

#include "callback.h"
#include "pattern.h"
#include "timing.h"
#include "tracees.h"

#include "host/term/clock.h"
#include "host/trace/recorded/recorded_internal.h"

#include <pthread.h>
#include <stdatomic.h>

struct th_recorded_process;

/* The defaults of a session, or of all: [of ports]. */
enum th_kind { TH_KIND_PROCESS, TH_KIND_PORT, TH_KINDS };

/* Counts of a session, by their place: those of struct th_session_counts, of struct
 * th_pattern_counts, of struct th_message_counts. */
#define TH_COUNTED_AT(counts, field) (offsetof(struct counts, field) / sizeof(uint64_t))
#define TH_COUNTED(field) TH_COUNTED_AT(th_session_counts, field)
#define TH_COUNTED_BY_PATTERNS(field) (TH_COUNTED_SESSION + TH_COUNTED_AT(th_pattern_counts, field))
#define TH_COUNTED_OF_MESSAGES(field) \
    (TH_COUNTED_PATTERNS + TH_COUNTED_AT(th_message_counts, field))
enum {
    TH_COUNTED_SESSION = sizeof(struct th_session_counts) / sizeof(uint64_t),
    TH_COUNTED_PATTERNS = TH_COUNTED_SESSION + sizeof(struct th_pattern_counts) / sizeof(uint64_t),
    TH_COUNTED_ALL = TH_COUNTED_PATTERNS + sizeof(struct th_message_counts) / sizeof(uint64_t)
};

/*
 * What a session calls: a tracer's library, with a state, under a name.
 *
 * It never changes, and hangs on its session by one pointer. Whoever is about to call reads that
 * once for an event and hands it on: so `enabled`, and what is told as its answer was `trace`, go
 * to one and the same tracer, whoever replaces that meanwhile. How calls end is a later event: that
 * goes to the tracer of then.
 *
 * One that was replaced stays until nobody is in its callbacks or about to call it: in a tracing
 * that is shared until thread progress, else until the event at hand is over. Its library loses
 * this user then, and not before: so unload() comes after the last callback.
 */
struct th_attachment {
    struct th_later later;        /* the first member: when it was replaced */
    struct th_session *session;   /* whose it is, or was */
    struct th_library *library;   /* it is a user; NULL: there is no tracer */
    const struct th_slots *slots; /* the library's, or such as want nothing */
    struct th_slots
        *watched;  /* `slots`, if they are not the library's: th_trace_callback_watcher */
    th_term state; /* in `state_env` */
    th_env env;    /* given to each callback, cleared after it; unless shared: see trace_thread.h */
    th_env state_env;
    char *name;
    /* The number of the th_trace_hold() while the purpose of the session may yet fail, else 0.
     * Written by the thread that holds and goes on; relaxed, as it calls the callbacks that ask. */
    _Atomic uint64_t pending;
    /* Its tracer wants to be asked for its trace_status again then. Likewise. */
    atomic_bool asks_again;
    bool asked_first; /* the thread that attaches it is in its first trace_status */
    char *failure;    /* what its tracer has reported in that: th_trace_callback_failed() */
};

enum th_message_side { TH_MESSAGE_SENT, TH_MESSAGE_RECEIVED, TH_MESSAGES };

/*
 * What events read of it without the lock is atomic; or never changes while events can find it: it
 * is found by what is read with acquire (tracee flags, th_tracing.sessions, breakpoints).
 */
struct th_session {
    struct th_later later; /* the first member: when it is buried */
    struct th_tracing *tracing;
    th_session_id id; /* ends in the index */
    bool shared;      /* the tracing is */
    char *title;
    /* Its tracer: th_trace_session_attachment(). Written under the lock; release, as what it leads
     * to is complete; acquire. */
    struct th_attachment *_Atomic attachment;
    /* All flags that were ever given: how seq_trace events look. Relaxed, a word in itself. */
    _Atomic uint32_t flags;
    unsigned index; /* in tracing->sessions; its bit in sets */
    /* False once trace_status has answered `remove`, and when clearing. Both relaxed: whoever must
     * be sure that all have seen it waits for progress. Written under the lock. */
    atomic_bool attached, clearing;
    uint32_t found[TH_KINDS]; /* flags of existing tracees that were not seen */
    uint32_t born[TH_KINDS];  /* of new ones */
    struct th_expected {      /* th_trace_session_expect() */
        th_term who;
        uint32_t flags;
        bool met; /* it has turned up */
    } * expected;
    size_t expected_count, expected_capacity;
    /* Its breakpoints; NULL: it was never given patterns. Set once, under the lock. */
    struct th_session_breakpoints *_Atomic breakpoints;
    bool meta;                      /* of a meta tracer: pattern_internal.h */
    struct th_meta_past *meta_past; /* of its meta tracers */
    /* By enum th_message_side; NULL: everything passes. Exchanged by whoever sets another (release:
     * it is complete); read in read sections (acquire), and what was there freed after progress. */
    struct th_message_filter *_Atomic message_filters[TH_MESSAGES];
    atomic_bool message_patterned; /* one was set; relaxed, for reports alone */
    uint64_t unwanted_before;      /* tracing->unwanted as it was attached */
    /* Without tracing->unwanted; if shared, of what was before it could be found. */
    uint64_t counts[TH_COUNTED_ALL];
    atomic_bool refused; /* a message to its tracee: it was told. Relaxed. */
    atomic_bool failed;  /* its tracer has reported a failure. Relaxed. */
    char *failure;       /* the first of these, under the lock; NULL: none */
};

/* What hangs on a th_process that is not like all others. */
struct th_recorded_tracee {
    struct th_tracee traced;                  /* the first member */
    struct th_recorded_tracee *next, **place; /* in tracing->tracees */
    bool born;                                /* what follows from its birth is in tracee flags */
    th_term newborn_of; /* its parent, if a link between them is of a spawn_link; TH_NONE */
    struct th_recorded_stack
        offered; /* for sessions without patterns, once they break their streak */
    struct th_recorded_stack stack; /* for sessions with patterns, while there are any */
    struct th_caller returned_to;   /* and to what it has returned, as far as that is known */
    struct th_timing timing;        /* of call_time */
};

enum { TH_DEPARTED = 64 };

/*
 * Three sorts of members. What all threads' events look at is atomic, and changed under the lock.
 * What control calls use is under the lock, too. What belongs to recordings is the replaying
 * thread's own, and no other touches it: the world, the stacks and streaks of calls, the arena and
 * the clock. While the tracing is not shared there is one thread, which does all, without the lock.
 *
 * The lock is held for a few instructions, or for what is to be done for each tracee; never while
 * a callback runs or progress or a change of breakpoints is waited for. So a callback may call what
 * takes it: whoever has it waits for no callback. It is a lock, not the code modification
 * permission, as what control calls answer, in callbacks, too, is true when they return: only
 * breakpoints are pending there. It is recursive, as settings are made of settings. Where changes
 * of breakpoints are put into their queue under it, they have the order of the settings.
 */
struct th_tracing {
    /* Once true, for ever; written while there is one thread. */
    bool shared, replays_nothing;
    enum th_status (*check_output)(void *context, const char *path); /* or NULL */
    void *check_context;
    pthread_mutex_t lock;
    pthread_t replayer; /* the thread that began the world */
    /* NULL: none, or one that is clearing if the tracing is shared. Release, acquire. */
    struct th_session *_Atomic sessions[TH_SESSIONS_LIMIT];
    th_session_id ids[TH_SESSIONS_LIMIT]; /* 0: free */
    uint64_t ends[TH_SESSIONS_LIMIT];     /* sessions that had this index and were destroyed */
    /* Sessions, ever; how many were destroyed, if shared. Relaxed: see th_trace_catch_up(). */
    _Atomic uint64_t created, destroyed;
    _Atomic size_t attached; /* sessions that still are; relaxed */
    /* Of each tracee that has none of its own; all sessions, for what has no tracee. As
     * th_traced.tracee flags. */
    struct th_tracee_flags *_Atomic found[TH_KINDS], *_Atomic everyone;
    _Atomic uint32_t found_flags[TH_KINDS]; /* all of found; see th_traced.flags */
    /* Flags that anybody may have; tags, a bit each, to be looked at although no session wants the
     * event. Relaxed: who has just been given a flag is traced by it from its next event on, and
     * whoever gave it wrote this first. */
    _Atomic uint32_t wanted, relevant;
    /* Recorded events that no session has the flag for: they went no further. Relaxed, written by
     * the replaying thread. */
    _Atomic uint64_t unwanted;
    uint32_t seen;                      /* th_trace_seen(); the replaying thread's own */
    bool special;                       /* a tracee of this world has tracee flags of its own */
    struct th_recorded_tracee *tracees; /* of this world */
    struct th_table live;               /* processes of this host by id: struct th_live_tracee */
    struct th_traceable_function *live_functions;
    uint64_t suppressed_before, strangers_before; /* th_live_counts() */
    /* Refs of those that ended last, for what a BEAM traces after the exit; the oldest next. `id`
     * is the replaying thread's own; tracee flags are as th_traced.tracee flags. */
    struct th_departed {
        th_term id;
        struct th_tracee_flags *_Atomic tracee_flags;
    } departed[TH_DEPARTED];
    size_t departures;
    struct th_discard_streak streak;
    uint64_t calls_forgotten;              /* of worlds that are past */
    uint64_t destroyed_seen;               /* of `destroyed`: their bits are forgotten ... */
    uint64_t ends_seen[TH_SESSIONS_LIMIT]; /* ... which are those of which `ends` was this */
    /* A session has, or had, patterns: recorded stacks are followed. Relaxed: a session's events
     * at breakpoints come after its change. */
    atomic_bool patterned;
    bool recorded_callers;                       /* results in the recording are callers */
    struct th_meta_tracer *_Atomic meta_tracers; /* see pattern_internal.h */
    _Atomic bool meta_ended; /* one of them may have while the tracing was not shared */
    struct th_functions functions;
    struct th_execution execution;
    void (*display)(th_term term); /* of match specifications; NULL: goes nowhere */
    /* The trace control word of match specifications. Relaxed, a word in itself. */
    _Atomic uint32_t control_word;
    struct th_later *waiting,
        **waiting_end; /* for the end of the event at hand: th_trace_later() */
    bool wall_clock;
    th_env arena; /* the terms of the event at hand, shared by all sessions */
    struct th_event_clock {
        struct th_clock clock;
        struct th_event *event;
    } clock;
};

/* Around what is said to be under the lock; nothing while there is one thread. They nest. */
static inline void th_trace_lock(struct th_tracing *tracing)
{
    if (tracing->shared)
        pthread_mutex_lock(&tracing->lock);
}

static inline void th_trace_unlock(struct th_tracing *tracing)
{
    if (tracing->shared)
        pthread_mutex_unlock(&tracing->lock);
}

/* Around what other threads may replace meanwhile: a read section, if the tracing is shared. */
static inline void th_trace_enter(const struct th_tracing *tracing)
{
    if (tracing->shared)
        th_progress_enter();
}

static inline void th_trace_leave(const struct th_tracing *tracing)
{
    if (tracing->shared)
        th_progress_leave();
}

static inline struct th_session *th_trace_at(const struct th_tracing *tracing, size_t index)
{
    return atomic_load_explicit(&tracing->sessions[index], memory_order_acquire);
}

/* The first session from the index *I on, which becomes the one after that; NULL: there is none. */
static inline struct th_session *th_trace_next(const struct th_tracing *tracing, size_t *i)
{
    struct th_session *session = NULL;

    while (!session && *i < TH_SESSIONS_LIMIT)
        session = th_trace_at(tracing, (*i)++);
    return session;
}

/* In an event, or under the lock; it stays as long. */
static inline struct th_attachment *th_trace_session_attachment(const struct th_session *session)
{
    return atomic_load_explicit(&session->attachment, memory_order_acquire);
}

static inline bool th_trace_session_is_attached(const struct th_session *session)
{
    return atomic_load_explicit(&session->attached, memory_order_relaxed);
}

static inline bool th_trace_session_is_clearing(const struct th_session *session)
{
    return atomic_load_explicit(&session->clearing, memory_order_relaxed);
}

static inline enum th_kind th_trace_kind_of(th_term id)
{
    return th_is_port(id) ? TH_KIND_PORT : TH_KIND_PROCESS;
}

/* What SESSION itself has counted. */
struct th_session_counts th_trace_session_counted(const struct th_session *session);

/* Counts one more: WHAT is TH_COUNTED(field). Any thread. */
void th_trace_thread_count(struct th_session *session, size_t what);
static inline void th_trace_session_count(struct th_session *session, size_t what)
{
    if (__builtin_expect(session->shared, 0))
        th_trace_thread_count(session, what);
    else
        session->counts[what]++;
}

/* The number of the thread's th_trace_hold(); 0: it does not hold. */
uint64_t th_trace_held(void);

/* The session of ID is alive; else TH_FAILED: another thread may have ended it while this one was
 * without the lock. In a callback it stays in any case. */
enum th_status th_trace_session_check_there(struct th_tracing *tracing, th_session_id id);

/* th_trace_attachment_ask_status() of its tracer. */
bool th_trace_session_ask_status(struct th_session *session, th_term tracee);

/* It is attached no more. Under the lock. */
void th_trace_session_detach(struct th_session *session);

/* Gives SESSION its id, which ends in INDEX. */
void th_trace_session_identify(struct th_session *session, unsigned index);

/* The first steps of th_trace_session_create(), of a meta tracer: its session is in no list. */
enum th_status th_trace_session_begin_meta(struct th_tracing *tracing,
                                           const struct th_session_setup *setup,
                                           struct th_session **session);

/* Frees a session that nothing refers to. */
void th_trace_session_free(struct th_session *session);

/* Waits until those that were destroyed in a shared tracing are buried. */
void th_trace_sessions_settle(struct th_tracing *tracing);

/*
 * In a shared tracing: the replaying thread forgets the bits of sessions that are no more, in what
 * only it may touch. At the begin of each event's section. A session's index is given to another
 * after thread progress that comes after `destroyed` was counted up; so whoever may meet the other
 * one has seen that.
 */
void th_trace_catch_up(struct th_tracing *tracing);

/* True in the thread that replays, or while there is one: it may look at the world. */
static inline bool th_trace_is_replayer(const struct th_tracing *tracing)
{
    return !tracing->shared || pthread_equal(tracing->replayer, pthread_self());
}

/* The tracee's own struct, made if it is not there. */
struct th_recorded_tracee *th_trace_tracee_own(struct th_tracing *tracing, th_term id);

/* The same of one that is perhaps never seen, and does not count as seen by this. NULL if ID is no
 * pid or port of this node. */
struct th_recorded_tracee *th_trace_tracee_expect(struct th_tracing *tracing, th_term id);

/* The tracee's own struct; NULL: nothing special is known of it. */
struct th_recorded_tracee *th_trace_tracee_find(th_term id);

/* PROCESS, which has one, has ended, or its world has. */
void th_trace_tracee_drop(struct th_recorded_process *process);

/* Who traces it: one of a recording, by the replaying thread. */
const struct th_tracee_flags *th_trace_tracee_flags(const struct th_tracing *tracing, th_term id);

/* Who traces all that have no tracee flags of their own; and whom these are of. In an event, or
 * under the lock. */
static inline const struct th_tracee_flags *th_trace_found_flags(const struct th_tracing *tracing,
                                                                 th_term id)
{
    return atomic_load_explicit(&tracing->found[th_trace_kind_of(id)], memory_order_acquire);
}

static inline const struct th_tracee_flags *th_trace_traced_flags(const struct th_tracee *traced)
{
    const struct th_tracee_flags *own =
        atomic_load_explicit(&traced->tracee_flags, memory_order_acquire);

    return own ? own : th_trace_found_flags(traced->tracing, traced->id);
}

/* Replaces one session's flags (0: it traces no more), or all at once. */
void th_trace_traced_set(struct th_tracee *traced, struct th_session *session, uint32_t flags);
void th_trace_traced_set_all(struct th_tracee *traced, struct th_tracee_flags *tracee_flags);

/* One of this host; NULL: there is none of that id. Under the lock. */
struct th_tracee *th_trace_live(const struct th_tracing *tracing, th_term id);

/* Takes the flags CLEAR of the session away, and gives SET, of them what the tracee accepts. True
 * if that changes anything. Under the lock. */
bool th_trace_traced_change(struct th_tracee *traced, struct th_session *session, uint32_t clear,
                            uint32_t set);

/* The session's tracer wants no more of it. */
void th_trace_traced_forget(struct th_tracee *traced, struct th_session *session);

/* Takes a session that is to be no more away from all tracees. */
void th_trace_tracees_leave(struct th_session *session);

/* Rebuilds found and everyone from what the sessions say. */
void th_trace_update(struct th_tracing *tracing);

/* Gives those that sessions expect by their id what they shall have. */
void th_trace_tracees_expected(struct th_tracing *tracing);

/* Whether LIBRARY is loaded by upgrade() where OLD is replaced. */
bool th_trace_session_upgrades(const struct th_library *library, const struct th_library *old);

/* --- Attachments --- */

/* Takes over the caller's share of SETUP's library. STATE is copied. */
struct th_attachment *th_trace_attachment_create(struct th_session *session,
                                                 const struct th_session_setup *setup,
                                                 th_term state);

/* Nobody calls it any more. */
void th_trace_attachment_free(struct th_attachment *attachment);

/* Calls what fills SLOT of the tracer in ENV, and no more: what th_trace_attachment_call() and
 * th_trace_thread_ask() have in common. */
static inline th_term th_trace_attachment_enter(struct th_attachment *attachment, th_env *env,
                                                enum th_tracer_slot slot, const th_term argv[])
{
    uint64_t callbacks = atomic_load_explicit(&th_self.callbacks, memory_order_relaxed);
    th_term answer;

    th_self.slot = slot;
    th_trace_callback_set(attachment);
    /* Only this thread writes it. */
    atomic_store_explicit(&th_self.callbacks, callbacks + 1, memory_order_relaxed);
    answer = attachment->slots->functions[slot](env, slot % 2 ? 5 : 3, argv);
    th_trace_callback_set(NULL);
    return answer;
}

/*
 * Calls what fills SLOT of the tracer, with 3 or 5 arguments. SELF is what enif_self tells, TH_NONE
 * for nobody. The answer is valid if it is an immediate; TH_NONE for an exception.
 */
th_term th_trace_attachment_call(struct th_attachment *attachment, enum th_tracer_slot slot,
                                 const th_term argv[], th_term self);

/* The environment of the callback that is to be called: arguments may be made in it. */
th_env *th_trace_attachment_env(struct th_attachment *attachment);

/* Asks for the trace status with TRACEE as argument. False if the answer is `remove`. Outside of
 * callbacks. */
bool th_trace_attachment_ask_status(struct th_attachment *attachment, th_term tracee);

/* The same of one that is to become a session's, with `undefined`: where a callback may be under
 * way. After th_trace_outputs_check(). TH_FAILED with what the tracer reports, or if the answer is
 * `remove`. */
enum th_status th_trace_attachment_ask_first_status(struct th_attachment *attachment);

/* Has RUN(LATER) called when the events that have begun are over: in a tracing that is shared by
 * th_progress_later(), else by th_trace_settle(), in the order in which they were handed in. */
void th_trace_later(struct th_tracing *tracing, struct th_later *later,
                    void (*run)(struct th_later *later));

/* FLAGS are no more in use, but perhaps by the event at hand. */
void th_trace_retire(struct th_tracing *tracing, struct th_tracee_flags *tracee_flags);

/* Does what had to wait for the end of the event at hand, unless one is. */
void th_trace_settle(struct th_tracing *tracing);

/* The caller that EVENT, a call, was recorded with. */
struct th_caller th_trace_decode_caller(struct th_tracing *tracing, struct th_event *event);
static inline struct th_caller th_trace_recorded_caller(struct th_tracing *tracing,
                                                        struct th_event *event)
{
    if (event->callers_told || tracing->recorded_callers)
        return th_trace_decode_caller(tracing, event);
    return (struct th_caller){.kind = TH_CALLER_UNKNOWN};
}

/* --- Inheritance: inheritance.c --------------------------------------------------------------- */

/* What EVENT, whose tag is one of tracing->relevant, means for who is traced. */
void th_trace_inheritance_apply(struct th_tracing *tracing, struct th_event *event);

/* CHILD, of this host, is there. PARENT (NULL: none) has spawned it, LINKED to itself. In a read
 * section and under the lock. */
void th_trace_inheritance_begin(struct th_tracee *child, struct th_tracee *parent, bool linked);

/* Says anew which tags can make a difference. To be called after each change of flags, under
 * the lock. */
void th_trace_inheritance_update(struct th_tracing *tracing);

/* --- The files that tracers write: tracer_output.c -------------------------------------------- */

/* FIFOs that are to be written. While one is open here, opening it again does not wait. */
struct th_outputs {
    int *fifos;
    size_t count, capacity;
};

/*
 * Opens the FIFOs that ATTACHMENT, which calls nobody yet, would write; for OUTPUTS, which is {0}.
 * The caller ends with th_trace_outputs_close(), once the tracer has them open, too, or was
 * refused. The thread whose th_output_stop is set waits for their readers; for others, TH_FAILED if
 * a FIFO has no reader. Outside of sections.
 *
 * TH_USAGE if the tracer does not declare what is in its state, or if ATTACHMENT would write a file
 * that the tracer of another session or meta breakpoint of its tracing writes, that stdout or
 * stderr goes to, or that th_trace_check_outputs() refuses. Meta breakpoints with one library and
 * equal states have one tracer in this sense. A tracer that is replaced writes its file up to
 * unload(), so that the new one is refused as well if it would write that file and is not loaded by
 * upgrade(), which alone can take the file over.
 */
enum th_status th_trace_outputs_check(struct th_attachment *attachment, struct th_outputs *outputs);
void th_trace_outputs_close(struct th_outputs *outputs);

/* --- Message patterns: message_pattern.c ------------------------------------------------------ */

/* Nobody looks at SESSION's any more. */
void th_trace_message_filters_end(struct th_session *session);

#endif
