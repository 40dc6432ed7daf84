/* The data of the page, as JSON: what is written of each part. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "../kit/escape.h"
#include "report.h"

#include <inttypes.h>

/* Functions by number, in the order in which they were first asked for. */
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
    uint64_t narrow; /* stacks that were merged into those below them */
    uint64_t beyond; /* calls of functions beyond FUNCTIONS_MOST */
};

/* A string. What is no UTF-8 is replaced, and nothing can end the script that it stands in. */
TRACER_LOCAL void write_text(FILE *file, const char *text, size_t size);

/* The same of a term; `null` for 0. */
TRACER_LOCAL void write_term(FILE *file, ERL_NIF_TERM term);
TRACER_LOCAL void write_function(FILE *file, ERL_NIF_TERM module, ERL_NIF_TERM function,
                                 unsigned arity);

/* NULL is `null`. */
TRACER_LOCAL void write_string(FILE *file, const char *text);

/* TIME_NONE is `null`; what is before 0 is 0. */
TRACER_LOCAL void write_time(FILE *file, int64_t time);

/* KNOWN false: `null`. */
TRACER_LOCAL void write_count(FILE *file, uint64_t count, bool known);

/* -1 if there is no memory. */
TRACER_LOCAL long name_number(struct names *names, const struct count *function);

TRACER_LOCAL void write_functions(struct writing *writing);
TRACER_LOCAL void write_slowest(struct writing *writing);
TRACER_LOCAL void write_flame(struct writing *writing);
TRACER_LOCAL void write_processes(struct writing *writing);
TRACER_LOCAL void write_timeline(struct writing *writing);
TRACER_LOCAL void write_messages(struct writing *writing);
TRACER_LOCAL void write_names(struct writing *writing);

/* The number of PROCESS on the page, -1 for NULL. */
static inline long process_number(const struct process *process)
{
    return process ? (long)process->number : -1;
}

#endif
