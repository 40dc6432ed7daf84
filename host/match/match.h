/*
 * Match specifications: small programs, written as terms, that decide which calls and messages are
 * traced, and with which message.
 *
 *   th_match_compile(TH_MATCH_CALL, term, NULL, &spec);
 *   th_match_run(spec, &subject, &surroundings, env, &result);        for each call
 *   th_match_free(spec);
 *
 * match_function.c has the table of functions and where each is allowed.
 *
 * A run allocates nothing but the terms that it builds, in ENV. Each instruction runs at most once,
 * as there are no loops; its cost is bounded by the size of the terms that it is given, and for
 * integers by TH_NUMBER_LIMBS. A specification whose run would need more than TH_MATCH_SLOTS words,
 * or which is nested more than TH_MATCH_DEPTH deep, is refused.
 *
 * Nothing unknown is guessed. An argument, an answer of the surroundings, and any value computed
 * from them can be unknown. A clause whose head or guards depend on an unknown value is undecided,
 * unless another part of it certainly fails. `and`, `or`, `andalso`, `orelse` and `not` have three
 * values if all their operands can only be truth values. The first clause that does not certainly
 * fail decides: if that clause is undecided, so is the specification.
 * Thread: a compiled specification never changes; any number of threads may run it, each with an
 * environment of its own.
 * Source: "Match Specifications in Erlang" in the ERTS user's guide of OTP 27, with its newest
 * names.
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

/* A place in a specification. */
struct th_match_place {
    size_t clause; /* from 1; 0: none of them */
    enum th_match_part part;
    size_t item; /* index of an element of the head, a guard, or an expression of the body, from
                    1; 0: none */
};

/* A fault of a specification: the text of erlang:match_spec_test/3, and the faulty part of the
 * specification as Erlang text, cut if it is long; NULL: the whole specification. */
struct th_match_fault {
    struct th_match_place place;
    char *text;
    char *term;
    char *shown; /* `term` in the encoding of users */
};

struct th_match_faults {
    struct th_match_fault *items;
    size_t count, capacity;
};

/*
 * Compiles SPECIFICATION, a list of clauses; the result has a copy of it.
 * Owner: FAULTS may be NULL, else it must be empty and gets the faults of the first clause that has
 * any, as in a BEAM, at most TH_MATCH_FAULTS. The caller frees FAULTS with and without an error.
 * Errors: TH_MALFORMED with the first fault and its place.
 */
enum th_status th_match_compile(enum th_match_kind kind, th_term specification,
                                struct th_match_faults *faults, struct th_match_spec **spec);
void th_match_faults_free(struct th_match_faults *faults);

/* Frees SPEC, which may be NULL. No thread may run SPEC, and none of its terms be in use. */
void th_match_free(struct th_match_spec *spec);

/* Returns the specification as it was given; valid as long as SPEC. */
th_term th_match_source(const struct th_match_spec *spec);

/* Returns whether a body has an action that changes what later events are traced, or how, such as
 * {trace,...} or {silent,true}. */
bool th_match_changes(const struct th_match_spec *spec);

/* Returns the number of clauses. */
size_t th_match_clause_count(const struct th_match_spec *spec);

/* Returns the part of the specification at PLACE; TH_NONE: there is none. */
th_term th_match_part(const struct th_match_spec *spec, struct th_match_place place);

/* Appends "clause 2, guard 1". */
void th_match_print_place(struct th_buffer *out, struct th_match_place place);

/*
 * Builds, in ENV, the match specification with the letter or name NAME: x (exception_trace), c
 * (caller_trace) and cx (caller_exception_trace), as in dbg of OTP 25, and r (return_trace), which
 * dbg lacks. TH_NONE if NAME is none of these.
 */
th_term th_match_short(th_env *env, const char *name);

/* --- Running ---------------------------------------------------------------------------------- */

/*
 * Subject of a run: the arguments of a call; [Receiver, Message] of a send; [Node, Sender, Message]
 * of a receive. Either a proper list in TARGET (ARGUMENTS and COUNT are ignored then), or, if
 * TARGET is TH_NONE, COUNT ARGUMENTS of which TH_NONE are unknown; ARGUMENTS NULL: all are unknown.
 */
struct th_match_subject {
    th_term target;
    const th_term *arguments;
    size_t count;
};

/* Result of a specification's function where Erlang raises an exception. No term. */
#define TH_MATCH_RAISED ((th_term)0xC0)

struct th_mfa;

/*
 * Surroundings of a specification. An answer is unknown if the operation is NULL or returns
 * TH_NONE. Operations may build terms in ENV. An operation that acts is called only if the action
 * is certain: an action that depends on something unknown is skipped, and counted
 * (th_match_result.unsure).
 */
struct th_match_operations {
    th_term (*self)(void *context); /* the tracee */
    th_term (*node)(void *context); /* the name of its node */

    /* {M, F, Arity}; {M, F, Arity, {File, Line}}; a stack trace of at most DEPTH frames. */
    th_term (*caller)(void *context, th_env *env);
    th_term (*caller_line)(void *context, th_env *env);
    th_term (*stack)(void *context, th_env *env, size_t depth);

    /* True if the call of FUNCTION with ARGUMENTS is external although it is reported as local, as
     * the breakpoint is in the function's code. For callbacks; no specification uses this. */
    bool (*is_external)(void *context, const struct th_mfa *function, const th_term *arguments);

    /* Sequential trace tokens. set_seq_token returns the former value, or TH_MATCH_RAISED. */
    th_term (*is_seq_trace)(void *context);
    th_term (*get_seq_token)(void *context, th_env *env);
    th_term (*set_seq_token)(void *context, th_env *env, th_term component, th_term value);

    /* The trace control word. set_tcw returns the former one. */
    th_term (*get_tcw)(void *context, th_env *env);
    th_term (*set_tcw)(void *context, th_env *env, uint32_t value);

    th_term (*process_dump)(void *context, th_env *env); /* a binary */
    void (*display)(void *context, th_term term);

    /* Clears and then sets flags, which are lists as for trace:process/4, of TRACEE: a pid, a
     * registered name, or TH_NONE for the tracee itself. Returns true if that changed any flag,
     * else false; TH_MATCH_RAISED if the flags or the tracee are invalid. */
    th_term (*set_flags)(void *context, th_term tracee, th_term clear, th_term set);

    /* The flag `silent` of the tracee. */
    void (*silence)(void *context, bool silent);
    th_term (*is_silent)(void *context);
};

/* Operations with the argument CONTEXT. OPERATIONS may be NULL. */
struct th_match_surroundings {
    const struct th_match_operations *operations;
    void *context;
};

enum th_match_end { TH_MATCH_NO, TH_MATCH_YES, TH_MATCH_UNKNOWN };

struct th_match_result {
    enum th_match_end end;
    size_t clause; /* the clause that matched or is undecided, from 1; 0: all have failed */

    /* The rest is for TH_MATCH_YES. Message: `true`: nothing is added to the trace message;
     * `false`: the call is not sent; another term: the match_spec_result; TH_NONE: depends on
     * something unknown. Consists of terms of the subject, the specification, and ENV. */
    th_term message;
    bool return_trace, exception_trace;
    unsigned callers_unknown; /* number of callers that were used but are unknown */
    unsigned unsure;          /* actions skipped, as they depend on something unknown */
};

/* Outcome of one clause. */
struct th_match_attempt {
    enum th_match_end end;
    struct th_match_place place; /* the part that failed, or was unknown first */
    th_term value;               /* value of a guard that failed, TH_MATCH_RAISED: an exception */
};

/*
 * First member of a specification, set when it is compiled, for th_match_at_once(). A clause whose
 * only guard compares an argument with a constant accepts the arguments whose words, as signed
 * integers, are FROM to FROM + SPAN, and no others of those arguments that have all bits of TAG.
 */
struct th_match_range {
    const struct th_match_result *always; /* result of all calls; NULL: they differ */
    const struct th_match_result *within; /* of the only clause, with one such guard; NULL: none */
    uint32_t argument;                    /* exists if the number of arguments is: */
    uint32_t least, more;                 /* from LEAST to LEAST + MORE */
    th_term tag;
    uint64_t from, span;
};

extern const struct th_match_result th_match_no __attribute__((visibility("hidden")));

/* Return the result for COUNT ARGUMENTS, all known, without a run; &th_match_no: no match; NULL: a
 * run is needed, or th_match_at_once() has no answer. Do not depend on surroundings. Valid as long
 * as SPEC. th_match_quickly() takes a few nanoseconds, th_match_at_once() some instructions. */
const struct th_match_result *th_match_quickly(const struct th_match_spec *spec,
                                               const th_term arguments[], size_t count);
static inline const struct th_match_result *
th_match_at_once(const struct th_match_spec *spec, const th_term arguments[], size_t count)
{
    const struct th_match_range *range = (const struct th_match_range *)spec;
    th_term t;

    if (range->always)
        return range->always;
    if (__builtin_expect(!range->within || count - range->least > range->more, 0))
        return NULL;
    t = arguments[range->argument];
    if (__builtin_expect((t & range->tag) != range->tag, 0))
        return NULL;
    return t - range->from <= range->span ? range->within : &th_match_no;
}

void th_match_run(const struct th_match_spec *spec, const struct th_match_subject *subject,
                  const struct th_match_surroundings *surroundings, th_env *env,
                  struct th_match_result *result);

/* Runs as th_match_run(), and stores the outcome of each clause that was tried in ATTEMPTS, which
 * has room for all clauses. Returns the number of tried clauses. */
size_t th_match_explain(const struct th_match_spec *spec, const struct th_match_subject *subject,
                        const struct th_match_surroundings *surroundings, th_env *env,
                        struct th_match_result *result, struct th_match_attempt *attempts);

/* --- Reports of a specification's outcome, as text -------------------------------------------- */

struct th_match_report {
    const struct th_match_spec *spec;
    struct th_match_subject subject;
    struct th_match_result result;
    const struct th_match_attempt *attempts;
    size_t count;                   /* of attempts */
    const struct th_buffer *doings; /* actions, a line each */
};

/* Appends lines: first the result as erlang:match_spec_test/3 returns it, with `_` for an unknown
 * message, or `unknown` if the result is not known; then the outcome of each clause, the actions,
 * and counts of what depends on unknown values. */
void th_match_print_report(struct th_buffer *out, const struct th_match_report *report);

/* --- Trials ----------------------------------------------------------------------------------- */

/* The context of a specification that is only tried: the answers that its functions get, and a log
 * of its actions, none of which is carried out. */
struct th_match_trial {
    th_term self, caller;    /* TH_NONE: unknown */
    struct th_buffer doings; /* one line for each action; the user frees it */
    bool for_people;         /* terms in `doings` are in the encoding of users */
};

extern const struct th_match_operations th_match_trial_operations;

#endif
