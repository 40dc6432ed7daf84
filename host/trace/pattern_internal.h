/*
 * Patterns and breakpoints of sessions, shared by the files of patterns: the breakpoints of a
 * session, patterns that are kept for functions to come, the effect of a pattern on the sites of
 * one function, and the tracers of meta breakpoints.
 */
#ifndef TH_PATTERN_INTERNAL_H
#define TH_PATTERN_INTERNAL_H

#include "pattern.h"
#include "tracing.h"

#include "host/breakpoint/change.h"
#include "host/progress/progress.h"

/* A pattern that is kept for functions to come (pattern.c). */
struct th_pattern_default {
    struct th_pattern pattern;
    struct th_bp_setting setting; /* without a site */
    bool waits;                   /* for functions of this host, as none had that name */
    bool came;                    /* a later function got a breakpoint from it */
};

/* The breakpoints of a session. Not part of the session, as a change may refer to them after the
 * session has ended. */
struct th_session_breakpoints {
    struct th_bp_session
        base; /* its owner is the session; NULL after the session's end, which comes
                                  after the breakpoints' end */
    struct th_pattern_default *defaults; /* under the tracing's lock */
    size_t count, capacity;
};

static inline struct th_session *th_trace_breakpoints_session(const struct th_bp_session *base)
{
    return base->owner;
}

/* A match specification that breakpoints share. */
struct th_shared_spec {
    struct th_shared shared;
    struct th_match_spec *spec;
};

/* Returns the breakpoints of SESSION; NULL: no pattern was ever set. */
static inline struct th_session_breakpoints *
th_trace_session_breakpoints(const struct th_session *session)
{
    return atomic_load_explicit(&session->breakpoints, memory_order_relaxed);
}

extern const struct th_bp_hooks th_trace_pattern_hooks;

/* Kinds of functions, or sites, that have just come. */
enum th_pattern_news {
    TH_NEWS_RECORDED, /* a function of a recording: all kept patterns apply */
    TH_NEWS_LOADED,   /* one of this host: patterns that wait for code apply */
    TH_NEWS_LOCAL,    /* its native site: on_load patterns for local calls apply */
};

/* Adds to CHANGE the effect of all kept patterns on FUNCTION. Under the lock. */
void th_trace_patterns_add(struct th_tracing *tracing, struct th_change *change,
                           const struct th_function_sites *function, enum th_pattern_news news);

/* Returns the recorded function of NAME; makes a new function, with the effect of all kept
 * patterns. Outside of callbacks. */
struct th_function_sites *th_trace_patterns_meet(struct th_tracing *tracing,
                                                 const struct th_mfa *name);

/* Ends the breakpoints of a session that is about to be freed; those of a clearing session in a
 * shared tracing were removed before. Outside of callbacks. */
void th_trace_session_breakpoints_end(struct th_session *session);

/*
 * --- Sites: pattern_site.c ---
 *
 * Effect of a pattern on the sites of one function, and the reason if there is none.
 *
 * If a function has two sites, global breakpoints are at its export entry and all others in its
 * machine code. A setting is split in two then, and one change does both parts: so LOCAL replaces
 * GLOBAL at one instant, and the other way round, as at a single site.
 */

/* Returns the kinds that SETTING clears besides those that it names, at a function that can have
 * all kinds. */
uint32_t th_trace_pattern_excluded(const struct th_bp_setting *setting);

/* Adds to CHANGE the possible part of SETTING at FUNCTION; false: nothing. SETTING has no site, and
 * its kinds may be TH_PATTERN_EITHER. RECORDED: for recorded calls. */
bool th_trace_pattern_set_at(struct th_change *change, const struct th_function_sites *function,
                             const struct th_bp_setting *setting, bool recorded);

/* Adds to CHANGE, for the new native site of FUNCTION, which no call can reach yet, the part of
 * SETTING about local calls, without the kinds that are already at the export entry: so a session
 * that traces external calls there goes on to do so, and gets no call twice. */
void th_trace_pattern_set_at_local(struct th_change *change,
                                   const struct th_function_sites *function,
                                   const struct th_bp_setting *setting);

/* Checks a pattern that is about to be set. A global pattern that removes SESSION's other
 * breakpoints of the matching functions passes. Under the lock.
 * Errors: TH_USAGE, with the reasons, if functions of this host match PATTERN and none of them can
 * have breakpoints of KINDS. */
enum th_status th_trace_pattern_check_sites(const struct th_session *session,
                                            const struct th_pattern *pattern, uint32_t kinds);

/*
 * --- Meta tracers: meta_tracer.c ---
 *
 * Tracers of meta breakpoints that are not the tracer of the session that has set the breakpoint.
 *
 * A meta tracer is called through a session of its own, which is in no list, has no flags and
 * traces no tracee: so it has a name for the crash handler, a state, counts, and an environment, as
 * any tracer has.
 *
 * The breakpoints and settings with a meta tracer hold references to it. When the last reference is
 * dropped, on any thread, even in the middle of a change, the meta tracer has ended, and is called
 * no more. In an unshared tracing it is marked then, and the thread that owns the tracing unloads
 * it between two events. In a shared tracing th_progress_later() does so:
 * 1. After a grace period no thread is in its callbacks or about to call it: its counts are added
 *    to those that its session keeps for its name, and it is taken out of the list.
 * 2. After a second grace period no thread uses it in the list: it is unloaded.
 */

enum th_meta_state { TH_META_UNSHARED, TH_META_SHARED, TH_META_ENDED };

struct th_meta_tracer {
    struct th_shared shared;    /* first member */
    struct th_session *session; /* its own session */
    /* The session whose breakpoints have it; NULL once that session is clearing, and the tracer is
     * called no more. Written under the lock; relaxed, as a reader is in a section, so that the
     * session stays. */
    struct th_session *_Atomic owner;
    /* List of the tracing's meta tracers. Written under the lock, with release; read in sections,
     * with acquire. */
    struct th_meta_tracer *_Atomic next;
    /* An enum th_meta_state. TH_META_ENDED is written with release when the last reference is
     * dropped, as all use is over; read with acquire. */
    _Atomic uint32_t state;
    struct th_later later;
};

/* Counts of a session's meta tracers of one name that are gone. Under the lock. */
struct th_meta_past {
    struct th_meta_past *next;
    char *name;
    struct th_session_counts counts;
};

/* Creates a meta tracer, and asks enabled(trace_status, State, undefined).
 * Owner: the caller gets the first reference.
 * Errors: as th_trace_session_create(); TH_FAILED also if OWNER ended meanwhile. */
enum th_status th_trace_meta_tracer_create(struct th_session *owner,
                                           const struct th_session_setup *setup,
                                           struct th_meta_tracer **result);

/* Returns the session of the meta tracer that requested the end of a call with ID, and its *OWNER;
 * NULL: the tracer is gone, or wants no more ends, which its owner counts. In a section, if
 * shared. */
struct th_session *th_trace_meta_tracer_find(struct th_tracing *tracing, th_session_id id,
                                             struct th_session **owner);

/* Asks the meta tracers whose state is ID, a process or port that has ended, for their
 * trace_status. A breakpoint drops a tracer that has answered `remove` when it is next hit. In a
 * section, if shared. */
void th_trace_meta_tracers_lose(struct th_tracing *tracing, th_term id);

/* Stops all calls of the meta tracers of OWNER, which is clearing. */
void th_trace_meta_tracers_orphan(struct th_session *owner);

/* Frees the counts that OWNER keeps of its past meta tracers. */
void th_trace_meta_tracers_forget(struct th_session *owner);

/* Calls VISIT for each session of TRACING, then for that of each meta tracer. In a shared tracing
 * VISIT runs in a section, so that the session and its attachment stay. */
void th_trace_each_tracer(struct th_tracing *tracing,
                          void (*visit)(void *context, struct th_session *session), void *context);

/* Hands the meta tracers over to th_progress_later(), as the tracing has become shared. */
void th_trace_meta_tracers_share(struct th_tracing *tracing);

/* Unloads the meta tracers that ended while the tracing was unshared. Outside of events and
 * callbacks. */
void th_trace_meta_tracers_reap(struct th_tracing *tracing);

/* Waits until all meta tracers have ended.
 * Thread: one that may wait for a grace period.
 * Order: all sessions are gone. */
void th_trace_meta_tracers_settle(struct th_tracing *tracing);

#endif
