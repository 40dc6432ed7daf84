#include "measure.h"

#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

/* Runs each case ROUNDS times and returns the times, in ns an event. */
static double *take_times(const struct measure_case *cases, size_t count, size_t rounds)
{
    double *times = calloc(count * rounds, sizeof *times);

    if (!times)
        abort();
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            double began = now();
            uint64_t events = cases[i].run();
            times[i * rounds + round] = (now() - began) / (double)(events ? events : 1);
        }
    return times;
}

static void write_medians(FILE *out, const struct measure_case *cases, size_t count, double *times,
                          size_t rounds, double *medians)
{
    for (size_t i = 0; i < count; i++) {
        medians[i] = median(&times[i * rounds], rounds);
        fprintf(out, "  %-28s %8.1f ns/event %8.2f million events/s\n", cases[i].name, medians[i],
                1e3 / medians[i]);
    }
}

void measure_medians(FILE *out, const struct measure_case *cases, size_t count, size_t rounds,
                     double *medians)
{
    double *times = take_times(cases, count, rounds);

    write_medians(out, cases, count, times, rounds, medians);
    free(times);
}

void measure(FILE *out, const struct measure_case *cases, size_t count, double *medians)
{
    measure_medians(out, cases, count, MEASURE_ROUNDS, medians);
}

void measure_pairs(FILE *out, const struct measure_case *cases, size_t count, size_t rounds,
                   double *ratios)
{
    double *times = take_times(cases, count, rounds);
    double *pairs = calloc(rounds, sizeof *pairs);

    if (!pairs)
        abort();
    for (size_t i = 0; i < count; i++) {
        for (size_t round = 0; round < rounds; round++)
            pairs[round] = times[i * rounds + round] / times[round];
        ratios[i] = median(pairs, rounds);
    }
    write_medians(out, cases, count, times, rounds, pairs);
    free(pairs);
    free(times);
}
