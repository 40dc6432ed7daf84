/* Enters calls on the stacks of recorded processes, and finds their callers: see execution.h. */
#include "execution.h"

#include "execution_internal.h"
#include "recorded_internal.h"

/*
 * --- functions as numbers ---
 *
 * Two atoms and the arity, and a bit that keeps functions apart from TH_FRAME_UNKNOWN and
 * TH_FRAME_NOBODY.
 */

enum { ATOM_BITS = 20, ARITY_BITS = 8 };

_Static_assert(TH_ATOM_LIMIT <= 1 << ATOM_BITS, "atoms do not fit");
_Static_assert(TH_FUNCTION_ARITY_MAX < 1 << ARITY_BITS, "arities do not fit");

#define A_FUNCTION ((th_frame_function)1 << (2 * ATOM_BITS + ARITY_BITS))
_Static_assert(2 * A_FUNCTION - 1 == TH_FRAME_FUNCTION_LAST, "functions do not fit");

static th_frame_function pack_function(const struct th_mfa *function)
{
    th_frame_function atoms = (th_frame_function)th_atom_index(function->module) << ATOM_BITS |
                              th_atom_index(function->function);

    return A_FUNCTION | atoms << ARITY_BITS | function->arity;
}

static th_term atom_at(th_frame_function bits)
{
    return (th_term)(bits & ((1 << ATOM_BITS) - 1)) << 6 | TH_TAG_ATOM;
}

struct th_mfa th_recorded_unpack(th_frame_function function)
{
    return (struct th_mfa){
        .module = atom_at(function >> (ATOM_BITS + ARITY_BITS)),
        .function = atom_at(function >> ARITY_BITS),
        .arity = function & ((1 << ARITY_BITS) - 1),
    };
}

th_frame_function th_recorded_pack_caller(const struct th_caller *caller)
{
    if (caller->kind == TH_CALLER_FUNCTION)
        return pack_function(&caller->function);
    return caller->kind == TH_CALLER_UNDEFINED ? TH_FRAME_NOBODY : TH_FRAME_UNKNOWN;
}

struct th_caller th_recorded_unpack_caller(th_frame_function function)
{
    if (function == TH_FRAME_UNKNOWN)
        return (struct th_caller){.kind = TH_CALLER_UNKNOWN};
    if (function == TH_FRAME_NOBODY)
        return (struct th_caller){.kind = TH_CALLER_UNDEFINED};
    return (struct th_caller){TH_CALLER_FUNCTION, th_recorded_unpack(function)};
}

/* --- the whole stack --- */

void th_recorded_start(struct th_execution *execution, const struct th_execution_options *options)
{
    static const struct th_execution_options none;

    if (!options)
        options = &none;
    *execution = (struct th_execution){.each_returns = options->each_returns,
                                       .each_matters = options->each_matters};
    execution->bounds.each = options->frames ? options->frames : TH_EXECUTION_FRAMES;
    if (execution->bounds.each < 2)
        execution->bounds.each = 2;
    execution->bounds.all = options->all_frames ? options->all_frames : TH_EXECUTION_ALL_FRAMES;
}

struct th_execution_counts th_recorded_counts(const struct th_execution *execution)
{
    struct th_execution_counts counts = execution->counts;

    counts.not_kept = execution->bounds.not_kept;
    return counts;
}

void th_recorded_gap(struct th_execution *execution)
{
    execution->gaps++;
}

void th_recorded_forget(struct th_execution *execution, struct th_recorded_stack *stack)
{
    th_recorded_frames_clear(&stack->frames, &execution->bounds);
    *stack = (struct th_recorded_stack){.sessions = stack->sessions, .gaps = execution->gaps};
}

void th_recorded_forget_sessions(struct th_recorded_stack *stack, uint64_t gone)
{
    struct th_stack_sessions *sessions = &stack->sessions;
    uint64_t *const sets[] = {&sessions->due,    &sessions->perhaps, &sessions->likely,
                              &sessions->latest, &sessions->some,    &sessions->all,
                              &sessions->timing};

    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        *sets[i] &= ~gone;
}

void th_recorded_spawned(struct th_execution *execution, struct th_recorded_stack *stack)
{
    th_recorded_forget(execution, stack);
    stack->at = TH_STACK_AT_START;
}

void th_recorded_drop_returning(struct th_execution *execution, struct th_recorded_stack *stack)
{
    uint32_t begin = th_recorded_frames_begin(&stack->frames);

    while (stack->frames.count > begin)
        th_recorded_frames_pop(&stack->frames, &execution->bounds);
    th_recorded_has_returned(stack, stack->named);
}

void th_recorded_catch_up(struct th_execution *execution, struct th_recorded_stack *stack)
{
    uint64_t forgotten;

    if (stack->gaps == execution->gaps)
        return;
    forgotten = stack->frames.forgotten + stack->frames.count;
    if (stack->returning)
        th_recorded_drop_returning(execution, stack);
    execution->counts.lost += th_recorded_frames_wanted(&stack->frames);
    th_recorded_forget(execution, stack);
    stack->frames.forgotten = forgotten;
}

void th_recorded_has_returned(struct th_recorded_stack *stack, th_frame_function caller)
{
    stack->returning = false;
    stack->named = caller;
    if (caller == TH_FRAME_UNKNOWN || caller == TH_FRAME_NOBODY)
        stack->at = TH_STACK_AT_UNKNOWN;
    else
        stack->at = stack->frames.count > 0 ? TH_STACK_AT_TOP : TH_STACK_AT_NAMED;
}

/* --- calls --- */

th_frame_function th_recorded_executing(const struct th_recorded_stack *stack)
{
    switch (stack->at) {
    case TH_STACK_AT_TOP:
        return th_recorded_frames_top(&stack->frames)->function;
    case TH_STACK_AT_NAMED:
        return stack->named;
    case TH_STACK_AT_START:
        return TH_FRAME_NOBODY;
    default:
        return TH_FRAME_UNKNOWN;
    }
}

/* Returns the function to which a call that is made now will return. */
static th_frame_function caller_now(const struct th_recorded_stack *stack, enum th_fact tail)
{
    if (tail == TH_UNKNOWN)
        return TH_FRAME_UNKNOWN;
    if (tail == TH_NO || stack->at == TH_STACK_AT_START)
        return th_recorded_executing(stack);
    return stack->at == TH_STACK_AT_TOP ? th_recorded_frames_caller(&stack->frames)
                                        : TH_FRAME_UNKNOWN;
}

void th_recorded_enter(struct th_execution *execution, struct th_recorded_stack *stack,
                       const struct th_recorded_call *call)
{
    th_frame_function function = pack_function(&call->function);
    th_frame_function recorded = th_recorded_pack_caller(&call->recorded);
    struct th_stack_sessions *sessions = &stack->sessions;
    struct th_frames *frames = &stack->frames;
    enum th_frame_link link = TH_FRAME_TAIL;
    th_frame_function caller;

    execution->counts.calls++;
    if (th_recorded_has_sessions(execution)) { /* this call has no requests so far */
        sessions->some = frames->count == 0 ? 0 : sessions->some | sessions->latest;
        sessions->all = frames->count == 0 ? UINT64_MAX : sessions->all & sessions->latest;
        sessions->latest = sessions->perhaps = 0;
    }
    th_recorded_catch_up(execution, stack);
    if (stack->returning)
        th_recorded_drop_returning(execution, stack);
    caller = caller_now(stack, call->tail);
    /* A recorded caller is preferred, as it comes from the recorder's own stack. */
    if (recorded != TH_FRAME_UNKNOWN && caller != TH_FRAME_UNKNOWN && recorded != caller)
        execution->counts.callers_disputed++;
    stack->caller = recorded != TH_FRAME_UNKNOWN ? recorded : caller;
    stack->asked = false;
    stack->tails_untold = call->tail == TH_UNKNOWN;
    if (recorded >= TH_FRAME_FUNCTION_FIRST && stack->tails_untold)
        th_recorded_doubt_above(stack, recorded);
    if (call->tail == TH_YES && stack->at == TH_STACK_AT_TOP) {
        struct th_frame top = *th_recorded_frames_top(frames);
        if (!top.word && !execution->each_returns) { /* no requests for its end: popped */
            link = top.link;
            th_recorded_frames_pop_call(frames, &execution->bounds);
        }
    } else {
        link = caller == TH_FRAME_UNKNOWN ? TH_FRAME_UNCLEAR : TH_FRAME_CALLS;
        if (frames->count == 0)
            frames->below = caller;
        else if (caller != TH_FRAME_UNKNOWN && stack->at == TH_STACK_AT_NAMED)
            th_recorded_frames_push(frames, &execution->bounds, caller, TH_FRAME_UNCLEAR, 0,
                                    TH_FRAME_UNKNOWN);
    }
    th_recorded_frames_push(frames, &execution->bounds, function, link, 0,
                            stack->tails_untold ? recorded : TH_FRAME_UNKNOWN);
    stack->at = TH_STACK_AT_TOP;
    stack->entered = true;
    stack->ended = stack->raised = false;
}

struct th_caller th_recorded_caller(struct th_execution *execution, struct th_recorded_stack *stack)
{
    if (stack->caller == TH_FRAME_UNKNOWN && !stack->asked)
        execution->counts.callers_unknown++;
    stack->asked = true;
    return th_recorded_unpack_caller(stack->caller);
}

/* If the recorded caller differs from the stack's, it replaces the first caller, and the next one
 * is unknown. */
size_t th_recorded_callers(const struct th_recorded_stack *stack, struct th_caller callers[],
                           size_t most)
{
    th_frame_function found[TH_EXECUTION_CALLERS];
    size_t count;

    if (most > TH_EXECUTION_CALLERS)
        most = TH_EXECUTION_CALLERS;
    count = stack->frames.count ? th_recorded_frames_callers(&stack->frames, found, most) : 0;
    if (most > 0 && (count == 0 || found[0] != stack->caller)) {
        found[0] = stack->caller;
        count = 1;
        if (most > 1 && stack->caller >= TH_FRAME_FUNCTION_FIRST)
            found[count++] = TH_FRAME_UNKNOWN;
    }
    for (size_t i = 0; i < count; i++)
        callers[i] = th_recorded_unpack_caller(found[i]);
    return count;
}

void th_recorded_want(struct th_execution *execution, struct th_recorded_stack *stack,
                      uint64_t word, uint64_t sessions)
{
    struct th_frames *frames = &stack->frames;

    execution->counts.wanted++;
    execution->returns_matter |= sessions != 0;
    stack->sessions.latest |= sessions;
    if (stack->entered)
        th_recorded_frames_want_call(frames, &execution->bounds, word);
    else
        th_recorded_frames_push(frames, &execution->bounds,
                                th_recorded_frames_top(frames)->function, TH_FRAME_SAME, word,
                                th_recorded_frames_recorded_caller(frames, frames->count - 1));
    stack->entered = false;
}

/* --- callers in records --- */

/* {M, F, Arity, Location} */
static bool is_caller(th_term t, struct th_mfa *function)
{
    const th_term *e;

    if (!th_is_tuple(t) || th_tuple_arity(t) != 4)
        return false;
    e = th_tuple_elements(t);
    if (!th_is_atom(e[0]) || !th_is_atom(e[1]) || !th_is_small(e[2]) || th_small_value(e[2]) < 0 ||
        th_small_value(e[2]) > TH_FUNCTION_ARITY_MAX)
        return false;
    *function = (struct th_mfa){e[0], e[1], (uint32_t)th_small_value(e[2])};
    return true;
}

struct th_caller th_recorded_caller_of_result(th_term result)
{
    struct th_caller caller = {.kind = TH_CALLER_UNKNOWN};
    bool is_function = false;
    th_term line;

    if (result == TH_AM(undefined))
        caller.kind = TH_CALLER_UNDEFINED;
    else if (result != TH_NONE)
        is_function = th_trace_event_function_from_term(result, &caller.function);
    if (!is_function && result != TH_NONE && is_caller(result, &caller.function)) {
        line = th_tuple_elements(result)[3];
        is_function = line == TH_AM(undefined) || (th_is_tuple(line) && th_tuple_arity(line) == 2);
    }
    if (is_function)
        caller.kind = TH_CALLER_FUNCTION;
    return caller;
}

bool th_recorded_are_callers(th_term callers)
{
    struct th_mfa function;
    size_t count = 0;

    for (; th_is_list(callers); callers = th_cell(callers)[1])
        if (++count > TH_EXECUTION_CALLERS || !is_caller(th_cell(callers)[0], &function))
            return false;
    return callers == TH_NIL || callers == TH_AM(undefined);
}

struct th_caller th_recorded_first_caller(th_term callers)
{
    struct th_caller caller = {.kind = TH_CALLER_FUNCTION};

    if (callers == TH_NIL)
        caller.kind = TH_CALLER_UNDEFINED;
    else if (!th_is_list(callers) || !is_caller(th_cell(callers)[0], &caller.function))
        caller.kind = TH_CALLER_UNKNOWN;
    return caller;
}

bool th_recorded_ends_process(const struct th_event *event, struct th_caller *function)
{
    function->kind = TH_CALLER_UNDEFINED;
    if (event->tag == TH_TAG_return_to)
        th_error_clear();
    return event->tag == TH_TAG_return_to;
}
