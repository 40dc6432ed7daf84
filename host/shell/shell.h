/*
 * Expressions evaluated: bindings, exceptions, messages of one process.
 *
 *   struct th_evaluation e;
 *   th_shell_start(&e, &host, context, out);
 *   value = th_shell_evaluate_form(&e, &program, program.forms[0]);   TH_NONE: e.exception tells
 * why th_shell_collect(&e);                          values of forms before are gone
 *   th_shell_end(&e);
 *
 * What the language needs of its surroundings is the host's to do: calls, messages. One thread at a
 * time has an evaluation.
 *
 * Values move when memory is given back, which happens whenever a fun is applied or a comprehension
 * goes on: th_shell_pause(). So whoever evaluates a part of an expression keeps what he has of
 * others on the evaluation's stack meanwhile. Patterns and guards do neither.
 */
#ifndef TH_SHELL_H
#define TH_SHELL_H

#include "expression.h"

#include "host/process/process.h"

enum {
    TH_EXPRESSION_BITS = INT32_MAX,   /* of a bit string that is built: a quarter of a gigabyte */
    TH_EXPRESSION_ELEMENTS = 1 << 24, /* of a list that a host's function makes */
    TH_EXPRESSION_WORDS = 1 << 26,    /* of all values that are in use: half a gigabyte */
    TH_EXCEPTION_TEXT = 512           /* bytes of what is shown of a term in an exception */
};

enum th_class { TH_CLASS_ERROR, TH_CLASS_EXIT, TH_CLASS_THROW };

struct th_exception {
    enum th_class class;
    th_term reason;
    th_term module;          /* of the function that raised it; TH_NONE: none did */
    th_term function;        /* its name; without a module, an operator */
    th_term arguments;       /* a list, or only their number */
    th_term stack;           /* of a function of a library, as host->stack() has it; TH_NONE */
    bool construction;       /* a bit string could not be built */
    struct th_place unbound; /* where the variable stands that has no value; line 0: no such */
    char note[TH_EXCEPTION_TEXT];
};

enum th_called {
    TH_CALLED_RETURNED,
    TH_CALLED_RAISED, /* an exception of class error */
    TH_CALLED_EXITED, /* of class exit */
    TH_CALLED_THREW,  /* of class throw */
    TH_CALLED_ENDED,  /* none was raised, but the process has ended; *RESULT is why */
    TH_CALLED_UNDEFINED
};

struct th_shell_host {
    /* Calls a function of a library. *RESULT is in ENV: what it returned, or the reason. */
    enum th_called (*call)(void *context, th_term module, th_term function, size_t count,
                           const th_term arguments[], th_env *env, th_term *result);

    /* The next message, the caller's to free; waits NANOSECONDS for it at most. NULL: none came. */
    struct th_message *(*receive)(void *context, int64_t nanoseconds);

    /* True once the user wants all to end. */
    bool (*interrupted)(void *context);

    th_term (*self)(void *context);

    /* The stack trace of the exception that the last `call` raised, a term of its ENV; and the same
     * with files and lines, made in ENV. NULL, both: there is none. */
    th_term (*stack)(void *context);
    th_term (*located)(th_env *env, th_term stack);
};

struct th_binding {
    th_term name, value;
};

struct th_evaluation {
    const struct th_shell_host *host;
    void *context;
    FILE *out;                /* for flush() and b() */
    struct th_source *source; /* of what is being evaluated */
    const char *floor;        /* where the thread's own stack may end */

    th_env heap;                  /* all values */
    size_t live;                  /* the heap's footprint when only bindings were in it */
    size_t full;                  /* the footprint with which a pause collects */
    const struct th_chunk *chunk; /* that the heap was in at the last pause */
    struct th_binding *bindings;
    size_t count, capacity;
    size_t older; /* how many of them were there before the form */
    size_t scope; /* the first one that is seen: those before are of who applied the fun */
    size_t fresh; /* the first one that variables of a pattern are compared with */

    th_term *stack; /* values that are in use, and in no variable */
    size_t stacked, stack_capacity;
    size_t tail; /* TH_TAIL_CALL: where the fun lies in it, its arguments behind */

    struct th_message *mail, **mail_end; /* that no receive has taken yet */

    struct th_exception exception; /* why the last value is TH_NONE */
    bool stopped;                  /* interrupted, or ended by q(): nothing more is evaluated */
};

void th_shell_start(struct th_evaluation *e, const struct th_shell_host *host, void *context,
                    FILE *out);
void th_shell_end(struct th_evaluation *e);

/* The value of a form of PROGRAM. TH_NONE: an exception, or `stopped`; then no variable is bound
 * that was not before. */
th_term th_shell_evaluate_form(struct th_evaluation *e, const struct th_program *program,
                               const struct th_node *form);

/* Gives back what no binding holds, if that may be worth it. */
void th_shell_collect(struct th_evaluation *e);

/* Forgets all bindings; all messages that th_shell_wait() brought. */
void th_shell_forget(struct th_evaluation *e);
void th_shell_forget_mail(struct th_evaluation *e);

/* Appends the exception as Erlang's shell prints it, with a new line at the end. */
void th_shell_print_exception(const struct th_evaluation *e, struct th_buffer *out);

/* --- For those who evaluate (expression_*.c) -------------------------------------------------- */

/* Instead of a value: the fun and its arguments that lie on the stack are to be applied. No term.
 */
#define TH_TAIL_CALL ((th_term)0x80)

/* The value of any node, TH_NONE with an exception. */
th_term th_shell_evaluate(struct th_evaluation *e, const struct th_node *node);
th_term th_shell_evaluate_bits(struct th_evaluation *e, const struct th_node *bits);
th_term th_shell_evaluate_comprehension(struct th_evaluation *e, const struct th_node *node);
th_term th_shell_evaluate_fun(struct th_evaluation *e, const struct th_node *node);
th_term th_shell_evaluate_export(struct th_evaluation *e, const struct th_node *node);

/* The same for the last part of a fun: may be TH_TAIL_CALL. */
th_term th_shell_evaluate_tail(struct th_evaluation *e, const struct th_node *node);

/* Either, for nodes that have a last part. */
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

/* What `catch` and `try` see: the reason with where it comes from. */
th_term th_shell_stack(struct th_evaluation *e);

/* A function of the host's own. TH_CALLED_UNDEFINED if there is none of that name; MODULE TH_NONE
 * stands for what may be called without one. */
enum th_called th_shell_call_own(struct th_evaluation *e, th_term module, th_term function,
                                 size_t count, const th_term arguments[], th_term *result);

/* A call without a module: commands of the shell, functions of erlang. */
th_term th_shell_evaluate_command(struct th_evaluation *e, const struct th_node *call);

/* The next message that was not taken, put behind the others; NULL: none came. */
struct th_message *th_shell_wait(struct th_evaluation *e, int64_t nanoseconds);

/* Waits; false if that was interrupted. */
bool th_shell_sleep(struct th_evaluation *e, int64_t nanoseconds);

#endif
