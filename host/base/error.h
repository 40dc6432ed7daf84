/*
 * Errors: a status and a chain of causes.
 *
 * A function that can fail returns `enum th_status`. Whoever finds the fault starts the chain with
 * th_error_raise(); each caller that knows more may put its own view on top with
 * th_error_context(). The program prints the whole chain, outermost first.
 *
 * The chain belongs to the calling thread and has a fixed size: texts that do not fit are cut, and
 * links beyond TH_ERROR_LINKS are dropped from the middle outwards (the first cause is always
 * kept). It is allocated at the thread's first error and freed at its end. If there is no memory
 * for it, the status is kept, and the one link says that there is no memory. Abort is only for bugs
 * of the host itself, never for data from outside.
 */
#ifndef TH_ERROR_H
#define TH_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The exit status of the program; see also TH_SIGNALLED in cli/. */
enum th_status {
    TH_OK = 0,
    TH_FAILED = 1,    /* the work was tried and failed */
    TH_USAGE = 2,     /* the command line makes no sense */
    TH_MALFORMED = 3, /* input that cannot be read, or is not what it should be */
    TH_PARTIAL = 4,   /* input damaged: a part of it was used */
    TH_REFUSED = 5,   /* a library was refused, or failed to load */
    TH_CRASHED = 6,   /* a tracer or plugin crashed or hung */
    TH_END = 64       /* no error: a reader has no more; never an exit status */
};

enum { TH_ERROR_LINKS = 8, TH_ERROR_TEXT = 1024 };

/* Forgets the thread's chain and starts a new one. Returns STATUS, so that a function can end in
 * `return th_error_raise(...)`. */
enum th_status th_error_raise(enum th_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Puts an outer view on top of the thread's chain and returns the chain's status. */
enum th_status th_error_context(const char *format, ...)
    __attribute__((format(printf, 1, 2), cold));

/* The status of the thread's chain, TH_OK if there is none. */
enum th_status th_error_status(void);

/* Link I of the thread's chain, 0 being the outermost; NULL past its end. Valid until the thread's
 * next call of a function of this header. */
const char *th_error_link(size_t i);

/* Forgets the thread's chain. */
void th_error_clear(void);

/* A chain that is kept while another begins, and is the thread's again. */
struct th_error_chain {
    enum th_status status;
    size_t count;
    char links[TH_ERROR_LINKS][TH_ERROR_TEXT]; /* the first cause first */
};
void th_error_save(struct th_error_chain *chain);
void th_error_restore(const struct th_error_chain *chain);

/* Prints the chain: "PREFIX: outermost", then each cause on a line of its own, indented. */
void th_error_print(FILE *out, const char *prefix);

/* The C name of an errno in lower case, "enoent", as Erlang has them; "unknown" for what is none.
 * Valid for ever. Any thread. */
const char *th_base_errno_name(int error);

/* Says on stderr, in one line, that the host itself is wrong, and aborts. */
_Noreturn void th_bug(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

#endif
