#include "traced_call.h"

enum {
    FEWEST = 8,           /* room for open calls, which each process may have, */
    KEPT = 1024,          /* that is kept when none is open */
    MOST = 1000000,       /* of a process, unless told otherwise, */
    MOST_OF_ALL = 1 << 24 /* and of all: for more there is no room */
};

static size_t most = MOST;  /* written while there are no processes */
static _Atomic size_t room; /* relaxed, as the next: for how many there is memory */
/* Since the runtime was started: that were forgotten; whose native frames longjmp() has left. */
static _Atomic uint64_t not_kept, left;

uint64_t th_runtime_calls_not_kept(void)
{
    return atomic_load_explicit(&not_kept, memory_order_relaxed);
}

uint64_t th_runtime_calls_left(void)
{
    return atomic_load_explicit(&left, memory_order_relaxed);
}

void th_traced_open_begin(size_t limit)
{
    most = limit ? limit : MOST;
    atomic_store_explicit(&not_kept, 0, memory_order_relaxed);
    atomic_store_explicit(&left, 0, memory_order_relaxed);
}

static size_t bytes_of(size_t calls)
{
    return calls * sizeof(struct th_open_call);
}

/* Of the largest ring. */
static size_t most_bytes(void)
{
    size_t capacity = FEWEST;

    while (capacity < most)
        capacity *= 2;
    return bytes_of(capacity);
}

static void free_ring(struct th_open_calls *open)
{
    atomic_fetch_sub_explicit(&room, open->capacity, memory_order_relaxed);
    th_long_array_free(open->ring, bytes_of(open->capacity), most_bytes());
    *open = (struct th_open_calls){0};
}

/* The ring has become larger: what has come round to its beginning goes on behind its old END. */
static void unroll_ring(struct th_open_calls *open, size_t end)
{
    open->bottom = end ? open->bottom & (end - 1) : 0;
    for (size_t i = end; i < open->bottom + open->count; i++)
        open->ring[i] = open->ring[i - end];
}

/* False: there is to be no more room. */
static bool grow_ring(struct th_open_calls *open)
{
    size_t had = open->capacity, capacity = had ? 2 * had : FEWEST;
    struct th_open_call *ring;

    if (open->count >= most)
        return false;
    if (had && atomic_load_explicit(&room, memory_order_relaxed) + capacity - had > MOST_OF_ALL)
        return false;
    ring = th_long_array_grow(open->ring, bytes_of(had), bytes_of(capacity), most_bytes());
    if (!ring)
        return false;
    atomic_fetch_add_explicit(&room, capacity - had, memory_order_relaxed);
    open->ring = ring;
    open->capacity = capacity;
    open->limit = capacity < most ? capacity : most;
    unroll_ring(open, had);
    return true;
}

static void forget_oldest_call(struct th_process *process)
{
    struct th_open_calls *open = &process->open;

    th_live_drop(&process->live, &th_traced_open_at(open, 0)->wants);
    open->bottom++;
    open->count--;
    atomic_fetch_add_explicit(&not_kept, 1, memory_order_relaxed);
}

void th_traced_open_refuse(struct th_process *process, struct th_live_wants *wants)
{
    th_live_drop(&process->live, wants);
    atomic_fetch_add_explicit(&not_kept, 1, memory_order_relaxed);
}

void th_traced_open_make_room(struct th_process *process)
{
    if (!grow_ring(&process->open))
        forget_oldest_call(process);
}

/* --- Native frames --------------------------------------------------------------------------- */

/* The call, which is the last one, is given up, as its native frame is gone. */
static void drop_top(struct th_process *process)
{
    struct th_open_call *call = th_traced_open_at(&process->open, --process->open.count);

    process->native_bytes = call->below;
    th_live_drop(&process->live, &call->wants);
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

/* Behind the last call of the native frame; 0: it has none. What stands there is of the runtime's
 * frame, as functions that were called from the native one go on there. */
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

void th_traced_open_shrink(struct th_process *process)
{
    if (process->open.capacity > KEPT && process->open.count == 0)
        free_ring(&process->open);
}

void th_traced_open_drop_all(struct th_process *process)
{
    struct th_open_calls *open = &process->open;

    while (open->count > 0)
        th_live_drop(&process->live, &th_traced_open_at(open, --open->count)->wants);
    if (open->capacity)
        free_ring(open);
}
