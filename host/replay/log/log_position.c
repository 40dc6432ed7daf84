#include "log_position.h"

#include "host/base/memory.h"

#include <inttypes.h>
#include <string.h>

struct position_text {
    uint64_t number, sequence; /* number 0: there is none */
    struct th_log_entry writer;
};

/* Reads the text at SUBJECT. Errors: TH_FAILED, also if the text is no position. */
static enum th_status read_position(struct th_log_job *job, const char *subject,
                                    struct position_text *found)
{
    struct tracehost_log_message message;
    enum tracehost_log_result result =
        th_replay_log_job_get_message(job, job->stream, subject, 0, &message);
    enum th_status status = TH_OK;
    char text[256];

    *found = (struct position_text){0};
    if (result == TRACEHOST_LOG_NONE)
        return TH_OK;
    if (result != TRACEHOST_LOG_DONE)
        return th_replay_log_job_fails(job);
    found->sequence = message.sequence;
    snprintf(text, sizeof text, "%.*s", (int)message.size, (const char *)message.data);
    if (message.size > 0 && /* NATS' own tools leave an empty text where they delete a key */
        (sscanf(text, "position %" SCNu64 " %64s %ld %16s", &found->number, found->writer.host,
                &found->writer.pid, found->writer.nonce) != 4 ||
         found->number == 0))
        status = th_error_raise(TH_FAILED, "the key %s is no position: '%s'", subject, text);
    th_replay_log_hide_controls(found->writer.host);
    job->log.engine->release(&message);
    return status;
}

/* Writes NUMBER in place of the text that was seen. Errors: TH_FAILED. */
static enum th_status write_position(struct th_log_position *position, uint64_t number)
{
    const struct th_log_entry *self = &position->job.self;
    struct position_text other;
    enum th_status status;
    char text[256];

    snprintf(text, sizeof text, "position %" PRIu64 " %s %ld %s", number, self->host, self->pid,
             self->nonce);
    status =
        th_replay_log_job_write(&position->job, position->subject, text, &position->sequence, true);
    if (status == TH_OK)
        position->number = number;
    if (status != TH_END)
        return status;
    status = read_position(&position->job, position->subject, &other);
    if (status != TH_OK)
        return status;
    if (other.number == 0)
        return th_error_raise(TH_FAILED, "somebody has deleted the position");
    return th_error_raise(TH_FAILED, "another process, %s:%ld, reads as %s", other.writer.host,
                          other.writer.pid, strrchr(position->subject, '.') + 1);
}

enum th_status th_replay_log_position_open(struct th_log_position *position,
                                           const struct th_log_name *name, const struct th_log *log,
                                           char *recording, const char *reader, int watch)
{
    struct th_log_job *job = &position->job;
    struct position_text found;
    enum th_status status;

    *position = (struct th_log_position){.options = {.watch = watch}};
    *job = (struct th_log_job){
        .options = &position->options, .name = *name, .log = *log, .recording = recording};
    th_replay_log_job_identify(job);
    status = th_replay_log_job_open_bucket(job, true);
    if (status == TH_END)
        return th_replay_log_job_fails(job);
    if (status != TH_OK)
        return status;
    snprintf(position->subject, sizeof position->subject, "$KV.%s.%s.readers.%s", job->bucket,
             recording, reader);
    status = read_position(job, position->subject, &found);
    if (status != TH_OK)
        return status;
    position->sequence = found.sequence;
    position->begin = found.number ? found.number : 1;
    return write_position(position, position->begin);
}

void th_replay_log_position_note(struct th_log_position *position, uint64_t records,
                                 uint64_t number)
{
    TH_ARRAY_GROW(position->places, position->count, position->capacity);
    position->places[position->count++] = (struct th_log_place){records, number};
}

enum th_status th_replay_log_position_write(struct th_log_position *position, uint64_t records)
{
    uint64_t number = position->begin;
    size_t place = position->count;

    while (place > 0 && position->places[place - 1].records > records)
        place--;
    if (place > 0) {
        const struct th_log_place *before = &position->places[place - 1];
        number = before->number + (records - before->records);
        position->count -= place - 1; /* records that were delivered are not asked for again */
        memmove(position->places, before, position->count * sizeof *before);
    }
    return number <= position->number ? TH_OK : write_position(position, number);
}

/* --- Lists ------------------------------------------------------------------------------------- */

struct reader_list {
    struct th_log_job *job;
    struct th_buffer *text;
};

static void list_reader(void *context, const char *subject, uint64_t messages)
{
    struct reader_list *list = context;
    struct th_log_job *job = list->job;
    struct position_text found;
    const char *recording = subject + strlen("$KV..") + strlen(job->bucket);
    uint64_t next;

    (void)messages;
    job->recording = th_printf("%.*s", (int)strcspn(recording, "."), recording);
    job->records = th_replay_log_subject(job->log.subjects[0], job->recording);
    if (read_position(job, subject, &found) == TH_OK && found.number &&
        th_replay_log_job_look(job) == TH_OK) {
        next = job->last.first + job->last.count;
        th_buffer_printf(list->text,
                         "  reader %s of %s: position %" PRIu64 ", %" PRIu64
                         " records behind the end; %s:%ld wrote it\n",
                         strrchr(subject, '.') + 1, job->recording, found.number,
                         next > found.number ? next - found.number : 0, found.writer.host,
                         found.writer.pid);
    }
    th_error_clear();
    th_free(job->recording);
    th_free(job->records);
}

void th_replay_log_position_list(struct th_log_job *job, const char *recording,
                                 struct th_buffer *text)
{
    struct reader_list list = {job, text};
    char pattern[TH_LOG_SUBJECT];

    snprintf(pattern, sizeof pattern, "$KV.%s.%s.readers.*", job->bucket, recording);
    job->log.engine->list(&job->log.client, job->stream, pattern, list_reader, &list);
}
