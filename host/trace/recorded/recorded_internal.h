/*
 * Functions that only trace/ uses, by the header of recorded/ that they complete.
 */
#ifndef TH_RECORDED_INTERNAL_H
#define TH_RECORDED_INTERNAL_H

#include "execution.h"

/* --- Additions to execution.h ----------------------------------------------------------------- */

/* Clears the bits of the sessions GONE, which have ended; other sessions will reuse the bits. */
void th_recorded_forget_sessions(struct th_recorded_stack *stack, uint64_t gone);

enum { TH_DISCARD_STREAK_CALLS = 65536 };

/*
 * Streak of discards, which decides which sessions see the ends of recorded calls. In a BEAM a call
 * that `enabled` discards pushes no frame, so that its return_from, exception_from and return_to
 * are never sent. A recording has all ends, and a tracer may want some calls and discard others; so
 * the call of each end must be known.
 *
 * As long as each session has discarded all calls, or none, one bit a session decides about all
 * ends, and no call is kept. With the first call that breaks the streak each tracee gets a stack
 * (execution.h) with a bit for each session that wanted a call. All calls are on the stack as a
 * BEAM records them: `tail` is ignored. The end of a call that is not on the stack is of a call
 * before the break: the streak decides. If the calls that a return_to ends are unknown, a session
 * that may have discarded all of them, or not, gets the return_to as th_stack_sessions describes,
 * and counts it as doubtful.
 *
 * A stack holds at most TH_DISCARD_STREAK_CALLS entries, equal calls in a row in one; the oldest
 * calls are forgotten and counted. Sets of sessions are bits, by index.
 */
struct th_discard_streak {
    uint64_t seen;       /* sessions that were ever offered a call */
    uint64_t discarding; /* those of `seen` that discarded every call of the streak */
    bool broken;
    struct th_execution execution; /* of all tracees, after the break */
};

/* Notes a call that was offered to the sessions OFFERED and discarded by DISCARDED of them. False:
 * the caller must enter the call. */
bool th_recorded_streak_holds(struct th_discard_streak *streak, uint64_t offered,
                              uint64_t discarded);

/* Enters such a call. */
void th_recorded_streak_enter(struct th_recorded_stack *stack, struct th_discard_streak *streak,
                              const struct th_recorded_call *call, uint64_t offered,
                              uint64_t discarded);

/* Returns the sessions that do not see an end, a return_from, exception_from or return_to with
 * END's tag and function. *DOUBTFUL: the sessions, in the result or not, for which the recording
 * does not show whether they may see the return_to. */
uint64_t th_recorded_streak_leave(struct th_recorded_stack *stack, struct th_discard_streak *streak,
                                  struct th_execution_end end, uint64_t *doubtful);

/* Number of calls for which stacks had no room. */
static inline uint64_t th_recorded_streak_forgotten(const struct th_discard_streak *streak)
{
    return streak->execution.bounds.forgotten;
}

/* Make the sessions GONE, which have ended, sessions that have discarded nothing, in a stack and in
 * the streak; other sessions will reuse the bits. */
void th_recorded_streak_forget_in(struct th_recorded_stack *stack, uint64_t gone);
void th_recorded_streak_forget(struct th_discard_streak *streak, uint64_t gone);

/* --- Additions to frames.h -------------------------------------------------------------------- */

/* Doubt about a call that may have ended before. Written by the callers of frames.h. */
enum th_frame_doubt {
    TH_FRAME_CERTAIN,
    TH_FRAME_LIKELY, /* open, as is likely for recursion */
    TH_FRAME_DOUBTED,
    TH_FRAME_ALL_DOUBTED /* this call and all below it */
};

/* Returns the recorded caller for the call of the entry at OFFSET. */
static inline th_frame_function th_recorded_frames_recorded_caller(const struct th_frames *frames,
                                                                   uint32_t offset)
{
    return frames->recorded ? frames->recorded[(frames->bottom + offset) & (frames->capacity - 1)]
                            : TH_FRAME_UNKNOWN;
}

/* Gives the topmost call WORD.
 * Order: after a push of the call with word 0. */
void th_recorded_frames_want_call(struct th_frames *frames, struct th_frames_bounds *bounds,
                                  uint64_t word);

/* Gives the topmost call an entry of its own, if each call of the newest entry is a physical frame.
 * The stack is not empty. */
void th_recorded_frames_part(struct th_frames *frames, struct th_frames_bounds *bounds);
static inline void th_recorded_frames_part_top(struct th_frames *frames,
                                               struct th_frames_bounds *bounds)
{
    if (th_recorded_frames_top(frames)->times > 1)
        th_recorded_frames_part(frames, bounds);
}

/* --- Additions to recordings.h ---------------------------------------------------------------- */

void th_recorded_streams_forget(void);

#endif
