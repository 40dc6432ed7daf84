/* The search: the records up to the crash, those that the crash needs, and their smallest terms. */
#include "smallest_crash_internal.h"

#include "host/replay/part.h"
#include "host/replay/reader.h"
#include "host/trace/event.h"
#include "host/trace/session.h"

#include <string.h>
#include <unistd.h>

/* --- The records ------------------------------------------------------------------------------ */

/* Keeps the records of READER up to the crash that were delivered, so between --from and --to. No
 * event happens, as that could start threads of the host. */
static enum th_status keep_stream(struct th_minimizing *m, struct th_reader *reader, bool last)
{
    const struct th_crash_signature *crash = &m->minimize->page->crash;
    struct th_player_options play = m->minimize->replay->play;
    struct th_tracing *tracing = th_trace_create();
    struct th_player_counts counts = {0};
    enum th_status met, status = TH_OK;
    struct th_player *player;
    struct th_event *event;
    bool inside;

    play.part = true;
    player = th_replay_player_begin(tracing, reader, &play, &counts);
    while (status == TH_OK && (met = th_replay_player_skim(player, &event, &inside)) != TH_END) {
        if (met == TH_OK && inside)
            status = th_replay_kept_add(&m->kept, reader, event);
        if (last && crash->record && event->number >= crash->record)
            break;
    }
    th_replay_player_end(player);
    th_trace_free(tracing);
    return status;
}

static enum th_status keep_streams(struct th_minimizing *m)
{
    const struct th_replaying *replay = m->minimize->replay;
    const size_t last = m->minimize->page->stream;
    const struct th_reader_options how = {.scheduler_id = replay->stream.scheduler_id,
                                          .max_memory = replay->stream.max_memory};
    enum th_status status = TH_OK;

    m->kept.most = how.max_memory ? how.max_memory : TH_READER_MEMORY;
    if (m->minimize->page->overfull)
        return th_error_raise(TH_FAILED,
                              "the records up to the crash have more than %zu bytes: give a larger "
                              "--max-memory",
                              m->kept.most);
    for (size_t i = 0; i <= last && status == TH_OK; i++) {
        const char *name = replay->streams.items[i];
        int memory = m->minimize->memory[i];
        struct th_reader *reader;

        if (memory >= 0)
            lseek(memory, 0, SEEK_SET);
        status = memory >= 0 ? th_replay_reader_attach(dup(memory), name, &how, &reader)
                             : th_replay_reader_open(name, &how, &reader);
        if (status != TH_OK)
            break;
        if (i == 0 && strcmp(th_replay_reader_info(reader)->format, "jsonl") == 0)
            m->kept.how.format = TH_FORMAT_JSONL;
        status = keep_stream(m, reader, i == last);
        th_replay_reader_close(reader);
    }
    return status;
}

/* --- The search ------------------------------------------------------------------------------- */

static bool crashes(void *context, const struct th_buffer *stream)
{
    struct th_minimizing *m = context;

    for (unsigned i = 0; i < m->asks; i++)
        if (!th_cli_trials_try(&m->trials, stream))
            return false;
    return true;
}

static size_t try_records(void *context, const size_t records[], size_t count)
{
    struct th_minimizing *m = context;
    struct th_buffer stream = {0};
    bool crashed;

    th_replay_kept_write(&m->kept, records, count, &stream);
    crashed = crashes(m, &stream);
    th_buffer_free(&stream);
    if (!crashed)
        return 0;
    return m->trials.played < count ? (size_t)m->trials.played : count;
}

/* Returns whether STREAM crashes as often as it is asked, also after the end of the search. */
static bool is_confirmed(struct th_minimizing *m, const struct th_buffer *stream)
{
    enum { TIMES = 2 };
    static const int never;
    const volatile int *stop = m->trials.stop;
    int64_t deadline = m->trials.deadline_ns;
    bool ended = m->trials.ended, holds = true;

    m->trials.stop = &never;
    m->trials.deadline_ns = INT64_MAX;
    for (int i = 0; i < TIMES && holds; i++)
        holds = th_cli_trials_try(&m->trials, stream);
    m->trials.stop = stop;
    m->trials.deadline_ns = deadline;
    m->trials.ended = ended;
    return holds;
}

/* Cuts records, then terms. STREAM gets the result, HOW its format. Returns whether the result is
 * confirmed. */
static bool cut(struct th_minimizing *m, struct th_writer_options *how, struct th_buffer *stream)
{
    const bool scheduler_id = m->minimize->replay->stream.scheduler_id;
    struct th_buffer raw = {0};
    struct th_replay_part part = {0};
    bool holds;

    m->count =
        th_replay_minimize_records(m->records, m->count, m->kept.classes,
                                   &(struct th_replay_trials){try_records, m, &m->trials.ended});
    th_replay_kept_write(&m->kept, m->records, m->count, &raw);
    *how = m->kept.how;
    how->format = TH_FORMAT_TRACE_PORT;
    holds = th_replay_part_read(&part, &raw, how, scheduler_id) == TH_OK;
    if (holds)
        th_replay_part_write(&part, stream);
    holds = holds && (m->trials.ended || crashes(m, stream));
    if (!holds && m->kept.how.format == TH_FORMAT_JSONL) { /* facts of calls that it cannot have */
        th_replay_part_free(&part);
        *how = m->kept.how;
        holds = th_replay_part_read(&part, &raw, how, scheduler_id) == TH_OK;
    }
    if (holds)
        th_replay_part_shrink(&part, m->kept.most, &m->trials.ended, crashes, m);
    stream->size = 0;
    if (holds)
        th_replay_part_write(&part, stream);
    else
        th_buffer_add(stream, raw.data, raw.size);
    th_replay_part_free(&part);
    th_buffer_free(&raw);
    th_error_clear();
    return is_confirmed(m, stream);
}

/* Plays all records, once more if that does not crash. Returns whether it did. The records behind
 * the crash are cut. */
static bool repeats(struct th_minimizing *m)
{
    size_t needed;

    m->count = m->kept.count;
    m->records = th_realloc(m->records, (m->count + 1) * sizeof *m->records);
    for (size_t i = 0; i < m->count; i++)
        m->records[i] = i;
    needed = try_records(m, m->records, m->count);
    if (needed == 0)
        needed = try_records(m, m->records, m->count);
    m->count = needed;
    return needed > 0;
}

enum th_minimize_outcome th_cli_minimize_search(struct th_minimizing *m,
                                                const struct th_minimize_tracer *tracer)
{
    struct th_crash_signature *crash = &m->minimize->page->crash;
    const bool known = *crash->tracer;
    struct th_buffer stream = {0};
    struct th_writer_options how;
    bool at_once, confirmed;

    if (keep_streams(m) != TH_OK)
        return TH_MINIMIZE_FAILED;
    if (th_cli_trials_begin(&m->trials, &at_once) != TH_OK) /* alone, it may not load */
        return tracer->found ? TH_MINIMIZE_NOT_REPEATED : TH_MINIMIZE_FAILED;
    m->asks = 1;
    how = m->kept.how;
    th_replay_kept_write(&m->kept, NULL, 0, &stream);
    if (at_once || crashes(m, &stream)) {
        *crash = m->trials.expected;
        return th_cli_minimize_show(m, &stream, &how, true, tracer) == TH_OK ? TH_MINIMIZE_DONE
                                                                             : TH_MINIMIZE_FAILED;
    }
    if (!repeats(m))
        return TH_MINIMIZE_NOT_REPEATED;
    *crash = m->trials.expected;
    if (!known && th_cli_minimize_find_tracer(m->trials.sessions, crash).found)
        return TH_MINIMIZE_OF_TRACER;
    stream.size = 0;
    confirmed = cut(m, &how, &stream);
    if (!confirmed && !m->trials.ended) {
        m->asks = 2;
        stream.size = 0;
        if (!repeats(m))
            return TH_MINIMIZE_NOT_REPEATED;
        confirmed = cut(m, &how, &stream);
    }
    return th_cli_minimize_show(m, &stream, &how, confirmed, tracer) == TH_OK ? TH_MINIMIZE_DONE
                                                                              : TH_MINIMIZE_FAILED;
}
