#include "calls.h"

#include "host/base/base.h"

static bool is_of(const struct th_open_call *call, const struct th_function *function)
{
    return call->function == function->function && call->module == function->module &&
           call->arity == function->arity;
}

/* Forgets the older half of a full stack and tells how many calls that were. */
static uint64_t forget_half(struct th_calls *calls)
{
    uint32_t half = calls->count / 2;
    uint64_t calls_lost = 0;

    for (uint32_t i = 0; i < half; i++)
        calls_lost += calls->stack[i].times;
    memmove(calls->stack, calls->stack + half, (calls->count - half) * sizeof *calls->stack);
    calls->count -= half;
    return calls_lost;
}

static void push(struct th_calls *calls, const struct th_function *function, uint64_t discarded)
{
    struct th_open_call *top = calls->count ? &calls->stack[calls->count - 1] : NULL;

    if (top && is_of(top, function) && top->discarded == discarded && top->times < UINT32_MAX) {
        top->times++;
        return;
    }
    TH_ARRAY_GROW(calls->stack, calls->count, calls->capacity);
    calls->stack[calls->count++] = (struct th_open_call){
        .module = function->module,
        .function = function->function,
        .arity = function->arity,
        .times = 1,
        .discarded = discarded,
    };
}

/* True if one bit a session still tells all: every session discards this call as it did those before. */
static bool is_as_before(struct th_calls *calls, uint64_t offered, uint64_t discarded)
{
    uint64_t first = offered & ~calls->seen;

    if (calls->stacking)
        return false;
    calls->seen |= offered;
    calls->discarding |= first & discarded;
    return (calls->discarding & offered) == discarded;
}

enum th_status th_calls_enter(struct th_calls *calls, struct th_event *event, uint64_t offered,
                              uint64_t discarded, uint64_t *forgotten)
{
    struct th_function function;
    enum th_status status;

    calls->after_return = false;
    if (is_as_before(calls, offered, discarded))
        return TH_OK;
    status = event->source->function(event, &function);
    if (status != TH_OK)
        return status;
    calls->stacking = true;
    if (calls->count == TH_CALLS_LIMIT)
        *forgotten += forget_half(calls);
    /* A session that was not asked keeps its old bit, as if nothing had been called. */
    push(calls, &function, discarded | (calls->discarding & ~offered));
    return TH_OK;
}

/* The entry of FUNCTION that is nearest to the top; its index, or calls->count if there is none. */
static uint32_t find(const struct th_calls *calls, const struct th_function *function)
{
    for (uint32_t i = calls->count; i > 0; i--)
        if (is_of(&calls->stack[i - 1], function))
            return i - 1;
    return calls->count;
}

static uint64_t pop(struct th_calls *calls, uint32_t entry)
{
    uint64_t discarded = calls->stack[entry].discarded;

    calls->count = entry + (--calls->stack[entry].times > 0);
    return discarded;
}

/*
 * A return_to names the function that control came back to, not the one it left. Right after a return_from or
 * exception_from it belongs to the calls that those ended, and one of them that was wanted is enough. Alone, it
 * ends the calls above its function, if that one is on the stack, else the topmost call.
 */
static uint64_t return_to(struct th_calls *calls, const struct th_function *function)
{
    uint32_t entry = find(calls, function);
    uint64_t withheld = UINT64_MAX;

    if (calls->after_return)
        return calls->latest;
    if (calls->count == 0 || entry == calls->count - 1)
        return calls->discarding;
    if (entry == calls->count)
        return pop(calls, calls->count - 1);
    while (calls->count > entry + 1)
        withheld &= calls->stack[--calls->count].discarded;
    return withheld;
}

static uint64_t return_from(struct th_calls *calls, const struct th_function *function)
{
    uint32_t entry = find(calls, function);
    uint64_t withheld = entry < calls->count ? pop(calls, entry) : calls->discarding;

    calls->latest = calls->after_return ? calls->latest & withheld : withheld;
    calls->after_return = true;
    return withheld;
}

enum th_status th_calls_leave(struct th_calls *calls, struct th_event *event, uint64_t *withheld)
{
    struct th_function function;
    enum th_status status;

    if (!calls->stacking) {
        *withheld = calls->discarding;
        return TH_OK;
    }
    status = event->source->function(event, &function);
    if (status != TH_OK)
        return status;
    if (event->tag == TH_TAG_return_to) {
        *withheld = return_to(calls, &function);
        calls->after_return = false;
    } else {
        *withheld = return_from(calls, &function);
    }
    return TH_OK;
}

void th_calls_free(struct th_calls *calls)
{
    th_free(calls->stack);
    *calls = (struct th_calls){0};
}
