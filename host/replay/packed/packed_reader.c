/* Reads packed recordings. */
#include "packed_internal.h"

#include "host/base/memory.h"
#include "host/replay/replay_internal.h"
#include "host/replay/unpack.h"
#include "host/term/etf_tags.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* --- Opening ----------------------------------------------------------------------------------- */

static bool read_packed(int fd, void *to, size_t size, uint64_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t got = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Frames of the file, by its seek table or by their own headers. */
struct entries {
    int fd;
    uint64_t size;          /* of the file */
    struct th_buffer table; /* entries of the seek table; empty: there is none */
    size_t at;
};

/* Reads the seek table, if the file ends with one that is right about its size. */
static void read_table(struct entries *entries)
{
    unsigned char foot[TH_PACKED_TABLE_FOOT];
    uint64_t size, sum = 0;

    if (entries->size < sizeof foot ||
        !read_packed(entries->fd, foot, sizeof foot, entries->size - sizeof foot) ||
        th_replay_packed_get32(foot + 5) != TH_PACKED_FOOT_MAGIC || foot[4] != 0)
        return;
    size = (uint64_t)th_replay_packed_get32(foot) * TH_PACKED_ENTRY;
    if (size + TH_PACKED_SKIPPABLE_HEAD + sizeof foot > entries->size ||
        !th_buffer_try(&entries->table, size) ||
        !read_packed(entries->fd, entries->table.data, size, entries->size - sizeof foot - size))
        return;
    for (uint64_t at = 0; at < size; at += TH_PACKED_ENTRY)
        sum += th_replay_packed_get32(entries->table.data + at);
    if (sum + TH_PACKED_SKIPPABLE_HEAD + size + sizeof foot == entries->size)
        entries->table.size = size;
}

/* Returns the size in the file of the zstd frame at OFFSET, by its header and those of its blocks; 0:
 * it is not whole. */
static uint64_t size_by_headers(const struct entries *entries, uint64_t offset)
{
    static const unsigned dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
    unsigned char head[5];
    unsigned how, single, block = 0;
    uint64_t at = offset;

    if (offset + sizeof head > entries->size ||
        !read_packed(entries->fd, head, sizeof head, offset) ||
        th_replay_packed_get32(head) != 0xFD2FB528u)
        return 0;
    how = head[4]; /* RFC 8878, 3.1.1.1.1 */
    single = how >> 5 & 1;
    at +=
        sizeof head + !single + dictionary[how & 3] + content[how >> 6] + (single && how >> 6 == 0);
    while (!(block & 1)) {
        if (at + 3 > entries->size || !read_packed(entries->fd, head, 3, at))
            return 0;
        block = head[0] | (unsigned)head[1] << 8 | (unsigned)head[2] << 16;
        at += 3 + ((block >> 1 & 3) == 1 ? 1 : block >> 3); /* 1: one byte, repeated */
    }
    at += how & 4 ? 4 : 0; /* a checksum */
    return at <= entries->size ? at - offset : 0;
}

/* Returns the size in the file of the frame at OFFSET, and its first eight bytes, or zeros, in HEAD; 0: there is no whole
 * frame. */
static uint64_t next_entry(struct entries *entries, uint64_t offset, unsigned char head[8])
{
    bool skippable = true;
    uint64_t size = 0;

    if (entries->table.size) {
        const unsigned char *entry = entries->table.data + entries->at;
        if (entries->at >= entries->table.size)
            return 0;
        size = th_replay_packed_get32(entry);
        skippable = th_replay_packed_get32(entry + 4) == 0;
        entries->at += TH_PACKED_ENTRY;
    }
    memset(head, 0, 8); /* a frame of records */
    if (skippable && (offset + 8 > entries->size || !read_packed(entries->fd, head, 8, offset)))
        return 0;
    if (entries->table.size)
        return size;
    if ((head[0] & 0xF0) == 0x50 && head[1] == 0x2A && head[2] == 0x4D && head[3] == 0x18) {
        size = TH_PACKED_SKIPPABLE_HEAD + (uint64_t)th_replay_packed_get32(head + 4);
        return head[0] != TH_PACKED_TABLE && size <= entries->size - offset ? size : 0;
    }
    return size_by_headers(entries, offset);
}

/* Adds the part of the index at OFFSET, of SIZE bytes, whose frames begin at FROM.
 * Errors: returns false if the part is not right about the frames. */
static bool take_part(struct th_packed_file *file, uint64_t from, uint64_t offset, uint64_t size)
{
    struct th_packed_index *index = &file->index;
    const struct th_packed_frame *last;
    struct th_buffer content = {0};
    bool taken;

    size -= TH_PACKED_SKIPPABLE_HEAD;
    taken = th_buffer_try(&content, size) &&
            read_packed(file->fd, content.data, size, offset + TH_PACKED_SKIPPABLE_HEAD) &&
            th_replay_packed_index_add(index, from, content.data, size) == TH_OK;
    th_buffer_free(&content);
    if (!taken) {
        th_error_clear();
        return false;
    }
    last = index->count ? &index->frames[index->count - 1] : NULL;
    return last && last->offset + last->size == offset;
}

/* Reads the index. Returns false if it cannot be used. */
static bool read_index(struct th_packed_file *file, struct entries *entries)
{
    uint64_t offset = 0, size;
    unsigned char head[8];
    bool right = true;

    for (; right && (size = next_entry(entries, offset, head)) > 0; offset += size) {
        if (offset == 0)
            file->tail = size; /* the mark */
        else if (head[0] == TH_PACKED_INDEX && head[1] == 0x2A && head[2] == 0x4D) {
            right = take_part(file, file->tail, offset, size);
            file->tail = offset + size;
        }
    }
    file->ends = entries->table.size > 0 && entries->at == entries->table.size;
    return right && (!file->ends || file->tail == offset);
}

void th_replay_packed_open(int fd, struct th_packed_file **file, const char **why)
{
    struct entries entries = {.fd = fd};
    unsigned char mark[TH_PACKED_MARK_SIZE];
    struct th_packed_file *made;
    struct stat about;
    bool usable;

    *file = NULL;
    *why = NULL;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || lseek(fd, 0, SEEK_CUR) != 0 ||
        !read_packed(fd, mark, sizeof mark, 0) || !th_replay_packed_is_mark(mark))
        return;
    made = th_alloc_zero(sizeof *made);
    made->fd = fd;
    made->zstd = ZSTD_createDCtx();
    entries.size = (uint64_t)about.st_size;
    read_table(&entries);
    usable = made->zstd && read_index(made, &entries);
    th_buffer_free(&entries.table);
    th_error_clear();
    if (!usable)
        *why = "its index is damaged: the file is read from its beginning";
    if (usable && (made->index.count > 0 || !made->ends)) {
        made->counts.frames = made->index.count;
        *file = made;
        return;
    }
    th_replay_packed_close(made);
}

void th_replay_packed_close(struct th_packed_file *file)
{
    if (!file)
        return;
    th_replay_packed_index_free(&file->index);
    ZSTD_freeDCtx(file->zstd);
    th_free(file->packed);
    th_free(file->read);
    th_free(file->picks);
    th_buffer_free(&file->plain);
    th_free(file);
}

struct th_packed_counts th_replay_packed_counts(const struct th_packed_file *file)
{
    return file->counts;
}

uint64_t th_replay_packed_size(const struct th_packed_file *file)
{
    const struct th_packed_frame *last =
        file->ends && file->index.count ? &file->index.frames[file->index.count - 1] : NULL;

    return last ? last->position + last->bytes : 0;
}

void th_replay_packed_rewind(struct th_packed_file *file)
{
    file->at = file->pick = 0;
    file->inside = file->mistrusted = file->end_reported = false;
    file->fault.status = TH_OK;
    file->counts.read = file->counts.lost = 0;
}

/* --- Frames and records ------------------------------------------------------------------------ */

/* Returns the size of the record whose head is at DATA, in bytes. */
static uint64_t size_of_record(const unsigned char *data)
{
    return TH_PORT_HEAD + (data[0] == TH_PORT_MESSAGE ? (uint64_t)th_etf_get32(data + 1) : 0);
}

/* Returns whether the SIZE bytes at DATA are COUNT whole records. */
static bool are_records(const unsigned char *data, size_t size, uint64_t count)
{
    size_t at = 0;

    while (at < size && count > 0) {
        uint64_t bytes;
        if (size - at < TH_PORT_HEAD)
            return false;
        bytes = size_of_record(data + at);
        if (bytes > size - at)
            return false;
        at += bytes;
        count--;
    }
    return at == size && count == 0;
}

/* Decompresses FRAME to TO, which has room for it. Errors: TH_PARTIAL. */
static enum th_status unpack_frame(struct th_packed_file *file, const struct th_packed_frame *frame,
                                   unsigned char *to)
{
    const char *fault = NULL;
    size_t got;

    if (frame->size > file->packed_size) {
        unsigned char *room = th_may_realloc(file->packed, frame->size);
        if (!room)
            return th_error_raise(TH_PARTIAL, "there is no memory to decompress a frame");
        file->packed = room;
        file->packed_size = frame->size;
    }
    file->counts.read++;
    if (!read_packed(file->fd, file->packed, frame->size, frame->offset))
        return th_error_raise(TH_PARTIAL, "cannot read the frame: %s", strerror(errno));
    got = ZSTD_decompressDCtx(file->zstd, to, frame->bytes, file->packed, frame->size);
    if (ZSTD_isError(got))
        fault = ZSTD_getErrorName(got);
    else if (got != frame->bytes || !are_records(to, got, frame->records))
        fault = "the frame is not as the index says";
    if (!fault)
        return TH_OK;
    file->mistrusted = true;
    file->counts.lost += frame->records;
    return th_error_raise(TH_PARTIAL, "the compressed data (zstd) are damaged: %s", fault);
}

static enum th_status frame_is_lost(const struct th_packed_frame *frame)
{
    return th_error_context("records %llu to %llu at byte %llu are lost",
                            (unsigned long long)frame->first,
                            (unsigned long long)(frame->first + frame->records - 1),
                            (unsigned long long)frame->position);
}

/* Returns whether the next pick is of the frame at the place. */
static bool has_pick(const struct th_packed_file *file)
{
    return file->pick < file->pick_count && file->picks[file->pick].frame == file->at;
}

static void drop_picks(struct th_packed_file *file)
{
    while (has_pick(file))
        file->pick++;
}

/* Begins the frame at the place, of which single records are taken. */
static enum th_status enter_frame(struct th_packed_file *file)
{
    const struct th_packed_frame *frame = &file->index.frames[file->at];
    enum th_status status = TH_OK;

    file->inside = true;
    file->next.data = NULL;
    if (!th_replay_packed_world(&file->index, frame, &file->world))
        status = th_error_raise(TH_PARTIAL, "there is no memory for the index");
    else
        th_replay_packed_next_record(&file->world, &file->next); /* leaves it if there is none */
    file->ordinal = file->place = 0;
    file->plain.size = 0;
    if (status == TH_OK && !has_pick(file))
        return TH_OK;
    if (status == TH_OK)
        status = th_buffer_try(&file->plain, frame->bytes)
                     ? unpack_frame(file, frame, file->plain.data)
                     : th_error_raise(TH_PARTIAL, "there is no memory to decompress a frame");
    file->plain.size = frame->bytes;
    if (status == TH_OK)
        return TH_OK;
    drop_picks(file);
    return frame_is_lost(frame);
}

/* Takes the next single record of the frame at the place. False: none is left. */
static bool next_single(struct th_packed_file *file, struct th_packed_record *record)
{
    const struct th_packed_frame *frame = &file->index.frames[file->at];
    bool picked = has_pick(file);
    uint64_t ordinal = picked ? file->picks[file->pick].ordinal : UINT64_MAX;

    if (file->next.data && file->next.ordinal <= ordinal) {
        *record = file->next;
        file->pick += picked && file->next.ordinal == ordinal;
        if (!th_replay_packed_next_record(&file->world, &file->next))
            file->next.data = NULL;
        return true;
    }
    if (!picked)
        return false;
    file->pick++;
    while (file->ordinal < ordinal) {
        file->place += size_of_record(file->plain.data + file->place);
        file->ordinal++;
    }
    *record = (struct th_packed_record){.ordinal = ordinal,
                                        .position = frame->position + file->place,
                                        .data = file->plain.data + file->place,
                                        .size = size_of_record(file->plain.data + file->place)};
    return true;
}

/* Reports once that the file has no seek table, unless INPUT has reported a torn frame. */
static enum th_status end_of_tail(struct th_packed_file *file, const struct th_input *input)
{
    bool torn = input->unpack && th_replay_unpack_fault(input->unpack);

    if (file->ends || file->end_reported || torn)
        return TH_END;
    file->end_reported = true;
    return th_error_raise(TH_PARTIAL, "%s", TH_PACKED_NO_END);
}

/* Lets INPUT read what follows the last indexed frame. */
static enum th_status read_tail(struct th_packed_file *file, struct th_input *input,
                                uint64_t *number)
{
    const struct th_packed_frame *last =
        file->index.count ? &file->index.frames[file->index.count - 1] : NULL;

    if (input->unpack || file->end_reported)
        return end_of_tail(file, input);
    *number = last ? last->first + last->records : 1;
    if (file->ends)
        return TH_END;
    if (lseek(file->fd, (off_t)file->tail, SEEK_SET) < 0)
        return th_error_raise(TH_PARTIAL, "cannot read the file: %s", strerror(errno));
    input->offset = last ? last->position + last->bytes : 0;
    input->begin = input->end = 0;
    input->ended = false;
    th_replay_input_begin(input);
    if (th_replay_input_there(input) == 0 && !input->error)
        return end_of_tail(file, input);
    if (input->unpack)
        return TH_OK;
    th_replay_input_take(input, th_replay_input_there(input));
    file->end_reported = true;
    return th_error_raise(TH_PARTIAL, "behind the compressed data stand other bytes");
}

enum th_status th_replay_packed_next(struct th_packed_file *file, struct th_input *input,
                                     uint64_t *number)
{
    struct th_packed_record record;
    unsigned char *to;

    for (; file->at < file->index.count; file->at++, file->inside = false) {
        const struct th_packed_frame *frame = &file->index.frames[file->at];
        enum th_status status = TH_OK;
        if (!file->inside && (!file->read || file->read[file->at] || file->mistrusted)) {
            to = th_replay_input_replace(input, frame->position, frame->bytes);
            if (!to)
                return th_error_raise(TH_FAILED, "there is no memory for a frame");
            drop_picks(file);
            *number = frame->first;
            status = unpack_frame(file, frame, to);
            if (status == TH_OK) {
                file->at++;
                return TH_OK;
            }
            input->end = 0;
            enter_frame(file); /* the copies of its records that change the world are sound */
            frame_is_lost(frame);
            th_error_save(&file->fault);
            th_error_clear();
        }
        if (!file->inside && enter_frame(file) != TH_OK)
            return TH_PARTIAL;
        if (next_single(file, &record)) {
            to = th_replay_input_replace(input, record.position, record.size);
            if (!to)
                return th_error_raise(TH_FAILED, "there is no memory for a record");
            memcpy(to, record.data, record.size);
            *number = frame->first + record.ordinal;
            return TH_OK;
        }
        *number = frame->first + frame->records;
        if (file->fault.status != TH_OK) {
            th_error_restore(&file->fault);
            file->fault.status = TH_OK;
            file->at++;
            file->inside = false;
            return TH_PARTIAL;
        }
    }
    return read_tail(file, input, number);
}
