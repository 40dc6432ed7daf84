/* Reads the index of a packed recording. */
#include "packed.h"

#include "host/base/memory.h"
#include "host/term/atom.h"

#include <string.h>
#include <zstd.h>

enum { NAME_BYTES = 4 * 255 };

/* --- Checked reading: a part of the index is checked once, as a whole ------------------------- */

struct scan {
    const unsigned char *at, *end, *begin;
    bool bad;
};

static uint64_t scan_number(struct scan *scan)
{
    uint64_t x = 0;

    for (int shift = 0; shift < 64 && scan->at < scan->end; shift += 7) {
        x |= (uint64_t)(*scan->at & 0x7F) << shift;
        if (!(*scan->at++ & 0x80))
            return x;
    }
    scan->bad = true;
    return 0;
}

/* Returns a number of things that take at least a byte each. */
static uint64_t scan_count(struct scan *scan)
{
    uint64_t count = scan_number(scan);

    scan->bad |= count > (uint64_t)(scan->end - scan->at);
    return scan->bad ? 0 : count;
}

static void scan_numbers(struct scan *scan, uint64_t count)
{
    while (count-- > 0 && !scan->bad)
        scan_number(scan);
}

static th_term scan_atom(struct scan *scan)
{
    uint64_t size = scan_count(scan);
    th_term atom = TH_NONE;

    if (size <= NAME_BYTES && !scan->bad)
        atom = th_atom_utf8((const char *)scan->at, size);
    scan->at += scan->bad ? 0 : size;
    scan->bad |= atom == TH_NONE;
    return atom;
}

static void scan_times(struct scan *scan, struct th_packed_times times[TH_CLOCKS],
                       int64_t zeros[TH_CLOCKS])
{
    for (int i = 0; i < TH_CLOCKS; i++) {
        uint64_t how = scan_number(scan);
        times[i].known = how & 1;
        if (!times[i].known)
            continue;
        times[i].least = th_replay_packed_unzigzag(scan_number(scan));
        times[i].greatest = (int64_t)((uint64_t)times[i].least + scan_number(scan));
        scan->bad |= times[i].greatest < times[i].least;
        if (how & 2)
            zeros[i] = (int64_t)((uint64_t)times[i].least + scan_number(scan));
    }
}

/* Checks the sets of FRAME, which has `records` and `bytes`. */
static void scan_sets(struct scan *scan, const struct th_packed_index *index,
                      struct th_packed_frame *frame)
{
    uint64_t count, before = 0;

    frame->sets = (size_t)(scan->at - scan->begin);
    for (count = scan_count(scan); count > 0 && !scan->bad; count--) {
        uint64_t opened, ordinal = 0;
        before += scan_number(scan); /* the tracee */
        scan->bad |= !th_is_immediate(before);
        scan_numbers(scan, 2);
        for (opened = scan_count(scan); opened > 0 && !scan->bad; opened--) {
            ordinal += scan_number(scan);
            scan->bad |= ordinal >= frame->records;
        }
    }
    before = 0;
    for (count = scan_count(scan); count > 0 && !scan->bad; count--) {
        before += scan_number(scan);
        scan->bad |= before >= index->function_count;
    }
    before = 0;
    frame->world = (size_t)(scan->at - scan->begin);
    for (uint64_t at = 0, left = scan_count(scan); left > 0 && !scan->bad; left--) {
        uint64_t size;
        before += scan_number(scan);
        at += scan_number(scan);
        size = scan_count(scan);
        scan->bad |= before >= frame->records || at > frame->bytes || size > frame->bytes - at;
        scan->at += scan->bad ? 0 : size;
    }
}

static void scan_frame(struct scan *scan, struct th_packed_index *index,
                       struct th_packed_frame *frame)
{
    uint64_t how;

    frame->size = scan_number(scan);
    frame->bytes = scan_number(scan);
    frame->records = scan_number(scan);
    how = scan_number(scan);
    frame->whole = how & 1;
    frame->untimed = how >> 1 & 1;
    frame->tags = scan_number(scan);
    scan->bad |= frame->size > UINT32_MAX || frame->bytes > UINT32_MAX || frame->records == 0 ||
                 frame->records > frame->bytes;
    scan_times(scan, frame->times, index->zeros);
    scan_sets(scan, index, frame);
}

static void scan_function(struct scan *scan, struct th_packed_index *index)
{
    struct th_mfa function = {.module = scan_atom(scan)};

    if (!scan->bad)
        function.function = scan_atom(scan);
    function.arity = (uint32_t)scan_number(scan);
    TH_ARRAY_GROW(index->functions, index->function_count, index->function_capacity);
    index->functions[index->function_count++] = function;
}

/* Decompresses the content of a part. The size that it claims is not used. */
static enum th_status inflate_part(const unsigned char *data, size_t size,
                                   struct th_buffer *content)
{
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    ZSTD_inBuffer in = {data, size, 0};
    size_t left = 1;
    bool full = true;

    content->size = 0;
    while (zstd && left > 0 && (in.pos < in.size || full)) {
        ZSTD_outBuffer out = {NULL, 1 << 16, 0};
        if (!th_buffer_try(content, out.size))
            break;
        out.dst = content->data + content->size;
        left = ZSTD_decompressStream(zstd, &out, &in);
        if (ZSTD_isError(left))
            break;
        content->size += out.pos;
        full = out.pos == out.size;
    }
    ZSTD_freeDCtx(zstd);
    if (zstd && left == 0 && in.pos == in.size)
        return TH_OK;
    return th_error_raise(TH_MALFORMED, "a part of the index is damaged");
}

enum th_status th_replay_packed_index_add(struct th_packed_index *index, uint64_t offset,
                                          const unsigned char *data, size_t size)
{
    const struct th_packed_frame *last = index->count ? &index->frames[index->count - 1] : NULL;
    struct th_packed_frame frame = {.offset = offset,
                                    .first = last ? last->first + last->records : 1,
                                    .position = last ? last->position + last->bytes : 0};
    size_t frames_before = index->count, functions_before = index->function_count;
    struct th_buffer *content = &index->content;
    enum th_status status = inflate_part(data, size, content);
    unsigned char *kept = status == TH_OK ? th_may_realloc(NULL, size) : NULL;
    struct scan scan;

    index->content_part = index->part_count;
    if (!kept) {
        content->size = 0;
        return status == TH_OK ? th_error_raise(TH_FAILED, "there is no memory for the index")
                               : status;
    }
    scan = (struct scan){content->data, content->data + content->size, content->data,
                         content->size == 0};
    frame.part = index->part_count;
    for (uint64_t left = scan_count(&scan); left > 0 && !scan.bad; left--)
        scan_function(&scan, index);
    for (uint64_t left = scan_count(&scan); left > 0 && !scan.bad; left--) {
        scan_frame(&scan, index, &frame);
        TH_ARRAY_GROW(index->frames, index->count, index->capacity);
        index->frames[index->count++] = frame;
        frame = (struct th_packed_frame){.part = frame.part,
                                         .offset = frame.offset + frame.size,
                                         .first = frame.first + frame.records,
                                         .position = frame.position + frame.bytes};
    }
    if (scan.bad || scan.at != scan.end) {
        index->count = frames_before;
        index->function_count = functions_before;
        content->size = 0;
        th_free(kept);
        return th_error_raise(TH_MALFORMED, "a part of the index is damaged");
    }
    memcpy(kept, data, size);
    TH_ARRAY_GROW(index->parts, index->part_count, index->part_capacity);
    index->parts[index->part_count++] = (struct th_packed_part){kept, size};
    return TH_OK;
}

void th_replay_packed_index_free(struct th_packed_index *index)
{
    for (size_t i = 0; i < index->part_count; i++)
        th_free(index->parts[i].data);
    th_free(index->parts);
    th_free(index->frames);
    th_free(index->functions);
    th_buffer_free(&index->content);
    *index = (struct th_packed_index){0};
}

/* --- Walks through checked sets ---------------------------------------------------------------- */

/* Makes the content of FRAME's part, which was checked before, that of INDEX. Returns false if there is no memory. */
static bool hold_part(struct th_packed_index *index, const struct th_packed_frame *frame)
{
    const struct th_packed_part *part = &index->parts[frame->part];

    if (index->content.size > 0 && index->content_part == frame->part)
        return true;
    index->content_part = frame->part;
    if (inflate_part(part->data, part->size, &index->content) == TH_OK)
        return true;
    th_error_clear();
    index->content.size = 0;
    return false;
}

bool th_replay_packed_tracees(struct th_packed_index *index, const struct th_packed_frame *frame,
                              struct th_packed_walk *walk)
{
    *walk = (struct th_packed_walk){0};
    if (!hold_part(index, frame))
        return false;
    walk->at = index->content.data + frame->sets;
    walk->left = th_replay_packed_get(&walk->at);
    return true;
}

bool th_replay_packed_next_tracee(struct th_packed_walk *walk, struct th_packed_tracee *tracee)
{
    if (walk->left == 0)
        return false;
    walk->left--;
    tracee->tracee = walk->before += th_replay_packed_get(&walk->at);
    tracee->flags = (unsigned)th_replay_packed_get(&walk->at);
    tracee->kept = th_replay_packed_get(&walk->at);
    tracee->opened = th_replay_packed_get(&walk->at);
    tracee->ordinals = walk->at;
    for (uint64_t i = 0; i < tracee->opened; i++)
        th_replay_packed_get(&walk->at);
    return true;
}

void th_replay_packed_functions(struct th_packed_walk *walk)
{
    walk->before = 0;
    walk->left = th_replay_packed_get(&walk->at);
}

bool th_replay_packed_next_function(struct th_packed_walk *walk, uint64_t *function)
{
    if (walk->left == 0)
        return false;
    walk->left--;
    *function = walk->before += th_replay_packed_get(&walk->at);
    return true;
}

bool th_replay_packed_world(struct th_packed_index *index, const struct th_packed_frame *frame,
                            struct th_packed_walk *walk)
{
    *walk = (struct th_packed_walk){.position = frame->position};
    if (!hold_part(index, frame))
        return false;
    walk->at = index->content.data + frame->world;
    walk->left = th_replay_packed_get(&walk->at);
    return true;
}

bool th_replay_packed_next_record(struct th_packed_walk *walk, struct th_packed_record *record)
{
    if (walk->left == 0)
        return false;
    walk->left--;
    record->ordinal = walk->before += th_replay_packed_get(&walk->at);
    record->position = walk->position += th_replay_packed_get(&walk->at);
    record->size = th_replay_packed_get(&walk->at);
    record->data = walk->at;
    walk->at += record->size;
    return true;
}
