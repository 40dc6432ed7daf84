/*
 * Live events: what happens in this host while it happens, on many threads at once.
 *
 *   th_trace_share(tracing);                                    once, before there are others
 *   th_live_functions_begin(tracing, functions, count);           code is loaded
 *   th_live_process_begin(&process, tracing, parent, linked);     a process is spawned
 *     th_live_event_init(&event, &process, TH_TAG_send);          what happens to it
 *     th_live_trace(&event);
 *     if (th_live_function_is_armed(function))                    what it calls
 *         th_live_call(&call, &wants);
 *     ... the function runs ...
 *     if (wants.count > 0)
 *         th_live_return(&process, function, &wants, value);      or th_live_raise()
 *     if (th_live_is_returning(&process))
 *         th_live_return_to(&process, &executing);
 *   th_live_process_end(&process);
 *
 * Events take the way that session.h tells, the same as replayed ones: sessions, flags, patterns,
 * `enabled` first. A process is run by one thread at a time, and its events are raised by that
 * thread; its flags may be changed by any thread, and are obeyed from its next event on. One read
 * section (progress/) covers an event with all its callbacks, so nothing of a session is called any
 * more when th_trace_session_destroy() has returned. The calls here neither block nor wait, but for
 * the beginning and end of functions.
 *
 * A callback that itself causes events does not recurse: they are suppressed, and counted. So are
 * calls by a thread that runs no process (one that a NIF has made): they are counted by call_count,
 * but there is no event. See th_live_counts().
 *
 * Callbacks read real clocks.
 */
#ifndef TH_LIVE_H
#define TH_LIVE_H

#include "host/breakpoint/site.h"
#include "host/trace/pattern.h"
#include "host/trace/timing.h"
#include "host/trace/tracees.h"

/* --- Processes and ports ---------------------------------------------------------------------- */

/*
 * A process (or port) of this host as trace/ knows it; part of what its owner knows. The owner
 * fills the first part, and the rest with zeros, before th_live_process_begin(); it may write
 * `scheduler` whenever it runs the process.
 */
struct th_live_tracee {
    th_term id; /* a local pid or port */
    /* What match specifications ask of its owner, who is handed this struct as CONTEXT: caller,
     * caller_line, stack, is_seq_trace, get_seq_token, set_seq_token, process_dump, display. Those
     * that are NULL, or give TH_NONE, are unknown (of a caller_line that is NULL only the line is);
     * the others are not looked at. NULL: all are unknown. */
    const struct th_match_operations *asked;
    /* The words that it has allocated since its start, for call_memory; NULL: it is charged none.
     */
    uint64_t (*words)(struct th_live_tracee *process);
    unsigned scheduler; /* that runs it, for the flag scheduler_id; 0: it is not told */

    struct th_tracee traced;   /* by whom */
    struct th_timing timing;   /* of call_time and call_memory; its thread's, as what follows */
    uint64_t returning_to;     /* sessions to be told of a return_to, by index, ... */
    uint64_t returning_before; /* ... that were created before this many were */
};

/*
 * PROCESS is there: whoever traces "existing" ones from now on traces it. Before its first event.
 * It gets the flags for new processes and, of PARENT's, what inheritance.c says; LINKED: it was
 * spawned with a link. PARENT is run by the calling thread; NULL: the host started it. A port has
 * no parent.
 */
void th_live_process_begin(struct th_live_tracee *process, struct th_tracing *tracing,
                           struct th_live_tracee *parent, bool linked);

/* PROCESS has ended, but the thread that runs it goes on for a while: nobody traces it any more. By
 * another thread, before th_live_process_end(). */
void th_live_process_leave(struct th_live_tracee *process);

/* After its last event (out_exited, closed). By the thread that ran it last. th_trace_ended() is
 * for the caller to say, where it may be a tracer's state. */
void th_live_process_end(struct th_live_tracee *process);

/* The process is scheduled out, or in: time and memory are not charged in between. Besides its
 * `out` and `in` events, which are events like others; an `in` is raised whether or not anybody
 * wants it, as it asks for the trace_status. */
void th_live_pause(struct th_live_tracee *process);
void th_live_resume(struct th_live_tracee *process);

/* --- Events that are no calls ----------------------------------------------------------------- */

/*
 * An event of a process. `term` and `extra` are terms that exist already, or are made by `build`
 * once a tracer wants them. They stay valid until th_live_trace() returns.
 */
struct th_live_event {
    struct th_event event; /* the first member */
    /* Of a receive: a pid; where that is nobody an atom, which match specifications get as the
     * node, as in a BEAM: undefined, system, clock_service. TH_NONE: it is not known. */
    th_term sender;
    /* Fills event.term and event.extra (TH_NONE: none), for seq_trace event.label; new terms are
     * made in ENV. NULL: they are filled. */
    void (*build)(struct th_live_event *self, th_env *env);
    void *context; /* build's own */
};

/* Any tag but call, return_from, exception_from and return_to. seq_trace: `term` is the info,
 * PROCESS who acts, and event.time.kind, 0 at first, the time stamp that the token asks for. */
void th_live_event_init(struct th_live_event *event, struct th_live_tracee *process,
                        enum th_tracer_tag tag);
void th_live_event_init_seq(struct th_live_event *event, struct th_live_tracee *process);

/* False: for sure nobody wants events of PROCESS with TAG, and nothing follows from them, so that
 * there is no need to say them. */
bool th_live_is_wanted(const struct th_live_tracee *process, enum th_tracer_tag tag);

/* th_trace() of it. TH_END if no session is there; else TH_OK, or TH_MALFORMED if the process
 * cannot have such an event. */
enum th_status th_live_trace(struct th_live_event *event);

/* --- Functions -------------------------------------------------------------------------------- */

/*
 * A function of this host that can be traced: part of what its owner knows. Its calls go by its
 * sites. Patterns that are set from now on find it by its name, and those that wait for code to
 * come (on_load) are set. Two may have one name, as old code and new have.
 */
struct th_traceable_function {
    /* The owner fills the name, and the sites that it has or why there is no local one; if it says
     * nothing of them, it gets a virtual one. */
    struct th_function_sites function;
    struct th_traceable_function *next, **place; /* trace/'s */
    bool own_site;                               /* the virtual one is trace/'s, too */
};

/*
 * The caller of these has the code modification permission (code/), and keeps it. So whoever sets a
 * pattern meanwhile does that after it, and finds the functions that have begun by then; or was
 * seen by begin(), if the pattern waits for code. And what was asked for before, of functions that
 * have ended, is void.
 */

/* Before calls can reach them. What on_load patterns say of them is in force when this returns. It
 * waits for nothing. */
void th_live_functions_begin(struct th_tracing *tracing,
                             struct th_traceable_function *const functions[], size_t count);

/*
 * A function that has begun has newer code, which no call can reach yet: it gets the native site
 * that it has not had, as its first or again; or has none any more. What was set stays as it is,
 * also at a site that has no code now: for calls of older code, and for newer code that has it
 * again. Where such a function has an export entry, that stands in for the native site: what is set
 * there is set at the entry as well, GLOBAL for LOCAL, and met by calls of code that has no native
 * site (th_live_call_before()); th_trace_losses() says what is not met. A site that is new gets
 * what on_load patterns say of local calls, but for what is met at the export entry already; a
 * pattern of one function that was set before then is not for it. Where a site goes, this waits for
 * thread progress.
 */
struct th_live_renewal {
    struct th_traceable_function *function;
    struct th_site *local; /* NULL: there has never been one */
    const char *no_local;  /* NULL: the site is of use */
};
void th_live_functions_renew(struct th_tracing *tracing, const struct th_live_renewal renewals[],
                             size_t count);

/* Their breakpoints are removed; then no call is at their sites, and the structs are the owner's
 * again. Waits for at most three rounds of thread progress; not in a callback. */
void th_live_functions_end(struct th_tracing *tracing,
                           struct th_traceable_function *const functions[], size_t count);

/* The one that began last of that name; NULL: there is none. While no function ends. */
struct th_traceable_function *th_live_function_find(struct th_tracing *tracing,
                                                    const struct th_mfa *name);

/* For one with a virtual site: whether a call has to be told. */
static inline bool th_live_function_is_armed(const struct th_traceable_function *function)
{
    return th_breakpoint_site_is_armed(function->function.site);
}

/* --- Calls ------------------------------------------------------------------------------------ */

struct th_call_event {
    struct th_live_tracee *process; /* NULL: the thread runs none */
    const struct th_traceable_function *function;
    struct th_site *site;     /* of the function's, the one that it has met */
    const th_term *arguments; /* as many as its arity */
    bool external;            /* only such calls meet global breakpoints */
    /* Who calls, which is what the call returns to; NULL: process->asked is, if anybody wants to
     * know. */
    const struct th_caller *caller;
};

/*
 * What is wanted of a call's end. The caller keeps it with the call's frame, on whatever thread
 * that goes on, and hands it over once: to th_live_return(), th_live_raise() or th_live_drop().
 * Nothing is allocated for up to TH_LIVE_WANTED. Sessions that are dead by then are no fault.
 */
enum { TH_LIVE_WANTED = 4 };
struct th_live_requests {
    uint32_t count, capacity;     /* 0: nothing */
    uint64_t few[TH_LIVE_WANTED]; /* weak ids and what is wanted, see delivery.h */
    uint64_t *many;               /* all of them, once there are more; else not set */
};

/* *TO has what *FROM, which is not empty, had: an assignment of what is set. */
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
 * False: nobody traces calls of PROCESS, so that a call of it needs to be told only where it meets
 * breakpoints that are neither local nor global: meta ones, which are for whoever calls, and
 * counts. Two loads, in no section.
 */
static inline bool th_live_is_calling(const struct th_live_tracee *process)
{
    const _Atomic uint32_t *flags =
        atomic_load_explicit(&process->traced.flags, memory_order_acquire);

    return atomic_load_explicit(flags, memory_order_relaxed) & TH_FLAG_CALL;
}

/* True: who runs PROCESS may leave out a call that meets local and global breakpoints alone, as
 * nobody traces its calls; nor is there anything to be counted. */
static inline bool th_live_may_pass(const struct th_live_tracee *process)
{
    return !th_live_is_calling(process) && !th_self.attachment && !process->returning_to;
}

/* The function is called; that site is armed. Sets *REQUESTS. */
void th_live_call(const struct th_call_event *call, struct th_live_requests *requests);

/* The same at the site of an export entry, where the function's code goes on to NEXT, its native
 * site: of each session, what is at NEXT as well is left to that. */
void th_live_call_before(const struct th_call_event *call, struct th_site *next,
                         struct th_live_requests *requests);

/* A call at a breakpoint that cannot be told, as something that is told is at hand. */
void th_live_call_suppressed(void);

/*
 * The call has ended, and leaves *REQUESTS empty: return_from with VALUE; exception_from with CLASS
 * (error, exit, throw) and REASON, for each frame that the exception passes, innermost first. A
 * call that was replaced by a tail call ends with the frame, after what took its place, with the
 * same value; so a return_trace piles up. Nothing is told where wants->count is 0; but an exception
 * that passes such a frame is to be said, too, as a return_to after it is for those who asked for
 * that of the frame next to who catches.
 */
void th_live_return(struct th_live_tracee *process, const struct th_traceable_function *function,
                    struct th_live_requests *requests, th_term value);
void th_live_raise(struct th_live_tracee *process, const struct th_traceable_function *function,
                   struct th_live_requests *requests, th_term class, th_term reason);

/* The call is given up without an end: its process exits. */
void th_live_drop(struct th_live_tracee *process, struct th_live_requests *requests);

/* Somebody is to be told where control comes back to: when the frame's calls have ended, and after
 * an exception when it is caught, before the return of who catches. TO is what executes then; its
 * kind may be undefined, where the process ends; unknown: nobody is told. */
static inline bool th_live_is_returning(const struct th_live_tracee *process)
{
    return process->returning_to != 0;
}
void th_live_return_to(struct th_live_tracee *process, const struct th_caller *to);

/* --- What was not told ------------------------------------------------------------------------ */

struct th_live_counts {
    uint64_t suppressed; /* calls and events that a callback caused */
    uint64_t strangers;  /* calls at a breakpoint, by threads that run no process */
};

struct th_live_counts th_live_counts(const struct th_tracing *tracing);

#endif
