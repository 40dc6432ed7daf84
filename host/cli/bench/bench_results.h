/* Medians, spreads and differences of the figures of `bench`; shows them as text or as JSON. */
#ifndef TH_BENCH_RESULTS_H
#define TH_BENCH_RESULTS_H

#include "bench_measure.h"

/* A median, and half the distance between the quartiles. */
struct th_bench_figure {
    double median, spread;
};

/* The nanoseconds of a series: NUMBER's, and the difference from those of tracer BASE within each
 * run. */
struct th_bench_figure th_bench_time(const struct th_bench *bench, size_t number, size_t series);
struct th_bench_figure th_bench_time_beside(const struct th_bench *bench, size_t number,
                                            size_t base, size_t series);

/* Return the calls per second of tracer NUMBER on one, or on all, schedulers; and how many times as
 * many all schedulers make, by round. */
struct th_bench_figure th_bench_rate(const struct th_bench *bench, size_t number, bool all);
struct th_bench_figure th_bench_gain(const struct th_bench *bench, size_t number);

/*
 * The difference between the new and the old tracer in a series.
 *
 * `p` is that of the sign test, for two sides: the probability that as many runs, or more, would have
 * the same sign if both were equally fast. The times differ if p is below TH_BENCH_P divided by the
 * number of compared series, and the medians differ by at least a twentieth and 2 ns, as addresses
 * of code and data alone make smaller differences. Instructions differ by at least a hundredth
 * and one.
 */
#define TH_BENCH_P 0.01
enum { TH_BENCH_COMPARED_RUNS = 20 /* least number for which p can be small enough */ };

struct th_bench_difference {
    bool compared; /* both tracers want the series */
    double p, more_ns, more_instructions;
    bool time_differs, instructions_differ;
};
struct th_bench_difference th_bench_compare(const struct th_bench *bench, size_t series);

/* Print the results on stdout. */
void th_bench_print_text(const struct th_bench *bench);
void th_bench_print_json(const struct th_bench *bench);

#endif
