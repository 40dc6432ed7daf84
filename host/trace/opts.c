#include "opts.h"

/* The words of #{} and of #{timestamp => KIND}, laid out as term/word.h says. */
static th_term empty_map[] = {(th_term)1 << 6 | TH_MAP, 0};

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

/* What a session asked for, in the BEAM's order of precedence, or what was recorded. */
static enum th_time_kind wanted_time(const struct th_event *event, uint32_t flags)
{
    if (flags & TH_FLAG_AS_RECORDED)
        return event->time.kind;
    if (flags & TH_FLAG_TIMESTAMP)
        return TH_TIME_TIMESTAMP;
    if (flags & TH_FLAG_STRICT_MONOTONIC)
        return TH_TIME_STRICT_MONOTONIC;
    if (flags & TH_FLAG_MONOTONIC)
        return TH_TIME_MONOTONIC;
    return flags & TH_FLAG_CPU_TIMESTAMP ? TH_TIME_CPU : TH_TIME_NONE;
}

/* Up to four pairs, which come in the order of their keys. */
static th_term make_map(th_env *env, const th_term *keys, const th_term *values, size_t count)
{
    th_term *words = th_env_take(env, 2 + 2 * count);

    words[0] = th_header(TH_MAP, 1 + 2 * count);
    words[1] = count;
    memcpy(words + 2, keys, count * sizeof *keys);
    memcpy(words + 2 + count, values, count * sizeof *values);
    return th_boxed(words);
}

th_term th_opts_make(th_env *env, const struct th_event *event, uint32_t flags)
{
    bool scheduler = flags & (TH_FLAG_SCHEDULER_ID | TH_FLAG_AS_RECORDED);
    enum th_time_kind time = wanted_time(event, flags);
    th_term keys[4], values[4];
    size_t count = 0;

    if (event->extra != TH_NONE)
        keys[count] = TH_AM(extra), values[count++] = event->extra;
    if (event->match_spec_result != TH_NONE && event->match_spec_result != TH_AM(true))
        keys[count] = TH_AM(match_spec_result), values[count++] = event->match_spec_result;
    if (scheduler && event->scheduler_id != TH_NONE)
        keys[count] = TH_AM(scheduler_id), values[count++] = event->scheduler_id;
    if (count == 0)
        return th_boxed(time == TH_TIME_NONE ? empty_map : stamp_maps[time]);
    if (time != TH_TIME_NONE)
        keys[count] = TH_AM(timestamp), values[count++] = stamp_maps[time][3];
    return make_map(env, keys, values, count);
}
