/*
 * The process that reads a recording of a log. It writes the records to a pipe, which is read as a
 * file is (node_stream.c). The steps:
 *
 * 1. Choose the recording, and the batch to begin with: the first one, or, with from=, the first whose
 *    Tracehost-Span reaches the time, or, with begin=, the first whose Tracehost-Position does, or, for a
 *    reader that goes on (log_position.h), the one that has the record of its position. Then the
 *    world's records of the batches before come first, or, with past=yes, these batches, or, with past=none,
 *    nothing. With past=between only the world's records between begin= and end= are written.
 * 2. Get message after message of the subject. A batch whose records have come already is dropped. If
 *    numbers are missing, a drop record with their number is written instead.
 * 3. If there is no further message, wait for one, or end (follow=no). The batch with Tracehost-Last
 *    ends the stream; so does the first one that is at end= or behind it.
 *
 * 4. A reader that goes on asks on STATUS, a socket, to have its position written. It asks between any two
 *    records, and waits for the answer: so questions are also heard while the pipe is full, and from the
 *    end of the pipe until the reader has no more of them.
 *
 * A server that does not answer is asked for PATIENCE_MS. What was lost or damaged is written to
 * STATUS at the end.
 */
#include "log_feed.h"

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
#include <sys/socket.h>
#include <unistd.h>

#define MS INT64_C(1000000)
enum {
    PATIENCE_MS = 60000,
    RETRY_MS = 50,
    FIRST_PAUSE_MS = 5,
    LONGEST_PAUSE_MS = 200,
    PIPE_BYTES = 1 << 20
};

volatile sig_atomic_t th_replay_log_feed_stopped;

static void stop_feed(int number)
{
    (void)number;
    th_replay_log_feed_stopped = 1;
}

/* --- Lines, and bytes -------------------------------------------------------------------------- */

/* Writes all of SIZE bytes, unless a signal came, or nobody reads. */
static bool feed_bytes(int to, const void *data, size_t size)
{
    const char *bytes = data;

    while (size > 0) {
        ssize_t written = write(to, bytes, size);
        if (written < 0 && (errno != EINTR || th_replay_log_feed_stopped))
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

/* Writes the position that the reader asks for. Returns false if it has no more questions. */
static bool answer_reader(struct th_log_feed *feed)
{
    uint64_t records;
    sigset_t all, before;
    ssize_t size = recv(feed->status, &records, sizeof records, MSG_WAITALL);
    bool written;

    if (size != sizeof records)
        return size < 0 && errno == EINTR;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* a signal ends the feeding, not the writing */
    written = th_replay_log_position_write(&feed->position, records) == TH_OK;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!written)
        say_chain(feed);
    th_error_clear();
    return feed_bytes(feed->status, written ? "marked\n" : "failed\n", strlen("marked\n"));
}

/* Waits MILLISECONDS (-1: for ever) until the pipe has room, if ROOM, a signal comes, or nobody reads. Answers
 * questions. Returns whether the pipe has room. */
static bool await_pipe(struct th_log_feed *feed, bool room, int milliseconds)
{
    struct pollfd wait[] = {{.fd = feed->out, .events = room ? POLLOUT : 0},
                            {.fd = feed->reader ? feed->status : -1, .events = POLLIN}};

    if (poll(wait, 2, milliseconds) <= 0)
        return false;
    feed->closed |= wait[0].revents & POLLERR || (wait[1].revents && !answer_reader(feed));
    return wait[0].revents & POLLOUT && !feed->closed;
}

/* Waits MILLISECONDS, a signal, or until nobody reads. Returns false if the stream is to end. */
static bool pause_feed(struct th_log_feed *feed, int milliseconds)
{
    if (!th_replay_log_feed_stopped)
        await_pipe(feed, false, milliseconds);
    return !th_replay_log_feed_stopped && !feed->closed;
}

bool th_replay_log_feed_records(struct th_log_feed *feed, const unsigned char *data, size_t size,
                                uint64_t count)
{
    feed->records += count;
    if (!feed->reader)
        return feed_bytes(feed->out, data, size);
    while (size > 0 && !feed->closed) {
        ssize_t written = await_pipe(feed, true, -1) ? write(feed->out, data, size) : 0;
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        data += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return size == 0;
}

enum tracehost_log_result th_replay_log_feed_get(struct th_log_feed *feed, const char *subject,
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

void th_replay_log_feed_note_damage(struct th_log_feed *feed, uint64_t sequence)
{
    if (feed->damaged++ == 0)
        snprintf(feed->fault, sizeof feed->fault, "message %" PRIu64 " of the stream: %s", sequence,
                 th_error_link(0));
    th_error_clear();
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
    if (feed->reader)
        th_replay_log_position_note(&feed->position, feed->records + 1, number);
    return th_replay_log_feed_records(feed, head, sizeof head, 1);
}

/* Writes the records of MESSAGE. Returns false if nobody reads them. */
static bool feed_message(struct th_log_feed *feed, const struct tracehost_log_message *message)
{
    struct th_log_batch batch;

    if (th_replay_log_read_heads(feed->log.engine, message, &batch) != TH_OK) {
        th_replay_log_feed_note_damage(feed, message->sequence);
        return true;
    }
    if (batch.first > feed->number + UINT32_MAX) {
        th_error_raise(TH_PARTIAL, "more records would be missing than a drop record can count");
        th_replay_log_feed_note_damage(feed, message->sequence);
        return true;
    }
    if (batch.first < feed->number) { /* these records have come */
        if (batch.first + batch.count > feed->number) {
            th_error_raise(TH_PARTIAL, "some of its records have come, others have not");
            th_replay_log_feed_note_damage(feed, message->sequence);
        }
        feed->complete = batch.last && batch.first + batch.count >= feed->number;
        return true;
    }
    feed->complete = batch.last;
    if (!feed_gap(feed, batch.first))
        return false;
    feed->passed_end = feed->name->end && batch.position >= (uint64_t)feed->name->end;
    if (feed->passed_end)
        return true;
    if (th_replay_log_unpack(message, &batch, &feed->plain) != TH_OK) {
        th_replay_log_feed_note_damage(feed, message->sequence);
        return feed_gap(feed, batch.first + batch.count);
    }
    feed->number = batch.first + batch.count;
    return th_replay_log_feed_records(feed, feed->plain.data, feed->plain.size, batch.count);
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

/* Ends the pipe. Then answers a reader that goes on until it has no more questions. */
static void end_pipe(struct th_log_feed *feed)
{
    if (!feed->reader)
        return;
    close(feed->out);
    while (answer_reader(feed))
        ;
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
    while (goes_on && !feed->complete && !feed->passed_end && !th_replay_log_feed_stopped) {
        if (feed->reader)
            await_pipe(feed, false, 0);
        result = th_replay_log_feed_get(feed, feed->subject, feed->sequence, &message);
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
    end_pipe(feed);
    if (feed->complete || feed->passed_end || th_replay_log_feed_stopped || !goes_on)
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

/* Opens the log. A server that does not answer is asked again if it takes connections, or if a segment is
 * to be read: the worker has found it there before. */
static enum th_status open_feed(struct th_log_feed *feed)
{
    int64_t deadline = th_clock_real_monotonic() + PATIENCE_MS * MS;
    enum th_status status;

    while ((status = th_replay_log_open(feed->name, false, &feed->log)) != TH_OK &&
           (feed->log.starting || (feed->log.silent && (feed->name->begin || feed->name->end))) &&
           th_clock_real_monotonic() < deadline && pause_feed(feed, RETRY_MS))
        th_replay_log_close(&feed->log);
    return status;
}

/* Feeds the world, and all that comes behind. Returns the exit status. */
static int feed_from_beginning(struct th_log_feed *feed)
{
    enum th_log_past past = feed->name->past;
    bool goes_on = past == TH_LOG_NOTHING || feed->number == 1 ||
                   th_replay_log_feed_world(feed, feed->number, false);

    if (!goes_on || past == TH_LOG_BETWEEN) {
        end_pipe(feed);
        return sum_up_feed(feed);
    }
    if (feed->reader)
        th_replay_log_position_note(&feed->position, feed->records, feed->number);
    return feed_all(feed);
}

/* The process. REQUEST is a struct th_log_request. As tracehost_node_serve() (node/node.h); writes `live` before
 * `ok` if the recording is followed, `before BYTES` for begin= and for a reader that goes on, and `position
 * NUMBER` for the latter. */
static int serve_log(const void *request, int out, int status)
{
    const struct th_log_request *wish = request;
    struct th_log_feed feed = {.name = &wish->name,
                               .reader = wish->reader,
                               .out = out,
                               .status = status,
                               .sequence = 1,
                               .number = 1};
    int result = TH_MALFORMED;

    take_feed_signals();
    fcntl(out, F_SETPIPE_SZ, PIPE_BYTES); /* may be refused */
    if (open_feed(&feed) == TH_OK && th_replay_log_feed_begin(&feed) == TH_OK) {
        bool live = !feed.complete && !feed.name->ends;
        char *lines = th_printf("%sbefore %" PRIu64 "\nposition %" PRIu64 "\nok\n",
                                live ? "live\n" : "", feed.before, feed.position.begin);
        feed_bytes(status, lines, strlen(lines));
        th_free(lines);
        result = feed_from_beginning(&feed);
    } else {
        say_chain(&feed);
    }
    return result; /* the process ends: closing the log would wait for threads of libnats, and for the server */
}

enum th_status th_replay_log_read(const char *name, const char *reader_name,
                                  const volatile int *stop, struct th_node_feeder **feeder, int *fd,
                                  struct th_reader_info *info)
{
    const struct tracehost_log_engine *engine;
    struct th_log_request request = {.reader = reader_name};
    struct th_log_name *parsed = &request.name;
    enum th_status status = th_replay_log_name_parse(name, parsed);

    *feeder = NULL;
    if (status == TH_OK && reader_name &&
        (parsed->from.set || parsed->begin || parsed->end || parsed->past))
        status = th_error_raise(TH_USAGE, "from=, begin=, end= and past= cannot be given with "
                                          "--resume: the position says where the reader begins");
    if (status == TH_OK && !parsed->stream)
        status = th_error_raise(TH_MALFORMED, "the name lacks the stream: nats://HOST[:PORT]/NAME");
    if (status == TH_OK)
        status = th_replay_log_engine(&engine); /* the process finds it open */
    if (status == TH_OK)
        status = th_replay_feeder_open(serve_log, &request, "log", stop, feeder, fd);
    if (status == TH_OK) {
        info->live = th_replay_feeder_told(*feeder, "live\n");
        info->before = strtoull(th_replay_feeder_told(*feeder, "before "), NULL, 10);
        info->position = strtoull(th_replay_feeder_told(*feeder, "position "), NULL, 10);
    }
    th_replay_log_name_free(parsed);
    return status;
}

enum th_status th_replay_log_begin_of(const char *name, const volatile int *stop, uint64_t *before)
{
    struct th_reader_info info = {0};
    struct th_node_feeder *feeder;
    int fd;
    enum th_status status = th_replay_log_read(name, NULL, stop, &feeder, &fd, &info);

    *before = info.before;
    if (status == TH_OK)
        close(fd);
    th_replay_node_close(feeder);
    return status;
}
