/* Statistics: medians, spreads, the sign test. */
#include "bench_results.h"

#include "host/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_measured(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Returns the quantile PART of COUNT sorted VALUES. */
static double quantile(const double values[], size_t count, double part)
{
    double place = part * (double)(count - 1);
    size_t below = (size_t)place;

    if (below + 1 == count)
        return values[below];
    return values[below] + (place - (double)below) * (values[below + 1] - values[below]);
}

/* Sorts VALUES. */
static struct th_bench_figure summarise(double values[], size_t count)
{
    qsort(values, count, sizeof *values, compare_measured);
    return (struct th_bench_figure){
        .median = quantile(values, count, 0.5),
        .spread = (quantile(values, count, 0.75) - quantile(values, count, 0.25)) / 2,
    };
}

/* Fills VALUES with the times of a series, less those of BASE; BASE NULL: nothing less. */
static void take_times(const struct th_bench *bench, const struct th_bench_tracer *tracer,
                       const struct th_bench_tracer *base, size_t series, double values[])
{
    for (size_t run = 0; run < bench->runs; run++) {
        size_t i = series * bench->runs + run;
        values[run] = tracer->ns[i] - (base ? base->ns[i] : 0);
    }
}

static struct th_bench_figure time_beside(const struct th_bench *bench, size_t number,
                                          const struct th_bench_tracer *base, size_t series)
{
    double *values = th_alloc(bench->runs * sizeof *values);
    struct th_bench_figure figure;

    take_times(bench, &bench->tracers[number], base, series, values);
    figure = summarise(values, bench->runs);
    th_free(values);
    return figure;
}

struct th_bench_figure th_bench_time(const struct th_bench *bench, size_t number, size_t series)
{
    return time_beside(bench, number, NULL, series);
}

struct th_bench_figure th_bench_time_beside(const struct th_bench *bench, size_t number,
                                            size_t base, size_t series)
{
    return time_beside(bench, number, &bench->tracers[base], series);
}

struct th_bench_figure th_bench_rate(const struct th_bench *bench, size_t number, bool all)
{
    double values[TH_BENCH_ROUNDS];

    memcpy(values, bench->tracers[number].rates[all], sizeof values);
    return summarise(values, TH_BENCH_ROUNDS);
}

struct th_bench_figure th_bench_gain(const struct th_bench *bench, size_t number)
{
    double values[TH_BENCH_ROUNDS];

    for (size_t i = 0; i < TH_BENCH_ROUNDS; i++)
        values[i] = bench->tracers[number].rates[1][i] / bench->tracers[number].rates[0][i];
    return summarise(values, TH_BENCH_ROUNDS);
}

/* --- Comparison ------------------------------------------------------------------------------- */

/* Returns the probability of at most RARE heads, or at most RARE tails, in COUNT tosses. */
static double sign_test(size_t rare, size_t count)
{
    double p = 0, term = pow(0.5, (double)count);

    for (size_t i = 0; i <= rare; i++) {
        p += term;
        term *= (double)(count - i) / (double)(i + 1);
    }
    return 2 * p < 1 ? 2 * p : 1;
}

/* Equal times count for neither side. */
static double compare_times(const struct th_bench *bench, size_t series)
{
    double *values = th_alloc(bench->runs * sizeof *values);
    size_t slower = 0, faster = 0;

    take_times(bench, &bench->tracers[TH_BENCH_NEW], &bench->tracers[TH_BENCH_OLD], series, values);
    for (size_t i = 0; i < bench->runs; i++) {
        slower += values[i] > 0;
        faster += values[i] < 0;
    }
    th_free(values);
    return sign_test(slower < faster ? slower : faster, slower + faster);
}

static bool are_compared(const struct th_bench *bench, size_t series)
{
    return bench->tracers[TH_BENCH_NEW].wanted[series] &&
           bench->tracers[TH_BENCH_OLD].wanted[series];
}

static bool differs_by(double more, double than, double least, double part)
{
    return fabs(more) >= least && fabs(more) >= part * than;
}

struct th_bench_difference th_bench_compare(const struct th_bench *bench, size_t series)
{
    const struct th_bench_tracer *new = &bench->tracers[TH_BENCH_NEW];
    const struct th_bench_tracer *old = &bench->tracers[TH_BENCH_OLD];
    struct th_bench_difference found = {.compared = are_compared(bench, series)};
    size_t compared = 0;

    if (!found.compared)
        return found;
    for (size_t i = 0; i < bench->events.count; i++)
        compared += are_compared(bench, i);
    found.p = compare_times(bench, series);
    found.more_ns = th_bench_time_beside(bench, TH_BENCH_NEW, TH_BENCH_OLD, series).median;
    found.time_differs =
        found.p < TH_BENCH_P / (double)compared &&
        differs_by(found.more_ns, th_bench_time(bench, TH_BENCH_OLD, series).median, 2, 0.05);
    if (new->instructions && old->instructions) {
        found.more_instructions = new->instructions[series] - old->instructions[series];
        found.instructions_differ =
            differs_by(found.more_instructions, old->instructions[series], 1, 0.01);
    }
    return found;
}
