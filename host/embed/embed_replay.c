/* Replays streams into the sessions. */
#include "embed_host.h"

#include "host/base/buffer.h"
#include "host/crash/crash.h"
#include "host/replay/player.h"
#include "host/replay/reader.h"
#include "host/self/self.h"

#include <string.h>

enum { PROGRESS_RECORDS = 16 };

struct tracehost_replay {
    tracehost_host *host;
    tracehost_stream *stream;
    struct th_player *player;
    struct tracehost_replay_options options;
    struct th_player_options play;
    struct th_player_counts counts;
};

/* --- Beginning and ending --------------------------------------------------------------------- */

static enum th_status read_bound(const struct tracehost_bound *given, struct th_time_bound *bound)
{
    if ((unsigned)given->kind > TRACEHOST_BOUND_ABSOLUTE)
        return th_error_raise(TH_USAGE,
                              "the kind of a bound must be a tracehost_bound_kind, not %d",
                              (int)given->kind);
    *bound = (struct th_time_bound){
        .set = given->kind != TRACEHOST_BOUND_NONE,
        .relative = given->kind == TRACEHOST_BOUND_RELATIVE,
        .ns = given->time,
    };
    return TH_OK;
}

enum tracehost_status tracehost_replay_begin(tracehost_host *host, tracehost_stream *stream,
                                             const struct tracehost_replay_options *options,
                                             tracehost_replay **replay)
{
    tracehost_replay *made;
    enum th_status status = th_embed_check_outside(host)
                                ?: th_embed_need(stream, "stream")
                                ?: th_embed_need(replay, "result");

    if (status == TH_OK && host->replay)
        status = th_error_raise(TH_USAGE, "cannot begin the replay: another replay has not ended");
    status = status ?: th_embed_enter();
    if (status != TH_OK)
        return th_embed_answer(status);
    made = th_alloc_zero(sizeof *made);
    status = th_embed_sized_take(&made->options, sizeof made->options, options,
                                 "tracehost_replay_options")
                 ?: read_bound(&made->options.from, &made->play.from)
                 ?: read_bound(&made->options.to, &made->play.to);
    if (status == TH_OK && made->options.min_duration < 0)
        status = th_error_raise(TH_USAGE, "the minimum of durations must not be negative");
    if (status != TH_OK) {
        th_free(made);
        return th_embed_answer(status);
    }
    made->play.max_records =
        (struct th_limit){made->options.max_events != 0, made->options.max_events};
    made->play.verify = made->options.verify;
    made->play.calls = (struct th_call_filter_options){
        .least_ns = made->options.min_duration,
        .most_deep = made->options.depth,
        .execution.frames = host->frames,
        .recorded_callers = host->recorded_callers,
    };
    made->host = host;
    made->stream = stream;
    made->player =
        th_replay_player_begin(host->tracing, stream->reader, &made->play, &made->counts);
    host->replay = made;
    stream->replayed = true;
    if (host->guard)
        th_crash_set_stream(&th_replay_reader_info(stream->reader)->file);
    *replay = made;
    return TRACEHOST_OK;
}

enum tracehost_status tracehost_replay_end(tracehost_replay *replay)
{
    enum th_status status = replay ? th_embed_check_outside(replay->host) : TH_OK;

    if (status != TH_OK || !replay)
        return th_embed_answer(status);
    if (replay->host->guard)
        th_crash_set_stream(NULL);
    replay->stream->replayed = false;
    replay->stream->latest = NULL;
    replay->host->replay = NULL;
    th_replay_player_end(replay->player);
    th_free(replay);
    return TRACEHOST_OK;
}

/* --- Playing ---------------------------------------------------------------------------------- */

static enum th_status begin_step(const tracehost_replay *replay)
{
    return th_embed_need(replay, "replay")
           ?: th_embed_check_outside(replay->host)
           ?: th_embed_enter();
}

static enum th_status step_replay(tracehost_replay *replay, struct th_event **event)
{
    enum th_status status;

    if (th_embed_stream_stopped(replay->stream))
        return TH_END;
    status = th_replay_player_step(replay->player, event);
    if (__builtin_expect(th_memory_refused, 0))
        status = th_embed_refused(status);
    else if (__builtin_expect(th_memory_is_short(), 0) && status != TH_END)
        status = th_error_raise(TH_FAILED, "out of memory");
    replay->stream->latest = status == TH_OK ? *event : NULL;
    return status;
}

enum tracehost_status tracehost_replay_step(tracehost_replay *replay,
                                            struct tracehost_record *record)
{
    struct th_event *event;
    enum th_status status = begin_step(replay);

    if (status == TH_OK && record)
        status = th_embed_sized_check(record, "tracehost_record");
    if (status != TH_OK)
        return th_embed_answer(status);
    status = step_replay(replay, &event);
    if (status == TH_OK && record)
        th_embed_record_give(record, event);
    return th_embed_answer(status);
}

static void call_program(tracehost_replay *replay,
                         void (*function)(void *context, tracehost_replay *replay))
{
    if (!function)
        return;
    th_self.embed_depth++;
    function(replay->options.context, replay);
    th_self.embed_depth--;
}

enum tracehost_status tracehost_replay_play(tracehost_replay *replay)
{
    struct th_buffer first = {0}; /* text of the first damage, for the final error */
    struct th_event *event;
    enum th_status status = begin_step(replay);

    if (status != TH_OK)
        return th_embed_answer(status);
    while ((status = step_replay(replay, &event)) != TH_END && status != TH_FAILED) {
        if (status != TH_OK) {
            if (!first.size) {
                size_t length = tracehost_error_text(NULL, 0);
                tracehost_error_text((char *)th_buffer_reserve(&first, length + 1), length + 1);
                first.size = length;
            }
            call_program(replay, replay->options.damage);
            th_error_clear();
        }
        if (replay->counts.records % PROGRESS_RECORDS == 0)
            call_program(replay, replay->options.progress);
    }
    if (status == TH_END)
        status = TH_OK;
    if (status == TH_OK && first.size) {
        th_error_raise(TH_PARTIAL, "%s", th_buffer_text(&first));
        status = th_error_context("%s is damaged: of %llu records %llu were skipped, and the "
                                  "stream is truncated or damaged in %llu places",
                                  strcmp(replay->stream->name, "-") == 0 ? "stdin"
                                                                         : replay->stream->name,
                                  (unsigned long long)replay->counts.records,
                                  (unsigned long long)replay->counts.malformed,
                                  (unsigned long long)replay->counts.damages);
    }
    th_buffer_free(&first);
    return th_embed_answer(status);
}

enum tracehost_status tracehost_replay_get_counts(const tracehost_replay *replay,
                                                  struct tracehost_replay_counts *counts)
{
    const struct th_call_filter_counts *calls;
    struct tracehost_replay_counts known;
    enum th_status status = th_embed_need(replay, "replay");

    if (status != TH_OK)
        return th_embed_answer(status);
    calls = &replay->counts.calls;
    known = (struct tracehost_replay_counts){
        .records = replay->counts.records,
        .played = replay->counts.played,
        .skipped = replay->counts.skipped,
        .drops = replay->counts.drops,
        .lost = replay->counts.lost,
        .malformed = replay->counts.malformed,
        .damages = replay->counts.damages,
        .short_calls = calls->short_calls,
        .deep_calls = calls->deep_calls,
        .left_ends = calls->left_ends,
        .unended = calls->unended,
        .shallow = calls->shallow,
        .untimed = calls->untimed,
        .held_most = calls->overflowed,
        .doubtful = calls->doubtful,
        .unmatched = calls->unmatched,
    };
    return th_embed_sized_answer(counts, &known, sizeof known, "tracehost_replay_counts");
}
