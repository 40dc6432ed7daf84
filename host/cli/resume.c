#include "resume.h"

#include "subcommand.h"

#include "host/base/output.h"
#include "host/library/load.h"
#include "host/replay/reader.h"
#include "host/term/clock.h"
#include "host/trace/session.h"

#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
enum { EVERY = 10, LONGEST_NAME = 64 };

static enum th_status take_reader(const struct th_argument *argument, const char *value,
                                  void *input)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    struct th_replaying *replay = input;
    size_t length = strlen(value);

    (void)argument;
    if (length == 0 || length > LONGEST_NAME || strspn(value, letters) != length)
        return th_error_raise(TH_USAGE,
                              "--resume must be a name of at most %d letters, digits, - and _, "
                              "not '%s'",
                              LONGEST_NAME, value);
    replay->stream.resume = value;
    return TH_OK;
}

const struct th_argument th_cli_resume_arguments[] = {
    TH_OPTION("resume", "READER", TEXT, INPUT,
              "Go on in nats://HOST/NAME where the reader READER was; its position is kept on the "
              "server",
              .how = TH_ARGUMENT_RARE, .take = take_reader),
    TH_OPTION("every", "T", TIME, INPUT,
              "With --resume, write the outputs and the position every T (default: 10s)",
              .how = TH_ARGUMENT_RARE, .least = 1000000, .most = INT64_MAX,
              .wanted = "a time of at least 1ms", TH_INTO(struct th_replaying, every)),
    {0},
};

/* Patterns that need the calls which are open at the position. */
static bool needs_open_calls(const struct th_control_session_option *session)
{
    for (size_t i = 0; i < session->patterns.count; i++) {
        const struct th_control_pattern_option *pattern = &session->patterns.items[i];
        if (pattern->spec || pattern->returns || pattern->exceptions || pattern->callers ||
            pattern->lines || pattern->kind_list || pattern->meta_tracer ||
            session->flags & TH_FLAG_RETURN_TO)
            return true;
    }
    return false;
}

static enum th_status check_sessions(const struct th_replaying *replay)
{
    for (size_t i = 0; i < replay->trace.sessions.count; i++) {
        const struct th_control_session_option *session = &replay->trace.sessions.items[i];
        if (needs_open_calls(session))
            return th_error_raise(TH_USAGE,
                                  "--resume cannot be used with -p and --return, --exception, "
                                  "--caller, --match-spec, --kind, --meta-tracer or the flag "
                                  "return_to: they need the calls that are open at the position");
        if (session->chosen)
            return th_error_raise(TH_USAGE,
                                  "--resume cannot be used with %s: nobody knows which tracees "
                                  "have inherited flags before the position",
                                  session->chosen);
        if (session->flag_list && session->flags & TH_FLAG_STRICT_MONOTONIC)
            return th_error_raise(
                TH_USAGE, "--resume cannot be used with --flags=strict_monotonic_timestamp: "
                          "the numbers before the position are not known");
    }
    return TH_OK;
}

enum th_status th_cli_resume_check(void *input)
{
    const struct th_replaying *replay = input;
    const struct {
        bool given;
        const char *option, *why;
    } rows[] = {
        {replay->streams.count > 1, "several streams", "a position is that of one log"},
        {replay->shards > 1, "--shards", "one process must get the events in their order"},
        {replay->join, "--join", "workers keep their results on the server by themselves"},
        {replay->isolate, "--isolate", "the position is that of all tracers together"},
        {replay->on_crash == TH_ON_CRASH_CONTINUE, "--on-crash=continue",
         "a tracer that is loaded again plays records again that are before the position"},
        {replay->minimize, "--on-crash=minimize", "the search plays the events again"},
        {replay->trace.control, "--control",
         "a tracer that it attaches may need the events before the position"},
        {replay->trace.watch, "--watch", "the new tracer may need the events before the position"},
        {replay->trace.top, "--top", "the view would begin at the position"},
        {replay->play.calls.least_ns, "--min-duration",
         "a call is held back until it ends, which may be behind the position"},
        {replay->play.calls.most_deep, "--depth",
         "the depth of the calls that are open at the position is not known"},
        {replay->play.max_records.set, "--max-records",
         "records that come again before the position count, too; use --max-events"},
    };

    if (!replay->stream.resume)
        return replay->every ? th_error_raise(TH_USAGE, "--every needs --resume") : TH_OK;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].given)
            return th_error_raise(TH_USAGE, "--resume cannot be used with %s: %s", rows[i].option,
                                  rows[i].why);
    if (!th_replay_log_is_name(replay->streams.items[0]))
        return th_error_raise(TH_USAGE,
                              "--resume needs a log, nats://HOST/NAME, not '%s': a position is "
                              "kept on the log's server",
                              replay->streams.items[0]);
    return check_sessions(replay);
}

enum th_status th_cli_resume_check_tracers(const struct th_replaying *replay,
                                           const struct th_tracing *tracing)
{
    for (size_t i = 0; replay->stream.resume && i < th_trace_sessions(tracing); i++) {
        const struct th_session *session = th_trace_session(tracing, i);
        const struct th_library *library = th_trace_session_library(session);
        if (library && th_library_gathers(library))
            return th_error_raise(TH_USAGE,
                                  "--resume cannot be used with the tracer '%s', whose output "
                                  "needs events from before the position: %s",
                                  th_trace_session_name(session),
                                  th_library_can_merge(library) &&
                                          !th_library_has_share_file(library)
                                      ? "use --join, by which its results are kept on the server"
                                      : "replay the whole recording");
    }
    return TH_OK;
}

/* --- Barriers ---------------------------------------------------------------------------------- */

void th_cli_resume_begin(struct th_replaying *replay, const struct th_reader *reader)
{
    const struct th_reader_info *info = th_replay_reader_info(reader);

    if (!replay->stream.resume)
        return;
    replay->play.begin_at = info->before;
    th_output_goes_on = info->position > 1;
    replay->marked = th_clock_real_monotonic();
}

void th_cli_resume_flush(struct th_replaying *replay)
{
    replay->unwritten |= fflush(NULL) != 0;
}

/* Writes all that the tracers have printed, and asks them whether they could. Errors: TH_FAILED. */
static enum th_status flush_outputs(struct th_replaying *replay, struct th_tracing *tracing)
{
    th_cli_command_flush(); /* keeps the reason for the end */
    th_cli_resume_flush(replay);
    if (replay->unwritten || ferror(stdout))
        return th_error_raise(TH_FAILED, "an output could not be written");
    for (size_t i = 0; i < th_trace_sessions(tracing); i++) {
        struct th_session *session = th_trace_session(tracing, i);
        if (!th_trace_session_status(session) || th_trace_session_failed(session))
            return th_error_raise(TH_FAILED, "the tracer '%s' takes no more events",
                                  th_trace_session_name(session));
    }
    return TH_OK;
}

void th_cli_resume_mark(struct th_replaying *replay, struct th_tracing *tracing,
                        struct th_reader *reader, bool now)
{
    static const volatile int stop = 1;
    int64_t every = replay->every ? replay->every : EVERY * SECOND;
    enum th_status status;

    if (!replay->stream.resume || replay->unmarked || !reader ||
        (!now && th_clock_real_monotonic() - replay->marked < every))
        return;
    status = flush_outputs(replay, tracing);
    if (status == TH_OK)
        status = th_replay_reader_mark(reader);
    replay->marked = th_clock_real_monotonic();
    if (status == TH_OK)
        return;
    th_error_context("the position of the reader %s stays where it was", replay->stream.resume);
    th_cli_command_fail(replay->command);
    th_error_clear();
    replay->unmarked = true;
    replay->play.max_events = (struct th_limit){true, 0};
    th_replay_reader_stops(reader, &stop); /* a wait for records ends */
}
