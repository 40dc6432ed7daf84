/* Words and rows that text and JSON share. */
#ifndef DIFF_WRITE_H
#define DIFF_WRITE_H

#include "../kit/line.h"
#include "../kit/table.h"
#include "diff.h"

/* Adds a call as m:f(Arguments), or m:f/1 if its arguments are unknown. */
TRACER_LOCAL void add_call_text(struct line *line, const struct side *side, uint32_t call);

/* Adds the outcome of a call: "-> Value", "! Exception", or words. */
TRACER_LOCAL void add_outcome(struct line *line, const struct side *side, uint32_t call);

/* Returns the process of a difference in side I: NULL if unknown. */
TRACER_LOCAL const char *process_of(const struct comparison *comparison,
                                    const struct difference *difference, size_t i);

/* Writes the functions as rows of DOCUMENT; with CHANGED only those that have changed. */
TRACER_LOCAL void write_functions(struct document *document, const struct comparison *comparison,
                                  bool changed, size_t most);

/* Returns whether the function has a certain change of times, or other numbers of calls or errors. */
static inline bool has_changed(const struct compared *compared)
{
    const struct figures_of_side *sides = compared->sides;

    return sides[0].calls != sides[1].calls || sides[0].errors != sides[1].errors ||
           compared->verdict > TIMES_NOISE;
}

#endif
