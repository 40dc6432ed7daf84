/* Plans which frames of a packed recording are read for a selection, and which single records of the others. */
#include "packed_internal.h"

#include "host/base/hash.h"
#include "host/base/memory.h"
#include "host/replay/reader.h"

#include <stdlib.h>

struct plan {
    struct th_packed_file *file;
    const struct th_reader_selection *selection;
    struct th_table wanted; /* bool of selection->met, by tracee */
    bool met;
    bool *functions;       /* by number; NULL: all */
    struct th_table needs; /* struct need, by tracee */
    bool changed;          /* frames were added behind the place: look back again */
};

/* The calls of a tracee that are open at a frame are needed. */
struct need {
    uint64_t most; /* the outermost so many */
    bool whole;    /* the frame before with this tracee is to be read */
    size_t *over;  /* frames with this tracee that are passed over, since the one that needs */
    size_t count, capacity;
};

static bool times_match(const struct plan *plan, const struct th_packed_frame *frame)
{
    const struct th_time_bound *from = &plan->selection->from, *to = &plan->selection->to;

    if (!from->set && !to->set)
        return true;
    for (int i = 0; i < TH_CLOCKS; i++) {
        const struct th_packed_times *times = &frame->times[i];
        int64_t zero = plan->file->index.zeros[i];
        if (times->known && th_replay_is_between(from, to, zero, times->least, times->greatest))
            return true;
    }
    return false;
}

/* Begins a walk through the tracees of FRAME. If there is no memory for that, the index is of no use. */
static void walk_tracees(struct plan *plan, const struct th_packed_frame *frame,
                         struct th_packed_walk *walk)
{
    if (!th_replay_packed_tracees(&plan->file->index, frame, walk))
        plan->file->mistrusted = true;
}

/* Notes which tracees the frames have, until all are met. */
static void meet_tracees(struct plan *plan)
{
    const struct th_packed_index *index = &plan->file->index;
    size_t missing = plan->selection->met ? plan->wanted.count : 0;
    struct th_packed_tracee tracee;
    struct th_packed_walk walk;

    for (size_t i = 0; i < index->count && missing > 0; i++) {
        walk_tracees(plan, &index->frames[i], &walk);
        while (th_replay_packed_next_tracee(&walk, &tracee)) {
            bool *met = th_hash_table_get(&plan->wanted, tracee.tracee);
            missing -= met && !*met;
            if (met)
                *met = true;
        }
    }
}

static bool sets_match(struct plan *plan, const struct th_packed_frame *frame)
{
    struct th_packed_tracee tracee;
    struct th_packed_walk walk;
    uint64_t function;
    bool found = plan->wanted.count == 0;

    walk_tracees(plan, frame, &walk);
    while (th_replay_packed_next_tracee(&walk, &tracee))
        found = found || th_hash_table_get(&plan->wanted, tracee.tracee);
    if (!found || !plan->functions || frame->tags & plan->selection->others ||
        plan->file->mistrusted)
        return found;
    th_replay_packed_functions(&walk);
    while (th_replay_packed_next_function(&walk, &function))
        if (plan->functions[function])
            return true;
    return false;
}

static bool is_wanted(struct plan *plan, const struct th_packed_frame *frame)
{
    uint64_t tags = plan->selection->tags, labelled = UINT64_C(1) << TH_TAG_seq_trace;

    /* Events without a time are counted. */
    if (frame->whole || (frame->untimed && (plan->selection->from.set || plan->selection->to.set)))
        return true;
    if (!times_match(plan, frame) || (tags && !(frame->tags & tags)))
        return false;
    return (frame->tags & labelled && (!tags || tags & labelled)) || sets_match(plan, frame);
}

/* Needs the calls of TRACEE that are open at a frame that is read. If a later frame needs them, too, but
 * some have ended in frames that are passed over, these are read as well: they have the ends. */
static void need_calls(struct plan *plan, const struct th_packed_tracee *tracee)
{
    struct need *need = th_hash_table_get(&plan->needs, tracee->tracee);

    if (!need) {
        need = th_alloc_zero(sizeof *need);
        th_hash_table_set(&plan->needs, tracee->tracee, need);
    } else if (need->most < tracee->kept + tracee->opened) {
        for (size_t i = 0; i < need->count; i++)
            plan->file->read[need->over[i]] = plan->changed = true;
    }
    need->most = UINT64_MAX;
    need->whole = tracee->flags & TH_PACKED_GOES_ON;
    need->count = 0;
}

/* Picks the calls of TRACEE that are needed from FRAME, which is not read. */
static void pick_calls(struct plan *plan, size_t frame, const struct th_packed_tracee *tracee,
                       struct need *need)
{
    struct th_packed_file *file = plan->file;
    const unsigned char *at = tracee->ordinals;
    uint64_t ordinal = 0;

    for (uint64_t i = 0; i < tracee->opened && tracee->kept + i < need->most; i++) {
        ordinal += th_replay_packed_get(&at);
        TH_ARRAY_GROW(file->picks, file->pick_count, file->pick_capacity);
        file->picks[file->pick_count++] = (struct th_packed_pick){frame, ordinal};
    }
    if (tracee->kept < need->most)
        need->most = tracee->kept;
    TH_ARRAY_GROW(need->over, need->count, need->capacity);
    need->over[need->count++] = frame;
}

/* Finds out what the frames from FRAME on need of it. */
static void look_back(struct plan *plan, size_t frame)
{
    struct th_packed_file *file = plan->file;
    struct th_packed_tracee tracee;
    struct th_packed_walk walk;

    walk_tracees(plan, &file->index.frames[frame], &walk);
    while (!file->read[frame] && th_replay_packed_next_tracee(&walk, &tracee)) {
        const struct need *need = th_hash_table_get(&plan->needs, tracee.tracee);
        file->read[frame] = need && (need->whole || tracee.flags & TH_PACKED_DOUBT);
    }
    walk_tracees(plan, &file->index.frames[frame], &walk);
    while (th_replay_packed_next_tracee(&walk, &tracee)) {
        struct need *need = th_hash_table_get(&plan->needs, tracee.tracee);
        if (file->read[frame] &&
            (plan->wanted.count == 0 || th_hash_table_get(&plan->wanted, tracee.tracee)))
            need_calls(plan, &tracee);
        else if (!file->read[frame] && need)
            pick_calls(plan, frame, &tracee, need);
    }
}

static int compare_picks(const void *a, const void *b)
{
    const struct th_packed_pick *x = a, *y = b;

    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

static void free_needs(struct th_table *needs)
{
    size_t position = 0;
    struct th_slot *slot;

    while ((slot = th_hash_table_next(needs, &position))) {
        th_free(((struct need *)slot->value)->over);
        th_free(slot->value);
    }
    th_hash_table_free(needs);
}

/* Adds the times of frames that are not read to PASSED. */
static void extend_passed(const struct plan *plan, struct th_reader_passed *passed)
{
    const struct th_packed_file *file = plan->file;

    for (size_t i = 0; i < file->index.count; i++) {
        const struct th_packed_frame *frame = &file->index.frames[i];
        passed->all_tags |= file->read[i] ? 0 : frame->tags;
        if (!file->read[i] && times_match(plan, frame)) {
            passed->inside += frame->records;
            passed->tags |= frame->tags;
        }
        for (int clock = 0; clock < TH_CLOCKS && !file->read[i]; clock++) {
            const struct th_packed_times *times = &frame->times[clock];
            if (!times->known)
                continue;
            if (!passed->clocks[clock].known || times->least < passed->clocks[clock].least)
                passed->clocks[clock].least = times->least;
            if (!passed->clocks[clock].known || times->greatest > passed->clocks[clock].greatest)
                passed->clocks[clock].greatest = times->greatest;
            passed->clocks[clock].known = true;
            passed->clocks[clock].zero = file->index.zeros[clock];
        }
    }
}

void th_replay_packed_select(struct th_packed_file *file,
                             const struct th_reader_selection *selection,
                             struct th_reader_passed *passed)
{
    struct plan plan = {.file = file, .selection = selection};
    size_t count = file->index.count;

    th_replay_packed_rewind(file);
    if (selection->stacks && !file->ends)
        return; /* what is not indexed may have any call's end */
    file->read = th_alloc(count * sizeof *file->read);
    for (size_t i = 0; i < selection->tracee_count; i++)
        th_hash_table_set(&plan.wanted, selection->tracees[i],
                          selection->met ? &selection->met[i] : &plan.met);
    meet_tracees(&plan);
    if (selection->is_wanted) {
        plan.functions = th_alloc_zero(file->index.function_count + 1);
        for (size_t i = 0; i < file->index.function_count; i++)
            plan.functions[i] = selection->is_wanted(selection->context, &file->index.functions[i]);
    }
    for (size_t i = 0; i < count; i++)
        file->read[i] = is_wanted(&plan, &file->index.frames[i]);
    for (plan.changed = selection->stacks; plan.changed;) {
        plan.changed = false;
        file->pick_count = 0;
        free_needs(&plan.needs);
        for (size_t i = count; i > 0; i--)
            look_back(&plan, i - 1);
    }
    if (file->pick_count)
        qsort(file->picks, file->pick_count, sizeof *file->picks, compare_picks);
    if (passed)
        extend_passed(&plan, passed);
    th_hash_table_free(&plan.wanted);
    free_needs(&plan.needs);
    th_free(plan.functions);
}
