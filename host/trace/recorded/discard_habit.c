
#include "recorded_internal.h"

bool th_recorded_habit_holds(struct th_discard_habit *habit, uint64_t offered, uint64_t discarded)
{
    if (habit->broken)
        return false;
    habit->discarding |= offered & ~habit->seen & discarded;
    habit->seen |= offered;
    habit->broken = (habit->discarding & offered) != discarded;
    return !habit->broken;
}

void th_recorded_habit_enter(struct th_recorded_stack *stack, struct th_discard_habit *habit,
                             const struct th_recorded_call *call, uint64_t offered,
                             uint64_t discarded)
{
    /* For a session that was not asked nothing has changed. */
    uint64_t wanted = ~(discarded | (habit->discarding & ~offered));

    if (habit->execution.counts.calls == 0)
        th_recorded_start(
            &habit->execution,
            &(struct th_execution_options){.frames = TH_DISCARD_HABIT_CALLS, .each_matters = true});
    th_recorded_enter(&habit->execution, stack, call);
    if (wanted)
        th_recorded_want(&habit->execution, stack, wanted, wanted);
}

/* CONTEXT gets the sessions that wanted the call whose record it is. */
static uint64_t note_end(void *context, enum th_ending ending, const struct th_mfa *function,
                         uint64_t word)
{
    (void)function;
    if (ending < TH_ENDED_UNTOLD)
        *(uint64_t *)context |= word;
    return word;
}

uint64_t th_recorded_habit_leave(struct th_recorded_stack *stack, struct th_discard_habit *habit,
                                 struct th_execution_end end, uint64_t *doubtful)
{
    struct th_execution_left left;
    uint64_t wanted = 0;

    end.ended = note_end;
    end.context = &wanted;
    left = th_recorded_leave(&habit->execution, stack, &end);
    if (!left.known) {
        wanted = ~habit->discarding;
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

void th_recorded_habit_forget_in(struct th_recorded_stack *stack, uint64_t gone)
{
    th_recorded_forget_sessions(stack, gone);
    for (uint32_t i = 0; i < stack->frames.count; i++)
        th_recorded_frames_at(&stack->frames, i)->word |= gone;
}

void th_recorded_habit_forget(struct th_discard_habit *habit, uint64_t gone)
{
    habit->seen &= ~gone;
    habit->discarding &= ~gone;
}
