/*
 * Function patterns: which calls a session traces, and how.
 *
 *   struct th_pattern pattern = {lists, TH_NONE, -1, false};                  lists:_/_
 *   th_trace_session_function(session, &pattern, TH_AM(true), TH_BP_LOCAL, &matched);
 *
 * Patterns are for recorded calls and for those of this host's functions (live/live.h), which have
 * breakpoints of their own, even if a recorded function has the same name. A session without any
 * pattern gets calls and their ends as they were recorded. From its first pattern on, a session
 * gets only the calls that its breakpoints trace: none once all are cleared, as in OTP, where the
 * flag `call` alone traces nothing.
 *
 * All code of a recording counts as loaded from the start: when a function is seen for the first
 * time, all patterns apply to it, in their order. To functions of this host that are loaded later,
 * on_load patterns apply. If nothing is replayed, a pattern that names a module and matches no
 * present function waits for the code, as if it were set for on_load.
 *
 * A local pattern meets every recorded call; a global pattern meets the calls that are recorded as
 * external. If the recording does not say whether a call is external, the call is counted
 * (th_pattern_counts), and not traced.
 * Source: OTP's trace:function/4.
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
 * Functions of recordings. Each has a site, on which patterns put breakpoints. A function exists
 * from its first call on, or from the first pattern that names it, and stays for all streams, as
 * patterns do.
 */

/*
 * Sites of a function. A function of this host may have two: its export entry, which calls of other
 * modules meet, and one in its machine code, which all calls meet. Then global breakpoints are at
 * the entry, and all others in the machine code. A function that only its library calls has the
 * latter alone.
 */
struct th_function_sites {
    struct th_mfa name;
    struct th_site *site;  /* virtual or an export's; its `function` is this struct. NULL: none */
    struct th_site *local; /* native; its `function` is this struct, too. NULL: none */
    const char *no_local;  /* reason for no `local`, a constant sentence; NULL: not given */
    /*
     * True: newer code has brought the native site, or taken it away. Earlier breakpoints stay
     * where they were set: so a change applies at both sites. A lost site stays in `local`, with
     * its breakpoints, and `no_local` is set; `site` stands in for it with the same breakpoints,
     * GLOBAL for LOCAL. `local` and `no_local` are otherwise never both set.
     */
    bool strays;
    atomic_bool called; /* in a recording; written by the player, relaxed: guards no other data */
};

/* Start it as {0}. */
struct th_functions {
    struct th_table table;
    struct th_function_sites **items; /* as they were added */
    size_t count, capacity;
};

/* Returns a key for tables, never 0. */
uint64_t th_trace_function_key(const struct th_mfa *name);

/* Finds a recorded function; NULL: none. */
struct th_function_sites *th_trace_functions_find(const struct th_functions *functions,
                                                  const struct th_mfa *name);

enum { TH_ANY_ARITY = -1 };

/* Kinds of a pattern that gives each function LOCAL or GLOBAL, which exclude each other; see
 * th_trace_session_function(). */
enum { TH_PATTERN_EITHER = TH_BP_LOCAL | TH_BP_GLOBAL };

/* Names of kinds: X(name, BIT). Recordings have no data for `memory`. */
#define TH_PATTERN_KINDS(X) \
    X(local, LOCAL) X(global, GLOBAL) X(meta, META) X(count, COUNT) X(time, TIME)
#define TH_PATTERN_LIVE_KINDS(X) TH_PATTERN_KINDS(X) X(memory, MEMORY)

/* Tables of TH_PATTERN_LIVE_KINDS: the names, ended by NULL, and the kind of each. */
extern const char *const th_trace_pattern_kind_names[];
extern const enum th_bp_kind th_trace_pattern_kinds[];

struct th_pattern {
    th_term module, function; /* atoms; TH_NONE: any. A function needs a module, an arity both */
    int arity;                /* TH_ANY_ARITY: any */
    bool on_load;             /* for functions that come later, none that are present */
};

/* The forms of th_trace_pattern_parse(), for messages. */
#define TH_PATTERN_FORMS \
    "M:F/A, M:F/_, M:_/_ or _:_/_, such as lists:reverse/1 or Elixir's Enum.sort/1"

/* Reads M:F/A, M:F/_, M:_/_ or _:_/_, with atoms quoted as in Erlang; or M.F/A, M.F/_ or M._/_, as
 * Elixir writes functions (term/text.h): a text that begins with a capital letter or a colon. Without
 * an arity any matches. False if TEXT is none of these. */
bool th_trace_pattern_parse(const char *text, struct th_pattern *pattern);

/* True if PATTERN matches functions of NAME. */
bool th_trace_pattern_concerns(const struct th_pattern *pattern, const struct th_mfa *name);

/* Appends PATTERN as text, with `_` for any name or arity; "on_load" if PATTERN is for all
 * functions that come later. */
void th_trace_pattern_print(struct th_buffer *out, const struct th_pattern *pattern);

/* As th_trace_pattern_print(), in the encoding and with the names of users (term/text.h). */
void th_trace_pattern_show(struct th_buffer *out, const struct th_pattern *pattern);

/*
 * Sets PATTERN for SESSION. MATCH is as in trace:function/4: true, false, pause, restart, or a
 * match specification; KINDS are of enum th_bp_kind, not empty.
 *
 * Time of call_time (TH_BP_TIME) is that of the records, between a call and its end or the next
 * timed call, less the time in which the process was recorded as scheduled out. call_memory
 * (TH_BP_MEMORY) exists for live functions only.
 *
 * As in a BEAM, GLOBAL replaces all other kinds at each matching function, even at one that cannot
 * have a global breakpoint; setting, pausing or restarting another kind replaces GLOBAL, except at
 * functions that can have no local breakpoint; `false` clears only KINDS. Only counts can be
 * paused; restart also undoes th_disarm() of a tracer. *MATCHED (may be NULL) becomes the number of
 * present functions to which the pattern applies, each counted once.
 *
 * A function of this host may have no site in its machine code; then local calls meet no
 * breakpoint, and a LOCAL pattern sets none. A function that other modules cannot call has no site
 * at an export entry; then a GLOBAL pattern sets none. TH_PATTERN_EITHER gives each function LOCAL
 * if the function can have it, as each recorded function can, and else GLOBAL; `false` clears both.
 *
 * On return, calls that begin on any thread obey the pattern; if the pattern is set in a callback,
 * calls obey it from the next event on, or soon after. An external call to a function with two
 * sites meets both in turn: while LOCAL replaces GLOBAL, a call under way may be traced as both, or
 * as neither.
 * Errors: nothing is changed by TH_USAGE or TH_MALFORMED. TH_USAGE if the arguments contradict each
 * other, for TH_BP_MEMORY in an unshared tracing, or, with the reasons, if functions of this host
 * match and none of them can have KINDS, unless the pattern replaces breakpoints that the session
 * has there. TH_MALFORMED if MATCH is no match specification. TH_FAILED if the session ended
 * meanwhile.
 */
enum th_status th_trace_session_function(struct th_session *session,
                                         const struct th_pattern *pattern, th_term match,
                                         uint32_t kinds, size_t *matched);

/*
 * As th_trace_session_function() for kind META, with a tracer of its own: calls are offered to
 * TRACER, whose flags and title are ignored. At a function, local breakpoints come before meta
 * ones. The host asks the tracer for its trace_status now, and when a process or port that is its
 * state ends. If the tracer answers `remove` to a call, the breakpoint of that function loses the
 * tracer at once and for good, which is counted. When no breakpoint, and no wildcard for functions
 * to come, has the tracer any more, it is unloaded (in a shared tracing soon after, by
 * th_progress_later()); ends of calls that it still wants are counted, not delivered.
 *
 * MATCH is true or a match specification.
 * Owner: takes over the caller's reference to the library, also on an error.
 * Thread: the thread that meets the breakpoint calls the tracer.
 * Errors: TH_FAILED also if the tracer answers `remove` or reports a failure.
 */
enum th_status th_trace_session_meta_function(struct th_session *session,
                                              const struct th_pattern *pattern, th_term match,
                                              const struct th_session_setup *tracer,
                                              size_t *matched);

/* Functions that cannot have a breakpoint for one common reason. */
struct th_pattern_refusal {
    const char *why; /* the reason, a constant sentence */
    struct th_mfa first;
    size_t functions;
};

enum { TH_PATTERN_REFUSALS = 4 };

struct th_pattern_refusals {
    struct th_pattern_refusal items[TH_PATTERN_REFUSALS]; /* the first reasons; others are only
                                                             counted */
    size_t count;
    size_t functions; /* in all */
    size_t concerned; /* matching functions of this host */
};

/* Fills REFUSALS with the present functions of this host that match PATTERN and cannot have
 * KINDS. */
void th_trace_session_pattern_refusals(const struct th_session *session,
                                       const struct th_pattern *pattern, uint32_t kinds,
                                       struct th_pattern_refusals *refusals);

/* Appends "m:f/1: why", or "m:f/1 and 3 more: why". */
void th_trace_pattern_refusal_print(struct th_buffer *out,
                                    const struct th_pattern_refusal *refusal);

/*
 * Functions of this host whose newest code has no room for breakpoints that SESSION has in the
 * machine code of older instances: those with the same kinds and the same reason. Calls of the new
 * code are met at the export entry, if they come from other modules, or not at all.
 */
struct th_pattern_loss {
    const struct th_session *session;
    uint32_t kinds;  /* kinds of the breakpoints, as they were set */
    bool outside;    /* calls from other modules are met */
    const char *why; /* the reason, a constant sentence */
    struct th_mfa first;
    size_t functions;
};

/* Calls VISIT, under the lock, for each loss of MODULE, session by session. */
void th_trace_losses(struct th_tracing *tracing, th_term module,
                     void (*visit)(void *context, const struct th_pattern_loss *loss),
                     void *context);

/* Logs a warning for each loss. */
void th_trace_warn_of_losses(struct th_tracing *tracing, th_term module);

/* Counts of the meta tracers with one name in a session's patterns, including those that are
 * gone. */
struct th_meta_tracer_counts {
    const char *name; /* valid as long as the session */
    size_t present;   /* those that breakpoints or wildcards still have */
    /* `removed`: breakpoints that lost their tracer; filtered, silenced, untraced and kept are
     * 0. */
    struct th_session_counts counts;
};

/* Fills COUNTS with those of the Ith name, in the order of first use; false: there are no more. */
bool th_trace_session_meta_tracer(const struct th_session *session, size_t i,
                                  struct th_meta_tracer_counts *counts);

/* Returns name and state of the meta tracer of INFO, valid as long as INFO; false if there is none,
 * or the session's own tracer is called. */
bool th_trace_pattern_meta_tracer(const struct th_session *session, const struct th_bp_info *info,
                                  const char **name, th_term *state);

/* Fills INFO with the settings and counts of the session for a function, at all its sites; false:
 * none. If several functions have the name, INFO is about the first one with settings: live ones,
 * the youngest first, then the recorded one.
 * Owner: the caller frees INFO's content. */
bool th_trace_session_function_info(const struct th_session *session, const struct th_mfa *function,
                                    struct th_bp_info *info);

/* As th_trace_session_function_info(), for the on_load patterns for all modules: the settings of
 * later functions that no other pattern matches. Counts are 0. */
bool th_trace_session_on_load_info(const struct th_session *session, struct th_bp_info *info);

/* Returns the match specification of INFO as it was given; `true`: none. Valid as long as INFO. */
th_term th_trace_pattern_spec_source(struct th_shared *spec);

/* Calls VISIT once for each function with breakpoints of the session, with the result of
 * th_trace_session_function_info() for its name. */
void th_trace_session_functions(const struct th_session *session,
                                void (*visit)(void *context, const struct th_mfa *function,
                                              const struct th_bp_info *info),
                                void *context);

/* Calls VISIT, under the lock, for each pattern that waits for functions of this host and has found
 * none so far that it can trace. Visits none unless the tracing replays nothing. */
void th_trace_session_waiting(const struct th_session *session,
                              void (*visit)(void *context, const struct th_pattern *pattern),
                              void *context);

/* A function that patterns can match, with or without breakpoints. */
struct th_function_info {
    struct th_mfa name;
    bool live;            /* of this host; else recorded */
    bool local, global;   /* breakpoints that it can have; a recorded one: both */
    const char *no_local; /* reason against a local one, a constant sentence; NULL: not given */
};

/* Calls VISIT once for each name of a function of this host, with the youngest function, and for
 * each recorded function that was seen or named so far.
 * Thread: any, if the tracing is shared. */
void th_trace_functions(const struct th_tracing *tracing,
                        void (*visit)(void *context, const struct th_function_info *function),
                        void *context);

/* True if any process called a function that matches PATTERN in the streams that were played so
 * far.
 * Thread: any, if the tracing is shared. */
bool th_trace_called(const struct th_tracing *tracing, const struct th_pattern *pattern);

/* Calls at breakpoints about which something is unknown. */
struct th_pattern_counts {
    uint64_t undecided;        /* calls whose match specification depends on something unknown */
    uint64_t callers_unknown;  /* unknown callers that a specification used */
    uint64_t lines_unknown;    /* unknown lines of callers */
    uint64_t actions_unsure;   /* actions skipped, as they depend on something unknown */
    uint64_t external_unknown; /* calls at a global breakpoint that may be local ones */
    uint64_t untimed;          /* calls at a call_time breakpoint without a time: not timed */
    uint64_t returns_unknown;  /* wanted returns of calls whose end no record has */
    uint64_t returns_doubtful; /* return_to records that may end various calls, if the session
                                  wants some of these calls or times them: see execution.h */
    uint64_t meta_removed;     /* breakpoints that lost their meta tracer */
    uint64_t meta_untold;      /* ends of calls that were wanted by meta tracers that are gone */
};

struct th_pattern_counts th_trace_session_pattern_counts(const struct th_session *session);

/* True if the session was ever given a pattern. */
bool th_trace_session_patterned(const struct th_session *session);

/* Declares that the recording was made with `{message, {caller}}`: its results are callers. */
void th_trace_use_recorded_callers(struct th_tracing *tracing);

/* Installs SHOW for `display` of match specifications; without SHOW, display does nothing. TERM is
 * valid until SHOW returns. */
void th_trace_use_display(struct th_tracing *tracing, void (*show)(th_term term));

/* Sets how the stacks of processes are followed (execution.h).
 * Order: before the first event. */
void th_trace_use_execution(struct th_tracing *tracing, const struct th_execution_options *options);

/* Returns the counts of all stacks; all 0 if there are no patterns. */
struct th_execution_counts th_trace_execution_counts(const struct th_tracing *tracing);

/* --- Messages --------------------------------------------------------------------------------- */

/*
 * Patterns for messages: which sends and receives a session traces.
 *
 *   th_trace_session_send_pattern(session, TH_AM(false));      no send at all
 *   th_trace_session_receive_pattern(session, spec);           those that match
 *
 * A pattern filters the messages that the flags let pass, before all other steps: for a message
 * that does not match, not even `enabled` is called. The head of a specification is [Receiver,
 * Message], with the receiver as the sender named it, or [Node, Sender, Message]. As in a BEAM,
 * patterns are for messages of processes, not of ports; and with a specification, not without one,
 * messages of a silent process are held back.
 *
 * No recording has the sender of a received message: Node and Sender are unknown; for live events
 * (live/live.h) the source gives them. If a specification depends on something unknown, the message
 * is counted, not delivered.
 * Source: OTP's trace:send/3 and trace:recv/3; erlang:trace_pattern/3 for `send` and `'receive'`.
 */

/*
 * Set the pattern, also in callbacks: MATCH is `true` or []: all messages, as they were recorded;
 * `false`: none; or a match specification, which also gives the session its match_spec_result.
 * Replaces the earlier pattern from the next event of each thread on.
 * Errors: TH_USAGE or TH_MALFORMED if MATCH is none of these; nothing is changed.
 */
enum th_status th_trace_session_send_pattern(struct th_session *session, th_term match);
enum th_status th_trace_session_receive_pattern(struct th_session *session, th_term match);

/* Return a copy of the pattern in ENV; `true` if none was set. */
th_term th_trace_session_send_pattern_info(const struct th_session *session, th_env *env);
th_term th_trace_session_receive_pattern_info(const struct th_session *session, th_env *env);

/* Counts of messages at patterns, sends and receives together. */
struct th_message_counts {
    uint64_t unmatched;      /* not matched: `false`, or the specification fails */
    uint64_t silenced;       /* matched, but the process is silent */
    uint64_t undecided;      /* dropped, as the specification depends on something unknown */
    uint64_t actions_unsure; /* actions skipped, as they depend on something unknown */
};

struct th_message_counts th_trace_session_message_counts(const struct th_session *session);

/* True if the session was ever given a pattern for messages other than `true`. */
bool th_trace_session_message_patterned(const struct th_session *session);

#endif
