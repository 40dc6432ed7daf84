/*
 * The slowest calls, with their arguments and results.
 *
 * A call is known to be slow when it ends, but its arguments are no longer known then: so arguments
 * of open calls are kept as texts, in slots; of each process those of its outermost calls.
 */
#include "report.h"

/* --- slots --- */

/* Adds slots. False if there is no more room. */
static bool grow(struct slowest *slowest)
{
    uint32_t size = slowest->slots_size ? 2 * slowest->slots_size : 64;
    void *slots =
        size <= ARGUMENTS_OF_ALL ? realloc(slowest->slots, (size_t)size * TEXT_MOST) : NULL;

    if (!slots) {
        if (size <= ARGUMENTS_OF_ALL)
            loss_add();
        return false;
    }
    slowest->slots = slots;
    slowest->slots_size = size;
    slowest->slots_used += !slowest->slots_used; /* slot 0 is not used */
    return true;
}

static uint32_t new_slot(struct slowest *slowest)
{
    uint32_t slot = slowest->free_slot;

    if (slot) {
        memcpy(&slowest->free_slot, slowest->slots[slot], sizeof slot);
        return slot;
    }
    if (slowest->slots_used == slowest->slots_size && !grow(slowest))
        return 0;
    return slowest->slots_used++;
}

uint32_t slowest_keep(const struct event *event)
{
    struct slowest *slowest = &event->report->slowest;
    const ERL_NIF_TERM *elements;
    uint32_t slot;
    int size;

    if (!event->process || event->process->arguments >= ARGUMENTS_KEPT || event->now == TIME_NONE ||
        !enif_get_tuple(event->env, event->term, &size, &elements) || size != 3 ||
        !enif_is_list(event->env, elements[2]))
        return 0;
    slot = new_slot(slowest);
    if (!slot)
        return 0;
    print_bounded(slowest->slots[slot], event->env, elements[2]);
    event->process->arguments++;
    return slot;
}

void slowest_drop(struct slowest *slowest, struct process *process, uint32_t mark)
{
    if (!mark)
        return;
    memcpy(slowest->slots[mark], &slowest->free_slot, sizeof mark);
    slowest->free_slot = mark;
    if (process && process->arguments) /* not always the process that began the call */
        process->arguments--;
}

void slowest_drop_all(struct slowest *slowest)
{
    slowest->slots_used = slowest->slots_size ? 1 : 0;
    slowest->free_slot = 0;
}

/* --- the heap --- */

/* Compares two calls; of equally long ones, the call that ended last is the lesser one. */
static bool is_less(const struct slow_call *a, const struct slow_call *b)
{
    return a->took != b->took ? a->took < b->took : a->order > b->order;
}

static void swap(struct slow_call *a, struct slow_call *b)
{
    struct slow_call kept = *a;

    *a = *b;
    *b = kept;
}

static void sift_up(struct slowest *slowest, size_t i)
{
    for (; i && is_less(&slowest->calls[i], &slowest->calls[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&slowest->calls[i], &slowest->calls[(i - 1) / 2]);
}

static void sift_down(struct slowest *slowest)
{
    size_t i = 0, child;

    while ((child = 2 * i + 1) < slowest->used) {
        child += child + 1 < slowest->used &&
                 is_less(&slowest->calls[child + 1], &slowest->calls[child]);
        if (!is_less(&slowest->calls[child], &slowest->calls[i]))
            return;
        swap(&slowest->calls[i], &slowest->calls[child]);
        i = child;
    }
}

static void free_call(struct slow_call *call)
{
    free(call->arguments);
    free(call->outcome);
}

static void add(const struct event *event, const struct ended *ended)
{
    struct slowest *slowest = &event->report->slowest;
    const struct open_call *frame = &ended->frame;
    struct slow_call call = {
        .function = {.module = frame->mfa.module,
                     .function = frame->mfa.function,
                     .arity = frame->mfa.arity},
        .process = event->process,
        .at = frame->began,
        .took = (uint64_t)ended->took,
        .own = ended_own(ended),
        .order = slowest->ended++,
        .error = event->tag == TH_TRACER_ATOM(event->env, exception_from),
    };

    if (slowest->used == SLOWEST && call.took <= slowest->calls[0].took)
        return;
    call.arguments = frame->mark ? strdup(slowest->slots[frame->mark]) : NULL;
    if (frame->mark && !call.arguments)
        loss_add();
    call.outcome = event->extra ? text_of(event->env, event->extra) : NULL;
    if (slowest->used < SLOWEST) {
        slowest->calls[slowest->used] = call;
        sift_up(slowest, slowest->used++);
        return;
    }
    free_call(&slowest->calls[0]);
    slowest->calls[0] = call;
    sift_down(slowest);
}

void slowest_ended(const struct event *event, const struct ended *ended)
{
    if (ended->told && ended->took != TIME_NONE)
        add(event, ended);
    slowest_drop(&event->report->slowest, event->process, ended->frame.mark);
}

/* --- the end --- */

void slowest_forget(struct slowest *slowest)
{
    for (size_t i = 0; i < slowest->used; i++)
        if (slowest->calls[i].process && slowest->calls[i].process->forgotten)
            slowest->calls[i].process = NULL;
}

static int compare(const void *left, const void *right)
{
    return is_less(left, right) - is_less(right, left);
}

void slowest_sort(struct slowest *slowest)
{
    qsort(slowest->calls, slowest->used, sizeof *slowest->calls, compare);
}

void slowest_free(struct slowest *slowest)
{
    for (size_t i = 0; i < slowest->used; i++)
        free_call(&slowest->calls[i]);
    free(slowest->slots);
}
