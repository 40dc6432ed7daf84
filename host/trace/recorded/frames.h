/*
 * Call frames of a process: the stack of a replayed execution, bounded.
 *
 * There are two kinds of stack in one. A *physical frame* is what the machine has: a call that has
 * not returned; a tail call takes the place of the one that makes it. A *trace frame* is what
 * somebody wants to be told of when the call ends: those pile up, also of tail calls, as a BEAM's
 * return_trace makes them. So a physical frame is one entry or several, the latest call on top:
 *
 *   foo() -> lots(), ok.  lots() -> 'of'().  'of'() -> indirections().  ...
 *
 *   foo    CALLS     a physical frame
 *   lots   CALLS     another, which returns to foo ...
 *   of     TAIL      ... whose place this call took
 *   bar    TAIL, 11 times
 *
 * Entries of calls that were replaced stand there only if somebody wants them. Equal calls in a row
 * share an entry. An entry takes 24 bytes, 4 for finding it by function, and 8 for its recorded
 * caller in a stack that has any. All take constant time (amortised; finding: expected), and
 * nothing is allocated but for growth.
 *
 * When a stack is full its oldest entry is forgotten, so that what happens now stays exact; who is
 * returned to below the oldest entry is remembered even then. One thread at a time.
 */
#ifndef TH_FRAMES_H
#define TH_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function, as whoever pushes frames numbers them: from TH_FRAME_FUNCTION_FIRST to
 * TH_FRAME_FUNCTION_LAST. */
typedef uint64_t th_frame_function;

enum {
    TH_FRAME_UNKNOWN, /* no recording tells */
    TH_FRAME_NOBODY,  /* nothing is returned to: the process ends */
    TH_FRAME_FUNCTION_FIRST
};
#define TH_FRAME_FUNCTION_LAST (((th_frame_function)1 << 49) - 1)

enum th_frame_link {
    TH_FRAME_CALLS,   /* begins a physical frame, which returns to what is below it */
    TH_FRAME_UNCLEAR, /* begins one, but what is below it need not be what called it */
    TH_FRAME_TAIL,    /* took the place of the call below it */
    TH_FRAME_SAME     /* is the same call as the one below it, wanted by somebody else */
};

enum { TH_FRAME_BEGIN_MAX = (1 << 30) - 1 };
enum { TH_FRAME_TIMES_MAX = (1 << 12) - 1 };

struct th_frame {
    uint64_t function : 49;
    uint64_t link : 2;
    uint64_t replaced : 1; /* something of the same physical frame stands on it: not to be found */
    uint64_t times : 12;   /* as many equal calls */
    uint32_t begin : 30;   /* so many entries below, the physical frame begins */
    uint32_t doubt : 2;    /* enum th_frame_doubt: of the entry that begins a physical frame */
    uint32_t previous;     /* the slot of one below that may hash alike: see frames.c */
    uint64_t word;         /* of whoever wants to be told; 0: nobody */
};

/* What all stacks of a world share. */
struct th_frames_bounds {
    uint32_t each;      /* entries a stack; at least 2 */
    uint64_t all;       /* entries of all stacks for which there is memory; a stack has 8 anyhow */
    uint64_t slots;     /* of them, those that there is memory for now */
    uint64_t forgotten; /* calls that had to go */
    uint64_t not_kept;  /* of them, those that somebody wanted */
};

/* Start it as {0}. */
struct th_frames {
    struct th_frame *slots;      /* a ring */
    uint32_t *heads;             /* for each hash the slot of the newest entry; in the same block */
    th_frame_function *recorded; /* for each slot the caller that was recorded, wherever it is on
                                    the stack; NULL: none was */
    uint32_t capacity;           /* a power of two, or 0 */
    uint32_t bottom;             /* the oldest entry's slot */
    uint32_t count;              /* of entries */
    th_frame_function below;     /* what the oldest physical frame returns to */
    uint64_t forgotten;          /* calls that had to go since the stack was cleared */
};

/* Entries by their offset from the oldest, 0. */
static inline struct th_frame *th_recorded_frames_at(const struct th_frames *frames,
                                                     uint32_t offset)
{
    return &frames->slots[(frames->bottom + offset) & (frames->capacity - 1)];
}

/* The newest; NULL if there is none. */
static inline struct th_frame *th_recorded_frames_top(const struct th_frames *frames)
{
    return frames->count ? th_recorded_frames_at(frames, frames->count - 1) : NULL;
}

/* Pushes a call that was recorded with the caller RECORDED, or TH_FRAME_UNKNOWN. On an empty stack
 * it returns to `below`, which whoever begins a physical frame there has set; TAIL and SAME go on
 * with one of which all else is forgotten or taken out. */
void th_recorded_frames_push(struct th_frames *frames, struct th_frames_bounds *bounds,
                             th_frame_function function, enum th_frame_link link, uint64_t word,
                             th_frame_function recorded);

/* Takes the topmost call out, of those that the newest entry stands for; or that entry, whatever
 * it stands for. A call on which another one of its frame stood is not found again: it is taken
 * out, too, or something is put on it. */
void th_recorded_frames_pop_call(struct th_frames *frames, struct th_frames_bounds *bounds);
void th_recorded_frames_pop(struct th_frames *frames, struct th_frames_bounds *bounds);

/* Where the physical frame begins that the entry at OFFSET belongs to. */
static inline uint32_t th_recorded_frames_begin_of(const struct th_frames *frames, uint32_t offset)
{
    uint32_t distance = th_recorded_frames_at(frames, offset)->begin;

    return distance <= offset ? offset - distance : 0;
}

/* Where the topmost physical frame begins. There is one. */
static inline uint32_t th_recorded_frames_begin(const struct th_frames *frames)
{
    return th_recorded_frames_begin_of(frames, frames->count - 1);
}

/* What the topmost physical frame returns to. There is one. */
th_frame_function th_recorded_frames_caller(const struct th_frames *frames);

/* What the topmost physical frame returns to, what that one returns to, and so on: at most MOST of
 * them into CALLERS. Ends early only with what is unknown or nobody. Returns how many. There is one
 * frame. */
size_t th_recorded_frames_callers(const struct th_frames *frames, th_frame_function callers[],
                                  size_t most);

/* The topmost physical frame whose latest call, the one that executes, is of FUNCTION, among the
 * entries below the offset BELOW: the offset of that call's entry. TH_FRAMES_NONE if there is none.
 */
#define TH_FRAMES_NONE UINT32_MAX
uint32_t th_recorded_frames_find_below(const struct th_frames *frames, th_frame_function function,
                                       uint32_t below);

/* The same among all entries. */
static inline uint32_t th_recorded_frames_find(const struct th_frames *frames,
                                               th_frame_function function)
{
    return th_recorded_frames_find_below(frames, function, UINT32_MAX);
}

/* How many calls there are that somebody wants. Looks at each entry. */
uint64_t th_recorded_frames_wanted(const struct th_frames *frames);

/* Forgets all, gives the memory back and leaves {0}. */
void th_recorded_frames_clear(struct th_frames *frames, struct th_frames_bounds *bounds);

#endif
