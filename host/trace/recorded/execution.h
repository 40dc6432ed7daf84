/*
 * A recording as an execution: each process has a stack, which recorded calls enter and returns
 * leave; so calls can be traced again, with patterns that the recording was not made with.
 *
 *   struct th_execution execution;                   one for all streams
 *   th_recorded_start(&execution, &options);
 *   struct th_recorded_stack stack = {0};                     one a process, once somebody wants it
 *   th_recorded_enter(&execution, &stack, &call);   each call, wanted or not;
 *     th_recorded_caller(&execution, &stack)        ... who called? if somebody asks
 *     th_recorded_want(&execution, &stack, word);   ... tell me when it ends
 *   th_recorded_leave(&execution, &stack, &end);    each return and exception
 *   th_recorded_forget(&execution, &stack);         the process has ended
 *
 * What is known comes from the recording alone; what it does not tell is TH_CALLER_UNKNOWN, never
 * guessed. There are two sorts of recording.
 *
 * An *execution* tells `tail` of its calls. It has all calls of its processes, and an end for each
 * physical frame: one return_from for the call that was executing (a frame whose calls were tail
 * calls of each other returns once), or a return_to; or one exception_from, for each frame that
 * the exception passes. From that all callers are known, but those of what was called before the
 * recording began, or before events were lost. A return_to tells who catches; without one it is
 * whom the last exception_from returns to, and who catches and raises at once again cannot be told
 * from who does not catch. An execution that has no returns at all cannot be told from one in which
 * nothing has returned yet: see `returns` among the counts. A return_to without a return_from
 * before it ends a frame without telling its value.
 *
 * What a *BEAM* records does not tell `tail`. There each call that was recorded under return_trace
 * or exception_trace has an end of its own, innermost first; others have none. A return_from is
 * that of the nearest open call of its function, and calls above it have ended, too. Which calls a
 * return_to ends is not always told: see execution_doubt.c. A call that may have ended is doubted.
 * It stays on the stack, as its own record may come; if none does, its end is doubtful, or likely
 * to be this one, if it is a recursive function's.
 * The callers are known if they were recorded, as the
 * result of `{message, {caller}}`; whoever starts the replay must say that this is what results
 * are (th_recorded_caller_of_result()), as they have the shape of any {M, F, A}. JSON lines of a
 * live run are of this sort, too, and have the callers beside each call (th_event.callers).
 *
 * What is wanted of calls stays until they end; as a BEAM does, also that of tail calls: they end
 * with the physical frame, innermost first. The bounds of stacks are in frames.h. All of
 * it belongs to one thread, the one that replays.
 */
#ifndef TH_EXECUTION_H
#define TH_EXECUTION_H

#include "frames.h"

#include "host/trace/event.h"

/* The most that th_recorded_callers() tells: a BEAM's backtrace_depth if nobody sets it. */
enum { TH_EXECUTION_CALLERS = 8 };

enum { TH_EXECUTION_FRAMES = 1000000, TH_EXECUTION_ALL_FRAMES = 16 * TH_EXECUTION_FRAMES };

struct th_execution_options {
    uint32_t frames;     /* entries a stack; 0: TH_EXECUTION_FRAMES */
    uint64_t all_frames; /* entries of all stacks; 0: TH_EXECUTION_ALL_FRAMES */
    bool each_returns; /* tail calls have return_from records of their own, besides telling `tail`:
                          they follow that of the call which was executing */
    bool each_matters; /* each return_to matters: see th_recorded_leave() */
};

/* Each is a line for the user if it is not 0, except for the first three and `untold`. */
struct th_execution_counts {
    uint64_t calls;
    uint64_t returns;          /* return_from, exception_from and return_to. 0 with many calls: the
                                  recording has none, nobody can be told of a call's end, and callers
                                  are as if nothing had returned */
    uint64_t wanted;           /* th_recorded_want() */
    uint64_t callers_unknown;  /* calls whose caller was asked for, answered `undefined` */
    uint64_t callers_disputed; /* ... recorded, where the stack says another one */
    uint64_t not_kept;         /* wanted calls forgotten as the stack was full: "return frames not
                                  kept" */
    uint64_t late;             /* returns of calls that are forgotten */
    uint64_t unmatched;        /* returns of calls that were not recorded */
    uint64_t repaired; /* returns to which other calls had to end that had no end recorded */
    uint64_t untold;   /* wanted calls that ended so, or with a return_to: no value */
    uint64_t lost;     /* wanted calls that were open when events were lost */
};

struct th_execution {
    struct th_frames_bounds bounds;
    bool each_returns, each_matters;
    bool returns_matter; /* a session wants a return_to, or times calls */
    bool alone;          /* there was a return_to without a record of the call that it ends */
    bool returned;       /* there was a return_from */
    uint32_t gaps;       /* how often events were lost */
    struct th_execution_counts counts;
};

/*
 * The sessions that a return_to of a process is for, as bits by index: those that wanted one of the
 * calls which have returned. If the recording does not say which calls these are
 * (execution_doubt.c), a session is sent the return_to if it wanted each open call, whichever of
 * them ended. Else the return_to is doubtful for the session, and sent only if a call that the
 * session wanted is likely to have ended.
 */
struct th_stack_sessions {
    uint64_t due;     /* the next return_to is for these; whoever sends it takes them out */
    uint64_t likely;  /* wanted a call that is likely to have ended */
    uint64_t doubted; /* wanted a call that has ended now, or before */
    uint64_t perhaps; /* the next return_to may be for these */
    uint64_t latest;  /* want the latest call */
    uint64_t some;    /* want a call before the latest one, made since the stack was empty */
    uint64_t all;     /* want each of these calls */
    uint64_t timing;  /* time calls: set by whoever wants it, as returns_matter */
};

/* A process' stack. Start it as {0}: nothing is known of what was called before. */
struct th_recorded_stack {
    struct th_frames frames;
    struct th_stack_sessions sessions;
    enum th_stack_at {
        TH_STACK_AT_UNKNOWN,
        TH_STACK_AT_TOP,   /* the topmost call executes */
        TH_STACK_AT_NAMED, /* `named` does, of which no open call is known */
        TH_STACK_AT_START  /* nothing has been called yet */
    } at;
    bool entered; /* the last event was a call, and nobody wants it yet */
    bool ended;   /* the last event was a return_from or an exception_from */
    bool raised;  /* ... was an exception_from, if tails_untold; of a call whose caller was ... */
    bool asked;   /* callers_unknown counts the last call */
    bool tails_untold; /* the last call does not tell whether it is a tail call */
    bool undecided;    /* the last event was an end, and may have ended other calls, too */
    bool lower;        /* undecided: control may have come back to a lower call of the function, and
                          somebody wants a call above that one */
    bool returning;    /* each_returns: those who want the topmost frame were told; it stays for the
                          records that its other calls may have */
    th_frame_function raised_to; /* ... recorded as this */
    enum th_fact with_former; /* whether what ended with the record before the last event, an end,
                                 was of the same physical frame */
    uint32_t guessed;         /* so many of the oldest entries were left by a return_to that did not
                                 matter: it may have ended them, too */
    uint32_t gaps;            /* those of th_execution of which this stack knows */
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
    TH_ENDED_RETURNED, /* with the value of the record at hand */
    TH_ENDED_RAISED,   /* with the class and value of the record at hand */
    TH_ENDED_UNTOLD,   /* no record tells how */
    TH_ENDED_LIKELY,   /* nor whether it was now, as recursion would have it, or earlier */
    TH_ENDED_DOUBTFUL  /* nor whether it was now or earlier */
};

struct th_execution_end {
    enum th_tracer_tag tag;    /* return_from, exception_from or return_to */
    struct th_caller function; /* whose end, or what is returned to: undefined for a return_to
                                  `undefined` */

    /* Called for each word that a call was wanted with, if that call has ended: the latest call
     * first, the latest word of a call first. Returns the sessions that wanted the return_to of
     * that call. It must not touch this stack. */
    uint64_t (*ended)(void *context, enum th_ending ending, const struct th_mfa *function,
                      uint64_t word);
    void *context;
};

struct th_execution_left {
    /* The function that executes now, which a `return_to` event names: undefined if the process
     * ends, unknown if the recording does not tell. After an exception it is the function that
     * catches, unless another exception_from follows. */
    struct th_caller to;
    bool known;        /* false: the ended call is not on the stack */
    uint64_t doubtful; /* sessions for which a return_to is doubtful */
};

/* OPTIONS may be NULL. The counts go up over all streams. */
void th_recorded_start(struct th_execution *execution, const struct th_execution_options *options);

struct th_execution_counts th_recorded_counts(const struct th_execution *execution);

/* The process was seen being spawned: nobody called what it calls first, if that is an
 * execution. */
void th_recorded_spawned(struct th_execution *execution, struct th_recorded_stack *stack);

/* A call. */
void th_recorded_enter(struct th_execution *execution, struct th_recorded_stack *stack,
                       const struct th_recorded_call *call);

/* Who called what was entered last, which is what it returns to. Counts the call once if that is
 * unknown. */
struct th_caller th_recorded_caller(struct th_execution *execution,
                                    struct th_recorded_stack *stack);

/* Who called what was entered last, who called that one, and so on: at most MOST into CALLERS.
 * Ends early only with one who is unknown, or with nobody. Returns how many; counts nothing. */
size_t th_recorded_callers(const struct th_recorded_stack *stack, struct th_caller callers[],
                           size_t most);

/* When the call that was entered last ends, WORD (not 0) will be told; the return_to is for
 * SESSIONS. Several times for several words; nothing may have happened in the process meanwhile. */
void th_recorded_want(struct th_execution *execution, struct th_recorded_stack *stack,
                      uint64_t word, uint64_t sessions);

/*
 * A return or an exception. Which calls a return_to ends matters if sessions want different ones of
 * the open calls, or time calls. Only then are endings TH_ENDED_LIKELY and TH_ENDED_DOUBTFUL told.
 */
struct th_execution_left th_recorded_leave(struct th_execution *execution,
                                           struct th_recorded_stack *stack,
                                           const struct th_execution_end *end);

/* Events were lost, no one knows whose: all stacks begin anew, each when something happens in its
 * process. */
void th_recorded_gap(struct th_execution *execution);

/* The process has ended, or nobody is interested in it any more; leaves {0} but for `sessions`. */
void th_recorded_forget(struct th_execution *execution, struct th_recorded_stack *stack);

/* --- The callers that the records of calls and of their ends tell
 * --------------------------------- */

/* The caller that the result of a match specification is, where it is one of `{message, {caller}}`:
 * {M, F, Arity} or undefined; or of `{message, {caller_line}}`, with {File, Line} or undefined at
 * its end. Else, or for TH_NONE, it is unknown. */
struct th_caller th_recorded_caller_of_result(th_term result);

/* Whether CALLERS are as th_event.callers says; if so, who is the first: unknown if it is told of
 * none. */
bool th_recorded_are_callers(th_term callers);
struct th_caller th_recorded_first_caller(th_term callers);

/*
 * Calls that a session did not want, so that their returns are held back too.
 *
 * In the BEAM a call that `enabled` discards pushes no frame, so that neither return_from,
 * exception_from nor return_to of it is ever sent. A recording has them all, and the tracer may
 * want some calls and discard others; so it must be known to which call a return belongs.
 *
 * As long as a session has discarded all calls, or none, one bit tells what becomes of all returns,
 * and nothing is kept (struct th_discard_streak). With the first call that breaks the streak each
 * tracee gets a stack (execution.h) with a bit for each session that wanted a call. All calls are
 * on it as a BEAM records them: `tail` is not looked at. The end of a call that is not on the stack
 * is of one before it began: the streak decides. If it is not known which calls a return_to ends, a
 * session that may have discarded all of them, or not, is sent the return_to as th_stack_sessions
 * says, and counts it as doubtful.
 *
 * A stack holds at most TH_DISCARD_STREAK_CALLS calls, equal ones in a row as one; of more, the
 * oldest ones are forgotten and counted.
 */

#endif
