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
 *
 * Inner header of trace/.
 */
#ifndef TH_ATTACHMENT_H
#define TH_ATTACHMENT_H

#include "callback.h"
#include "session.h"
#include "host/progress/progress.h"
#include "host/self/self.h"

#include <stdatomic.h>

struct th_attachment {
    struct th_session *session;   /* whose it is, or was */
    struct th_library *library;   /* it is a user; NULL: there is no tracer */
    const struct th_slots *slots; /* the library's, or such as want nothing */
    struct th_slots
        *watched;  /* `slots`, if they are not the library's: th_trace_callback_watcher */
    th_term state; /* in `state_env` */
    th_env env;    /* given to each callback, cleared after it; unless shared: see thread.h */
    th_env state_env;
    char *name;
    /* The number of the th_trace_hold() while the purpose of the session may yet fail, else 0.
     * Written by the thread that holds and goes on; relaxed, as it calls the callbacks that ask. */
    _Atomic uint64_t pending;
    /* Its tracer wants to be asked for its trace_status again then. Likewise. */
    atomic_bool asks_again;
    bool asked_first; /* the thread that attaches it is in its first trace_status */
    char *failure;    /* what its tracer has reported in that: th_trace_callback_failed() */
    union {
        struct th_attachment *retired; /* in th_tracing's list: the next one */
        struct th_later later;         /* of a tracing that is shared */
    };
};

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

#endif
