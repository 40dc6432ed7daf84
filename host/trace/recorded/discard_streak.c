/* Decides which sessions see the ends of recorded calls: see struct th_discard_streak. */
#include "recorded_internal.h"

bool th_recorded_streak_holds(struct th_discard_streak *streak, uint64_t offered,
                              uint64_t discarded)
{
    if (streak->broken)
        return false;
    streak->discarding |= offered & ~streak->seen & discarded;
    streak->seen |= offered;
    streak->broken = (streak->discarding & offered) != discarded;
    return !streak->broken;
}

void th_recorded_streak_enter(struct th_recorded_stack *stack, struct th_discard_streak *streak,
                              const struct th_recorded_call *call, uint64_t offered,
                              uint64_t discarded)
{
    /* The decision of a session to which the call was not offered stays as it was in the streak. */
    uint64_t wanted = ~(discarded | (streak->discarding & ~offered));

    if (streak->execution.counts.calls == 0)
        th_recorded_start(&streak->execution,
                          &(struct th_execution_options){.frames = TH_DISCARD_STREAK_CALLS,
                                                         .each_matters = true});
    th_recorded_enter(&streak->execution, stack, call);
    if (wanted)
        th_recorded_want(&streak->execution, stack, wanted, wanted);
}

/* Adds to CONTEXT the sessions that wanted the call with this record. */
static uint64_t note_end(void *context, enum th_ending ending, const struct th_mfa *function,
                         uint64_t word)
{
    (void)function;
    if (ending < TH_ENDED_UNTOLD)
        *(uint64_t *)context |= word;
    return word;
}

uint64_t th_recorded_streak_leave(struct th_recorded_stack *stack, struct th_discard_streak *streak,
                                  struct th_execution_end end, uint64_t *doubtful)
{
    struct th_execution_left left;
    uint64_t wanted = 0;

    end.ended = note_end;
    end.context = &wanted;
    left = th_recorded_leave(&streak->execution, stack, &end);
    if (!left.known) {
        wanted = ~streak->discarding;
        stack->sessions.due |= wanted;
        left.doubtful &= ~wanted;
    }
    if (end.tag == TH_TAG_return_to) {
        wanted = stack->sessions.due;
        stack->sessions.due = 0;
    }
    *doubtful = left.doubtful;
    return ~wanted;
}

void th_recorded_streak_forget_in(struct th_recorded_stack *stack, uint64_t gone)
{
    th_recorded_forget_sessions(stack, gone);
    for (uint32_t i = 0; i < stack->frames.count; i++)
        th_recorded_frames_at(&stack->frames, i)->word |= gone;
}

void th_recorded_streak_forget(struct th_discard_streak *streak, uint64_t gone)
{
    streak->seen &= ~gone;
    streak->discarding &= ~gone;
}
