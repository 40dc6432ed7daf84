/*
 * Whom a session traces: flags of processes and ports, a set for each session and tracee.
 *
 * As in OTP's trace:process/4 and port/4: a flag given is added to those that are there, one taken
 * away leaves the others; without flags the session does not trace the tracee.
 *
 * What a recording cannot tell is who was there when it began. So here
 *   new       are the processes that are spawned in it, and the ports that are opened in it;
 *   existing  are all others: those seen that have not ended, and those not seen yet.
 * Settings for new and existing ones that were not seen stay, also for the worlds to come; those of
 * one process or port end with it and with its world.
 *
 * Of this host (live.h) all processes and ports are known: existing are those that have begun, new
 * those that begin later.
 *
 * What names one of a recording is for the thread that replays, whose the world is: TH_USAGE, or no
 * flags, elsewhere. What is expected is met in recordings.
 *
 * Who is spawned inherits: inheritance.c. Some flags mean nothing to a port and are left out.
 */
#ifndef TH_TRACEES_H
#define TH_TRACEES_H

#include "session.h"

#include "host/progress/progress.h"

#include <stdatomic.h>

/* A port's are three more than a process's. */
enum th_tracees {
    TH_PROCESSES_ALL,
    TH_PROCESSES_EXISTING,
    TH_PROCESSES_NEW,
    TH_PORTS_ALL,
    TH_PORTS_EXISTING,
    TH_PORTS_NEW
};

/* TH_USAGE if cpu_timestamp is among FLAGS but WHICH is not all of its kind, as it is for all or
 * none. */
enum th_status th_trace_session_trace(struct th_session *session, enum th_tracees which, bool on,
                                      uint32_t flags);

/* The same of one process or port. TH_USAGE if it is none of this world's, or has ended. */
enum th_status th_trace_session_trace_one(struct th_session *session, th_term id, bool on,
                                          uint32_t flags);

/* Gives FLAGS to WHO in this world and in those to come: a pid or port, or whoever registers the
 * name that it is. */
enum th_status th_trace_session_expect(struct th_session *session, th_term who, uint32_t flags);

/* Calls UNMET with each of those that SESSION expects and that have not turned up in any world. By
 * the replaying thread. */
void th_trace_session_each_unmet(const struct th_session *session,
                                 void (*unmet)(void *context, th_term who), void *context);

/*
 * What a session has set. Asks enabled(trace_status, State, Tracee | undefined) first, as OTP does,
 * but not in a callback; after `remove` there is nothing. Flags are 0 where the session does not
 * trace; TH_FLAG_AS_RECORDED may be among them.
 */
uint32_t th_trace_session_flags(struct th_session *session, th_term id);
uint32_t th_trace_session_default_flags(struct th_session *session, enum th_tracees which);

/* The latter without asking, as the tracer may take any time. */
uint32_t th_trace_session_known_flags(const struct th_session *session, enum th_tracees which);

/* The sessions that trace ID, a pid or port (TH_NONE: all that are alive). Returns how many ids
 * were put into IDS. */
size_t th_trace_sessions_of(struct th_tracing *tracing, th_term id, th_session_id ids[]);

/* --- Refs ------------------------------------------------------------------------------------- */

/*
 * Who traces a tracee, under which flags: an immutable array behind one pointer, replaced as a
 * whole.
 *
 * Readers look at the array that they found for a whole event; so one that was replaced is kept
 * until that is over (th_trace_retire()). In a tracing that is shared that is thread progress, as
 * each event is a read section. While one thread does all, it is a list that this thread frees
 * after the event: a section would cost each replayed event 2 ns, and make changes that are asked
 * for while a recording is replayed go on without being waited for.
 */

struct th_tracee_flags {
    struct th_later later; /* the first member: when they were replaced */
    uint32_t count;
    struct th_tracee_ref {
        struct th_session *session;
        uint32_t flags; /* not 0 */
    } tracee_flags[];   /* by the sessions' indices */
};

/* Somebody who can be traced, of a recording or of this host. */
struct th_tracee {
    struct th_tracing *tracing;
    th_term id;
    /* NULL: those of all others (th_tracing.found). Written under the tracing's lock; release, as
     * what it leads to is complete; acquire, in an event. */
    struct th_tracee_flags *_Atomic tracee_flags;
    /* Of one of this host: all flags that it has of anybody, for who is in no section, as a hint:
     * perhaps too many. It points to own_flags, or, while tracee flags is NULL, to those of all
     * others. Written under the lock: the flags relaxed, as who has been given one is traced by it
     * from its next event on; where they are with release, as own_flags are written before;
     * acquire. */
    const _Atomic uint32_t *_Atomic flags;
    _Atomic uint32_t own_flags;
};

#endif
