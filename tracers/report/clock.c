#include "../kit/moment.h"
#include "../kit/stamp.h"
#include "report.h"

/* Maximum difference of two times, so that times can be added: 73 years. */
#define FURTHEST ((int64_t)1 << 61)

static int64_t bounded(int64_t time)
{
    return time > FURTHEST ? FURTHEST : time < -FURTHEST ? -FURTHEST : time;
}

static void begin(struct clock *clock, ErlNifEnv *env, ERL_NIF_TERM opts,
                  const struct moment *moment)
{
    int64_t now = enif_monotonic_time(ERL_NIF_NSEC), offset = enif_time_offset(ERL_NIF_NSEC);

    clock->timed = true;
    clock->kind = stamp_take(env, opts).kind;
    clock->of = moment->clock;
    clock->base = moment->time;
    clock->first = moment->clock == NODE_CLOCK ? 0 : bounded(moment->time);
    if (!moment_has_date(moment) || clock->kind == STAMP_CPU ||
        __builtin_add_overflow(now, offset, &clock->system))
        clock->system = 0;
}

int64_t clock_take(struct clock *clock, ErlNifEnv *env, ERL_NIF_TERM opts)
{
    struct moment moment = moment_take(env, opts, ERL_NIF_NSEC);
    int64_t now;

    clock->now = clock->latest;
    if (!moment.stamped) {
        clock->untimed++;
        return TIME_NONE;
    }
    if (!clock->timed)
        begin(clock, env, opts, &moment);
    if (moment.clock != clock->of) {
        clock->others++;
        return TIME_NONE;
    }
    now = bounded(moment_between(clock->base, moment.time));
    clock->early += now < 0;
    clock->now = now;
    clock->latest = now > clock->latest ? now : clock->latest;
    return now;
}
