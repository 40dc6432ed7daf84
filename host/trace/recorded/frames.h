/*
 * Call frames of a process: the stack of a replayed execution, bounded.
 *
 * The stack has two kinds of frames. A *physical frame* is that of the machine: a call that has not
 * returned; a tail call takes the place of its caller. A *trace frame* is a request for the end of
 * a call: requests pile up, those of tail calls, too, as a BEAM's return_trace makes them. So a
 * physical frame is one entry or several, the latest call on top:
 *
 *   foo() -> lots(), ok.  lots() -> 'of'().  'of'() -> indirections().  ...
 *
 *   foo    CALLS     a physical frame
 *   lots   CALLS     another, which returns to foo ...
 *   of     TAIL      ... whose place this call took
 *   bar    TAIL, 11 times
 *
 * Calls that were replaced have entries only if they are wanted. Equal calls in a row share an
 * entry. An entry takes 24 bytes, 4 for finding it by function, and 8 for its recorded caller in a
 * stack that has any. All operations but th_recorded_frames_wanted() take constant time (amortised;
 * finding: expected), and only growth allocates.
 *
 * When a stack is full its oldest entry is forgotten, so that the newest calls stay exact; the
 * function to which the oldest entry returns is still known then.
 * Thread: one at a time.
 */
#ifndef TH_FRAMES_H
#define TH_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Function, as the pusher of frames numbers it: from TH_FRAME_FUNCTION_FIRST to
 * TH_FRAME_FUNCTION_LAST. */
typedef uint64_t th_frame_function;

enum {
    TH_FRAME_UNKNOWN, /* no record shows it */
    TH_FRAME_NOBODY,  /* the frame returns to no function: the process ends */
    TH_FRAME_FUNCTION_FIRST
};
#define TH_FRAME_FUNCTION_LAST (((th_frame_function)1 << 49) - 1)

enum th_frame_link {
    TH_FRAME_CALLS,   /* begins a physical frame, which returns to the one below */
    TH_FRAME_UNCLEAR, /* begins one; the entry below need not be its caller */
    TH_FRAME_TAIL,    /* took the place of the call below */
    TH_FRAME_SAME     /* the same call as the one below, with another request */
};

enum { TH_FRAME_BEGIN_MAX = (1 << 30) - 1 };
enum { TH_FRAME_TIMES_MAX = (1 << 12) - 1 };

struct th_frame {
    uint64_t function : 49;
    uint64_t link : 2;
    uint64_t replaced : 1; /* an entry of the same physical frame stands on it: find skips it */
    uint64_t times : 12;   /* number of equal calls */
    uint32_t begin : 30;   /* distance, in entries, to the first entry of the physical frame */
    uint32_t doubt : 2;    /* enum th_frame_doubt: of the first entry of a physical frame */
    uint32_t previous;     /* slot of a lower entry that may hash alike: see frames.c */
    uint64_t word;         /* the requester's own; 0: no request */
};

/* Bounds that all stacks of a world share. */
struct th_frames_bounds {
    uint32_t each;      /* entries a stack; at least 2 */
    uint64_t all;       /* entries of all stacks; each stack has memory for 8 in any case */
    uint64_t slots;     /* entries for which there is memory now */
    uint64_t forgotten; /* number of calls that were forgotten */
    uint64_t not_kept;  /* those of them that were wanted */
};

/* Start it as {0}. */
struct th_frames {
    struct th_frame *slots;      /* a ring */
    uint32_t *heads;             /* slot of the newest entry by hash; in the same block */
    th_frame_function *recorded; /* recorded caller by slot, wherever that function is on the
                                    stack; NULL: none was recorded */
    uint32_t capacity;           /* a power of two, or 0 */
    uint32_t bottom;             /* slot of the oldest entry */
    uint32_t count;              /* of entries */
    th_frame_function below;     /* the function to which the oldest physical frame returns */
    uint64_t forgotten;          /* number of calls forgotten since the stack was cleared */
};

/* Returns the entry at OFFSET from the oldest, which has 0. */
static inline struct th_frame *th_recorded_frames_at(const struct th_frames *frames,
                                                     uint32_t offset)
{
    return &frames->slots[(frames->bottom + offset) & (frames->capacity - 1)];
}

/* Returns the newest entry; NULL: none. */
static inline struct th_frame *th_recorded_frames_top(const struct th_frames *frames)
{
    return frames->count ? th_recorded_frames_at(frames, frames->count - 1) : NULL;
}

/* Pushes a call with the recorded caller RECORDED, or TH_FRAME_UNKNOWN. On an empty stack the call
 * returns to `below`, which the caller sets before it begins a physical frame; TAIL and SAME
 * continue a frame whose other entries are forgotten or popped. */
void th_recorded_frames_push(struct th_frames *frames, struct th_frames_bounds *bounds,
                             th_frame_function function, enum th_frame_link link, uint64_t word,
                             th_frame_function recorded);

/* _pop_call() pops the topmost of the calls in the newest entry, _pop() the whole entry. An entry
 * that was `replaced` is not found again: the caller pops such an entry, too, or pushes a call on
 * it. */
void th_recorded_frames_pop_call(struct th_frames *frames, struct th_frames_bounds *bounds);
void th_recorded_frames_pop(struct th_frames *frames, struct th_frames_bounds *bounds);

/* Returns the offset at which the physical frame of the entry at OFFSET begins. */
static inline uint32_t th_recorded_frames_begin_of(const struct th_frames *frames, uint32_t offset)
{
    uint32_t distance = th_recorded_frames_at(frames, offset)->begin;

    return distance <= offset ? offset - distance : 0;
}

/* Returns the offset at which the topmost physical frame begins. The stack is not empty. */
static inline uint32_t th_recorded_frames_begin(const struct th_frames *frames)
{
    return th_recorded_frames_begin_of(frames, frames->count - 1);
}

/* Returns the function to which the topmost physical frame returns. The stack is not empty. */
th_frame_function th_recorded_frames_caller(const struct th_frames *frames);

/* Stores the functions to which the topmost physical frame returns, to which that one returns, and
 * so on, at most MOST, into CALLERS, and returns their number. Fewer only if the last one is
 * unknown or nobody. The stack is not empty. */
size_t th_recorded_frames_callers(const struct th_frames *frames, th_frame_function callers[],
                                  size_t most);

/* Finds the topmost physical frame whose latest, executing call is of FUNCTION, among the entries
 * below the offset BELOW. Returns the offset of that call's entry; TH_FRAMES_NONE: none. */
#define TH_FRAMES_NONE UINT32_MAX
uint32_t th_recorded_frames_find_below(const struct th_frames *frames, th_frame_function function,
                                       uint32_t below);

/* Does the same among all entries. */
static inline uint32_t th_recorded_frames_find(const struct th_frames *frames,
                                               th_frame_function function)
{
    return th_recorded_frames_find_below(frames, function, UINT32_MAX);
}

/* Returns the number of wanted calls. Reads each entry. */
uint64_t th_recorded_frames_wanted(const struct th_frames *frames);

/* Forgets all entries, frees the memory and leaves {0}. */
void th_recorded_frames_clear(struct th_frames *frames, struct th_frames_bounds *bounds);

#endif
