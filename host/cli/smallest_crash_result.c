/* The result: its files, and what it needs. */
#include "smallest_crash_internal.h"

#include "host/base/memory.h"
#include "host/replay/reader.h"
#include "host/trace/event.h"

#include <stdlib.h>
#include <string.h>

/* Returns the name of the file. Owner: the caller frees the name with th_free(). */
static char *name_result(const struct th_minimizing *m)
{
    const char *tracer = m->trials.expected.tracer, *base = strrchr(tracer, '/');
    size_t length;

    if (m->minimize->file)
        return th_strdup(m->minimize->file);
    base = base ? base + 1 : tracer;
    length = strlen(base);
    if (length > 3 && strcmp(base + length - 3, ".so") == 0)
        length -= 3;
    return length ? th_printf("%.*s.crash.trace", (int)length, base) : th_strdup("crash.trace");
}

/* Returns FILE with .jsonl in place of .trace. Owner: as name_result(). */
static char *name_lines(const char *file)
{
    size_t length = strlen(file);

    if (length > 6 && strcmp(file + length - 6, ".trace") == 0)
        length -= 6;
    return th_printf("%.*s.jsonl", (int)length, file);
}

/* Writes STREAM to FILE in a format. */
static enum th_status write_result(const struct th_minimizing *m, const struct th_buffer *stream,
                                   struct th_writer_options how, enum th_format format,
                                   const char *file)
{
    const struct th_reader_options reading = {.scheduler_id =
                                                  m->minimize->replay->stream.scheduler_id};
    struct th_event event = {0};
    struct th_reader *reader;
    struct th_writer *writer;
    enum th_status status;
    th_env env;

    how.format = format;
    status = th_replay_kept_open(stream, file, &reading, &reader);
    if (status != TH_OK)
        return status;
    status = th_replay_writer_open(file, &how, &writer);
    if (status != TH_OK) {
        th_replay_reader_close(reader);
        return status;
    }
    th_env_init(&env, TH_ENV_PLAIN);
    while (status == TH_OK && th_replay_reader_next(reader, &event) == TH_OK) {
        status = th_replay_writer_add(writer, &event, &env);
        th_env_clear(&env);
    }
    th_env_release(&env);
    th_replay_reader_close(reader);
    if (status == TH_OK)
        return th_replay_writer_commit(writer);
    th_replay_writer_abandon(writer);
    return status;
}

static int compare_kinds(const void *a, const void *b)
{
    const uint64_t *x = ((const struct th_replay_classes *)a)->of;
    const uint64_t *y = ((const struct th_replay_classes *)b)->of;

    for (int class = TH_REPLAY_CLASS_TAG; class <= TH_REPLAY_CLASS_FUNCTION; class ++)
        if (x[class] != y[class])
            return x[class] < y[class] ? -1 : 1;
    return 0;
}

/* Counts the records of STREAM, and their kinds: tag and function. */
static void count_kinds(const struct th_buffer *stream, size_t *records, size_t *kinds)
{
    struct th_replay_kept kept = {.most = SIZE_MAX};
    struct th_event event = {0};
    struct th_reader *reader;

    *records = *kinds = 0;
    if (th_replay_kept_open(stream, "the records", NULL, &reader) != TH_OK)
        return;
    while (th_replay_reader_next(reader, &event) == TH_OK)
        th_replay_kept_add(&kept, reader, &event);
    th_replay_reader_close(reader);
    *records = kept.count;
    if (kept.count > 0)
        qsort(kept.classes, kept.count, sizeof *kept.classes, compare_kinds);
    for (size_t i = 0; i < kept.count; i++)
        *kinds += i == 0 || compare_kinds(&kept.classes[i - 1], &kept.classes[i]) != 0;
    th_replay_kept_free(&kept);
}

enum th_status th_cli_minimize_show(struct th_minimizing *m, const struct th_buffer *stream,
                                    const struct th_writer_options *how, bool confirmed,
                                    const struct th_minimize_tracer *tracer)
{
    char *file = name_result(m), *lines = name_lines(file);
    bool port = how->format == TH_FORMAT_TRACE_PORT;
    size_t records, kinds;
    enum th_status status = write_result(m, stream, *how, TH_FORMAT_TRACE_PORT, file);

    if (status == TH_OK)
        status = write_result(m, stream, *how, TH_FORMAT_JSONL, lines);
    count_kinds(stream, &records, &kinds);
    if (status == TH_OK) {
        fprintf(m->out,
                "tracehost replay: the crash needs %zu record%s of %zu kind%s%s (%llu trials)\n",
                records, th_log_plural(records), kinds, th_log_plural(kinds),
                m->trials.ended ? ", or fewer, as the search was stopped" : "",
                (unsigned long long)m->trials.count);
        if (!confirmed)
            fputs("  the tracer crashes only at some attempts: repeat the command\n", m->out);
        if (!port)
            fprintf(m->out, "  the crash needs `external`, `tail` or callers, which %s lacks\n",
                    file);
        fprintf(m->out, "  %s and %s have them; repeat it by\n", file, lines);
        th_cli_minimize_print_command(m->out, tracer, port ? file : lines);
    }
    th_free(file);
    th_free(lines);
    return status;
}
