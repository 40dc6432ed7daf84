/*
 * Function patterns: which calls of a recording a session traces, and how.
 *
 *   struct th_pattern pattern = {lists, TH_NONE, -1, false};                  lists:_/_
 *   th_trace_session_function(session, &pattern, TH_AM(true), TH_BP_LOCAL, &matched);
 *
 * As OTP's trace:function/4, over recorded calls, and over those of this host's functions (live.h),
 * which have breakpoints of their own, also where a recorded function has the same name. A session
 * that was never given a pattern gets calls and their ends as they were recorded; from its first
 * pattern on it gets those that its breakpoints ask for, and no others: none once all are cleared,
 * as in OTP, where flag `call` alone traces nothing. All the code of a recording counts as loaded
 * from the start: a function that is seen later for the first time gets what the patterns, in their
 * order, say. Of this host's functions those that are loaded later get what on_load patterns say;
 * and, where nothing is replayed, a pattern that names a module and is for no function that is
 * there waits for the code, as if it had been set for on_load.
 *
 * Which calls a local pattern meets is every recorded one; a global pattern those that are
 * recorded as external: a call of which the recording does not tell is counted, not guessed
 * (th_pattern_counts).
 */
#ifndef TH_PATTERN_H
#define TH_PATTERN_H

#include "session.h"

#include "host/base/hash.h"
#include "host/breakpoint/breakpoint_session.h"
#include "host/trace/recorded/execution.h"

struct th_buffer;
struct th_bp_info;

/*
 * The functions of recordings: each has a site, which patterns put breakpoints on.
 *
 * A function is there from its first call on, or from the first pattern that names it; and stays
 * for all streams, as patterns do.
 */

/*
 * A function of this host can have two sites: of its export entry, which other modules' calls meet,
 * and in its machine code, which all calls meet. Then global breakpoints are at the former, and all
 * others at the latter. A function of a library that only it calls has the latter alone.
 */
struct th_function_sites {
    struct th_mfa name;
    struct th_site *site;  /* virtual, or of an export; its `function` is this. NULL: none */
    struct th_site *local; /* native; likewise */
    const char *no_local;  /* why there is none, a sentence that stays; NULL: not said */
    /*
     * It has got the native site, or lost it, with newer code. What was set before then is where it
     * was set: so what is changed is changed at both. One that is lost stays in `local`, with its
     * breakpoints, besides `no_local`, and `site` stands in for it: has the same ones, GLOBAL for
     * LOCAL. These two are otherwise never both set.
     */
    bool strays;
    atomic_bool called; /* in a recording; by whoever plays it, relaxed: nothing hangs on it */
};

/* Start it as {0}. */
struct th_functions {
    struct th_table table;
    struct th_function_sites **items; /* as they were added */
    size_t count, capacity;
};

/* A key for tables, never 0. */
uint64_t th_trace_function_key(const struct th_mfa *name);

/* NULL if it is not there. */
struct th_function_sites *th_trace_functions_find(const struct th_functions *functions,
                                                  const struct th_mfa *name);

enum { TH_ANY_ARITY = -1 };

/* As the kinds of a pattern: of both, which exclude each other, the one that a function can have.
 */
enum { TH_PATTERN_EITHER = TH_BP_LOCAL | TH_BP_GLOBAL };

/* The names of kinds: X(name, BIT). Recordings tell nothing of the last one. */
#define TH_PATTERN_KINDS(X) \
    X(local, LOCAL) X(global, GLOBAL) X(meta, META) X(count, COUNT) X(time, TIME)
#define TH_PATTERN_LIVE_KINDS(X) TH_PATTERN_KINDS(X) X(memory, MEMORY)

/* Tables of the latter: the names, which NULL ends, and the kind of each. */
extern const char *const th_trace_pattern_kind_names[];
extern const enum th_bp_kind th_trace_pattern_kinds[];

struct th_pattern {
    th_term module, function; /* atoms; TH_NONE: any. A module for a function, both for an arity */
    int arity;                /* TH_ANY_ARITY: any */
    bool on_load; /* none of those that are there: functions that are seen from now on */
};

/* Reads M:F/A, M:F/_, M:_/_ or _:_/_, atoms quoted as in Erlang; without an arity it is any. False
 * if TEXT is none of these. */
bool th_trace_pattern_parse(const char *text, struct th_pattern *pattern);

/* Appends such a text; "on_load" for all functions to come. */
void th_trace_pattern_print(struct th_buffer *out, const struct th_pattern *pattern);

/* The same in the encoding of people. */
void th_trace_pattern_show(struct th_buffer *out, const struct th_pattern *pattern);

/*
 * call_time (TH_BP_TIME) is the time of the records, between a call and its end or the next call
 * that is timed, less what the process was scheduled out if that was recorded. call_memory
 * (TH_BP_MEMORY) is of live functions alone, as recordings do not tell it: TH_USAGE where the
 * tracing is not shared, and there are none.
 *
 * MATCH is what trace:function/4 takes: true, false, pause, restart, or a match specification;
 * KINDS are of enum th_bp_kind, not empty. As in a BEAM, GLOBAL takes the place of all other kinds
 * at each function that matches, whether or not it can have a global breakpoint; to set, pause or
 * restart any other kind takes the place of GLOBAL, but at functions that can have no local
 * breakpoint; false clears no other kinds than these. Only counts can be paused; restart is as well
 * for what a tracer has disarmed from inside (th_disarm()). *MATCHED (NULL: nothing) becomes how
 * many functions are concerned now, each counted once. TH_USAGE or TH_MALFORMED, with nothing
 * changed, if the arguments make no sense together or MATCH is none.
 *
 * A function of this host may have no breakpoint but one of its export entry, which local calls do
 * not meet; or none of that, if other modules cannot call it (above). A pattern of kind LOCAL
 * leaves the former out, one of kind GLOBAL the latter; to set one that is for such functions
 * alone, of those that are here, is TH_USAGE, with the reasons, as nothing would ever come of it,
 * unless it takes the place of breakpoints that the session has there.
 * TH_PATTERN_EITHER is for all of them: each gets the kind that it can have, LOCAL if that is both,
 * as it is for recorded ones; false clears both.
 *
 * When it returns, calls that begin obey it, on all threads; in a callback, from the next event on
 * or soon after. An external call to a function with two sites meets one after the other: one that
 * is under way while LOCAL takes the place of GLOBAL may be told as both, or as neither.
 */
enum th_status th_trace_session_function(struct th_session *session,
                                         const struct th_pattern *pattern, th_term match,
                                         uint32_t kinds, size_t *matched);

/*
 * The same for kind META, with another tracer than the session's: calls are offered to TRACER,
 * whose flags and title are not looked at. Local breakpoints come first, then meta ones. It is
 * asked for its trace_status now, and when a process or port that is its state ends. Where it
 * answers `remove` to a call, it is gone from the breakpoint of that function, at once and for all;
 * that is counted. It is unloaded once no breakpoint has it any more, and no wildcard that is kept
 * for functions to come; what is still to be told of how calls end is not told then, but counted.
 *
 * In a tracing that is shared by threads it is unloaded soon after that, by th_progress_later().
 * Any thread that meets the breakpoint calls it.
 *
 * MATCH is true or a match specification. The library's share is taken over, as by
 * th_trace_session_create(), in each case. TH_FAILED if the tracer answers `remove`, else as above.
 */
enum th_status th_trace_session_meta_function(struct th_session *session,
                                              const struct th_pattern *pattern, th_term match,
                                              const struct th_session_setup *tracer,
                                              size_t *matched);

/* Why functions can have no breakpoints of some kind: those that have the reason in common. */
struct th_pattern_refusal {
    const char *why; /* a sentence that stays */
    struct th_mfa first;
    size_t functions;
};

enum { TH_PATTERN_REFUSALS = 4 };

struct th_pattern_refusals {
    struct th_pattern_refusal items[TH_PATTERN_REFUSALS]; /* further reasons are not told */
    size_t count;
    size_t functions; /* in all */
    size_t concerned; /* functions of this host that the pattern is for */
};

/* Which of this host's functions that are here PATTERN is for, and a setting of KINDS leaves out.
 */
void th_trace_session_pattern_refusals(const struct th_session *session,
                                       const struct th_pattern *pattern, uint32_t kinds,
                                       struct th_pattern_refusals *refusals);

/* "m:f/1: why", or "m:f/1 and 3 more: why". */
void th_trace_pattern_refusal_print(struct th_buffer *out,
                                    const struct th_pattern_refusal *refusal);

/*
 * Functions of this host whose newest code has no room for breakpoints of SESSION that are in the
 * machine code of older instances: those of the same kinds, for the same reason. Calls of the new
 * code are met from other modules, in the export entry, or not at all.
 */
struct th_pattern_loss {
    const struct th_session *session;
    uint32_t kinds;  /* of the breakpoints, as they were set */
    bool outside;    /* calls from other modules are met */
    const char *why; /* a sentence that stays */
    struct th_mfa first;
    size_t functions;
};

/* Calls VISIT, under the lock, for those of MODULE, by session. */
void th_trace_losses(struct th_tracing *tracing, th_term module,
                     void (*visit)(void *context, const struct th_pattern_loss *loss),
                     void *context);

/* Warns of each. */
void th_trace_warn_of_losses(struct th_tracing *tracing, th_term module);

/* What the meta tracers of a session's patterns that have one name have counted, those that are
 * gone included. */
struct th_meta_tracer_counts {
    const char *name; /* as long as the session */
    size_t present;   /* how many of them breakpoints or wildcards still have */
    /* `removed`: breakpoints whose tracer was found to be gone; filtered, silenced, untraced, kept
     * and refused are 0. */
    struct th_session_counts counts;
};

/* By the order in which they first came; false: there are no more than I names. */
bool th_trace_session_meta_tracer(const struct th_session *session, size_t i,
                                  struct th_meta_tracer_counts *counts);

/* The name and the state of the meta tracer of INFO; false if it is the session's own, or none. As
 * long as INFO. */
bool th_trace_pattern_meta_tracer(const struct th_session *session, const struct th_bp_info *info,
                                  const char **name, th_term *state);

/* What the session has set for a function, at all its sites, and what was counted; false: nothing.
 * Of several that have the name, the first one that it has set anything for: live ones, those that
 * began last first, then the recorded one. The caller frees what is in INFO. */
bool th_trace_session_function_info(const struct th_session *session, const struct th_mfa *function,
                                    struct th_bp_info *info);

/* The same of what on_load patterns for all modules have set: what functions get that come later
 * and that no other pattern is for. Nothing is counted. */
bool th_trace_session_on_load_info(const struct th_session *session, struct th_bp_info *info);

/* The match specification of INFO as it was given; `true` if there is none. As long as INFO. */
th_term th_trace_pattern_spec_source(struct th_shared *spec);

/* Calls VISIT for each function that the session has a breakpoint of, once: with what
 * th_trace_session_function_info() says of its name. */
void th_trace_session_functions(const struct th_session *session,
                                void (*visit)(void *context, const struct th_mfa *function,
                                              const struct th_bp_info *info),
                                void *context);

/* Calls VISIT, under the lock, for each pattern that waits for functions of this host, and has met
 * none so far that it can trace. */
void th_trace_session_waiting(const struct th_session *session,
                              void (*visit)(void *context, const struct th_pattern *pattern),
                              void *context);

/* A function that patterns find, whether or not anybody has set anything for it. */
struct th_function_info {
    struct th_mfa name;
    bool live;            /* of this host; else recorded */
    bool local, global;   /* the breakpoints that it can have; a recorded one both */
    const char *no_local; /* why not a local one, a sentence that stays; NULL: not said */
};

/* Calls VISIT for each function of this host, and each of the recording that was met or named so
 * far, once for each name: with the one that began last. Any thread, if the tracing is shared. */
void th_trace_functions(const struct th_tracing *tracing,
                        void (*visit)(void *context, const struct th_function_info *function),
                        void *context);

/* Whether a function that PATTERN is for was called in what was played so far, whoever called it.
 * Any thread, if the tracing is shared. */
bool th_trace_called(const struct th_tracing *tracing, const struct th_pattern *pattern);

/* What could not be known of calls that met breakpoints. */
struct th_pattern_counts {
    uint64_t undecided;        /* calls whose match specification hangs on something unknown */
    uint64_t callers_unknown;  /* callers that one asked for */
    uint64_t lines_unknown;    /* lines of callers */
    uint64_t actions_unsure;   /* actions left out, as something they depend on is unknown */
    uint64_t external_unknown; /* calls at a global breakpoint that may be local ones */
    uint64_t untimed;          /* calls at a call_time breakpoint without a time: not counted */
    uint64_t returns_unknown;  /* returns asked for of calls whose end no record tells */
    uint64_t returns_doubtful; /* return_to records of which it is not known which calls they end,
                                  where the session wants some of these calls, or times them: see
                                  execution.h */
    uint64_t meta_removed;     /* breakpoints whose meta tracer was found to be gone */
    uint64_t meta_untold;      /* ends of calls, asked for by meta tracers that are gone */
};

struct th_pattern_counts th_trace_session_pattern_counts(const struct th_session *session);

/* True if the session was given patterns, whether any is left or not. */
bool th_trace_session_patterned(const struct th_session *session);

/* The recording was made with `{message, {caller}}`: the results in it are callers. */
void th_trace_use_recorded_callers(struct th_tracing *tracing);

/* What match specifications `display` goes to SHOW; else nowhere. The term is SHOW's until it
 * returns. */
void th_trace_use_display(struct th_tracing *tracing, void (*show)(th_term term));

/* How the stacks of processes are followed (execution.h). Before the first event. */
void th_trace_use_execution(struct th_tracing *tracing, const struct th_execution_options *options);

/* What came of that; all 0 if there are no patterns. */
struct th_execution_counts th_trace_execution_counts(const struct th_tracing *tracing);

/* --- Messages --------------------------------------------------------------------------------- */

/*
 * Patterns for messages: which sends, and which receives, of a recording a session traces.
 *
 *   th_trace_session_send_pattern(session, TH_AM(false));      no send at all
 *   th_trace_session_receive_pattern(session, spec);           those that match
 *
 * As OTP's trace:send/3 and trace:recv/3, or erlang:trace_pattern/3 for `send` and `'receive'`.
 * They are about what the flags let pass, and come before all else: of what a pattern leaves out
 * the tracer is not even asked. A specification's head is [Receiver, Message], the receiver as the
 * sender named it, or [Node, Sender, Message]. As in a BEAM they are for messages of processes, not
 * of ports, and with a specification (not without) those of a silent process are held back.
 *
 * No recording tells who sent what is received: Node and Sender are unknown; of live events
 * (live.h) whoever raises them tells. An event of which a
 * specification cannot say for sure whether it matches is not passed on, but counted.
 */

/*
 * MATCH is `true` (or []): all, as they were recorded; `false`: none; or a match specification,
 * from which the session then has the match_spec_result. It replaces what was set before, at once:
 * with the next event of each thread. TH_USAGE or TH_MALFORMED, with nothing changed, if MATCH is
 * none of these. Also in callbacks.
 */
enum th_status th_trace_session_send_pattern(struct th_session *session, th_term match);
enum th_status th_trace_session_receive_pattern(struct th_session *session, th_term match);

/* What is set, as it was given; `true` if nothing was. A copy in ENV. */
th_term th_trace_session_send_pattern_info(const struct th_session *session, th_env *env);
th_term th_trace_session_receive_pattern_info(const struct th_session *session, th_env *env);

/* What became of messages at patterns, sends and receives together. */
struct th_message_counts {
    uint64_t unmatched;      /* left out: `false`, or the specification says no */
    uint64_t silenced;       /* matched, but the process is silent */
    uint64_t undecided;      /* left out, as the specification hangs on something unknown */
    uint64_t actions_unsure; /* actions left out, as something they depend on is unknown */
};

struct th_message_counts th_trace_session_message_counts(const struct th_session *session);

/* True if the session was given a pattern for messages that is not `true`, at any time. */
bool th_trace_session_message_patterned(const struct th_session *session);

#endif
