/* Recorded streams into tracers. */
#include "replaying.h"

#include "interrupt.h"
#include "host/cli/top/top.h"
#include "trace_summary.h"

#include "host/crash/crash.h"
#include "host/process/process.h"
#include "host/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A stream that is played. */
struct playing {
    struct th_stream stream;
    struct th_replaying *replay;
    const struct th_tracing *tracing;
    const struct th_player_counts *played;
    bool refused; /* it is of another node than the streams before it */
};

/* Of all streams together. */
struct totals {
    struct th_player_counts played;
    double seconds;
};

/* --- from, to, max-events, max-records --- */

static enum th_status take_bound(const struct th_argument *argument, const char *value, void *input)
{
    struct th_time_bound *bound = (struct th_time_bound *)((char *)input + argument->into);

    bound->set = true;
    bound->relative = *value != '@';
    return th_control_argument_number(argument, value + (*value == '@'), &bound->ns);
}

/* Of the same kind, they can be compared before there is a time. */
enum th_status th_cli_bounds_check(void *input)
{
    const struct th_player_options *play = input;

    if (play->from.set && play->to.set && play->from.relative == play->to.relative &&
        play->from.ns > play->to.ns)
        return th_error_raise(TH_USAGE, "--from is after --to: no event is between them");
    return TH_OK;
}

const struct th_argument th_cli_bounds_arguments[] = {
    TH_OPTION("from", "T", TIME, 2, "Leave out events before T", .take = take_bound,
              TH_INTO(struct th_player_options, from)),
    TH_OPTION("to", "T", TIME, 2, "Leave out events after T", .take = take_bound,
              TH_INTO(struct th_player_options, to)),
    TH_OPTION("max-events", "N", NUMBER, 90,
              "Stop after N events that a tracer was told of, in all streams together",
              .take = th_cli_limit_take, TH_INTO(struct th_player_options, max_events)),
    TH_OPTION("max-records", "N", NUMBER, 90, "Stop after N records of each stream",
              .take = th_cli_limit_take, TH_INTO(struct th_player_options, max_records)),
    {0},
};

/* --- the work --- */

static void complain(void *context)
{
    struct playing *playing = context;

    if (th_error_status() != TH_USAGE) {
        th_cli_stream_complain(&playing->stream);
        return;
    }
    playing->refused = true;
    th_cli_command_flush();
    th_cli_progress_hide(&playing->stream.progress);
    th_cli_command_fail(playing->stream.command);
}

/* Files are found readable, and tell their nodes, before a tracer is loaded. One stream alone is
 * opened before its tracers begin. */
static enum th_status check_streams(const struct th_replaying *replay)
{
    struct th_etf_node *nodes = th_alloc((replay->streams.count + 1) * sizeof *nodes);
    enum th_status status = TH_OK;

    for (size_t i = 0; i < replay->streams.count && status == TH_OK; i++)
        status = th_cli_stream_check_stdout(replay->streams.items[i]);
    for (size_t i = 0; i < replay->streams.count && replay->streams.count > 1 && status == TH_OK;
         i++) {
        status = th_replay_reader_peek(replay->streams.items[i], &nodes[i]);
        for (size_t before = 0; before < i && status == TH_OK; before++)
            status = th_recorded_streams_match_nodes(replay->streams.items[i], &nodes[i],
                                                     replay->streams.items[before], &nodes[before]);
    }
    th_free(nodes);
    return status;
}

static void show(_Atomic uint64_t *shown, uint64_t value)
{
    atomic_store_explicit(shown, value, memory_order_relaxed);
}

/* Notes the counts of calls that th_cli_trace_summary() reports. */
static void show_execution(const struct playing *playing)
{
    struct th_execution_counts counts = th_trace_execution_counts(playing->tracing);
    struct shown *shown = &playing->replay->shown;

    show(&shown->calls_forgotten, th_trace_calls_forgotten(playing->tracing));
    show(&shown->callers_disputed, counts.callers_disputed);
    show(&shown->frames_not_kept, counts.not_kept);
    show(&shown->returns_late, counts.late);
    show(&shown->returns_unmatched, counts.wanted ? counts.unmatched : 0);
    show(&shown->returns_repaired, counts.wanted ? counts.repaired : 0);
    show(&shown->frames_lost, counts.lost);
}

static void show_position(const struct playing *playing)
{
    const struct th_reader *reader = playing->stream.reader;
    const struct th_player_counts *played = playing->played;
    struct shown *shown = &playing->replay->shown;

    if (reader) {
        show(&shown->size, th_replay_reader_info(reader)->size);
        show(&shown->bytes, th_replay_reader_info(reader)->bytes);
    }
    show(&shown->records, played->records);
    show(&shown->played, played->played);
    show(&shown->malformed, played->malformed);
    show(&shown->lost, played->lost);
    show(&shown->damages, played->damages);
    show(&shown->untimed, played->untimed);
    show(&shown->gaps, played->gaps);
    show_execution(playing);
}

/* Between two records; before a wait for bytes, and twice a second during it. */
static void look_up(void *context)
{
    struct playing *playing = context;

    show_position(playing);
    th_control_main_thread_look(&playing->replay->main_thread);
}

static void progress(void *context)
{
    struct playing *playing = context;

    if (playing->replay->trace.control)
        look_up(playing);
    th_cli_stream_step(&playing->stream);
}

static void tell_loss(struct th_stream *stream)
{
    uint64_t lost = th_replay_reader_info(stream->reader)->drops;
    uint64_t gaps = th_replay_reader_info(stream->reader)->gaps;

    if (!lost && !gaps)
        return;
    th_cli_progress_hide(&stream->progress);
    th_cli_command_flush();
    if (lost)
        fprintf(stderr, "tracehost %s: %s: the recorder dropped %llu event%s\n", stream->command,
                th_cli_stream_title(stream->name), (unsigned long long)lost, th_log_plural(lost));
    if (gaps)
        fprintf(stderr,
                "tracehost %s: %s: events were lost in %llu place%s, nobody knows how many\n",
                stream->command, th_cli_stream_title(stream->name), (unsigned long long)gaps,
                th_log_plural(gaps));
}

/* As an option has it: "1.5s", "@1795233754.349". Owner: the caller. */
static char *time_text(bool relative, int64_t ns)
{
    struct th_buffer text = {0};
    char *copy;

    th_buffer_printf(&text, "%s%.9Lf", relative ? "" : "@", (long double)ns / 1e9L);
    while (text.data[text.size - 1] == '0')
        text.size--;
    text.size -= text.data[text.size - 1] == '.';
    copy = th_printf("%.*ss", (int)text.size, (const char *)text.data);
    th_buffer_free(&text);
    return copy;
}

/* Warns if --from and --to have left out all, or could leave out nothing. */
static void tell_bounds(const struct th_replaying *replay, const struct th_player_counts *played)
{
    const struct th_time_bound *from = &replay->play.from, *to = &replay->play.to;
    bool relative = from->set ? from->relative : to->relative;
    const struct th_time_span *times = &played->skipped_times[relative];
    char *first, *last;

    if (played->untimed)
        th_warn("events without a time, which --from and --to do not leave out: %llu",
                (unsigned long long)played->untimed);
    if (played->played || !times->known)
        return;
    first = time_text(relative, times->first);
    last = time_text(relative, times->last);
    th_warn("no event is %s; there are events from %s to %s",
            !to->set     ? "at --from or after"
            : !from->set ? "at --to or before"
                         : "between --from and --to",
            first, last);
    th_free(first);
    th_free(last);
}

/* Nothing that a session could be told of, though nobody wanted so few. */
static void tell_unplayed(const struct th_replaying *replay, const struct th_player_counts *played)
{
    bool limited = replay->play.max_records.set || replay->play.max_events.set;

    if (!played->records && !limited && replay->opened && !th_cli_interrupt_came())
        th_warn("there are no records in %s", replay->streams.count == 1
                                                  ? th_cli_stream_title(replay->streams.items[0])
                                                  : "the streams");
    tell_bounds(replay, played);
}

/* What became of all events (--stats). */
static void show_stats(const struct th_tracing *tracing, const struct totals *totals)
{
    const struct th_player_counts *played = &totals->played;
    double seconds = totals->seconds;

    fprintf(stderr, "played in %.3f s, %.0f records/s\n", seconds,
            seconds > 0 ? (double)played->records / seconds : 0);
    th_cli_trace_stats_row(played->records, "records read");
    th_cli_trace_stats_row(played->played, "events played");
    th_cli_trace_stats_row(played->skipped, "events outside of --from and --to");
    if (played->untimed)
        th_cli_trace_stats_row(played->untimed,
                               "events without a time, which --from and --to do not leave out");
    th_cli_trace_stats_row(played->malformed, "records skipped, as they are damaged");
    th_cli_trace_stats_row(played->damages, "places where a stream is cut off or damaged");
    th_cli_trace_stats_row(played->lost, "events dropped by the recorder");
    if (played->gaps)
        th_cli_trace_stats_row(played->gaps, "places where nobody knows how many events were lost");
    th_cli_trace_stats_row(played->tracees, "tracees seen");
    th_cli_trace_summary(NULL, tracing);
}

static int play_stream(struct th_replaying *replay, struct th_tracing *tracing, const char *name,
                       struct totals *totals)
{
    struct playing playing = {
        .stream = {.command = replay->command, .name = name, .options = &replay->stream},
        .replay = replay,
        .tracing = tracing,
        .played = &totals->played,
    };
    struct th_stream *stream = &playing.stream;
    int status;

    if (replay->trace.control) {
        stream->idle = look_up;
        stream->idle_context = &playing;
    }
    atomic_store_explicit(&replay->shown.stream, name, memory_order_relaxed);
    status = th_cli_stream_open(stream);
    if (status != TH_OK)
        return status;
    replay->opened++;
    th_trace_go(tracing);
    th_crash_set_stream(&th_replay_reader_info(stream->reader)->file);
    th_replay_play(tracing, stream->reader, &replay->play, &th_cli_interrupted, complain, &playing,
                   &totals->played);
    th_crash_set_stream(NULL);
    th_crash_end_child();
    replay->interrupted |=
        totals->played.interrupted && th_replay_reader_info(stream->reader)->size > 0;
    show_position(&playing);
    tell_loss(stream);
    status = th_cli_stream_close(stream);
    return playing.refused ? TH_USAGE : status;
}

static bool is_enough(const struct th_replaying *replay, const struct totals *totals)
{
    const struct th_limit *limit = &replay->play.max_events;

    return limit->set && totals->played.told >= limit->count;
}

/* The streams in turn; one that has become unreadable does not keep the others from being played.
 */
static int play_all(struct th_replaying *replay, struct th_tracing *tracing)
{
    struct totals totals = {0};
    int64_t began = th_clock_real_monotonic();
    int worst = TH_OK;

    for (size_t i = 0; i < replay->streams.count && !th_cli_interrupt_came() &&
                       (i == 0 || !is_enough(replay, &totals));
         i++) {
        int status = play_stream(replay, tracing, replay->streams.items[i], &totals);
        if (worst == TH_OK || status == TH_MALFORMED || status == TH_USAGE)
            worst = status;
        if (status == TH_USAGE)
            break;
    }
    th_control_host_end(&replay->control); /* results look at sessions */
    totals.seconds = (double)(th_clock_real_monotonic() - began) / 1e9;
    th_top_wait();
    th_top_end();
    th_cli_trace_results(tracing, replay->trace.json);
    th_cli_command_flush();
    tell_unplayed(replay, &totals.played);
    th_control_session_options_tell_uncalled(&replay->trace.sessions, tracing);
    th_control_sessions_tell_unmet(tracing);
    if (totals.played.played)
        th_control_session_options_tell_unmatched(&replay->trace.sessions, tracing);
    if (replay->trace.stats)
        show_stats(tracing, &totals);
    else
        th_cli_trace_summary(replay->command, tracing);
    if (worst == TH_OK && replay->fail_on_loss &&
        (totals.played.lost || totals.played.gaps || th_trace_calls_forgotten(tracing) ||
         th_trace_execution_counts(tracing).not_kept))
        worst = TH_PARTIAL;
    return worst;
}

/* --- outputs of tracers --- */

/* Streams are read while tracers write. */
static enum th_status check_output(void *context, const char *path)
{
    const struct th_replaying *replay = context;

    for (size_t i = 0; i < replay->streams.count; i++)
        if (th_replay_reader_would_read(replay->streams.items[i], path))
            return th_error_raise(TH_USAGE, "it would write over the stream %s",
                                  th_cli_stream_title(replay->streams.items[i]));
    return TH_OK;
}

/* --- under control --- */

static void stop_as_told(void *context)
{
    (void)context;
    th_cli_interrupt_stop();
}

static json_t *shown_number(const _Atomic uint64_t *word)
{
    return json_integer((json_int_t)atomic_load_explicit(word, memory_order_relaxed));
}

static void tell_status(void *context, json_t *status)
{
    const struct th_replaying *replay = context;
    const struct shown *shown = &replay->shown;
    const char *stream = atomic_load_explicit(&shown->stream, memory_order_relaxed);
    json_t *position = json_object(), *lost = json_object_get(status, "lost");

    json_object_set_new(position, "stream", stream ? json_string(stream) : json_null());
    json_object_set_new(position, "bytes", shown_number(&shown->bytes));
    json_object_set_new(position, "size", shown_number(&shown->size));
    json_object_set_new(position, "records", shown_number(&shown->records));
    json_object_set_new(position, "played", shown_number(&shown->played));
    json_object_set_new(status, "replay", position);
    json_object_set_new(lost, "recorder_dropped", shown_number(&shown->lost));
#define SHOW(name) json_object_set_new(lost, #name, shown_number(&shown->name));
    SHOW(gaps)
    SHOW(malformed)
    SHOW(damages)
    SHOW(untimed)
    SHOW(calls_forgotten)
    SHOW(callers_disputed)
    SHOW(frames_not_kept)
    SHOW(returns_late)
    SHOW(returns_unmatched)
    SHOW(returns_repaired)
    SHOW(frames_lost)
#undef SHOW
}

static void add_process(void *context, const struct th_recorded_process *process)
{
    if (process->id != TH_NONE)
        json_array_append_new(
            context,
            json_pack("{s:o, s:o}", "pid", th_control_term(process->id), "name",
                      process->name == TH_NONE ? json_null() : th_control_term(process->name)));
}

static json_t *list_processes(void *context)
{
    json_t *list = json_array();

    (void)context;
    th_process_world_each(add_process, list);
    return list;
}

static enum th_status start_control(struct th_replaying *replay, struct th_tracing *tracing)
{
    th_control_main_thread_begin(&replay->main_thread);
    replay->control = (struct th_control_host){
        .program = replay->command,
        .tracing = tracing,
        .stop = stop_as_told,
        .tell = tell_status,
        .main_thread = &replay->main_thread,
        .processes = list_processes,
        .context = replay,
    };
    return th_options_trace_options_begin(&replay->trace, &replay->control);
}

int th_cli_replaying_run(struct th_replaying *replay)
{
    struct th_tracing *tracing;
    int status;

    if (check_streams(replay) != TH_OK)
        return th_cli_command_fail(replay->command);
    tracing = th_trace_create();
    th_trace_check_outputs(tracing, check_output, replay);
    if (replay->check)
        th_check_start();
    replay->play.progress = progress;
    replay->play.part = true;
    replay->play.stays = replay->trace.control;
    th_cli_interrupt_install();
    th_crash_install();
    if (replay->trace.control || replay->trace.watch || replay->trace.top)
        th_trace_share(tracing); /* with the thread that changes, or shows, what is traced */
    if (replay->wall_clock)
        th_trace_use_wall_clock(tracing);
    if (replay->recorded_callers)
        th_trace_use_recorded_callers(tracing);
    th_trace_use_execution(tracing, &replay->execution);
    status = start_control(replay, tracing);
    if (status == TH_OK)
        status = play_all(replay, tracing);
    else
        status = th_cli_command_fail(replay->command);
    th_control_host_end(&replay->control);
    th_cli_interrupt_explain(replay->command);
    th_library_halt();
    th_poll_select_end();   /* what is selected keeps its tracer loaded */
    th_trace_free(tracing); /* tracers write what they have left */
    th_crash_end();
    if (replay->check && th_check_end() > 0 && status == TH_OK)
        status = TH_FAILED;
    return th_cli_interrupt_status(th_cli_command_finish(replay->command, status));
}
