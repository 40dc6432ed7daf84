/* What the files of trace/ share about sessions and tracees. */
#ifndef TH_TRACING_H
#define TH_TRACING_H

#include "callback.h"
#include "calls.h"
#include "session.h"
#include "host/process/process.h"

enum { TH_SESSIONS_LIMIT = 64 /* sets of sessions are 64 bits */ };

struct th_session {
    struct th_tracing *tracing;
    char *name;
    struct th_library *library;
    const struct th_slots *slots; /* the library's */
    th_env state_env;             /* holds state */
    th_term state;
    th_env env; /* given to each callback, cleared after it */
    uint32_t flags;
    unsigned index;                  /* in tracing->sessions; its bit in sets */
    bool attached;                   /* false once trace_status has answered `remove` */
    uint64_t unwanted_before;        /* tracing->unwanted as it was attached */
    struct th_session_counts counts; /* without tracing->unwanted */
};

/* Who traces a tracee, under which flags. Never changed once it is reachable: replaced as a whole.
 */
struct th_tracee_refs {
    struct th_tracee_refs *retired; /* in th_tracing's list: the next one */
    uint32_t count;
    struct th_tracee_ref {
        struct th_session *session;
        uint32_t flags;
    } refs[];
};

/* What hangs on a th_process that is not like all others. */
struct th_tracee {
    struct th_tracee_refs *refs; /* NULL: those of th_tracing */
    struct th_calls calls;
};

struct th_tracing {
    struct th_session *sessions[TH_SESSIONS_LIMIT];
    size_t count;
    size_t attached;                 /* of them, those that still are */
    struct th_tracee_refs *everyone; /* of each tracee that has none of its own */
    uint32_t wanted;                 /* the flags of all sessions */
    uint64_t unwanted; /* events that no session has the flag for: they went no further */
    struct th_calls_habit habit;
    uint64_t calls_forgotten;
    struct th_tracee_refs *retired; /* replaced during the event at hand, freed after it */
    bool wall_clock;
    th_env arena; /* the terms of the event at hand, shared by all sessions */
    struct th_event_clock {
        struct th_clock clock;
        struct th_event *event;
    } clock;
};

/*
 * Calls what fills SLOT of the session's tracer, with 3 or 5 arguments. SELF is what enif_self
 * tells, TH_NONE for nobody. The answer is valid if it is an immediate; TH_NONE for an exception.
 */
th_term th_session_call(struct th_session *session, enum th_tracer_slot slot, const th_term argv[],
                        th_term self);

/* Asks for the trace status with TRACEE as argument. False if the answer is `remove`. */
bool th_session_ask_status(struct th_session *session, th_term tracee);

/* Takes the session away from one tracee. */
void th_tracee_forget(struct th_tracing *tracing, th_term id, struct th_session *session);

/* Frees the refs that were replaced. No event may be on its way. */
void th_tracing_reclaim(struct th_tracing *tracing);

/* The tracee's own struct, made if it is not there. */
struct th_tracee *th_tracee_own(th_term id);

#endif
