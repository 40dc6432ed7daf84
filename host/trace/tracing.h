/* What the files of trace/ share about sessions and tracees. */
#ifndef TH_TRACING_H
#define TH_TRACING_H

#include "callback.h"
#include "calls.h"
#include "execution.h"
#include "functions.h"
#include "refs.h"
#include "timing.h"
#include "tracees.h"
#include "host/process/process.h"

/* The defaults of a session, or of all: [of ports]. */
enum th_kind { TH_KIND_PROCESS, TH_KIND_PORT, TH_KINDS };

struct th_session {
    struct th_tracing *tracing;
    th_session_id id; /* ends in the index */
    char *name, *title;
    struct th_library *library;
    const struct th_slots *slots; /* the library's */
    th_env state_env;             /* holds state */
    th_term state;
    th_env env;     /* given to each callback, cleared after it */
    uint32_t flags; /* all that were ever given: how seq_trace events look */
    unsigned index; /* in tracing->sessions; its bit in sets */
    bool attached;  /* false once trace_status has answered `remove`, and when clearing */
    bool clearing;
    struct th_session *next_clearing;
    uint32_t found[TH_KINDS]; /* flags of existing tracees that were not seen */
    uint32_t born[TH_KINDS];  /* of new ones */
    struct th_expected {      /* th_session_expect() */
        th_term who;
        uint32_t flags;
    } * expected;
    size_t expected_count, expected_capacity;
    struct th_points *points;        /* its breakpoints; NULL: it was never given patterns */
    uint64_t unwanted_before;        /* tracing->unwanted as it was attached */
    struct th_session_counts counts; /* without tracing->unwanted */
};

/* What hangs on a th_process that is not like all others. */
struct th_tracee {
    struct th_tracing *tracing;
    struct th_tracee *next, **place; /* in tracing->tracees */
    th_term id;
    struct th_tracee_refs *refs; /* NULL: tracing->found */
    bool born;                   /* what follows from its birth is in refs */
    th_term newborn_of; /* its parent, if a link between them is of a spawn_link; TH_NONE */
    struct th_calls calls;
    struct th_stack stack;        /* while any session has patterns */
    struct th_timing timing;      /* of call_time */
    uint64_t returning_to;        /* sessions to be told of a return_to, by index, ... */
    struct th_caller returned_to; /* ... and to what, as far as that is known */
};

enum { TH_DEPARTED = 64 };

struct th_tracing {
    struct th_session *sessions[TH_SESSIONS_LIMIT]; /* NULL: free */
    uint64_t created;                               /* sessions, ever */
    size_t attached;                                /* sessions that still are */
    struct th_tracee_refs *found[TH_KINDS];         /* of each tracee that has none of its own */
    struct th_tracee_refs *everyone;                /* all sessions: for what has no tracee */
    uint32_t wanted;                                /* flags that anybody may have */
    uint32_t heeded;   /* tags, a bit each, to be looked at although no session wants the event */
    uint64_t unwanted; /* events that no session has the flag for: they went no further */
    bool special;      /* a tracee of this world has refs of its own */
    struct th_tracee *tracees; /* of this world */
    /* Refs of those that ended last, for what a BEAM traces after the exit; the oldest next. */
    struct th_departed {
        th_term id;
        struct th_tracee_refs *refs;
    } departed[TH_DEPARTED];
    size_t departures;
    struct th_calls_habit habit;
    uint64_t calls_forgotten;
    bool patterned;        /* a session has, or had, patterns: stacks are followed */
    bool recorded_callers; /* results in the recording are callers */
    struct th_functions functions;
    struct th_execution execution;
    void (*display)(th_term term);  /* of match specifications; NULL: goes nowhere */
    uint32_t control_word;          /* the trace control word of match specifications */
    struct th_tracee_refs *retired; /* replaced during the event at hand, freed after it */
    struct th_session *clearing;    /* destroyed during it */
    struct th_delivery {
        void (*done)(void *context);
        void *context;
    } * deliveries; /* asked for during it */
    size_t delivery_count, delivery_capacity;
    bool unsettled; /* there is any of these three */
    bool wall_clock;
    th_env arena; /* the terms of the event at hand, shared by all sessions */
    struct th_event_clock {
        struct th_clock clock;
        struct th_event *event;
    } clock;
};

static inline enum th_kind th_kind_of(th_term id)
{
    return th_is_port(id) ? TH_KIND_PORT : TH_KIND_PROCESS;
}

/*
 * Calls what fills SLOT of the session's tracer, with 3 or 5 arguments. SELF is what enif_self
 * tells, TH_NONE for nobody. The answer is valid if it is an immediate; TH_NONE for an exception.
 */
th_term th_session_call(struct th_session *session, enum th_tracer_slot slot, const th_term argv[],
                        th_term self);

/* Asks for the trace status with TRACEE as argument. False if the answer is `remove`. Outside of
 * callbacks. */
bool th_session_ask_status(struct th_session *session, th_term tracee);

/* Frees a session that nothing refers to; buries those that were destroyed. */
void th_session_free(struct th_session *session);
void th_sessions_bury(struct th_tracing *tracing);

/* The tracee's own struct, made if it is not there. */
struct th_tracee *th_tracee_own(struct th_tracing *tracing, th_term id);

/* The same of one that is perhaps never seen, and does not count as seen by this. NULL if ID is no
 * pid or port of this node. */
struct th_tracee *th_tracee_expect(struct th_tracing *tracing, th_term id);

/* The tracee's own struct; NULL: nothing special is known of it. */
struct th_tracee *th_tracee_find(th_term id);

/* PROCESS, which has one, has ended, or its world has. */
void th_tracee_drop(struct th_process *process);

/* Who traces it. */
const struct th_tracee_refs *th_tracee_refs(const struct th_tracing *tracing, th_term id);

/* Replaces one session's flags (0: it traces no more), or all at once. */
void th_tracee_set(struct th_tracee *tracee, struct th_session *session, uint32_t flags);
void th_tracee_set_all(struct th_tracee *tracee, struct th_tracee_refs *refs);

/* Takes the session away from one tracee, as its tracer wants. */
void th_tracee_forget(struct th_tracing *tracing, th_term id, struct th_session *session);

/* Takes a session that is to be no more away from all tracees. */
void th_tracees_leave(struct th_session *session);

/* Rebuilds found and everyone from what the sessions say. */
void th_tracing_update(struct th_tracing *tracing);

/* Gives those that sessions expect by their id what they shall have. */
void th_tracees_expected(struct th_tracing *tracing);

/* REFS are no more in use, but perhaps by the event at hand. */
void th_tracing_retire(struct th_tracing *tracing, struct th_tracee_refs *refs);

/* Does what had to wait for the end of the event at hand, unless one is. */
void th_tracing_settle(struct th_tracing *tracing);

#endif
