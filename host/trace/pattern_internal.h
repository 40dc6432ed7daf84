/*
 * What the files of patterns share: the breakpoints of a session, the patterns that are kept for
 * functions to come, what a pattern does at the sites of one function, and the tracers of meta
 * breakpoints.
 */
#ifndef TH_PATTERN_INTERNAL_H
#define TH_PATTERN_INTERNAL_H

#include "pattern.h"
#include "tracing.h"

#include "host/breakpoint/change.h"
#include "host/progress/progress.h"

/* A pattern that is kept for the functions to come (pattern.c). */
struct th_pattern_default {
    struct th_pattern pattern;
    struct th_bp_setting setting; /* without a site */
    bool waits;                   /* for functions of this host, as none of that name was there */
    bool came;                    /* a function has come that got something of it */
};

/* Lives on while a change names it, so it is not in the session itself. */
struct th_session_breakpoints {
    struct th_bp_session base;
    struct th_session *session;          /* NULL once it is gone, which is after its breakpoints */
    struct th_pattern_default *defaults; /* under the tracing's lock */
    size_t count, capacity;
};

/* A match specification that breakpoints share. */
struct th_shared_spec {
    struct th_shared shared;
    struct th_match_spec *spec;
};

/* The breakpoints of SESSION; NULL: it was never given patterns. */
static inline struct th_session_breakpoints *
th_trace_session_breakpoints(const struct th_session *session)
{
    return atomic_load_explicit(&session->breakpoints, memory_order_relaxed);
}

extern const struct th_bp_hooks th_trace_pattern_hooks;

/* What is new. */
enum th_pattern_news {
    TH_NEWS_RECORDED, /* a function of a recording: it gets all that is kept */
    TH_NEWS_LOADED,   /* one of this host: what waits for that */
    TH_NEWS_LOCAL,    /* its native site: likewise, of local calls */
};

/* Adds to CHANGE what the patterns say of FUNCTION. Under the lock. */
void th_trace_patterns_add(struct th_tracing *tracing, struct th_change *change,
                           const struct th_function_sites *function, enum th_pattern_news news);

/* The recorded function, with what the patterns say of it if it is new. Outside of callbacks. */
struct th_function_sites *th_trace_patterns_meet(struct th_tracing *tracing,
                                                 const struct th_mfa *name);

/* Ends the breakpoints of a session that is to be freed; those of one that is clearing in a shared
 * tracing were removed before. Outside of callbacks. */
void th_trace_session_breakpoints_end(struct th_session *session);

/*
 * --- Sites: pattern_site.c ---
 *
 * What a pattern does at the sites of one function, and why it can do nothing there. Inner header
 * of trace/.
 *
 * Where a function has two sites, global breakpoints are at its export entry and all others in its
 * machine code. A setting is cut in two there, and both are done by one change: so LOCAL takes the
 * place of GLOBAL at one instant, and the other way round, as it does at a single site.
 */

/* True if PATTERN is about functions of that name. */
bool th_trace_pattern_concerns(const struct th_pattern *pattern, const struct th_mfa *name);

/* The kinds that SETTING clears besides those that it names, of a function that can have all. */
uint32_t th_trace_pattern_excluded(const struct th_bp_setting *setting);

/* Adds to CHANGE what can be done of SETTING, whose kinds may be TH_PATTERN_EITHER and which has no
 * site, to FUNCTION; false: nothing. RECORDED: for the calls of recordings. */
bool th_trace_pattern_set_at(struct th_change *change, const struct th_function_sites *function,
                             const struct th_bp_setting *setting, bool recorded);

/* Adds to CHANGE, of sites that no call can reach, what SETTING says of local calls to FUNCTION,
 * whose native site has come with newer code. Not what is met at its export entry already: whoever
 * traces calls from outside goes on to do so there, and hears of no call twice. */
void th_trace_pattern_set_at_local(struct th_change *change,
                                   const struct th_function_sites *function,
                                   const struct th_bp_setting *setting);

/* A pattern that is set is refused where this host has functions that it is for, and none of them
 * can have such breakpoints: who asks for local calls is not to wait for them in vain. A global
 * pattern that takes away SESSION's other breakpoints of such functions is not refused. Under the
 * lock. */
enum th_status th_trace_pattern_check_sites(const struct th_session *session,
                                            const struct th_pattern *pattern, uint32_t kinds);

/*
 * --- Meta tracers: meta_tracer.c ---
 *
 * Tracers of meta breakpoints that are not their session's own.
 *
 * One is called through a session of its own, which is in no list, has no flags and traces nobody:
 * so it has a name for the crash handler, a state, counts, and an environment, as any tracer has.
 *
 * Shares of it are with the breakpoints and the settings that have it. When the last one is gone,
 * which may be on any thread and in the middle of a change, it has ended, and is called no more.
 * While the tracing is not shared, it is marked then, and the thread that its tracing belongs to
 * unloads it between two events. In a tracing that is shared th_progress_later() does so:
 *   1. after thread progress, nobody is in its callbacks or is about to call it: what it counted
 *      is added to what its session keeps of those of its name, and it is taken out of the list;
 *   2. after thread progress again, nobody looks at it in the list: it is unloaded.
 */

enum th_meta_state { TH_META_UNSHARED, TH_META_SHARED, TH_META_ENDED };

struct th_meta_tracer {
    struct th_shared shared;    /* the first member */
    struct th_session *session; /* its own */
    /* Whose breakpoints have it; NULL once that is clearing, and it is called no more. Written
     * under the lock; relaxed: whoever reads it is in a section, so that it stays. */
    struct th_session *_Atomic owner;
    /* Of the tracing's. Written under the lock, with release, read in sections, with acquire. */
    struct th_meta_tracer *_Atomic next;
    /* Of enum th_meta_state. Ended is written when the last share is gone, with release: nobody
     * uses it any more; acquire. */
    _Atomic uint32_t state;
    struct th_later later;
};

/* What a session keeps of its meta tracers of one name that are gone. Under the lock. */
struct th_meta_past {
    struct th_meta_past *next;
    char *name;
    struct th_session_counts counts;
};

/* Asks enabled(trace_status, State, undefined); as th_trace_session_create(). The caller's share.
 */
enum th_status th_trace_meta_tracer_create(struct th_session *owner,
                                           const struct th_session_setup *setup,
                                           struct th_meta_tracer **result);

/* The session of the one of this id, which wants the end of a call, and whose breakpoints have it;
 * NULL: it is gone, or wants no more: the session that had it counts that. In a section, if shared.
 */
struct th_session *th_trace_meta_tracer_find(struct th_tracing *tracing, th_session_id id,
                                             struct th_session **owner);

/* The process or port ID has ended: those whose state it is are asked for their trace_status. One
 * that answers `remove` is found to be gone by each breakpoint, when that is hit. In a section, if
 * shared. */
void th_trace_meta_tracers_lose(struct th_tracing *tracing, th_term id);

/* The session is clearing: its meta tracers are called no more. */
void th_trace_meta_tracers_orphan(struct th_session *owner);

/* What it keeps of those that are gone. */
void th_trace_meta_tracers_forget(struct th_session *owner);

/* Calls VISIT for each session of TRACING, then for that of each meta tracer. In a shared tracing
 * VISIT is called in a section, so that the session and its attachment stay. */
void th_trace_each_tracer(struct th_tracing *tracing,
                          void (*visit)(void *context, struct th_session *session), void *context);

/* The tracing has become shared. */
void th_trace_meta_tracers_share(struct th_tracing *tracing);

/* Unloads those that ended while the tracing was not shared. Outside of events and callbacks. */
void th_trace_meta_tracers_reap(struct th_tracing *tracing);

/* All sessions are gone: waits until all meta tracers are. */
void th_trace_meta_tracers_settle(struct th_tracing *tracing);

#endif
