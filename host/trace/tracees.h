/*
 * Flags of processes and ports: one set for each session and tracee.
 *
 * Setting a flag adds the flag to the set; clearing a flag keeps all others. A session does not
 * trace a tracee for which the session has no flags.
 *
 * A recording does not show which processes existed when it began. So for recordings
 *   new       are processes that are spawned in the recording, and ports that are opened in it;
 *   existing  are all others: those seen that have not ended, and those not seen yet.
 * The flags for new tracees, and for existing ones that were not seen yet, stay for later worlds;
 * the flags of one process or port end with the process or port, or with the world.
 *
 * In this host (live/live.h) all processes and ports are known: existing are those that have begun,
 * new are those that begin later.
 *
 * A spawned process inherits flags: inheritance.c. A port ignores flags that have no meaning for
 * ports.
 *
 * Thread: a recorded tracee can be named by the replaying thread only, to which the world belongs;
 * other threads get TH_USAGE, or no flags. Expected tracees turn up in recordings.
 * Source: OTP's trace:process/4, trace:port/4.
 */
#ifndef TH_TRACEES_H
#define TH_TRACEES_H

#include "session.h"
#include "tags.h"

#include "host/progress/progress.h"

#include <stdatomic.h>

/* Sets of tracees. A constant for ports is that for processes plus 3. */
enum th_tracees {
    TH_PROCESSES_ALL,
    TH_PROCESSES_EXISTING,
    TH_PROCESSES_NEW,
    TH_PORTS_ALL,
    TH_PORTS_EXISTING,
    TH_PORTS_NEW
};

/* Sets (ON) or clears FLAGS of the tracees in WHICH.
 * Errors: TH_USAGE if FLAGS has cpu_timestamp but WHICH is not TH_PROCESSES_ALL or TH_PORTS_ALL, as
 * this flag is for all or none. */
enum th_status th_trace_session_trace(struct th_session *session, enum th_tracees which, bool on,
                                      uint32_t flags);

/* As th_trace_session_trace(), for one process or port.
 * Thread: for a recorded process or port, the replaying one.
 * Errors: TH_USAGE if FLAGS has cpu_timestamp, if ID is not in this world or has ended, or if
 * another thread than the replaying one names a recorded process or port. */
enum th_status th_trace_session_trace_one(struct th_session *session, th_term id, bool on,
                                          uint32_t flags);

/* Gives FLAGS to WHO in this world and in later ones: a pid, a port, or the name of a process or
 * port that registers it. */
enum th_status th_trace_session_expect(struct th_session *session, th_term who, uint32_t flags);

/* Calls UNMET for each tracee that SESSION expects and that no world had so far.
 * Thread: the replaying one. */
void th_trace_session_each_unmet(const struct th_session *session,
                                 void (*unmet)(void *context, th_term who), void *context);

/*
 * Return the flags that a session has set; 0: it does not trace the tracee. TH_FLAG_AS_RECORDED may
 * be among them. Except in a callback, the host asks enabled(trace_status, State, Tracee |
 * undefined) before the return, as OTP does; for one tracee only if it has flags. After the answer
 * `remove` the flags are 0.
 */
uint32_t th_trace_session_flags(struct th_session *session, th_term id);
uint32_t th_trace_session_default_flags(struct th_session *session, enum th_tracees which);

/* As th_trace_session_default_flags(), without the trace_status, for which the tracer may take any
 * time. */
uint32_t th_trace_session_known_flags(const struct th_session *session, enum th_tracees which);

/* Stores in IDS, which has room for TH_SESSIONS_LIMIT, the ids of the sessions that trace ID, a pid
 * or port (TH_NONE: of all sessions that are alive), and returns their number. */
size_t th_trace_sessions_of(struct th_tracing *tracing, th_term id, th_session_id ids[]);

/* --- Tracee flags ----------------------------------------------------------------------------- */

/*
 * Sessions that trace a tracee, with their flags: an immutable array behind one pointer, replaced
 * as a whole.
 *
 * A reader uses the array that it found for a whole event; so a replaced array stays until
 * th_trace_retire() frees it: in a shared tracing after a grace period, as each event is a reader
 * section. In an unshared tracing the one thread frees it after the event: a section would cost
 * each replayed event 2 ns, and in a section no thread may wait for a change that a callback
 * requests.
 */

struct th_tracee_flags {
    struct th_later later; /* first member: linked when the array is replaced */
    uint32_t count;
    struct th_tracee_ref {
        struct th_session *session;
        uint32_t flags; /* not 0 */
    } tracee_flags[];   /* by ascending index of the session */
};

/*
 * Sessions with certain flags for a live tracee, by index: so a call reads two words, and no array.
 *
 * Written under the tracing's lock, `calling` last and with release; a reader loads `calling`
 * first, with acquire, and then `special`: so the reader sees no bit of `calling` without the bit
 * of `special` that was set with it. While a session's bit of `calling` is 0, its bit of `special`
 * stays as it was: so a reader that has seen the former bit of `calling` sees the bit of `special`.
 * Outside of reader sections both are hints.
 */
struct th_tracee_words {
    _Atomic uint64_t calling; /* sessions that trace calls */
    _Atomic uint64_t special; /* of these, sessions that also have one of TH_FLAGS_SPECIAL */
};

/* Flags that can make the options map differ from #{}; flags with which a call that the tracer wants
 * needs more than its term. */
enum {
    TH_OPTS_FLAGS =
        TH_FLAGS_STAMPS | TH_FLAG_CPU_TIMESTAMP | TH_FLAG_SCHEDULER_ID | TH_FLAG_AS_RECORDED,
    TH_FLAGS_SPECIAL = TH_FLAG_SILENT | TH_FLAG_RETURN_TO | TH_FLAG_ARITY | TH_OPTS_FLAGS
};

/* Recorded or live process or port that can be traced. */
struct th_tracee {
    struct th_tracing *tracing;
    th_term id;
    /* NULL: the flags of all others (th_tracing.found). Written under the tracing's lock, with
     * release, as the array is complete; read with acquire, in an event. */
    struct th_tracee_flags *_Atomic tracee_flags;
    /* For a live tracee: points to own_words or, while tracee_flags is NULL, to
     * th_tracing.found_words. Written under the lock, with release, as own_words is written before;
     * read with acquire. */
    const struct th_tracee_words *_Atomic words;
    struct th_tracee_words own_words;
    bool live; /* this is a live tracee; set before others find it */
    /* Links in th_tracing.live_special, while a live tracee has flags of its own. Under the
     * lock. */
    struct th_tracee *next, **place;
};

#endif
