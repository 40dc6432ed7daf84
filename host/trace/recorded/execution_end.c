/*
 * Ends calls: those with a record of a return or an exception, those that such a record shows to
 * have ended, and those without a value.
 */
#include "execution_internal.h"
#include "recorded_internal.h"

struct leaving {
    struct th_execution *execution;
    struct th_recorded_stack *stack;
    const struct th_execution_end *end;
    enum th_ending ending; /* of the recorded call */
    bool matters;          /* which calls end matters */
    bool unmatched;        /* the call is not on the stack */
    bool doubted;          /* the call, whose record this is, may have ended before */
};

/* Reports the end of TIMES calls of ENTRY to their requesters. */
static void report_end(const struct leaving *l, const struct th_frame *entry, uint32_t times,
                       enum th_ending ending)
{
    struct th_stack_sessions *of = &l->stack->sessions;
    struct th_mfa function;
    uint64_t sessions;

    if (!entry->word)
        return;
    function = th_recorded_unpack(entry->function);
    if (ending >= TH_ENDED_UNTOLD)
        l->execution->counts.untold += times;
    for (uint32_t i = 0; i < times; i++) {
        sessions = l->end->ended(l->end->context, ending, &function, entry->word);
        if (ending <= TH_ENDED_UNTOLD)
            of->due |= sessions;
        if (ending == TH_ENDED_LIKELY)
            of->likely |= sessions;
        if (ending > TH_ENDED_UNTOLD)
            of->doubted |= sessions;
    }
}

/* Returns how many calls of the entry where the topmost frame begins belong to that frame: one, or
 * all if the beginning of the frame is forgotten. */
static uint32_t times_at_begin(const struct th_frame *entry)
{
    return entry->link == TH_FRAME_TAIL ? entry->times : 1;
}

/* Ends the topmost physical frame. */
static void execution_end_end_frame(const struct leaving *l, enum th_ending ending)
{
    struct th_frames *frames = &l->stack->frames;
    struct th_frames_bounds *bounds = &l->execution->bounds;
    th_frame_function caller = th_recorded_frames_caller(frames);
    uint32_t begin = th_recorded_frames_begin(frames);
    struct th_frame entry;

    if (l->matters && ending == TH_ENDED_UNTOLD &&
        th_recorded_frames_at(frames, begin)->doubt != TH_FRAME_CERTAIN)
        ending = th_recorded_frames_at(frames, begin)->doubt == TH_FRAME_LIKELY ? TH_ENDED_LIKELY
                                                                                : TH_ENDED_DOUBTFUL;
    while (frames->count > begin + 1) {
        entry = *th_recorded_frames_top(frames);
        th_recorded_frames_pop(frames, bounds);
        report_end(l, &entry, entry.times, ending);
    }
    entry = *th_recorded_frames_top(frames);
    for (uint32_t i = times_at_begin(&entry); i > 0; i--)
        th_recorded_frames_pop_call(frames, bounds);
    report_end(l, &entry, times_at_begin(&entry), ending);
    th_recorded_has_returned(l->stack, caller);
}

/* Ends frames until ENTRY is the topmost one. */
static void end_above(const struct leaving *l, uint32_t entry)
{
    if (l->stack->frames.count > entry + 1)
        l->execution->counts.repaired++;
    while (l->stack->frames.count > entry + 1)
        execution_end_end_frame(l, TH_ENDED_UNTOLD);
}

/* --- each_returns: a frame stays until the last of its calls has had its record --- */

/* Finds the latest call of FUNCTION in the topmost physical frame. */
static uint32_t find_in_frame(const struct th_frames *frames, th_frame_function function)
{
    uint32_t begin = frames->count ? th_recorded_frames_begin(frames) : 0;

    for (uint32_t i = frames->count; i > begin; i--)
        if (th_recorded_frames_at(frames, i - 1)->function == function)
            return i - 1;
    return TH_FRAMES_NONE;
}

/* Pops the call at ENTRY of the topmost frame, which has its record, and those above it, which have
 * none. */
static void end_recorded_call(const struct leaving *l, uint32_t entry)
{
    struct th_frames *frames = &l->stack->frames;
    uint32_t begin = th_recorded_frames_begin(frames);
    bool last;

    while (entry > begin && th_recorded_frames_at(frames, entry)->link == TH_FRAME_SAME)
        entry--;
    while (frames->count > entry + 1)
        th_recorded_frames_pop(frames, &l->execution->bounds);
    last = entry == begin && times_at_begin(th_recorded_frames_top(frames)) == 1;
    th_recorded_frames_pop_call(frames, &l->execution->bounds);
    if (last)
        th_recorded_has_returned(l->stack, l->stack->named);
}

/* --- records --- */

/* Returns whether the call at ENTRY may have ended, and another call of its function is below it. */
static bool is_doubted(const struct th_frames *frames, uint32_t entry)
{
    uint32_t begin = th_recorded_frames_begin_of(frames, entry);
    const struct th_frame *frame = th_recorded_frames_at(frames, entry);

    return th_recorded_frames_at(frames, begin)->doubt != TH_FRAME_CERTAIN &&
           (frame->times > 1 ||
            th_recorded_frames_find_below(frames, frame->function, begin) != TH_FRAMES_NONE);
}

static void leave_from(struct leaving *l, th_frame_function function)
{
    struct th_recorded_stack *stack = l->stack;
    struct th_frames *frames = &stack->frames;
    uint32_t entry = TH_FRAMES_NONE, begin;
    const struct th_frame *frame;

    /* Makes the frame whose call of FUNCTION returns the topmost one, unless the call of NAMED
     * returns. */
    if (stack->at != TH_STACK_AT_NAMED || stack->named != function) {
        if (l->execution->each_returns)
            entry = find_in_frame(frames, function);
        if (entry == TH_FRAMES_NONE) {
            entry = th_recorded_frames_find(frames, function);
            if (entry != TH_FRAMES_NONE && stack->tails_untold && l->matters)
                th_recorded_doubt_unreturned(stack, entry);
            l->doubted = entry != TH_FRAMES_NONE && l->matters && is_doubted(frames, entry);
            if (entry != TH_FRAMES_NONE)
                end_above(l, entry);
        }
    }

    /* The call, which may be unknown, raises. */
    if (l->ending == TH_ENDED_RAISED && stack->tails_untold) {
        th_frame_function caller = entry == TH_FRAMES_NONE
                                       ? TH_FRAME_UNKNOWN
                                       : th_recorded_frames_recorded_caller(frames, entry);
        stack->with_former = TH_NO;
        if (stack->raised && (caller == TH_FRAME_UNKNOWN || stack->raised_to == TH_FRAME_UNKNOWN ||
                              caller == stack->raised_to))
            stack->with_former = TH_UNKNOWN;
        stack->raised_to = caller;
    }

    if (entry == TH_FRAMES_NONE) {
        l->unmatched = true;
        if (frames->forgotten > 0) {
            frames->forgotten--;
            l->execution->counts.late++;
        } else {
            l->execution->counts.unmatched++;
        }
        stack->named = TH_FRAME_UNKNOWN;
        stack->at = TH_STACK_AT_UNKNOWN;
    } else if (!l->execution->each_returns) {
        execution_end_end_frame(l, l->ending);
    } else {
        /* All requests for the topmost frame are reported, but the frame stays. */
        begin = th_recorded_frames_begin(frames);
        for (uint32_t i = frames->count; i-- > begin;) {
            frame = th_recorded_frames_at(frames, i);
            report_end(l, frame, i > begin ? frame->times : times_at_begin(frame), l->ending);
        }
        stack->returning = true;
        stack->named = th_recorded_frames_caller(frames);
        end_recorded_call(l, entry);
    }
}

/* Does the same as leave_to(), for calls without `tail`. */
static void leave_to_doubting(const struct leaving *l, th_frame_function function)
{
    struct th_recorded_stack *stack = l->stack;
    uint32_t left;

    th_recorded_doubt_guessed(stack);
    left = th_recorded_left_by(l->execution, stack, function);
    if (stack->raised)
        stack->with_former = th_recorded_raised_to(stack, function, left);
    if (!stack->ended && stack->frames.count > left)
        execution_end_end_frame(l, TH_ENDED_UNTOLD);
    if (stack->frames.count > left && function != TH_FRAME_NOBODY)
        l->execution->counts.repaired++;
    while (stack->frames.count > left)
        execution_end_end_frame(l, TH_ENDED_UNTOLD);
    th_recorded_doubt_target(l->execution, stack, function);
    if (left > 0 && th_recorded_frames_top(&stack->frames)->function == function)
        stack->at = TH_STACK_AT_TOP;
    else
        stack->at = function > TH_FRAME_NOBODY ? TH_STACK_AT_NAMED : TH_STACK_AT_UNKNOWN;
    stack->named = function;
}

static void leave_to(struct leaving *l, th_frame_function function)
{
    struct th_recorded_stack *stack = l->stack;
    uint32_t entry;

    l->unmatched = !stack->ended && stack->frames.count == 0;
    if (stack->returning)
        th_recorded_drop_returning(l->execution, stack);
    if (stack->tails_untold && l->matters) {
        leave_to_doubting(l, function);
        return;
    }
    if (!stack->ended && stack->frames.count > 0) /* a call without another record has ended */
        execution_end_end_frame(l, TH_ENDED_UNTOLD);
    if (th_recorded_executing(stack) != function) {
        entry = th_recorded_frames_find(&stack->frames, function);
        if (entry != TH_FRAMES_NONE)
            end_above(l, entry);
        stack->at = entry != TH_FRAMES_NONE      ? TH_STACK_AT_TOP
                    : function > TH_FRAME_NOBODY ? TH_STACK_AT_NAMED
                                                 : TH_STACK_AT_UNKNOWN;
    }
    stack->named = function;
    stack->guessed = stack->frames.count;
}

/* Updates the sets of sessions after the stack was left; FORMER sessions were due before. Returns
 * the sessions for which a return_to is doubtful. */
static uint64_t settle_sessions(struct th_recorded_stack *stack, uint64_t former, bool returned_to)
{
    struct th_stack_sessions *sessions = &stack->sessions;
    uint64_t doubtful = 0;

    if (stack->with_former == TH_YES)
        sessions->due |= former;
    if (stack->with_former == TH_NO)
        sessions->perhaps = 0;
    if (stack->with_former == TH_UNKNOWN)
        sessions->perhaps |= former;
    if (stack->undecided)
        sessions->perhaps |= sessions->doubted;
    if (stack->lower)
        sessions->perhaps |= sessions->some | sessions->latest;
    sessions->doubted = 0;
    if (returned_to) {
        sessions->due |= sessions->perhaps & sessions->latest & sessions->all;
        doubtful = sessions->perhaps & ~sessions->due;
        sessions->perhaps = 0;
    }
    sessions->due |= sessions->likely;
    sessions->likely = 0;
    return stack->undecided ? doubtful | sessions->timing : doubtful;
}

struct th_execution_left th_recorded_leave(struct th_execution *execution,
                                           struct th_recorded_stack *stack,
                                           const struct th_execution_end *end)
{
    struct leaving leaving = {
        .execution = execution, .stack = stack, .end = end, .ending = TH_ENDED_RAISED};
    th_frame_function function = th_recorded_pack_caller(&end->function);
    struct th_stack_sessions *sessions = &stack->sessions;
    uint64_t former = 0, doubtful = 0, some = sessions->some | sessions->latest;
    bool for_sessions = th_recorded_has_sessions(execution);
    bool returned = end->tag == TH_TAG_return_from;
    uint32_t entry = TH_FRAMES_NONE;

    if (for_sessions) {
        /* Sessions that were due before are due again only if calls end that they wanted. */
        former = sessions->due;
        sessions->due = 0;
        /* Some sessions want some of the calls that were made since the stack was empty, and others
         * not; or no call is wanted. */
        leaving.matters = execution->each_matters || sessions->timing || some == 0 ||
                          (some & ~(sessions->all & sessions->latest)) != 0;
    }
    execution->counts.returns++;
    stack->undecided = stack->lower = false;
    stack->with_former = TH_YES;
    th_recorded_catch_up(execution, stack);
    if (end->tag == TH_TAG_return_to) {
        leave_to(&leaving, function);
    } else {
        if (!returned || stack->raised)
            stack->with_former = TH_NO;
        if (returned)
            leaving.ending = TH_ENDED_RETURNED;
        execution->returned |= returned;
        /* The record may be of a call whose end was reported already. */
        if (stack->returning) {
            entry = find_in_frame(&stack->frames, function);
            if (entry == TH_FRAMES_NONE)
                th_recorded_drop_returning(execution, stack);
        }
        if (entry != TH_FRAMES_NONE)
            end_recorded_call(&leaving, entry);
        else
            leave_from(&leaving, function);
    }
    stack->ended = end->tag != TH_TAG_return_to;
    stack->raised = end->tag == TH_TAG_exception_from && stack->tails_untold;
    stack->entered = false;
    if (for_sessions)
        doubtful = settle_sessions(stack, former, end->tag == TH_TAG_return_to);
    return (struct th_execution_left){.to = th_recorded_unpack_caller(stack->named),
                                      .known = !leaving.unmatched,
                                      .doubted = leaving.doubted,
                                      .doubtful = doubtful};
}
