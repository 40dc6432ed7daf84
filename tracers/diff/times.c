/*
 * Compares functions: their figures, and the times of their calls by the U test of Mann and Whitney:
 * the normal approximation, corrected for ties. A function has two tests: of own times, and of times
 * with callees. Holm's correction keeps the probability ALPHA for all tests together.
 */
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OWN_TIMES, WHOLE_TIMES, TESTS };

/* The times of one side's calls, sorted by function, then by time. */
struct samples {
    uint64_t *times[TESTS];
    size_t *starts; /* of each function, and the end of the last */
};

struct test {
    struct compared *compared;
    double probability, delta;
    uint64_t medians[2];
    size_t counts[2];
    bool of_callees;
};

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* Fills the starts. False if there is no memory. */
static bool begin_samples(const struct side *side, struct samples *samples)
{
    samples->starts = calloc(side->functions_used + 1, sizeof *samples->starts);
    if (!samples->starts)
        return false;
    for (size_t i = 0; i < side->calls_used; i++)
        samples->starts[side->calls[i].function + 1] += side->calls[i].took != NO_TIME;
    for (size_t i = 0; i < side->functions_used; i++)
        samples->starts[i + 1] += samples->starts[i];
    return true;
}

static bool take_samples(const struct side *side, struct samples *samples, size_t which)
{
    size_t functions = side->functions_used, *ends = calloc(functions + 1, sizeof *ends);
    uint64_t *times = calloc(side->calls_used + 1, sizeof *times);

    samples->times[which] = times;
    if (!times || !ends) {
        free(ends);
        return false;
    }
    memcpy(ends, samples->starts, (functions + 1) * sizeof *ends);
    for (size_t i = 0; i < side->calls_used; i++) {
        const struct call *call = &side->calls[i];
        if (call->took != NO_TIME)
            times[ends[call->function]++] = which == OWN_TIMES ? call->own : call->took;
    }
    for (size_t i = 0; i < functions; i++)
        if (ends[i] > samples->starts[i])
            qsort(times + samples->starts[i], ends[i] - samples->starts[i], sizeof *times,
                  compare_numbers);
    free(ends);
    return true;
}

/* Returns the value that PERCENT of the COUNT sorted TIMES do not exceed, by nearest rank. */
static uint64_t percentile(const uint64_t *times, size_t count, unsigned percent)
{
    size_t rank = (count * percent + 99) / 100;

    return times[rank ? rank - 1 : 0];
}

/* --- The test --- */

static double tail_of_normal(double z)
{
    return erfc(fabs(z) / sqrt(2));
}

/* Returns the standard deviation of U for N and M values; TIES: sum of t^3 - t. */
static double deviation(double n, double m, double ties)
{
    double all = n + m, variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));

    return variance > 0 ? sqrt(variance) : 0;
}

/* Sets the probability that N sorted times A and M sorted times B differ as they do by chance, and
 * Cliff's delta: 1 if all B are greater than all A. */
static void test_times(struct test *test, const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
    double u = 0, ties = 0, mean = (double)n * (double)m / 2, spread, distance;

    for (size_t i = 0, j = 0, i2, j2; j < m; i = i2, j = j2) {
        uint64_t value = i < n && a[i] < b[j] ? a[i] : b[j];
        for (i2 = i; i2 < n && a[i2] == value;)
            i2++;
        for (j2 = j; j2 < m && b[j2] == value;)
            j2++;
        double same = (double)(i2 - i + j2 - j);
        u += (double)(j2 - j) * ((double)i + (double)(i2 - i) / 2);
        ties += same * same * same - same;
    }
    spread = deviation((double)n, (double)m, ties);
    distance = fabs(u - mean) - 0.5;
    test->delta = u / mean - 1;
    test->probability = spread > 0 && distance > 0 ? tail_of_normal(distance / spread) : 1;
}

/* Returns the least probability that N and M times can give. */
static double least_probability(size_t n, size_t m)
{
    return tail_of_normal(((double)n * (double)m / 2 - 0.5) / deviation((double)n, (double)m, 0));
}

/* --- Functions --- */

static int compare_hashes(const void *left, const void *right)
{
    const struct compared *a = left, *b = right;

    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

/* Adds the calls of one side, the functions of which are at PLACES. */
static void add_calls(const struct side *side, const struct samples *samples, size_t i,
                      struct compared *const *places)
{
    for (size_t k = 0; k < side->calls_used; k++) {
        const struct call *call = &side->calls[k];
        struct figures_of_side *figures = &places[call->function]->sides[i];
        figures->calls++;
        figures->errors += call->end == END_ERROR;
        if (call->took == NO_TIME)
            continue;
        figures->total += call->outermost ? call->took : 0;
        figures->own += call->own;
        uint32_t *slowest = &places[call->function]->slowest[i];
        if (!*slowest || side->calls[*slowest - 1].own < call->own)
            *slowest = (uint32_t)k + 1;
    }
    for (size_t k = 0; k < side->functions_used; k++) {
        struct figures_of_side *figures = &places[k]->sides[i];
        const uint64_t *times = samples->times[WHOLE_TIMES] + samples->starts[k];
        figures->timed = samples->starts[k + 1] - samples->starts[k];
        if (!figures->timed)
            continue;
        figures->p50 = percentile(times, figures->timed, 50);
        figures->p90 = percentile(times, figures->timed, 90);
        figures->p99 = percentile(times, figures->timed, 99);
        figures->max = times[figures->timed - 1];
    }
}

/* Makes one element for each function of both sides. PLACES: the elements of each side's functions. */
static bool unite(struct comparison *comparison, struct compared **places[2])
{
    const struct side *sides[2] = {comparison->sides[0].side, comparison->sides[1].side};
    size_t count = sides[0]->functions_used + sides[1]->functions_used, used = 0;
    struct compared *all = calloc(count + 1, sizeof *all);

    if (!all)
        return false;
    comparison->functions = all;
    for (size_t i = 0, at = 0; i < 2; i++)
        for (size_t k = 0; k < sides[i]->functions_used; k++, at++) {
            all[at].hash = sides[i]->functions[k].hash;
            all[at].probability = 1;
            all[at].name = text_at(sides[i], sides[i]->functions[k].name);
        }
    qsort(all, count, sizeof *all, compare_hashes);
    for (size_t at = 0; at < count; at++)
        if (!used || all[used - 1].hash != all[at].hash)
            all[used++] = all[at];
    comparison->functions_used = used;
    for (size_t i = 0; i < 2; i++) {
        places[i] = calloc(sides[i]->functions_used + 1, sizeof **places);
        if (!places[i])
            return false;
        for (size_t k = 0; k < sides[i]->functions_used; k++) {
            struct compared key = {.hash = sides[i]->functions[k].hash};
            places[i][k] = bsearch(&key, all, used, sizeof *all, compare_hashes);
        }
    }
    return true;
}

static int compare_probabilities(const void *left, const void *right)
{
    const struct test *a = left, *b = right;

    return a->probability < b->probability ? -1 : a->probability > b->probability;
}

static bool is_great_enough(const struct test *test)
{
    double before = (double)test->medians[0], after = (double)test->medians[1];
    double least = before < after ? before : after;

    return fabs(test->delta) >= LEAST_DELTA && before != after &&
           fabs(after - before) >= LEAST_CHANGE * least;
}

/* Sets the verdict of a function from one of its tests, which is SIGNIFICANT or not. A certain
 * change of own times is the stronger one. COUNT: number of all tests. */
static void judge(const struct test *test, bool significant, size_t count)
{
    struct compared *compared = test->compared;
    bool slower = test->medians[1] > test->medians[0];
    double least = least_probability(test->counts[0], test->counts[1]);

    if (test->probability < compared->probability)
        compared->probability = test->probability;
    if (significant && is_great_enough(test)) {
        if (!test->of_callees)
            compared->verdict = slower ? TIMES_SLOWER : TIMES_FASTER;
        else if (compared->verdict <= TIMES_NOISE)
            compared->verdict = slower ? TIMES_SLOWER_CALLEES : TIMES_FASTER_CALLEES;
    } else if (compared->verdict == TIMES_UNKNOWN) {
        compared->verdict = least * (double)count > ALPHA ? TIMES_FEW : TIMES_NOISE;
    }
}

/* Decides all tests: Holm's correction goes from the least probability on, until one is too great. */
static void decide(struct test *tests, size_t count)
{
    bool goes_on = true;

    qsort(tests, count, sizeof *tests, compare_probabilities);
    for (size_t i = 0; i < count; i++) {
        goes_on &= tests[i].probability * (double)(count - i) <= ALPHA;
        judge(&tests[i], goes_on, count);
    }
}

/* Returns how important a change is. */
static unsigned rank_of(const struct compared *compared)
{
    const struct figures_of_side *sides = compared->sides;

    if (compared->verdict == TIMES_SLOWER || compared->verdict == TIMES_FASTER)
        return 3;
    if (compared->verdict > TIMES_NOISE)
        return 2;
    return sides[0].calls != sides[1].calls || sides[0].errors != sides[1].errors;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a < b ? b - a : a - b;
}

/* Sorts by importance: certain changes of times, then changes of calls and errors, then the others; in
 * each by the change of own time. */
static int compare_importance(const void *left, const void *right)
{
    const struct compared *a = left, *b = right;
    uint64_t own[2] = {distance(a->sides[0].own, a->sides[1].own),
                       distance(b->sides[0].own, b->sides[1].own)};

    if (rank_of(a) != rank_of(b))
        return rank_of(a) > rank_of(b) ? -1 : 1;
    if (own[0] != own[1])
        return own[0] > own[1] ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Tests each function that has times in both sides. False if there is no memory. */
static bool test_all(struct comparison *comparison, const struct samples samples[2],
                     struct compared **const places[2])
{
    const struct side *a = comparison->sides[0].side, *b = comparison->sides[1].side;
    struct test *tests = calloc(TESTS * b->functions_used + 1, sizeof *tests);
    size_t count = 0;

    if (!tests)
        return false;
    for (size_t k = 0; k < a->functions_used; k++)
        places[0][k]->number = k;
    for (size_t j = 0; j < b->functions_used; j++) {
        struct compared *one = places[1][j];
        size_t n = one->sides[0].timed, m = one->sides[1].timed;
        for (size_t which = 0; which < TESTS && n && m; which++) {
            const uint64_t *before = samples[0].times[which] + samples[0].starts[one->number];
            const uint64_t *after = samples[1].times[which] + samples[1].starts[j];
            struct test *test = &tests[count++];
            *test = (struct test){.compared = one,
                                  .medians = {percentile(before, n, 50), percentile(after, m, 50)},
                                  .counts = {n, m},
                                  .of_callees = which == WHOLE_TIMES};
            test_times(test, before, n, after, m);
        }
    }
    decide(tests, count);
    free(tests);
    return true;
}

bool compare_times(struct comparison *comparison)
{
    struct samples samples[2] = {{.starts = NULL}, {.starts = NULL}};
    struct compared **places[2] = {NULL, NULL};
    bool enough = unite(comparison, places);

    for (size_t i = 0; i < 2 && enough; i++) {
        const struct side *side = comparison->sides[i].side;
        enough = begin_samples(side, &samples[i]);
        for (size_t which = 0; which < TESTS; which++)
            enough = enough && take_samples(side, &samples[i], which);
        if (enough)
            add_calls(side, &samples[i], i, places[i]);
    }
    enough = enough && test_all(comparison, samples, places);
    if (enough)
        qsort(comparison->functions, comparison->functions_used, sizeof *comparison->functions,
              compare_importance);
    for (size_t i = 0; i < 2; i++) {
        for (size_t which = 0; which < TESTS; which++)
            free(samples[i].times[which]);
        free(samples[i].starts);
        free(places[i]);
    }
    return enough;
}
