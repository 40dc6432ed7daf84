/*
 * Errors: a status and a chain of causes.
 *
 * A function that can fail returns `enum th_status`. The function that finds the fault starts the
 * chain with th_error_raise(); each caller that knows more may add an outer link with
 * th_error_context(). The program prints the whole chain, outermost first.
 *
 * The chain belongs to the calling thread and has a fixed size. A text that does not fit is cut. If
 * the chain is full, th_error_context() drops the link next to the first cause; the first cause
 * stays. The chain is allocated at the thread's first error and freed when the thread ends. If
 * there is no memory for the chain, the status is kept, and the only link reports the lack of
 * memory. Abort is only for bugs of the host itself, never for data from outside.
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
    TH_MALFORMED = 3, /* input that cannot be read, or has a wrong format */
    TH_PARTIAL = 4,   /* damaged input, of which a part was used */
    TH_REFUSED = 5,   /* a library was refused, or failed to load */
    TH_CRASHED = 6,   /* a tracer or plugin crashed or hung */
    TH_END = 64       /* no error: a reader has no more; never an exit status */
};

enum { TH_ERROR_LINKS = 8, TH_ERROR_TEXT = 1024 };

/* Drops the thread's chain and starts a new one. Returns STATUS, so that a function can end in
 * `return th_error_raise(...)`. */
enum th_status th_error_raise(enum th_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/* Adds an outer link to the thread's chain and returns the chain's status. */
enum th_status th_error_context(const char *format, ...)
    __attribute__((format(printf, 1, 2), cold));

/* The status of the thread's chain, TH_OK if there is none. */
enum th_status th_error_status(void);

/* Link I of the thread's chain, 0 being the outermost; NULL past the end. Valid until the thread's
 * next call of a function of this header. */
const char *th_error_link(size_t i);

/* Drops the thread's chain. */
void th_error_clear(void);

/* A copy of a chain, which is kept while the thread begins another chain, and restored later. */
struct th_error_chain {
    enum th_status status;
    size_t count;
    char links[TH_ERROR_LINKS][TH_ERROR_TEXT]; /* the first cause first */
};
void th_error_save(struct th_error_chain *chain);
void th_error_restore(const struct th_error_chain *chain);

/* Prints the chain: "PREFIX: outermost", then each cause on a line of its own, indented. */
void th_error_print(FILE *out, const char *prefix);

/* Returns the C name of an errno in lower case, such as "enoent", as Erlang spells them; "unknown"
 * if ERROR has no name. Valid for ever. Any thread. */
const char *th_base_errno_name(int error);

/* Reports a bug of the host on stderr, in one line, and aborts. */
_Noreturn void th_bug(const char *format, ...) __attribute__((format(printf, 1, 2), cold));

#endif
