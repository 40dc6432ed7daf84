/* Fuzzes names of logs ('n' and the name), and messages of a log: lines "HEADER: VALUE", an empty line, and the
 * bytes, which are compressed first ('c') or not ('m'). */
#include "host/base/base.h"
#include "host/replay/log/log_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

struct fuzzed {
    char *headers; /* pairs of texts, each with its zero; an empty one is behind the last */
};

static void claim(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static const char *fuzzed_header(const struct tracehost_log_message *message, const char *name)
{
    const struct fuzzed *fuzzed = message->held;

    for (const char *at = fuzzed->headers; *at;) {
        const char *value = at + strlen(at) + 1;
        if (strcmp(at, name) == 0)
            return value;
        at = value + strlen(value) + 1;
    }
    return NULL;
}

static const char *written_header(const struct tracehost_log_message *message, const char *name)
{
    const struct tracehost_log_header *headers = message->held;

    for (size_t i = 0; i < message->size; i++)
        if (strcmp(headers[i].name, name) == 0)
            return headers[i].value;
    return NULL;
}

static void same_times(const struct th_log_times *a, const struct th_log_times *b)
{
    for (int clock = 0; clock < TH_CLOCKS; clock++)
        claim(a[clock].known == b[clock].known && a[clock].first == b[clock].first &&
                  a[clock].least == b[clock].least && a[clock].greatest == b[clock].greatest,
              "another time");
}

/* Writes the headers of BATCH, and reads them again. */
static void check_heads(const struct th_log_batch *batch)
{
    static const struct tracehost_log_engine written = {.header = written_header};
    struct tracehost_log_header headers[TRACEHOST_LOG_HEADERS];
    struct tracehost_log_message message = {.held = headers};
    struct th_log_batch again;

    message.size = th_replay_log_write_heads(batch, headers);
    claim(message.size <= TRACEHOST_LOG_HEADERS, "more headers than there are");
    claim(th_replay_log_read_heads(&written, &message, &again) == TH_OK, "unreadable headers");
    claim(again.first == batch->first && again.count == batch->count &&
              again.position == batch->position && again.bytes == batch->bytes &&
              again.drops == batch->drops && again.last == batch->last,
          "another number");
    claim(strncmp(again.node, batch->node, sizeof again.node) == 0, "another node");
    same_times(again.times, batch->times);
    same_times(again.span, batch->span);
}

/* Splits the lines of TEXT, of SIZE bytes, up to an empty one. Returns the bytes that they take. */
static size_t split_headers(const char *text, size_t size, char *headers)
{
    size_t at = 0;

    while (at < size) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        const char *colon = memmem(text + at, length, ": ", 2);
        size_t name = colon ? (size_t)(colon - text) - at : length;
        if (length == 0)
            return at + 1;
        if (name > 0 && colon && !memchr(text + at, 0, length)) {
            headers = mempcpy(headers, text + at, name);
            *headers++ = 0;
            headers = mempcpy(headers, colon + 2, length - name - 2);
            *headers++ = 0;
        }
        at += length + (end != NULL);
    }
    return size;
}

static void check_message(const unsigned char *data, size_t size, bool compress)
{
    static const struct tracehost_log_engine engine = {.header = fuzzed_header};
    struct fuzzed fuzzed = {calloc(1, 2 * size + 2)};
    size_t head = split_headers((const char *)data, size, fuzzed.headers);
    size_t room = ZSTD_compressBound(size);
    unsigned char *packed = malloc(room);
    struct tracehost_log_message message = {&fuzzed, 1, data + head, size - head};
    struct th_buffer plain = {0};
    struct th_log_batch batch;

    if (compress) {
        message.size = ZSTD_compress(packed, room, data + head, size - head, 1);
        message.data = packed;
    }
    if (th_replay_log_read_heads(&engine, &message, &batch) != TH_OK)
        claim(th_error_link(0) != NULL, "refused without a cause");
    else {
        check_heads(&batch);
        if (th_replay_log_unpack(&message, &batch, &plain) != TH_OK)
            claim(th_error_link(0) != NULL, "refused without a cause");
        else
            claim(plain.size == batch.bytes, "another size");
    }
    th_error_clear();
    th_buffer_free(&plain);
    free(packed);
    free(fuzzed.headers);
}

static void check_name(const unsigned char *data, size_t size)
{
    char *name = calloc(1, strlen("nats://") + size + 1);
    struct th_log_name parsed;

    memcpy(mempcpy(name, "nats://", strlen("nats://")), data, size);
    if (th_replay_log_name_parse(name, &parsed) != TH_OK)
        claim(th_error_link(0) != NULL, "refused without a cause");
    else
        claim(parsed.host && parsed.url && *parsed.host, "a name without a host");
    th_error_clear();
    th_replay_log_name_free(&parsed);
    free(name);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (size > 0 && data[0] == 'n')
        check_name(data + 1, size - 1);
    else if (size > 0)
        check_message(data + 1, size - 1, data[0] == 'c');
    return 0;
}
