/* Lists of jobs, of their workers and of readers, and the end of jobs. */
#include "log_position.h"

#include "host/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct job_marks {
    struct th_log_job *job;
    struct th_buffer workers;
    uint64_t done, claimed;
};

static void add_mark(void *context, const char *subject, uint64_t messages)
{
    struct job_marks *marks = context;
    struct th_log_job *job = marks->job;
    struct tracehost_log_message message;
    struct th_log_entry entry;
    uint64_t segment = strtoull(strrchr(subject, '.') + 1, NULL, 10);
    uint64_t end = job->last.position + job->last.bytes, begin;

    (void)messages;
    if (job->log.engine->get(&job->log.client, job->stream, subject, 0, &message) !=
        TRACEHOST_LOG_DONE)
        return;
    th_replay_log_job_read_mark(&message, &entry);
    th_replay_log_hide_controls(entry.host);
    job->log.engine->release(&message);
    marks->done += entry.mark == TH_LOG_DONE || entry.mark == TH_LOG_UNSOUND;
    marks->claimed += entry.mark == TH_LOG_CLAIMED;
    begin = segment * (uint64_t)job->options->size;
    if (entry.mark == TH_LOG_CLAIMED)
        th_buffer_printf(&marks->workers,
                         "    %s:%ld plays segment %" PRIu64 ", %" PRIu64 " bytes behind the end\n",
                         entry.host, entry.pid, segment, end > begin ? end - begin : 0);
}

/* Returns the number behind WORD in TEXT; 1: there is none. */
static int64_t number_behind(const char *text, const char *word)
{
    const char *found = strstr(text, word);
    int64_t number = found ? strtoll(found + strlen(word), NULL, 10) : 0;

    return number > 0 ? number : 1;
}

/* Appends the job whose text has the subject SUBJECT. */
static void add_job_of_subject(struct th_log_job *job, const char *subject, struct th_buffer *text)
{
    struct th_log_job_options options = {.watch = -1};
    struct job_marks marks = {.job = job};
    struct tracehost_log_message message;
    char pattern[TH_LOG_SUBJECT];
    char *copy, *words;

    if (job->log.engine->get(&job->log.client, job->stream, subject, 0, &message) !=
        TRACEHOST_LOG_DONE)
        return;
    copy = th_printf("%.*s", (int)message.size, (const char *)message.data);
    job->log.engine->release(&message);
    options.size = number_behind(copy, "\nsegment ");
    job->options = &options;
    th_replay_log_job_subject(job, pattern, "segments.*");
    if (th_replay_log_job_look(job) == TH_OK)
        job->log.engine->list(&job->log.client, job->stream, pattern, add_mark, &marks);
    th_error_clear();
    words = strstr(copy, "\noptions");
    if (words)
        th_replay_log_hide_controls(words += strlen("\noptions"));
    th_buffer_printf(text,
                     "  job %s of %s:%s; segments: %" PRIu64 " done, %" PRIu64 " claimed, %" PRIu64
                     " in all\n",
                     job->id, job->recording, words ? words : "", marks.done, marks.claimed,
                     th_replay_log_job_segments(job, options.size));
    if (marks.workers.size)
        th_buffer_add(text, marks.workers.data, marks.workers.size);
    th_buffer_free(&marks.workers);
    th_free(copy);
    job->options = NULL;
}

/* Appends NAME, a subject, as a line. */
static void list_found_job(void *context, const char *name, uint64_t messages)
{
    struct th_buffer *found = context;

    (void)messages;
    th_buffer_printf(found, "%s\n", name);
}

enum th_status th_replay_log_job_list(const struct th_log_name *name, struct th_buffer *text)
{
    struct th_log_job job = {.name = *name};
    struct th_buffer found = {0};
    char pattern[TH_LOG_SUBJECT];
    enum th_status status = th_replay_log_open(name, false, &job.log);
    char *rest, *subject, *recording, *id;

    if (status == TH_OK)
        status = th_replay_log_job_open_bucket(&job, false);
    if (status == TH_OK) {
        snprintf(pattern, sizeof pattern, "$KV.%s.%s.*.job", job.bucket,
                 name->recording ? name->recording : "*");
        job.log.engine->list(&job.log.client, job.stream, pattern, list_found_job, &found);
    }
    rest = th_strdup(th_buffer_text(&found));
    for (char *line = rest; *line; line = subject + strlen(subject) + 1) {
        subject = line;
        *strchr(subject, '\n') = 0;
        recording = subject + strlen("$KV..") + strlen(job.bucket);
        id = strchr(recording, '.') + 1;
        if (strncmp(id, "readers.", strlen("readers.")) == 0) /* of a reader `job` */
            continue;
        job.recording = th_printf("%.*s", (int)(id - recording) - 1, recording);
        job.records = th_replay_log_subject(job.log.subjects[0], job.recording);
        snprintf(job.id, sizeof job.id, "%.*s", (int)strcspn(id, "."), id);
        add_job_of_subject(&job, subject, text);
        th_free(job.recording);
        th_free(job.records);
    }
    if (status == TH_OK)
        th_replay_log_position_list(&job, name->recording ? name->recording : "*", text);
    th_free(rest);
    th_buffer_free(&found);
    th_free(job.bucket);
    th_free(job.stream);
    th_replay_log_close(&job.log);
    return status == TH_END ? TH_OK : status;
}

/* --- The end ----------------------------------------------------------------------------------- */

/* Removes all that the server has of JOB. TH_END: it has nothing. Errors: TH_FAILED. */
static enum th_status remove_keys(struct th_log_job *job)
{
    struct tracehost_log_message message;
    enum tracehost_log_result result;
    char subject[TH_LOG_SUBJECT];

    th_replay_log_job_subject(job, subject, "job");
    result = th_replay_log_job_get_message(job, job->stream, subject, 0, &message);
    if (result == TRACEHOST_LOG_NONE)
        return TH_END;
    if (result == TRACEHOST_LOG_DONE) {
        job->log.engine->release(&message);
        th_replay_log_job_subject(job, subject, ">");
        result = job->log.engine->purge(&job->log.client, job->stream, subject);
    }
    return result == TRACEHOST_LOG_DONE ? TH_OK : th_replay_log_job_fails(job);
}

enum th_status th_replay_log_job_remove(const struct th_log_name *name, const char *id)
{
    struct th_log_job job = {.name = *name};
    enum th_status status = th_replay_log_open(name, false, &job.log);
    bool is_id = strlen(id) == TH_LOG_ID - 1 && strspn(id, "0123456789abcdef") == TH_LOG_ID - 1;

    snprintf(job.id, sizeof job.id, "%s", id);
    if (status == TH_OK)
        status = th_replay_log_choose(&job.log, name, &job.recording);
    if (status == TH_OK)
        status = is_id ? th_replay_log_job_open_bucket(&job, false) : TH_END;
    if (status == TH_OK)
        status = remove_keys(&job);
    if (status == TH_END)
        status = th_error_raise(TH_USAGE, "the recording %s has no job %s", job.recording, id);
    th_free(job.recording);
    th_free(job.bucket);
    th_free(job.stream);
    th_replay_log_close(&job.log);
    return status;
}
