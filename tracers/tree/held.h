/*
 * Calls that wait to be printed, as trees: a call waits until its outermost call ends, so that its
 * duration stands in its line.
 *
 * A slot is a call, or a row of repeated calls, or a process, whose children are its outermost calls.
 * Slots have numbers; 0 is none.
 *
 * An event of its own ends a call after all its calls. A call without such an event may have ended
 * earlier: it contains the calls up to `sure`, the last one of which an event shows that it was made
 * inside. When the end of the call turns out to be unknown, held_part() moves the others behind the
 * call. They move as one list, in constant time: so of the ended calls, only the last one in a list
 * knows its parent, and depths are computed before calls are printed.
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
    struct mfa mfa;  /* module 0: a process, or a free slot */
    uint32_t parent; /* valid for an open call, and for the last call of a list */
    uint32_t first, last, before, next; /* `next` of a free slot: the next free one */
    uint32_t sure;   /* the last child that was certainly made inside of this call; 0: none */
    uint32_t loose;  /* number of calls that were added behind `sure` */
    uint32_t depth;  /* of an outermost call: set by the caller; of others: by held_measure() */
    uint32_t shape;  /* hash of the functions of an ended call's tree */
    uint32_t weight; /* see held_weigh() */
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
TRACER_LOCAL uint32_t held_add(struct forest *forest, uint32_t parent, const struct mfa *mfa);

/* Notes that an event shows NUMBER to be open: all its calls were made inside of it. Returns the weight
 * that was freed, as two of them may become a row. */
TRACER_LOCAL size_t held_is_open(struct forest *forest, uint32_t number);

/* Moves those calls of NUMBER that may have been made after its end behind NUMBER. NUMBER is open, or
 * knows its parent. Returns how many of them were not moved before. */
TRACER_LOCAL uint32_t held_part(struct forest *forest, uint32_t number);

/* Sums up NUMBER, which has ended, after all its calls. AFTER: the call behind it, before held_part().
 * With FOLD, calls that follow one another, of the same function with the same calls, become a row: the
 * first one stands for all, and the others are freed. Returns the weight that was freed. */
TRACER_LOCAL size_t held_finish(struct forest *forest, uint32_t number, uint32_t after, bool fold);

/* Computes the depths of the calls of ROOT. */
TRACER_LOCAL void held_measure(struct forest *forest, uint32_t root);

/* Drops the calls of ROOT with a depth of LIMIT or more, ROOT among them, as held_drop() does. With
 * FOLD, calls that are alike now become rows. Order: after held_measure(). */
TRACER_LOCAL size_t held_cut(struct forest *forest, uint32_t root, uint32_t limit, bool fold,
                             uint64_t *calls);

/* Returns the slot after NUMBER in the tree of ROOT, callers before the calls they made; 0: none. Adds
 * the difference of their depths to *DEPTH. */
TRACER_LOCAL uint32_t held_next(const struct forest *forest, uint32_t root, uint32_t number,
                                uint32_t *depth);

/* Frees NUMBER, which is the first of its parent only if it knows its parent, and its calls. Returns
 * their weight, and adds their number to *CALLS. */
TRACER_LOCAL size_t held_drop(struct forest *forest, uint32_t number, uint64_t *calls);

/* Returns the weight of a call with SIZE bytes of text: it stands for as much memory as so many calls
 * without text. */
static inline uint32_t held_weigh(size_t size)
{
    return 1 + (uint32_t)(size / sizeof(struct held));
}

TRACER_LOCAL void held_free(struct forest *forest);

#endif
