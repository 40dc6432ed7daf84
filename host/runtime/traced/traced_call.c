/* Calls that reach breakpoints, and their ends. */
#include "traced_call.h"

#include "native_call.h"

#include "host/base/long_array.h"
#include "host/code/export.h"

/* --- Open calls ------------------------------------------------------------------------------- */

enum {
    FEWEST = 8,           /* least size of a process' ring */
    KEPT = 1024,          /* ring size up to which an empty ring is kept */
    MOST = 1000000,       /* default limit of a process */
    MOST_OF_ALL = 1 << 24 /* limit of all processes together */
};

static size_t most = MOST;  /* written while there are no processes */
static _Atomic size_t room; /* sum of all rings' sizes; relaxed, as the next counts */
/* Since the start of the runtime: open calls dropped for lack of room; open calls whose native
 * frames longjmp() has left. */
static _Atomic uint64_t not_kept, left;

uint64_t th_runtime_calls_not_kept(void)
{
    return atomic_load_explicit(&not_kept, memory_order_relaxed);
}

uint64_t th_runtime_calls_left(void)
{
    return atomic_load_explicit(&left, memory_order_relaxed);
}

static size_t traced_call_bytes_of(size_t calls)
{
    return calls * sizeof(struct th_open_call);
}

/* Returns the size of the largest ring. */
static size_t most_bytes(void)
{
    size_t capacity = FEWEST;

    while (capacity < most)
        capacity *= 2;
    return traced_call_bytes_of(capacity);
}

static void free_ring(struct th_open_calls *open)
{
    atomic_fetch_sub_explicit(&room, open->capacity, memory_order_relaxed);
    th_long_array_free(open->ring, traced_call_bytes_of(open->capacity), most_bytes());
    *open = (struct th_open_calls){0};
}

void th_traced_open_refuse(struct th_process *process, struct th_live_requests *requests)
{
    th_live_drop(&process->live, requests);
    atomic_fetch_add_explicit(&not_kept, 1, memory_order_relaxed);
}

void th_traced_open_make_room(struct th_process *process)
{
    struct th_open_calls *open = &process->open;
    size_t had = open->capacity, capacity = had ? 2 * had : FEWEST;
    struct th_open_call *ring = NULL;

    if (open->count < most &&
        (!had || atomic_load_explicit(&room, memory_order_relaxed) + capacity - had <= MOST_OF_ALL))
        ring = th_long_array_grow(open->ring, traced_call_bytes_of(had),
                                  traced_call_bytes_of(capacity), most_bytes());
    if (!ring) { /* no more room is allowed: drops the oldest call */
        th_live_drop_oldest(&process->live, &th_traced_open_at(open, 0)->requests);
        open->bottom++;
        open->count--;
        atomic_fetch_add_explicit(&not_kept, 1, memory_order_relaxed);
        return;
    }
    atomic_fetch_add_explicit(&room, capacity - had, memory_order_relaxed);
    open->ring = ring;
    open->capacity = capacity;
    open->limit = capacity < most ? capacity : most;

    /* Calls that had wrapped to the ring's start continue behind its old end. */
    open->bottom = had ? open->bottom & (had - 1) : 0;
    for (size_t i = had; i < open->bottom + open->count; i++)
        open->ring[i] = open->ring[i - had];
}

/* --- Native frames --------------------------------------------------------------------------- */

/* Drops the latest call, whose native frame is gone. */
static void drop_top(struct th_process *process)
{
    struct th_open_call *call = th_traced_open_at(&process->open, --process->open.count);

    process->native_bytes = call->below;
    th_live_drop(&process->live, &call->requests);
    atomic_fetch_add_explicit(&left, 1, memory_order_relaxed);
}

void th_traced_open_drop_left(struct th_process *process, uintptr_t native)
{
    while (th_traced_open_is_below(th_traced_open_top(process), native))
        drop_top(process);
}

void th_traced_open_drop_code(struct th_process *process, const struct th_call *outer)
{
    const struct th_open_call *top;

    while ((top = th_traced_open_top(process)) && top->outer == outer && top->native != 0)
        drop_top(process);
}

/* Returns the index behind the last call of native frame NATIVE; 0: none. Later calls are on the
 * runtime's frame: functions called from the native frame have left them there. */
static size_t end_of_native(const struct th_process *process, uintptr_t native)
{
    const struct th_open_calls *open = &process->open;
    size_t i = open->count;

    while (i > 0 && th_traced_open_at(open, i - 1)->native == 0)
        i--;
    return i > 0 && th_traced_open_at(open, i - 1)->native == native ? i : 0;
}

void th_traced_open_end_native(struct th_process *process, uintptr_t native,
                               th_traced_open_end *end, void *context)
{
    struct th_open_calls *open = &process->open;
    size_t later = end_of_native(process, native), i = later;

    if (later == 0)
        return;
    while (i > 0 && th_traced_open_at(open, i - 1)->native == native)
        end(context, process, th_traced_open_at(open, --i));
    for (; later < open->count; later++)
        *th_traced_open_at(open, i++) = *th_traced_open_at(open, later);
    open->count = i;
}

void th_traced_open_hand_over(struct th_process *process, uintptr_t native)
{
    for (size_t i = end_of_native(process, native); i > 0; i--) {
        struct th_open_call *call = th_traced_open_at(&process->open, i - 1);
        if (call->native != native)
            return;
        call->native = 0;
    }
}

void th_traced_open_drop_all(struct th_process *process)
{
    struct th_open_calls *open = &process->open;

    while (open->count > 0)
        th_live_drop(&process->live, &th_traced_open_at(open, --open->count)->requests);
    if (open->capacity)
        free_ring(open);
}

/* --- Calls and their ends --------------------------------------------------------------------- */

void th_traced_calls_begin(const struct th_runtime_setup *setup)
{
    most = setup->open_calls ? setup->open_calls : MOST;
    atomic_store_explicit(&not_kept, 0, memory_order_relaxed);
    atomic_store_explicit(&left, 0, memory_order_relaxed);
    th_traced_native_calls_begin();
    if (setup->tracing)
        th_traced_functions_begin(setup->tracing);
}

/* NEXT: native site of CALLEE, which the call reaches next; NULL: it has no breakpoint. */
static inline __attribute__((always_inline)) void
meet_at_entry(struct th_process *process, const struct th_callee *callee, const th_term *argv,
              const struct th_call *outer, struct th_site *next)
{
    const struct th_module_function *traced = callee->entry->known;
    struct th_call_event call = {.process = &process->live,
                                 .function = &traced->live,
                                 .site = traced->live.function.site,
                                 .arguments = argv,
                                 .external = true};
    struct th_live_requests requests;
    struct th_open_call *made;

    if (th_self.in_trace_hook)
        return;
    th_self.in_trace_hook = TH_BUSY;
    if (th_live_is_returning(&process->live))
        th_traced_caught_by_caller(process, TH_FROM_KEPT);
    if (next)
        th_live_call_before(&call, next, &requests);
    else
        th_live_call(&call, &requests);
    if (requests.count > 0) {
        made = th_traced_open_add(process);
        made->function = &traced->live;
        made->outer = outer;
        made->frames = process->frame_count;
        made->native = 0;
        th_live_requests_move(&made->requests, &requests);
    }
    th_self.in_trace_hook = 0;
}

static __attribute__((noinline)) void meet_both(struct th_process *process,
                                                const struct th_callee *callee, const th_term *argv,
                                                const struct th_call *outer, struct th_site *next)
{
    meet_at_entry(process, callee, argv, outer, next);
}

void th_traced_call(struct th_process *process, const struct th_callee *callee, const th_term *argv,
                    const struct th_call *outer)
{
    const struct th_instance_function *code = callee->known;

    if (__builtin_expect(code && code->site && th_breakpoint_site_has_any(code->site), 0))
        meet_both(process, callee, argv, outer, code->site);
    else
        meet_at_entry(process, callee, argv, outer, NULL);
}

th_term th_traced_class_atom(enum th_raised class)
{
    return class == TH_RAISED_ERROR   ? TH_AM(error)
           : class == TH_RAISED_THROW ? TH_AM(throw)
                                      : TH_AM(exit);
}

/* Ends the open calls of the current frame. Returns false if there was none. */
static bool end_open_calls(struct th_process *process, const struct th_call *outer)
{
    struct th_open_calls *open = &process->open;
    bool ended = false;

    for (; open->count > 0; ended = true) {
        struct th_open_call call = *th_traced_open_top(process);
        if (call.outer != outer || call.frames != process->frame_count)
            break;
        open->count--;
        if (process->outcome != TH_NONE)
            th_live_return(&process->live, call.function, &call.requests, process->outcome);
        else
            th_live_raise(&process->live, call.function, &call.requests,
                          th_traced_class_atom(process->raised.class), process->raised.reason);
    }
    if (open->capacity > KEPT && open->count == 0)
        free_ring(open);
    return ended;
}

/* An exception that passes a frame without open calls is not followed further. */
void th_traced_calls_over(struct th_process *process, const struct th_call *outer)
{
    bool raised = process->outcome == TH_NONE;

    if (th_self.in_trace_hook)
        return;
    th_self.in_trace_hook = TH_BUSY;
    th_traced_open_drop_code(process, outer);
    if (!raised && th_live_is_returning(&process->live))
        th_traced_caught(process, process->raised_to.outermost);
    if (!end_open_calls(process, outer) && raised)
        th_traced_caught(process, false);
    if (th_live_is_returning(&process->live))
        (raised ? th_traced_raise_to_caller : th_traced_return_to_caller)(process, TH_FROM_KEPT);
    th_self.in_trace_hook = 0;
}
