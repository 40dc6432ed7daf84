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
    calls->after_return = false;
    if (calls->count == TH_CALLS_LIMIT)
        *forgotten += forget_half(calls);
    /* For a session that was not asked nothing has changed. */
    push(calls, function, discarded | (habit->discarding & ~offered));
}

/* The entry of FUNCTION that is nearest to the top; calls->count if there is none. */
static uint32_t find(const struct th_calls *calls, const struct th_function *function)
{
    for (uint32_t i = calls->count; i > 0; i--)
        if (is_of(&calls->stack[i - 1], function))
            return i - 1;
    return calls->count;
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
    uint32_t entry = find(calls, function);
    uint64_t withheld = entry < calls->count ? pop(calls, entry) : habit->discarding;

    calls->latest = calls->after_return ? calls->latest & withheld : withheld;
    calls->after_return = true;
    return withheld;
}

/*
 * The record names the function that control came back to, not the one it left. Right after a
 * return_from or exception_from it belongs to the calls that those ended, and one of them that was
 * wanted is enough. Alone, it ends the calls above its function, if that one is on the stack, else
 * the topmost call.
 */
uint64_t th_calls_return_to(struct th_calls *calls, const struct th_calls_habit *habit,
                            const struct th_function *function)
{
    uint32_t entry = find(calls, function);
    uint64_t withheld = UINT64_MAX;

    if (calls->after_return) {
        calls->after_return = false;
        return calls->latest;
    }
    if (calls->count == 0 || entry + 1 == calls->count)
        return habit->discarding;
    if (entry == calls->count)
        return pop(calls, calls->count - 1);
    while (calls->count > entry + 1)
        withheld &= calls->stack[--calls->count].discarded;
    return withheld;
}

void th_calls_free(struct th_calls *calls)
{
    th_free(calls->stack);
    *calls = (struct th_calls){0};
}
