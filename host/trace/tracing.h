/* Structs of sessions, attachments, tracees and the tracing as the files of trace/ see them. */
#ifndef TH_TRACING_H
#define TH_TRACING_H

#include "callback.h"
#include "pattern.h"
#include "timing.h"
#include "tracees.h"

#include "host/base/thread.h"
#include "host/term/clock.h"
#include "host/trace/live/live_table.h"
#include "host/trace/recorded/recorded_internal.h"

#include <pthread.h>
#include <stdatomic.h>

struct th_recorded_process;

/* Index of a session's, or all sessions', default flags by kind of tracee. */
enum th_kind { TH_KIND_PROCESS, TH_KIND_PORT, TH_KINDS };

/* Positions in a session's array of counts: those of struct th_session_counts, then of struct
 * th_pattern_counts, then of struct th_message_counts. */
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
 * A tracer's library with a state under a name, as one session calls them.
 *
 * Library, state and name of an attachment never change, and its session points to the attachment
 * by one word. Each event reads this word once and passes the attachment on: so `enabled` and the
 * `trace` that follows go to the same tracer, even if another thread replaces the attachment
 * meanwhile. The end of a call is a later event, which goes to the tracer of that time.
 *
 * A replaced attachment stays until no thread is in its callbacks or about to call them: in a
 * shared tracing for a grace period, else until the current event is over. The attachment's library
 * has this user up to then: so unload() comes after the last callback.
 */
struct th_attachment {
    struct th_later later;        /* first member: linked when the attachment is replaced */
    struct th_session *session;   /* the session that has, or had, the attachment */
    struct th_library *library;   /* this attachment is a user of it; NULL: the tracer is `own` */
    struct th_own_tracer *own;    /* functions of the program; NULL, and no library: no tracer */
    const struct th_slots *slots; /* the tracer's, or those that discard all */
    struct th_slots *watched; /* `slots`, if they all call th_trace_callback_watcher; else NULL */
    th_term state;            /* in `state_env` */
    th_env env; /* passed to each callback, cleared after it; if shared: see trace_thread.h */
    th_env state_env;
    char *name;
    /* Number of the th_trace_hold() while the purpose of the session may still fail, else 0.
     * Written by the thread that holds. Relaxed: the same thread calls the callbacks that read the
     * number. */
    _Atomic uint64_t pending;
    /* True: the tracer wants another trace_status at th_trace_go(). Written and read as
     * `pending`. */
    atomic_bool asks_again;
    bool asked_first; /* the attaching thread is in its first trace_status */
    char *failure;    /* failure that the tracer reported in the first trace_status; NULL: none */
};

enum th_message_side { TH_MESSAGE_SENT, TH_MESSAGE_RECEIVED, TH_MESSAGES };

/*
 * A member that events read without the lock is atomic, or does not change while events can find
 * the session: events find a session by words that they load with acquire (tracee flags,
 * th_tracing.sessions, breakpoints).
 */
struct th_session {
    struct th_later later; /* first member: linked when the session is destroyed */
    struct th_tracing *tracing;
    th_session_id id; /* weak id, modulo TH_SESSIONS_LIMIT the index */
    bool shared;      /* copy of tracing->shared */
    char *title;
    /* The tracer: th_trace_session_attachment(). Written under the lock, with release, as the
     * attachment is complete; read with acquire. */
    struct th_attachment *_Atomic attachment;
    /* All flags that were ever given: the look of seq_trace events. Relaxed, a word in itself. */
    _Atomic uint32_t flags;
    unsigned index; /* in tracing->sessions */
    uint64_t bit;   /* its bit in sets: 1 << index */
    /* `attached` is false once trace_status has answered `remove`, a callback has reported a
     * failure, or the session is clearing. Written under the lock. Relaxed: a thread that must be
     * sure that all threads have seen the change waits for a grace period. */
    atomic_bool attached, clearing;
    _Atomic uint64_t calls_bit; /* `bit` while `attached`, else 0; written and read as `attached` */
    uint32_t found[TH_KINDS];   /* flags of existing tracees that were not seen */
    uint32_t born[TH_KINDS];    /* flags of new tracees */
    struct th_expected {        /* by th_trace_session_expect() */
        th_term who;
        uint32_t flags;
        bool met; /* the tracee has turned up */
    } * expected;
    size_t expected_count, expected_capacity;
    /* The session's breakpoints; NULL: no pattern was ever set. Set once, under the lock. */
    struct th_session_breakpoints *_Atomic breakpoints;
    bool meta;                      /* the session of a meta tracer: pattern_internal.h */
    struct th_meta_past *meta_past; /* counts of its meta tracers that are gone */
    /* By enum th_message_side; NULL: all messages pass. Exchanged by the setting thread (release:
     * the filter is complete), read in reader sections (acquire); the old filter is freed after a
     * grace period. */
    struct th_message_filter *_Atomic message_filters[TH_MESSAGES];
    atomic_bool message_patterned; /* a filter was ever set; relaxed, for reports alone */
    uint64_t unwanted_before;      /* tracing->unwanted as the session was attached */
    /* Without tracing->unwanted. If shared, only counts from before the sharing, or before the
     * session had an id; later ones are in th_trace_thread.counts. */
    uint64_t counts[TH_COUNTED_ALL];
    atomic_bool refused; /* a message to its tracee was refused, and a warning logged. Relaxed. */
    atomic_bool failed;  /* its tracer has reported a failure. Relaxed. */
    char *failure;       /* the first failure, under the lock; NULL: none */
};

/* Tracing data of a recorded process or port that differs from all others. */
struct th_recorded_tracee {
    struct th_tracee traced;                  /* first member */
    struct th_recorded_tracee *next, **place; /* list of tracing->tracees */
    bool born;                                /* tracee flags include the inherited ones */
    th_term newborn_of; /* its parent, if a link between the two would be that of a spawn_link;
                           else TH_NONE */
    struct th_recorded_stack
        offered; /* calls as offered to sessions without patterns, once the streak is broken */
    struct th_recorded_stack stack; /* for sessions with patterns, while there are any */
    struct th_caller returned_to;   /* the function to which the last end returned, if known */
    struct th_timing timing;        /* of call_time */
};

enum { TH_DEPARTED = 64 };

/*
 * Tracing: all sessions, tracees and functions that belong together.
 *
 * There are three sorts of members. Members that the events of all threads read are atomic, and
 * written under the lock. Members that control calls use are under the lock. Members about
 * recordings belong to the replaying thread alone: the world, stacks and streaks of calls, the
 * arena and the clock. In an unshared tracing one thread does all, without the lock.
 *
 * The lock is held for a few instructions, or for a loop over all tracees; never while a callback
 * runs, or while the thread waits for a grace period or for a change of breakpoints. So a callback
 * may take the lock: no thread that has the lock waits for a callback. The permission to change
 * code would not do in its place, as the result of a control call, in a callback, too, must be true
 * on return: only breakpoints are pending then. The lock is recursive, as settings call settings.
 * Changes of breakpoints that are queued under the lock have the order of the settings.
 */
struct th_tracing {
    /* Never false again; written before other threads use the tracing. */
    bool shared, replays_nothing;
    enum th_status (*check_output)(void *context, const char *path); /* or NULL */
    bool discards_outputs; /* th_trace_discard_outputs() */
    void *check_context;
    pthread_mutex_t lock;
    pthread_t replayer; /* the thread that began the world */
    /* NULL: none or, in a shared tracing, a clearing one. Release, acquire. */
    struct th_session *_Atomic sessions[TH_SESSIONS_LIMIT];
    th_session_id ids[TH_SESSIONS_LIMIT]; /* 0: free */
    uint64_t ends[TH_SESSIONS_LIMIT];     /* destroyed sessions that had this index */
    /* Sessions ever created; destroyed ones, if shared. Relaxed: see th_trace_catch_up(). */
    _Atomic uint64_t created, destroyed;
    _Atomic size_t attached; /* number of attached sessions; relaxed */
    /* Tracee flags of each tracee that has none of its own, by kind; all sessions, for events
     * without a tracee. Memory order as in th_tracee.tracee_flags. */
    struct th_tracee_flags *_Atomic found[TH_KINDS], *_Atomic everyone;
    struct th_tracee_words found_words[TH_KINDS]; /* of `found`; see th_tracee.words */
    /* `wanted`: flags that any tracee may have. `relevant`: a bit for each tag that matters even if
     * no session wants the event. Relaxed: a tracee that has just been given a flag is traced from
     * its next event on, and the thread that gave the flag wrote `wanted` before. */
    _Atomic uint32_t wanted, relevant;
    /* Recorded events that were dropped early, as no session has their flag. Relaxed, written by
     * the replaying thread. */
    _Atomic uint64_t unwanted;
    uint32_t seen;                      /* th_trace_seen(); the replaying thread's */
    bool special;                       /* a tracee of this world has flags of its own */
    struct th_recorded_tracee *tracees; /* of this world */
    struct th_live_table live;      /* processes and ports of this host by id; not under the lock */
    struct th_tracee *live_special; /* those with flags of their own */
    struct th_traceable_function *live_functions;
    uint64_t suppressed_before, strangers_before; /* base of th_live_counts() */
    /* Tracee flags of the tracees that ended last, for events that a BEAM traces after the exit; a
     * ring, `departures` counts. `id` is the replaying thread's; memory order as in
     * th_tracee.tracee_flags. */
    struct th_departed {
        th_term id;
        struct th_tracee_flags *_Atomic tracee_flags;
    } departed[TH_DEPARTED];
    size_t departures;
    struct th_discard_streak streak;
    uint64_t calls_forgotten;              /* of past worlds */
    uint64_t destroyed_seen;               /* `destroyed` at the last th_trace_catch_up() */
    uint64_t ends_seen[TH_SESSIONS_LIMIT]; /* `ends` at that time */
    /* A session has, or had, patterns: recorded stacks are followed. Relaxed: events at breakpoints
     * come after the change that sets the breakpoints. */
    atomic_bool patterned;
    bool recorded_callers;                       /* the recording's results are callers */
    struct th_meta_tracer *_Atomic meta_tracers; /* list, see pattern_internal.h */
    _Atomic bool meta_ended; /* a meta tracer may have ended while the tracing was unshared */
    struct th_functions functions;
    struct th_pattern *unmatched; /* of notes, until the tracing is freed: note_unmatched.c */
    size_t unmatched_count, unmatched_capacity;
    struct th_execution execution;
    void (*display)(th_term term); /* `display` of match specifications; NULL: ignored */
    /* Trace control word of match specifications. Relaxed, a word in itself. */
    _Atomic uint32_t control_word;
    struct th_later *waiting,
        **waiting_end; /* queue for the end of the current event: th_trace_later() */
    bool wall_clock;
    th_env arena; /* terms of the current event, shared by all sessions */
    struct th_event_clock {
        struct th_clock clock;
        struct th_event *event;
    } clock;
};

/* Take and return the tracing's lock. Do nothing in an unshared tracing. Calls nest. */
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

/* Begin and end a reader section, if the tracing is shared, around data that other threads may
 * replace. */
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

/* Returns the first session from index *I on, and sets *I to the index after it; NULL: none. */
static inline struct th_session *th_trace_next(const struct th_tracing *tracing, size_t *i)
{
    struct th_session *session = NULL;

    while (!session && *i < TH_SESSIONS_LIMIT)
        session = th_trace_at(tracing, (*i)++);
    return session;
}

/* Returns the session's attachment, valid until the end of the event or the return of the lock. */
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

/* Returns the counts of SESSION alone, without tracing->unwanted. */
struct th_session_counts th_trace_session_counted(const struct th_session *session);

/* Adds 1 to the count WHAT, a TH_COUNTED(field).
 * Thread: any. */
void th_trace_thread_count(struct th_session *session, size_t what);
static inline void th_trace_session_count(struct th_session *session, size_t what)
{
    if (__builtin_expect(session->shared, 0))
        th_trace_thread_count(session, what);
    else
        session->counts[what]++;
}

/* Returns the number of the thread's th_trace_hold(); 0: none. */
uint64_t th_trace_held(void);

/* Checks that the session of ID is alive, after a time in which the thread was without the lock.
 * Errors: TH_FAILED if another thread has ended the session; never in a callback, where it
 * stays. */
enum th_status th_trace_session_check_there(struct th_tracing *tracing, th_session_id id);

/* Calls th_trace_attachment_ask_status() for the session's tracer, in a section. */
bool th_trace_session_ask_status(struct th_session *session, th_term tracee);

/* Marks SESSION as no longer attached. Under the lock. */
void th_trace_session_detach(struct th_session *session);

/* Gives SESSION a new id, which is INDEX modulo TH_SESSIONS_LIMIT. */
void th_trace_session_identify(struct th_session *session, unsigned index);

/* Creates the session of a meta tracer, which is in no list and has no id, and asks the tracer for
 * its first trace_status. There is no limit for the number of such sessions.
 * Owner, errors: as for th_trace_session_create(). */
enum th_status th_trace_session_begin_meta(struct th_tracing *tracing,
                                           const struct th_session_setup *setup,
                                           struct th_session **session);

/* Frees a session that nothing refers to. */
void th_trace_session_free(struct th_session *session);

/* Waits until the destroyed sessions of a shared tracing are freed. */
void th_trace_sessions_settle(struct th_tracing *tracing);

/*
 * Clears the bits of ended sessions in the members that belong to the replaying thread.
 * Thread: the replaying one, in a shared tracing, at the beginning of each event's section.
 * Order: an index is reused only after the grace period that follows the increment of `destroyed`;
 * so an event that can find the new session has seen this increment.
 */
void th_trace_catch_up(struct th_tracing *tracing);

/* True in the replaying thread, which alone may use the world; always true in an unshared
 * tracing. */
static inline bool th_trace_is_replayer(const struct th_tracing *tracing)
{
    return !tracing->shared || pthread_equal(tracing->replayer, pthread_self());
}

/* Returns the tracee's own struct; makes one if there is none. */
struct th_recorded_tracee *th_trace_tracee_own(struct th_tracing *tracing, th_term id);

/* As th_trace_tracee_own(), for a tracee that may never be seen: the tracee does not count as seen.
 * NULL if ID is no pid or port of this node. */
struct th_recorded_tracee *th_trace_tracee_expect(struct th_tracing *tracing, th_term id);

/* Returns the tracee's own struct; NULL: there is none, the tracee is like all others. */
struct th_recorded_tracee *th_trace_tracee_find(th_term id);

/* Frees the struct of PROCESS, which has ended, itself or with its world. */
void th_trace_tracee_drop(struct th_recorded_process *process);

/* Returns the tracee flags of ID.
 * Thread: for a recorded tracee, the replaying one. */
const struct th_tracee_flags *th_trace_tracee_flags(const struct th_tracing *tracing, th_term id);

/* Return the tracee flags of all tracees that have none of their own, and those of TRACED. In an
 * event, or under the lock. */
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

/* Replace one session's flags (0: the session no longer traces TRACED), or the flags of all
 * sessions. */
void th_trace_traced_set(struct th_tracee *traced, struct th_session *session, uint32_t flags);
void th_trace_traced_set_all(struct th_tracee *traced, struct th_tracee_flags *tracee_flags);

/* Forgets the flags of TRACED, a live tracee that ends. Under the lock. */
void th_trace_traced_end(struct th_tracee *traced);

/* Finds a tracee of this host; NULL: none. Under the lock, until whose return the tracee stays. */
struct th_tracee *th_trace_live(const struct th_tracing *tracing, th_term id);

/* Clears the flags CLEAR of the session, then sets those of SET that the tracee accepts. Returns
 * true if that changes any flag. Under the lock. */
bool th_trace_traced_change(struct th_tracee *traced, struct th_session *session, uint32_t clear,
                            uint32_t set);

/* Takes TRACED away from SESSION, whose tracer answered `remove`, and counts it. */
void th_trace_traced_forget(struct th_tracee *traced, struct th_session *session);

/* Takes a session that ends away from all tracees. */
void th_trace_tracees_leave(struct th_session *session);

/* Computes `found`, `everyone` and `relevant` anew from the settings of all sessions. */
void th_trace_update(struct th_tracing *tracing);

/* Gives the expected tracees that exist now their flags. */
void th_trace_tracees_expected(struct th_tracing *tracing);

/* True if LIBRARY, as the successor of OLD, is loaded by upgrade(). */
bool th_trace_session_upgrades(const struct th_library *library, const struct th_library *old);

/* --- Attachments --- */

/* Creates an attachment with a copy of STATE.
 * Owner: takes over the caller's reference to SETUP's library. */
struct th_attachment *th_trace_attachment_create(struct th_session *session,
                                                 const struct th_session_setup *setup,
                                                 th_term state);

/* Frees an attachment that no thread calls any more. */
void th_trace_attachment_free(struct th_attachment *attachment);

/* Calls the tracer's function for SLOT in ENV, and no more: the common part of
 * th_trace_attachment_call() and th_trace_thread_ask(). After th_trace_attachment_enter_begin(),
 * the caller calls th_trace_callback_set(NULL). */
static inline th_term th_trace_attachment_enter_begin(struct th_attachment *attachment, th_env *env,
                                                      enum th_tracer_slot slot,
                                                      const th_term argv[])
{
    th_self.slot = slot;
    th_trace_callback_set(attachment);
    th_thread_count(&th_self.callbacks);
    return attachment->slots->functions[slot](env, slot % 2 ? 5 : 3, argv);
}

static inline th_term th_trace_attachment_enter(struct th_attachment *attachment, th_env *env,
                                                enum th_tracer_slot slot, const th_term argv[])
{
    th_term answer = th_trace_attachment_enter_begin(attachment, env, slot, argv);

    th_trace_callback_set(NULL);
    return answer;
}

/*
 * Calls the tracer's function for SLOT, with 3 or 5 arguments. SELF is the result of enif_self(),
 * TH_NONE: no process. The result is valid if it is an immediate; TH_NONE after an exception.
 */
th_term th_trace_attachment_call(struct th_attachment *attachment, enum th_tracer_slot slot,
                                 const th_term argv[], th_term self);

/* Returns the environment of the next callback, in which arguments may be made. */
th_env *th_trace_attachment_env(struct th_attachment *attachment);

/* Asks the tracer for its trace_status with TRACEE as argument. False if the answer is `remove`.
 * Outside of callbacks. */
bool th_trace_attachment_ask_status(struct th_attachment *attachment, th_term tracee);

/* Asks a new attachment for its trace_status with `undefined`.
 * Thread: any, also one that runs a callback.
 * Order: after th_trace_outputs_check().
 * Errors: TH_FAILED, with the tracer's report of a failure, or if the answer is `remove`. */
enum th_status th_trace_attachment_ask_first_status(struct th_attachment *attachment);

/* Queues RUN(LATER) for the time when all events that have begun are over: in a shared tracing with
 * th_progress_later(), else for th_trace_settle(), in the order of the calls. */
void th_trace_later(struct th_tracing *tracing, struct th_later *later,
                    void (*run)(struct th_later *later));

/* Frees FLAGS, which only the current events may still use, as soon as these are over. */
void th_trace_retire(struct th_tracing *tracing, struct th_tracee_flags *tracee_flags);

/* Runs the queue of th_trace_later() in an unshared tracing, except in an event or callback. */
void th_trace_settle(struct th_tracing *tracing);

/* Returns the caller that EVENT, a call, was recorded with. */
struct th_caller th_trace_decode_caller(struct th_tracing *tracing, struct th_event *event);
static inline struct th_caller th_trace_recorded_caller(struct th_tracing *tracing,
                                                        struct th_event *event)
{
    if (event->callers_told || tracing->recorded_callers)
        return th_trace_decode_caller(tracing, event);
    return (struct th_caller){.kind = TH_CALLER_UNKNOWN};
}

/* --- Counts of a node: note_counts.c ----------------------------------------------------------- */

/* Sets the counts of breakpoints to COUNTERS, the value of a note, where they are less. Outside of
 * callbacks.
 * Thread: the replaying one. */
void th_trace_note_counts(struct th_tracing *tracing, th_term counters);

/* --- Patterns without a function in a node: note_unmatched.c ---------------------------------- */

/* Appends to TEXT what VALUE, that of a note, tells users. Returns false if it is not understood. */
bool th_trace_note_unmatched_told(th_term value, struct th_buffer *text);

/* Keeps the pattern of VALUE for th_trace_note_unmatched(). */
void th_trace_note_unmatched_play(struct th_tracing *tracing, th_term value);

/* --- Inheritance: inheritance.c --------------------------------------------------------------- */

/* Applies EVENT, whose tag is in tracing->relevant, to the flags of tracees. */
void th_trace_inheritance_apply(struct th_tracing *tracing, struct th_event *event);

/* Gives ID, a tracee that has NAME from now on, the flags of the sessions that expect NAME. */
void th_trace_inheritance_meet(struct th_tracing *tracing, th_term id, th_term name);

/* False: CHILD, a new tracee of this host that PARENT (NULL: none) has spawned, gets the flags of
 * all others, and PARENT keeps its own.
 * Thread: the one that runs PARENT, without the lock. A change of flags that another thread makes
 * at the same time counts as made after the birth: one word, tracing->relevant, decides. While that
 * word has no births, no tracee has flags of its own. */
bool th_trace_inheritance_is_relevant(const struct th_tracee *child,
                                      const struct th_tracee *parent);

/* Gives CHILD, a new tracee of this host, its flags. PARENT (NULL: none) has spawned it; LINKED:
 * with a link. In a reader section and under the lock. */
void th_trace_inheritance_begin(struct th_tracee *child, struct th_tracee *parent, bool linked);

/* Computes tracing->relevant anew.
 * Order: after each change of flags, under the lock. */
void th_trace_inheritance_update(struct th_tracing *tracing);

/* --- The files that tracers write: tracer_output.c -------------------------------------------- */

/* Replaces the output files in the state of ATTACHMENT, which no thread calls yet, by /dev/null
 * (th_trace_discard_outputs()). */
void th_trace_outputs_discard(struct th_attachment *attachment);

/* FIFOs that tracers will write. While one is open here, a second open() of it does not block. */
struct th_outputs {
    int *fifos;
    size_t count, capacity;
};

/*
 * Checks the output files of ATTACHMENT, which no thread calls yet, and opens those that are FIFOs
 * into OUTPUTS, which is {0}. A thread with th_output_stop set waits for the readers of the FIFOs.
 * Meta breakpoints with one library and equal states count as one tracer here. A replaced tracer
 * writes its file until unload(): so a new one for the same file is accepted only if upgrade() can
 * take the file over.
 *
 * Thread: outside of reader sections.
 * Order: the caller calls th_trace_outputs_close() once the tracer has opened its files or was
 * refused, also after an error.
 * Errors: TH_USAGE if the state has a key or value that the tracer does not declare, or if
 * ATTACHMENT would write a file that another session's or meta breakpoint's tracer in the tracing
 * writes, or stdout or stderr; TH_FAILED if a FIFO has no reader and the thread does not wait; the
 * status of CHECK of th_trace_check_outputs().
 */
enum th_status th_trace_outputs_check(struct th_attachment *attachment, struct th_outputs *outputs);
void th_trace_outputs_close(struct th_outputs *outputs);

/* --- Message patterns: message_pattern.c ------------------------------------------------------ */

/* Frees SESSION's message filters, which no thread uses any more. */
void th_trace_message_filters_end(struct th_session *session);

#endif
