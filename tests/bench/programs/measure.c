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

/* Writes a line for each case. MEDIANS gets the medians; NULL: they are only written. */
static void write_medians(FILE *out, const struct measure_case *cases, size_t count, double *times,
                          size_t rounds, double *medians)
{
    for (size_t i = 0; i < count; i++) {
        double ns = median(&times[i * rounds], rounds);
        fprintf(out, "  %-28s %8.1f ns/event %8.2f million events/s\n", cases[i].name, ns,
                1e3 / ns);
        if (medians)
            medians[i] = ns;
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
                   double *medians, double *ratios)
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
    write_medians(out, cases, count, times, rounds, medians);
    free(pairs);
    free(times);
}

/* Opens the file of figures. Returns NULL if there is none. */
static FILE *open_figures(void)
{
    const char *path = getenv("BENCH_FIGURES");
    FILE *figures = path ? fopen(path, "a") : NULL;

    if (path && !figures) {
        perror(path);
        exit(1);
    }
    return figures;
}

void measure_figure(const char *name, double value)
{
    FILE *figures = open_figures();

    if (figures) {
        fprintf(figures, "%s\t%.4g\n", name, value);
        fclose(figures);
    }
}

void measure_figure_pair(const char *name, double ours, double peer, double ratio)
{
    FILE *figures = open_figures();

    if (figures) {
        fprintf(figures, "%s\t%.4g\t%.4g\t%.4g\n", name, ours, peer, ratio);
        fclose(figures);
    }
}
