#include "../stamp.h"
#include "report.h"

/* Times are no further apart than that, so that they can be added: 73 years. */
#define FURTHEST ((int64_t)1 << 61)

/* Times of different clocks cannot be compared. */
static bool is_of_clock(const struct clock *clock, ErlNifEnv *env, ERL_NIF_TERM kind)
{
    if (kind == TH_TRACER_ATOM(env, timestamp))
        return clock->kind == STAMP_SYSTEM;
    if (kind == TH_TRACER_ATOM(env, cpu_timestamp))
        return clock->kind == STAMP_CPU;
    return clock->kind == STAMP_MONOTONIC || clock->kind == STAMP_STRICT;
}

static void begin(struct clock *clock, ErlNifEnv *env, ERL_NIF_TERM opts, int64_t now)
{
    int64_t offset = enif_time_offset(ERL_NIF_NSEC);

    clock->timed = true;
    clock->kind = stamp_take(env, opts).kind;
    clock->base = now;
    if (clock->kind == STAMP_CPU || (clock->kind != STAMP_SYSTEM && offset == 0) ||
        __builtin_add_overflow(now, offset, &clock->system))
        clock->system = 0;
}

int64_t clock_take(struct clock *clock, ErlNifEnv *env, ERL_NIF_TERM opts)
{
    int64_t now = enif_monotonic_time(ERL_NIF_NSEC);
    ERL_NIF_TERM kind;

    clock->now = clock->latest;
    if (!enif_get_map_value(env, opts, TH_TRACER_ATOM(env, timestamp), &kind)) {
        clock->untimed++;
        return TIME_NONE;
    }
    if (!clock->timed)
        begin(clock, env, opts, now);
    if (!is_of_clock(clock, env, kind)) {
        clock->others++;
        return TIME_NONE;
    }
    if (__builtin_sub_overflow(now, clock->base, &now) || now > FURTHEST || now < -FURTHEST)
        now = now < 0 ? -FURTHEST : FURTHEST;
    clock->early += now < 0;
    clock->now = now;
    clock->latest = now > clock->latest ? now : clock->latest;
    return now;
}
