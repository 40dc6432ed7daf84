/*
 * The process that reads a recording of a log. It writes the records to a pipe, which is read as a
 * file is (node_stream.c). The steps:
 *
 * 1. Choose the recording, and the batch to begin with: the first one, or, with from=, the first whose
 *    Tracehost-Span reaches the time, or, with begin=, the first whose Tracehost-Position does. Then the
 *    world's records of the batches before come first, or, with past=yes, these batches.
 * 2. Get message after message of the subject. A batch whose records have come already is dropped. If
 *    numbers are missing, a drop record with their number is written instead.
 * 3. If there is no further message, wait for one, or end (follow=no). The batch with Tracehost-Last
 *    ends the stream; so does the first one that is at end= or behind it.
 *
 * A server that does not answer is asked for PATIENCE_MS. What was lost or damaged is written to
 * STATUS at the end.
 */
#include "log_stream.h"

#include "host/base/memory.h"
#include "host/replay/replay_internal.h"
#include "host/term/clock.h"
#include "host/term/etf_tags.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS INT64_C(1000000)
enum {
    PATIENCE_MS = 60000,
    RETRY_MS = 50,
    FIRST_PAUSE_MS = 5,
    LONGEST_PAUSE_MS = 200,
    PIPE_BYTES = 1 << 20
};

struct th_log_feed {
    const struct th_log_name *name;
    struct th_log log;
    int out, status;
    char *recording, *subject, *world;
    uint64_t sequence; /* of the next message in the stream, at least */
    uint64_t number;   /* of the next record */
    uint64_t before;   /* bytes of records that come before those of the segment (begin=) */
    bool complete;
    bool passed_end; /* the batch at end= has come */
    bool closed;     /* nobody reads OUT */
    struct th_buffer plain;
    uint64_t lost, gaps; /* records; places */
    uint64_t first_lost; /* number of the first one */
    uint64_t damaged;    /* messages that are no batches */
    char fault[256];     /* of the first of them */
};

static volatile sig_atomic_t feed_stopped; /* written by the handler of signals */

static void stop_feed(int number)
{
    (void)number;
    feed_stopped = 1;
}

/* --- Lines, and bytes -------------------------------------------------------------------------- */

/* Writes all of SIZE bytes, unless a signal came, or nobody reads. */
static bool feed_bytes(int to, const void *data, size_t size)
{
    const char *bytes = data;

    while (size > 0) {
        ssize_t written = write(to, bytes, size);
        if (written < 0 && (errno != EINTR || feed_stopped))
            return false;
        bytes += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* Writes a line for the user: a link of the chain of causes, outermost first. */
static __attribute__((format(printf, 2, 3))) void say_fault(const struct th_log_feed *feed,
                                                            const char *format, ...)
{
    char text[TH_ERROR_TEXT] = "error: ";
    size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - used - 1, format, arguments);
    va_end(arguments);
    th_replay_log_hide_controls(text);
    strcat(text, "\n");
    feed_bytes(feed->status, text, strlen(text));
}

static void say_chain(const struct th_log_feed *feed)
{
    for (size_t i = 0; th_error_link(i); i++)
        say_fault(feed, "%s", th_error_link(i));
}

/* Waits MILLISECONDS, a signal, or until nobody reads. Returns false if the stream is to end. */
static bool pause_feed(struct th_log_feed *feed, int milliseconds)
{
    struct pollfd reader = {.fd = feed->out}; /* POLLERR: the pipe has no reader */

    if (!feed_stopped && poll(&reader, 1, milliseconds) > 0)
        feed->closed = true;
    return !feed_stopped && !feed->closed;
}

/* As engine->get(), again and again while the server does not answer. TRACEHOST_LOG_AGAIN: the patience has
 * ended, or the stream is to end. */
static enum tracehost_log_result get_message(struct th_log_feed *feed, const char *subject,
                                             uint64_t sequence,
                                             struct tracehost_log_message *message)
{
    int64_t deadline = th_clock_real_monotonic() + PATIENCE_MS * MS;
    enum tracehost_log_result result;

    do
        result = feed->log.engine->get(&feed->log.client, feed->name->stream, subject, sequence,
                                       message);
    while (result == TRACEHOST_LOG_AGAIN && th_clock_real_monotonic() < deadline &&
           pause_feed(feed, RETRY_MS));
    return result;
}

/* --- 1. The recording and its beginning --------------------------------------------------------- */

static void list_recording(void *context, const struct th_log_summary *summary)
{
    struct th_buffer *list = context;

    if (summary->recording)
        th_buffer_printf(list, "%s%s", list->size ? " " : "", summary->recording);
}

/* Raises which recordings there are to choose from: LIST, with blanks between. */
static enum th_status raise_choice(const struct th_log_name *name, struct th_buffer *list)
{
    const char *text = th_buffer_text(list);

    if (list->size == 0)
        return th_error_raise(TH_MALFORMED, "the stream %s has no recordings", name->stream);
    th_error_raise(TH_MALFORMED, "the recordings, the oldest first: %s", text);
    if (name->recording)
        return th_error_context("the stream %s has no recording %s", name->stream, name->recording);
    return th_error_context("the stream %s has several recordings: give ?recording=ID, "
                            "`tracehost streams` lists them",
                            name->stream);
}

/* Raises TH_MALFORMED with the choice. */
static enum th_status refuse_choice(struct th_log *log, const struct th_log_name *name)
{
    struct th_buffer list = {0};
    enum th_status status = th_replay_log_recordings(log, name->stream, list_recording, &list);

    if (status == TH_OK)
        status = raise_choice(name, &list);
    th_buffer_free(&list);
    return status;
}

enum th_status th_replay_log_choose(struct th_log *log, const struct th_log_name *name,
                                    char **recording)
{
    struct th_buffer list = {0};
    enum th_status status = TH_OK;

    *recording = NULL;
    if (!name->recording)
        status = th_replay_log_recordings(log, name->stream, list_recording, &list);
    if (status == TH_OK && !name->recording &&
        (list.size == 0 || strchr(th_buffer_text(&list), ' ')))
        status = raise_choice(name, &list);
    if (status == TH_OK)
        *recording = th_strdup(name->recording ? name->recording : th_buffer_text(&list));
    th_buffer_free(&list);
    return status;
}

/* Finds the recording, and whether it is complete. Errors: TH_MALFORMED. */
static enum th_status choose_recording(struct th_log_feed *feed)
{
    const struct tracehost_log_engine *engine = feed->log.engine;
    struct tracehost_log_message message;
    struct th_log_batch batch;
    enum tracehost_log_result result;
    enum th_status status = th_replay_log_choose(&feed->log, feed->name, &feed->recording);

    if (status != TH_OK)
        return status;
    feed->subject = th_replay_log_subject(feed->log.subjects[0], feed->recording);
    feed->world = th_replay_log_subject(feed->log.subjects[1], feed->recording);
    result = get_message(feed, feed->subject, 0, &message);
    if (result > TRACEHOST_LOG_NONE)
        return th_error_raise(TH_MALFORMED, "%s", feed->log.client.why);
    if (result == TRACEHOST_LOG_NONE)
        return refuse_choice(&feed->log, feed->name);
    feed->complete = th_replay_log_read_heads(engine, &message, &batch) == TH_OK && batch.last;
    th_error_clear();
    engine->release(&message);
    return TH_OK;
}

/* Returns whether records up to BATCH have the time from=, or BATCH is at begin= or behind it. */
static bool reaches(const struct th_log_feed *feed, const struct th_log_batch *batch)
{
    const struct th_time_bound *from = &feed->name->from;

    if (feed->name->begin)
        return batch->position >= (uint64_t)feed->name->begin;
    for (int clock = 0; clock < TH_CLOCKS; clock++) {
        const struct th_log_times *span = &batch->span[clock];
        if (span->known && th_replay_on_scale(from, span->first, span->greatest) >= from->ns)
            return true;
    }
    return false;
}

/* Gets the first batch from SEQUENCE on; other messages are passed over. Returns the batch's sequence; 0: there is none. */
static uint64_t find_batch(struct th_log_feed *feed, uint64_t sequence, struct th_log_batch *batch)
{
    struct tracehost_log_message message;
    bool is_batch = false;

    while (!is_batch &&
           get_message(feed, feed->subject, sequence, &message) == TRACEHOST_LOG_DONE) {
        sequence = message.sequence;
        is_batch = th_replay_log_read_heads(feed->log.engine, &message, batch) == TH_OK;
        feed->log.engine->release(&message);
        if (!is_batch)
            sequence++;
    }
    th_error_clear();
    return is_batch ? sequence : 0;
}

static void note_damage(struct th_log_feed *feed, uint64_t sequence)
{
    if (feed->damaged++ == 0)
        snprintf(feed->fault, sizeof feed->fault, "message %" PRIu64 " of the stream: %s", sequence,
                 th_error_link(0));
    th_error_clear();
}

/* Writes the records of the world before the record NUMBER. Returns false if nobody reads them, or if
 * they are not those that begin= needs. */
static bool feed_world(struct th_log_feed *feed, uint64_t number)
{
    enum tracehost_log_result result = TRACEHOST_LOG_DONE;
    struct tracehost_log_message message;
    struct th_log_batch batch;
    uint64_t sequence = 1, latest = 0, bytes = 0;
    bool written = true;

    while (written && latest < number) {
        result = get_message(feed, feed->world, sequence, &message);
        if (result != TRACEHOST_LOG_DONE)
            break;
        if (th_replay_log_read_heads(feed->log.engine, &message, &batch) != TH_OK) {
            note_damage(feed, message.sequence);
        } else if (batch.first > latest) { /* otherwise these records have come */
            latest = batch.first;
            if (latest < number && th_replay_log_unpack(&message, &batch, &feed->plain) != TH_OK)
                note_damage(feed, message.sequence);
            else if (latest < number) {
                written = feed_bytes(feed->out, feed->plain.data, feed->plain.size);
                bytes += feed->plain.size;
            }
        }
        sequence = message.sequence + 1;
        feed->log.engine->release(&message);
    }
    if (result > TRACEHOST_LOG_NONE && !feed_stopped) {
        th_error_raise(TH_PARTIAL, "%s", feed->log.client.why);
        note_damage(feed, sequence);
    }
    if (!written || !feed->name->begin || bytes == feed->before)
        return written;
    th_error_raise(TH_PARTIAL, "copies of the world's records before it are missing");
    note_damage(feed, feed->sequence);
    return false;
}

/* Finds the batch that from= or begin= asks for, or the last one, by halving. With past=yes, the reading
 * begins with the first one all the same. */
static void seek_batch(struct th_log_feed *feed)
{
    struct tracehost_log_message message;
    struct th_log_batch batch = {0}, found = {0};
    uint64_t low = 1, high, middle;

    if ((!feed->name->from.set && !feed->name->begin) ||
        get_message(feed, feed->subject, 0, &message) != TRACEHOST_LOG_DONE)
        return;
    high = message.sequence;
    feed->log.engine->release(&message);
    while (low < high) {
        middle = find_batch(feed, low + (high - low) / 2, &batch);
        if (middle == 0 || middle >= high || reaches(feed, &batch))
            high = low + (high - low) / 2;
        else
            low = middle + 1;
    }
    if (find_batch(feed, low, &found) == 0)
        found.first = feed->number;
    feed->before = feed->name->past ? found.position : found.world;
    if (feed->name->past)
        return;
    feed->sequence = low;
    feed->number = found.first;
}

/* --- 2. Batches -------------------------------------------------------------------------------- */

/* Writes a drop record for the records before NUMBER. */
static bool feed_gap(struct th_log_feed *feed, uint64_t number)
{
    unsigned char head[TH_PORT_HEAD] = {TH_PORT_DROP};
    uint64_t count = number - feed->number;

    if (count == 0)
        return true;
    if (feed->gaps++ == 0)
        feed->first_lost = feed->number;
    feed->lost += count;
    feed->number = number;
    th_etf_put32(head + 1, (uint32_t)count);
    return feed_bytes(feed->out, head, sizeof head);
}

/* Writes the records of MESSAGE. Returns false if nobody reads them. */
static bool feed_message(struct th_log_feed *feed, const struct tracehost_log_message *message)
{
    struct th_log_batch batch;

    if (th_replay_log_read_heads(feed->log.engine, message, &batch) != TH_OK) {
        note_damage(feed, message->sequence);
        return true;
    }
    if (batch.first > feed->number + UINT32_MAX) {
        th_error_raise(TH_PARTIAL, "more records would be missing than a drop record can count");
        note_damage(feed, message->sequence);
        return true;
    }
    if (batch.first < feed->number) { /* these records have come */
        if (batch.first + batch.count > feed->number) {
            th_error_raise(TH_PARTIAL, "some of its records have come, others have not");
            note_damage(feed, message->sequence);
        }
        return true;
    }
    feed->complete = batch.last;
    if (!feed_gap(feed, batch.first))
        return false;
    feed->passed_end = feed->name->end && batch.position >= (uint64_t)feed->name->end;
    if (feed->passed_end)
        return true;
    if (th_replay_log_unpack(message, &batch, &feed->plain) != TH_OK) {
        note_damage(feed, message->sequence);
        return feed_gap(feed, batch.first + batch.count);
    }
    feed->number = batch.first + batch.count;
    return feed_bytes(feed->out, feed->plain.data, feed->plain.size);
}

/* --- 3. The end -------------------------------------------------------------------------------- */

/* Writes to STATUS what was lost. Returns the exit status. */
static int sum_up_feed(const struct th_log_feed *feed)
{
    if (feed->damaged)
        say_fault(feed, "%" PRIu64 " message%s no sound batch of records: %s", feed->damaged,
                  feed->damaged == 1 ? " is" : "s are", feed->fault);
    if (feed->gaps)
        say_fault(feed,
                  "%" PRIu64 " record%s lost in %" PRIu64 " place%s, from record %" PRIu64
                  " on: their messages are not in the log",
                  feed->lost, feed->lost == 1 ? " is" : "s are", feed->gaps,
                  th_log_plural(feed->gaps), feed->first_lost);
    return feed->damaged || feed->gaps ? TH_PARTIAL : TH_OK;
}

/* Feeds from feed->sequence on, to the end. Returns the exit status. */
static int feed_all(struct th_log_feed *feed)
{
    const struct tracehost_log_engine *engine = feed->log.engine;
    enum tracehost_log_result result = TRACEHOST_LOG_NONE;
    struct tracehost_log_message message;
    int pause_ms = FIRST_PAUSE_MS;
    bool goes_on = true;

    feed->complete = false;
    while (goes_on && !feed->complete && !feed->passed_end && !feed_stopped) {
        result = get_message(feed, feed->subject, feed->sequence, &message);
        if (result == TRACEHOST_LOG_DONE) {
            goes_on = feed_message(feed, &message);
            feed->sequence = message.sequence + 1;
            engine->release(&message);
            pause_ms = FIRST_PAUSE_MS;
        } else if (result == TRACEHOST_LOG_NONE && !feed->name->ends) {
            goes_on = pause_feed(feed, pause_ms);
            pause_ms = 2 * pause_ms < LONGEST_PAUSE_MS ? 2 * pause_ms : LONGEST_PAUSE_MS;
        } else {
            break;
        }
    }
    if (feed->complete || feed->passed_end || feed_stopped || !goes_on)
        return sum_up_feed(feed);
    say_fault(feed, "the rest of the recording is missing");
    say_fault(feed, "%s",
              result == TRACEHOST_LOG_NONE
                  ? "the recording has no end: its producer was killed, or is still writing"
                  : feed->log.client.why);
    sum_up_feed(feed);
    return TH_PARTIAL;
}

static void take_feed_signals(void)
{
    const struct sigaction stop = {.sa_handler = stop_feed};
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &stop, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* Opens the log. A server that does not answer is asked again if a segment is to be read: the worker has
 * found it there before. */
static enum th_status open_feed(struct th_log_feed *feed)
{
    int64_t deadline = th_clock_real_monotonic() + PATIENCE_MS * MS;
    enum th_status status;

    while ((status = th_replay_log_open(feed->name, false, &feed->log)) != TH_OK &&
           feed->log.silent && feed->name->begin && th_clock_real_monotonic() < deadline &&
           pause_feed(feed, RETRY_MS))
        th_replay_log_close(&feed->log);
    return status;
}

/* The process. NAME is a struct th_log_name. As tracehost_node_serve() (node/node.h); writes `live` before
 * `ok` if the recording is followed, and `before BYTES` for begin=. */
static int serve_log(const void *name, int out, int status)
{
    struct th_log_feed feed = {
        .name = name, .out = out, .status = status, .sequence = 1, .number = 1};
    int result = TH_MALFORMED;

    take_feed_signals();
    fcntl(out, F_SETPIPE_SZ, PIPE_BYTES); /* may be refused */
    if (open_feed(&feed) == TH_OK && choose_recording(&feed) == TH_OK) {
        bool live = !feed.complete && !feed.name->ends;
        char *lines;
        seek_batch(&feed);
        lines = th_printf("%sbefore %" PRIu64 "\nok\n", live ? "live\n" : "", feed.before);
        feed_bytes(status, lines, strlen(lines));
        th_free(lines);
        if (feed.number == 1 || feed_world(&feed, feed.number))
            result = feed_all(&feed);
        else
            result = sum_up_feed(&feed);
    } else {
        say_chain(&feed);
    }
    return result; /* the process ends: closing the log would wait for threads of libnats, and for the server */
}

enum th_status th_replay_log_read(const char *name, const volatile int *stop,
                                  struct th_node_feeder **feeder, int *fd, bool *live,
                                  uint64_t *before)
{
    const struct tracehost_log_engine *engine;
    struct th_log_name parsed;
    enum th_status status = th_replay_log_name_parse(name, &parsed);

    *feeder = NULL;
    if (status == TH_OK && !parsed.stream)
        status = th_error_raise(TH_MALFORMED, "the name lacks the stream: nats://HOST[:PORT]/NAME");
    if (status == TH_OK)
        status = th_replay_log_engine(&engine); /* the process finds it open */
    if (status == TH_OK)
        status = th_replay_feeder_open(serve_log, &parsed, "log", stop, feeder, fd);
    *live = status == TH_OK && th_replay_feeder_told(*feeder, "live\n");
    *before = status == TH_OK ? strtoull(th_replay_feeder_told(*feeder, "before "), NULL, 10) : 0;
    th_replay_log_name_free(&parsed);
    return status;
}
