/* Makes the index of a packed recording while it is written. */
#include "packed.h"

#include "host/base/hash.h"
#include "host/base/memory.h"
#include "host/replay/call_ends.h"
#include "host/term/etf_tags.h"
#include "host/trace/note.h"

#include <stdlib.h>
#include <zstd.h>

/* Tags whose events change what others mean: those of the player, and those by which flags are
 * inherited (trace/inheritance.c). */
enum {
    WORLD_TAGS = 1 << TH_TAG_register | 1 << TH_TAG_unregister | 1 << TH_TAG_exit |
                 1 << TH_TAG_closed | 1 << TH_TAG_open | 1 << TH_TAG_spawn | 1 << TH_TAG_spawned |
                 1 << TH_TAG_link | 1 << TH_TAG_unlink | 1 << TH_TAG_getting_linked |
                 1 << TH_TAG_getting_unlinked
};
enum { INDEX_LEVEL = 3 };

struct indexed_tracee {
    th_term tracee;
    uint64_t frame; /* number, from 1, of the latest frame with it */
    unsigned flags;
};

struct indexed_function {
    uint64_t number, frame;
};

struct th_packed_indexer {
    struct th_call_ends *ends;
    struct th_table tracees;   /* struct indexed_tracee */
    struct th_table functions; /* struct indexed_function, by module, function and arity */
    uint64_t function_count;
    struct indexed_tracee *latest;
    uint64_t frame;  /* number of the current frame, from 1 */
    uint64_t number; /* of the next record, from 1 */
    unsigned clocks; /* bits of the clocks that were met */

    /* The current frame. */
    struct th_packed_frame now;
    unsigned met; /* bits of the clocks whose first time of all is in the frame */
    int64_t zeros[TH_CLOCKS];
    struct indexed_tracee **present;
    size_t present_count, present_capacity;
    uint64_t *called;
    size_t called_count, called_capacity;
    struct th_buffer world;
    uint64_t world_count, world_ordinal, world_position;

    /* The current part. */
    struct th_buffer names, frames;
    uint64_t names_count, frames_count;
};

void th_replay_packed_put(struct th_buffer *to, uint64_t x)
{
    unsigned char *at = th_buffer_reserve(to, 10);
    size_t size = 0;

    while (x > 0x7F) {
        at[size++] = (unsigned char)(x | 0x80);
        x >>= 7;
    }
    at[size++] = (unsigned char)x;
    to->size += size;
}

/* An end of a call needs no action: the stacks themselves tell which calls are open. */
static bool call_has_ended(void *context, enum th_ending ending, uint64_t word, bool begins)
{
    (void)context, (void)ending, (void)word, (void)begins;
    return false;
}

struct th_packed_indexer *th_replay_packed_indexer_begin(void)
{
    struct th_packed_indexer *made = th_alloc_zero(sizeof *made);

    made->ends = th_replay_call_ends_begin(
        &(struct th_call_ends_options){.ended = call_has_ended, .context = made});
    made->frame = 1;
    made->number = 1;
    return made;
}

static void free_values(struct th_table *table)
{
    size_t position = 0;
    struct th_slot *slot;

    while ((slot = th_hash_table_next(table, &position)))
        th_free(slot->value);
    th_hash_table_free(table);
}

void th_replay_packed_indexer_end(struct th_packed_indexer *indexer)
{
    if (!indexer)
        return;
    th_replay_call_ends_end(indexer->ends);
    free_values(&indexer->tracees);
    free_values(&indexer->functions);
    th_free(indexer->present);
    th_free(indexer->called);
    th_buffer_free(&indexer->world);
    th_buffer_free(&indexer->names);
    th_buffer_free(&indexer->frames);
    th_free(indexer);
}

/* --- One event --------------------------------------------------------------------------------- */

/* Adds the record to the copies for readers that pass over the frame. */
static void copy_record(struct th_packed_indexer *indexer, const unsigned char *data, size_t size)
{
    uint64_t ordinal = indexer->now.records;

    th_replay_packed_put(&indexer->world, ordinal - indexer->world_ordinal);
    th_replay_packed_put(&indexer->world, indexer->now.bytes - indexer->world_position);
    th_replay_packed_put(&indexer->world, size);
    th_buffer_add(&indexer->world, data, size);
    indexer->world_ordinal = ordinal;
    indexer->world_position = indexer->now.bytes;
    indexer->world_count++;
}

/* Returns the process of the call stacks for TRACEE; NULL: it has called nothing. */
static struct th_call_ends_process *indexed_process(const struct th_packed_indexer *indexer,
                                                    th_term tracee)
{
    return th_hash_table_get(&indexer->ends->processes, tracee);
}

static bool ends_call(enum th_tracer_tag tag)
{
    return tag == TH_TAG_return_from || tag == TH_TAG_exception_from || tag == TH_TAG_return_to;
}

/* Notes that the frame has EVENT's tracee. */
static void note_tracee(struct th_packed_indexer *indexer, const struct th_event *event)
{
    struct indexed_tracee *tracee = indexer->latest;

    if (!tracee || tracee->tracee != event->tracee)
        tracee = th_hash_table_get(&indexer->tracees, event->tracee);
    if (!tracee) {
        tracee = th_alloc_zero(sizeof *tracee);
        tracee->tracee = event->tracee;
        th_hash_table_set(&indexer->tracees, event->tracee, tracee);
    }
    indexer->latest = tracee;
    if (tracee->frame == indexer->frame)
        return;
    tracee->frame = indexer->frame;
    tracee->flags = 0;
    TH_ARRAY_GROW(indexer->present, indexer->present_count, indexer->present_capacity);
    indexer->present[indexer->present_count++] = tracee;
    if (ends_call(event->tag)) {
        const struct th_call_ends_process *process = indexed_process(indexer, event->tracee);
        if (process && (process->stack.ended || process->stack.undecided))
            tracee->flags = TH_PACKED_GOES_ON;
    }
}

static void index_function(struct th_packed_indexer *indexer, const struct th_mfa *function)
{
    /* Atoms have 20 bits, arities 8; and no key is 0. */
    uint64_t key = (uint64_t)th_atom_index(function->module) << 32 |
                   (uint64_t)th_atom_index(function->function) << 8 | function->arity |
                   UINT64_C(1) << 62;
    struct indexed_function *known = th_hash_table_get(&indexer->functions, key);

    if (!known) {
        const struct th_atom_name *names[] = {th_atom_name(function->module),
                                              th_atom_name(function->function)};
        known = th_alloc_zero(sizeof *known);
        known->number = indexer->function_count++;
        th_hash_table_set(&indexer->functions, key, known);
        for (int i = 0; i < 2; i++) {
            th_replay_packed_put(&indexer->names, names[i]->bytes);
            th_buffer_add(&indexer->names, names[i]->text, names[i]->bytes);
        }
        th_replay_packed_put(&indexer->names, function->arity);
        indexer->names_count++;
    }
    if (known->frame == indexer->frame)
        return;
    known->frame = indexer->frame;
    TH_ARRAY_GROW(indexer->called, indexer->called_count, indexer->called_capacity);
    indexer->called[indexer->called_count++] = known->number;
}

/* Follows the stack of the tracee of EVENT, a call or the end of one, and notes its function. */
static enum th_status note_call(struct th_packed_indexer *indexer, struct th_event *event,
                                th_env *env)
{
    struct th_call_ends_process *process = NULL;
    struct th_execution_left left;
    struct th_caller function = {.kind = TH_CALLER_FUNCTION};
    enum th_status status = TH_OK;

    if (event->tag == TH_TAG_call) {
        status = th_replay_call_ends_enter(indexer->ends, event, env, &process);
        if (status == TH_OK && process)
            th_replay_call_ends_want(indexer->ends, process, indexer->number);
        function.function = indexer->ends->entered;
    } else {
        if (!th_recorded_end_function(event, &function))
            return TH_MALFORMED;
        status = th_replay_call_ends_leave(indexer->ends, event, &process, &left);
    }
    if (status == TH_OK && function.kind == TH_CALLER_FUNCTION)
        index_function(indexer, &function.function);
    return status;
}

/* Notes EVENT's time. Returns whether it is the first one of its clock. */
static bool note_time_of(struct th_packed_indexer *indexer, struct th_event *event,
                         enum th_status *status)
{
    struct th_packed_times *times;
    enum th_time_clock clock;
    bool first;

    *status = th_trace_event_time(event);
    if (*status != TH_OK)
        return false;
    if (event->time.kind == TH_TIME_NONE) {
        indexer->now.untimed = true;
        return false;
    }
    clock = th_trace_time_clock(event->time.kind);
    times = &indexer->now.times[clock];
    if (!times->known || event->time.ns < times->least)
        times->least = event->time.ns;
    if (!times->known || event->time.ns > times->greatest)
        times->greatest = event->time.ns;
    times->known = true;
    first = !(indexer->clocks >> clock & 1);
    if (first) {
        indexer->clocks |= 1u << clock;
        indexer->met |= 1u << clock;
        indexer->zeros[clock] = event->time.ns;
    }
    return first;
}

bool th_replay_packed_is_world(const struct th_event *event)
{
    return event->kind > TH_EVENT_SEQ_TRACE ||
           (event->kind < TH_EVENT_SEQ_TRACE && WORLD_TAGS >> event->tag & 1);
}

void th_replay_packed_indexer_add(struct th_packed_indexer *indexer, struct th_event *event,
                                  th_env *env, const unsigned char *data, size_t size)
{
    enum th_status status = TH_OK;
    bool copied = indexer->number == 1 || th_replay_packed_is_world(event);

    if (event->kind <= TH_EVENT_SEQ_TRACE) {
        indexer->now.tags |= UINT64_C(1) << event->tag;
        copied |= note_time_of(indexer, event, &status);
    }
    if (event->kind < TH_EVENT_SEQ_TRACE) {
        if (!th_is_immediate(event->tracee))
            status = TH_MALFORMED; /* of another node: not in the set */
        else
            note_tracee(indexer, event);
        if (status == TH_OK && (event->tag == TH_TAG_call || ends_call(event->tag)))
            status = note_call(indexer, event, env);
    }
    if (event->kind == TH_EVENT_DROP || (event->kind < TH_EVENT_SEQ_TRACE && copied))
        th_replay_call_ends_other(indexer->ends, event);
    if (status != TH_OK) {
        indexer->now.whole = true;
        th_error_clear();
    }
    if (copied)
        copy_record(indexer, data, size);
    indexer->now.records++;
    indexer->now.bytes += size;
    indexer->number++;
}

/* --- The end of a frame ------------------------------------------------------------------------ */

static int compare_tracees(const void *a, const void *b)
{
    th_term x = (*(struct indexed_tracee *const *)a)->tracee;
    th_term y = (*(struct indexed_tracee *const *)b)->tracee;

    return (x > y) - (x < y);
}

static int compare_indexed(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Writes which calls of TRACEE are open. */
static void put_open_calls(struct th_packed_indexer *indexer, const struct indexed_tracee *tracee)
{
    struct th_buffer *to = &indexer->frames;
    const struct th_call_ends_process *process = indexed_process(indexer, tracee->tracee);
    const struct th_frames *frames = process ? &process->stack.frames : NULL;
    uint64_t first = indexer->number - indexer->now.records, before = first;
    uint32_t count = frames ? frames->count : 0, kept = count;
    unsigned flags = tracee->flags;

    while (kept > 0 && th_replay_call_ends_word(th_recorded_frames_at(frames, kept - 1)) >= first)
        kept--;
    for (uint32_t i = 0; i < count && !(flags & TH_PACKED_DOUBT); i++)
        if (th_recorded_frames_at(frames, i)->doubt)
            flags |= TH_PACKED_DOUBT;
    if (count > 0 && (process->stack.guessed || frames->forgotten))
        flags |= TH_PACKED_DOUBT;
    th_replay_packed_put(to, flags);
    th_replay_packed_put(to, kept);
    th_replay_packed_put(to, count - kept);
    for (uint32_t i = kept; i < count; i++) {
        uint64_t number = th_replay_call_ends_word(th_recorded_frames_at(frames, i));
        th_replay_packed_put(to, number - before);
        before = number;
    }
}

static void put_times(const struct th_packed_indexer *indexer, struct th_buffer *to)
{
    const struct th_packed_times *times = indexer->now.times;

    for (int i = 0; i < TH_CLOCKS; i++) {
        unsigned met = indexer->met >> i & 1;
        th_replay_packed_put(to, (unsigned)times[i].known | met << 1);
        if (!times[i].known)
            continue;
        th_replay_packed_put(to, th_replay_packed_zigzag(times[i].least));
        th_replay_packed_put(to, (uint64_t)times[i].greatest - (uint64_t)times[i].least);
        if (met)
            th_replay_packed_put(to, (uint64_t)indexer->zeros[i] - (uint64_t)times[i].least);
    }
}

void th_replay_packed_indexer_frame(struct th_packed_indexer *indexer, uint64_t size)
{
    struct th_buffer *to = &indexer->frames;
    const struct th_packed_frame *now = &indexer->now;
    uint64_t before = 0;

    th_replay_packed_put(to, size);
    th_replay_packed_put(to, now->bytes);
    th_replay_packed_put(to, now->records);
    th_replay_packed_put(to, (uint64_t)now->whole | (uint64_t)now->untimed << 1);
    th_replay_packed_put(to, now->tags);
    put_times(indexer, to);

    if (indexer->present_count)
        qsort(indexer->present, indexer->present_count, sizeof *indexer->present, compare_tracees);
    th_replay_packed_put(to, indexer->present_count);
    for (size_t i = 0; i < indexer->present_count; i++) {
        th_replay_packed_put(to, indexer->present[i]->tracee - before);
        before = indexer->present[i]->tracee;
        put_open_calls(indexer, indexer->present[i]);
    }

    if (indexer->called_count)
        qsort(indexer->called, indexer->called_count, sizeof *indexer->called, compare_indexed);
    th_replay_packed_put(to, indexer->called_count);
    before = 0;
    for (size_t i = 0; i < indexer->called_count; i++) {
        th_replay_packed_put(to, indexer->called[i] - before);
        before = indexer->called[i];
    }

    th_replay_packed_put(to, indexer->world_count);
    th_buffer_add(to, indexer->world.data, indexer->world.size);

    indexer->frames_count++;
    indexer->frame++;
    indexer->now = (struct th_packed_frame){0};
    indexer->met = 0;
    indexer->present_count = indexer->called_count = 0;
    indexer->world.size = 0;
    indexer->world_count = indexer->world_ordinal = indexer->world_position = 0;
}

size_t th_replay_packed_indexer_frames(const struct th_packed_indexer *indexer)
{
    return indexer->frames_count;
}

enum th_status th_replay_packed_indexer_part(struct th_packed_indexer *indexer,
                                             struct th_buffer *out)
{
    struct th_buffer content = {0};
    enum th_status status = TH_OK;
    unsigned char *head;
    ZSTD_CCtx *zstd;
    size_t room, size;

    if (indexer->frames_count == 0)
        return TH_OK;
    th_replay_packed_put(&content, indexer->names_count);
    th_buffer_add(&content, indexer->names.data, indexer->names.size);
    th_replay_packed_put(&content, indexer->frames_count);
    th_buffer_add(&content, indexer->frames.data, indexer->frames.size);
    indexer->names.size = indexer->frames.size = 0;
    indexer->names_count = indexer->frames_count = 0;

    room = ZSTD_compressBound(content.size);
    head = th_buffer_reserve(out, TH_PACKED_SKIPPABLE_HEAD + room);
    zstd = ZSTD_createCCtx();
    size = 1;
    if (zstd) {
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, INDEX_LEVEL);
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
        size =
            ZSTD_compress2(zstd, head + TH_PACKED_SKIPPABLE_HEAD, room, content.data, content.size);
    }
    if (!zstd || ZSTD_isError(size)) {
        status = th_error_raise(TH_FAILED, "there is no memory to compress with");
    } else {
        th_replay_packed_put32(head, 0x184D2A00u | TH_PACKED_INDEX);
        th_replay_packed_put32(head + 4, (uint32_t)size);
        out->size += TH_PACKED_SKIPPABLE_HEAD + size;
    }
    ZSTD_freeCCtx(zstd);
    th_buffer_free(&content);
    return status;
}
