#include "calls.h"

bool th_calls_are_habit(struct th_calls_habit *habit, uint64_t offered, uint64_t discarded)
{
    if (habit->broken)
        return false;
    habit->discarding |= offered & ~habit->seen & discarded;
    habit->seen |= offered;
    habit->broken = (habit->discarding & offered) != discarded;
    return !habit->broken;
}

void th_calls_enter(struct th_calls *calls, struct th_calls_habit *habit,
                    const struct th_execution_call *call, uint64_t offered, uint64_t discarded)
{
    /* For a session that was not asked nothing has changed. */
    uint64_t wanted = ~(discarded | (habit->discarding & ~offered));

    if (habit->execution.counts.calls == 0)
        th_execution_start(&habit->execution,
                           &(struct th_execution_options){.frames = TH_CALLS_LIMIT});
    th_returning_enter(&calls->returning, &calls->stack);
    calls->returning.latest = wanted;
    th_execution_enter(&habit->execution, &calls->stack, call);
    if (wanted)
        th_execution_want(&habit->execution, &calls->stack, wanted);
}

/* The end of a call: who wanted the one whose record it is. */
struct left {
    struct th_returning *returning;
    uint64_t wanted;
};

static void note_end(void *context, enum th_ending ending, const struct th_function *function,
                     uint64_t word)
{
    struct left *left = context;

    (void)function;
    if (ending < TH_ENDED_UNTOLD)
        left->wanted |= word;
    th_returning_ended(left->returning, ending, word);
}

static uint64_t ends_of_unknown(const struct th_calls_habit *habit)
{
    return habit->execution.counts.late + habit->execution.counts.unmatched;
}

uint64_t th_calls_leave(struct th_calls *calls, struct th_calls_habit *habit,
                        struct th_execution_end end, uint64_t *doubtful)
{
    uint64_t former = calls->returning.due, unknown = ends_of_unknown(habit);
    bool returns = end.tag == TH_TAG_return_to;
    bool known = returns ? calls->stack.ended || calls->stack.frames.count > 0 : true;
    struct left left = {&calls->returning, 0};

    calls->returning.due = 0;
    end.matters = true;
    end.ended = note_end;
    end.context = &left;
    th_execution_leave(&habit->execution, &calls->stack, &end);
    known &= ends_of_unknown(habit) == unknown;
    if (!known)
        left.wanted = calls->returning.due = ~habit->discarding;
    *doubtful = th_returning_leave(&calls->returning, &calls->stack, end.tag, former);
    if (!returns)
        return ~left.wanted;
    left.wanted = calls->returning.due;
    calls->returning.due = 0;
    return ~left.wanted;
}

uint64_t th_calls_forgotten(const struct th_calls_habit *habit)
{
    return habit->execution.bounds.forgotten;
}

void th_calls_forget(struct th_calls *calls, uint64_t gone)
{
    th_returning_forget(&calls->returning, gone);
    for (uint32_t i = 0; i < calls->stack.frames.count; i++)
        th_frames_at(&calls->stack.frames, i)->word |= gone;
}

void th_calls_forget_habit(struct th_calls_habit *habit, uint64_t gone)
{
    habit->seen &= ~gone;
    habit->discarding &= ~gone;
}

void th_calls_free(struct th_calls *calls, struct th_calls_habit *habit)
{
    th_execution_forget(&habit->execution, &calls->stack);
}
