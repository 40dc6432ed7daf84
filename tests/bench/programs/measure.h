/* Cases measured in turn, so that a machine that speeds up or slows down does so for all of them;
 * the median counts. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>
#include <stdio.h>

struct measure_case {
    const char *name;
    uint64_t (*run)(void); /* returns how many events it had */
};

enum { MEASURE_ROUNDS = 9 };

/* Runs each case MEASURE_ROUNDS times, in turn, and writes a line for each to OUT. MEDIANS gets ns
 * an event. */
void measure(FILE *out, const struct measure_case *cases, size_t count, double *medians);

/* The same with ROUNDS of one's own. */
void measure_medians(FILE *out, const struct measure_case *cases, size_t count, size_t rounds,
                     double *medians);

/* The same with ROUNDS of one's own, many and short ones: RATIOS gets the medians of how often each
 * case takes what the first takes in the same round, whatever the machine does besides then. */
void measure_pairs(FILE *out, const struct measure_case *cases, size_t count, size_t rounds,
                   double *ratios);

#endif
