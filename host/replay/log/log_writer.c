/*
 * Writes a recording to a log.
 *
 * Records are collected in a batch. A batch becomes up to two messages, that of the world and its own,
 * which are sent one after the other, each until the server has stored it. Nothing else is kept: while
 * these messages wait, one more batch can be collected. When that is full, too, the writer waits
 * (full=wait), or drops the batch and counts its events (full=drop). They become a drop record, the
 * first record of the next batch, so that record numbers have no gap.
 */
#include "log_stream.h"

#include "host/base/memory.h"
#include "host/replay/packed/packed.h"
#include "host/replay/pack.h"
#include "host/replay/replay_internal.h"
#include "host/term/clock.h"
#include "host/term/etf_tags.h"

#include <stdlib.h>
#include <sys/random.h>
#include <zstd.h>

#define MS INT64_C(1000000)
enum {
    WAIT_MS = 2000,     /* for the server's answer, if the writer waits */
    DROP_WAIT_MS = 250, /* ... if it does not */
    PAUSE_MS = 50,      /* between attempts */
    START_MS = 60000,   /* for a server that takes connections, but does not answer yet */
    END_MS = 10000,     /* for the last messages of a writer that does not wait */
    FLUSH_MS = 200,     /* a batch that is not full waits for more records */
    WORLD = 0,
    RECORDS = 1,
    MESSAGES = 2
};

/* A message that is in flight, or waits to be sent again. */
struct th_log_outgoing {
    bool waits;
    struct th_log_batch batch;
    struct tracehost_log_header headers[TRACEHOST_LOG_HEADERS];
    char id[64];
    char *subject;
    struct th_buffer data;
};

struct th_log_writer {
    struct th_log_name name;
    struct th_log log;
    struct th_log_options *options;
    size_t limit; /* bytes of a batch */
    ZSTD_CCtx *zstd;
    struct th_log_outgoing outgoing[MESSAGES];
    bool told; /* that the server does not take messages */

    /* The batch that is collected. */
    struct th_log_batch now;
    struct th_log_times span_before[TH_CLOCKS];
    struct th_buffer records, world;
    uint64_t world_count;
    uint64_t events;  /* in the batch, those of its drop records among them */
    uint64_t dropped; /* by its drop records */
    int64_t began;    /* time of its first record (th_clock_real_monotonic()) */
    uint64_t retold;  /* by the first of them, which counts events that were lost here */
    uint64_t lost;    /* events that the next drop record counts */
};

/* --- The beginning and the end ----------------------------------------------------------------- */

static void note_here(struct th_log_writer *writer, const struct th_etf_node *here)
{
    struct th_log_batch *now = &writer->now;

    now->recording = writer->options->id;
    now->first = 1;
    now->creation = here->creation;
    if (here->node != TH_NONE)
        snprintf(now->node, sizeof now->node, "%s", th_atom_name(here->node)->text);
    th_replay_log_hide_controls(now->node);
}

void th_replay_log_make_id(char id[TH_LOG_ID])
{
    uint64_t number = 0;

    while (getrandom(&number, sizeof number, 0) != sizeof number)
        ;
    snprintf(id, TH_LOG_ID, "%016llx", (unsigned long long)number);
}

static void say(struct th_log_writer *writer, const char *text)
{
    if (writer->options->notice)
        writer->options->notice(writer->options->context, text);
}

static bool is_to_stop(const struct th_log_writer *writer)
{
    const volatile int *stop = writer->options->stop;

    return stop && __atomic_load_n(stop, __ATOMIC_RELAXED); /* a flag without data */
}

/* Opens the log, and waits while the server takes connections, but does not answer yet. Errors: TH_MALFORMED. */
static enum th_status open_log(struct th_log_writer *writer)
{
    int64_t begun = th_clock_real_monotonic(), now = begun;
    enum th_status status;

    while ((status = th_replay_log_open(&writer->name, true, &writer->log)) != TH_OK &&
           writer->log.starting && now < begun + START_MS * MS) {
        if (now >= begun + WAIT_MS * MS && !writer->told) {
            say(writer, "the server does not answer yet; waiting until it does");
            writer->told = true;
        }
        now = th_clock_real_monotonic() + PAUSE_MS * MS;
        if (!th_replay_tcp_pause(writer->options->stop, now))
            break;
        th_replay_log_close(&writer->log);
    }
    writer->told = false;
    return status;
}

enum th_status th_replay_log_writer_begin(const char *name, const struct th_etf_node *here,
                                          struct th_log_options *options,
                                          struct th_log_writer **writer)
{
    struct th_log_writer *made = th_alloc_zero(sizeof *made);
    enum th_status status = th_replay_log_name_parse(name, &made->name);
    struct th_error_chain chain;

    *writer = made;
    made->options = options;
    options->records = options->bytes = options->messages = options->lost = 0;
    th_replay_log_make_id(options->id);
    note_here(made, here);
    made->zstd = ZSTD_createCCtx();
    if (status == TH_OK && !made->name.stream)
        status = th_error_raise(TH_MALFORMED, "the name lacks the stream: nats://HOST[:PORT]/NAME");
    if (status == TH_OK && !made->zstd)
        status = th_error_raise(TH_FAILED, "there is no memory to compress with");
    if (status == TH_OK)
        status = open_log(made);
    if (status != TH_OK) {
        th_replay_log_writer_end(made);
        *writer = NULL;
        th_error_save(&chain);
        chain.status = TH_FAILED;
        th_error_restore(&chain);
        return th_error_context("cannot write to %s", name);
    }
    ZSTD_CCtx_setParameter(made->zstd, ZSTD_c_compressionLevel,
                           th_replay_pack_level(TH_COMPRESSION_ZSTD));
    ZSTD_CCtx_setParameter(made->zstd, ZSTD_c_checksumFlag, 1);
    made->outgoing[RECORDS].subject = th_replay_log_subject(made->log.subjects[0], options->id);
    made->outgoing[WORLD].subject = th_replay_log_subject(made->log.subjects[1], options->id);
    made->limit = made->name.batch ? (size_t)made->name.batch : TH_LOG_BATCH;
    if (made->limit > made->log.client.most / 2)
        made->limit = made->log.client.most / 2;
    return TH_OK;
}

void th_replay_log_writer_end(struct th_log_writer *writer)
{
    if (!writer)
        return;
    for (int i = 0; i < MESSAGES; i++) {
        th_free(writer->outgoing[i].subject);
        th_buffer_free(&writer->outgoing[i].data);
    }
    th_buffer_free(&writer->records);
    th_buffer_free(&writer->world);
    ZSTD_freeCCtx(writer->zstd);
    th_replay_log_close(&writer->log);
    th_replay_log_name_free(&writer->name);
    th_free(writer);
}

/* --- Messages ---------------------------------------------------------------------------------- */

/* Notes, for the user, that the server does not take messages. */
static void say_refusal(struct th_log_writer *writer)
{
    char *text;

    if (writer->told)
        return;
    text = th_printf("%s; %s", writer->log.client.why,
                     writer->name.drops ? "events are dropped, and counted, until it does"
                                        : "waiting until it does");
    say(writer, text);
    th_free(text);
    writer->told = true;
}

/* Sends MESSAGE until the server has it. TH_END: not before DEADLINE. Errors: TH_FAILED. */
static enum th_status send_message(struct th_log_writer *writer, struct th_log_outgoing *message,
                                   int64_t deadline)
{
    const struct tracehost_log_publication publication = {
        .stream = writer->name.stream,
        .subject = message->subject,
        .id = message->id,
        .headers = message->headers,
        .count = th_replay_log_write_heads(&message->batch, message->headers),
        .data = message->data.data,
        .size = message->data.size,
        .wait_ms = writer->name.drops ? DROP_WAIT_MS : WAIT_MS,
    };

    for (;;) {
        enum tracehost_log_result result =
            writer->log.engine->publish(&writer->log.client, &publication);
        if (result == TRACEHOST_LOG_DONE)
            break;
        if (result != TRACEHOST_LOG_AGAIN && result != TRACEHOST_LOG_FULL)
            return th_error_raise(TH_FAILED, "%s", writer->log.client.why);
        say_refusal(writer);
        if (is_to_stop(writer))
            return th_error_raise(TH_FAILED, "a signal ended the wait: %s", writer->log.client.why);
        if (th_clock_real_monotonic() >= deadline)
            return TH_END;
        th_replay_tcp_pause(writer->options->stop, th_clock_real_monotonic() + PAUSE_MS * MS);
    }
    message->waits = false;
    writer->told = false;
    if (message == &writer->outgoing[RECORDS]) {
        writer->options->records += message->batch.count;
        writer->options->bytes += message->batch.bytes;
        writer->options->messages++;
    }
    return TH_OK;
}

/* Sends the messages that wait. TH_END: the server takes them later. Errors: TH_FAILED. */
static enum th_status send_waiting(struct th_log_writer *writer, int64_t deadline)
{
    enum th_status status = TH_OK;

    for (int i = 0; i < MESSAGES && status == TH_OK; i++)
        if (writer->outgoing[i].waits)
            status = send_message(writer, &writer->outgoing[i], deadline);
    return status;
}

/* Returns when an attempt to send is given up, for the time being. */
static int64_t usual_deadline(const struct th_log_writer *writer)
{
    return writer->name.drops ? 0 : INT64_MAX;
}

/* --- Batches ----------------------------------------------------------------------------------- */

static void begin_batch(struct th_log_writer *writer)
{
    struct th_log_batch *now = &writer->now;

    now->count = now->bytes = 0;
    memset(now->times, 0, sizeof now->times);
    memcpy(writer->span_before, now->span, sizeof now->span);
    writer->records.size = writer->world.size = 0;
    writer->world_count = writer->events = writer->dropped = writer->retold = 0;
}

/* Drops the batch that is collected. */
static void lose_batch(struct th_log_writer *writer)
{
    writer->options->lost += writer->events - writer->retold;
    writer->lost += writer->events;
    memcpy(writer->now.span, writer->span_before, sizeof writer->now.span);
    begin_batch(writer);
}

/* Makes the message NUMBER of COUNT records, of the batch that is collected. Errors: TH_FAILED. */
static enum th_status prepare_message(struct th_log_writer *writer, int number,
                                      const struct th_buffer *records, uint64_t count)
{
    struct th_log_outgoing *message = &writer->outgoing[number];
    size_t room = ZSTD_compressBound(records->size), size = 0;

    message->data.size = 0;
    th_buffer_reserve(&message->data, room);
    if (records->size > 0)
        size = ZSTD_compress2(writer->zstd, message->data.data, room, records->data, records->size);
    if (ZSTD_isError(size))
        return th_error_raise(TH_FAILED, "there is no memory to compress with");
    message->data.size = size;
    message->batch = writer->now;
    message->batch.count = count;
    message->batch.bytes = records->size;
    snprintf(message->id, sizeof message->id, "%s%s:%llu", writer->options->id,
             number == WORLD ? ":world" : "", (unsigned long long)writer->now.first);
    return TH_OK;
}

/* Drops the batch that is collected if its record is larger than a message of the server. */
static bool lose_large(struct th_log_writer *writer)
{
    size_t size = writer->outgoing[RECORDS].data.size;
    char *text;

    if (size + TH_LOG_HEADS <= writer->log.client.most)
        return false;
    text = th_printf("a record of %zu bytes is lost: the server takes messages of %zu bytes",
                     writer->records.size, writer->log.client.most);
    say(writer, text);
    th_free(text);
    lose_batch(writer);
    return true;
}

/* Makes messages of the batch that is collected, and sends them, or keeps them. DEADLINE: as for
 * send_message(). Errors: TH_FAILED. */
static enum th_status send_batch(struct th_log_writer *writer, int64_t deadline)
{
    enum th_status status = send_waiting(writer, deadline);

    if (status == TH_END)
        lose_batch(writer);
    if (status == TH_OK)
        status = prepare_message(writer, RECORDS, &writer->records, writer->now.count);
    if (status != TH_OK || lose_large(writer))
        return status;
    status = prepare_message(writer, WORLD, &writer->world, writer->world_count);
    writer->outgoing[WORLD].waits = writer->world_count > 0;
    writer->outgoing[RECORDS].waits = true;
    writer->now.first += writer->now.count;
    writer->now.position += writer->records.size;
    writer->now.world += writer->world.size;
    writer->now.drops += writer->dropped;
    begin_batch(writer);
    return status == TH_OK ? send_waiting(writer, deadline) : status;
}

/* Adds a record of SIZE bytes to the batch. WORLD: to the copies, too. */
static void add_to_batch(struct th_log_writer *writer, const unsigned char *data, size_t size,
                         bool world)
{
    if (writer->now.count == 0)
        writer->began = th_clock_real_monotonic();
    th_buffer_add(&writer->records, data, size);
    writer->now.count++;
    if (!world)
        return;
    th_buffer_add(&writer->world, data, size);
    writer->world_count++;
}

/* Begins the batch with a drop record for the events that were lost, if there are any. */
static void add_losses(struct th_log_writer *writer)
{
    while (writer->lost > 0) {
        unsigned char head[TH_PORT_HEAD] = {TH_PORT_DROP};
        uint32_t count = writer->lost < UINT32_MAX ? (uint32_t)writer->lost : UINT32_MAX;
        th_etf_put32(head + 1, count);
        add_to_batch(writer, head, sizeof head, true);
        writer->lost -= count;
        writer->events += count;
        writer->dropped += count;
        writer->retold += count;
    }
}

/* Notes the time of EVENT. Returns whether it is the first one of its clock. */
static bool note_event_time(struct th_log_writer *writer, struct th_event *event)
{
    struct th_log_batch *now = &writer->now;
    enum th_time_clock clock;
    bool first;

    if (event->kind > TH_EVENT_SEQ_TRACE)
        return false;
    if (th_trace_event_time(event) != TH_OK)
        th_error_clear();
    else if (event->time.kind != TH_TIME_NONE) {
        clock = th_trace_time_clock(event->time.kind);
        first = !now->span[clock].known;
        th_replay_log_note_time(&now->times[clock], event->time.ns);
        th_replay_log_note_time(&now->span[clock], event->time.ns);
        return first;
    }
    return false;
}

enum th_status th_replay_log_writer_add(struct th_log_writer *writer, struct th_event *event,
                                        const unsigned char *data, size_t size)
{
    bool first, drop = event->kind == TH_EVENT_DROP;

    if (writer->now.count > 0 &&
        (writer->records.size + size > writer->limit || writer->now.count >= TH_LOG_RECORDS)) {
        enum th_status status = send_batch(writer, usual_deadline(writer));
        if (status != TH_OK && status != TH_END)
            return status;
    }
    if (writer->now.count == 0)
        add_losses(writer);
    first = note_event_time(writer, event) || writer->now.first + writer->now.count == 1;
    add_to_batch(writer, data, size, first || th_replay_packed_is_world(event));
    writer->events += drop ? event->dropped : 1;
    writer->dropped += drop ? event->dropped : 0;
    return TH_OK;
}

enum th_status th_replay_log_writer_flush(struct th_log_writer *writer)
{
    enum th_status status;

    if (writer->now.count > 0 && th_clock_real_monotonic() - writer->began >= FLUSH_MS * MS)
        status = send_batch(writer, usual_deadline(writer));
    else
        status = send_waiting(writer, usual_deadline(writer));
    return status == TH_END ? TH_OK : status;
}

enum th_status th_replay_log_writer_finish(struct th_log_writer *writer)
{
    int64_t deadline =
        writer->name.drops ? th_clock_real_monotonic() + END_MS * MS : usual_deadline(writer);
    enum th_status status = TH_OK;

    if (writer->now.count > 0)
        status = send_batch(writer, deadline);
    add_losses(writer);
    writer->now.last = true;
    if (status == TH_OK)
        status = send_batch(writer, deadline);
    if (status != TH_END)
        return status;
    th_error_raise(TH_FAILED, "%s", writer->log.client.why);
    return th_error_context("the last records are lost, and the recording has no end");
}
