/* The table `functions`: a row for each function, the sums over its calls in the table `calls`. */
#include "table.h"

#define FUNCTION_COLUMNS(X)           \
    X(recording, TEXT, RECORDING)     \
    X(module, TEXT, MODULE)           \
    X(function, TEXT, FUNCTION)       \
    X(arity, INTEGER, ARITY)          \
    X(calls, INTEGER, NOTHING)        \
    X(exceptions, INTEGER, NOTHING)   \
    X(timed, INTEGER, NOTHING)        \
    X(duration, INTEGER, NOTHING)     \
    X(own_duration, INTEGER, NOTHING) \
    X(min_duration, INTEGER, NOTHING) \
    X(max_duration, INTEGER, NOTHING)

enum { FUNCTION_COLUMNS(TH_SQL_COLUMN_ENUM) FUNCTION_COLUMN_COUNT };
static const struct th_sql_column function_columns[] = {FUNCTION_COLUMNS(TH_SQL_COLUMN_ROW)};

struct sums {
    struct th_mfa function;
    uint64_t first_record;
    uint64_t calls, exceptions;
    uint64_t timed; /* calls with a duration */
    int64_t total, own, least, most;
};

struct open_call {
    struct sums *sums; /* of its function; NULL: not asked for */
    uint32_t below;    /* place of the call that made this one; 0: none */
    int64_t inside;    /* nanoseconds of the calls that it made, as far as they are known */
};

struct functions {
    struct th_sql_cursor *cursor;
    struct th_call_durations *durations;
    struct th_table table; /* struct sums by function */
    struct sums **sums;    /* the same in the order of their first calls */
    size_t count, capacity;
    struct open_call *open; /* by place, from 1 */
    size_t places;
    size_t shown;
};

/* A key that is not 0: two atoms have 40 bits, the arity 8. */
static uint64_t key_of_function(const struct th_mfa *function)
{
    return (uint64_t)th_atom_index(function->module) << 32 |
           (uint64_t)th_atom_index(function->function) << 9 | function->arity << 1 | 1;
}
_Static_assert(TH_ATOM_LIMIT <= 1 << 23, "atoms do not fit");

static void end_call_of_function(void *context, uint32_t place, enum th_call_duration kind,
                                 int64_t ns)
{
    struct functions *functions = context;
    struct open_call *call = &functions->open[place - 1];
    struct sums *sums = call->sums;

    if (call->below) /* the time of a call whose duration is not known is that of its caller */
        functions->open[call->below - 1].inside += kind == TH_DURATION_KNOWN ? ns : call->inside;
    if (!sums)
        return;
    sums->exceptions += functions->cursor->event.tag == TH_TAG_exception_from &&
                        (kind == TH_DURATION_KNOWN || kind == TH_DURATION_UNTIMED);
    if (kind != TH_DURATION_KNOWN)
        return;
    if (sums->timed++ == 0)
        sums->least = sums->most = ns;
    sums->total += ns;
    sums->own += ns > call->inside ? ns - call->inside : 0;
    if (ns < sums->least)
        sums->least = ns;
    if (ns > sums->most)
        sums->most = ns;
}

static void begin_functions(struct th_sql_cursor *cursor)
{
    struct functions *functions = th_alloc_zero(sizeof *functions);
    const struct th_call_durations_follow follow = {.ended = end_call_of_function,
                                                    .context = functions,
                                                    .recorded_callers =
                                                        cursor->options->recorded_callers};

    functions->cursor = cursor;
    functions->durations = th_replay_call_durations_follow(&follow);
    cursor->state = functions;
    th_sql_scan_calls(cursor);
}

static void end_functions(struct th_sql_cursor *cursor)
{
    struct functions *functions = cursor->state;

    for (size_t i = 0; i < functions->count; i++)
        th_free(functions->sums[i]);
    th_hash_table_free(&functions->table);
    th_replay_call_durations_end(functions->durations);
    th_free(functions->sums);
    th_free(functions->open);
    th_free(functions);
}

static struct sums *sums_of(struct functions *functions, const struct th_mfa *function)
{
    uint64_t key = key_of_function(function);
    struct sums *sums = th_hash_table_get(&functions->table, key);

    if (sums)
        return sums;
    sums = th_alloc_zero(sizeof *sums);
    sums->function = *function;
    sums->first_record = functions->cursor->event.number;
    th_hash_table_set(&functions->table, key, sums);
    TH_ARRAY_GROW(functions->sums, functions->count, functions->capacity);
    functions->sums[functions->count++] = sums;
    return sums;
}

/* Counts the call that was added last. */
static enum th_status count_call(struct th_sql_cursor *cursor)
{
    struct functions *functions = cursor->state;
    struct th_call_followed call = th_replay_call_durations_latest(functions->durations);
    size_t places = functions->places ? functions->places : 64;
    struct open_call unknown, *open = &unknown;
    struct th_mfa function;
    enum th_status status;

    while (places < call.place)
        places *= 2;
    if (call.place && places > functions->places) {
        functions->open = th_realloc(functions->open, places * sizeof *functions->open);
        functions->places = places;
    }
    if (call.place)
        open = &functions->open[call.place - 1];
    *open = (struct open_call){.below = call.below};
    status = cursor->event.source->function(&cursor->event, &function);
    if (status == TH_OK && th_sql_window_takes_function(&cursor->window, &function)) {
        open->sums = sums_of(functions, &function);
        open->sums->calls++;
    }
    return status;
}

static enum th_status take_for_functions(struct th_sql_cursor *cursor)
{
    struct functions *functions = cursor->state;
    struct th_event *event = &cursor->event;
    enum th_status status = th_replay_call_durations_add(functions->durations, event, &cursor->env);

    if (status == TH_OK && event->kind <= TH_EVENT_TRACE_TS && event->tag == TH_TAG_call)
        status = count_call(cursor);
    return status;
}

static const void *next_function(struct th_sql_cursor *cursor)
{
    struct functions *functions = cursor->state;

    if (functions->shown == 0)
        th_sql_scan_tell(cursor, "calls whose ends are not known, as too many were open",
                         th_replay_call_durations_counts(functions->durations).forgotten);
    return functions->shown < functions->count ? functions->sums[functions->shown++] : NULL;
}

static void sums_column(struct th_sql_cursor *cursor, sqlite3_context *context, int column)
{
    const struct sums *sums = cursor->row;

    switch (column) {
    case COLUMN_recording:
        th_sql_cell_recording(cursor, context);
        break;
    case COLUMN_module:
        th_sql_cell_name(cursor, context, sums->function.module);
        break;
    case COLUMN_function:
        th_sql_cell_name(cursor, context, sums->function.function);
        break;
    case COLUMN_arity:
        sqlite3_result_int64(context, sums->function.arity);
        break;
    case COLUMN_calls:
        sqlite3_result_int64(context, (sqlite3_int64)sums->calls);
        break;
    case COLUMN_exceptions:
        sqlite3_result_int64(context, (sqlite3_int64)sums->exceptions);
        break;
    case COLUMN_timed:
        sqlite3_result_int64(context, (sqlite3_int64)sums->timed);
        break;
    case COLUMN_duration:
        if (sums->timed)
            sqlite3_result_int64(context, sums->total);
        break;
    case COLUMN_own_duration:
        if (sums->timed)
            sqlite3_result_int64(context, sums->own);
        break;
    case COLUMN_min_duration:
        if (sums->timed)
            sqlite3_result_int64(context, sums->least);
        break;
    case COLUMN_max_duration:
        if (sums->timed)
            sqlite3_result_int64(context, sums->most);
        break;
    }
}

static uint64_t sums_number(const struct th_sql_cursor *cursor)
{
    return ((const struct sums *)cursor->row)->first_record;
}

const struct th_sql_table th_sql_functions_table = {.name = "functions",
                                                    .columns = function_columns,
                                                    .count = FUNCTION_COLUMN_COUNT,
                                                    .row_size = sizeof(struct sums),
                                                    .begin = begin_functions,
                                                    .take = take_for_functions,
                                                    .rest = next_function,
                                                    .end = end_functions,
                                                    .number = sums_number,
                                                    .column = sums_column};
