/* A run of a match specification. */
#ifndef TH_MATCH_RUN_H
#define TH_MATCH_RUN_H

#include "match_program.h"

struct th_match_run {
    const struct th_match_spec *spec;
    const struct th_match_operations *operations; /* never NULL */
    void *context;
    th_env *env;
    struct th_match_result *result;

    const th_term *arguments; /* the first `spec->arguments`, or all if there are fewer */
    size_t count;             /* of all arguments */
    bool unknown;             /* none of them is known; ARGUMENTS is NULL */
    th_term target;           /* TH_NONE: not made yet */
    /* The cells of the target, if not all of its elements are known: those are TH_NONE there, and
     * no function may look at them. Else both are NULL. */
    const th_term *partial, *partial_end;

    th_term *variables, *levels, *stack;
    th_term *top;    /* the last value on the stack */
    size_t operands; /* of the function that is being called */
    uint64_t *frames;
    size_t depth; /* of frames: inside right sides of which it is unknown if they count */
    bool body;

    bool undecided;
    size_t doubtful;                  /* the instruction that made it so */
    struct th_match_attempt *attempt; /* of the clause that is running; NULL: nobody wants it */
};

/* True for a list of which not all elements are known. */
static inline bool th_match_is_partial(const struct th_match_run *run, th_term t)
{
    return run->partial && th_is_list(t) && th_cell(t) >= run->partial &&
           th_cell(t) < run->partial_end;
}

#endif
