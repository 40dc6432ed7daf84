/*
 * The events that `bench` delivers: each tag, with terms of several sizes, as calls of callbacks.
 *
 * A series is a call of one callback for each of up to TH_BENCH_TRACEES tracees. The series have an
 * order in which each tracee lives a whole life: it is spawned, its calls return, it exits. So a tracer that
 * keeps data of processes and open calls can drop the data again, however often all series are played.
 */
#ifndef TH_BENCH_EVENTS_H
#define TH_BENCH_EVENTS_H

#include "host/term/env.h"
#include "host/trace/callback_series.h"

#include <stdbool.h>

enum {
    TH_BENCH_TRACEES = 128,
    TH_BENCH_THREADS = 64 /* limit of threads: each has tracees of its own */
};

struct th_bench_series {
    enum th_tracer_slot slot; /* of a callback `enabled` or `trace` */
    enum th_tracer_tag tag;
    const char *content; /* of the terms: "f/0", "1 kB"; "": there is one series of the tag */
    size_t asked; /* for `trace`: the index of the series whose `enabled` decides; SIZE_MAX: none */
    struct th_callback_call *calls;
    size_t count; /* of `calls`, each for a tracee of its own */
};

struct th_bench_events {
    struct th_bench_series *series;
    size_t count;
    /* Indices of the parts of a traced call, for measurements by thread. */
    size_t enabled_call, trace_call, trace_return;
    th_env env;
};

/* Makes the events of the tracees of thread NUMBER, from 0.
 * Owner: the caller frees EVENTS with th_bench_events_free(). */
void th_bench_events_make(struct th_bench_events *events, unsigned number);
void th_bench_events_free(struct th_bench_events *events);

#endif
