/* Writes the data of the page as JSON, part by part. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "../kit/escape.h"
#include "report.h"

#include <inttypes.h>

/* Numbers of functions, in the order in which they were first used. */
struct names {
    struct counts numbers; /* `events` is the number */
    struct count *functions;
    size_t size;
    bool short_of_memory;
};

struct writing {
    FILE *file;
    ErlNifEnv *env;
    struct report *report;
    struct names names;
    uint64_t narrow; /* stacks that were merged into the stacks below them */
    uint64_t beyond; /* calls of functions beyond FUNCTIONS_MOST */
};

/* Writes a string. Bytes that are no UTF-8 are replaced, and no text can end the enclosing script.
 */
TRACER_LOCAL void write_text(FILE *file, const char *text, size_t size);

/* Writes a term as a string; `null` for 0. */
TRACER_LOCAL void write_term(FILE *file, ERL_NIF_TERM term);
TRACER_LOCAL void write_function(FILE *file, ERL_NIF_TERM module, ERL_NIF_TERM function,
                                 unsigned arity);

/* Writes a string; `null` for NULL. */
TRACER_LOCAL void write_string(FILE *file, const char *text);

/* Writes a time; `null` for TIME_NONE, 0 for times before 0. */
TRACER_LOCAL void write_time(FILE *file, int64_t time);

/* Writes a count; `null` if KNOWN is false. */
TRACER_LOCAL void write_count(FILE *file, uint64_t count, bool known);

/* Returns the number of a function; -1 if there is no memory. */
TRACER_LOCAL long name_number(struct names *names, const struct count *function);

TRACER_LOCAL void write_functions(struct writing *writing);
TRACER_LOCAL void write_slowest(struct writing *writing);
TRACER_LOCAL void write_requests(struct writing *writing);
TRACER_LOCAL void write_flame(struct writing *writing);
TRACER_LOCAL void write_processes(struct writing *writing);
TRACER_LOCAL void write_timeline(struct writing *writing);
TRACER_LOCAL void write_messages(struct writing *writing);
TRACER_LOCAL void write_names(struct writing *writing);

/* Returns the number of PROCESS on the page, -1 for NULL. */
static inline long process_number(const struct process *process)
{
    return process ? (long)process->number : -1;
}

#endif
