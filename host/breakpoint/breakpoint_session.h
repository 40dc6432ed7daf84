/*
 * What breakpoints and trace/ have in common: the kinds of breakpoints, shares of things, sessions.
 */
#ifndef TH_BREAKPOINT_SESSION_H
#define TH_BREAKPOINT_SESSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds of breakpoints. A function has, for each session, one breakpoint that is of any of them
 * at once; but LOCAL and GLOBAL exclude each other, and trace/ has GLOBAL exclude all others where
 * a BEAM does. */

enum th_bp_kind {
    TH_BP_LOCAL = 0x01,  /* each call is traced */
    TH_BP_GLOBAL = 0x02, /* each external call is traced */
    TH_BP_META = 0x04,   /* each call by whomever is traced, by a tracer of its own */
    TH_BP_COUNT = 0x08,  /* call_count: calls are counted */
    TH_BP_TIME = 0x10,   /* call_time: calls and time, by process */
    TH_BP_MEMORY = 0x20, /* call_memory: calls and words allocated, by process */
};

enum {
    TH_BP_TRACING = TH_BP_LOCAL | TH_BP_GLOBAL | TH_BP_META,
    TH_BP_COUNTING = TH_BP_COUNT | TH_BP_TIME | TH_BP_MEMORY,
    TH_BP_ALL = TH_BP_TRACING | TH_BP_COUNTING,

    /* A breakpoint has a flag for each kind that it is of and one, this much higher, for each of
     * them that is active. One that is paused keeps its match specification and its counters and
     * costs nothing. */
    TH_BP_ACTIVE_SHIFT = 8,
};

/*
 * Things that breakpoints hold on to and know nothing of: match specifications, tracers, sessions.
 *
 * Such a thing begins with a struct th_shared, or has one in it. Who holds a pointer for longer
 * than a read section has a share. END is called when the last share is gone: by any thread, maybe
 * in the middle of a change; it must neither block nor wait.
 */

struct th_shared {
    /* Taking one is relaxed, as whoever does has one already, or is in a section in which it is
     * sure that somebody has. Dropping one releases what was done with the thing, and acquires, for
     * END, what all others did. */
    _Atomic uint32_t shares;
    void (*end)(struct th_shared *self);
};

/* One share, the caller's. */
static inline void th_breakpoint_shared_init(struct th_shared *self,
                                             void (*end)(struct th_shared *self))
{
    atomic_init(&self->shares, 1);
    self->end = end;
}

/* Returns SELF. NULL is allowed. */
static inline struct th_shared *th_breakpoint_shared_take(struct th_shared *self)
{
    if (self)
        atomic_fetch_add_explicit(&self->shares, 1, memory_order_relaxed);
    return self;
}

/* NULL is allowed. */
static inline void th_breakpoint_shared_drop(struct th_shared *self)
{
    if (self && atomic_fetch_sub_explicit(&self->shares, 1, memory_order_acq_rel) == 1)
        self->end(self);
}

/*
 * A trace session, as far as breakpoints know it: what to do when one of its breakpoints is hit,
 * and which breakpoints it has. trace/ has one in each of its own sessions.
 */
struct th_account;
struct th_account_frame;
struct th_account_reading;
struct th_generic_bp;
struct th_hit;
struct th_bp_session;

/*
 * What trace/ does. All are called in the read section of a hit, so that what they are handed is
 * good until they return; they neither block nor wait. NULL where a session has no breakpoints of
 * such a kind.
 */
struct th_bp_hooks {
    /* A local or global breakpoint, KIND, was hit. SPEC is its match specification, NULL if it has
     * none. The answer is of enum th_hit_asked. */
    uint32_t (*call)(struct th_hit *hit, struct th_bp_session *session, struct th_shared *spec,
                     uint32_t kind);
    /* A meta breakpoint was hit, whose tracer is TRACER. TH_HIT_REMOVE: the tracer is to go. */
    uint32_t (*meta)(struct th_hit *hit, struct th_bp_session *session, struct th_shared *spec,
                     struct th_shared *tracer);

    /* call_time and call_memory: the account of the process that calls, and READING of now; NULL if
     * the session does not trace its calls. */
    struct th_account *(*account)(struct th_hit *hit, struct th_bp_session *session,
                                  struct th_account_reading *reading);
    /* The call is accounted for: FRAME is to be handed to th_breakpoint_account_return() when it
     * returns. */
    void (*entered)(struct th_hit *hit, struct th_bp_session *session,
                    const struct th_account_frame *frame);

    /* A meta breakpoint has lost TRACER, as its hook asked: said once, however many hits asked for
     * it at the same time. */
    void (*meta_removed)(struct th_bp_session *session, struct th_shared *tracer);
};

struct th_bp_session {
    /* Each breakpoint of the session has a share, each change that names it has one. So a session
     * that is to be freed gives its own share back when a change with
     * th_breakpoint_change_end_session() is done. */
    struct th_shared shared;
    const struct th_bp_hooks *hooks; /* never changes */

    /* Written and read with the code modification permission: */
    bool ended;                        /* it gets no more breakpoints */
    struct th_generic_bp *breakpoints; /* all that it has */
    size_t count;                      /* of them */
};

/* END is called when nobody needs the session any more. */
static inline void th_breakpoint_session_init(struct th_bp_session *session,
                                              const struct th_bp_hooks *hooks,
                                              void (*end)(struct th_shared *shared))
{
    *session = (struct th_bp_session){.hooks = hooks};
    th_breakpoint_shared_init(&session->shared, end);
}

#endif
