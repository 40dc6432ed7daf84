/*
 * Match specifications: small programs, written as terms, that decide which calls and messages are
 * traced, and what the trace says of them.
 *
 *   th_match_compile(TH_MATCH_CALL, term, NULL, &spec);
 *   th_match_run(spec, &subject, &surroundings, env, &result);        for each call
 *   th_match_free(spec);
 *
 * The language is that of OTP 27 and its newest names ("Match Specifications in Erlang" in the ERTS
 * user's guide): match_function.c has the table of its functions and where each is allowed.
 *
 * A compiled specification never changes: any number of threads may run it at once, each with an
 * environment of its own. Nothing is allocated by a run but the terms that it builds, in ENV. An
 * instruction is run once at most, as there are no loops; what one costs is bounded by the size of
 * the terms that it is given, and for integers by TH_NUMBER_LIMBS. A specification that would need
 * more than TH_MATCH_SLOTS words while it runs, or is nested more than TH_MATCH_DEPTH deep, is
 * refused.
 *
 * What is not known is not guessed. An argument, an answer of the surroundings, and what is
 * computed from them, can be unknown; a clause whose head or guards depend on it is undecided,
 * unless another part of it fails for sure. `and`, `or`, `andalso`, `orelse` and `not` have three
 * values where all that may be their operands are truth values. The first clause that is not sure
 * to fail decides: if it is undecided, so is the whole.
 */
#ifndef TH_MATCH_H
#define TH_MATCH_H

#include "host/base/buffer.h"
#include "host/term/env.h"

enum { TH_MATCH_SLOTS = 8192, TH_MATCH_DEPTH = 255, TH_MATCH_FAULTS = 100 };

enum th_match_kind { TH_MATCH_CALL, TH_MATCH_SEND, TH_MATCH_RECEIVE };

/* --- Compiling -------------------------------------------------------------------------------- */

struct th_match_spec;

enum th_match_part { TH_MATCH_WHOLE, TH_MATCH_HEAD, TH_MATCH_GUARD, TH_MATCH_BODY };

/* Where in a specification. */
struct th_match_place {
    size_t clause; /* from 1; 0: none of them */
    enum th_match_part part;
    size_t item; /* of the head's elements, the guards, the body's expressions, from 1; 0: none */
};

/* A fault of a specification: what erlang:match_spec_test/3 says of it, and the part of the
 * specification that it is about, as Erlang text, cut where it is long; NULL if it is the whole. */
struct th_match_fault {
    struct th_match_place place;
    char *text;
    char *term;
    char *shown; /* `term` as people are shown it */
};

struct th_match_faults {
    struct th_match_fault *items;
    size_t count, capacity;
};

/*
 * Compiles SPECIFICATION, a list of clauses; the result has a copy of it. TH_MALFORMED, the chain
 * telling the first fault and its place. FAULTS, which may be NULL and else must be empty, gets the
 * faults of the first clause that has one, as in a BEAM, up to TH_MATCH_FAULTS; the caller frees
 * them in either case.
 */
enum th_status th_match_compile(enum th_match_kind kind, th_term specification,
                                struct th_match_faults *faults, struct th_match_spec **spec);
void th_match_faults_free(struct th_match_faults *faults);

/* NULL is allowed. No thread may be running it, and no term that it gave be in use. */
void th_match_free(struct th_match_spec *spec);

/* The specification as it was given; valid as long as SPEC. */
th_term th_match_source(const struct th_match_spec *spec);

/* How many clauses there are. */
size_t th_match_clause_count(const struct th_match_spec *spec);

/* The part of the specification that PLACE names; TH_NONE if there is none such. */
th_term th_match_part(const struct th_match_spec *spec, struct th_match_place place);

/* Appends "clause 2, guard 1". */
void th_match_print_place(struct th_buffer *out, struct th_match_place place);

/*
 * The specifications that dbg knows by name: x (exception_trace), c (caller_trace), cx
 * (caller_exception_trace); and r (return_trace), which it lacks. Built in ENV; TH_NONE if NAME is
 * none of them.
 */
th_term th_match_short(th_env *env, const char *name);

/* --- Running ---------------------------------------------------------------------------------- */

/*
 * What is matched: the arguments of a call; [Receiver, Message] of a send; [Node, Sender, Message]
 * of a receive. Either as a list in TARGET (proper; ARGUMENTS and COUNT are not looked at), or, if
 * that is TH_NONE, as COUNT ARGUMENTS of which those that are TH_NONE are unknown; ARGUMENTS may be
 * NULL if all are.
 */
struct th_match_subject {
    th_term target;
    const th_term *arguments;
    size_t count;
};

/* What functions of a specification give for what Erlang raises as an exception. No term. */
#define TH_MATCH_RAISED ((th_term)0xC0)

struct th_mfa;

/*
 * What a specification asks of its surroundings. A function that is NULL cannot tell; so says one
 * that returns TH_NONE. They may build terms in ENV. Those that act are only called for sure: an
 * action that depends on something unknown is left out, and counted (th_match_result.unsure).
 */
struct th_match_operations {
    th_term (*self)(void *context); /* the tracee */
    th_term (*node)(void *context); /* the name of its node */

    /* {M, F, Arity}; {M, F, Arity, {File, Line}}; a stack trace of at most DEPTH frames. */
    th_term (*caller)(void *context, th_env *env);
    th_term (*caller_line)(void *context, th_env *env);
    th_term (*stack)(void *context, th_env *env, size_t depth);

    /* No specification asks this: whether the call of FUNCTION with ARGUMENTS, which is told as a
     * local one since it was met in the function's code, comes from outside. */
    bool (*is_external)(void *context, const struct th_mfa *function, const th_term *arguments);

    /* Sequential trace tokens. set_seq_token: the former value, or TH_MATCH_RAISED. */
    th_term (*is_seq_trace)(void *context);
    th_term (*get_seq_token)(void *context, th_env *env);
    th_term (*set_seq_token)(void *context, th_env *env, th_term component, th_term value);

    /* The trace control word. set_tcw gives the former one. */
    th_term (*get_tcw)(void *context, th_env *env);
    th_term (*set_tcw)(void *context, th_env *env, uint32_t value);

    th_term (*process_dump)(void *context, th_env *env); /* a binary */
    void (*display)(void *context, th_term term);

    /* Clears and then sets flags, which are lists as for trace:process/4, of TRACEE, a pid or
     * registered name, or TH_NONE, which is the tracee itself. Tells if that changed any, or
     * TH_MATCH_RAISED where the flags or the tracee make no sense. */
    th_term (*set_flags)(void *context, th_term tracee, th_term clear, th_term set);

    /* The flag `silent` of the tracee. */
    void (*silence)(void *context, bool silent);
    th_term (*is_silent)(void *context);
};

/* CONTEXT is handed to each operation. OPERATIONS may be NULL. */
struct th_match_surroundings {
    const struct th_match_operations *operations;
    void *context;
};

enum th_match_end { TH_MATCH_NO, TH_MATCH_YES, TH_MATCH_UNKNOWN };

struct th_match_result {
    enum th_match_end end;
    size_t clause; /* that matched, or is undecided, from 1; 0: all have failed */

    /* The rest is of a match. The message: `true`, nothing is added to the trace message; `false`,
     * there is to be none; another term, the match_spec_result; TH_NONE, it depends on something
     * unknown. It is made of terms of the subject, of the specification, and of ENV. */
    th_term message;
    bool return_trace, exception_trace;
    unsigned callers_unknown; /* how many times a caller was asked for that is not known */
    unsigned unsure;          /* actions left out, as something that they depend on is unknown */
};

/* How a clause came out. */
struct th_match_attempt {
    enum th_match_end end;
    struct th_match_place place; /* what failed; or what was first unknown */
    th_term value; /* of a guard that failed: what it gave, TH_MATCH_RAISED for an exception */
};

/* What a run for COUNT ARGUMENTS, all of them known, would give, whatever the surroundings; NULL:
 * that takes a run. Lives as long as SPEC. A few nanoseconds. */
const struct th_match_result *th_match_quickly(const struct th_match_spec *spec,
                                               const th_term arguments[], size_t count);

void th_match_run(const struct th_match_spec *spec, const struct th_match_subject *subject,
                  const struct th_match_surroundings *surroundings, th_env *env,
                  struct th_match_result *result);

/* The same, and tells of each clause that was tried in ATTEMPTS, which has room for all. Returns
 * how many were. */
size_t th_match_explain(const struct th_match_spec *spec, const struct th_match_subject *subject,
                        const struct th_match_surroundings *surroundings, th_env *env,
                        struct th_match_result *result, struct th_match_attempt *attempts);

/* --- Reports: how a match specification came out, as text ------------------------------------- */

struct th_match_report {
    const struct th_match_spec *spec;
    struct th_match_subject subject;
    struct th_match_result result;
    const struct th_match_attempt *attempts;
    size_t count;                   /* of attempts */
    const struct th_buffer *doings; /* what actions did, a line each */
};

/* Appends lines: first what erlang:match_spec_test/3 gives, `_` being an unknown message, or
 * `unknown`; then what became of each clause, what actions did, and what was not known. */
void th_match_print_report(struct th_buffer *out, const struct th_match_report *report);

/* --- Trials ----------------------------------------------------------------------------------- */

/* The surroundings of a match specification that is only tried: what is said of them; actions are
 * written down instead of taken. */
struct th_match_trial {
    th_term self, caller; /* TH_NONE: not known */
    struct th_buffer doings;
    bool for_people; /* their terms are text in the encoding that was chosen */
};

extern const struct th_match_operations th_match_trial_operations;

#endif
