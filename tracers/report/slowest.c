/*
 * The slowest calls, with their arguments and results, and the slowest outermost calls, with the
 * calls that they made (see requests.c).
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

/* A mark of an open call: the slot of its arguments, and its node. */
_Static_assert(ARGUMENTS_OF_ALL <= 1 << 16 && REQUEST_NODES < 1 << 16, "a mark has room for both");

static uint32_t slot_of(uint32_t mark)
{
    return mark & 0xFFFF;
}

static uint32_t node_of(uint32_t mark)
{
    return mark >> 16;
}

/* Returns the slot of the call's arguments; 0: they are not kept. */
static uint32_t keep_arguments(const struct event *event)
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

uint32_t slowest_keep(const struct event *event)
{
    uint32_t slot = keep_arguments(event);
    struct mfa mfa;

    if (!event->process || !mfa_read(event->env, event->term, &mfa))
        return slot;
    return slot | request_begin(event->process, &mfa) << 16;
}

static void drop_arguments(struct slowest *slowest, struct process *process, uint32_t slot)
{
    if (!slot)
        return;
    *slowest->slots[slot] = 0;
    memcpy(slowest->slots[slot] + 1, &slowest->free_slot, sizeof slot);
    slowest->free_slot = slot;
    if (process && process->arguments) /* not always the process that began the call */
        process->arguments--;
}

void slowest_drop(struct slowest *slowest, struct process *process, uint32_t mark)
{
    drop_arguments(slowest, process, slot_of(mark));
    if (process)
        request_break(process);
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

static void sift_up(struct slow_calls *heap, size_t i)
{
    for (; i && is_less(&heap->calls[i], &heap->calls[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&heap->calls[i], &heap->calls[(i - 1) / 2]);
}

static void sift_down(struct slow_calls *heap)
{
    size_t i = 0, child;

    while ((child = 2 * i + 1) < heap->used) {
        child += child + 1 < heap->used && is_less(&heap->calls[child + 1], &heap->calls[child]);
        if (!is_less(&heap->calls[child], &heap->calls[i]))
            return;
        swap(&heap->calls[i], &heap->calls[child]);
        i = child;
    }
}

static void free_call(struct slow_call *call)
{
    free(call->arguments);
    free(call->outcome);
    free(call->nodes);
}

static bool is_kept(const struct slow_calls *heap, size_t most, const struct slow_call *call)
{
    return heap->used < most || is_less(&heap->calls[0], call);
}

/* Keeps a call that is_kept(). */
static void keep(struct slow_calls *heap, size_t most, const struct slow_call *call)
{
    if (heap->used < most) {
        heap->calls[heap->used] = *call;
        sift_up(heap, heap->used++);
        return;
    }
    free_call(&heap->calls[0]);
    heap->calls[0] = *call;
    sift_down(heap);
}

/* Sets the texts of CALL. */
static void add_texts(const struct event *event, const struct ended *ended, struct slow_call *call)
{
    struct slowest *slowest = &event->report->slowest;
    uint32_t slot = slot_of(ended->frame.mark);

    if (slot && !*slowest->slots[slot])
        call->slot = slot;
    else if (slot && !(call->arguments = strdup(slowest->slots[slot])))
        loss_add();
    call->outcome = event->extra ? text_of(event->env, event->extra) : NULL;
}

/* REQUEST: an outermost call, whose tree is complete. */
static void add(const struct event *event, const struct ended *ended, bool request)
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
    struct slow_call tree = call;

    if (past_is_played())
        return;
    if (is_kept(&slowest->all, SLOWEST, &call)) {
        add_texts(event, ended, &call);
        keep(&slowest->all, SLOWEST, &call);
    }
    if (request && is_kept(&slowest->requests, REQUESTS, &tree)) {
        add_texts(event, ended, &tree);
        request_copy(&event->process->request, &tree);
        keep(&slowest->requests, REQUESTS, &tree);
    }
}

void slowest_ended(const struct event *event, const struct ended *ended)
{
    uint32_t mark = ended->frame.mark;
    bool told = ended->told && ended->took != TIME_NONE, request = false;

    if (event->process)
        request = request_end(event->process, node_of(mark), told ? ended->took : TIME_NONE);
    if (told)
        add(event, ended, request);
    drop_arguments(&event->report->slowest, event->process, slot_of(mark));
}

/* --- the end --- */

static void forget_processes(struct slow_calls *heap)
{
    for (size_t i = 0; i < heap->used; i++)
        if (heap->calls[i].process && heap->calls[i].process->forgotten)
            heap->calls[i].process = NULL;
}

void slowest_forget(struct slowest *slowest)
{
    forget_processes(&slowest->all);
    forget_processes(&slowest->requests);
}

static int compare(const void *left, const void *right)
{
    return is_less(left, right) - is_less(right, left);
}

void slowest_sort(struct slow_calls *calls)
{
    qsort(calls->calls, calls->used, sizeof *calls->calls, compare);
}

/* --- shares --- */

static const struct field fields[] = {
    FIELD(struct slow_call, function.arity), FIELD(struct slow_call, at),
    FIELD(struct slow_call, took),           FIELD(struct slow_call, own),
    FIELD(struct slow_call, order),          FIELD(struct slow_call, error),
    FIELD(struct slow_call, slot),
};

static const struct field node_fields[] = {
    FIELD(struct request_node, mfa.arity), FIELD(struct request_node, parent),
    FIELD(struct request_node, count),     FIELD(struct request_node, took),
    FIELD(struct request_node, untold),    FIELD(struct request_node, more),
};

enum {
    FIELDS = sizeof fields / sizeof fields[0],
    ELEMENTS = 7,
    NODE_FIELDS = sizeof node_fields / sizeof node_fields[0],
    NODE_ELEMENTS = 3
};

/* A list of {Fields, Module, Function}; 0 if there is no memory. */
static ERL_NIF_TERM save_nodes(ErlNifEnv *env, const struct slow_call *call)
{
    ERL_NIF_TERM list = enif_make_list(env, 0), saved;

    for (uint32_t i = call->nodes_used; i-- > 1;) {
        const struct request_node *node = &call->nodes[i];
        const ERL_NIF_TERM elements[NODE_ELEMENTS] = {
            fields_save(env, node, node_fields, NODE_FIELDS), node->mfa.module, node->mfa.function};
        saved = tuple_save(env, elements, NODE_ELEMENTS);
        if (!saved)
            return 0;
        list = enif_make_list_cell(env, saved, list);
    }
    return list;
}

static bool take_nodes(ErlNifEnv *env, struct slow_call *call, ERL_NIF_TERM list)
{
    const ERL_NIF_TERM *elements;
    ERL_NIF_TERM head;
    unsigned count;
    int size;

    if (!enif_get_list_length(env, list, &count) || count > REQUEST_NODES)
        return false;
    call->nodes = count ? calloc(count + 1, sizeof *call->nodes) : NULL;
    if (count && !call->nodes)
        return false;
    for (call->nodes_used = 1; enif_get_list_cell(env, list, &head, &list); call->nodes_used++) {
        struct request_node *node = &call->nodes[call->nodes_used];
        if (!enif_get_tuple(env, head, &size, &elements) || size != NODE_ELEMENTS ||
            !fields_take(env, elements[0], node, node_fields, NODE_FIELDS) ||
            node->parent >= call->nodes_used)
            return false;
        node->mfa.module = elements[1];
        node->mfa.function = elements[2];
    }
    return true;
}

/* {Fields, Process or 0, Module, Function, Arguments, Outcome, Nodes}; 0 if there is no memory. */
static ERL_NIF_TERM save_call(ErlNifEnv *env, const struct slow_call *call)
{
    const ERL_NIF_TERM elements[ELEMENTS] = {
        fields_save(env, call, fields, FIELDS),
        call->process ? call->process->tracee.term : enif_make_uint(env, 0),
        call->function.module,
        call->function.function,
        text_save(env, call->arguments),
        text_save(env, call->outcome),
        save_nodes(env, call),
    };

    return tuple_save(env, elements, ELEMENTS);
}

/* Returns the calls as a list, and frees them; 0 if there is no memory. */
static ERL_NIF_TERM save_calls(ErlNifEnv *env, struct slow_calls *heap)
{
    ERL_NIF_TERM calls = enif_make_list(env, 0), saved = calls;

    for (size_t i = 0; i < heap->used; i++) {
        saved = saved ? save_call(env, &heap->calls[i]) : 0;
        calls = saved ? enif_make_list_cell(env, saved, calls) : 0;
        free_call(&heap->calls[i]);
    }
    heap->used = 0;
    return calls;
}

/* {Calls, Requests, Arguments}: Arguments are {Slot, Text}, of calls that began in the share. */
ERL_NIF_TERM slowest_save(ErlNifEnv *env, struct slowest *slowest)
{
    ERL_NIF_TERM calls = save_calls(env, &slowest->all);
    ERL_NIF_TERM requests = save_calls(env, &slowest->requests);
    ERL_NIF_TERM arguments = enif_make_list(env, 0), saved = arguments;

    for (uint32_t i = 1; i < slowest->slots_used && saved; i++) {
        if (!*slowest->slots[i])
            continue;
        saved = text_save(env, slowest->slots[i]);
        if (saved)
            arguments = enif_make_list_cell(
                env, enif_make_tuple2(env, enif_make_uint(env, i), saved), arguments);
    }
    return saved && calls && requests ? enif_make_tuple3(env, calls, requests, arguments) : 0;
}

static bool take_call(ErlNifEnv *env, struct report *report, struct slow_calls *heap, size_t most,
                      ERL_NIF_TERM saved)
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
    if (!is_kept(heap, most, &call))
        return true;
    if (!text_take(env, elements[4], &call.arguments) ||
        !text_take(env, elements[5], &call.outcome) || !take_nodes(env, &call, elements[6]) ||
        (call.slot && !(call.arguments = strdup(slowest->slots[call.slot])))) {
        free_call(&call);
        return false;
    }
    keep(heap, most, &call);
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
    struct slowest *slowest = &report->slowest;
    const ERL_NIF_TERM *elements;
    ERL_NIF_TERM list, head;
    int size;

    if (!enif_get_tuple(env, saved, &size, &elements) || size != 3)
        return false;
    for (list = elements[0]; enif_get_list_cell(env, list, &head, &list);)
        if (!take_call(env, report, &slowest->all, SLOWEST, head))
            return false;
    for (list = elements[1]; enif_get_list_cell(env, list, &head, &list);)
        if (!take_call(env, report, &slowest->requests, REQUESTS, head))
            return false;
    for (list = elements[2]; enif_get_list_cell(env, list, &head, &list);)
        if (!take_arguments(env, slowest, head))
            return false;
    return true;
}

void slowest_free(struct slowest *slowest)
{
    for (size_t i = 0; i < slowest->all.used; i++)
        free_call(&slowest->all.calls[i]);
    for (size_t i = 0; i < slowest->requests.used; i++)
        free_call(&slowest->requests.calls[i]);
    free(slowest->slots);
}
