/*
 * What `--top` shows, as numbers: a row for each function, from readings of its counts. A rate is
 * what came between the last two readings.
 *
 *   struct th_top_model model = {0};
 *   th_top_model_begin(&model, now);                     a reading
 *   th_top_model_add(&model, &function, &counted);       for each function
 *   th_top_model_end(&model);                            rates are known, rows are sorted
 *
 * One thread at a time.
 */
#ifndef TH_TOP_MODEL_H
#define TH_TOP_MODEL_H

#include "host/base/base.h"
#include "host/trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* What was counted of a function since its breakpoint was set. */
struct th_top_counted {
    uint64_t calls;
    int64_t time; /* its own, nanoseconds: without what functions took that are timed, too */
};

struct th_top_row {
    char *name;                  /* m:f/1 */
    struct th_top_counted read;  /* by the latest reading */
    struct th_top_counted base;  /* what it was at the latest restart */
    struct th_top_counted shown; /* what came since then */
    double rate;                 /* calls a second */
};

enum th_top_order { TH_TOP_BY_CALLS, TH_TOP_BY_TIME };

struct th_top_model {
    struct th_top_row **rows; /* in the order that is asked for, those that were called first */
    size_t count, capacity;
    size_t called;             /* rows with calls */
    struct th_top_counted all; /* of all rows */
    double rate;
    bool timed; /* any time was counted: else it is not known */
    enum th_top_order order;
    int64_t now, before; /* of the latest reading, and of the one before; 0: there is none */
    struct th_table by_function;
};

/* NOW: monotonic nanoseconds, later than those of the reading before. */
void th_top_model_begin(struct th_top_model *model, int64_t now);

/* TIMED: counted->time is known. A function that is not in a reading stays as it was. One whose
 * counts are less than they were began anew, as code does that is loaded again. */
void th_top_model_add(struct th_top_model *model, const struct th_mfa *function,
                      const struct th_top_counted *counted, bool timed);
void th_top_model_end(struct th_top_model *model);

/* Most first; of the same, as calls and then names say. */
void th_top_model_sort(struct th_top_model *model, enum th_top_order order);

/* What is shown counts from the latest reading on; rates stay. */
void th_top_model_restart(struct th_top_model *model);

void th_top_model_free(struct th_top_model *model);

#endif
