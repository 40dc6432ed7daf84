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

void measure(FILE *out, const struct measure_case *cases, size_t count, double *medians)
{
    double(*times)[MEASURE_ROUNDS] = calloc(count, sizeof *times);

    if (!times)
        abort();
    for (int round = 0; round < MEASURE_ROUNDS; round++)
        for (size_t i = 0; i < count; i++) {
            double began = now();
            uint64_t events = cases[i].run();
            times[i][round] = (now() - began) / (double)(events ? events : 1);
        }
    for (size_t i = 0; i < count; i++) {
        qsort(times[i], MEASURE_ROUNDS, sizeof times[i][0], by_value);
        medians[i] = times[i][MEASURE_ROUNDS / 2];
        fprintf(out, "  %-18s %8.1f ns/event %8.2f million events/s\n", cases[i].name, medians[i],
                1e3 / medians[i]);
    }
    free(times);
}
