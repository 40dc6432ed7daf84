/*
 * Measurements of tracers for `bench`.
 *
 * A run plays all series, each for all tracers in turn, so that a disturbance of the machine meets all
 * of them. The order of the tracers changes from run to run. The nanoseconds of one series in one run
 * are one figure: differences between tracers are taken within a run.
 */
#ifndef TH_BENCH_MEASURE_H
#define TH_BENCH_MEASURE_H

#include "bench_events.h"

#include "host/base/error.h"

struct th_session;
struct th_tracing;

enum {
    TH_BENCH_EMPTY, /* functions of the host that do nothing */
    TH_BENCH_NEW,   /* the tracer that is measured */
    TH_BENCH_OLD,   /* the tracer of --compare */
    TH_BENCH_TRACERS
};

enum { TH_BENCH_ROUNDS = 5 /* of the measurement of threads */ };
#define TH_BENCH_WAITED 0.1 /* part of the time without a processor that spoils that measurement */

struct th_bench_tracer {
    const char *name; /* as the user gave it */
    struct th_session *session;
    bool *wanted;                     /* by series: the tracer gets such events */
    double *ns;                       /* nanoseconds of a call, by series * runs + run */
    double *instructions;             /* of a call, by series; NULL: not counted */
    double rates[2][TH_BENCH_ROUNDS]; /* calls per second on one, and on all schedulers, by round */
};

struct th_bench {
    struct th_bench_events events;
    struct th_bench_tracer tracers[TH_BENCH_TRACERS];
    size_t tracer_count;
    size_t runs;
    unsigned threads; /* 1: only one scheduler is measured */
    double
        waited; /* part of the time in which a thread of several could run and had no processor */
};

/* Asks each tracer which events it wants, and plays all series WARM_UPS times.
 * Order: first. */
enum { TH_BENCH_WARM_UPS = 2 };
void th_bench_warm_up(struct th_bench *bench);

/* Plays all series once for tracer NUMBER. */
void th_bench_play(const struct th_bench *bench, size_t number);

/* Fills the nanoseconds of all tracers. */
void th_bench_measure(struct th_bench *bench);

/* Fills the rates of the empty and the new tracer: calls with their ends, each thread with processes
 * of its own. Errors: TH_FAILED if a thread cannot be started. */
enum th_status th_bench_measure_threads(struct th_bench *bench);

#endif
