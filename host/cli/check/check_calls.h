/*
 * Lists of calls, with which `tracehost check` tries a NIF library: Erlang expressions, a line each.
 *
 * A line is "m:f(ARGUMENTS)", or "V1 = m:f(ARGUMENTS)" if later lines use the result. Arguments are
 * kept as Erlang text in which an atom '=TEXT' stands for the expression TEXT: the text can be parsed
 * as terms, and the terms can be made smaller.
 */
#ifndef TH_CHECK_CALLS_H
#define TH_CHECK_CALLS_H

#include "host/base/buffer.h"
#include "host/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct th_check_call_line {
    char *call;      /* "V1 = m:f"; the whole expression if `arguments` is NULL */
    char *arguments; /* "1,[],'=V1'"; NULL: of a line that was read from a file */
    size_t function; /* index in the library's table; SIZE_MAX: not known */
};

struct th_check_calls {
    struct th_check_call_line *items;
    size_t count, capacity;
};

/* Adds a line. The texts are copied. */
void th_check_calls_add(struct th_check_calls *calls, size_t function, const char *call,
                        const char *arguments);

/* Adds the lines of OTHER whose numbers, COUNT of them, are at UNITS; NULL: all lines. */
void th_check_calls_copy(struct th_check_calls *calls, const struct th_check_calls *other,
                         const size_t units[], size_t count);

void th_check_calls_free(struct th_check_calls *calls);

/* Appends CALLS as expressions, a line each, with full stops; one line without a full stop. */
void th_check_calls_print(const struct th_check_calls *calls, struct th_buffer *out);
void th_check_call_line_print(const struct th_check_call_line *line, struct th_buffer *out);

/* Adds the lines of the file NAME, each of which must be an expression with a full stop. Comments and
 * empty lines are left out.
 * Errors: TH_MALFORMED if the file cannot be read, or if a line is no expression. */
enum th_status th_check_calls_read(struct th_check_calls *calls, const char *name);

#endif
