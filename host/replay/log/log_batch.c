#include "log_stream.h"

#include "host/base/memory.h"
#include "host/replay/replay_internal.h"
#include "host/term/etf_tags.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static const char *const clocks[TH_CLOCKS] = {
    [TH_CLOCK_SYSTEM] = "system",
    [TH_CLOCK_CPU] = "cpu",
    [TH_CLOCK_MONOTONIC] = "monotonic",
};

enum th_log_field {
    FORMAT,
    RECORDING,
    NODE,
    CREATION,
    FIRST,
    COUNT,
    POSITION,
    BYTES,
    WORLD,
    DROPS,
    TIMES,
    SPAN,
    LAST
};
static const char *const names[] = {
    [FORMAT] = "Tracehost-Format",     [RECORDING] = "Tracehost-Recording",
    [NODE] = "Tracehost-Node",         [CREATION] = "Tracehost-Creation",
    [FIRST] = "Tracehost-First",       [COUNT] = "Tracehost-Count",
    [POSITION] = "Tracehost-Position", [BYTES] = "Tracehost-Bytes",
    [WORLD] = "Tracehost-World",       [DROPS] = "Tracehost-Drops",
    [TIMES] = "Tracehost-Times",       [SPAN] = "Tracehost-Span",
    [LAST] = "Tracehost-Last",
};

/* --- Writing ----------------------------------------------------------------------------------- */

void th_replay_log_hide_controls(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

void th_replay_log_note_time(struct th_log_times *times, int64_t ns)
{
    if (!times->known)
        *times = (struct th_log_times){true, ns, ns, ns};
    if (ns < times->least)
        times->least = ns;
    if (ns > times->greatest)
        times->greatest = ns;
}

/* Prints TIMES of all clocks, each with its FIRST if that is wanted. Three clocks fit in a value. Returns
 * false if there are none: libnats reads no header without a value. */
static bool write_times(struct tracehost_log_header *header, const struct th_log_times *times,
                        bool first)
{
    struct th_buffer text = {0};

    for (int clock = 0; clock < TH_CLOCKS; clock++) {
        if (!times[clock].known)
            continue;
        th_buffer_printf(&text, "%s%s ", text.size ? "," : "", clocks[clock]);
        if (first)
            th_buffer_printf(&text, "%" PRId64 " ", times[clock].first);
        th_buffer_printf(&text, "%" PRId64 " %" PRId64, times[clock].least, times[clock].greatest);
    }
    snprintf(header->value, sizeof header->value, "%s", th_buffer_text(&text));
    th_buffer_free(&text);
    return *header->value;
}

static struct tracehost_log_header number_head(enum th_log_field field, uint64_t number)
{
    struct tracehost_log_header header = {.name = names[field]};

    snprintf(header.value, sizeof header.value, "%" PRIu64, number);
    return header;
}

static struct tracehost_log_header text_head(enum th_log_field field, const char *text)
{
    struct tracehost_log_header header = {.name = names[field]};

    snprintf(header.value, sizeof header.value, "%s", text);
    return header;
}

size_t th_replay_log_write_heads(const struct th_log_batch *batch,
                                 struct tracehost_log_header *headers)
{
    size_t count = 0;

    headers[count++] = number_head(FORMAT, 1);
    headers[count++] = text_head(RECORDING, batch->recording);
    if (*batch->node) {
        headers[count++] = text_head(NODE, batch->node);
        headers[count++] = number_head(CREATION, batch->creation);
    }
    headers[count++] = number_head(FIRST, batch->first);
    headers[count++] = number_head(COUNT, batch->count);
    headers[count++] = number_head(POSITION, batch->position);
    headers[count++] = number_head(BYTES, batch->bytes);
    headers[count++] = number_head(WORLD, batch->world);
    headers[count++] = number_head(DROPS, batch->drops);
    headers[count] = text_head(TIMES, "");
    count += write_times(&headers[count], batch->times, false);
    headers[count] = text_head(SPAN, "");
    count += write_times(&headers[count], batch->span, true);
    if (batch->last)
        headers[count++] = number_head(LAST, 1);
    return count;
}

/* --- Reading ----------------------------------------------------------------------------------- */

static const char *value_of_head(const struct tracehost_log_engine *engine,
                                 const struct tracehost_log_message *message,
                                 enum th_log_field field)
{
    const char *value = engine->header(message, names[field]);

    return value ? value : "";
}

/* Reads a number from 0 on. */
static bool read_count_head(const char *text, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

/* Reads what write_times() has written. */
static bool read_times(const char *text, struct th_log_times *times, bool first)
{
    while (*text) {
        struct th_log_times now = {.known = true};
        size_t length = strcspn(text, " ");
        int clock = 0, used = 0;
        while (clock < TH_CLOCKS &&
               (strlen(clocks[clock]) != length || strncmp(text, clocks[clock], length) != 0))
            clock++;
        text += length;
        if (clock == TH_CLOCKS)
            return false;
        if (first && (sscanf(text, " %" SCNd64 "%n", &now.first, &used) != 1))
            return false;
        text += used;
        used = 0;
        if (sscanf(text, " %" SCNd64 " %" SCNd64 "%n", &now.least, &now.greatest, &used) != 2)
            return false;
        text += used;
        if (*text && *text++ != ',')
            return false;
        times[clock] = now;
    }
    return true;
}

static enum th_status no_batch(enum th_log_field field, const char *value)
{
    return th_error_raise(TH_PARTIAL, "the message is no batch of records: its header %s is '%s'",
                          names[field], value);
}

enum th_status th_replay_log_read_heads(const struct tracehost_log_engine *engine,
                                        const struct tracehost_log_message *message,
                                        struct th_log_batch *batch)
{
    const struct {
        enum th_log_field field;
        uint64_t *number;
    } numbers[] = {{FIRST, &batch->first}, {COUNT, &batch->count}, {POSITION, &batch->position},
                   {BYTES, &batch->bytes}, {WORLD, &batch->world}, {DROPS, &batch->drops}};
    const char *text = value_of_head(engine, message, FORMAT);

    *batch = (struct th_log_batch){.recording = value_of_head(engine, message, RECORDING)};
    if (strcmp(text, "1") != 0)
        return no_batch(FORMAT, text);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        text = value_of_head(engine, message, numbers[i].field);
        if (!read_count_head(text, numbers[i].number))
            return no_batch(numbers[i].field, text);
    }
    if (batch->first == 0 || batch->first > INT64_MAX)
        return no_batch(FIRST, value_of_head(engine, message, FIRST));
    if (batch->count > TH_LOG_MOST)
        return no_batch(COUNT, value_of_head(engine, message, COUNT));
    if (batch->bytes > TH_LOG_MOST)
        return no_batch(BYTES, value_of_head(engine, message, BYTES));
    if (!read_times(value_of_head(engine, message, TIMES), batch->times, false))
        return no_batch(TIMES, value_of_head(engine, message, TIMES));
    if (!read_times(value_of_head(engine, message, SPAN), batch->span, true))
        return no_batch(SPAN, value_of_head(engine, message, SPAN));
    if (!read_count_head(value_of_head(engine, message, CREATION), &batch->creation))
        batch->creation = 0;
    snprintf(batch->node, sizeof batch->node, "%s", value_of_head(engine, message, NODE));
    th_replay_log_hide_controls(batch->node);
    batch->last = strcmp(value_of_head(engine, message, LAST), "1") == 0;
    return TH_OK;
}

/* Returns the bytes of the record at DATA, whose head is there. */
static size_t bytes_of_record(const unsigned char *data)
{
    return TH_PORT_HEAD + (data[0] == TH_PORT_MESSAGE ? th_etf_get32(data + 1) : 0);
}

size_t th_replay_log_size_of(const struct th_buffer *plain, uint64_t count)
{
    size_t size = 0;

    while (count-- > 0 && size < plain->size)
        size += bytes_of_record(plain->data + size);
    return size;
}

/* Returns the number of the records of SIZE bytes at DATA; UINT64_MAX: the last one is not whole. */
static uint64_t count_batch_records(const unsigned char *data, size_t size)
{
    uint64_t count = 0;

    while (size > 0) {
        size_t bytes;
        if (size < TH_PORT_HEAD || data[0] > TH_PORT_DROP)
            return UINT64_MAX;
        bytes = bytes_of_record(data);
        if (bytes > size)
            return UINT64_MAX;
        data += bytes;
        size -= bytes;
        count++;
    }
    return count;
}

enum th_status th_replay_log_unpack(const struct tracehost_log_message *message,
                                    const struct th_log_batch *batch, struct th_buffer *plain)
{
    size_t size = 0;

    plain->size = 0;
    th_memory_begin(TH_READER_MEMORY);
    if (batch->count == 0 && batch->bytes == 0 && message->size == 0)
        return TH_OK;
    if (ZSTD_getFrameContentSize(message->data, message->size) != batch->bytes)
        return th_error_raise(TH_PARTIAL,
                              "the message has no compressed data of the size that it claims");
    if (!th_buffer_try(plain, batch->bytes))
        return th_error_raise(TH_PARTIAL, "there is no memory for the records of a message");
    size = ZSTD_decompress(plain->data, batch->bytes, message->data, message->size);
    if (ZSTD_isError(size))
        return th_error_raise(TH_PARTIAL, "the compressed data of the message are damaged: %s",
                              ZSTD_getErrorName(size));
    if (size != batch->bytes || count_batch_records(plain->data, size) != batch->count)
        return th_error_raise(TH_PARTIAL, "the message does not have the records that it claims");
    plain->size = size;
    return TH_OK;
}
