/*
 * Time stamps that events request.
 *
 * A callback gets the kind of clock and reads the clock itself. In a replay the time is the
 * record's, with the integer that makes strictly monotonic times unique. Without such an integer, a
 * counter in the order of the events takes its place.
 */
#ifndef TRACER_STAMP_H
#define TRACER_STAMP_H

#include <erl_tracer.h>
#include <nif_module.h>

#include <stdint.h>

enum stamp_kind { STAMP_NONE, STAMP_SYSTEM, STAMP_CPU, STAMP_MONOTONIC, STAMP_STRICT };

struct stamp {
    enum stamp_kind kind;
    int64_t ns;     /* time of the clock of that kind; whole microseconds for the first two */
    int64_t unique; /* for STAMP_STRICT */
};

/* Reads the node's CPU time, {MegaSecs, Secs, MicroSecs}. */
static inline void stamp_take_cpu(ErlNifEnv *env, struct stamp *stamp)
{
    const ERL_NIF_TERM *elements;
    ErlNifSInt64 part, time = 0;
    int size;

    if (!enif_get_tuple(env, enif_cpu_time(env), &size, &elements))
        return; /* this system lacks such a clock */
    for (int i = 0; i < size; i++)
        time = time * 1000000 + (enif_get_int64(env, elements[i], &part) ? part : 0);
    stamp->kind = STAMP_CPU;
    stamp->ns = time * 1000;
}

static inline struct stamp stamp_take(ErlNifEnv *env, ERL_NIF_TERM opts)
{
    struct stamp stamp = {STAMP_NONE, 0, 0};
    ErlNifSInt64 unique;
    ERL_NIF_TERM kind;

    if (!enif_get_map_value(env, opts, TH_TRACER_ATOM(env, timestamp), &kind))
        return stamp;
    if (kind == TH_TRACER_ATOM(env, cpu_timestamp)) {
        stamp_take_cpu(env, &stamp);
        return stamp;
    }
    stamp.kind = STAMP_MONOTONIC;
    stamp.ns = enif_monotonic_time(ERL_NIF_NSEC);
    if (kind == TH_TRACER_ATOM(env, timestamp)) {
        stamp.kind = STAMP_SYSTEM;
        stamp.ns += enif_time_offset(ERL_NIF_NSEC);
        stamp.ns -= stamp.ns % 1000;
    } else if (kind == TH_TRACER_ATOM(env, strict_monotonic)) {
        stamp.kind = STAMP_STRICT;
        if (TH_HAS(th_recorded_unique) && th_recorded_unique(env, &unique))
            stamp.unique = unique;
        else if (enif_get_int64(env, enif_make_unique_integer(env, ERL_NIF_UNIQUE_MONOTONIC),
                                &unique))
            stamp.unique = unique;
    }
    return stamp;
}

#endif
