#include "log_job.h"

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
    SUBJECT = 512,
    VALUE = 256
};

enum job_mark { FREE, CLAIMED, MARKED_DONE, UNSOUND };
static const char *const mark_names[] = {"free", "claimed", "done", "unsound"};

struct th_log_entry {
    enum job_mark mark;
    char host[65], nonce[TH_LOG_ID];
    long pid;
    uint64_t pieces, bytes;
    uint64_t sequence; /* 0: there is none */
};

/* What this worker knows of a segment that it does not have. */
struct th_log_seen {
    bool done;
    uint64_t sequence; /* of the claim */
    int64_t since;     /* when this worker saw it first */
};

struct th_log_job {
    const struct th_log_job_options *options;
    struct th_log_name name;
    struct th_log log;
    char *recording, *records; /* records: the subject */
    char *bucket, *stream;     /* stream: of the bucket */
    char id[TH_LOG_ID], nonce[TH_LOG_ID];
    struct th_log_entry self; /* host, pid, nonce of this worker */
    struct th_log_batch last; /* of the recording, as far as it was seen; its texts are not valid */
    struct th_log_seen *seen;
    size_t seen_count;

    bool holds; /* a claim of `segment`, written as `sequence` at `renewed` */
    uint64_t segment, sequence;
    int64_t renewed;
};

/* --- The server -------------------------------------------------------------------------------- */

static enum th_status job_fails(const struct th_log_job *job)
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

static enum tracehost_log_result get_again(struct th_log_job *job, const char *stream,
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

static void write_subject(const struct th_log_job *job, char subject[SUBJECT], const char *format,
                          ...) __attribute__((format(printf, 3, 4)));
static void write_subject(const struct th_log_job *job, char subject[SUBJECT], const char *format,
                          ...)
{
    int used = snprintf(subject, SUBJECT, "$KV.%s.%s.%s.", job->bucket, job->recording, job->id);
    va_list arguments;

    va_start(arguments, format);
    if (used < SUBJECT)
        vsnprintf(subject + used, (size_t)(SUBJECT - used), format, arguments);
    va_end(arguments);
}

/* --- Marks ------------------------------------------------------------------------------------- */

static void print_mark(const struct th_log_entry *entry, char value[VALUE])
{
    int used = snprintf(value, VALUE, "%s %s %ld %s", mark_names[entry->mark], entry->host,
                        entry->pid, entry->nonce);

    if (entry->mark == MARKED_DONE)
        snprintf(value + used, (size_t)(VALUE - used), " %" PRIu64 " %" PRIu64, entry->pieces,
                 entry->bytes);
}

/* Reads a mark. A damaged one is that of a segment that is free. */
static void read_mark(const struct tracehost_log_message *message, struct th_log_entry *entry)
{
    char text[VALUE], word[16] = "";
    int count;

    *entry = (struct th_log_entry){.sequence = message->sequence};
    snprintf(text, sizeof text, "%.*s", (int)message->size, (const char *)message->data);
    count = sscanf(text, "%15s %64s %ld %16s %" SCNu64 " %" SCNu64, word, entry->host, &entry->pid,
                   entry->nonce, &entry->pieces, &entry->bytes);
    for (enum job_mark mark = CLAIMED; mark <= UNSOUND; mark++)
        if (strcmp(word, mark_names[mark]) == 0 && count == (mark == MARKED_DONE ? 6 : 4))
            entry->mark = mark;
}

/* Reads the mark of SEGMENT; without one the segment is free. Errors: TH_FAILED. */
static enum th_status get_mark(struct th_log_job *job, uint64_t segment, struct th_log_entry *entry)
{
    struct tracehost_log_message message;
    enum tracehost_log_result result;
    char subject[SUBJECT];

    *entry = (struct th_log_entry){0};
    write_subject(job, subject, "segments.%" PRIu64, segment);
    result = get_again(job, job->stream, subject, 0, &message);
    if (result == TRACEHOST_LOG_NONE)
        return TH_OK;
    if (result != TRACEHOST_LOG_DONE)
        return job_fails(job);
    read_mark(&message, entry);
    job->log.engine->release(&message);
    return TH_OK;
}

/* Writes VALUE in place of the message *SEQUENCE of SUBJECT, whose sequence it becomes. If an answer was
 * lost, the message that is there may be the one that was written. PATIENT: tries again while the server does not answer.
 * TH_END: another one has written; *SEQUENCE is that one's. Errors: TH_FAILED. */
static enum th_status write_value(struct th_log_job *job, const char *subject, const char *value,
                                  uint64_t *sequence, bool patient)
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
        return job_fails(job);
    result = get_again(job, job->stream, subject, 0, &message);
    if (result == TRACEHOST_LOG_NONE)
        return TH_END;
    if (result != TRACEHOST_LOG_DONE)
        return job_fails(job);
    equal = message.size == strlen(value) && memcmp(message.data, value, message.size) == 0;
    *sequence = message.sequence;
    job->log.engine->release(&message);
    return equal ? TH_OK : TH_END;
}

/* Writes this worker's mark of the segment in place of the message *SEQUENCE. Statuses: as write_value(). */
static enum th_status write_mark(struct th_log_job *job, const struct th_log_entry *entry,
                                 uint64_t *sequence, bool patient)
{
    char subject[SUBJECT], value[VALUE];

    write_subject(job, subject, "segments.%" PRIu64, job->segment);
    print_mark(entry, value);
    return write_value(job, subject, value, sequence, patient);
}

/* Removes the pieces that the worker NONCE has stored for the segment. If that fails, they stay: no mark names them. */
static void purge_pieces(struct th_log_job *job, const char *nonce)
{
    char subject[SUBJECT];

    write_subject(job, subject, "pieces.%s.%" PRIu64 ".*", nonce, job->segment);
    job->log.engine->purge(&job->log.client, job->stream, subject);
}

/* --- Opening ----------------------------------------------------------------------------------- */

static void describe_self(struct th_log_entry *self, const char *nonce)
{
    if (gethostname(self->host, sizeof self->host - 1) != 0 || !*self->host)
        strcpy(self->host, "localhost");
    for (char *c = self->host; *c; c++)
        if ((unsigned char)*c <= ' ')
            *c = '_';
    self->pid = (long)getppid(); /* the process that users know */
    memcpy(self->nonce, nonce, sizeof self->nonce);
}

/* Appends the jobs of JOB's stream, one on a line. */
static void list_found_job(void *context, const char *name, uint64_t messages)
{
    struct th_buffer *found = context;

    (void)messages;
    th_buffer_printf(found, "%s\n", name);
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
    char subject[SUBJECT];
    uint64_t sequence = 0;

    write_subject(job, subject, "job");
    if (job->options->lease_ns) {
        enum th_status status = write_value(job, subject, job->options->text, &sequence, true);
        return status != TH_END ? status
                                : th_error_raise(TH_FAILED, "two jobs have the id %s", job->id);
    }
    result = get_again(job, job->stream, subject, 0, &message);
    if (result == TRACEHOST_LOG_DONE)
        job->log.engine->release(&message);
    if (result == TRACEHOST_LOG_NONE)
        return refuse_job(job);
    return result == TRACEHOST_LOG_DONE ? TH_OK : job_fails(job);
}

/* Opens the bucket of the stream. TH_END: there is none. Errors: TH_MALFORMED. */
static enum th_status open_bucket(struct th_log_job *job, bool make)
{
    enum tracehost_log_result result;

    job->bucket = th_printf("tracehost_%s", job->name.stream);
    job->stream = th_printf("KV_%s", job->bucket);
    result = job->log.engine->find_bucket(&job->log.client, job->bucket, job->name.stream, make);
    if (result == TRACEHOST_LOG_GONE)
        return TH_END;
    return result == TRACEHOST_LOG_DONE
               ? TH_OK
               : th_error_raise(TH_MALFORMED, "%s", job->log.client.why);
}

enum th_status th_replay_log_job_open(const struct th_log_job_options *options,
                                      struct th_log_job **job)
{
    struct th_log_job *made = *job = th_alloc_zero(sizeof *made);
    enum th_status status = th_replay_log_name_parse(options->name, &made->name);

    made->options = options;
    if (status == TH_OK && !made->name.stream)
        status = th_error_raise(TH_MALFORMED, "the name lacks the stream: nats://HOST[:PORT]/NAME");
    if (status == TH_OK && (made->name.from.set || made->name.begin || made->name.end))
        status = th_error_raise(TH_USAGE, "from=, begin= and end= cannot be given: workers play "
                                          "the whole recording");
    if (status == TH_OK)
        status = th_replay_log_open(&made->name, false, &made->log);
    if (status == TH_OK)
        status = th_replay_log_choose(&made->log, &made->name, &made->recording);
    if (status != TH_OK)
        return status;
    made->records = th_replay_log_subject(made->log.subjects[0], made->recording);
    snprintf(made->id, sizeof made->id, "%016" PRIx64,
             th_hash_bytes(options->text, strlen(options->text)));
    th_replay_log_make_id(made->nonce);
    describe_self(&made->self, made->nonce);
    status = open_bucket(made, options->lease_ns > 0);
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

/* Looks how far the recording has come. A last message that is no batch is passed over: there will be another.
 * Errors: TH_FAILED. */
static enum th_status look_at_end(struct th_log_job *job)
{
    struct tracehost_log_message message;
    struct th_log_batch last;
    enum tracehost_log_result result =
        get_again(job, job->name.stream, job->records, 0, &message);

    if (result == TRACEHOST_LOG_NONE)
        return th_error_raise(TH_FAILED, "the stream %s has no recording %s", job->name.stream,
                              job->recording);
    if (result != TRACEHOST_LOG_DONE)
        return job_fails(job);
    if (th_replay_log_read_heads(job->log.engine, &message, &last) == TH_OK)
        job->last = last;
    th_error_clear();
    job->log.engine->release(&message);
    return TH_OK;
}

/* Returns the number of segments that can be played. */
static uint64_t count_segments(const struct th_log_job *job, int64_t size)
{
    return job->last.position / (uint64_t)size + job->last.last;
}

/* Writes a claim in place of the mark FOUND. TH_END: another worker was faster. Errors: TH_FAILED. */
static enum th_status take_segment(struct th_log_job *job, uint64_t segment,
                                   const struct th_log_entry *found)
{
    struct th_log_entry claim = job->self;
    enum th_status status;

    claim.mark = CLAIMED;
    job->segment = segment;
    job->sequence = found->sequence;
    status = write_mark(job, &claim, &job->sequence, true);
    job->holds = status == TH_OK;
    job->renewed = th_clock_real_monotonic();
    if (job->holds && found->mark == CLAIMED && strcmp(found->nonce, job->nonce) != 0)
        purge_pieces(job, found->nonce);
    return status;
}

/* Claims SEGMENT if it is free, or if its claim has ended. TH_END: it has not. Errors: TH_FAILED. */
static enum th_status try_segment(struct th_log_job *job, uint64_t segment)
{
    struct th_log_seen *seen = &job->seen[segment];
    struct th_log_entry found;
    enum th_status status = get_mark(job, segment, &found);
    int64_t now = th_clock_real_monotonic();

    if (status != TH_OK)
        return status;
    seen->done = found.mark == MARKED_DONE || found.mark == UNSOUND;
    if (seen->done)
        return TH_END;
    if (found.mark == CLAIMED && strcmp(found.nonce, job->nonce) != 0) {
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
        enum th_status status = look_at_end(job);
        uint64_t count = status == TH_OK ? count_segments(job, job->options->size) : 0;
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
    claim.mark = CLAIMED;
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
    char subject[SUBJECT];
    const struct tracehost_log_publication publication = {
        .stream = job->stream,
        .subject = subject,
        .data = data,
        .size = size,
        .wait_ms = WAIT_MS,
    };
    enum tracehost_log_result result;
    int64_t deadline = 0;

    write_subject(job, subject, "pieces.%s.%" PRIu64 ".%" PRIu64, job->nonce, job->segment, number);
    do
        result = job->log.engine->publish(&job->log.client, &publication);
    while (tries_again(job, result, &deadline));
    return result == TRACEHOST_LOG_DONE ? TH_OK : job_fails(job);
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

    mark.mark = state ? MARKED_DONE : UNSOUND;
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

/* --- Merging ----------------------------------------------------------------------------------- */

/* Looks at the marks of COUNT segments. Errors: TH_PARTIAL if not all are done. */
static enum th_status survey_marks(struct th_log_job *job, uint64_t count, bool *sound)
{
    uint64_t missing = 0, first = 0;
    struct th_log_entry entry, holder = {0};

    for (uint64_t segment = 0; segment < count; segment++) {
        if (get_mark(job, segment, &entry) != TH_OK)
            return th_error_status();
        *sound &= entry.mark != UNSOUND;
        if (entry.mark == MARKED_DONE || entry.mark == UNSOUND)
            continue;
        if (missing++ == 0) {
            first = segment;
            holder = entry;
        }
    }
    if (missing == 0)
        return TH_OK;
    if (holder.mark == CLAIMED)
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
            get_again(job, job->name.stream, job->records, sequence, &message);
        if (result == TRACEHOST_LOG_NONE)
            break; /* an empty recording has one batch */
        if (result != TRACEHOST_LOG_DONE)
            return job_fails(job);
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
    enum th_status status = look_at_end(job);

    *sound = true;
    if (status != TH_OK)
        return status;
    if (!job->last.last)
        return th_error_raise(TH_PARTIAL,
                              "the recording %s has no end: its producer is still writing, or was "
                              "killed",
                              job->recording);
    *segments = count_segments(job, job->options->size);
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
    char subject[SUBJECT];

    for (uint64_t i = 0; i < entry->pieces; i++) {
        write_subject(job, subject, "pieces.%s.%" PRIu64 ".%" PRIu64, entry->nonce, segment, i);
        result = get_again(job, job->stream, subject, 0, &message);
        if (result == TRACEHOST_LOG_NONE)
            return th_error_raise(TH_PARTIAL, "piece %" PRIu64 " of %" PRIu64 " is missing", i,
                                  entry->pieces);
        if (result != TRACEHOST_LOG_DONE)
            return job_fails(job);
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
    enum th_status status = get_mark(job, segment, &entry);
    size_t size;

    if (status == TH_OK && entry.mark != MARKED_DONE)
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

/* --- Lists ------------------------------------------------------------------------------------- */

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
    read_mark(&message, &entry);
    job->log.engine->release(&message);
    marks->done += entry.mark == MARKED_DONE || entry.mark == UNSOUND;
    marks->claimed += entry.mark == CLAIMED;
    begin = segment * (uint64_t)job->options->size;
    if (entry.mark == CLAIMED)
        th_buffer_printf(&marks->workers,
                         "    %s:%ld plays segment %" PRIu64 ", %" PRIu64 " bytes behind the end\n",
                         entry.host, entry.pid, segment, end > begin ? end - begin : 0);
}

/* Returns the number behind WORD in TEXT; 1: there is none. */
static int64_t number_in(const char *text, const char *word)
{
    const char *found = strstr(text, word);
    int64_t number = found ? strtoll(found + strlen(word), NULL, 10) : 0;

    return number > 0 ? number : 1;
}

/* Appends the job whose text has the subject SUBJECT. */
static void describe_job(struct th_log_job *job, const char *subject, struct th_buffer *text)
{
    struct th_log_job_options options = {.watch = -1};
    struct job_marks marks = {.job = job};
    struct tracehost_log_message message;
    char pattern[SUBJECT];
    const char *words;
    char *copy;

    if (job->log.engine->get(&job->log.client, job->stream, subject, 0, &message) !=
        TRACEHOST_LOG_DONE)
        return;
    copy = th_printf("%.*s", (int)message.size, (const char *)message.data);
    job->log.engine->release(&message);
    options.size = number_in(copy, "\nsegment ");
    job->options = &options;
    write_subject(job, pattern, "segments.*");
    if (look_at_end(job) == TH_OK)
        job->log.engine->list(&job->log.client, job->stream, pattern, add_mark, &marks);
    th_error_clear();
    words = strstr(copy, "\noptions");
    th_buffer_printf(text,
                     "  job %s of %s:%s; segments: %" PRIu64 " done, %" PRIu64 " claimed, %" PRIu64
                     " in all\n",
                     job->id, job->recording, words ? words + strlen("\noptions") : "", marks.done,
                     marks.claimed, count_segments(job, options.size));
    if (marks.workers.size)
        th_buffer_add(text, marks.workers.data, marks.workers.size);
    th_buffer_free(&marks.workers);
    th_free(copy);
    job->options = NULL;
}

enum th_status th_replay_log_job_list(const struct th_log_name *name, struct th_buffer *text)
{
    struct th_log_job job = {.name = *name};
    struct th_buffer found = {0};
    char pattern[SUBJECT];
    enum th_status status = th_replay_log_open(name, false, &job.log);
    char *rest, *subject, *recording, *id;

    if (status == TH_OK)
        status = open_bucket(&job, false);
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
        job.recording = th_printf("%.*s", (int)(id - recording) - 1, recording);
        job.records = th_replay_log_subject(job.log.subjects[0], job.recording);
        snprintf(job.id, sizeof job.id, "%.*s", (int)strcspn(id, "."), id);
        describe_job(&job, subject, text);
        th_free(job.recording);
        th_free(job.records);
    }
    th_free(rest);
    th_buffer_free(&found);
    th_free(job.bucket);
    th_free(job.stream);
    th_replay_log_close(&job.log);
    return status == TH_END ? TH_OK : status;
}
