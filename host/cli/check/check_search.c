#include "check_search.h"

#include "check_seek.h"

#include "host/base/buffer.h"
#include "host/base/error.h"
#include "host/base/memory.h"
#include "host/replay/kept_records.h"
#include "host/replay/minimize.h"
#include "host/replay/part.h"
#include "host/replay/reader.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 /* of a stream, and of the terms of a record */ };

struct search {
    struct th_check_result *result;
    struct th_replay_kept kept;
    struct th_check_seek seek;
};

static const struct th_check_page *run_stream(void *context, const void *stream)
{
    const struct search *search = context;

    return th_check_trial_run(&search->result->setting, stream);
}

static size_t try_part(void *context, const size_t records[], size_t count)
{
    struct search *search = context;
    struct th_buffer stream = {0};
    size_t needed = 0;

    th_replay_kept_write(&search->kept, records, count, &stream);
    th_check_seek_meet(&search->seek, &stream, count, &needed);
    th_buffer_free(&stream);
    return needed;
}

static bool try_stream(void *context, const struct th_buffer *stream)
{
    struct search *search = context;

    return th_check_seek_meet(&search->seek, stream, 0, NULL);
}

static enum th_status keep_records(struct search *search, const struct th_buffer *stream)
{
    struct th_reader *reader;
    enum th_status status = th_replay_kept_open(stream, "the records", NULL, &reader);

    if (status != TH_OK)
        return status;
    search->kept.most = MOST_BYTES;
    status = th_replay_kept_read(&search->kept, reader, SIZE_MAX);
    th_replay_reader_close(reader);
    return status;
}

/* Makes the terms of the records in RAW smaller. */
static void shrink_terms(struct search *search, const struct th_buffer *raw,
                         struct th_buffer *stream)
{
    struct th_writer_options how = search->kept.how;
    struct th_replay_part part = {0};

    how.format = TH_FORMAT_TRACE_PORT;
    if (th_replay_part_read(&part, raw, &how, false) == TH_OK) {
        th_replay_part_write(&part, stream);
        if (try_stream(search, stream)) {
            th_replay_part_shrink(&part, MOST_BYTES, &search->seek.ended, try_stream, search);
            stream->size = 0;
            th_replay_part_write(&part, stream);
        } else {
            stream->size = 0;
        }
    }
    if (stream->size == 0)
        th_buffer_add(stream, raw->data, raw->size);
    th_replay_part_free(&part);
    th_error_clear();
}

enum th_status th_check_search(struct th_check_result *result, const struct th_buffer *stream,
                               const volatile int *stop)
{
    struct search search = {.result = result,
                            .seek = {.found = &result->found,
                                     .trials = &result->trials,
                                     .limit_ns = &result->setting.limit_ns,
                                     .most = TH_CHECK_SEARCH_TRIALS,
                                     .stop = stop,
                                     .run = run_stream}};
    struct th_buffer raw = {0};
    size_t *records, count;
    enum th_status status = keep_records(&search, stream);

    search.seek.context = &search;
    if (status != TH_OK) {
        th_replay_kept_free(&search.kept);
        return status;
    }
    if (result->found.rule == TH_RULE_HANG && !th_check_seek_again(&search.seek, stream, 1)) {
        th_replay_kept_free(&search.kept); /* the machine was busy */
        return TH_OK;
    }
    th_replay_kept_write(&search.kept, NULL, 0, &result->stream);
    if (search.kept.count > 0 && !try_stream(&search, &result->stream)) {
        count = search.kept.count;
        records = th_alloc(count * sizeof *records);
        for (size_t i = 0; i < count; i++)
            records[i] = i;
        count = th_replay_minimize_records(
            records, count, search.kept.classes,
            &(struct th_replay_trials){try_part, &search, &search.seek.ended});
        count = th_replay_minimize_units(/* also the last one */
                                         records, count, false,
                                         &(struct th_replay_trials){try_part, &search,
                                                                    &search.seek.ended});
        th_replay_kept_write(&search.kept, records, count, &raw);
        result->stream.size = 0;
        shrink_terms(&search, &raw, &result->stream);
        result->records = count;
        th_free(records);
    }
    result->confirmed = th_check_seek_again(&search.seek, &result->stream, 2);
    th_buffer_free(&raw);
    th_replay_kept_free(&search.kept);
    return TH_OK;
}

/* --- Circumstances as text -------------------------------------------------------------------- */

void th_check_setting_print(const struct th_check_setting *setting,
                            char text[TH_CHECK_SETTING_TEXT])
{
    if (setting->state)
        snprintf(text, TH_CHECK_SETTING_TEXT, "state=%s", setting->state);
    else if (setting->threads)
        snprintf(text, TH_CHECK_SETTING_TEXT, "threads=%u", setting->threads);
    else if (setting->fails)
        snprintf(text, TH_CHECK_SETTING_TEXT, "allocation=%llu",
                 (unsigned long long)setting->fails);
    else
        snprintf(text, TH_CHECK_SETTING_TEXT, "%s",
                 setting->replaces ? "replace"
                 : setting->twice  ? "twice"
                                   : "plain");
}

uint64_t th_check_number_behind(const char *word, const char *text, uint64_t most)
{
    size_t length = strlen(word);
    unsigned long long number;
    char *end;

    if (strncmp(text, word, length) != 0 || text[length] < '0' || text[length] > '9')
        return 0;
    number = strtoull(text + length, &end, 10);
    return *end || number > most ? 0 : number;
}

enum th_status th_check_setting_read(const char *text, struct th_check_setting *setting)
{
    enum { MOST_THREADS = 64 };

    setting->threads = (unsigned)th_check_number_behind("threads=", text, MOST_THREADS);
    setting->fails = th_check_number_behind("allocation=", text, UINT64_MAX / 2);
    setting->replaces = strcmp(text, "replace") == 0;
    setting->twice = strcmp(text, "twice") == 0;
    setting->state = strncmp(text, "state=", 6) == 0 ? text + 6 : NULL;
    if (setting->threads || setting->fails || setting->replaces || setting->twice ||
        setting->state || strcmp(text, "plain") == 0)
        return TH_OK;
    return th_error_raise(TH_USAGE,
                          "--run must be plain, state=TERM, threads=N (up to %d), allocation=N, "
                          "replace or twice, not '%s'",
                          MOST_THREADS, text);
}
