/* Recorded streams. */
#include "embed_host.h"

#include "host/replay/reader.h"

#include <unistd.h>

/* --- Opening and closing ---------------------------------------------------------------------- */

static void free_stream(tracehost_stream *stream)
{
    th_replay_reader_close(stream->reader);
    th_free(stream->name);
    th_free(stream);
}

/* Opens a stream by NAME, or BY_FD: then takes over FD. */
static enum tracehost_status open_stream(bool by_fd, int fd, const char *name,
                                         const struct tracehost_stream_options *given,
                                         tracehost_stream **stream)
{
    struct tracehost_stream_options known;
    struct th_reader_options options;
    tracehost_stream *made;
    enum th_status status =
        th_embed_sized_take(&known, sizeof known, given, "tracehost_stream_options")
            ?: th_embed_need(name, "name")
            ?: th_embed_need(stream, "result");

    if (status == TH_OK && known.max_memory && known.max_memory < TH_READER_LEAST_MEMORY)
        status = th_error_raise(TH_USAGE, "`max_memory` must be at least %d bytes",
                                TH_READER_LEAST_MEMORY);
    status = status ?: th_embed_enter();
    if (status != TH_OK) {
        if (by_fd)
            close(fd);
        return th_embed_answer(status);
    }
    made = th_alloc_zero(sizeof *made);
    made->name = th_strdup(name);
    options = (struct th_reader_options){
        .scheduler_id = known.scheduler_id, .max_memory = known.max_memory, .stop = &made->stop};
    status = by_fd ? th_replay_reader_attach(fd, name, &options, &made->reader)
                   : th_replay_reader_open(name, &options, &made->reader);
    if (status == TH_OK)
        *stream = made;
    else
        free_stream(made);
    return th_embed_answer(status);
}

enum tracehost_status tracehost_stream_open(const char *name,
                                            const struct tracehost_stream_options *given,
                                            tracehost_stream **stream)
{
    return open_stream(false, -1, name, given, stream);
}

enum tracehost_status tracehost_stream_open_fd(int fd, const char *name,
                                               const struct tracehost_stream_options *given,
                                               tracehost_stream **stream)
{
    return open_stream(true, fd, name, given, stream);
}

enum tracehost_status tracehost_stream_close(tracehost_stream *stream)
{
    if (stream && stream->replayed)
        return th_embed_answer(
            th_error_raise(TH_USAGE, "cannot close the stream: its replay has not ended"));
    if (stream)
        free_stream(stream);
    return TRACEHOST_OK;
}

void tracehost_stream_stop(tracehost_stream *stream)
{
    if (stream)
        __atomic_store_n(&stream->stop, 1, __ATOMIC_RELAXED);
}

/* --- Records ---------------------------------------------------------------------------------- */

_Static_assert((int)TRACEHOST_TIME_NONE == TH_TIME_NONE &&
                   (int)TRACEHOST_TIME_TIMESTAMP == TH_TIME_TIMESTAMP &&
                   (int)TRACEHOST_TIME_CPU == TH_TIME_CPU &&
                   (int)TRACEHOST_TIME_MONOTONIC == TH_TIME_MONOTONIC &&
                   (int)TRACEHOST_TIME_STRICT_MONOTONIC == TH_TIME_STRICT_MONOTONIC,
               "kinds of time are handed on as they are");

void th_embed_record_give(struct tracehost_record *record, struct th_event *event)
{
    enum tracehost_record_kind kind = event->kind == TH_EVENT_SEQ_TRACE ? TRACEHOST_RECORD_SEQ_TRACE
                                      : event->kind == TH_EVENT_DROP    ? TRACEHOST_RECORD_DROP
                                      : event->kind == TH_EVENT_OTHER   ? TRACEHOST_RECORD_OTHER
                                                                        : TRACEHOST_RECORD_TRACE;
    struct tracehost_record known = {
        .number = event->number,
        .position = event->position,
        .kind = kind,
        .dropped = event->dropped,
    };

    if (kind == TRACEHOST_RECORD_TRACE)
        known.tag = th_trace_tag_name(event->tag);
    if (th_is_local_pid(event->tracee) || th_is_local_port(event->tracee))
        known.tracee = event->tracee;
    if (kind > TRACEHOST_RECORD_SEQ_TRACE)
        ; /* such records have no time */
    else if (th_trace_event_time(event) == TH_OK) {
        known.time_kind = (enum tracehost_time_kind)event->time.kind;
        known.time = event->time.ns;
    } else {
        th_error_clear(); /* a damaged time; tracehost_stream_get_term() reports it */
    }
    th_embed_sized_give(record, &known, sizeof known);
}

enum tracehost_status tracehost_stream_next(tracehost_stream *stream,
                                            struct tracehost_record *record)
{
    enum th_status status = th_embed_need(stream, "stream") ?: th_embed_enter();

    if (status == TH_OK && record)
        status = th_embed_sized_check(record, "tracehost_record");
    if (status != TH_OK)
        return th_embed_answer(status);
    if (th_embed_stream_stopped(stream))
        return TRACEHOST_END;
    status = th_replay_reader_next(stream->reader, &stream->event);
    if (th_memory_refused)
        status = th_embed_refused(status);
    stream->latest = status == TH_OK ? &stream->event : NULL;
    if (status == TH_OK && record)
        th_embed_record_give(record, &stream->event);
    return th_embed_answer(status);
}

enum tracehost_status tracehost_stream_get_term(tracehost_stream *stream, ErlNifEnv *env,
                                                ERL_NIF_TERM *term)
{
    th_term whole;
    enum th_status status = th_embed_need(stream, "stream")
                                ?: th_embed_need(env, "environment")
                                ?: th_embed_need(term, "result");

    if (status == TH_OK && !stream->latest)
        status = th_error_raise(TH_USAGE, "the stream has no current record: read one first");
    status = status ?: th_embed_enter()
                    ?: stream->latest->source->whole(stream->latest, env, &whole);
    if (status == TH_OK)
        *term = whole;
    return th_embed_answer(status);
}

/* --- The whole stream ------------------------------------------------------------------------- */

enum tracehost_status tracehost_stream_get_info(const tracehost_stream *stream,
                                                struct tracehost_stream_info *info)
{
    const struct th_reader_info *of;
    struct tracehost_stream_info known;
    enum th_status status = th_embed_need(stream, "stream");

    if (status != TH_OK)
        return th_embed_answer(status);
    of = th_replay_reader_info(stream->reader);
    known = (struct tracehost_stream_info){
        .format = of->format,
        .file = of->file,
        .note = of->note,
        .node = of->node.node,
        .records = of->records,
        .drops = of->drops,
        .malformed = of->malformed,
        .damages = of->damages,
        .bytes = of->bytes,
        .all_bytes = of->size,
    };
    return th_embed_sized_answer(info, &known, sizeof known, "tracehost_stream_info");
}
