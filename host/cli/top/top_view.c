#include "top_view.h"

#include "host/base/buffer.h"
#include "host/trace/pattern.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- The model -------------------------------------------------------------------------------- */

void th_top_model_begin(struct th_top_model *model, int64_t now)
{
    model->before = model->now;
    model->now = now;
    for (size_t i = 0; i < model->count; i++)
        model->rows[i]->rate = 0;
}

void th_top_model_add(struct th_top_model *model, const struct th_mfa *function,
                      const struct th_top_counted *counted, bool timed)
{
    uint64_t key = th_trace_function_key(function);
    struct th_top_row *row = th_hash_table_get(&model->by_function, key);
    double seconds = (double)(model->now - model->before) / 1e9;

    if (!row) {
        struct th_buffer name = {0};
        th_trace_function_show(&name, function);
        row = th_alloc_zero(sizeof *row);
        row->name = th_buffer_take_text(&name);
        th_hash_table_set(&model->by_function, key, row);
        TH_ARRAY_GROW(model->rows, model->count, model->capacity);
        model->rows[model->count++] = row;
    }
    if (counted->calls < row->read.calls)
        row->read = row->base = (struct th_top_counted){0};
    if (model->before && seconds > 0)
        row->rate = (double)(counted->calls - row->read.calls) / seconds;
    row->read = *counted;
    model->timed |= timed;
}

void th_top_model_end(struct th_top_model *model)
{
    model->called = 0;
    model->rate = 0;
    model->all = (struct th_top_counted){0};
    for (size_t i = 0; i < model->count; i++) {
        struct th_top_row *row = model->rows[i];
        row->shown.calls = row->read.calls - row->base.calls;
        row->shown.time = row->read.time - row->base.time;
        model->called += row->shown.calls > 0;
        model->all.calls += row->shown.calls;
        model->all.time += row->shown.time;
        model->rate += row->rate;
    }
    th_top_model_sort(model, model->order);
}

static int top_view_by_calls(const void *a, const void *b)
{
    const struct th_top_row *one = *(struct th_top_row *const *)a;
    const struct th_top_row *other = *(struct th_top_row *const *)b;

    if (one->shown.calls != other->shown.calls)
        return one->shown.calls < other->shown.calls ? 1 : -1;
    return strcmp(one->name, other->name);
}

/* A function without calls since the restart may still have time of calls that began before. */
static int by_time(const void *a, const void *b)
{
    const struct th_top_row *one = *(struct th_top_row *const *)a;
    const struct th_top_row *other = *(struct th_top_row *const *)b;

    if (!one->shown.calls != !other->shown.calls)
        return one->shown.calls ? -1 : 1;
    if (one->shown.time != other->shown.time)
        return one->shown.time < other->shown.time ? 1 : -1;
    return top_view_by_calls(a, b);
}

void th_top_model_sort(struct th_top_model *model, enum th_top_order order)
{
    model->order = order;
    if (model->count)
        qsort(model->rows, model->count, sizeof *model->rows,
              order == TH_TOP_BY_TIME ? by_time : top_view_by_calls);
}

void th_top_model_restart(struct th_top_model *model)
{
    for (size_t i = 0; i < model->count; i++)
        model->rows[i]->base = model->rows[i]->read;
    th_top_model_end(model);
}

void th_top_model_free(struct th_top_model *model)
{
    for (size_t i = 0; i < model->count; i++) {
        th_free(model->rows[i]->name);
        th_free(model->rows[i]);
    }
    th_free(model->rows);
    th_hash_table_free(&model->by_function);
    *model = (struct th_top_model){0};
}

/* --- The view --------------------------------------------------------------------------------- */

enum {
    HEADING = 1 + TH_TOP_ABOUT, /* index of the line with the columns' titles */
    AROUND = HEADING + 2,       /* lines that are no rows: those above, the titles, the help */
    NAME_LEAST = 30,            /* a column is left out rather than names get less */
};

/* --- Columns ---------------------------------------------------------------------------------- */

/* In the order of display. */
enum { RATE, CALLS, OWN_TIME, SHARE, EACH, COLUMNS };

static const struct column {
    const char *title, *untimed; /* untimed: without times; NULL: then not shown */
    unsigned width, left;        /* left: columns with a smaller number are left out first */
} columns[COLUMNS] = {
    [RATE] = {"calls/s", "calls/s", 7, 3},     [CALLS] = {"calls", "calls", 12, 5},
    [OWN_TIME] = {"own seconds", NULL, 12, 4}, [SHARE] = {"% time", "% calls", 7, 2},
    [EACH] = {"us a call", NULL, 10, 1},
};

static void print_cell(struct th_buffer *out, const struct th_top_model *model,
                       const struct th_top_row *row, unsigned column)
{
    const double wide = 1e12; /* more digits than the column of calls has */
    double calls = (double)row->shown.calls, seconds = (double)row->shown.time / 1e9, part, all;

    switch (column) {
    case RATE:
        th_top_print_number(out, row->rate);
        break;
    case CALLS:
        if (calls < wide)
            th_buffer_printf(out, "%" PRIu64, row->shown.calls);
        else
            th_top_print_number(out, calls);
        break;
    case OWN_TIME:
        th_buffer_printf(out, seconds < 1000 ? "%.6f" : "%.3f", seconds);
        break;
    case SHARE: /* of the time, or of the calls if no time is known */
        part = model->timed ? (double)row->shown.time : calls;
        all = model->timed ? (double)model->all.time : (double)model->all.calls;
        th_buffer_printf(out, "%.1f", all > 0 ? 100 * part / all : 0);
        break;
    case EACH:
        th_buffer_printf(out, "%.3f", calls > 0 ? (double)row->shown.time / 1e3 / calls : 0);
        break;
    }
}

static const char *title_of(const struct column *column, const struct th_top_model *model)
{
    return model->timed ? column->title : column->untimed;
}

/* Returns the columns that fit the width, as a bit set. */
static unsigned top_view_choose(const struct th_top_view *view)
{
    unsigned chosen = 0, taken = 0;

    for (unsigned left = COLUMNS; left > 0; left--)
        for (unsigned i = 0; i < COLUMNS; i++) {
            if (columns[i].left != left || !title_of(&columns[i], view->model))
                continue;
            taken += columns[i].width + 1;
            if (left < COLUMNS && taken + 1 + NAME_LEAST > view->width)
                return chosen;
            chosen |= 1u << i;
        }
    return chosen;
}

/* --- Lines ------------------------------------------------------------------------------------ */

/* Ends the line that begins at START: cuts it at the view's width. A UTF-8 continuation byte starts
 * no character. */
static void end_line(struct th_buffer *out, size_t start, const struct th_top_view *view)
{
    unsigned characters = 0;
    size_t i = start;

    for (; i < out->size; i++)
        if ((out->data[i] & 0xC0) != 0x80 && ++characters > view->width)
            break;
    out->size = i;
    while (out->size > start && out->data[out->size - 1] == ' ')
        out->size--;
    th_buffer_add_byte(out, '\n');
}

/* Prints the chosen columns of ROW; NULL: their titles. */
static void print_columns(struct th_buffer *out, const struct th_top_view *view, unsigned chosen,
                          const struct th_top_row *row)
{
    size_t start = out->size;

    for (unsigned i = 0; i < COLUMNS; i++) {
        struct th_buffer cell = {0};
        if (!(chosen >> i & 1))
            continue;
        if (row)
            print_cell(&cell, view->model, row, i);
        else
            th_buffer_add_text(&cell, title_of(&columns[i], view->model));
        th_buffer_printf(out, "%*s ", (int)columns[i].width, th_buffer_text(&cell));
        th_buffer_free(&cell);
    }
    th_buffer_printf(out, " %s", row ? row->name : "function");
    end_line(out, start, view);
}

/* If the height is too small, lines at the end are left out, but not the help. */
size_t th_top_view_print(struct th_buffer *out, const struct th_top_view *view)
{
    const struct th_top_model *model = view->model;
    size_t rows = th_top_view_rows(view), start = out->size;
    int64_t seconds = view->elapsed / 1000000000;
    unsigned chosen = top_view_choose(view), lines = 0;

    if (lines++ < view->height) {
        th_buffer_printf(out, "tracehost %s  %" PRId64 ":%02d  ", view->command, seconds / 60,
                         (int)(seconds % 60));
        th_top_print_number(out, model->rate);
        th_buffer_printf(out, " calls/s  %" PRIu64 " calls  %zu of %zu functions called%s%s",
                         model->all.calls, model->called, model->count,
                         view->paused ? "  PAUSED" : "", view->ended ? "  ENDED" : "");
        end_line(out, start, view);
    }
    for (size_t i = 0; i < TH_TOP_ABOUT && lines < view->height; i++, lines++) {
        start = out->size;
        th_buffer_add_text(out, view->about[i]);
        end_line(out, start, view);
    }
    if (lines < view->height)
        print_columns(out, view, chosen, NULL);
    for (size_t i = view->first; i < view->first + rows; i++)
        if (i < model->called)
            print_columns(out, view, chosen, model->rows[i]);
        else
            th_buffer_add_byte(out, '\n');
    if (view->height >= AROUND) {
        start = out->size;
        th_buffer_printf(out, "q end %s  c by calls  t by time  r restart  p %s  arrows scroll",
                         view->command, view->paused ? "go on" : "pause");
        end_line(out, start, view);
    }
    return HEADING;
}

size_t th_top_view_rows(const struct th_top_view *view)
{
    return view->height > AROUND ? view->height - AROUND : 0;
}

size_t th_top_view_last(const struct th_top_view *view)
{
    size_t rows = th_top_view_rows(view);

    return view->model->called > rows ? view->model->called - rows : 0;
}

void th_top_print_number(struct th_buffer *out, double number)
{
    static const char units[] = {' ', 'k', 'M', 'G', 'T'};
    unsigned unit = 0;

    for (; number >= 9999.5 && unit + 1 < sizeof units; unit++)
        number /= 1000;
    if (unit)
        th_buffer_printf(out, "%.0f %c", number, units[unit]);
    else
        th_buffer_printf(out, "%.0f", number);
}
