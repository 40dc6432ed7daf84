/*
 * A histogram of the times of calls, from which percentiles are read.
 *
 * A value of n significant bits, n > SUB_BITS, belongs to one of the SUB_COUNT buckets of equal
 * width of its octave 2^(n-1)..2^n-1; a smaller value has a bucket of its own. So a bucket's width
 * is at most 1 / SUB_COUNT of any value in it: 1.6 %. A percentile is the mean of the values in its
 * bucket, computed from the bucket's sum: its error is less than 1.6 %, and 0 if the bucket's
 * values are equal, as those of a clock of whole microseconds are up to 64 us.
 *
 * An octave of 1 KB is allocated with its first value; calls of one function seldom have more than
 * ten of the 59 octaves.
 */
#ifndef TRACER_HISTOGRAM_H
#define TRACER_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { SUB_BITS = 6, SUB_COUNT = 1 << SUB_BITS, OCTAVES = 64 - SUB_BITS + 1 };

struct bucket {
    uint64_t count, sum;
};

/* Initialised with {0}. */
struct histogram {
    uint64_t count, max;
    struct bucket *octaves[OCTAVES]; /* NULL, or SUB_COUNT buckets */
};

/* Octave 0 holds the values with buckets of their own. */
static inline unsigned histogram_octave(uint64_t value)
{
    return value < SUB_COUNT ? 0 : 64 - SUB_BITS - (unsigned)__builtin_clzll(value);
}

static inline struct bucket *histogram_bucket(struct histogram *histogram, uint64_t value)
{
    unsigned octave = histogram_octave(value);
    struct bucket **buckets = &histogram->octaves[octave];

    if (!*buckets && !(*buckets = calloc(SUB_COUNT, sizeof **buckets)))
        return NULL;
    return *buckets + (octave ? (value >> (octave - 1)) & (SUB_COUNT - 1) : value);
}

/* Adds VALUE. False if there is no memory. */
static inline bool histogram_add(struct histogram *histogram, uint64_t value)
{
    struct bucket *bucket = histogram_bucket(histogram, value);

    if (!bucket)
        return false;
    bucket->count++;
    bucket->sum += value;
    histogram->count++;
    if (value > histogram->max)
        histogram->max = value;
    return true;
}

/* Moves the values of FROM to TO, and frees its octaves. */
static inline void histogram_move(struct histogram *to, struct histogram *from)
{
    for (unsigned i = 0; i < OCTAVES; i++) {
        struct bucket *buckets = from->octaves[i];
        if (!to->octaves[i]) {
            to->octaves[i] = buckets;
        } else if (buckets) {
            for (unsigned j = 0; j < SUB_COUNT; j++) {
                to->octaves[i][j].count += buckets[j].count;
                to->octaves[i][j].sum += buckets[j].sum;
            }
            free(buckets);
        }
    }
    to->count += from->count;
    to->max = to->max > from->max ? to->max : from->max;
    *from = (struct histogram){0};
}

/* Returns the value that PERCENT of all values do not exceed, by nearest rank, as the mean of its
 * bucket. The histogram must not be empty. */
static inline uint64_t histogram_percentile(const struct histogram *histogram, unsigned percent)
{
    uint64_t rank = (histogram->count / 100) * percent +
                    ((histogram->count % 100) * percent + 99) / 100; /* rounded up, no overflow */
    uint64_t before = 0;

    for (unsigned i = 0; i < OCTAVES; i++)
        for (unsigned j = 0; histogram->octaves[i] && j < SUB_COUNT; j++) {
            const struct bucket *bucket = &histogram->octaves[i][j];
            before += bucket->count;
            if (bucket->count && before >= rank)
                return bucket->sum / bucket->count;
        }
    return histogram->max;
}

static inline void histogram_free(struct histogram *histogram)
{
    for (unsigned i = 0; i < OCTAVES; i++)
        free(histogram->octaves[i]);
}

#endif
