#include "opts.h"

/* The words of #{} and of #{timestamp => KIND}, laid out as term/word.h says. */
th_term th_trace_opts_empty[] = {(th_term)1 << 6 | TH_MAP, 0};

#define STAMP_MAP(kind)                                            \
    {                                                              \
        (th_term)3 << 6 | TH_MAP, 1, TH_AM(timestamp), TH_AM(kind) \
    }
static th_term stamp_maps[][4] = {
    [TH_TIME_TIMESTAMP] = STAMP_MAP(timestamp),
    [TH_TIME_CPU] = STAMP_MAP(cpu_timestamp),
    [TH_TIME_MONOTONIC] = STAMP_MAP(monotonic),
    [TH_TIME_STRICT_MONOTONIC] = STAMP_MAP(strict_monotonic),
};

/* What a session asked for, in the BEAM's order of precedence, or what was RECORDED. */
static enum th_time_kind wanted_time(enum th_time_kind recorded, uint32_t flags)
{
    if (flags & TH_FLAG_AS_RECORDED)
        return recorded;
    if (flags & TH_FLAG_TIMESTAMP)
        return TH_TIME_TIMESTAMP;
    if (flags & TH_FLAG_STRICT_MONOTONIC)
        return TH_TIME_STRICT_MONOTONIC;
    if (flags & TH_FLAG_MONOTONIC)
        return TH_TIME_MONOTONIC;
    return flags & TH_FLAG_CPU_TIMESTAMP ? TH_TIME_CPU : TH_TIME_NONE;
}

/* COUNT pairs, of those that there are, in the order of their keys. */
static inline th_term make_map(th_env *env, th_term extra, th_term result, th_term scheduler_id,
                               enum th_time_kind time, size_t count)
{
    th_term *words = th_env_take(env, 2 + 2 * count);
    th_term *key = words + 2, *value = key + count;

    words[0] = th_header(TH_MAP, 1 + 2 * count);
    words[1] = count;
    if (extra != TH_NONE)
        *key++ = TH_AM(extra), *value++ = extra;
    if (result != TH_NONE)
        *key++ = TH_AM(match_spec_result), *value++ = result;
    if (scheduler_id != TH_NONE)
        *key++ = TH_AM(scheduler_id), *value++ = scheduler_id;
    if (time != TH_TIME_NONE)
        *key = TH_AM(timestamp), *value = stamp_maps[time][3];
    return th_boxed(words);
}

/* RESULT is what the specification said. */
static inline th_term make(th_env *env, th_term extra, th_term result, th_term scheduler_id,
                           enum th_time_kind time)
{
    size_t count;

    if (result == TH_AM(true))
        result = TH_NONE;
    count = (extra != TH_NONE) + (result != TH_NONE) + (size_t)(scheduler_id != TH_NONE);
    if (count == 0)
        return th_boxed(time == TH_TIME_NONE ? th_trace_opts_empty : stamp_maps[time]);
    return make_map(env, extra, result, scheduler_id, time, count + (time != TH_TIME_NONE));
}

th_term th_trace_opts_make(th_env *env, const struct th_event *event, th_term extra, th_term result,
                           uint32_t flags)
{
    bool scheduler = flags & (TH_FLAG_SCHEDULER_ID | TH_FLAG_AS_RECORDED);

    return make(env, extra, result, scheduler ? event->scheduler_id : TH_NONE,
                wanted_time(event->time.kind, flags));
}

th_term th_trace_opts_make_live(th_env *env, th_term extra, th_term result, unsigned scheduler,
                                uint32_t flags)
{
    bool told = scheduler && flags & (TH_FLAG_SCHEDULER_ID | TH_FLAG_AS_RECORDED);

    return make(env, extra, result, told ? th_small(scheduler) : TH_NONE,
                wanted_time(TH_TIME_NONE, flags));
}
