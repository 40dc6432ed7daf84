/* What `--top` shows, as lines of a given width. */
#ifndef TH_TOP_VIEW_H
#define TH_TOP_VIEW_H

#include "top_model.h"

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
