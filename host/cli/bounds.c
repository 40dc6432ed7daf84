/* Which part of the streams is played: its options, and reports of what they left out. */
#include "replaying.h"
#include "trace_summary.h"

#include "host/base/log.h"

enum th_status th_cli_bound_take(const struct th_argument *argument, const char *value, void *input)
{
    struct th_time_bound *bound = (struct th_time_bound *)((char *)input + argument->into);

    bound->set = true;
    bound->relative = *value != '@';
    if (th_control_argument_number(argument, value + !bound->relative, &bound->ns) == TH_OK)
        return TH_OK;
    if (bound->relative)
        return TH_USAGE;
    th_error_clear();
    return th_error_raise(TH_USAGE,
                          "--%s must be a time of the recording's clock in seconds, such as "
                          "@1795233754.349 (`date -d TIME +@%%s` prints a system time), not '%s'",
                          argument->name, value);
}

/* Bounds of the same kind can be compared before a time is known. */
enum th_status th_cli_bounds_check(void *input)
{
    const struct th_player_options *play = input;

    if (play->from.set && play->to.set && play->from.relative == play->to.relative &&
        play->from.ns > play->to.ns)
        return th_error_raise(TH_USAGE, "--from is after --to: no event is between them");
    return TH_OK;
}

const struct th_argument th_cli_bounds_arguments[] = {
    TH_OPTION("from", "T", TIME, INPUT, "Deliver events only from T on: 250ms, 1.5s or @CLOCK",
              .take = th_cli_bound_take, TH_INTO(struct th_player_options, from)),
    TH_OPTION("to", "T", TIME, INPUT, "Deliver events only up to T", .take = th_cli_bound_take,
              TH_INTO(struct th_player_options, to)),
    TH_OPTION("min-duration", "T", TIME, INPUT, "Deliver only calls that lasted T, and their ends",
              TH_INTO(struct th_player_options, calls.least_ns)),
    TH_OPTION("depth", "N", NUMBER, INPUT,
              "Deliver only calls that are at most N deep, and their ends; the outermost call is 1 "
              "deep",
              .how = TH_ARGUMENT_RARE, .least = 1, .most = INT64_MAX,
              .wanted = "a number from 1 on", TH_INTO(struct th_player_options, calls.most_deep)),
    TH_OPTION("max-events", "N", NUMBER, LIMITS,
              "Stop after N events that were delivered to a tracer", .take = th_cli_limit_take,
              TH_INTO(struct th_player_options, max_events)),
    TH_OPTION("max-records", "N", NUMBER, LIMITS, "Stop after N records of each stream",
              .how = TH_ARGUMENT_RARE, .take = th_cli_limit_take,
              TH_INTO(struct th_player_options, max_records)),
    {0},
};

void th_cli_bounds_tell(const struct th_replaying *replay,
                        const struct th_call_filter_counts *calls)
{
    const struct {
        uint64_t count;
        const char *what;
    } lines[] = {
        {calls->short_calls, "calls left out, shorter than --min-duration"},
        {calls->deep_calls, "calls left out, deeper than --depth"},
        {calls->shallow,
         "calls kept, as they are not deeper than --depth if calls around them have ended"},
        {calls->left_ends, "ends left out with their calls"},
        {calls->unended, "calls kept, as no record shows how long they lasted"},
        {calls->untimed, "calls kept, as they have no time"},
        {calls->overflowed, "calls kept, as too many records were held back"},
        {calls->doubtful, "returns kept, as they may be those of calls that were kept"},
        {calls->unmatched, "ends kept, as their calls were not recorded"},
    };

    if (calls->calls && !calls->ends)
        th_warn("the recording has no ends of calls: it shows neither durations nor depths; record "
                "the ends: --exception, or dbg:tpl(MODULE, x)");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (replay->trace.stats && lines[i].count)
            th_cli_trace_stats_row(lines[i].count, lines[i].what);
        else if (lines[i].count)
            th_cli_trace_report(replay->command, lines[i].what, lines[i].count);
}
