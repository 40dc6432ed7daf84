/*
 * The language of Erlang's shell: parses texts and evaluates them, with bindings, exceptions and
 * the messages of one process.
 *
 *   th_shell_parse(&program, text, size, false);
 *   th_shell_start(&e, &host, context, out);
 *   value = th_shell_evaluate_form(&e, &program, program.forms[0]);
 *   th_shell_collect(&e);
 *   th_shell_end(&e);
 *   th_shell_program_free(&program);
 *
 * A program is a text with any number of forms, each ended by a full stop. The whole text is parsed
 * and checked before anything is evaluated. After that a program does not change: several threads
 * may evaluate the same program. The parsed text lives as long as the program and each fun made
 * from it.
 *
 * Calls and messages go to the host, a table of functions: struct th_shell_host.
 * Thread: one at a time uses an evaluation.
 */
#ifndef TH_SHELL_H
#define TH_SHELL_H

#include "host/term/text_token.h"

#include <stdio.h>

enum { TH_EXCEPTION_TEXT = 512 /* limit of a term's text in an exception, in bytes */ };

/* --- Reading --------------------------------------------------------------------------------- */

struct th_program {
    struct th_source *source;
    struct th_node **forms; /* each is a block */
    size_t count, capacity;
};

/*
 * Parses all forms of SIZE bytes of UTF-8. OPEN: the last full stop may be missing.
 * Owner: th_shell_program_free(), whatever the status.
 * Errors: TH_MALFORMED with line and column.
 */
enum th_status th_shell_parse(struct th_program *program, const char *text, size_t size, bool open);
void th_shell_program_free(struct th_program *program);

/* State of a text that is typed line by line. */
enum th_typed {
    TH_TYPED_NOTHING, /* blanks and comments */
    TH_TYPED_PART,    /* an incomplete form */
    TH_TYPED_FORMS    /* ends with a full stop, or can never be parsed */
};
enum th_typed th_shell_typed(const char *text, size_t size);

/* --- Evaluating ------------------------------------------------------------------------------ */

enum th_class { TH_CLASS_ERROR, TH_CLASS_EXIT, TH_CLASS_THROW };

struct th_exception {
    enum th_class class;
    th_term reason;
    th_term module;          /* of the function that raised; TH_NONE: none */
    th_term function;        /* its name; without a module, an operator */
    th_term arguments;       /* a list, or only their number */
    th_term stack;           /* of a library's function: host->stack(); TH_NONE: none */
    bool construction;       /* a bit string could not be built */
    struct th_place unbound; /* place of a variable without a value; line 0: none */
    char note[TH_EXCEPTION_TEXT];
};

enum th_called {
    TH_CALLED_RETURNED,
    TH_CALLED_RAISED, /* an exception of class error */
    TH_CALLED_EXITED, /* of class exit */
    TH_CALLED_THREW,  /* of class throw */
    TH_CALLED_ENDED,  /* no exception, but the process has ended; *RESULT is the reason */
    TH_CALLED_UNDEFINED
};

struct th_evaluation;

/* A call of a function that is implemented in C. */
struct th_shell_call {
    struct th_evaluation *e;
    const char *module;
    const struct th_shell_function *function;
    const th_term *arguments;
};

struct th_shell_function {
    const char *name;
    unsigned char arity;
    bool guard;  /* allowed in guards */
    bool remote; /* callable only with its module */
    /* Returns the result, on the evaluation's heap; TH_NONE after an exception. */
    th_term (*run)(const struct th_shell_call *call);
};

/* The functions of a module; the last one has no name. */
struct th_shell_module {
    const char *name;
    const struct th_shell_function *functions;
};

/* Raises badarg with NOTE ("argument 1: not an atom"). Returns TH_NONE. */
th_term th_shell_refuse(const struct th_shell_call *call, const char *note);

struct th_shell_host {
    /* Calls a function of a library. *RESULT is made in ENV: the result, or the reason. */
    enum th_called (*call)(void *context, th_term module, th_term function, size_t count,
                           const th_term arguments[], th_env *env, th_term *result);

    /* Waits at most NANOSECONDS for the next message. *MESSAGE is made in ENV. Returns false if
     * none came. */
    bool (*receive)(void *context, int64_t nanoseconds, th_env *env, th_term *message);

    /* Returns true after the user has requested the end. */
    bool (*interrupted)(void *context);

    th_term (*self)(void *context);

    /* The stack trace of the exception that the last `call` raised, a term in its ENV; and the same
     * trace with files and lines, made in ENV. Both may be NULL: there is no trace. */
    th_term (*stack)(void *context);
    th_term (*located)(th_env *env, th_term stack);

    /* The host's own functions, for processes, ports and names; the last module has no name.
     * erlang:send/2 also implements `!`. NULL: none. */
    const struct th_shell_module *modules;
};

struct th_binding {
    th_term name, value;
};

struct th_evaluation {
    const struct th_shell_host *host;
    void *context;
    FILE *out;                /* for flush() and b() */
    struct th_source *source; /* of the form being evaluated */
    const char *floor;        /* lowest address of the C stack that evaluation may reach */

    th_env heap;                  /* holds all values */
    size_t live;                  /* the heap's footprint with only bindings in it */
    size_t full;                  /* the footprint at which a pause collects */
    const struct th_chunk *chunk; /* the heap's chunk at the last pause */
    struct th_binding *bindings;
    size_t count, capacity;
    size_t older; /* number of bindings before the form */
    size_t scope; /* first visible binding; those before belong to the caller of the fun */
    size_t fresh; /* first binding that pattern variables are compared with */

    th_term *stack; /* temporary values, in no variable */
    size_t stacked, stack_capacity;
    size_t tail; /* for TH_TAIL_CALL: index of the fun in `stack`, its arguments follow */

    struct th_shell_mail *mail, **mail_end; /* messages that no receive has taken */

    struct th_exception exception; /* the reason, if the last value is TH_NONE */
    bool stopped;                  /* interrupted, or ended by q(): evaluation must stop */
};

void th_shell_start(struct th_evaluation *e, const struct th_shell_host *host, void *context,
                    FILE *out);
void th_shell_end(struct th_evaluation *e);

/* Evaluates a form of PROGRAM. Returns TH_NONE after an exception, or if `stopped`; then the form
 * leaves no new variable bound. */
th_term th_shell_evaluate_form(struct th_evaluation *e, const struct th_program *program,
                               const struct th_node *form);

/* Frees values that no binding holds, if that is worth a copy of the bindings. */
void th_shell_collect(struct th_evaluation *e);

/* Forget all visible bindings; all messages that have come. */
void th_shell_forget(struct th_evaluation *e);
void th_shell_forget_mail(struct th_evaluation *e);

/* Returns the stack trace of the exception, as `catch` and `try` see it: a list of calls, on the
 * heap. */
th_term th_shell_stack(struct th_evaluation *e);

/* Appends the exception as Erlang's shell prints it, with a newline. */
void th_shell_print_exception(const struct th_evaluation *e, struct th_buffer *out);

#endif
