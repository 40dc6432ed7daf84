/* Measures cases in turn, so that a change of the machine's speed affects all cases alike. The
 * median is the result. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>
#include <stdio.h>

struct measure_case {
    const char *name;
    uint64_t (*run)(void); /* returns its number of events */
};

enum { MEASURE_ROUNDS = 9 };

/* Runs each case MEASURE_ROUNDS times, in turn, and writes a line for each to OUT. MEDIANS gets the
 * medians, in ns an event. */
void measure(FILE *out, const struct measure_case *cases, size_t count, double *medians);

/* Like measure(), with ROUNDS rounds. */
void measure_medians(FILE *out, const struct measure_case *cases, size_t count, size_t rounds,
                     double *medians);

/* Like measure_medians(); MEDIANS may be NULL. RATIOS gets, for each case, the median of its time
 * divided by the time of the first case in the same round, which other work on the machine hardly
 * affects. */
void measure_pairs(FILE *out, const struct measure_case *cases, size_t count, size_t rounds,
                   double *medians, double *ratios);

/* Append the figure NAME to the file $BENCH_FIGURES (see figures.py), alone or beside a peer's. If
 * that is not set, do nothing. RATIO is OURS / PEER, as the median of rounds. */
void measure_figure(const char *name, double value);
void measure_figure_pair(const char *name, double ours, double peer, double ratio);

#endif
