/*
 * The language of Erlang's shell: texts are read and evaluated, with bindings, exceptions and
 * messages of one process.
 *
 *   th_shell_parse(&program, text, size, false);
 *   th_shell_start(&e, &host, context, out);
 *   value = th_shell_evaluate_form(&e, &program, program.forms[0]);
 *   th_shell_collect(&e);
 *   th_shell_end(&e);
 *   th_shell_program_free(&program);
 *
 * A program is a text with any number of forms, each ended by a full stop. All of it is read and
 * checked before anything is evaluated. A program is not changed after that: several threads may
 * evaluate it at once. The text that was read lives as long as the program or a fun that was made
 * by evaluating it, wherever that is.
 *
 * The language asks its surroundings, calls and messages above all, by a table of functions: a
 * struct th_shell_host. Thread: one at a time has an evaluation.
 */
#ifndef TH_SHELL_H
#define TH_SHELL_H

#include "host/term/text_token.h"

#include <stdio.h>

enum { TH_EXCEPTION_TEXT = 512 /* bytes of what is shown of a term in an exception */ };

/* --- Reading --------------------------------------------------------------------------------- */

struct th_program {
    struct th_source *source;
    struct th_node **forms; /* each a block */
    size_t count, capacity;
};

/*
 * Reads all forms of SIZE bytes of UTF-8. With OPEN the last full stop may be missing.
 * TH_MALFORMED with line and column; either way th_shell_program_free() ends it.
 */
enum th_status th_shell_parse(struct th_program *program, const char *text, size_t size, bool open);
void th_shell_program_free(struct th_program *program);

/* What a text that is typed line by line has so far. */
enum th_typed {
    TH_TYPED_NOTHING, /* blanks and comments */
    TH_TYPED_PART,    /* a form that goes on */
    TH_TYPED_FORMS    /* ends in a full stop, or cannot be read whatever comes */
};
enum th_typed th_shell_typed(const char *text, size_t size);

/* --- Evaluating ------------------------------------------------------------------------------ */

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

struct th_evaluation;

/* A call of a function that is written in C. */
struct th_shell_call {
    struct th_evaluation *e;
    const char *module;
    const struct th_shell_function *function;
    const th_term *arguments;
};

struct th_shell_function {
    const char *name;
    unsigned char arity;
    bool guard;  /* a guard may call it */
    bool remote; /* is only called with its module */
    /* The result, made in the evaluation's heap; TH_NONE: an exception was raised. */
    th_term (*run)(const struct th_shell_call *call);
};

/* The functions of a module; the last one has no name. */
struct th_shell_module {
    const char *name;
    const struct th_shell_function *functions;
};

/* Raises badarg with NOTE ("argument 1: not an atom"); returns TH_NONE. */
th_term th_shell_refuse(const struct th_shell_call *call, const char *note);

struct th_shell_host {
    /* Calls a function of a library. *RESULT is in ENV: what it returned, or the reason. */
    enum th_called (*call)(void *context, th_term module, th_term function, size_t count,
                           const th_term arguments[], th_env *env, th_term *result);

    /* Waits NANOSECONDS at most for the next message; *MESSAGE is made in ENV. False: none came. */
    bool (*receive)(void *context, int64_t nanoseconds, th_env *env, th_term *message);

    /* True once the user wants all to end. */
    bool (*interrupted)(void *context);

    th_term (*self)(void *context);

    /* The stack trace of the exception that the last `call` raised, a term of its ENV; and the same
     * with files and lines, made in ENV. NULL, both: there is none. */
    th_term (*stack)(void *context);
    th_term (*located)(th_env *env, th_term stack);

    /* Functions of the host's own, modules that end with one without a name: what expressions ask
     * of processes, ports and names, erlang:send/2 above all, which is `!`, too. NULL: there are
     * none. */
    const struct th_shell_module *modules;
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

    struct th_shell_mail *mail, **mail_end; /* that no receive has taken yet */

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

/* Forgets all bindings; all messages that have come. */
void th_shell_forget(struct th_evaluation *e);
void th_shell_forget_mail(struct th_evaluation *e);

/* Where the exception comes from, as `catch` and `try` see it: a list of calls, in the heap. */
th_term th_shell_stack(struct th_evaluation *e);

/* Appends the exception as Erlang's shell prints it, with a new line at the end. */
void th_shell_print_exception(const struct th_evaluation *e, struct th_buffer *out);

#endif
