/*
 * What evaluates trees.
 *
 * Values move when memory is given back, which happens whenever a fun is applied or a comprehension
 * goes on: th_shell_pause(). So whoever evaluates a part of an expression keeps what he has of
 * others on the evaluation's stack meanwhile. Patterns and guards do neither.
 */
#ifndef TH_SHELL_INTERNAL_H
#define TH_SHELL_INTERNAL_H

#include "expression.h"

enum {
    TH_EXPRESSION_BITS = INT32_MAX,   /* of a bit string that is built: a quarter of a gigabyte */
    TH_EXPRESSION_ELEMENTS = 1 << 24, /* of a list that a host's function makes */
    TH_EXPRESSION_WORDS = 1 << 26     /* of all values that are in use: half a gigabyte */
};

/* Instead of a value: the fun and its arguments that lie on the stack are to be applied. No term.
 */
#define TH_TAIL_CALL ((th_term)0x80)

static inline th_term th_shell_boolean(bool b)
{
    return b ? TH_AM(true) : TH_AM(false);
}

static inline bool th_shell_is_boolean(th_term t)
{
    return t == TH_AM(true) || t == TH_AM(false);
}

/* The value of any node, TH_NONE with an exception. */
th_term th_shell_evaluate(struct th_evaluation *e, const struct th_node *node);
th_term th_shell_evaluate_bits(struct th_evaluation *e, const struct th_node *bits);
th_term th_shell_evaluate_comprehension(struct th_evaluation *e, const struct th_node *node);
th_term th_shell_evaluate_fun(struct th_evaluation *e, const struct th_node *node);
th_term th_shell_evaluate_export(struct th_evaluation *e, const struct th_node *node);

/* The same; with TAIL, for the last part of a fun, it may be TH_TAIL_CALL. */
th_term th_shell_evaluate_part(struct th_evaluation *e, const struct th_node *node, bool tail);
th_term th_shell_evaluate_block(struct th_evaluation *e, const struct th_node *block, bool tail);
th_term th_shell_evaluate_operator(struct th_evaluation *e, const struct th_node *node, bool tail);
th_term th_shell_evaluate_receive(struct th_evaluation *e, const struct th_node *node, bool tail);

/* Pushes the values of COUNT nodes, the first one at *FIRST; false with an exception. Who takes
 * them off sets `stacked` back; who raises an exception need not. */
bool th_shell_evaluate_all(struct th_evaluation *e, struct th_node *const nodes[], size_t count,
                           size_t *first);
void th_shell_push(struct th_evaluation *e, th_term t);

/* Applies the fun on the stack at FIRST to what lies behind it; takes all that off. */
th_term th_shell_apply(struct th_evaluation *e, size_t first);

/* Calls a function of a library, or else of the host. */
th_term th_shell_call_function(struct th_evaluation *e, th_term module, th_term function,
                               const th_term arguments[], size_t count);

/* Where an evaluation stands: whoever handles an exception goes back to it. */
struct th_standing {
    struct th_source *source;
    size_t count, scope, fresh, stacked;
};
struct th_standing th_shell_standing(const struct th_evaluation *e);
void th_shell_unwind(struct th_evaluation *e, const struct th_standing *standing);

/* True if nothing more is to be evaluated, as the user wants, too. */
bool th_shell_interrupted(struct th_evaluation *e);

/* Gives back memory if that may be worth it. False: the user wants all to end, or an exception, as
 * there is too much. */
bool th_shell_pause(struct th_evaluation *e);

/* The clause among those of NODE from FIRST on that T (TH_NONE: nothing) matches and whose guard
 * holds, its variables bound; NULL, nothing bound. */
const struct th_node *th_shell_match_clauses(struct th_evaluation *e, const struct th_node *node,
                                             size_t first, th_term t);

/* Matches T, whose variables are bound in part if it fails. */
bool th_shell_match(struct th_evaluation *e, const struct th_node *pattern, th_term t);
bool th_shell_match_bits(struct th_evaluation *e, const struct th_node *bits, th_term t);

/* Matches the bits from *AT on, which moves behind them also if their values are others. */
enum th_taken { TH_TAKEN_MATCHED, TH_TAKEN_OTHER, TH_TAKEN_NOT /* too few are left */ };
enum th_taken th_shell_match_next_bits(struct th_evaluation *e, const struct th_node *bits,
                                       th_term t, size_t *at);

/* The specification of a segment now that its size has VALUE; false if that is no size. */
bool th_shell_segment_spec(const struct th_node *segment, th_term value, struct th_spec *spec);

th_term th_shell_make_bits(th_env *env, const void *data, size_t bits);

/* The binding of NAME that is seen, NULL if there is none. */
struct th_binding *th_shell_find_binding(struct th_evaluation *e, th_term name);
void th_shell_bind(struct th_evaluation *e, th_term name, th_term value);

extern const char *const th_shell_classes[]; /* names of enum th_class */

/* Raise an exception; return TH_NONE. */
th_term th_shell_raise(struct th_evaluation *e, enum th_class class, th_term reason);
th_term th_shell_raise_pair(struct th_evaluation *e, const char *tag,
                            th_term value); /* {Tag, Value} */
th_term th_shell_raise_from(struct th_evaluation *e, th_term reason, th_term module,
                            th_term function, const th_term arguments[], size_t count);

th_term th_shell_raise_limit(struct th_evaluation *e, const char *note); /* system_limit */
th_term th_shell_raise_unbound(struct th_evaluation *e, const struct th_node *variable);

/* Adds a line of explanation to the exception. */
void th_shell_add_note(struct th_evaluation *e, const char *note);

/* A function of the host's own. TH_CALLED_UNDEFINED if there is none of that name; MODULE TH_NONE
 * stands for what may be called without one. */
enum th_called th_shell_call_own(struct th_evaluation *e, th_term module, th_term function,
                                 size_t count, const th_term arguments[], th_term *result);

/* A call without a module: commands of the shell, functions of erlang. */
th_term th_shell_evaluate_command(struct th_evaluation *e, const struct th_node *call);

/* A message that no receive has taken yet. */
struct th_shell_mail {
    struct th_shell_mail *next;
    th_term term;
    th_env env; /* holds the term */
};

/* Waits for the next message, which is put behind the others; false: none came. */
bool th_shell_wait(struct th_evaluation *e, int64_t nanoseconds);

/* Frees the message at *PLACE, which leaves the others. */
void th_shell_drop_mail(struct th_evaluation *e, struct th_shell_mail **place);

/* The nanoseconds of a time in milliseconds, below 0 for infinity; false with an exception. */
bool th_shell_get_time(struct th_evaluation *e, th_term t, int64_t *nanoseconds);

/* Waits; false if that was interrupted. */
bool th_shell_sleep(struct th_evaluation *e, int64_t nanoseconds);

/* Functions that the language has of itself: those of erlang, lists, ... that a session with a
 * library needs. */
extern const struct th_shell_function th_shell_functions_of_erlang[], th_shell_functions_of_lists[],
    th_shell_functions_of_binary[], th_shell_functions_of_timer[];

#endif
