/*
 * Stacks of recorded processes: recorded calls enter a process's stack, and returns leave it; so
 * calls can be traced again, with patterns that the recording was not made with.
 *
 *   struct th_execution execution;                   one for all streams
 *   th_recorded_start(&execution, &options);
 *   struct th_recorded_stack stack = {0};                     one a process, once it is needed
 *   th_recorded_enter(&execution, &stack, &call);   each call, wanted or not;
 *     th_recorded_caller(&execution, &stack)        ... its caller, on demand
 *     th_recorded_want(&execution, &stack, word);   ... requests a report of its end
 *   th_recorded_leave(&execution, &stack, &end);    each return and exception
 *   th_recorded_forget(&execution, &stack);         the process has ended
 *
 * Only the recording is used: a caller that no record shows is TH_CALLER_UNKNOWN, never guessed.
 * There are two sorts of recording.
 *
 * The calls of an *execution* have `tail`. Such a recording has all calls of its processes, and an
 * end for each physical frame: one return_from for the call that was executing (a frame whose calls
 * were tail calls of each other returns once), or a return_to; or one exception_from for each frame
 * that the exception passes. So all callers are known, except those of calls from before the
 * recording began, or before events were lost. A return_to names the catcher of an exception. If
 * there is no return_to, the catcher is the function to which the last exception_from returns; then
 * a function that catches and raises again at once looks like one that does not catch. An execution
 * without any return looks like one in which no call has returned yet: see `returns` among the
 * counts. A return_to without a return_from before it ends a frame without a value.
 *
 * The calls of a *BEAM* recording do not have `tail`. Each call that was recorded under
 * return_trace or exception_trace has an end of its own, innermost first; other calls have none. A
 * return_from ends the nearest open call of its function and all calls above it. A return_to does
 * not always show which calls it ends: see execution_doubt.c. A call that may have ended is
 * doubted. A doubted call stays on the stack, as the record of its end may follow; if not, the
 * call's end is doubtful, or, for a recursive function, likely to be the present one. Callers are
 * known if they were recorded as the result of `{message, {caller}}`. The user must declare this
 * when a replay starts (th_recorded_caller_of_result()), as such results look like any {M, F, A}.
 * JSON lines of a live run are of this sort, too, and have the callers of each call
 * (th_event.callers).
 *
 * Requests stay until their calls end; as in a BEAM, those of tail calls stay, too, and end with
 * the physical frame, innermost first. The bounds of stacks are in frames.h.
 * Thread: the replaying one alone.
 */
#ifndef TH_EXECUTION_H
#define TH_EXECUTION_H

#include "frames.h"

#include "host/trace/event.h"

/* The most callers that th_recorded_callers() returns: a BEAM's default backtrace_depth. */
enum { TH_EXECUTION_CALLERS = 8 };

enum { TH_EXECUTION_FRAMES = 1000000, TH_EXECUTION_ALL_FRAMES = 16 * TH_EXECUTION_FRAMES };

struct th_execution_options {
    uint32_t frames;     /* entries a stack; 0: TH_EXECUTION_FRAMES */
    uint64_t all_frames; /* entries of all stacks; 0: TH_EXECUTION_ALL_FRAMES */
    bool each_returns;   /* tail calls have return_from records of their own, besides `tail`, after
                          that of the call that was executing */
    bool each_matters;   /* each return_to matters: see th_recorded_leave() */
};

/* Counts of all stacks. `replay` prints most of them if they are not 0 (cli/trace_summary.c). */
struct th_execution_counts {
    uint64_t calls;
    uint64_t returns;          /* return_from, exception_from and return_to. 0 with many calls:
                                  the recording has none, no end can be reported, and callers are
                                  as if no call had returned */
    uint64_t wanted;           /* calls of th_recorded_want() */
    uint64_t callers_unknown;  /* calls whose caller was used but is unknown: answered
                                  `undefined` */
    uint64_t callers_disputed; /* recorded callers that differ from the stack's */
    uint64_t not_kept;         /* wanted calls forgotten as the stack was full: "return frames
                                  not kept" */
    uint64_t late;             /* returns of calls that are forgotten */
    uint64_t unmatched;        /* returns of calls that were not recorded */
    uint64_t repaired;         /* returns that ended other calls, too, which had no end recorded */
    uint64_t untold;           /* wanted calls that ended without a value: by a repair or a
                                  return_to */
    uint64_t lost;             /* wanted calls that were open when events were lost */
};

struct th_execution {
    struct th_frames_bounds bounds;
    bool each_returns, each_matters;
    bool returns_matter; /* a session wants a return_to, or times calls */
    bool alone;          /* there was a return_to without a record of the call that it ends */
    bool returned;       /* there was a return_from */
    uint32_t gaps;       /* number of times that events were lost */
    struct th_execution_counts counts;
};

/*
 * Sets of sessions, as bits by index, for the return_to events of one process. A return_to is for
 * the sessions that wanted one of the calls which have returned. If the recording does not show
 * which calls these are (execution_doubt.c), a session gets the return_to if it wanted each open
 * call, as any of them may have ended. Else the return_to is doubtful for the session, and sent
 * only if a call that the session wanted is likely to have ended.
 */
struct th_stack_sessions {
    uint64_t due;     /* get the next return_to; the sender clears the bits */
    uint64_t likely;  /* wanted a call that is likely to have ended */
    uint64_t doubted; /* wanted a call that has ended now or before */
    uint64_t perhaps; /* may get the next return_to */
    uint64_t latest;  /* want the latest call */
    uint64_t some;    /* want a call before the latest one, made since the stack was empty */
    uint64_t all;     /* want each of these calls */
    uint64_t timing;  /* time calls: set by the requester, as returns_matter */
};

/* Stack of a process. Start it as {0}: earlier calls are unknown. */
struct th_recorded_stack {
    struct th_frames frames;
    struct th_stack_sessions sessions;
    enum th_stack_at {
        TH_STACK_AT_UNKNOWN,
        TH_STACK_AT_TOP,   /* the topmost call executes */
        TH_STACK_AT_NAMED, /* `named` executes; no open call of it is known */
        TH_STACK_AT_START  /* no function has been called yet */
    } at;
    bool entered;      /* the last event was a call, still without requests */
    bool ended;        /* the last event was a return_from or an exception_from */
    bool raised;       /* the last event was an exception_from, and tails_untold */
    bool asked;        /* callers_unknown counts the last call */
    bool tails_untold; /* the last call has no `tail` */
    bool undecided;    /* the last event was an end, and may have ended other calls, too */
    bool lower;        /* undecided: control may be in a lower call of the function, and a call
                          above that one is wanted */
    bool returning;    /* each_returns: the requests of the topmost frame are done; the frame
                          stays for records of its other calls */
    th_frame_function raised_to; /* if `raised`: the recorded caller of the call that raised */
    enum th_fact with_former;    /* whether the last event, an end, and the record before it ended
                                 calls of the same physical frame */
    uint32_t guessed;            /* number of oldest entries that a return_to without effect on
                                    sessions left, although they may have ended, too */
    uint32_t gaps;               /* th_execution.gaps that this stack has followed */
    th_frame_function named;
    th_frame_function caller; /* of the last call */
};

struct th_recorded_call {
    struct th_mfa function;
    enum th_fact tail;
    struct th_caller recorded; /* the recorded caller; unknown if there is none */
};

/* How a wanted call has ended. */
enum th_ending {
    TH_ENDED_RETURNED, /* with the value of the current record */
    TH_ENDED_RAISED,   /* with the class and value of the current record */
    TH_ENDED_UNTOLD,   /* no record shows how */
    TH_ENDED_LIKELY,   /* as UNTOLD; now, if recursive, or earlier */
    TH_ENDED_DOUBTFUL  /* as UNTOLD; now or earlier */
};

struct th_execution_end {
    enum th_tracer_tag tag;    /* return_from, exception_from or return_to */
    struct th_caller function; /* the function that ends, or is returned to: undefined for a
                                  return_to `undefined` */

    /* Called for each request of an ended call: the latest call first, the latest word of a call
     * first. Returns the sessions that wanted the return_to of that call. Must not use this
     * stack. */
    uint64_t (*ended)(void *context, enum th_ending ending, const struct th_mfa *function,
                      uint64_t word);
    void *context;
};

struct th_execution_left {
    /* The function that executes now, as a return_to names it: undefined if the process ends,
     * unknown if the recording does not show it. After an exception `to` is the catcher, unless
     * another exception_from follows. */
    struct th_caller to;
    bool known;        /* false: the ended call is not on the stack */
    bool doubted;      /* the record may be of a lower call of the function that was on the stack */
    uint64_t doubtful; /* sessions for which a return_to is doubtful */
};

/* Initializes EXECUTION; OPTIONS may be NULL. The counts go on over all streams. */
void th_recorded_start(struct th_execution *execution, const struct th_execution_options *options);

struct th_execution_counts th_recorded_counts(const struct th_execution *execution);

/* Notes that the process has just been spawned: in an execution, its first call has no caller. */
void th_recorded_spawned(struct th_execution *execution, struct th_recorded_stack *stack);

/* Enters a call. */
void th_recorded_enter(struct th_execution *execution, struct th_recorded_stack *stack,
                       const struct th_recorded_call *call);

/* Returns the caller of the last entered call, to which it returns. Counts the call, once, if the
 * caller is unknown. */
struct th_caller th_recorded_caller(struct th_execution *execution,
                                    struct th_recorded_stack *stack);

/* Stores the callers of the last entered call, nearest first, at most MOST, into CALLERS, and
 * returns their number. Fewer only if the last one is unknown or undefined. Counts nothing. */
size_t th_recorded_callers(const struct th_recorded_stack *stack, struct th_caller callers[],
                           size_t most);

/* Returns the number of open calls that are not doubted, the last entered call with them: at most
 * MOST. A recursive call that is likely to be open counts. A call and the tail calls in its place
 * count once. Only the topmost 4096 entries are looked at, so the number may be too small. */
uint64_t th_recorded_open_calls(const struct th_recorded_stack *stack, uint64_t most);

/* Requests a report of the end of the last entered call: WORD (not 0) is passed to `ended`; the
 * return_to is for SESSIONS. May be called several times.
 * Order: before the next event of the process. */
void th_recorded_want(struct th_execution *execution, struct th_recorded_stack *stack,
                      uint64_t word, uint64_t sessions);

/*
 * Leaves the stack by a return or an exception. Which calls a return_to ends matters if sessions
 * want different open calls, or time calls, or each_matters is set. Only then does `ended` get
 * TH_ENDED_LIKELY and TH_ENDED_DOUBTFUL.
 */
struct th_execution_left th_recorded_leave(struct th_execution *execution,
                                           struct th_recorded_stack *stack,
                                           const struct th_execution_end *end);

/* Notes that events of unknown processes were lost: each stack begins anew at the next event of its
 * process. */
void th_recorded_gap(struct th_execution *execution);

/* Clears the stack of a process that has ended, or that no session needs any more; keeps `sessions`
 * and `gaps`. */
void th_recorded_forget(struct th_execution *execution, struct th_recorded_stack *stack);

/* True if EVENT, an end without a function, is the return_to at the end of the process; clears the
 * error then, and *FUNCTION is undefined. Else the error stays. */
bool th_recorded_ends_process(const struct th_event *event, struct th_caller *function);

/* Returns the function of EVENT, an end, in *FUNCTION: undefined for the return_to at the end of
 * the process. False, with an error, if the event is damaged. */
static inline bool th_recorded_end_function(struct th_event *event, struct th_caller *function)
{
    function->kind = TH_CALLER_FUNCTION;
    return event->source->function(event, &function->function) == TH_OK ||
           th_recorded_ends_process(event, function);
}

/* --- Callers in the records of calls and of their ends ---------------------------------------- */

/* Returns the caller that a match specification's RESULT stands for: {M, F, Arity} or undefined, of
 * `{message, {caller}}`; or with {File, Line} or undefined as fourth element, of `{message,
 * {caller_line}}`. Unknown for other terms and TH_NONE. */
struct th_caller th_recorded_caller_of_result(th_term result);

/* Check that CALLERS are as in th_event.callers; return the first caller of such: unknown if there
 * is none. */
bool th_recorded_are_callers(th_term callers);
struct th_caller th_recorded_first_caller(th_term callers);

#endif
