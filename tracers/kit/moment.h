/*
 * The moment of an event: its clock, and the time since that clock's zero.
 *
 * Each clock of a recording has one zero, its first time in the recording, whatever filters
 * exclude: so the times of two views of a recording are on one axis, that of --from and --to. If
 * the host does not know the zero (in a BEAM, and for live events), there is one clock, the node's,
 * and its zero is the tracer's first event.
 */
#ifndef TRACER_MOMENT_H
#define TRACER_MOMENT_H

#include <erl_tracer.h>
#include <nif_module.h>

#include <stdbool.h>
#include <stdint.h>

/* Times of different clocks cannot be compared. */
enum moment_clock {
    NODE_CLOCK, /* this node's own, for an event without a recorded time */
    SYSTEM_CLOCK,
    CPU_CLOCK,
    MONOTONIC_CLOCK,
    MOMENT_CLOCKS
};

struct moment {
    bool stamped; /* the event requests a time stamp */
    enum moment_clock clock;
    int64_t time; /* since the clock's zero; for NODE_CLOCK since that clock's own zero */
};

static inline enum moment_clock moment_clock_of(ErlNifEnv *env, ERL_NIF_TERM kind)
{
    if (kind == TH_TRACER_ATOM(env, timestamp))
        return SYSTEM_CLOCK;
    return kind == TH_TRACER_ATOM(env, cpu_timestamp) ? CPU_CLOCK : MONOTONIC_CLOCK;
}

/* Returns whether the system time of MOMENT, the present event's, is known: monotonic time plus
 * offset. A recording has the offset of a monotonic time only if a note tells it. */
static inline bool moment_has_date(const struct moment *moment)
{
    return moment->clock == NODE_CLOCK || moment->clock == SYSTEM_CLOCK ||
           (moment->clock == MONOTONIC_CLOCK && enif_time_offset(ERL_NIF_NSEC) != 0);
}

/* Returns TO - FROM, or the nearest value without overflow. */
static inline int64_t moment_between(int64_t from, int64_t to)
{
    int64_t between;

    if (!__builtin_sub_overflow(to, from, &between))
        return between;
    return to < from ? INT64_MIN : INT64_MAX;
}

static inline struct moment moment_take(ErlNifEnv *env, ERL_NIF_TERM opts, ErlNifTimeUnit unit)
{
    struct moment moment = {.clock = NODE_CLOCK, .time = enif_monotonic_time(unit)};
    ERL_NIF_TERM kind;
    ErlNifTime zero;

    moment.stamped = enif_get_map_value(env, opts, TH_TRACER_ATOM(env, timestamp), &kind);
    if (moment.stamped && TH_HAS(th_recording_zero) && th_recording_zero(env, unit, &zero)) {
        moment.clock = moment_clock_of(env, kind);
        moment.time = moment_between(zero, moment.time);
    }
    return moment;
}

/* Returns the moment of an event that comes by past_calls(). */
static inline struct moment moment_of_past(ErlNifEnv *env, const struct th_past_event *event)
{
    return (struct moment){true, moment_clock_of(env, event->call->timestamp), event->time};
}

#endif
