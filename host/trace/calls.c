#include "calls.h"

#include "host/base/base.h"

static bool is_of(const struct th_open_call *call, const struct th_function *function)
{
    return call->function.function == function->function &&
           call->function.module == function->module && call->function.arity == function->arity;
}

/* Forgets the older half of a full stack and tells how many calls that were. */
static uint64_t forget_half(struct th_calls *calls)
{
    uint32_t half = calls->count / 2;
    uint64_t lost = 0;

    for (uint32_t i = 0; i < half; i++)
        lost += calls->stack[i].times;
    memmove(calls->stack, calls->stack + half, (calls->count - half) * sizeof *calls->stack);
    calls->count -= half;
    return lost;
}

static void push(struct th_calls *calls, const struct th_function *function, uint64_t discarded)
{
    struct th_open_call *top = calls->count ? &calls->stack[calls->count - 1] : NULL;

    if (top && is_of(top, function) && top->discarded == discarded && top->times < UINT32_MAX) {
        top->times++;
        return;
    }
    TH_ARRAY_GROW(calls->stack, calls->count, calls->capacity);
    calls->stack[calls->count++] = (struct th_open_call){*function, 1, discarded};
}

bool th_calls_are_habit(struct th_calls_habit *habit, uint64_t offered, uint64_t discarded)
{
    if (habit->broken)
        return false;
    habit->discarding |= offered & ~habit->seen & discarded;
    habit->seen |= offered;
    habit->broken = (habit->discarding & offered) != discarded;
    return !habit->broken;
}

void th_calls_enter(struct th_calls *calls, const struct th_calls_habit *habit,
                    const struct th_function *function, uint64_t offered, uint64_t discarded,
                    uint64_t *forgotten)
{
    calls->ended = TH_CALLS_ENDED_NOT;
    if (calls->count == TH_CALLS_LIMIT)
        *forgotten += forget_half(calls);
    /* For a session that was not asked nothing has changed. */
    push(calls, function, discarded | (habit->discarding & ~offered));
}

/* The entry of FUNCTION below END that is nearest to it; END if there is none. */
static uint32_t find(const struct th_calls *calls, const struct th_function *function, uint32_t end)
{
    for (uint32_t i = end; i > 0; i--)
        if (is_of(&calls->stack[i - 1], function))
            return i - 1;
    return end;
}

/* Ends one call of ENTRY and all above it. */
static uint64_t pop(struct th_calls *calls, uint32_t entry)
{
    uint64_t discarded = calls->stack[entry].discarded;

    calls->count = entry + (--calls->stack[entry].times > 0);
    return discarded;
}

uint64_t th_calls_return_from(struct th_calls *calls, const struct th_calls_habit *habit,
                              const struct th_function *function)
{
    uint32_t entry = find(calls, function, calls->count);
    uint64_t withheld = entry < calls->count ? pop(calls, entry) : habit->discarding;

    /* Calls that return one after the other, nothing in between, were tail calls of each other. */
    calls->latest = calls->ended == TH_CALLS_ENDED_BY_RETURN ? calls->latest & withheld : withheld;
    calls->ended = TH_CALLS_ENDED_BY_RETURN;
    return withheld;
}

uint64_t th_calls_exception_from(struct th_calls *calls, const struct th_calls_habit *habit,
                                 const struct th_function *function)
{
    uint32_t entry = find(calls, function, calls->count);

    calls->latest = entry < calls->count ? pop(calls, entry) : habit->discarding;
    calls->ended = TH_CALLS_ENDED_BY_EXCEPTION;
    return calls->latest;
}

/* Ends all calls above ENTRY, tail calls of each other: the sessions that discarded every one. */
static uint64_t return_above(struct th_calls *calls, uint32_t entry)
{
    uint64_t withheld = UINT64_MAX;

    while (calls->count > entry + 1)
        withheld &= calls->stack[--calls->count].discarded;
    return withheld;
}

/* Ends all calls above ENTRY, which catches: the sessions that discarded the nearest of them. */
static uint64_t catch_above(struct th_calls *calls, uint32_t entry)
{
    calls->count = entry + 1;
    return calls->stack[calls->count].discarded;
}

/* A return_to with neither return_from nor exception_from before it: at least one call has ended
 * with it. */
static uint64_t lone_return_to(struct th_calls *calls, const struct th_calls_habit *habit,
                               const struct th_function *function)
{
    uint32_t top = calls->count - 1;
    uint32_t entry;

    if (calls->count == 0)
        return habit->discarding;
    entry = find(calls, function, top);
    if (entry == top || (calls->stack[top].times > 1 && is_of(&calls->stack[top], function)))
        return pop(calls, top);
    return habit->returns ? catch_above(calls, entry) : return_above(calls, entry);
}

uint64_t th_calls_return_to(struct th_calls *calls, const struct th_calls_habit *habit,
                            const struct th_function *function)
{
    uint64_t withheld = calls->latest;
    enum th_calls_ended ended = calls->ended;
    uint32_t entry = find(calls, function, calls->count);

    calls->ended = TH_CALLS_ENDED_NOT;
    if (ended == TH_CALLS_ENDED_NOT)
        return lone_return_to(calls, habit, function);
    if (calls->count <= entry + 1)
        return withheld;
    if (ended == TH_CALLS_ENDED_BY_EXCEPTION)
        return catch_above(calls, entry);
    return withheld & return_above(calls, entry);
}

void th_calls_forget(struct th_calls *calls, uint64_t gone)
{
    calls->latest &= ~gone;
    for (uint32_t i = 0; i < calls->count; i++)
        calls->stack[i].discarded &= ~gone;
}

void th_calls_forget_habit(struct th_calls_habit *habit, uint64_t gone)
{
    habit->seen &= ~gone;
    habit->discarding &= ~gone;
}

void th_calls_free(struct th_calls *calls)
{
    th_free(calls->stack);
    *calls = (struct th_calls){0};
}
