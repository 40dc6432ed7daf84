/*
 * Live events: processes, functions and calls of this host are traced while they run, on many
 * threads at once.
 *
 *   th_trace_share(tracing);                                    once, before there are others
 *   th_live_functions_begin(tracing, functions, count);           code is loaded
 *   th_live_process_begin(&process, tracing, parent, linked);     a process is spawned
 *     th_live_event_init(&event, &process, TH_TAG_send);          its events
 *     th_live_trace(&event);
 *     if (th_live_function_is_armed(function))                    its calls
 *         th_live_call(&call, &wants);
 *     ... the function runs ...
 *     if (wants.count > 0)
 *         th_live_return(&process, function, &wants, value);      or th_live_raise()
 *     if (th_live_is_returning(&process))
 *         th_live_return_to(&process, &executing);
 *   th_live_process_end(&process);
 *
 * Live events take the same steps as replayed ones (delivery.h). Events that a callback causes are
 * suppressed and counted (th_live_counts()). A call by a thread that runs no process (a thread that
 * a NIF has made) counts for call_count, and is no event; such calls are counted, too. Callbacks
 * read real clocks.
 *
 * Thread: one thread at a time runs a process, and raises its events; any thread may change its
 * flags, which apply from its next event on. An event with all its callbacks is one reader section
 * (progress/): no callback of a session runs after th_trace_session_destroy() has returned. The
 * functions here neither block nor wait, except the beginning and end of functions.
 */
#ifndef TH_LIVE_H
#define TH_LIVE_H

#include "host/breakpoint/site.h"
#include "host/trace/pattern.h"
#include "host/trace/timing.h"
#include "host/trace/tracees.h"

/* --- Processes and ports ---------------------------------------------------------------------- */

/*
 * A process (or port) of this host as trace/ knows it; part of the owner's own struct.
 * Owner: fills the first part, and the rest with zeros, before th_live_process_begin(); may write
 * `scheduler` whenever it runs the process.
 */
struct th_live_tracee {
    th_term id; /* a local pid or port */
    /* Operations by which match specifications query the owner, with this struct as CONTEXT:
     * caller, caller_line, stack, is_seq_trace, get_seq_token, set_seq_token, process_dump,
     * display; and is_external, for callbacks. The result is unknown if an operation is NULL or
     * returns TH_NONE (if caller_line is NULL, only the line); other members are not used. NULL:
     * all are unknown. */
    const struct th_match_operations *asked;
    /* Returns the number of words allocated since the start, for call_memory; NULL: always 0. */
    uint64_t (*words)(struct th_live_tracee *process);
    unsigned scheduler; /* number for the flag scheduler_id; 0: unknown */

    struct th_tracee traced;   /* sessions and flags */
    struct th_timing timing;   /* of call_time, call_memory; for its thread alone, as the rest */
    uint64_t returning_to;     /* sessions that get the next return_to, by index, ... */
    uint64_t returning_before; /* ... if their number of creation is lower */
};

/*
 * Adds PROCESS to the tracees: sessions that trace "existing" tracees from now on trace it. PROCESS
 * gets the flags for new processes and those that it inherits from PARENT (inheritance.c); LINKED:
 * it was spawned with a link. PARENT NULL: the host started PROCESS. A port has no parent.
 * Thread: the one that runs PARENT.
 * Order: before the first event of PROCESS.
 */
void th_live_process_begin(struct th_live_tracee *process, struct th_tracing *tracing,
                           struct th_live_tracee *parent, bool linked);

/* Removes PROCESS, which has ended while one of its functions still runs, from all sessions.
 * Thread: another one than the one that runs the function.
 * Order: before th_live_process_end(). */
void th_live_process_leave(struct th_live_tracee *process);

/* Removes PROCESS. The caller then calls th_trace_ended() if PROCESS may be a tracer's state.
 * Thread: the last one that ran PROCESS.
 * Order: after its last event (out_exited, closed). */
void th_live_process_end(struct th_live_tracee *process);

/* Stop and continue charging time and memory to PROCESS, which is scheduled out or in. The caller
 * raises the events `out` and `in` like others, and `in` even if no session wants it: at `in`, the
 * host asks the tracer of each session that traces PROCESS for its trace_status. */
void th_live_pause(struct th_live_tracee *process);
void th_live_resume(struct th_live_tracee *process);

/* --- Events other than calls ------------------------------------------------------------------ */

/*
 * An event of a process. `event.term` and `event.extra` are set already, or `build` makes them when
 * a tracer wants the event. The terms stay valid until th_live_trace() returns.
 */
struct th_live_event {
    struct th_event event; /* first member */
    /* The sender of a received message: a pid; or, if no process has sent the message, an atom
     * (undefined, system, clock_service), which match specifications get as the node, as in a BEAM.
     * TH_NONE: unknown. */
    th_term sender;
    /* Fills event.term and event.extra (TH_NONE: none), for seq_trace event.label; makes new terms
     * in ENV. NULL: these members are filled. */
    void (*build)(struct th_live_event *self, th_env *env);
    void *context; /* argument of `build` */
};

/* Initialize an event with any TAG but call, return_from, exception_from and return_to. For
 * seq_trace, PROCESS is the acting process, `term` the info, and event.time.kind (0 at first) the
 * kind of time stamp that the token requests. */
void th_live_event_init(struct th_live_event *event, struct th_live_tracee *process,
                        enum th_tracer_tag tag);
void th_live_event_init_seq(struct th_live_event *event, struct th_live_tracee *process);

/* False: no session wants events of PROCESS with TAG, and such events have no other effects; so the
 * caller need not raise them. */
bool th_live_is_wanted(const struct th_live_tracee *process, enum th_tracer_tag tag);

/* Takes the event to the sessions, as th_trace().
 * Errors: TH_END if there is no session; TH_MALFORMED if the process cannot have such an event. */
enum th_status th_live_trace(struct th_live_event *event);

/* --- Functions -------------------------------------------------------------------------------- */

/*
 * A function of this host that can be traced; part of the owner's own struct. Calls meet the
 * function's sites. Later patterns find the function by its name; present patterns that wait for
 * code (on_load) apply at once. Two functions may have one name, as old and new code have.
 */
struct th_traceable_function {
    /* The owner fills the name, and the sites or the reason against a local one; a function without
     * all of these gets a virtual site. */
    struct th_function_sites function;
    /* trace/ sets the next members; they are 0 before the first th_live_functions_begin(). */
    struct th_traceable_function *next, **place;
    th_term term[4]; /* {M, F, Arity}: the term of its returns */
    bool own_site;   /* the virtual site is of trace/, too */
};

/*
 * Order: the caller of the next three functions holds the code modification permission (code/), and
 * keeps the permission. So no pattern is missed that is set meanwhile: its change runs later, for
 * all functions that have begun by then; or, if the pattern waits for code,
 * th_live_functions_begin() has found the pattern. Settings for functions that have ended are void.
 */

/* Adds functions, with the breakpoints of on_load patterns. Does not wait.
 * Order: before calls can reach the functions. */
void th_live_functions_begin(struct th_tracing *tracing,
                             struct th_traceable_function *const functions[], size_t count);

/*
 * Gives functions a native site that they lacked, or takes their native site away, as their newer
 * code has or lacks room for one. No call can reach the newer code yet.
 *
 * A site that is taken away keeps its settings: for calls of older code, and for later code that
 * has the site again. If the function has an export entry, the entry stands in for the site: the
 * settings apply at the entry as well, GLOBAL for LOCAL, and external calls of code without a
 * native site meet them there (th_live_call_before()). th_trace_losses() lists the other calls.
 *
 * At a new site the on_load patterns for local calls apply, except those that calls meet at the
 * export entry already. Earlier patterns of a single function do not apply.
 *
 * If a site is taken away, waits for at most three grace periods.
 */
struct th_live_renewal {
    struct th_traceable_function *function;
    struct th_site *local; /* NULL: there has never been one */
    const char *no_local;  /* NULL: the site is usable */
};
void th_live_functions_renew(struct th_tracing *tracing, const struct th_live_renewal renewals[],
                             size_t count);

/* Removes functions with their breakpoints. On return no call is at their sites. Waits for at most
 * three grace periods.
 * Owner: the caller owns the structs again.
 * Thread: one that may wait. */
void th_live_functions_end(struct th_tracing *tracing,
                           struct th_traceable_function *const functions[], size_t count);

/* Finds the youngest function with NAME; NULL: none. The result is valid until a function ends. */
struct th_traceable_function *th_live_function_find(struct th_tracing *tracing,
                                                    const struct th_mfa *name);

/* True if the caller must call th_live_call() for a call of FUNCTION, which has a virtual site. */
static inline bool th_live_function_is_armed(const struct th_traceable_function *function)
{
    return th_breakpoint_site_is_armed(function->function.site);
}

/* --- Calls ------------------------------------------------------------------------------------ */

struct th_call_event {
    struct th_live_tracee *process; /* NULL: the thread runs none */
    const struct th_traceable_function *function;
    struct th_site *site;     /* the site of the function that the call has met */
    const th_term *arguments; /* as many as its arity */
    bool external;            /* only such calls meet global breakpoints */
    /* The caller, to which the call returns; NULL: process->asked answers queries for the
     * caller. */
    const struct th_caller *caller;
};

/*
 * Return requests of a call. The runtime keeps the requests with the call's frame, which may go on
 * on another thread, and passes them once to th_live_return(), th_live_raise() or th_live_drop().
 * Up to TH_LIVE_WANTED requests allocate nothing. Requests of sessions that are dead by then are
 * ignored.
 */
enum { TH_LIVE_WANTED = 4 };
struct th_live_requests {
    uint32_t count, capacity;     /* 0: none */
    uint64_t few[TH_LIVE_WANTED]; /* weak ids and kinds of ends, see delivery.h */
    uint64_t *many;               /* all requests, if there are more; else not set */
};

/* Copies the set members of *FROM, which is not empty, to *TO. */
static inline void th_live_requests_move(struct th_live_requests *to,
                                         const struct th_live_requests *from)
{
    to->count = from->count;
    to->capacity = from->capacity;
    to->few[0] = from->few[0];
    if (__builtin_expect(from->count > 1, 0)) {
        memcpy(to->few, from->few, sizeof to->few);
        to->many = from->many;
    }
}

/*
 * False: no session traces calls of PROCESS; then th_live_call() is needed only for breakpoints
 * that are neither local nor global: meta breakpoints, which concern every process, and counts.
 * Cost: two loads; no reader section is needed.
 */
static inline bool th_live_is_calling(const struct th_live_tracee *process)
{
    const struct th_tracee_words *words =
        atomic_load_explicit(&process->traced.words, memory_order_acquire);

    return atomic_load_explicit(&words->calling, memory_order_acquire) != 0;
}

/* Delivers a call of a function whose site is armed, and sets *REQUESTS. */
void th_live_call(const struct th_call_event *call, struct th_live_requests *requests);

/* As th_live_call(), at the site of an export entry from which the function's code goes on to NEXT,
 * its native site: of each session, the kinds that are also at NEXT are left to NEXT. */
void th_live_call_before(const struct th_call_event *call, struct th_site *next,
                         struct th_live_requests *requests);

/* Counts a call at a breakpoint that is not delivered, as the thread is in a callback. */
void th_live_call_suppressed(void);

/*
 * Deliver the end of a call: return_from with VALUE; exception_from with CLASS (error, exit, throw)
 * and REASON, for each frame that the exception passes, innermost first. *REQUESTS is empty
 * afterwards. A call that was replaced by a tail call ends with the frame, after the tail call,
 * with the same value; so a frame collects the requests of such calls. If REQUESTS->count is 0, no
 * callback runs; th_live_raise() must be called nevertheless, as a later return_to depends on the
 * requests of the frame next to the catcher.
 */
void th_live_return(struct th_live_tracee *process, const struct th_traceable_function *function,
                    struct th_live_requests *requests, th_term value);
void th_live_raise(struct th_live_tracee *process, const struct th_traceable_function *function,
                   struct th_live_requests *requests, th_term class, th_term reason);

/* Drops the requests of a call that has no end, as its process exits. */
void th_live_drop(struct th_live_tracee *process, struct th_live_requests *requests);

/* Drops the requests of the process' oldest open call; later calls stay charged. */
void th_live_drop_oldest(struct th_live_tracee *process, struct th_live_requests *requests);

/* th_live_is_returning() returns whether a session wants a return_to. th_live_return_to() delivers
 * the return to TO, the function that executes then: `undefined` if the process ends; if TO is
 * unknown, no callback runs.
 * Order: when the calls of the frame have ended; after an exception, when the exception is caught,
 * before the return of the catcher. */
static inline bool th_live_is_returning(const struct th_live_tracee *process)
{
    return process->returning_to != 0;
}
void th_live_return_to(struct th_live_tracee *process, const struct th_caller *to);

/* --- Unreported events ------------------------------------------------------------------------ */

struct th_live_counts {
    uint64_t suppressed; /* calls and events that callbacks caused */
    uint64_t strangers;  /* calls at a breakpoint, by threads that run no process */
};

struct th_live_counts th_live_counts(const struct th_tracing *tracing);

#endif
