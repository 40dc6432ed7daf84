/*
 * Finds a smallest part of a recording for which a test still holds, such as "the tracer crashes in
 * the same place".
 *
 * The search knows nothing of tracers: a trial is a function of the caller. The search is
 * deterministic, and each trial of a set is made once. The steps:
 * 1. Whole classes of records are cut, first by tracee, then by tag, then by function. A class is
 *    one unit, at the place of its last record.
 * 2. Records are cut. Each is one unit.
 *
 * In both steps the needed units are found from left to right. The region of undecided units lies
 * between units known as needed and the last unit:
 * a. The whole region is dropped, in one trial.
 * b. If the test fails, only the last unit of the region is kept, then the last 4, 16 and so on,
 *    until the test holds: trials of few units are cheap, and most causes are close together.
 * c. Between the two numbers of (b) a bisection finds the least number that suffices. The first
 *    unit of the region is needed then.
 * d. The units behind it are dropped one at a time until a drop succeeds: so a run of needed units
 *    costs a trial a unit. Then (a) follows for the rest.
 * At the end each unit that was not dropped alone from the final set is dropped once more, as a
 * test may fail for a part and hold for a smaller one.
 *
 * Two needed records of 245,000 take about 32 trials, five about 120.
 */
#ifndef TH_MINIMIZE_H
#define TH_MINIMIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tests UNITS, COUNT numbers in ascending order. Returns how many of the units, from the first on,
 * were needed until the test held: a tracer that has crashed gets no further record. 0: the test
 * does not hold. */
typedef size_t th_replay_trial(void *context, const size_t units[], size_t count);

struct th_replay_trials {
    th_replay_trial *trial;
    void *context;
    const bool *stopped; /* a trial may set it: no further trial is made; NULL: never */
};

/* Cuts UNITS, COUNT numbers in ascending order for which the trial holds, and returns how many are
 * left at UNITS. If KEEPS_LAST, the last unit is never dropped alone. */
size_t th_replay_minimize_units(size_t units[], size_t count, bool keeps_last,
                                const struct th_replay_trials *trials);

enum th_replay_class {
    TH_REPLAY_CLASS_TRACEE,
    TH_REPLAY_CLASS_TAG,
    TH_REPLAY_CLASS_FUNCTION,
    TH_REPLAY_CLASSES
};

/* The classes of a record: two records are of one class if the numbers are equal. */
struct th_replay_classes {
    uint64_t of[TH_REPLAY_CLASSES];
};

/* As th_replay_minimize_units(), for records: RECORDS are indices in CLASSES. Cuts classes first.
 * The last record stays. */
size_t th_replay_minimize_records(size_t records[], size_t count,
                                  const struct th_replay_classes classes[],
                                  const struct th_replay_trials *trials);

#endif
