/*
 * Keeps entries in a ring, so that the oldest can be dropped when the stack is full; chains through
 * the ring, one for each hash of a function, find the nearest call of a function without a walk
 * along the stack.
 *
 * A chain holds the entries that can be found: those on which no entry of the same physical frame
 * stands. `heads` has the slot of the newest, `previous` leads to older ones. Entries come and go
 * at the top only, so the entry that goes is the newest of its chain. Entries that are forgotten at
 * the bottom stay in their chains: the chain ends at a link to a slot that is not below the linking
 * entry, or that is free, or has an entry of another chain.
 */
#include "frames.h"

#include "recorded_internal.h"

#include "host/base/hash.h"
#include "host/base/memory.h"

#include <string.h>

enum {
    SMALLEST = 8, /* slots */
    KEPT = 1024   /* slots that a stack keeps, even if it is empty */
};

static uint32_t bucket(const struct th_frames *frames, th_frame_function function)
{
    return (uint32_t)th_hash_mix(function) & (frames->capacity - 1);
}

static uint32_t frames_slot_of(const struct th_frames *frames, const struct th_frame *frame)
{
    return (uint32_t)(frame - frames->slots);
}

/* Lets find reach FRAME, the newest entry apart from those that cannot be found. */
static void link_entry(struct th_frames *frames, struct th_frame *frame)
{
    uint32_t *head = &frames->heads[bucket(frames, frame->function)];

    frame->previous = *head;
    *head = frames_slot_of(frames, frame);
}

static void unlink_entry(struct th_frames *frames, const struct th_frame *frame)
{
    if (!frame->replaced)
        frames->heads[bucket(frames, frame->function)] = frame->previous;
}

static void resize_ring(struct th_frames *frames, struct th_frames_bounds *bounds,
                        uint32_t capacity)
{
    struct th_frames old = *frames;

    bounds->slots += (uint64_t)capacity - old.capacity;
    frames->slots = th_alloc(capacity * (sizeof *frames->slots + sizeof *frames->heads));
    frames->heads = (uint32_t *)(frames->slots + capacity);
    frames->capacity = capacity;
    frames->bottom = 0;
    memset(frames->heads, 0, capacity * sizeof *frames->heads);
    if (old.recorded)
        frames->recorded = th_alloc(capacity * sizeof *frames->recorded);
    for (uint32_t i = 0; i < old.count; i++) {
        frames->slots[i] = *th_recorded_frames_at(&old, i);
        if (old.recorded)
            frames->recorded[i] = th_recorded_frames_recorded_caller(&old, i);
        if (!frames->slots[i].replaced)
            link_entry(frames, &frames->slots[i]);
    }
    th_free(old.slots);
    th_free(old.recorded);
}

static void forget_oldest(struct th_frames *frames, struct th_frames_bounds *bounds)
{
    const struct th_frame *oldest = th_recorded_frames_at(frames, 0);
    const struct th_frame *next = frames->count > 1 ? th_recorded_frames_at(frames, 1) : NULL;

    frames->forgotten += oldest->times;
    bounds->forgotten += oldest->times;
    if (oldest->word)
        bounds->not_kept += oldest->times;

    /* Now the function to which the physical frame of the next entry returns. */
    if (next && next->link == TH_FRAME_UNCLEAR)
        frames->below = TH_FRAME_UNKNOWN;
    else if (!next || next->link == TH_FRAME_CALLS)
        frames->below = oldest->function;
    frames->bottom = (frames->bottom + 1) & (frames->capacity - 1);
    frames->count--;
}

static void frames_make_room(struct th_frames *frames, struct th_frames_bounds *bounds)
{
    if (frames->count < frames->capacity && frames->count < bounds->each)
        return;
    if (frames->capacity == 0 ||
        (frames->count < bounds->each && bounds->slots + frames->capacity <= bounds->all))
        resize_ring(frames, bounds, frames->capacity ? 2 * frames->capacity : SMALLEST);
    else
        forget_oldest(frames, bounds);
}

static __attribute__((noinline)) void note_recorded_caller(struct th_frames *frames, uint32_t slot,
                                                           th_frame_function recorded)
{
    if (!frames->recorded)
        frames->recorded = th_alloc_zero(frames->capacity * sizeof *frames->recorded);
    frames->recorded[slot] = recorded;
}

static inline __attribute__((always_inline)) void frames_add_entry(struct th_frames *frames,
                                                                   struct th_frames_bounds *bounds,
                                                                   struct th_frame frame,
                                                                   th_frame_function recorded)
{
    struct th_frame *slot;

    frames_make_room(frames, bounds);
    slot = th_recorded_frames_at(frames, frames->count++);
    *slot = frame;
    link_entry(frames, slot);
    if (frames->recorded || recorded != TH_FRAME_UNKNOWN)
        note_recorded_caller(frames, frames_slot_of(frames, slot), recorded);
}

void th_recorded_frames_part(struct th_frames *frames, struct th_frames_bounds *bounds)
{
    struct th_frame *top = th_recorded_frames_top(frames);

    if (top->link != TH_FRAME_TAIL) {
        struct th_frame latest = *top;
        top->times--;
        latest.times = 1;
        frames_add_entry(frames, bounds, latest,
                         th_recorded_frames_recorded_caller(frames, frames->count - 1));
    }
}

/* True if a call of FUNCTION can share the newest of the oldest COUNT entries. */
static inline bool is_one_more(const struct th_frames *frames, uint32_t count,
                               th_frame_function function, enum th_frame_link link, uint64_t word,
                               th_frame_function recorded)
{
    const struct th_frame *top = count > 0 ? th_recorded_frames_at(frames, count - 1) : NULL;

    return top && top->function == function && top->link == link && top->word == word &&
           !top->doubt && link != TH_FRAME_SAME && top->times < TH_FRAME_TIMES_MAX &&
           (!top->replaced || link == TH_FRAME_TAIL) &&
           th_recorded_frames_recorded_caller(frames, count - 1) == recorded;
}

void th_recorded_frames_push(struct th_frames *frames, struct th_frames_bounds *bounds,
                             th_frame_function function, enum th_frame_link link, uint64_t word,
                             th_frame_function recorded)
{
    struct th_frame *top = th_recorded_frames_top(frames);
    struct th_frame frame = {.function = function, .link = link, .times = 1, .word = word};

    if (is_one_more(frames, frames->count, function, link, word, recorded)) {
        top->times++;
        if (top->replaced) { /* by a popped entry: TOP is the latest call of its frame again */
            top->replaced = false;
            link_entry(frames, top);
        }
        return;
    }
    if (top && (link == TH_FRAME_TAIL || link == TH_FRAME_SAME)) {
        /* Find reaches only the new entry of its physical frame. */
        th_recorded_frames_part_top(frames, bounds);
        top = th_recorded_frames_top(frames);
        unlink_entry(frames, top);
        top->replaced = true;
        frame.begin = top->begin < TH_FRAME_BEGIN_MAX ? top->begin + 1 : TH_FRAME_BEGIN_MAX;
    }
    frames_add_entry(frames, bounds, frame, recorded);
}

void th_recorded_frames_want_call(struct th_frames *frames, struct th_frames_bounds *bounds,
                                  uint64_t word)
{
    struct th_frame call = *th_recorded_frames_top(frames);
    th_frame_function recorded = th_recorded_frames_recorded_caller(frames, frames->count - 1);

    if (call.times == 1 &&
        !is_one_more(frames, frames->count - 1, call.function, call.link, word, recorded)) {
        th_recorded_frames_top(frames)->word = word;
        return;
    }
    th_recorded_frames_pop_call(frames, bounds);
    th_recorded_frames_push(frames, bounds, call.function, call.link, word, recorded);
}

void th_recorded_frames_pop(struct th_frames *frames, struct th_frames_bounds *bounds)
{
    unlink_entry(frames, th_recorded_frames_top(frames));
    frames->count--;
    if (frames->capacity > KEPT && frames->count < frames->capacity / 8)
        resize_ring(frames, bounds, frames->capacity / 4);
}

void th_recorded_frames_pop_call(struct th_frames *frames, struct th_frames_bounds *bounds)
{
    struct th_frame *top = th_recorded_frames_top(frames);

    if (top->times > 1)
        top->times--;
    else
        th_recorded_frames_pop(frames, bounds);
}

th_frame_function th_recorded_frames_caller(const struct th_frames *frames)
{
    uint32_t begin = th_recorded_frames_begin(frames);
    const struct th_frame *frame = th_recorded_frames_at(frames, begin);

    if (frame->link == TH_FRAME_UNCLEAR)
        return TH_FRAME_UNKNOWN;
    if (frame->link == TH_FRAME_CALLS && frame->times > 1)
        return frame->function;
    return begin > 0 ? th_recorded_frames_at(frames, begin - 1)->function : frames->below;
}

size_t th_recorded_frames_callers(const struct th_frames *frames, th_frame_function callers[],
                                  size_t most)
{
    uint32_t begin = th_recorded_frames_begin(frames);
    size_t count = 0;

    for (;;) {
        const struct th_frame *frame = th_recorded_frames_at(frames, begin);
        if (frame->link == TH_FRAME_CALLS)
            for (uint32_t i = frame->times; i > 1 && count < most; i--)
                callers[count++] = frame->function;
        if (begin == 0 || frame->link == TH_FRAME_UNCLEAR || count == most)
            break;
        callers[count++] = th_recorded_frames_at(frames, begin - 1)->function;
        begin = th_recorded_frames_begin_of(frames, begin - 1);
    }
    /* The function to which the oldest frame returns is known, but not that function's caller. */
    if (count < most && th_recorded_frames_at(frames, begin)->link != TH_FRAME_UNCLEAR)
        callers[count++] = frames->below;
    if (count < most && (count == 0 || callers[count - 1] >= TH_FRAME_FUNCTION_FIRST))
        callers[count++] = TH_FRAME_UNKNOWN;
    return count;
}

uint32_t th_recorded_frames_find_below(const struct th_frames *frames, th_frame_function function,
                                       uint32_t below)
{
    uint32_t end = frames->count; /* only older entries are left to look at */
    uint32_t hash, slot;

    if (frames->count == 0)
        return TH_FRAMES_NONE;
    hash = bucket(frames, function);
    for (slot = frames->heads[hash];; slot = frames->slots[slot].previous) {
        uint32_t offset = (slot - frames->bottom) & (frames->capacity - 1);
        if (offset >= end)
            return TH_FRAMES_NONE;
        if (offset < below && frames->slots[slot].function == function &&
            !frames->slots[slot].replaced)
            return offset;
        if (bucket(frames, frames->slots[slot].function) != hash)
            return TH_FRAMES_NONE;
        end = offset;
    }
}

uint64_t th_recorded_frames_wanted(const struct th_frames *frames)
{
    uint64_t wanted = 0;

    for (uint32_t i = 0; i < frames->count; i++)
        if (th_recorded_frames_at(frames, i)->word)
            wanted += th_recorded_frames_at(frames, i)->times;
    return wanted;
}

void th_recorded_frames_clear(struct th_frames *frames, struct th_frames_bounds *bounds)
{
    bounds->slots -= frames->capacity;
    th_free(frames->slots);
    th_free(frames->recorded);
    *frames = (struct th_frames){0};
}
