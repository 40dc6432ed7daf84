#include "isolation.h"

#include "smallest_crash.h"
#include "subcommand.h"

#include "host/base/buffer.h"
#include "host/base/log.h"
#include "host/base/memory.h"
#include "host/crash/supervisor.h"
#include "host/replay/reader.h"
#include "host/replay/spool.h"
#include "host/trace/session.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CRASHES = 10 };

void th_cli_isolation_init(struct th_replaying *replay)
{
    replay->max_crashes = MAX_CRASHES;
}

static enum th_status take_on_crash(const struct th_argument *argument, const char *value,
                                    void *input)
{
    static const char minimizing[] = "minimize=";
    static struct th_minimize minimize;
    struct th_replaying *replay = input;

    (void)argument;
    replay->minimize = NULL;
    minimize.file = NULL;
    if (strcmp(value, "stop") == 0) {
        replay->on_crash = TH_ON_CRASH_STOP;
    } else if (strcmp(value, "continue") == 0) {
        replay->on_crash = TH_ON_CRASH_CONTINUE;
    } else if (strncmp(value, minimizing, sizeof minimizing - 2) == 0 &&
               (value[sizeof minimizing - 2] == '\0' ||
                (value[sizeof minimizing - 2] == '=' && value[sizeof minimizing - 1]))) {
        replay->on_crash = TH_ON_CRASH_STOP;
        replay->minimize = &minimize;
        if (value[sizeof minimizing - 2])
            minimize.file = value + sizeof minimizing - 1;
    } else {
        return th_error_raise(TH_USAGE,
                              "--on-crash must be stop, continue, minimize or minimize=FILE, not "
                              "'%s'",
                              value);
    }
    return TH_OK;
}

static enum th_status take_max_crashes(const struct th_argument *argument, const char *value,
                                       void *input)
{
    struct th_replaying *replay = input;
    int64_t count;
    enum th_status status = th_control_argument_number(argument, value, &count);

    if (status == TH_OK)
        replay->max_crashes = (uint64_t)count;
    return status;
}

const struct th_argument th_cli_isolation_arguments[] = {
    TH_OPTION("isolate", NULL, FLAG, TRACERS, "Run each tracer in a process of its own",
              TH_INTO(struct th_replaying, isolate)),
    TH_OPTION("on-crash", "ACTION", TEXT, LIMITS,
              "If a tracer crashes: stop; continue: load the tracer again, and play all but the "
              "record of the crash; or find the shortest stream that crashes it: minimize[=FILE] "
              "(default: stop; with --isolate continue)",
              .how = TH_ARGUMENT_OTHERS | TH_ARGUMENT_RARE,
              .words = TH_WORDS("stop", "continue", "minimize"), .take = take_on_crash),
    TH_OPTION("max-crashes", "N", NUMBER, LIMITS,
              "Load a tracer that crashes at most N times again (default: 10)",
              .how = TH_ARGUMENT_RARE, .take = take_max_crashes),
    {0},
};

/* --- Options that exclude each other ---------------------------------------------------------- */

static bool continues(const struct th_replaying *replay)
{
    return replay->on_crash == TH_ON_CRASH_CONTINUE ||
           (replay->on_crash == TH_ON_CRASH_DEFAULT && replay->isolate);
}

/* Returns the option that asked for a process beside the first one. */
static const char *asking_option(const struct th_replaying *replay)
{
    return replay->isolate ? "--isolate" : "--on-crash=continue";
}

static enum th_status check_combinations(const struct th_replaying *replay)
{
    static const char one[] = "all tracers must be in one process";
    const struct {
        bool given;
        const char *option, *reason;
    } refused[] = {
        {replay->trace.control != NULL, "--control", one},
        {replay->trace.watch, "--watch", one},
        {replay->trace.top > 0, "--top", one},
        {replay->check, "--check", one},
        {replay->shards > 1, "--shards", "each process reads the whole stream"},
        {replay->join, "--join", "each process reads the whole stream"},
        {replay->play.probes, "--probes", "each process would hit them"},
        {replay->play.max_events.set, "--max-events",
         "the events of all tracers count together; use --max-records or --to"},
    };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        if (refused[i].given)
            return th_error_raise(TH_USAGE, "%s cannot be combined with %s: %s",
                                  asking_option(replay), refused[i].option, refused[i].reason);
    return TH_OK;
}

/* The spool connects once. */
static enum th_status check_files(const struct th_replaying *replay)
{
    if (th_cli_stream_are_live((const char *const *)replay->streams.items, replay->streams.count))
        return th_error_raise(
            TH_USAGE,
            "%s cannot be combined with several connections: record each with tracehost convert "
            "first",
            asking_option(replay));
    for (size_t i = 0; i < replay->streams.count && replay->stream.reconnect_ns; i++)
        if (th_replay_tcp_is_address(replay->streams.items[i]))
            return th_error_raise(TH_USAGE,
                                  "%s cannot be combined with --reconnect: the tracers read one "
                                  "connection",
                                  asking_option(replay));
    return TH_OK;
}

/* Returns the value of `output` in a -t TEXT; NULL: none, or an expression gives it. Owner: the caller
 * frees the value by th_free(). */
static char *output_of(const char *text)
{
    const char *found = strstr(text, ",output=");

    if (!found || strcspn(text, "=") < strcspn(text, ","))
        return NULL;
    found += strlen(",output=");
    return th_printf("%.*s", (int)strcspn(found, ","), found);
}

/* The processes do not know each other's files. */
static enum th_status check_outputs(const struct th_texts *tracers)
{
    enum th_status status = TH_OK;

    for (size_t i = 0; i < tracers->count && status == TH_OK; i++) {
        char *path = output_of(tracers->items[i]);
        for (size_t k = 0; path && k < i && status == TH_OK; k++) {
            char *other = output_of(tracers->items[k]);
            if (other && th_trace_output_is_one_file(path, other))
                status = th_error_raise(TH_USAGE,
                                        "two tracers write the file %s: give each tracer an output "
                                        "of its own",
                                        path);
            th_free(other);
        }
        th_free(path);
    }
    return status;
}

enum th_status th_cli_isolation_check(void *input)
{
    const struct th_replaying *replay = input;
    struct th_texts tracers = {0};
    enum th_status status = TH_OK;

    if (replay->minimize && (replay->isolate || replay->shards > 1 || replay->join))
        return th_error_raise(TH_USAGE,
                              "--on-crash=minimize cannot be combined with %s: one process "
                              "must play the stream",
                              replay->isolate ? "--isolate"
                              : replay->join  ? "--join"
                                              : "--shards");
    if (replay->minimize && (replay->play.calls.least_ns || replay->play.calls.most_deep))
        return th_error_raise(TH_USAGE,
                              "--on-crash=minimize cannot be combined with %s: calls in a part of "
                              "the stream have other durations and depths",
                              replay->play.calls.least_ns ? "--min-duration" : "--depth");
    if (!replay->isolate && !continues(replay))
        return TH_OK;
    status = check_combinations(replay);
    if (status == TH_OK && !replay->isolate &&
        th_control_session_options_sessions(&replay->trace.sessions) > 1)
        status = th_error_raise(TH_USAGE, "--on-crash=continue with several tracers needs "
                                          "--isolate, as the tracers of one process die together");
    if (status == TH_OK)
        status = check_files(replay);
    for (size_t i = 0; i < replay->trace.sessions.count; i++)
        for (size_t k = 0; k < replay->trace.sessions.items[i].tracer_count; k++) {
            TH_ARRAY_GROW(tracers.items, tracers.count, tracers.capacity);
            tracers.items[tracers.count++] = replay->trace.sessions.items[i].tracers[k];
        }
    if (status == TH_OK)
        status = check_outputs(&tracers);
    th_free(tracers.items);
    return status;
}

/* Returns advice for a crash of one of several tracers in one process; NULL: none, as there is one
 * tracer, or other options exclude --isolate. */
static const char *advice_for_crashes(const struct th_replaying *replay)
{
    bool possible = th_control_session_options_sessions(&replay->trace.sessions) > 1 &&
                    !replay->minimize && check_combinations(replay) == TH_OK &&
                    check_files(replay) == TH_OK;

    th_error_clear();
    return possible ? "with --isolate the other tracers would go on" : NULL;
}

/* --- The processes ---------------------------------------------------------------------------- */

void th_cli_isolation_begin(struct th_replaying *replay)
{
    struct th_control_session_options *sessions = &replay->trace.sessions;
    size_t count = th_control_session_options_sessions(sessions), number;
    struct th_crash_policy policy = {
        .continues = continues(replay),
        .max_crashes = replay->max_crashes,
        .again = th_replay_spool_again,
        .gone = th_replay_spool_leave,
    };
    char **names;

    if (!replay->isolate && !policy.continues) {
        th_cli_command_supervise(replay->command, advice_for_crashes(replay));
        return;
    }
    names = th_alloc(count * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const char *name = th_control_session_options_tracer(sessions, i, &length);
        names[i] = th_printf("%.*s", (int)length, name);
    }
    policy.tracers = (const char *const *)names;
    if (th_replay_spool_begin((const char *const *)replay->streams.items, replay->streams.count,
                              count, replay->stream.node.wish ? &replay->stream.node : NULL,
                              NULL) != TH_OK)
        exit(th_cli_command_fail(replay->command));
    number = th_cli_command_supervise_several(replay->command, count, &policy);
    for (size_t i = 0; i < count; i++)
        th_free(names[i]);
    th_free(names);
    if (number == count) {
        th_replay_spool_end();
        th_warn("%s has no effect under a debugger, or if the system refuses processes",
                asking_option(replay));
        return;
    }
    th_replay_spool_enter(number);
    replay->is_part = count > 1;
    if (number > 0)
        replay->stream.progress = TH_PROGRESS_NEVER;
    th_control_session_options_keep(sessions, number);
}
