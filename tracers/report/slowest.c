/*
 * The slowest calls, with their arguments and results.
 *
 * A call is known to be slow when it ends, but its arguments are no longer known then: so arguments
 * of open calls are kept as texts, in slots; of each process those of its outermost calls.
 */
#include "merge.h"

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
        memcpy(&slowest->free_slot, slowest->slots[slot] + 1, sizeof slot);
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
    if (past_is_played())
        *slowest->slots[slot] = 0;
    else
        print_bounded(slowest->slots[slot], event->env, elements[2]);
    event->process->arguments++;
    return slot;
}

void slowest_drop(struct slowest *slowest, struct process *process, uint32_t mark)
{
    if (!mark)
        return;
    *slowest->slots[mark] = 0;
    memcpy(slowest->slots[mark] + 1, &slowest->free_slot, sizeof mark);
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

static bool is_kept(const struct slowest *slowest, const struct slow_call *call)
{
    return slowest->used < SLOWEST || is_less(&slowest->calls[0], call);
}

/* Keeps a call that is_kept(). */
static void keep(struct slowest *slowest, const struct slow_call *call)
{
    if (slowest->used < SLOWEST) {
        slowest->calls[slowest->used] = *call;
        sift_up(slowest, slowest->used++);
        return;
    }
    free_call(&slowest->calls[0]);
    slowest->calls[0] = *call;
    sift_down(slowest);
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

    if (past_is_played() || !is_kept(slowest, &call))
        return;
    if (frame->mark && !*slowest->slots[frame->mark])
        call.slot = frame->mark;
    else if (frame->mark && !(call.arguments = strdup(slowest->slots[frame->mark])))
        loss_add();
    call.outcome = event->extra ? text_of(event->env, event->extra) : NULL;
    keep(slowest, &call);
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

/* --- shares --- */

static const struct field fields[] = {
    FIELD(struct slow_call, function.arity), FIELD(struct slow_call, at),
    FIELD(struct slow_call, took),           FIELD(struct slow_call, own),
    FIELD(struct slow_call, order),          FIELD(struct slow_call, error),
    FIELD(struct slow_call, slot),
};

enum { FIELDS = sizeof fields / sizeof fields[0], ELEMENTS = 6 };

/* {Fields, Process or 0, Module, Function, Arguments, Outcome}; 0 if there is no memory. */
static ERL_NIF_TERM save_call(ErlNifEnv *env, const struct slow_call *call)
{
    const ERL_NIF_TERM elements[ELEMENTS] = {
        fields_save(env, call, fields, FIELDS),
        call->process ? call->process->tracee.term : enif_make_uint(env, 0),
        call->function.module,
        call->function.function,
        text_save(env, call->arguments),
        text_save(env, call->outcome),
    };

    return tuple_save(env, elements, ELEMENTS);
}

/* {Calls, Arguments}: Arguments are {Slot, Text}, of calls that began in the share. */
ERL_NIF_TERM slowest_save(ErlNifEnv *env, struct slowest *slowest)
{
    ERL_NIF_TERM calls = enif_make_list(env, 0), arguments = calls, saved = calls;

    for (size_t i = 0; i < slowest->used && saved; i++) {
        saved = save_call(env, &slowest->calls[i]);
        calls = saved ? enif_make_list_cell(env, saved, calls) : 0;
        free_call(&slowest->calls[i]);
    }
    slowest->used = 0;
    for (uint32_t i = 1; i < slowest->slots_used && saved; i++) {
        if (!*slowest->slots[i])
            continue;
        saved = text_save(env, slowest->slots[i]);
        if (saved)
            arguments = enif_make_list_cell(
                env, enif_make_tuple2(env, enif_make_uint(env, i), saved), arguments);
    }
    return saved ? enif_make_tuple2(env, calls, arguments) : 0;
}

static bool take_call(ErlNifEnv *env, struct report *report, ERL_NIF_TERM saved)
{
    struct slowest *slowest = &report->slowest;
    const ERL_NIF_TERM *elements;
    struct slow_call call = {0};
    int size;

    if (!enif_get_tuple(env, saved, &size, &elements) || size != ELEMENTS ||
        !fields_take(env, elements[0], &call, fields, FIELDS) ||
        call.slot >= slowest->slots_size + !slowest->slots_size)
        return false;
    call.process = tracees_find(&report->processes, elements[1]);
    call.function.module = elements[2];
    call.function.function = elements[3];
    if (!is_kept(slowest, &call))
        return true;
    if (!text_take(env, elements[4], &call.arguments) ||
        !text_take(env, elements[5], &call.outcome) ||
        (call.slot && !(call.arguments = strdup(slowest->slots[call.slot]))))
        return false;
    keep(slowest, &call);
    return true;
}

static bool take_arguments(ErlNifEnv *env, struct slowest *slowest, ERL_NIF_TERM saved)
{
    const ERL_NIF_TERM *elements;
    ErlNifBinary text;
    unsigned slot;
    int size;

    if (!enif_get_tuple(env, saved, &size, &elements) || size != 2 ||
        !enif_get_uint(env, elements[0], &slot) || !enif_inspect_binary(env, elements[1], &text) ||
        text.size >= TEXT_MOST)
        return false;
    while (slot >= slowest->slots_size)
        if (!grow(slowest))
            return false;
    memcpy(slowest->slots[slot], text.data, text.size);
    slowest->slots[slot][text.size] = 0;
    return true;
}

bool slowest_take(ErlNifEnv *env, struct report *report, ERL_NIF_TERM saved)
{
    const ERL_NIF_TERM *elements;
    ERL_NIF_TERM list, head;
    int size;

    if (!enif_get_tuple(env, saved, &size, &elements) || size != 2)
        return false;
    for (list = elements[0]; enif_get_list_cell(env, list, &head, &list);)
        if (!take_call(env, report, head))
            return false;
    for (list = elements[1]; enif_get_list_cell(env, list, &head, &list);)
        if (!take_arguments(env, &report->slowest, head))
            return false;
    return true;
}

void slowest_free(struct slowest *slowest)
{
    for (size_t i = 0; i < slowest->used; i++)
        free_call(&slowest->calls[i]);
    free(slowest->slots);
}
