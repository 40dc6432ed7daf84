/* What `--top` shows, as lines of a given width. */
#ifndef TH_TOP_VIEW_H
#define TH_TOP_VIEW_H

#include "host/base/hash.h"

#include <stdbool.h>

struct th_mfa;
struct th_buffer;

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

enum { TH_TOP_ABOUT = 2 /* lines that say what runs or is played */ };

struct th_top_view {
    const char *command; /* run, replay */
    const struct th_top_model *model;
    const char *about[TH_TOP_ABOUT]; /* "": nothing */
    int64_t elapsed;                 /* nanoseconds since the view or the counts began */
    bool paused, ended;              /* ended: nothing more comes */
    size_t first;                    /* the row that is shown first */
    unsigned width, height;
};

/*
 * Appends `height` lines, each of at most `width` characters and a '\n'. Where that is
 * narrow there are fewer columns, so that names have room, and lines are cut. Returns the number,
 * from 0, of the line that is the heading of the columns.
 */
size_t th_top_view_print(struct th_buffer *out, const struct th_top_view *view);

/* How many rows are shown at most; and the greatest `first` that leaves no line empty. */
size_t th_top_view_rows(const struct th_top_view *view);
size_t th_top_view_last(const struct th_top_view *view);

/* "999", "12 k", "3.4 M": in at most 6 characters up to 10^12. */
void th_top_print_number(struct th_buffer *out, double number);

#endif
