#include "log_job_internal.h"

#include "host/base/hash.h"
#include "host/base/memory.h"
#include "host/replay/replay_internal.h"
#include "host/term/clock.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>
#include <zstd.h>

#define MS INT64_C(1000000)
enum {
    PATIENCE_MS = 60000, /* for a server that does not answer, or is full */
    WAIT_MS = 2000,      /* for one answer */
    RETRY_MS = 50,
    LOOK_MS = 200, /* between looks at segments that others have */
    LEVEL = 1,     /* of zstd */
    VALUE = 256
};

static const char *const mark_names[] = {"free", "claimed", "done", "unsound"};

/* --- The server -------------------------------------------------------------------------------- */

enum th_status th_replay_log_job_fails(const struct th_log_job *job)
{
    return th_error_raise(TH_FAILED, "%s", job->log.client.why);
}

/* Waits. Returns false if waits have an end. */
static bool pause_job(const struct th_log_job *job, int milliseconds)
{
    struct pollfd wait = {.fd = job->options ? job->options->watch : -1, .events = POLLIN};

    return poll(&wait, 1, milliseconds) == 0;
}

/* Returns whether an operation with RESULT is to be tried again, after a pause. *DEADLINE is 0 at first. */
static bool tries_again(const struct th_log_job *job, enum tracehost_log_result result,
                        int64_t *deadline)
{
    int64_t now = th_clock_real_monotonic();

    if (result != TRACEHOST_LOG_AGAIN && result != TRACEHOST_LOG_FULL)
        return false;
    if (*deadline == 0)
        *deadline = now + PATIENCE_MS * MS;
    return now < *deadline && pause_job(job, RETRY_MS);
}

enum tracehost_log_result th_replay_log_job_get_message(struct th_log_job *job, const char *stream,
                                                        const char *subject, uint64_t sequence,
                                                        struct tracehost_log_message *message)
{
    enum tracehost_log_result result;
    int64_t deadline = 0;

    do
        result = job->log.engine->get(&job->log.client, stream, subject, sequence, message);
    while (tries_again(job, result, &deadline));
    return result;
}

void th_replay_log_job_subject(const struct th_log_job *job, char subject[TH_LOG_SUBJECT],
                               const char *format, ...)
{
    int used =
        snprintf(subject, TH_LOG_SUBJECT, "$KV.%s.%s.%s.", job->bucket, job->recording, job->id);
    va_list arguments;

    va_start(arguments, format);
    if (used < TH_LOG_SUBJECT)
        vsnprintf(subject + used, (size_t)(TH_LOG_SUBJECT - used), format, arguments);
    va_end(arguments);
}

/* --- Marks ------------------------------------------------------------------------------------- */

static void print_mark(const struct th_log_entry *entry, char value[VALUE])
{
    int used = snprintf(value, VALUE, "%s %s %ld %s", mark_names[entry->mark], entry->host,
                        entry->pid, entry->nonce);

    if (entry->mark == TH_LOG_DONE)
        snprintf(value + used, (size_t)(VALUE - used), " %" PRIu64 " %" PRIu64, entry->pieces,
                 entry->bytes);
}

void th_replay_log_job_read_mark(const struct tracehost_log_message *message,
                                 struct th_log_entry *entry)
{
    char text[VALUE], word[16] = "";
    int count;

    *entry = (struct th_log_entry){.sequence = message->sequence};
    snprintf(text, sizeof text, "%.*s", (int)message->size, (const char *)message->data);
    count = sscanf(text, "%15s %64s %ld %16s %" SCNu64 " %" SCNu64, word, entry->host, &entry->pid,
                   entry->nonce, &entry->pieces, &entry->bytes);
    for (enum th_log_mark mark = TH_LOG_CLAIMED; mark <= TH_LOG_UNSOUND; mark++)
        if (strcmp(word, mark_names[mark]) == 0 && count == (mark == TH_LOG_DONE ? 6 : 4))
            entry->mark = mark;
}

enum th_status th_replay_log_job_get_mark(struct th_log_job *job, uint64_t segment,
                                          struct th_log_entry *entry)
{
    struct tracehost_log_message message;
    enum tracehost_log_result result;
    char subject[TH_LOG_SUBJECT];

    *entry = (struct th_log_entry){0};
    th_replay_log_job_subject(job, subject, "segments.%" PRIu64, segment);
    result = th_replay_log_job_get_message(job, job->stream, subject, 0, &message);
    if (result == TRACEHOST_LOG_NONE)
        return TH_OK;
    if (result != TRACEHOST_LOG_DONE)
        return th_replay_log_job_fails(job);
    th_replay_log_job_read_mark(&message, entry);
    job->log.engine->release(&message);
    return TH_OK;
}

enum th_status th_replay_log_job_write(struct th_log_job *job, const char *subject,
                                       const char *value, uint64_t *sequence, bool patient)
{
    const struct tracehost_log_publication publication = {
        .stream = job->stream,
        .subject = subject,
        .data = value,
        .size = strlen(value),
        .wait_ms = WAIT_MS,
        .expected = sequence,
    };
    struct tracehost_log_message message;
    enum tracehost_log_result result;
    int64_t deadline = 0;
    bool equal;

    do
        result = job->log.engine->publish(&job->log.client, &publication);
    while (patient && tries_again(job, result, &deadline));
    if (result == TRACEHOST_LOG_DONE || (!patient && result == TRACEHOST_LOG_AGAIN))
        return TH_OK;
    if (result != TRACEHOST_LOG_CHANGED)
        return th_replay_log_job_fails(job);
    result = th_replay_log_job_get_message(job, job->stream, subject, 0, &message);
    if (result == TRACEHOST_LOG_NONE)
        return TH_END;
    if (result != TRACEHOST_LOG_DONE)
        return th_replay_log_job_fails(job);
    equal = message.size == strlen(value) && memcmp(message.data, value, message.size) == 0;
    *sequence = message.sequence;
    job->log.engine->release(&message);
    return equal ? TH_OK : TH_END;
}

/* Writes this worker's mark of the segment in place of the message *SEQUENCE. Statuses: as th_replay_log_job_write(). */
static enum th_status write_mark(struct th_log_job *job, const struct th_log_entry *entry,
                                 uint64_t *sequence, bool patient)
{
    char subject[TH_LOG_SUBJECT], value[VALUE];

    th_replay_log_job_subject(job, subject, "segments.%" PRIu64, job->segment);
    print_mark(entry, value);
    return th_replay_log_job_write(job, subject, value, sequence, patient);
}

/* Removes the pieces that the worker NONCE has stored for the segment. If that fails, they stay: no mark names them. */
static void purge_pieces(struct th_log_job *job, const char *nonce)
{
    char subject[TH_LOG_SUBJECT];

    th_replay_log_job_subject(job, subject, "pieces.%s.%" PRIu64 ".*", nonce, job->segment);
    job->log.engine->purge(&job->log.client, job->stream, subject);
}

/* --- Opening ----------------------------------------------------------------------------------- */

void th_replay_log_job_identify(struct th_log_job *job)
{
    struct th_log_entry *self = &job->self;

    th_replay_log_make_id(job->nonce);
    if (gethostname(self->host, sizeof self->host - 1) != 0 || !*self->host)
        strcpy(self->host, "localhost");
    for (char *c = self->host; *c; c++)
        if ((unsigned char)*c <= ' ')
            *c = '_';
    self->pid = (long)getppid(); /* the process that users know */
    memcpy(self->nonce, job->nonce, sizeof self->nonce);
}

/* Raises the jobs of LIST, as th_replay_log_job_list() makes it, without their workers. */
static void raise_jobs(const char *list)
{
    bool raised = false;

    for (const char *line = list; *line; line = strchr(line, '\n') + 1) {
        int length = (int)strcspn(line, "\n");
        if (strncmp(line, "  job ", strlen("  job ")) != 0)
            continue;
        if (!raised)
            th_error_raise(TH_USAGE, "%.*s", length - 2, line + 2);
        else
            th_error_context("%.*s", length - 2, line + 2);
        raised = true;
    }
    if (!raised)
        th_error_raise(TH_USAGE, "there is no job: begin one with tracehost replay --join");
}

/* Raises that no worker has the text of JOB, and which jobs there are. */
static enum th_status refuse_job(struct th_log_job *job)
{
    struct th_buffer text = {0};
    struct th_log_name name = job->name;
    enum th_status status;

    name.recording = job->recording;
    status = th_replay_log_job_list(&name, &text);
    if (status != TH_OK)
        return status;
    raise_jobs(th_buffer_text(&text));
    th_buffer_free(&text);
    return th_error_context("no worker plays, or has played, the recording %s with these options, "
                            "this build and these tracers",
                            job->recording);
}

/* Finds, or makes, the key with the text. */
static enum th_status open_text(struct th_log_job *job)
{
    struct tracehost_log_message message;
    enum tracehost_log_result result;
    char subject[TH_LOG_SUBJECT];
    uint64_t sequence = 0;

    th_replay_log_job_subject(job, subject, "job");
    if (job->options->lease_ns) {
        enum th_status status =
            th_replay_log_job_write(job, subject, job->options->text, &sequence, true);
        return status != TH_END ? status
                                : th_error_raise(TH_FAILED, "two jobs have the id %s", job->id);
    }
    result = th_replay_log_job_get_message(job, job->stream, subject, 0, &message);
    if (result == TRACEHOST_LOG_DONE)
        job->log.engine->release(&message);
    if (result == TRACEHOST_LOG_NONE)
        return refuse_job(job);
    return result == TRACEHOST_LOG_DONE ? TH_OK : th_replay_log_job_fails(job);
}

enum th_status th_replay_log_job_open_bucket(struct th_log_job *job, bool make)
{
    enum tracehost_log_result result;

    job->bucket = th_printf("tracehost_%s", job->name.stream);
    job->stream = th_printf("KV_%s", job->bucket);
    result = job->log.engine->find_bucket(&job->log.client, job->bucket, job->name.stream, make);
    if (result == TRACEHOST_LOG_GONE)
        return TH_END;
    return result == TRACEHOST_LOG_DONE ? TH_OK
                                        : th_error_raise(TH_MALFORMED, "%s", job->log.client.why);
}

enum th_status th_replay_log_job_open(const struct th_log_job_options *options,
                                      struct th_log_job **job)
{
    struct th_log_job *made = *job = th_alloc_zero(sizeof *made);
    enum th_status status = th_replay_log_name_parse(options->name, &made->name);
    int64_t deadline = 0;

    made->options = options;
    if (status == TH_OK && !made->name.stream)
        status = th_error_raise(TH_MALFORMED, "the name lacks the stream: nats://HOST[:PORT]/NAME");
    if (status == TH_OK && (made->name.from.set || made->name.begin || made->name.end))
        status = th_error_raise(TH_USAGE, "from=, begin= and end= cannot be given: workers play "
                                          "the whole recording");
    if (status == TH_OK)
        while ((status = th_replay_log_open(&made->name, false, &made->log)) != TH_OK &&
               made->log.starting && tries_again(made, TRACEHOST_LOG_AGAIN, &deadline))
            th_replay_log_close(&made->log);
    if (status == TH_OK)
        status = th_replay_log_choose(&made->log, &made->name, &made->recording);
    if (status != TH_OK)
        return status;
    made->records = th_replay_log_subject(made->log.subjects[0], made->recording);
    snprintf(made->id, sizeof made->id, "%016" PRIx64,
             th_hash_bytes(options->text, strlen(options->text)));
    th_replay_log_job_identify(made);
    status = th_replay_log_job_open_bucket(made, options->lease_ns > 0);
    if (status == TH_END)
        return refuse_job(made);
    return status == TH_OK ? open_text(made) : status;
}

void th_replay_log_job_end(struct th_log_job *job)
{
    if (!job)
        return;
    th_replay_log_close(&job->log);
    th_replay_log_name_free(&job->name);
    th_free(job->recording);
    th_free(job->records);
    th_free(job->bucket);
    th_free(job->stream);
    th_free(job->seen);
    th_free(job);
}

const char *th_replay_log_job_recording(const struct th_log_job *job)
{
    return job->recording;
}

/* --- 1. Claims --------------------------------------------------------------------------------- */

enum th_status th_replay_log_job_look(struct th_log_job *job)
{
    struct tracehost_log_message message;
    struct th_log_batch last;
    enum tracehost_log_result result =
        th_replay_log_job_get_message(job, job->name.stream, job->records, 0, &message);

    if (result == TRACEHOST_LOG_NONE)
        return th_error_raise(TH_FAILED, "the stream %s has no recording %s", job->name.stream,
                              job->recording);
    if (result != TRACEHOST_LOG_DONE)
        return th_replay_log_job_fails(job);
    if (th_replay_log_read_heads(job->log.engine, &message, &last) == TH_OK)
        job->last = last;
    th_error_clear();
    job->log.engine->release(&message);
    return TH_OK;
}

uint64_t th_replay_log_job_segments(const struct th_log_job *job, int64_t size)
{
    return job->last.position / (uint64_t)size + job->last.last;
}

/* Writes a claim in place of the mark FOUND. TH_END: another worker was faster. Errors: TH_FAILED. */
static enum th_status take_segment(struct th_log_job *job, uint64_t segment,
                                   const struct th_log_entry *found)
{
    struct th_log_entry claim = job->self;
    enum th_status status;

    claim.mark = TH_LOG_CLAIMED;
    job->segment = segment;
    job->sequence = found->sequence;
    status = write_mark(job, &claim, &job->sequence, true);
    job->holds = status == TH_OK;
    job->renewed = th_clock_real_monotonic();
    if (job->holds && found->mark == TH_LOG_CLAIMED && strcmp(found->nonce, job->nonce) != 0)
        purge_pieces(job, found->nonce);
    return status;
}

/* Claims SEGMENT if it is free, or if its claim has ended. TH_END: it has not. Errors: TH_FAILED. */
static enum th_status try_segment(struct th_log_job *job, uint64_t segment)
{
    struct th_log_seen *seen = &job->seen[segment];
    struct th_log_entry found;
    enum th_status status = th_replay_log_job_get_mark(job, segment, &found);
    int64_t now = th_clock_real_monotonic();

    if (status != TH_OK)
        return status;
    seen->done = found.mark == TH_LOG_DONE || found.mark == TH_LOG_UNSOUND;
    if (seen->done)
        return TH_END;
    if (found.mark == TH_LOG_CLAIMED && strcmp(found.nonce, job->nonce) != 0) {
        if (seen->sequence != found.sequence)
            *seen = (struct th_log_seen){.sequence = found.sequence, .since = now};
        if (now - seen->since < job->options->lease_ns)
            return TH_END;
    }
    return take_segment(job, segment, &found);
}

static void know_segments(struct th_log_job *job, size_t count)
{
    if (count <= job->seen_count)
        return;
    job->seen = th_realloc(job->seen, count * sizeof *job->seen);
    memset(job->seen + job->seen_count, 0, (count - job->seen_count) * sizeof *job->seen);
    job->seen_count = count;
}

enum th_status th_replay_log_job_claim(struct th_log_job *job, uint64_t *segment)
{
    int64_t look_ms = job->options->lease_ns / MS / 10;
    bool all_done;

    look_ms = look_ms < RETRY_MS ? RETRY_MS : look_ms < LOOK_MS ? look_ms : LOOK_MS;
    do {
        enum th_status status = th_replay_log_job_look(job);
        uint64_t count = status == TH_OK ? th_replay_log_job_segments(job, job->options->size) : 0;
        know_segments(job, count);
        all_done = job->last.last || job->name.ends;
        for (*segment = 0; *segment < count && status == TH_OK; ++*segment) {
            if (job->seen[*segment].done)
                continue;
            status = try_segment(job, *segment);
            if (status == TH_OK)
                return TH_OK;
            all_done &= job->seen[*segment].done;
            status = status == TH_END ? TH_OK : status;
        }
        if (status != TH_OK)
            return status;
    } while (!all_done && pause_job(job, (int)look_ms));
    return TH_END;
}

/* --- 2. Leases --------------------------------------------------------------------------------- */

enum th_status th_replay_log_job_renew(struct th_log_job *job)
{
    struct th_log_entry claim = job->self;
    enum th_status status;

    if (!job->holds)
        return TH_END;
    claim.mark = TH_LOG_CLAIMED;
    status = write_mark(job, &claim, &job->sequence, false);
    job->holds = status == TH_OK;
    job->renewed = th_clock_real_monotonic();
    return status;
}

void th_replay_log_job_release(struct th_log_job *job)
{
    struct th_log_entry mark = job->self;

    if (!job->holds)
        return;
    job->holds = false;
    purge_pieces(job, job->nonce);
    write_mark(job, &mark, &job->sequence, false);
    th_error_clear();
}

/* --- 3. and 4. States -------------------------------------------------------------------------- */

/* Makes PACKED the frame of STATE. Errors: TH_FAILED. */
static enum th_status pack_state(const struct th_buffer *state, struct th_buffer *packed)
{
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound(state->size), size = 0;
    bool made = zstd && th_buffer_try(packed, room);

    if (made) {
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
        size = ZSTD_compress2(zstd, packed->data, room, state->data, state->size);
    }
    ZSTD_freeCCtx(zstd);
    if (!made || ZSTD_isError(size))
        return th_error_raise(TH_FAILED, "there is no memory to compress a state");
    packed->size = size;
    return TH_OK;
}

/* Stores the piece NUMBER. Errors: TH_FAILED. */
static enum th_status store_piece(struct th_log_job *job, uint64_t number, const void *data,
                                  size_t size)
{
    char subject[TH_LOG_SUBJECT];
    const struct tracehost_log_publication publication = {
        .stream = job->stream,
        .subject = subject,
        .data = data,
        .size = size,
        .wait_ms = WAIT_MS,
    };
    enum tracehost_log_result result;
    int64_t deadline = 0;

    th_replay_log_job_subject(job, subject, "pieces.%s.%" PRIu64 ".%" PRIu64, job->nonce,
                              job->segment, number);
    do
        result = job->log.engine->publish(&job->log.client, &publication);
    while (tries_again(job, result, &deadline));
    return result == TRACEHOST_LOG_DONE ? TH_OK : th_replay_log_job_fails(job);
}

/* Stores PACKED in pieces, *COUNT of them. TH_END: another worker has the claim. Errors: TH_FAILED. */
static enum th_status store_pieces(struct th_log_job *job, const struct th_buffer *packed,
                                   uint64_t *count)
{
    size_t most = job->log.client.most / 2;
    enum th_status status = TH_OK;

    for (size_t at = 0; at < packed->size && status == TH_OK; at += most) {
        size_t size = packed->size - at < most ? packed->size - at : most;
        if (th_clock_real_monotonic() - job->renewed >= job->options->lease_ns / 3)
            status = th_replay_log_job_renew(job);
        if (status == TH_OK)
            status = store_piece(job, (*count)++, packed->data + at, size);
    }
    return status;
}

enum th_status th_replay_log_job_mark(struct th_log_job *job, const struct th_buffer *state)
{
    struct th_log_entry mark = job->self;
    struct th_buffer packed = {0};
    enum th_status status = job->holds ? TH_OK : TH_END;

    mark.mark = state ? TH_LOG_DONE : TH_LOG_UNSOUND;
    if (state && status == TH_OK) {
        mark.bytes = state->size;
        status = pack_state(state, &packed);
        if (status == TH_OK)
            status = store_pieces(job, &packed, &mark.pieces);
    }
    if (status == TH_OK)
        status = write_mark(job, &mark, &job->sequence, true);
    if (status == TH_END)
        purge_pieces(job, job->nonce);
    job->holds = status != TH_OK && status != TH_END; /* for th_replay_log_job_release() */
    if (status == TH_OK)
        job->seen[job->segment].done = true;
    th_buffer_free(&packed);
    return status;
}
