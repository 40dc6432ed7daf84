/* The model and the lines of the `--top` view. */
#ifndef TH_TOP_VIEW_H
#define TH_TOP_VIEW_H

#include "host/base/hash.h"

#include <stdbool.h>

struct th_mfa;
struct th_buffer;

/*
 * The numbers of the view: a row for each function, filled by readings of its counts. A rate is
 * computed from the last two readings.
 *
 *   struct th_top_model model = {0};
 *   th_top_model_begin(&model, now);                          a reading
 *   th_top_model_add(&model, &function, &counted, timed);     for each function
 *   th_top_model_end(&model);                                 computes sums, sorts the rows
 *
 * Thread: one at a time.
 */
/* Counts of a function since its breakpoint was set. */
struct th_top_counted {
    uint64_t calls;
    int64_t time; /* own time in nanoseconds, without timed callees */
};

struct th_top_row {
    char *name;                  /* m:f/1 */
    struct th_top_counted read;  /* at the latest reading */
    struct th_top_counted base;  /* at the latest restart */
    struct th_top_counted shown; /* since the latest restart */
    double rate;                 /* calls per second */
};

enum th_top_order { TH_TOP_BY_CALLS, TH_TOP_BY_TIME };

struct th_top_model {
    struct th_top_row **rows; /* in the chosen order; functions with calls come first */
    size_t count, capacity;
    size_t called;             /* number of rows with calls */
    struct th_top_counted all; /* sum of all rows */
    double rate;
    bool timed; /* at least one reading had a time */
    enum th_top_order order;
    int64_t now, before; /* of the latest two readings, monotonic nanoseconds; 0: none */
    struct th_table by_function;
};

/* Begins a reading. NOW: monotonic nanoseconds, later than the previous reading. */
void th_top_model_begin(struct th_top_model *model, int64_t now);

/* Adds the counts of FUNCTION. TIMED: counted->time is known. A function that a reading leaves out
 * keeps its counts. If the count of calls has decreased, the code was loaded again: its counts
 * start from 0. */
void th_top_model_add(struct th_top_model *model, const struct th_mfa *function,
                      const struct th_top_counted *counted, bool timed);
void th_top_model_end(struct th_top_model *model);

/* Sorts by ORDER, the largest first; equal rows by calls, then by name. */
void th_top_model_sort(struct th_top_model *model, enum th_top_order order);

/* Restarts the shown counts from the latest reading; rates stay. */
void th_top_model_restart(struct th_top_model *model);

void th_top_model_free(struct th_top_model *model);

enum { TH_TOP_ABOUT = 2 /* number of lines about the run or replay */ };

struct th_top_view {
    const char *command; /* run, replay */
    const struct th_top_model *model;
    const char *about[TH_TOP_ABOUT]; /* "": an empty line */
    int64_t elapsed;                 /* nanoseconds since the view or its counts began */
    bool paused, ended;              /* ended: the replay is over, no more events come */
    size_t first;                    /* index of the first shown row */
    unsigned width, height;
};

/*
 * Appends `height` lines of at most `width` characters, each with a '\n'. If `width` is small,
 * columns are left out in favour of the names, and lines are cut. Returns the index of the line
 * with the titles of the columns.
 */
size_t th_top_view_print(struct th_buffer *out, const struct th_top_view *view);

/* Return the greatest number of rows shown, and the greatest `first` that leaves no row empty. */
size_t th_top_view_rows(const struct th_top_view *view);
size_t th_top_view_last(const struct th_top_view *view);

/* Appends NUMBER, in at most 6 characters up to 10^15: "999", "12 k", "3400 k". */
void th_top_print_number(struct th_buffer *out, double number);

#endif
