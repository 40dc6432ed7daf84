/* Rows by key, and open calls: the state of tables. */
#include "table.h"

#include "host/base/memory.h"

void *th_sql_kept_add(struct th_sql_kept *kept, const struct th_sql_cursor *cursor, uint64_t key)
{
    void *row = th_alloc_zero(cursor->table->row_size);

    th_hash_table_set(&kept->table, key, row);
    TH_ARRAY_GROW(kept->rows, kept->count, kept->capacity);
    kept->rows[kept->count++] = row;
    return row;
}

void th_sql_kept_free(struct th_sql_kept *kept, const struct th_sql_cursor *cursor)
{
    for (size_t i = 0; i < kept->count; i++) {
        th_sql_row_free(cursor->table, kept->rows[i]);
        th_free(kept->rows[i]);
    }
    th_hash_table_free(&kept->table);
    th_free(kept->rows);
}

#define BIT(tag) (UINT64_C(1) << (tag))

void th_sql_open_calls_begin(struct th_sql_open_calls *calls, struct th_sql_cursor *cursor,
                             size_t size,
                             void (*ended)(void *context, uint32_t place,
                                           enum th_call_duration kind, int64_t ns))
{
    const struct th_call_durations_follow follow = {
        .ended = ended, .context = cursor, .recorded_callers = cursor->options->recorded_callers};

    *calls = (struct th_sql_open_calls){.durations = th_replay_call_durations_follow(&follow),
                                        .size = size};
    th_sql_window_begin(&cursor->scan);
    cursor->scan.limits[TH_SQL_ASKS_TRACEE] = cursor->window.limits[TH_SQL_ASKS_TRACEE];
    cursor->scan.tags = BIT(TH_TAG_call) | BIT(TH_TAG_return_to) | BIT(TH_TAG_return_from) |
                        BIT(TH_TAG_exception_from) | BIT(TH_TAG_spawned) | BIT(TH_TAG_exit) |
                        BIT(TH_SQL_TAG_DROP);
}

enum th_status th_sql_open_calls_take(struct th_sql_open_calls *calls, struct th_sql_cursor *cursor,
                                      bool *is_call, struct th_call_followed *call)
{
    struct th_event *event = &cursor->event;
    enum th_status status = th_replay_call_durations_add(calls->durations, event, &cursor->env);
    size_t size;

    *is_call = status == TH_OK && event->kind <= TH_EVENT_TRACE_TS && event->tag == TH_TAG_call;
    if (!*is_call)
        return status;
    *call = th_replay_call_durations_latest(calls->durations);
    size = call->place * calls->size;
    if (size > calls->places.size) {
        th_buffer_reserve(&calls->places, size - calls->places.size);
        calls->places.size = size;
    }
    if (call->place)
        memset(th_sql_open_call(calls, call->place), 0, calls->size);
    return TH_OK;
}

void th_sql_open_calls_tell(const struct th_sql_open_calls *calls, struct th_sql_cursor *cursor)
{
    th_sql_scan_tell(cursor, "calls whose ends are not known, as too many were open",
                     th_replay_call_durations_counts(calls->durations).forgotten);
}

void th_sql_open_calls_end(struct th_sql_open_calls *calls)
{
    th_replay_call_durations_end(calls->durations);
    th_buffer_free(&calls->places);
}
