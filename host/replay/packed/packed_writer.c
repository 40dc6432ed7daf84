#include "packed.h"

#include "host/base/memory.h"
#include "host/replay/pack.h"

#include <string.h>
#include <zstd.h>

struct th_packed_writer {
    size_t frame; /* bytes of records from which a frame is complete */
    ZSTD_CCtx *zstd;
    struct th_packed_indexer *indexer;
    struct th_buffer records; /* of the current frame */
    struct th_buffer table;   /* entries of the seek table */
    uint32_t entries;
};

static enum th_status packed_lacks_memory(void)
{
    return th_error_raise(TH_FAILED, "there is no memory to compress with");
}

/* Adds an entry to the seek table: for SIZE bytes in the file, and BYTES of plain ones. */
static void add_entry(struct th_packed_writer *writer, size_t size, size_t bytes)
{
    unsigned char *entry = th_buffer_reserve(&writer->table, TH_PACKED_ENTRY);

    th_replay_packed_put32(entry, (uint32_t)size);
    th_replay_packed_put32(entry + 4, (uint32_t)bytes);
    writer->table.size += TH_PACKED_ENTRY;
    writer->entries++;
}

/* Appends the head of a skippable frame whose content has SIZE bytes. */
static void add_skippable(struct th_buffer *out, unsigned kind, size_t size)
{
    unsigned char *head = th_buffer_reserve(out, TH_PACKED_SKIPPABLE_HEAD);

    th_replay_packed_put32(head, 0x184D2A00u | kind);
    th_replay_packed_put32(head + 4, (uint32_t)size);
    out->size += TH_PACKED_SKIPPABLE_HEAD;
}

enum th_status th_replay_packed_writer_begin(size_t frame, int level,
                                             struct th_packed_writer **writer,
                                             struct th_buffer *out)
{
    struct th_packed_writer *made = th_alloc_zero(sizeof *made);

    *writer = made;
    made->frame = frame;
    made->zstd = ZSTD_createCCtx();
    if (!made->zstd) {
        th_replay_packed_writer_end(made);
        *writer = NULL;
        return packed_lacks_memory();
    }
    ZSTD_CCtx_setParameter(made->zstd, ZSTD_c_compressionLevel,
                           level ? level : th_replay_pack_level(TH_COMPRESSION_ZSTD));
    ZSTD_CCtx_setParameter(made->zstd, ZSTD_c_checksumFlag, 1);
    made->indexer = th_replay_packed_indexer_begin();
    add_skippable(out, TH_PACKED_MARK, strlen(TH_PACKED_MARK_TEXT));
    th_buffer_add_text(out, TH_PACKED_MARK_TEXT);
    add_entry(made, TH_PACKED_SKIPPABLE_HEAD + strlen(TH_PACKED_MARK_TEXT), 0);
    return TH_OK;
}

void th_replay_packed_writer_end(struct th_packed_writer *writer)
{
    if (!writer)
        return;
    ZSTD_freeCCtx(writer->zstd);
    th_replay_packed_indexer_end(writer->indexer);
    th_buffer_free(&writer->records);
    th_buffer_free(&writer->table);
    th_free(writer);
}

static enum th_status write_index_part(struct th_packed_writer *writer, struct th_buffer *out)
{
    size_t before = out->size;
    enum th_status status = th_replay_packed_indexer_part(writer->indexer, out);

    if (status == TH_OK && out->size > before)
        add_entry(writer, out->size - before, 0);
    return status;
}

enum th_status th_replay_packed_writer_flush(struct th_packed_writer *writer, struct th_buffer *out)
{
    struct th_buffer *records = &writer->records;
    size_t room = ZSTD_compressBound(records->size), size;

    if (records->size == 0)
        return TH_OK;
    size = ZSTD_compress2(writer->zstd, th_buffer_reserve(out, room), room, records->data,
                          records->size);
    if (ZSTD_isError(size))
        return packed_lacks_memory();
    out->size += size;
    add_entry(writer, size, records->size);
    th_replay_packed_indexer_frame(writer->indexer, size);
    records->size = 0;
    return th_replay_packed_indexer_frames(writer->indexer) < TH_PACKED_PART
               ? TH_OK
               : write_index_part(writer, out);
}

enum th_status th_replay_packed_writer_add(struct th_packed_writer *writer, struct th_event *event,
                                           th_env *env, const unsigned char *data, size_t size,
                                           struct th_buffer *out)
{
    th_replay_packed_indexer_add(writer->indexer, event, env, data, size);
    th_buffer_add(&writer->records, data, size);
    return writer->records.size < writer->frame ? TH_OK
                                                : th_replay_packed_writer_flush(writer, out);
}

enum th_status th_replay_packed_writer_finish(struct th_packed_writer *writer,
                                              struct th_buffer *out)
{
    enum th_status status = th_replay_packed_writer_flush(writer, out);
    unsigned char *foot;

    if (status == TH_OK)
        status = write_index_part(writer, out);
    if (status != TH_OK)
        return status;
    add_skippable(out, TH_PACKED_TABLE, writer->table.size + TH_PACKED_TABLE_FOOT);
    th_buffer_add(out, writer->table.data, writer->table.size);
    foot = th_buffer_reserve(out, TH_PACKED_TABLE_FOOT);
    th_replay_packed_put32(foot, writer->entries);
    foot[4] = 0; /* the entries have no checksums: the frames have */
    th_replay_packed_put32(foot + 5, TH_PACKED_FOOT_MAGIC);
    out->size += TH_PACKED_TABLE_FOOT;
    return TH_OK;
}
