/*
 * diff: compares the calls of two recordings.
 *
 * 1. Sides. A side is one recording. A replay gathers one side and writes it to the file `keep`. The
 *    replay of the other side names this file as `before`, and writes the comparison at its end. So
 *    each side is gathered in a world of its own: pids and registered names of one never meet those
 *    of the other, and only one side is gathered at a time. The file has no pointers, and no words of
 *    terms; it is mapped, not read, and belongs to one build of tracehost.
 * 2. Calls. A side has a record for each call: its caller among the open calls, its
 *    function, hashes of arguments and outcome, times. kit/calls.h finds ends and nesting: a
 *    caller is an open call that is not doubted; a call whose end is not exactly known has
 *    no outcome and no times. If one of the sides has no ends at all, nesting is unknown:
 *    the calls of a process are then compared as one sequence, on both sides.
 * 3. Identifiers. A hash does not depend on pids, ports and references. Pids are kept beside, each
 *    with its process and its position in the term; after processes are matched, two pids are equal
 *    if their processes are a pair, or if both have no partner. Ports and references are all equal.
 * 4. Texts. Arguments and outcomes are shown, so each text is kept once, cut to TEXT_MOST bytes.
 *    When TEXTS_MOST bytes are full, further texts are missing, and counted; hashes are complete.
 *    A recording is therefore played once, and may come from a pipe.
 * 5. Processes are matched from the oldest ancestors down: first by registered name; then those whose
 *    parents are a pair and which have the same first functions; then without the first call; then
 *    without the parent. Of several such processes those with equal calls and equal mentions of
 *    their pids are a pair, then those with equal calls, then the others, in the order in which
 *    they were started.
 * 6. Trees. A call's hash covers all that it calls. Pairs with equal hashes are skipped. The lists of
 *    calls of an unequal pair are aligned in one pass: after an inequality, the nearest equal calls
 *    within WINDOW continue the pass. The time is linear, except for a factor that WINDOW bounds.
 * 7. Times. The calls of each function are tested by the U test of Mann and Whitney: their own times,
 *    and their times with the calls that they make, with Holm's correction for the number of all
 *    tests. A change is certain if it is significant by ALPHA and
 *    has at least the effects LEAST_DELTA and LEAST_CHANGE.
 *
 *    A single call proves nothing: the slowest calls are compared, too, but named uncertain.
 *
 * Memory: 56 bytes for a call, 48 for a process, 16 for a pid in a term, the texts, and 40 bytes for
 * each call during the comparison; the limits below bound them. Beyond a limit calls are counted.
 */
#ifndef DIFF_DIFF_H
#define DIFF_DIFF_H

#include "../kit/local.h"
#include "../kit/loss.h"

#include <erl_nif.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    CALLS_MOST = 1 << 21,
    PROCESSES_MOST = 1 << 20,
    FUNCTIONS_MOST = 1 << 16,
    IDENTIFIERS_MOST = 1 << 21, /* pids in arguments and outcomes */
    TEXTS_MOST = 64 << 20,      /* bytes */
    TEXT_MOST = 240,            /* bytes of one text */
    FRAMES_MOST = 1000000,      /* open calls of a process, as in `time` */
    NESTED_MOST = 256,          /* terms inside each other whose pids are found */
    WINDOW = 32,                /* calls that an alignment looks ahead */
    SHOWN_MOST = 20,            /* differences that are kept with their places */
};

#define ALPHA 0.001       /* probability of calling any change certain that is noise */
#define LEAST_DELTA 0.33  /* Cliff's delta */
#define LEAST_CHANGE 0.10 /* part of the smaller median */

/* A slowest call is shown, without a verdict, if its own time is that many times, and that many
 * nanoseconds, more than the slowest one of the other side. */
enum { LEAST_TIMES = 3, LEAST_MORE = 10000 };

#define NO_TIME UINT64_MAX

enum end { END_UNKNOWN, END_VALUE, END_ERROR, END_RETURNED };

/* References to other records are their numbers plus 1; 0: none. Texts are offsets; 0: none. */
struct call {
    uint64_t arguments, outcome; /* hashes */
    uint64_t took, own;          /* nanoseconds, or NO_TIME */
    uint32_t parent;
    uint32_t process, function; /* numbers */
    uint32_t arguments_text, outcome_text;
    uint16_t end;       /* enum end */
    uint16_t outermost; /* no outer call of the same function was open */
};

struct party {
    uint64_t name;  /* hash of the registered name; 0: none */
    uint64_t entry; /* hash of the function with which it was started; 0: unknown */
    uint32_t parent;
    uint32_t label; /* text */
    uint32_t first; /* its first call */
    uint32_t calls;
    uint32_t order;    /* among the processes that its parent has started, from 1 on; 0: unknown */
    uint32_t children; /* number of processes that it has started */
    uint32_t unused;
};

struct function {
    uint64_t hash;
    uint32_t name; /* text: M:F/A */
    uint32_t unused;
};

/* A pid in a call's arguments or outcome. */
struct identifier {
    uint64_t position;
    uint32_t call, process; /* numbers */
    uint32_t of_outcome, unused;
};

/* Losses of a side. */
enum loss {
    LOST_CALLS,       /* beyond CALLS_MOST or PROCESSES_MOST */
    LOST_TEXTS,       /* beyond TEXTS_MOST */
    LOST_IDENTIFIERS, /* beyond IDENTIFIERS_MOST */
    LOST_NESTED,      /* terms nested too deeply, compared without looking at their pids */
    LOST_STRAYS,      /* ends without calls */
    LOST_FRAMES,      /* open calls that were forgotten */
    LOST_DOUBTS,      /* returns that end an unknown number of calls */
    LOST_CLOCKS,      /* events by another clock than the first */
    LOST_MEMORY,
    LOSSES
};

struct side {
    struct call *calls;
    struct party *parties;
    struct function *functions;
    struct identifier *identifiers;
    char *texts; /* each ends with a 0; offset 0 is an empty one */
    size_t calls_used, parties_used, functions_used, identifiers_used, texts_used;
    size_t calls_size, parties_size, functions_size, identifiers_size, texts_size;
    uint64_t lost[LOSSES];
    uint64_t told;  /* 1: an end was recorded */
    uint64_t timed; /* 1: a call has times */
    void *mapped;   /* file of which all arrays are parts; NULL: none */
    size_t mapped_size;
};

static inline uint64_t mix(uint64_t hash, uint64_t more)
{
    hash = (hash ^ more) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 32;
    hash *= 0xD6E8FEB86659FD93;
    return hash ^ hash >> 29;
}

TRACER_LOCAL uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size);

/* side.c */

/* Makes room for one more of USED elements of SIZE bytes; at most MOST. False if there is none. */
TRACER_LOCAL bool make_room(void *array, size_t used, size_t *allocated, size_t size, size_t most);

/* Adds a text; 0 if there is no room, which is counted. */
TRACER_LOCAL uint32_t side_add_text(struct side *side, const char *text, size_t size);

/* Writes SIDE. False if FILE has an error. */
TRACER_LOCAL bool side_write(const struct side *side, FILE *file);

/* Maps the file at PATH. Returns NULL, or the reason for which the file is refused. */
TRACER_LOCAL const char *side_map(struct side *side, const char *path);
TRACER_LOCAL void side_free(struct side *side);

/* --- Comparison --- */

/* A side and the places of its calls. */
struct woods {
    const struct side *side;
    uint32_t *first, *next;     /* of each call: its first callee, its next sibling */
    uint32_t *last;             /* of each call: number of the last call below it, or its own */
    uint32_t *roots;            /* of each process: its first outermost call */
    uint64_t *hashes;           /* of trees */
    uint64_t *inward, *outward; /* of each call: sums of the pids in arguments and outcome */
    uint32_t *partner;          /* of each process */
};

enum kind {
    KIND_DROPPED,
    KIND_NEW,
    KIND_ARGUMENTS,
    KIND_RESULT,
    KIND_EXCEPTION,
    KIND_ORDER,
    KINDS
};

struct difference {
    enum kind kind;
    uint32_t before, after; /* calls; 0: none */
    uint64_t place, depth;  /* ranks */
};

enum verdict {
    TIMES_UNKNOWN,
    TIMES_FEW,
    TIMES_NOISE,
    TIMES_SLOWER,
    TIMES_FASTER,
    TIMES_SLOWER_CALLEES, /* the own time has no certain change, the time with callees has */
    TIMES_FASTER_CALLEES
};

struct figures_of_side {
    uint64_t calls, errors, total, own, timed; /* timed: calls with times */
    uint64_t p50, p90, p99, max;               /* if `timed` */
};

struct compared {
    const char *name;
    uint64_t hash;
    size_t number; /* of the function in the first side */
    struct figures_of_side sides[2];
    uint32_t slowest[2]; /* of each side, the call with the most own time; 0: unknown */
    double probability;  /* the lesser one of both tests; 1 without a test */
    enum verdict verdict;
};

struct comparison {
    struct woods sides[2];
    bool flat; /* nesting is unknown */
    uint64_t counts[KINDS];
    uint64_t undecided; /* ends that only one side knows */
    struct difference shown[SHOWN_MOST];
    size_t shown_used;
    size_t unmatched[2]; /* processes with calls that have no partner */
    size_t matched;
    struct compared *functions; /* the most important first */
    size_t functions_used;
};

static inline const char *text_at(const struct side *side, uint32_t text)
{
    return side->texts_used ? side->texts + text : "";
}

/* match.c: sets the partners of both sides. False if there is no memory. */
TRACER_LOCAL bool match_processes(struct comparison *comparison);

/* trees.c: builds the woods; compares them; frees them. False if there is no memory. */
TRACER_LOCAL bool woods_build(struct comparison *comparison);
TRACER_LOCAL void woods_hash(struct woods *woods, const uint64_t *classes);
TRACER_LOCAL bool compare_trees(struct comparison *comparison);
TRACER_LOCAL void woods_free(struct woods *woods);

/* times.c: fills `functions`. False if there is no memory. */
TRACER_LOCAL bool compare_times(struct comparison *comparison);

/* Returns whether the slowest calls of a function, whose times have no certain change, differ much. */
static inline bool slowest_differ(const struct comparison *comparison,
                                  const struct compared *compared)
{
    const struct side *a = comparison->sides[0].side, *b = comparison->sides[1].side;
    uint64_t before, after, more, less;

    if (compared->verdict > TIMES_NOISE || !compared->slowest[0] || !compared->slowest[1])
        return false;
    before = a->calls[compared->slowest[0] - 1].own;
    after = b->calls[compared->slowest[1] - 1].own;
    more = before > after ? before : after;
    less = before > after ? after : before;
    return more / LEAST_TIMES >= less && more - less >= LEAST_MORE;
}

/* Returns whether any call, outcome or process differs. */
static inline bool trees_differ(const struct comparison *comparison)
{
    bool differ = comparison->unmatched[0] || comparison->unmatched[1];

    for (size_t i = 0; i < KINDS; i++)
        differ |= comparison->counts[i] > 0;
    return differ;
}

/* write.c, write_json.c */
extern TRACER_LOCAL const char *const kind_names[KINDS];
extern TRACER_LOCAL const char *const loss_names[LOSSES];
TRACER_LOCAL void write_text(FILE *file, const struct comparison *comparison, bool colour,
                             unsigned top);
TRACER_LOCAL void write_json(FILE *file, const struct comparison *comparison);

/* flames.c: writes a differential flame graph. False if there is no memory. */
TRACER_LOCAL bool write_flames(ErlNifEnv *env, FILE *file, const struct comparison *comparison);

#endif
