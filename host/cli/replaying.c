/* Plays recorded streams into tracers. */
#include "replaying.h"

#include "interrupt.h"
#include "resume.h"
#include "shards.h"
#include "smallest_crash.h"
#include "subcommand.h"
#include "trace_summary.h"

#include "host/base/buffer.h"
#include "host/base/log.h"
#include "host/check/check.h"
#include "host/cli/top/top.h"
#include "host/crash/crash.h"
#include "host/library/load.h"
#include "host/process/process.h"
#include "host/replay/player.h"
#include "host/replay/reader.h"
#include "host/runtime/poll/select.h"
#include "host/term/clock.h"
#include "host/trace/recorded/recordings.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A stream being played. */
struct playing {
    struct th_stream stream;
    struct th_replaying *replay;
    struct th_tracing *tracing;
    const struct th_player_counts *played;
    bool refused; /* refused as a stream of another node */
    bool failed;  /* shares could not be merged */
};

/* --- Playing ---------------------------------------------------------------------------------- */

static void complain(void *context)
{
    struct playing *playing = context;
    bool common = th_crash_set_common(true);

    if (th_error_status() != TH_USAGE) {
        th_cli_stream_complain(&playing->stream);
    } else {
        playing->refused = true;
        th_cli_command_flush();
        th_cli_progress_hide(&playing->stream.progress);
        th_cli_command_fail(playing->stream.command);
    }
    th_crash_set_common(common);
}

/* Refuses FILE if SET is a wrap set that contains it, as a shell's NAME*TAIL gives all files. */
static enum th_status refuse_twice(const char *set, const char *file)
{
    size_t files, one;

    if (th_replay_reader_reads_once(set, &files) || files == 1 ||
        th_replay_reader_reads_once(file, &one) || !th_replay_reader_would_read(set, file))
        return TH_OK;
    th_error_raise(TH_USAGE, "give only %s", set);
    return th_error_context("%s would be read twice: %s stands for a wrap set that contains it",
                            file, set);
}

/* Decides whether two connections are merged. Checks that merged files can be. */
static enum th_status check_merge(struct th_replaying *replay)
{
    const char *const *names = (const char *const *)replay->streams.items;
    const struct th_reader_options how = {.stop = &th_cli_interrupted};
    struct th_reader *reader;
    enum th_status status;
    size_t files;

    replay->merged |= th_cli_stream_are_live(names, replay->streams.count);
    if (!replay->merged)
        return TH_OK;
    if (replay->minimize)
        return th_error_raise(TH_USAGE, "--on-crash=minimize needs streams of one node");
    for (size_t i = 0; i < replay->streams.count; i++)
        if (th_replay_reader_reads_once(names[i], &files))
            return TH_OK;
    status = th_replay_reader_merge(names, replay->streams.count, &how, &reader);
    th_replay_reader_close(reader);
    return status;
}

/* Checks that the files are readable and read once, before a tracer is loaded, and decides whether
 * the streams are merged: streams of several nodes, and several connections. A single stream needs
 * no such check: it is opened before its tracers begin. */
static enum th_status check_streams(struct th_replaying *replay)
{
    struct th_etf_node *nodes = th_alloc((replay->streams.count + 1) * sizeof *nodes);
    enum th_status status = TH_OK;

    for (size_t i = 0; i < replay->streams.count && status == TH_OK; i++)
        status = th_cli_stream_check_stdout(replay->streams.items[i]);
    for (size_t i = 0; i < replay->streams.count && replay->streams.count > 1 && status == TH_OK;
         i++) {
        const char *name = replay->streams.items[i];
        status = th_replay_reader_peek(name, &nodes[i]);
        for (size_t before = 0; before < i && status == TH_OK; before++) {
            const char *other = replay->streams.items[before];
            replay->merged |= th_recorded_streams_other_node(&nodes[i], &nodes[before]);
            status = refuse_twice(other, name) ?: refuse_twice(name, other);
        }
    }
    th_free(nodes);
    return status == TH_OK ? check_merge(replay) : status;
}

/* Names of the counts: first those of the position, then those of losses. */
static const char *const shown_names[] = {
    "bytes",
    "size",
    "records",
    "played",
    "recorder_dropped",
    "gaps",
    "malformed",
    "damages",
    "untimed",
    "calls_forgotten",
    "callers_disputed",
    "frames_not_kept",
    "returns_late",
    "returns_unmatched",
    "returns_repaired",
    "frames_lost",
};
enum { OF_READER = 2, OF_POSITION = 4 };

static void show_position(const struct playing *playing)
{
    static const struct th_reader_info nothing;
    const struct th_reader *reader = playing->stream.reader;
    const struct th_reader_info *info = reader ? th_replay_reader_info(reader) : &nothing;
    const struct th_player_counts *played = playing->played;
    const struct th_execution_counts e = th_trace_execution_counts(playing->tracing);
    const uint64_t now[] = {
        info->bytes,
        info->size,
        played->records,
        played->played,
        played->lost,
        played->gaps,
        played->malformed,
        played->damages,
        played->untimed,
        th_trace_calls_forgotten(playing->tracing),
        e.callers_disputed,
        e.not_kept,
        e.late,
        e.wanted ? e.unmatched : 0,
        e.wanted ? e.repaired : 0,
        e.lost,
    };
    _Static_assert(sizeof now / sizeof now[0] == TH_REPLAYING_SHOWN &&
                       sizeof shown_names / sizeof shown_names[0] == TH_REPLAYING_SHOWN,
                   "a count each");

    for (size_t i = reader ? 0 : OF_READER; i < TH_REPLAYING_SHOWN; i++)
        atomic_store_explicit(&playing->replay->shown[i], now[i], memory_order_relaxed);
}

/* Publishes the position and runs a task of another thread. Called between records, before a wait
 * for bytes, and twice a second during a wait. */
static void replaying_look_up(void *context)
{
    struct playing *playing = context;

    show_position(playing);
    th_control_main_thread_look(&playing->replay->main_thread);
}

/* A barrier, if NOW or if it is time for one. If the player has given the stream up, nobody has got the record that was
 * read last. */
static void mark_position(struct playing *playing, bool now)
{
    if (playing->played->damages == 0)
        th_cli_resume_mark(playing->replay, playing->tracing, playing->stream.reader, now);
}

static void wait_at_position(void *context)
{
    struct playing *playing = context;

    th_cli_resume_flush(playing->replay);
    mark_position(playing, false);
}

static void mark_end(void *context)
{
    mark_position(context, true);
}

static void progress(void *context)
{
    struct playing *playing = context;

    mark_position(playing, false);
    if (playing->replay->trace.control)
        replaying_look_up(playing);
    th_cli_stream_step(&playing->stream);
}

static bool replaying_has_more(void *context, struct th_recording *recording)
{
    const struct playing *playing = context;

    return th_cli_shards_has_more(playing->replay->shares, recording);
}

static bool replaying_passes_on(void *context)
{
    const struct playing *playing = context;

    return th_cli_shards_passes_on(playing->replay->shares);
}

/* Appends a time to TEXT in the form of the options: "1.5s", "@1795233754.349". */
static const char *print_time(struct th_buffer *text, bool relative, int64_t ns)
{
    th_buffer_printf(text, "%s%.9Lf", relative ? "" : "@", (long double)ns / 1e9L);
    while (text->data[text->size - 1] == '0')
        text->size--;
    text->size -= text->data[text->size - 1] == '.';
    th_buffer_add_byte(text, 's');
    return th_buffer_text(text);
}

/* Warns if the streams had no records though no limit was set, about events without a time, and if
 * --from and --to left out all events. */
static void tell_unplayed(const struct th_replaying *replay, const struct th_player_counts *played)
{
    const struct th_time_bound *from = &replay->play.from, *to = &replay->play.to;
    bool relative = from->set ? from->relative : to->relative;
    const struct th_time_span *times = &played->skipped_times[relative];
    struct th_buffer first = {0}, last = {0};

    if (!played->records && !replay->play.max_records.set && !replay->play.max_events.set &&
        !replay->stream.resume && replay->opened && !th_cli_interrupt_came())
        th_warn("there are no records in %s", replay->streams.count == 1
                                                  ? th_cli_stream_title(replay->streams.items[0])
                                                  : "the streams");
    if (played->untimed)
        th_warn("events without a time, played despite --from and --to: %llu",
                (unsigned long long)played->untimed);
    if (played->played || played->passed_inside || !times->known)
        return;
    th_warn("no event is %s; there are events from %s to %s",
            !to->set     ? "at --from or after"
            : !from->set ? "at --to or before"
                         : "between --from and --to",
            print_time(&first, relative, times->first), print_time(&last, relative, times->last));
    th_buffer_free(&first);
    th_buffer_free(&last);
}

/* Prints the counts of all events (--stats); the replay took SECONDS. */
static void show_stats(const struct th_replaying *replay, const struct th_tracing *tracing,
                       const struct th_player_counts *played, double seconds)
{
    size_t shares = th_cli_shards_merged(replay->shares);
    const struct {
        uint64_t count;
        const char *what;
        bool always;
    } rows[] = {
        {played->records, "records read", true},
        {played->passed, "records passed over by the index, as no tracer can get them", false},
        {played->frames, "frames of packed recordings", false},
        {played->frames_read, "frames that were read", played->frames > 0},
        {played->played, "events played", true},
        {played->skipped, "events outside of --from and --to", true},
        {played->untimed, "events without a time, played despite --from and --to", false},
        {played->malformed, "records skipped, as they are damaged", true},
        {played->damages, "places where a stream is truncated or damaged", true},
        {played->lost, "events dropped by the recorder", true},
        {played->gaps, "places where an unknown number of events was lost", false},
        {played->tracees, "tracees seen", true},
    };

    th_crash_set_common(true);
    fprintf(stderr, "played in %.3f s, %.0f records/s", seconds,
            seconds > 0 ? (double)played->records / seconds : 0);
    if (replay->shards > 1 || replay->merge)
        fprintf(stderr, ", in %zu share%s", shares, th_log_plural(shares));
    fputc('\n', stderr);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].always || rows[i].count)
            th_cli_trace_stats_row(rows[i].count, rows[i].what);
    th_cli_bounds_tell(replay, &played->calls);
    th_crash_set_common(false);
    th_cli_trace_summary(NULL, tracing);
}

/* A process that follows a dead one may have to begin within the stream (replay/spool.h). */
static enum th_status check_beginning(const struct th_player_options *play,
                                      struct th_stream *stream)
{
    uint64_t missing = th_replay_reader_info(stream->reader)->missing;

    if (!missing)
        return TH_OK;
    th_cli_stream_say(stream,
                      "the first %llu bytes are not kept any more: processes, names and calls that "
                      "began there are unknown",
                      (unsigned long long)missing);
    if ((play->from.set && play->from.relative) || (play->to.set && play->to.relative))
        return th_error_raise(TH_FAILED, "--from and --to count from the first record, which is "
                                         "not kept any more: use times of the clock, @T");
    return TH_OK;
}

static int play_stream(struct th_replaying *replay, struct th_tracing *tracing, size_t number,
                       struct th_player_counts *played)
{
    const char *name = replay->streams.items[number];
    struct playing playing = {
        .stream = {.command = replay->command,
                   .name = name,
                   .names = replay->merged ? (const char *const *)replay->streams.items : NULL,
                   .count = replay->streams.count,
                   .options = &replay->stream},
        .replay = replay,
        .tracing = tracing,
        .played = played,
    };
    struct th_stream *stream = &playing.stream;
    const struct th_reader_info *info;
    int status;

    if (replay->trace.control) {
        stream->idle = replaying_look_up;
        stream->idle_context = &playing;
    }
    if (replay->stream.resume) {
        stream->idle = wait_at_position;
        stream->ending = mark_end;
        stream->idle_context = &playing;
    }
    if (replay->minimize)
        th_cli_minimize_watch(replay->minimize, number, stream);
    atomic_store_explicit(&replay->shown_stream, name, memory_order_relaxed);
    th_crash_set_place(th_crash_stream_place(number));
    th_crash_set_common(true);
    status = th_cli_stream_open(stream);
    th_crash_set_common(false);
    if (status != TH_OK)
        return status;
    if (check_beginning(&replay->play, stream) != TH_OK) {
        th_replay_reader_close(stream->reader);
        return th_cli_command_fail(replay->command);
    }
    replay->opened++;
    th_cli_resume_begin(replay, stream->reader);
    th_trace_go(tracing);
    th_crash_set_stream(&th_replay_reader_info(stream->reader)->file);
    if (replay->shares) {
        th_cli_shards_limit(replay->shares, tracing, stream->reader, &replay->play, played);
        replay->play.has_more = replaying_has_more;
        replay->play.passes_on = replaying_passes_on;
    }
    th_replay_play(tracing, stream->reader, &replay->play, &th_cli_interrupted, complain, &playing,
                   played);
    mark_position(&playing, true);
    th_crash_set_stream(NULL);
    th_crash_end_child();
    if (th_cli_shards_deliver(replay->shares) != TH_OK)
        playing.failed = th_cli_command_fail(replay->command);
    th_crash_set_place(th_crash_stream_place(number) | TH_CRASH_STREAM_END);
    th_crash_set_common(true);
    replay->interrupted |= played->interrupted && th_replay_reader_info(stream->reader)->size > 0;
    show_position(&playing);
    info = th_replay_reader_info(stream->reader);
    if (info->drops)
        th_cli_stream_say(
            stream, "the recorder dropped %llu event%s%s", (unsigned long long)info->drops,
            th_log_plural(info->drops),
            info->live && !th_replay_node_is_name(stream->name)
                ? "; a longer queue, as dbg:trace_port(ip, {PORT, 5000}) makes, drops fewer"
                : "");
    if (info->gaps)
        th_cli_stream_say(stream, "an unknown number of events was lost in %llu place%s",
                          (unsigned long long)info->gaps, th_log_plural(info->gaps));
    status = th_cli_stream_close(stream);
    th_crash_set_common(false);
    if (playing.failed || replay->unmarked)
        return TH_FAILED;
    return playing.refused ? TH_USAGE : status;
}

/* Each warning has a place of its own, as several processes may give it for their sessions. */
static void warn_at_end(struct th_replaying *replay, struct th_tracing *tracing,
                        const struct th_player_counts *played, bool refused)
{
    const struct th_control_session_options *sessions = &replay->trace.sessions;

    th_crash_next_place();
    th_crash_set_common(true);
    if (!refused)
        tell_unplayed(replay, played);
    if (!replay->trace.stats)
        th_cli_bounds_tell(replay, &played->calls);
    th_crash_set_common(false);
    th_crash_next_place();
    if (replay->opened)
        th_control_session_options_report_uncalled(sessions, tracing);
    th_crash_next_place();
    if (replay->opened && !sessions->items[sessions->count - 1].follows)
        th_control_sessions_report_unmet(tracing);
    th_crash_next_place();
    if (played->played || played->passed_inside)
        th_control_session_options_report_unmatched(sessions, tracing);
    th_crash_next_place();
}

/* Plays the streams in order. If one cannot be read, the others are still played. */
static int play_all(struct th_replaying *replay, struct th_tracing *tracing)
{
    const struct th_limit *limit = &replay->play.max_events;
    struct th_player_counts played = {0};
    int64_t began = th_clock_real_monotonic();
    double seconds;
    int worst = TH_OK;

    for (size_t i = 0;
         i < (replay->merged ? 1 : replay->streams.count) && !th_cli_interrupt_came() &&
         (i == 0 || !limit->set || played.told < limit->count);
         i++) {
        int status = play_stream(replay, tracing, i, &played);
        if (worst == TH_OK || status == TH_MALFORMED || status == TH_USAGE)
            worst = status;
        if (status == TH_USAGE)
            break;
    }
    th_control_host_end(&replay->control); /* the results read sessions without the lock */
    seconds = (double)(th_clock_real_monotonic() - began) / 1e9;
    th_top_wait();
    th_top_end();
    th_crash_set_place(TH_CRASH_RESULTS);
    th_cli_trace_results(tracing, replay->trace.json, replay->is_part);
    th_cli_command_flush();
    warn_at_end(replay, tracing, &played, worst == TH_USAGE);
    if (replay->trace.stats)
        show_stats(replay, tracing, &played, seconds);
    else
        th_cli_trace_summary(replay->command, tracing);
    if (worst == TH_OK && replay->fail_on_loss &&
        (played.lost || played.gaps || th_trace_calls_forgotten(tracing) ||
         th_trace_execution_counts(tracing).not_kept))
        worst = TH_PARTIAL;
    return worst;
}

void th_cli_replaying_ask_nodes(struct th_replaying *replay)
{
    struct th_control_session_options *sessions = &replay->trace.sessions;
    bool asked = th_cli_node_ask(replay->command, &replay->stream, replay->streams.items,
                                 replay->streams.count, sessions);

    for (size_t i = 0; asked && i < sessions->count; i++)
        for (size_t k = 0; k < sessions->items[i].patterns.count; k++)
            replay->recorded_callers |= sessions->items[i].patterns.items[k].callers;
}

/* --- Outputs of tracers ----------------------------------------------------------------------- */

const char *th_cli_replaying_stream_at(const struct th_replaying *replay, const char *path)
{
    for (size_t i = 0; i < replay->streams.count; i++)
        if (th_replay_reader_would_read(replay->streams.items[i], path))
            return replay->streams.items[i];
    return NULL;
}

/* A tracer must not write to a stream that is read at the same time. */
static enum th_status check_output(void *replay, const char *path)
{
    const char *stream = th_cli_replaying_stream_at(replay, path);

    return stream ? th_error_raise(TH_USAGE, "the output would overwrite the stream %s",
                                   th_cli_stream_title(stream))
                  : TH_OK;
}

/* --- Under control ---------------------------------------------------------------------------- */

static void replaying_tell_status(void *context, json_t *status)
{
    const struct th_replaying *replay = context;
    const char *stream = atomic_load_explicit(&replay->shown_stream, memory_order_relaxed);
    json_t *position = json_pack("{s:s?}", "stream", stream);

    json_object_set_new(status, "replay", position);
    for (size_t i = 0; i < TH_REPLAYING_SHOWN; i++) {
        uint64_t count = atomic_load_explicit(&replay->shown[i], memory_order_relaxed);
        json_object_set_new(i < OF_POSITION ? position : json_object_get(status, "lost"),
                            shown_names[i], json_integer((json_int_t)count));
    }
}

static void add_process(void *context, const struct th_recorded_process *process)
{
    if (process->id != TH_NONE)
        json_array_append_new(
            context,
            json_pack("{s:o, s:o}", "pid", th_control_term(process->id), "name",
                      process->name == TH_NONE ? json_null() : th_control_term(process->name)));
}

static json_t *replaying_list_processes(void *context)
{
    json_t *list = json_array();

    (void)context;
    th_process_world_each(add_process, list);
    return list;
}

void th_cli_replaying_prepare(const struct th_replaying *replay, struct th_tracing *tracing)
{
    if (replay->check)
        th_check_start();
    th_crash_install();
    if (replay->wall_clock)
        th_trace_use_wall_clock(tracing);
    if (replay->recorded_callers)
        th_trace_use_recorded_callers(tracing);
    th_trace_use_execution(tracing, &replay->execution);
}

/* Reports that no stream was played, and returns the status. Without --isolate the first failure is the
 * only one; but it is not that of a process that plays again. */
static int fail_at_begin(const struct th_replaying *replay)
{
    int status;

    if (th_crash_is_successor())
        th_crash_set_place(UINT64_MAX);
    th_crash_set_common(!th_crash_is_successor());
    status = th_cli_command_fail(replay->command);
    th_crash_set_common(false);
    return status;
}

int th_cli_replaying_run(struct th_replaying *replay)
{
    struct th_tracing *tracing;
    int status;

    if (check_streams(replay) != TH_OK || th_cli_shards_fork(replay, &replay->shares) != TH_OK)
        return fail_at_begin(replay);
    if (th_cli_shards_is_child(replay->shares))
        replay->stream.progress = TH_PROGRESS_NEVER;
    tracing = th_trace_create();
    th_trace_check_outputs(tracing, check_output, replay);
    replay->play.progress = progress;
    replay->play.is_left_out = th_crash_is_successor() ? th_crash_is_left_out : NULL;
    replay->play.part = true;
    replay->play.calls.execution = replay->execution;
    replay->play.calls.recorded_callers = replay->recorded_callers;
    replay->play.stays = replay->trace.control;
    th_cli_interrupt_install();
    if (replay->trace.control || replay->trace.watch || replay->trace.top)
        th_trace_share(tracing); /* another thread changes, or reads, the tracing */
    th_cli_replaying_prepare(replay, tracing);
    if (replay->minimize)
        th_cli_minimize_guard(replay->minimize);
    th_control_main_thread_begin(&replay->main_thread);
    replay->control = (struct th_control_host){
        .program = replay->command,
        .tracing = tracing,
        .tell = replaying_tell_status,
        .main_thread = &replay->main_thread,
        .processes = replaying_list_processes,
        .context = replay,
    };
    status = th_options_trace_options_begin(&replay->trace, &replay->control);
    if (status == TH_OK && (status = th_cli_shards_check(replay->shares, tracing)) == TH_OK)
        status = th_cli_resume_check_tracers(replay, tracing);
    status = status == TH_OK ? play_all(replay, tracing) : fail_at_begin(replay);
    th_control_host_end(&replay->control);
    th_cli_shards_end(replay->shares, status);
    th_cli_interrupt_explain(replay->command);
    th_crash_set_place(UINT64_MAX);
    th_library_halt();
    th_poll_select_end();   /* a selected descriptor keeps its tracer loaded */
    th_trace_free(tracing); /* tracers write their last data */
    th_crash_end();
    if (replay->check && th_check_end() > 0 && status == TH_OK)
        status = TH_FAILED;
    return th_cli_interrupt_status(th_cli_command_finish(replay->command, status));
}
