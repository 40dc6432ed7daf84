/*
 * Finds the calls that a return_to ends, if calls have no `tail`.
 *
 * The record names the function F that runs then, which need not be traced. The latest call ends,
 * unless its own record came just before, and so do calls below it that are tail calls of each
 * other:
 *
 * 1. If a call of F is open, all calls above the nearest one end. This nearest call may have ended
 *    itself, if another call of F is open below it: then the nearest call was a tail call, and so
 *    were the calls between the two. All these calls are taken for open, and `likely` so, as F may
 *    be recursive: no rule can distinguish a recursion without tail calls, which is by far the most
 *    common.
 * 2. If F is `undefined`, all calls end.
 * 3. Else F is not traced. If F is the recorded caller of an open call, the calls from the nearest
 *    such one upwards end. The calls next below with the same caller may have been tail calls.
 * 4. Without callers only the latest call ends for certain.
 *
 * A caught exception leaves a return_to if the frame that F called is of a traced call: only that
 * call has returned to F, and others that the exception passed are gone, too. The exception leaves
 * no record at all if that frame is not of a traced call. So:
 *
 * 5. A call whose recorded caller is not F was passed by an exception, now or before.
 * 6. Without callers, in a recording with return_from records, a return_to alone may be that of an
 *    exception: of the calls that have ended, all are doubted but the lowest one.
 * 7. If neither callers nor returns are recorded, no record shows exceptions: each return_to counts
 *    as that of a return. So does a return_to a function that is not traced if an exception has
 *    left no record, and the call that the exception passed has this function as its caller.
 *
 * Calls that may have ended before, or have not returned to F, are doubted. But if only one call
 * can have ended, it has.
 *
 * As long as all calls of a stack are wanted by the same sessions, the rules do not matter (struct
 * leaving, `matters`): a return_to is for all of them. Then calls end by 1. and 4. alone, and those
 * that stay are `guessed`: taken for open, and likely so, once the rules matter.
 */
#include "execution_internal.h"
#include "recorded_internal.h"

enum {
    LOOKED_AT = 64, /* calls that are looked at, one by one, when a call has a recorded caller */
    COUNTED = 4096  /* entries that th_recorded_open_calls() looks at */
};

static void doubt_entry(struct th_frame *frame)
{
    if (frame->doubt < TH_FRAME_DOUBTED)
        frame->doubt = TH_FRAME_DOUBTED;
}

/* Doubts all calls of the entries below END. Reads each entry once in its life. */
static void doubt_below(struct th_frames *frames, uint32_t end)
{
    for (; end > 0 && th_recorded_frames_at(frames, end - 1)->doubt != TH_FRAME_ALL_DOUBTED; end--)
        th_recorded_frames_at(frames, end - 1)->doubt = TH_FRAME_ALL_DOUBTED;
}

void th_recorded_doubt_guessed(struct th_recorded_stack *stack)
{
    struct th_frames *frames = &stack->frames;

    if (stack->guessed > frames->count)
        stack->guessed = frames->count;
    for (; stack->guessed > 0; stack->guessed--)
        if (th_recorded_frames_at(frames, stack->guessed - 1)->doubt == TH_FRAME_CERTAIN)
            th_recorded_frames_at(frames, stack->guessed - 1)->doubt = TH_FRAME_LIKELY;
}

void th_recorded_doubt_above(struct th_recorded_stack *stack, th_frame_function caller)
{
    struct th_frames *frames = &stack->frames;
    uint32_t i = frames->count, looked_at = 0;

    if (i == 0 || th_recorded_frames_top(frames)->function == caller ||
        th_recorded_frames_find(frames, caller) == TH_FRAMES_NONE)
        return;
    while (i > 0 && th_recorded_frames_at(frames, i - 1)->function != caller &&
           th_recorded_frames_recorded_caller(frames, i - 1) != caller) {
        if (looked_at++ == LOOKED_AT) {
            doubt_below(frames, i);
            return;
        }
        i = th_recorded_frames_begin_of(frames, i - 1);
        doubt_entry(th_recorded_frames_at(frames, i));
    }
}

void th_recorded_doubt_unreturned(struct th_recorded_stack *stack, uint32_t entry)
{
    struct th_frames *frames = &stack->frames;
    th_frame_function caller = th_recorded_frames_recorded_caller(frames, entry);

    for (uint32_t i = frames->count; i > entry + 1;) {
        th_frame_function recorded = th_recorded_frames_recorded_caller(
            frames, i = th_recorded_frames_begin_of(frames, i - 1));
        stack->undecided |= recorded == TH_FRAME_UNKNOWN;
        if (recorded == TH_FRAME_UNKNOWN || recorded != caller)
            doubt_entry(th_recorded_frames_at(frames, i));
    }
}

/* Rules 3 and 4. */
static uint32_t left_by_untraced(const struct th_execution *execution, struct th_frames *frames,
                                 th_frame_function function)
{
    uint32_t latest = th_recorded_frames_begin(frames);
    uint32_t left = TH_FRAMES_NONE, i = frames->count;

    /* Finds the entry at which the nearest call begins whose recorded caller is FUNCTION. */
    while (i > 0 && left == TH_FRAMES_NONE) {
        i = th_recorded_frames_begin_of(frames, i - 1);
        if (th_recorded_frames_recorded_caller(frames, i) == function)
            left = i;
        else if (th_recorded_frames_at(frames, i)->doubt == TH_FRAME_ALL_DOUBTED)
            break;
    }
    if (left == TH_FRAMES_NONE) {
        bool told = th_recorded_frames_recorded_caller(frames, latest) != TH_FRAME_UNKNOWN;
        bool raised = execution->returned && latest > 0;
        doubt_below(frames, told || raised ? frames->count : latest);
        return latest;
    }
    for (i = left; i > 0;) {
        struct th_frame *frame =
            th_recorded_frames_at(frames, i = th_recorded_frames_begin_of(frames, i - 1));
        if (th_recorded_frames_recorded_caller(frames, i) != function ||
            frame->doubt >= TH_FRAME_DOUBTED)
            break;
        doubt_entry(frame);
    }
    return left;
}

static uint32_t left_by(const struct th_execution *execution, struct th_recorded_stack *stack,
                        th_frame_function function)
{
    struct th_frames *frames = &stack->frames;
    uint32_t end = stack->ended ? frames->count : th_recorded_frames_begin(frames);
    uint32_t found = function == TH_FRAME_NOBODY
                         ? TH_FRAMES_NONE
                         : th_recorded_frames_find_below(frames, function, end);

    if (found != TH_FRAMES_NONE)
        return found + 1;
    if (function == TH_FRAME_NOBODY)
        return 0;
    if (!stack->ended)
        return left_by_untraced(execution, frames, function);
    if (execution->alone) /* other calls may have no records of their ends */
        doubt_below(frames, frames->count);
    return frames->count;
}

uint64_t th_recorded_open_calls(const struct th_recorded_stack *stack, uint64_t most)
{
    const struct th_frames *frames = &stack->frames;
    uint64_t open = 0;
    uint32_t looked_at = 0;

    for (uint32_t i = frames->count; i > 0 && open < most && looked_at < COUNTED; looked_at++) {
        const struct th_frame *frame =
            th_recorded_frames_at(frames, i = th_recorded_frames_begin_of(frames, i - 1));
        if (frame->doubt == TH_FRAME_ALL_DOUBTED)
            break;
        open += frame->doubt == TH_FRAME_DOUBTED ? 0 : frame->times;
    }
    return open < most ? open : most;
}

/* True if the call at ENTRY is doubted, and may have returned to FUNCTION. */
static bool may_have_ended(const struct th_frames *frames, uint32_t entry,
                           th_frame_function function)
{
    th_frame_function recorded = th_recorded_frames_recorded_caller(frames, entry);

    return th_recorded_frames_at(frames, entry)->doubt != TH_FRAME_CERTAIN &&
           (recorded == TH_FRAME_UNKNOWN || recorded == function);
}

/* Applies rules 5 and 6. True if it is unknown which of the calls have returned to FUNCTION. */
static bool doubt_ended(struct th_frames *frames, uint32_t left, th_frame_function function,
                        bool raised)
{
    bool doubted = false;

    for (uint32_t i = frames->count; i > left;) {
        struct th_frame *frame =
            th_recorded_frames_at(frames, i = th_recorded_frames_begin_of(frames, i - 1));
        th_frame_function recorded = th_recorded_frames_recorded_caller(frames, i);
        if (raised && recorded == TH_FRAME_UNKNOWN && i > left)
            doubt_entry(frame);
        doubted |= may_have_ended(frames, i, function);
        if (recorded != TH_FRAME_UNKNOWN && recorded != function)
            doubt_entry(frame);
    }
    return doubted;
}

uint32_t th_recorded_left_by(struct th_execution *execution, struct th_recorded_stack *stack,
                             th_frame_function function)
{
    struct th_frames *frames = &stack->frames;
    uint32_t left;

    if (frames->count == 0)
        return 0;
    execution->alone |= !stack->ended;
    th_recorded_frames_part_top(frames, &execution->bounds);
    left = left_by(execution, stack, function);
    if (!stack->ended && left == th_recorded_frames_begin(frames)) {
        const struct th_frame *target = left > 0 ? th_recorded_frames_at(frames, left - 1) : NULL;
        /* The target is the only call of FUNCTION that can run now; or there is no call at all. */
        if (target ? target->function == function && target->times == 1 &&
                         th_recorded_frames_find_below(frames, function, left - 1) == TH_FRAMES_NONE
                   : frames->forgotten == 0)
            th_recorded_frames_at(frames, left)->doubt =
                TH_FRAME_CERTAIN; /* no other call can have ended */
    }
    stack->undecided = doubt_ended(frames, left, function, execution->returned && !stack->ended) &&
                       execution->alone;
    return left;
}

enum th_fact th_recorded_raised_to(const struct th_recorded_stack *stack,
                                   th_frame_function function, uint32_t left)
{
    const struct th_frames *frames = &stack->frames;

    if (stack->raised_to != TH_FRAME_UNKNOWN)
        return stack->raised_to == function ? TH_YES : TH_NO;
    return frames->count > left || stack->undecided ? TH_UNKNOWN : TH_YES;
}

void th_recorded_doubt_target(struct th_execution *execution, struct th_recorded_stack *stack,
                              th_frame_function function)
{
    struct th_frames *frames = &stack->frames;
    th_frame_function recorded;
    uint32_t begin, other, lowest, top;
    bool called_itself;

    if (frames->count == 0 || !execution->alone)
        return;
    th_recorded_frames_part_top(frames, &execution->bounds);
    begin = th_recorded_frames_begin(frames);
    recorded = th_recorded_frames_recorded_caller(frames, begin);
    called_itself = th_recorded_frames_top(frames)->function == function &&
                    (recorded == TH_FRAME_UNKNOWN || recorded == function);
    if (!called_itself && !may_have_ended(frames, begin, function))
        return;
    other = th_recorded_frames_find_below(frames, function, begin);
    /* The call at BEGIN, and those between it and OTHER, may have ended. */
    for (uint32_t i = begin; called_itself && (recorded == function || other != TH_FRAMES_NONE) &&
                             th_recorded_frames_at(frames, i)->doubt == TH_FRAME_CERTAIN;) {
        th_recorded_frames_at(frames, i)->doubt = TH_FRAME_LIKELY;
        if (other == TH_FRAMES_NONE || i == 0 || i - 1 == other)
            break;
        i = th_recorded_frames_begin_of(frames, i - 1);
    }
    if (!may_have_ended(frames, begin, function))
        return;

    /* True in `lower` if any call from the latest one down to LOWEST is wanted, or there are
     * many. */
    stack->undecided = true;
    lowest = other == TH_FRAMES_NONE ? begin : other + 1;
    top = frames->count;
    while (top > lowest && frames->count - top < LOOKED_AT && !stack->lower)
        stack->lower = th_recorded_frames_at(frames, --top)->word != 0;
    stack->lower |= top > lowest;
}
