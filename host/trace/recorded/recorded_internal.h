/*
 * What only recorded/ sees.
 */
#ifndef TH_RECORDED_INTERNAL_H
#define TH_RECORDED_INTERNAL_H

#include "execution.h"

/* --- Of execution.h --------------------------------------------------------------------------- */

/* The sessions GONE have ended, and their bits are free for others. */
void th_recorded_forget_sessions(struct th_recorded_stack *stack, uint64_t gone);

/* EVENT, an end, has no function: it may be the return_to as the process ends, to nobody. Else
 * false, and the error stays. */
bool th_recorded_ends_process(const struct th_event *event, struct th_caller *function);

/* The function of EVENT, an end: undefined for a return_to to no function, as the process ends.
 * False, and an error, if it is damaged. */
static inline bool th_recorded_end_function(struct th_event *event, struct th_caller *function)
{
    function->kind = TH_CALLER_FUNCTION;
    return event->source->function(event, &function->function) == TH_OK ||
           th_recorded_ends_process(event, function);
}

enum { TH_DISCARD_STREAK_CALLS = 65536 };

/* Sets of sessions are bits, by index. */
struct th_discard_streak {
    uint64_t seen;       /* sessions that were ever offered a call */
    uint64_t discarding; /* of them, those that discarded every one while the streak held */
    bool broken;
    struct th_execution execution; /* of all tracees, once it is broken */
};

/* A call was offered to the sessions OFFERED, and discarded by DISCARDED of them. False: it must be
 * entered. */
bool th_recorded_streak_holds(struct th_discard_streak *streak, uint64_t offered,
                              uint64_t discarded);

/* Enters such a call. */
void th_recorded_streak_enter(struct th_recorded_stack *stack, struct th_discard_streak *streak,
                              const struct th_recorded_call *call, uint64_t offered,
                              uint64_t discarded);

/* The sessions that do not see this return_from, exception_from or return_to: END has its tag and
 * function. *DOUBTFUL: the sessions, whether among these or not, of which the recording does not
 * tell whether they may see the return_to. */
uint64_t th_recorded_streak_leave(struct th_recorded_stack *stack, struct th_discard_streak *streak,
                                  struct th_execution_end end, uint64_t *doubtful);

/* Calls that stacks had no room for. */
static inline uint64_t th_recorded_streak_forgotten(const struct th_discard_streak *streak)
{
    return streak->execution.bounds.forgotten;
}

/* The sessions GONE are no more, and their bits free for others: they have discarded nothing. */
void th_recorded_streak_forget_in(struct th_recorded_stack *stack, uint64_t gone);
void th_recorded_streak_forget(struct th_discard_streak *streak, uint64_t gone);

/* --- Of frames.h ------------------------------------------------------------------------------ */

/* Whether a call may have ended before: whoever pops frames says so. */
enum th_frame_doubt {
    TH_FRAME_CERTAIN,
    TH_FRAME_LIKELY, /* taken for open, as recursion leaves it */
    TH_FRAME_DOUBTED,
    TH_FRAME_ALL_DOUBTED /* this call, and all below it */
};

/* The caller that the call of the entry at OFFSET was recorded with. */
static inline th_frame_function th_recorded_frames_recorded_caller(const struct th_frames *frames,
                                                                   uint32_t offset)
{
    return frames->recorded ? frames->recorded[(frames->bottom + offset) & (frames->capacity - 1)]
                            : TH_FRAME_UNKNOWN;
}

/* The topmost call, of those that the newest entry stands for, gets WORD. It was the last to be
 * pushed, with 0. */
void th_recorded_frames_want_call(struct th_frames *frames, struct th_frames_bounds *bounds,
                                  uint64_t word);

/* The topmost call, of those that the newest entry stands for, gets an entry of its own, if each is
 * a physical frame. There is one. */
void th_recorded_frames_part(struct th_frames *frames, struct th_frames_bounds *bounds);
static inline void th_recorded_frames_part_top(struct th_frames *frames,
                                               struct th_frames_bounds *bounds)
{
    if (th_recorded_frames_top(frames)->times > 1)
        th_recorded_frames_part(frames, bounds);
}

/* --- Of recordings.h -------------------------------------------------------------------------- */

void th_recorded_streams_forget(void);

#endif
