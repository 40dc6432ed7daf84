/*
 * Calls that wait to be printed, as trees: a call waits until its outermost call ends, so that its
 * duration stands in its line.
 *
 * A slot is a call, or a row of repeated calls, or a process, whose children are its outermost calls.
 * Slots have numbers; 0 is none.
 */
#ifndef TREE_HELD_H
#define TREE_HELD_H

#include "../kit/local.h"
#include "../kit/mfa.h"
#include "../kit/schedule.h"

#include <stddef.h>
#include <stdint.h>

enum held_end {
    HELD_OPEN,
    HELD_TOLD,   /* ended by an event of its own */
    HELD_UNTOLD, /* ended without one, or at a time that is not exactly known */
};

/* Figures of calls, in nanoseconds. Those of an unknown duration are 0. */
struct held_times {
    uint64_t took, own;
    uint64_t total; /* the part of `took` that counts in the total of `time`: not that of recursive
                       calls */
    struct spent spent, own_spent; /* parts of `took` and `own` on and off a scheduler */
};

struct held {
    struct mfa mfa;                             /* module 0: a process */
    uint32_t parent, first, last, before, next; /* `next` of a free slot: the next free one */
    uint32_t depth;                             /* of an outermost call 0 */
    uint32_t shape;                             /* hash of the functions of an ended call's tree */
    uint32_t weight;                            /* see held_weigh() */
    enum held_end end : 8;
    bool timed;    /* the duration is known */
    bool thrown;   /* ended with an exception */
    bool foldable; /* ended, and so are all its calls, without an exception */
    uint64_t calls;
    struct held_times times;
    uint64_t shortest, longest; /* durations, of the calls of a row */
    int64_t began;              /* nanoseconds, or TIME_NONE; of the first call */
    char *arguments;            /* "(1,2)"; NULL: the arity stands for them, as for several calls */
    char *outcome;              /* " -> 1", " ! error:badarg"; NULL: none */
};

/* Initialised with {0}. */
struct forest {
    struct held *slots;
    uint32_t used, size;
    uint32_t unused; /* head of the list of free slots */
};

/* Adds a call of MFA, or a process, as the last child of PARENT. Returns 0 if there is no memory.
 * Slots may move. */
TRACER_LOCAL uint32_t held_add(struct forest *forest, uint32_t parent, const struct mfa *mfa,
                               uint32_t depth);

/* Returns the slot after NUMBER in the tree of ROOT, callers before the calls they made; 0: none. */
TRACER_LOCAL uint32_t held_next(const struct forest *forest, uint32_t root, uint32_t number);

/* Sums up NUMBER, which has ended, after all its calls. With FOLD, if the call before it was one of the
 * same function with the same calls, that one becomes a row that stands for both, and NUMBER is freed.
 * Returns the weight that was freed. */
TRACER_LOCAL size_t held_finish(struct forest *forest, uint32_t number, bool fold);

/* Frees NUMBER and its calls. Returns their weight, and adds their number to *CALLS. */
TRACER_LOCAL size_t held_drop(struct forest *forest, uint32_t number, uint64_t *calls);

/* Returns the weight of a call with SIZE bytes of text: it stands for as much memory as so many calls
 * without text. */
static inline uint32_t held_weigh(size_t size)
{
    return 1 + (uint32_t)(size / sizeof(struct held));
}

TRACER_LOCAL void held_free(struct forest *forest);

#endif
