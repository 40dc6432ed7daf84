/*
 * Types that breakpoint/ and trace/ share: kinds of breakpoints, shared objects, sessions.
 */
#ifndef TH_BREAKPOINT_SESSION_H
#define TH_BREAKPOINT_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds of breakpoints. A function has, for each session, one breakpoint, which can have
 * several kinds at once. LOCAL and GLOBAL exclude each other; trace/ makes GLOBAL exclude all
 * others where a BEAM does. */

enum th_bp_kind {
    TH_BP_LOCAL = 0x01,  /* each call is traced */
    TH_BP_GLOBAL = 0x02, /* each external call is traced */
    TH_BP_META = 0x04,   /* each call of any process is traced, by the breakpoint's own tracer */
    TH_BP_COUNT = 0x08,  /* call_count: calls are counted */
    TH_BP_TIME = 0x10,   /* call_time: calls and time, by process */
    TH_BP_MEMORY = 0x20, /* call_memory: calls and words allocated, by process */
};

enum {
    TH_BP_TRACING = TH_BP_LOCAL | TH_BP_GLOBAL | TH_BP_META,
    TH_BP_COUNTING = TH_BP_COUNT | TH_BP_TIME | TH_BP_MEMORY,
    TH_BP_ALL = TH_BP_TRACING | TH_BP_COUNTING,

    /* A breakpoint has a flag for each of its kinds, and a second one, shifted by this number of
     * bits, for each active kind. A paused kind keeps its match specification and its counters and
     * costs nothing. */
    TH_BP_ACTIVE_SHIFT = 8,
};

/*
 * Reference-counted objects that breakpoints hold without knowing their contents: match
 * specifications, tracers, sessions.
 *
 * Such an object begins with a struct th_shared, or contains one. A pointer that is kept for longer
 * than a reader section needs a share. END is called when the last share is dropped, by any thread,
 * maybe in the middle of a change; END must neither block nor wait.
 */

struct th_shared {
    /* Taking a share is relaxed: the caller has one already, or is in a section in which another
     * holder is certain. Dropping a share releases the holder's use of the object and acquires, for
     * END, the use of all others. */
    _Atomic uint32_t shares;
    void (*end)(struct th_shared *self);
};

/* Initialises SELF with one share, the caller's. */
static inline void th_breakpoint_shared_init(struct th_shared *self,
                                             void (*end)(struct th_shared *self))
{
    atomic_init(&self->shares, 1);
    self->end = end;
}

/* Takes a share of SELF (may be NULL) and returns SELF. */
static inline struct th_shared *th_breakpoint_shared_take(struct th_shared *self)
{
    if (self)
        atomic_fetch_add_explicit(&self->shares, 1, memory_order_relaxed);
    return self;
}

/* Drops a share of SELF (may be NULL). */
static inline void th_breakpoint_shared_drop(struct th_shared *self)
{
    if (self && atomic_fetch_sub_explicit(&self->shares, 1, memory_order_acq_rel) == 1)
        self->end(self);
}

/*
 * A trace session, as breakpoint/ sees it: the hooks for hits of the session's breakpoints, and the
 * list of these breakpoints. trace/ makes one for each of its own sessions that gets a breakpoint.
 */
struct th_account;
struct th_account_frame;
struct th_account_reading;
struct th_generic_bp;
struct th_hit;
struct th_bp_session;

/*
 * The hooks: functions of trace/. All are called in the reader section of a hit, so their arguments
 * are valid until they return. They neither block nor wait. A hook may be NULL if the session has
 * no breakpoints of its kind.
 */
struct th_bp_hooks {
    /* A local or global breakpoint, KIND, was hit. SPEC is its match specification, or NULL.
     * Returns bits of enum th_hit_asked. */
    uint32_t (*call)(struct th_hit *hit, struct th_bp_session *session, struct th_shared *spec,
                     uint32_t kind);
    /* A meta breakpoint with TRACER was hit. TH_HIT_REMOVE in the result removes TRACER. */
    uint32_t (*meta)(struct th_hit *hit, struct th_bp_session *session, struct th_shared *spec,
                     struct th_shared *tracer);

    /* call_time and call_memory: returns the account of the calling process, and fills READING.
     * Returns NULL if the session does not trace the process' calls. */
    struct th_account *(*account)(struct th_hit *hit, struct th_bp_session *session,
                                  struct th_account_reading *reading);
    /* The call is accounted for: when the call returns, FRAME must be passed to
     * th_breakpoint_account_return(). */
    void (*entered)(struct th_hit *hit, struct th_bp_session *session,
                    const struct th_account_frame *frame);

    /* A meta breakpoint has lost TRACER, as its hook requested. Called once, even if several hits
     * requested it at the same time. May be NULL. */
    void (*meta_removed)(struct th_bp_session *session, struct th_shared *tracer);
};

struct th_bp_session {
    /* Each breakpoint of the session and each change that names it hold a share. To free a session,
     * run a change with th_breakpoint_change_end_session(), and drop the creator's share when the
     * change is done. */
    struct th_shared shared;
    const struct th_bp_hooks *hooks; /* constant */
    void *owner;  /* data of trace/; constant while there are breakpoints, which have copies */
    uint64_t bit; /* of trace/: the session's bit in th_native.sessions; constant */

    /* Written and read with the code modification permission: */
    bool ended;                        /* gets no more breakpoints */
    struct th_generic_bp *breakpoints; /* the list of all, by `of_session` */
    size_t count;                      /* of breakpoints */
};

/* Initialises SESSION with one share. END is called when the last share is dropped. */
static inline void th_breakpoint_session_init(struct th_bp_session *session,
                                              const struct th_bp_hooks *hooks,
                                              void (*end)(struct th_shared *shared))
{
    *session = (struct th_bp_session){.hooks = hooks};
    th_breakpoint_shared_init(&session->shared, end);
}

#endif
