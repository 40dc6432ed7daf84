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

/* Like measure_medians(), for many short rounds. RATIOS gets, for each case, the median of its time
 * divided by the time of the first case in the same round, which other work on the machine hardly
 * affects. */
void measure_pairs(FILE *out, const struct measure_case *cases, size_t count, size_t rounds,
                   double *ratios);

#endif
