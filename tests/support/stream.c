#include "stream.h"

#include "assertions.h"

#include "host/base/base.h"
#include "host/term/term.h"
#include "host/trace/trace.h"

#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SAMPLES = 25 };

void stream_add_record(struct th_buffer *stream, unsigned op, uint32_t size, const void *payload,
                       size_t bytes)
{
    unsigned char head[5] = {(unsigned char)op};

    th_etf_put32(head + 1, size);
    th_buffer_add(stream, head, sizeof head);
    th_buffer_add(stream, payload, bytes);
}

void stream_add_message(struct th_buffer *stream, const char *text)
{
    const struct th_etf_options options = {0};
    struct th_buffer payload = {0};
    th_env env;
    th_term t;

    th_env_init(&env, TH_ENV_PLAIN);
    if (th_text_parse(&env, text, strlen(text), &t) != TH_OK)
        fail_msg("%s: %s", text, stream_causes());
    assert_int_equal(th_etf_encode(&payload, t, true, &options), TH_OK);
    stream_add_record(stream, 0, (uint32_t)payload.size, payload.data, payload.size);
    th_buffer_free(&payload);
    th_env_release(&env);
}

void stream_add_drop(struct th_buffer *stream, uint32_t dropped)
{
    stream_add_record(stream, 1, dropped, "", 0);
}

void stream_add_file(struct th_buffer *stream, const char *name)
{
    FILE *file = fopen(name, "rb");
    size_t got;

    if (!file)
        fail_msg("%s is not there", name);
    do {
        got = fread(th_buffer_reserve(stream, 65536), 1, 65536, file);
        stream->size += got;
    } while (got > 0);
    fclose(file);
}

enum th_status stream_open(const void *data, size_t bytes, const struct th_reader_options *options,
                           struct th_reader **reader)
{
    int fd = memfd_create("stream", MFD_CLOEXEC);

    assert_order(fd, >, 0);
    assert_int_equal(write(fd, data, bytes), bytes);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return th_replay_reader_attach(fd, "stream", options, reader);
}

static void tell_causes(struct th_buffer *told)
{
    const char *link;

    for (size_t i = 0; (link = th_error_link(i)); i++)
        th_buffer_printf(told, "%s%s", i ? ": " : "", link);
    th_error_clear();
}

static void tell_event(struct th_buffer *told, struct th_event *event)
{
    th_term tuple;
    th_env env;

    th_env_init(&env, TH_ENV_PLAIN);
    th_buffer_printf(told, "%llu@%llu %s", (unsigned long long)event->number,
                     (unsigned long long)event->position,
                     event->kind == TH_EVENT_OTHER ? "other " : "");
    if (event->source->whole(event, &env, &tuple) == TH_OK)
        th_text_print(told, tuple);
    else
        tell_causes(told);
    th_env_release(&env);
}

const char *stream_tell(struct th_reader *reader)
{
    static struct th_buffer told;
    struct th_event event = {0};
    enum th_status status;

    told.size = 0;
    while ((status = th_replay_reader_next(reader, &event)) != TH_END) {
        if (status == TH_OK) {
            tell_event(&told, &event);
        } else {
            assert_int_equal(status, th_error_status());
            th_buffer_add_text(&told, status == TH_PARTIAL ? "partial: " : "malformed: ");
            tell_causes(&told);
        }
        th_buffer_add_byte(&told, '\n');
    }
    return th_buffer_text(&told);
}

const char *stream_read(const struct th_buffer *stream)
{
    static struct th_buffer refused;
    struct th_reader *reader;
    const char *told;

    if (stream_open(stream->data, stream->size, NULL, &reader) != TH_OK) {
        refused.size = 0;
        th_buffer_add_text(&refused, "refused: ");
        tell_causes(&refused);
        return th_buffer_text(&refused);
    }
    told = stream_tell(reader);
    th_replay_reader_close(reader);
    return told;
}

const char *stream_causes(void)
{
    static struct th_buffer told;

    told.size = 0;
    tell_causes(&told);
    return th_buffer_text(&told);
}

void stream_each_sample(void (*test)(const char *file))
{
    glob_t found;

    assert_int_equal(glob("samples/recordings/*.trace", 0, NULL, &found), 0);
    assert_order(found.gl_pathc, >=, SAMPLES);
    for (size_t i = 0; i < found.gl_pathc; i++)
        test(found.gl_pathv[i]);
    globfree(&found);
}
