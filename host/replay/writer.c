#include "writer.h"

#include "json_lines.h"
#include "log/log_stream.h"
#include "packed/packed.h"
#include "record.h"
#include "replay_internal.h"

#include "host/base/buffer.h"
#include "host/base/output.h"
#include "host/term/etf.h"
#include "host/term/etf_tags.h"
#include "host/trace/event.h"

#include <string.h>

enum { FLUSH_AT = 256 * 1024 };

struct th_writer {
    struct th_writer_options options;
    struct th_output out;
    struct th_buffer buffer;         /* not yet written to `out` */
    struct th_pack *pack;            /* NULL: the file is plain */
    struct th_packed_writer *packer; /* NULL: the file has no index */
    struct th_log_writer *log;       /* NULL: a file is written */
    struct th_buffer packed; /* what `pack` or `packer` has made; not yet written to `out` */
    uint64_t plain;          /* calls with facts that the format cannot contain */
};

void th_replay_writer_encode_head(struct th_buffer *out, const struct th_writer_options *options)
{
    if (options->format == TH_FORMAT_JSONL)
        th_replay_json_write_header(out, &options->here, options->utf8_atoms);
}

static void free_writer(struct th_writer *writer)
{
    th_buffer_free(&writer->buffer);
    th_buffer_free(&writer->packed);
    th_replay_pack_free(writer->pack);
    th_replay_packed_writer_end(writer->packer);
    th_replay_log_writer_end(writer->log);
    th_free(writer);
}

static enum th_status begin_pack(struct th_writer *writer, const struct th_writer_options *options)
{
    if (options->frame)
        return th_replay_packed_writer_begin(options->frame, options->level, &writer->packer,
                                             &writer->packed);
    if (options->compression)
        return th_replay_pack_begin(options->compression, options->level, &writer->pack);
    return TH_OK;
}

static enum th_status begin_output(struct th_writer *writer, const char *file,
                                   const struct th_writer_options *options)
{
    if (options->log)
        return th_replay_log_writer_begin(file, &options->here, options->log, &writer->log);
    return begin_pack(writer, options) == TH_OK ? th_output_open(&writer->out, file) : TH_FAILED;
}

enum th_status th_replay_writer_open(const char *file, const struct th_writer_options *options,
                                     struct th_writer **writer)
{
    struct th_writer *made = th_alloc_zero(sizeof *made);

    *writer = NULL;
    if (begin_output(made, file, options) != TH_OK) {
        free_writer(made);
        return TH_FAILED;
    }
    made->options = *options;
    th_replay_writer_encode_head(&made->buffer, options);
    *writer = made;
    return TH_OK;
}

static enum th_status flush_writer(struct th_writer *writer, enum th_pack_how how)
{
    struct th_buffer *buffer = &writer->buffer, *packed = &writer->packed;
    enum th_status status;

    if (writer->log)
        return how == TH_PACK_END ? th_replay_log_writer_finish(writer->log)
                                  : th_replay_log_writer_flush(writer->log);
    if (!writer->pack && !writer->packer) {
        status = th_output_write(&writer->out, buffer->data, buffer->size);
        buffer->size = 0;
        return status;
    }
    if (writer->pack)
        status = th_replay_pack_add(writer->pack, buffer->data, buffer->size, how, packed);
    else if (how == TH_PACK_END)
        status = th_replay_packed_writer_finish(writer->packer, packed);
    else
        status =
            how == TH_PACK_FLUSH ? th_replay_packed_writer_flush(writer->packer, packed) : TH_OK;
    if (status == TH_OK)
        status = th_output_write(&writer->out, packed->data, packed->size);
    buffer->size = packed->size = 0;
    return status;
}

/* Appends the head of a record. */
static void add_head(struct th_buffer *buffer, unsigned char op, uint32_t size)
{
    unsigned char *head = th_buffer_reserve(buffer, TH_PORT_HEAD);

    head[0] = op;
    th_etf_put32(head + 1, size);
    buffer->size += TH_PORT_HEAD;
}

/* Copies the record of EVENT as it is, if it is a term. */
static enum th_status copy_message(struct th_buffer *buffer, struct th_event *event, th_env *env)
{
    struct th_record *record = event->reader;
    size_t size = (size_t)(record->end - record->data);
    th_term term;

    if (event->kind == TH_EVENT_OTHER || th_trace_event_brief(event, env) != TH_OK ||
        th_trace_event_time(event) != TH_OK) {
        th_error_clear();
        if (th_replay_record_whole(record, env, &term) != TH_OK)
            return TH_MALFORMED;
    }
    add_head(buffer, TH_PORT_MESSAGE, (uint32_t)size);
    th_buffer_add(buffer, record->data, size);
    return TH_OK;
}

static enum th_status add_message(struct th_buffer *buffer, const struct th_writer_options *options,
                                  struct th_event *event, th_env *env)
{
    const struct th_etf_options etf = {.here = options->here, .utf8_atoms = options->utf8_atoms};
    size_t before = buffer->size;
    size_t size;
    th_term term;

    if (event->source->whole(event, env, &term) != TH_OK)
        return TH_MALFORMED;
    add_head(buffer, TH_PORT_MESSAGE, 0);
    if (th_etf_encode(buffer, term, true, &etf) != TH_OK) {
        buffer->size = before;
        return th_error_context("cannot encode the record");
    }
    size = buffer->size - before - TH_PORT_HEAD;
    if (size > UINT32_MAX) {
        buffer->size = before;
        return th_error_raise(TH_FAILED, "the record has %zu bytes; at most %u are possible", size,
                              UINT32_MAX);
    }
    th_etf_put32(buffer->data + before + 1, (uint32_t)size);
    return TH_OK;
}

enum th_status th_replay_writer_encode(struct th_buffer *out,
                                       const struct th_writer_options *options,
                                       struct th_event *event, th_env *env)
{
    enum th_status status = TH_OK;

    if (options->format == TH_FORMAT_JSONL)
        status = th_replay_json_write_event(out, event, env, &options->here);
    else if (event->kind == TH_EVENT_DROP && event->dropped > UINT32_MAX)
        status =
            th_error_raise(TH_FAILED, "a record can count at most %u dropped events", UINT32_MAX);
    else if (event->kind == TH_EVENT_DROP)
        add_head(out, TH_PORT_DROP, (uint32_t)event->dropped);
    else if ((options->frame || options->log) && event->source == &th_replay_record_source)
        status = copy_message(out, event, env);
    else
        status = add_message(out, options, event, env);
    if (status == TH_FAILED)
        return th_error_context("cannot write record %llu at byte %llu",
                                (unsigned long long)event->number,
                                (unsigned long long)event->position);
    return status;
}

/* True if EVENT is a call with facts that a trace-port file cannot contain. */
static bool has_more_facts(const struct th_event *event)
{
    return event->external != TH_UNKNOWN || event->tail != TH_UNKNOWN || event->callers_told;
}

enum th_status th_replay_writer_add(struct th_writer *writer, struct th_event *event, th_env *env)
{
    enum th_status status = th_replay_writer_encode(&writer->buffer, &writer->options, event, env);

    if (status == TH_OK && writer->options.format == TH_FORMAT_TRACE_PORT &&
        event->kind != TH_EVENT_DROP)
        writer->plain += has_more_facts(event);
    if (status == TH_OK && writer->packer) {
        status = th_replay_packed_writer_add(writer->packer, event, env, writer->buffer.data,
                                             writer->buffer.size, &writer->packed);
        writer->buffer.size = 0;
    } else if (status == TH_OK && writer->log) {
        status =
            th_replay_log_writer_add(writer->log, event, writer->buffer.data, writer->buffer.size);
        writer->buffer.size = 0;
    }
    return status == TH_OK && writer->buffer.size + writer->packed.size >= FLUSH_AT
               ? flush_writer(writer, TH_PACK_MORE)
               : status;
}

uint64_t th_replay_writer_plain(const struct th_writer *writer)
{
    return writer->plain;
}

enum th_status th_replay_writer_flush(struct th_writer *writer)
{
    enum th_status status = flush_writer(writer, TH_PACK_FLUSH);

    return status == TH_OK && !writer->log ? th_output_flush(&writer->out) : status;
}

enum th_status th_replay_writer_commit(struct th_writer *writer)
{
    enum th_status status = flush_writer(writer, TH_PACK_END);

    if (status == TH_OK && !writer->log)
        status = th_output_commit(&writer->out);
    else if (!writer->log)
        th_output_abandon(&writer->out);
    free_writer(writer);
    return status;
}

void th_replay_writer_abandon(struct th_writer *writer)
{
    if (!writer->log)
        th_output_abandon(&writer->out);
    free_writer(writer);
}
