#include "kept_records.h"

#include "reader.h"

#include "host/base/output.h"
#include "host/trace/event.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Numbers of a record's classes. All tracees of other nodes are one class. */
static struct th_replay_classes classes_of(struct th_event *event)
{
    struct th_replay_classes classes = {
        .of = {th_is_immediate(event->tracee) ? event->tracee : 1, (uint64_t)event->tag, 0}};
    struct th_mfa function;

    if (event->kind > TH_EVENT_TRACE_TS || !th_trace_tag_has_function(event->tag))
        return classes;
    if (event->source->function(event, &function) == TH_OK)
        classes.of[TH_REPLAY_CLASS_FUNCTION] =
            (function.module << 40 ^ function.function << 8) + function.arity + 1;
    else
        th_error_clear();
    return classes;
}

static enum th_status add_converted(struct th_replay_kept *kept, struct th_event *event)
{
    enum th_status status;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    status = th_replay_writer_encode(&kept->bytes, &kept->how, event, &env);
    th_env_release(&env);
    return status;
}

enum th_status th_replay_kept_add(struct th_replay_kept *kept, const struct th_reader *reader,
                                  const struct th_event *event)
{
    struct th_event copy = *event; /* its terms are gone after a conversion */
    const struct th_replay_classes classes = classes_of(&copy);
    const struct th_reader_info *info = th_replay_reader_info(reader);
    bool jsonl = kept->how.format == TH_FORMAT_JSONL;
    const unsigned char *raw;
    enum th_status status;
    size_t size;

    if (kept->how.here.node == TH_NONE) {
        kept->how.here = info->node;
        kept->how.utf8_atoms = info->utf8_atoms;
    }
    if (jsonl == (strcmp(info->format, "jsonl") == 0)) {
        raw = th_replay_reader_raw(reader, event, &size);
        if (size == 0)
            return TH_OK;
        th_buffer_add(&kept->bytes, raw, size);
        if (jsonl && raw[size - 1] != '\n')
            th_buffer_add_byte(&kept->bytes, '\n');
    } else if ((status = add_converted(kept, &copy)) != TH_OK) {
        return status;
    }
    if (kept->bytes.size > kept->most)
        return th_error_raise(TH_FAILED,
                              "the records up to the crash have more than %zu bytes: give a larger "
                              "--max-memory",
                              kept->most);
    TH_ARRAY_GROW(kept->ends, kept->count, kept->capacity);
    TH_ARRAY_GROW(kept->classes, kept->count, kept->classes_capacity);
    kept->classes[kept->count] = classes;
    kept->ends[kept->count++] = kept->bytes.size;
    return TH_OK;
}

enum th_status th_replay_kept_read(struct th_replay_kept *kept, struct th_reader *reader,
                                   size_t enough)
{
    struct th_event event = {0};
    enum th_status met = TH_OK;

    while (met != TH_END && met != TH_FAILED && kept->bytes.size < enough) {
        met = th_replay_reader_next(reader, &event);
        if (met == TH_OK)
            met = th_replay_kept_add(kept, reader, &event);
        if (met != TH_OK && met != TH_END && met != TH_FAILED)
            th_error_clear();
    }
    return met == TH_FAILED ? TH_FAILED : TH_OK;
}

void th_replay_kept_write(const struct th_replay_kept *kept, const size_t records[], size_t count,
                          struct th_buffer *stream)
{
    th_replay_writer_encode_head(stream, &kept->how);
    for (size_t i = 0; i < count; i++) {
        size_t begin = records[i] ? kept->ends[records[i] - 1] : 0;
        th_buffer_add(stream, kept->bytes.data + begin, kept->ends[records[i]] - begin);
    }
}

void th_replay_kept_free(struct th_replay_kept *kept)
{
    th_buffer_free(&kept->bytes);
    th_free(kept->ends);
    th_free(kept->classes);
}

enum th_status th_replay_kept_open(const struct th_buffer *stream, const char *name,
                                   const struct th_reader_options *options,
                                   struct th_reader **reader)
{
    int memory = memfd_create("tracehost", MFD_CLOEXEC);

    if (memory >= 0 && th_output_write_bytes(memory, stream->data, stream->size) &&
        lseek(memory, 0, SEEK_SET) == 0)
        return th_replay_reader_attach(memory, name, options, reader);
    th_error_raise(TH_FAILED, "%s", strerror(errno));
    if (memory >= 0)
        close(memory);
    return th_error_context("cannot keep %zu bytes of records in memory", stream->size);
}
