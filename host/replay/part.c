#include "part.h"

#include "kept_records.h"
#include "reader.h"
#include "shrink.h"

static enum th_status whole_of_part(struct th_event *event, th_env *env, th_term *tuple)
{
    *tuple = th_trace_event_to_tuple(event, env);
    return TH_OK;
}

const struct th_event_source th_replay_part_source = {.whole = whole_of_part};

static enum th_status add_record(struct th_replay_part *part, struct th_event *event)
{
    th_env *env = th_env_create(TH_ENV_PLAIN);
    struct th_part_record *record;
    enum th_status status;

    TH_ARRAY_GROW(part->records, part->count, part->capacity);
    record = &part->records[part->count++];
    *record = (struct th_part_record){.env = env};
    status = th_replay_writer_encode(&record->bytes, &part->how, event, env);
    if (status != TH_OK || event->kind > TH_EVENT_SEQ_TRACE)
        return status;
    if (th_trace_event_decode(event, env) != TH_OK || th_trace_event_time(event) != TH_OK) {
        th_error_clear();
        return TH_OK;
    }
    record->event = *event;
    record->event.source = &th_replay_part_source;
    record->event.reader = NULL;
    record->event.tracee = event->tracee == TH_NONE ? TH_NONE : th_copy(env, event->tracee);
    return TH_OK;
}

enum th_status th_replay_part_read(struct th_replay_part *part, const struct th_buffer *stream,
                                   const struct th_writer_options *how, bool scheduler_id)
{
    const struct th_reader_options options = {.scheduler_id = scheduler_id};
    struct th_event event = {0};
    struct th_reader *reader;
    enum th_status status = th_replay_kept_open(stream, "the records", &options, &reader), met;

    *part = (struct th_replay_part){.how = *how};
    if (status != TH_OK)
        return status;
    while (status == TH_OK && (met = th_replay_reader_next(reader, &event)) != TH_END)
        if (met == TH_OK)
            status = add_record(part, &event);
    th_replay_reader_close(reader);
    return status == TH_OK ? TH_OK : TH_FAILED;
}

/* Appends the stream; the record REPLACED has the bytes INSTEAD (NULL: its own). */
static void write_part(const struct th_replay_part *part, size_t replaced,
                       const struct th_buffer *instead, struct th_buffer *stream)
{
    th_replay_writer_encode_head(stream, &part->how);
    for (size_t i = 0; i < part->count; i++) {
        const struct th_buffer *bytes =
            instead && i == replaced ? instead : &part->records[i].bytes;
        th_buffer_add(stream, bytes->data, bytes->size);
    }
}

void th_replay_part_write(const struct th_replay_part *part, struct th_buffer *stream)
{
    write_part(part, 0, NULL, stream);
}

/* --- Shrinking -------------------------------------------------------------------------------- */

struct part_trial {
    struct th_replay_part *part;
    size_t index; /* of the record that is being shrunk */
    const bool *stopped;
    bool (*trial)(void *context, const struct th_buffer *stream);
    void *context;
};

static bool try_event(void *context, const struct th_event *changed)
{
    struct part_trial *t = context;
    struct th_part_record *record = &t->part->records[t->index];
    struct th_buffer bytes = {0}, stream = {0};
    struct th_event event = *changed;
    bool holds = false;
    th_env env;

    if (*t->stopped)
        return false;
    th_env_init(&env, TH_ENV_PLAIN);
    if (th_replay_writer_encode(&bytes, &t->part->how, &event, &env) == TH_OK) {
        write_part(t->part, t->index, &bytes, &stream);
        holds = t->trial(t->context, &stream);
    } else {
        th_error_clear();
    }
    if (holds) {
        th_buffer_free(&record->bytes);
        record->bytes = bytes;
    } else {
        th_buffer_free(&bytes);
    }
    th_buffer_free(&stream);
    th_env_release(&env);
    return holds;
}

void th_replay_part_shrink(struct th_replay_part *part, size_t most, const bool *stopped,
                           bool (*trial)(void *context, const struct th_buffer *stream),
                           void *context)
{
    struct part_trial t = {.part = part, .stopped = stopped, .trial = trial, .context = context};

    for (t.index = part->count; !*stopped && t.index-- > 0;) {
        struct th_part_record *record = &part->records[t.index];
        if (record->event.source)
            th_replay_shrink(&record->event, record->env, most, try_event, &t);
    }
}

void th_replay_part_free(struct th_replay_part *part)
{
    for (size_t i = 0; i < part->count; i++) {
        th_env_free(part->records[i].env);
        th_buffer_free(&part->records[i].bytes);
    }
    th_free(part->records);
    *part = (struct th_replay_part){0};
}
