#include "top_model.h"

#include <stdlib.h>
#include <string.h>

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
        th_trace_function_print(&name, function);
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

static int by_calls(const void *a, const void *b)
{
    const struct th_top_row *one = *(struct th_top_row *const *)a;
    const struct th_top_row *other = *(struct th_top_row *const *)b;

    if (one->shown.calls != other->shown.calls)
        return one->shown.calls < other->shown.calls ? 1 : -1;
    return strcmp(one->name, other->name);
}

/* One that was not called since the restart may have time of calls that began before it. */
static int by_time(const void *a, const void *b)
{
    const struct th_top_row *one = *(struct th_top_row *const *)a;
    const struct th_top_row *other = *(struct th_top_row *const *)b;

    if (!one->shown.calls != !other->shown.calls)
        return one->shown.calls ? -1 : 1;
    if (one->shown.time != other->shown.time)
        return one->shown.time < other->shown.time ? 1 : -1;
    return by_calls(a, b);
}

void th_top_model_sort(struct th_top_model *model, enum th_top_order order)
{
    model->order = order;
    if (model->count)
        qsort(model->rows, model->count, sizeof *model->rows,
              order == TH_TOP_BY_TIME ? by_time : by_calls);
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
