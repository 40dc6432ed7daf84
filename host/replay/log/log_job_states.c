/* The states of a job for merge. */
#include "log_job_internal.h"

#include "host/base/memory.h"
#include "host/replay/replay_internal.h"

#include <inttypes.h>
#include <zstd.h>

/* Looks at the marks of COUNT segments. Errors: TH_PARTIAL if not all are done. */
static enum th_status survey_marks(struct th_log_job *job, uint64_t count, bool *sound)
{
    uint64_t missing = 0, first = 0;
    struct th_log_entry entry, holder = {0};

    for (uint64_t segment = 0; segment < count; segment++) {
        if (th_replay_log_job_get_mark(job, segment, &entry) != TH_OK)
            return th_error_status();
        *sound &= entry.mark != TH_LOG_UNSOUND;
        if (entry.mark == TH_LOG_DONE || entry.mark == TH_LOG_UNSOUND)
            continue;
        if (missing++ == 0) {
            first = segment;
            holder = entry;
        }
    }
    if (missing == 0)
        return TH_OK;
    if (holder.mark == TH_LOG_CLAIMED)
        return th_error_raise(TH_PARTIAL,
                              "%" PRIu64 " of %" PRIu64 " segments are missing; %s:%ld plays the "
                              "first of them, segment %" PRIu64,
                              missing, count, holder.host, holder.pid, first);
    return th_error_raise(TH_PARTIAL,
                          "%" PRIu64 " of %" PRIu64 " segments are missing; no worker has the "
                          "first of them, segment %" PRIu64,
                          missing, count, first);
}

/* Looks at the first batch. It is sound if it can be read, and the next one follows it. Errors: TH_FAILED. */
static enum th_status survey_first(struct th_log_job *job, uint64_t *first_bytes, bool *sound)
{
    struct tracehost_log_message message;
    struct th_log_batch first = {0}, next = {0};
    struct th_buffer plain = {0};
    uint64_t sequence = 1;

    for (int i = 0; i < 2; i++) {
        struct th_log_batch *batch = i ? &next : &first;
        enum tracehost_log_result result =
            th_replay_log_job_get_message(job, job->name.stream, job->records, sequence, &message);
        if (result == TRACEHOST_LOG_NONE)
            break; /* an empty recording has one batch */
        if (result != TRACEHOST_LOG_DONE)
            return th_replay_log_job_fails(job);
        sequence = message.sequence + 1;
        *sound &= th_replay_log_read_heads(job->log.engine, &message, batch) == TH_OK &&
                  th_replay_log_unpack(&message, batch, &plain) == TH_OK;
        job->log.engine->release(&message);
    }
    th_memory_begin(SIZE_MAX);
    th_error_clear();
    th_buffer_free(&plain);
    *sound &= first.first == 1 && first.count > 0 && next.first == 1 + first.count;
    *first_bytes = first.bytes;
    return TH_OK;
}

enum th_status th_replay_log_job_survey(struct th_log_job *job, uint64_t *segments,
                                        uint64_t *first_bytes, uint64_t *records, bool *sound)
{
    enum th_status status = th_replay_log_job_look(job);

    *sound = true;
    if (status != TH_OK)
        return status;
    if (!job->last.last)
        return th_error_raise(TH_PARTIAL,
                              "the recording %s has no end: its producer is still writing, or was "
                              "killed",
                              job->recording);
    *segments = th_replay_log_job_segments(job, job->options->size);
    *records = job->last.first + job->last.count - 1;
    status = survey_marks(job, *segments, sound);
    return status == TH_OK ? survey_first(job, first_bytes, sound) : status;
}

/* Appends the pieces of SEGMENT, whose mark is ENTRY, to PACKED. Errors: TH_PARTIAL if one is missing. */
static enum th_status get_pieces(struct th_log_job *job, uint64_t segment,
                                 const struct th_log_entry *entry, struct th_buffer *packed)
{
    struct tracehost_log_message message;
    enum tracehost_log_result result;
    char subject[TH_LOG_SUBJECT];

    for (uint64_t i = 0; i < entry->pieces; i++) {
        th_replay_log_job_subject(job, subject, "pieces.%s.%" PRIu64 ".%" PRIu64, entry->nonce,
                                  segment, i);
        result = th_replay_log_job_get_message(job, job->stream, subject, 0, &message);
        if (result == TRACEHOST_LOG_NONE)
            return th_error_raise(TH_PARTIAL, "piece %" PRIu64 " of %" PRIu64 " is missing", i,
                                  entry->pieces);
        if (result != TRACEHOST_LOG_DONE)
            return th_replay_log_job_fails(job);
        th_buffer_add(packed, message.data, message.size);
        job->log.engine->release(&message);
    }
    return TH_OK;
}

enum th_status th_replay_log_job_get(struct th_log_job *job, uint64_t segment,
                                     struct th_buffer *state)
{
    struct th_buffer packed = {0};
    struct th_log_entry entry;
    enum th_status status = th_replay_log_job_get_mark(job, segment, &entry);
    size_t size;

    if (status == TH_OK && entry.mark != TH_LOG_DONE)
        status = th_error_raise(TH_PARTIAL, "its mark has gone");
    if (status == TH_OK)
        status = get_pieces(job, segment, &entry, &packed);
    if (status == TH_OK && (ZSTD_getFrameContentSize(packed.data, packed.size) != entry.bytes ||
                            !th_buffer_try(state, entry.bytes)))
        status = th_error_raise(TH_PARTIAL, "its pieces do not have the size of the state");
    if (status == TH_OK) {
        size = ZSTD_decompress(state->data + state->size, entry.bytes, packed.data, packed.size);
        if (ZSTD_isError(size) || size != entry.bytes)
            status = th_error_raise(TH_PARTIAL, "its pieces are damaged");
        else
            state->size += size;
    }
    th_buffer_free(&packed);
    return status == TH_OK
               ? TH_OK
               : th_error_context("the state of segment %" PRIu64 " cannot be read", segment);
}
