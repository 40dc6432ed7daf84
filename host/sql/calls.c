/*
 * The table `calls`: a row for each call. A row leaves when the call ends, the rows of open calls leave
 * after the last record. Which record ends a call is decided by replay/call_durations.h alone.
 */
#include "table.h"

#define CALL_COLUMNS(X)             \
    X(recording, TEXT, RECORDING)   \
    X(record, INTEGER, RECORD)      \
    X(time, INTEGER, TIME)          \
    X(clock, TEXT, NOTHING)         \
    X(tracee, TEXT, TRACEE)         \
    X(module, TEXT, MODULE)         \
    X(function, TEXT, FUNCTION)     \
    X(arity, INTEGER, ARITY)        \
    X(args, TEXT, NOTHING)          \
    X(caller, TEXT, NOTHING)        \
    X(depth, INTEGER, NOTHING)      \
    X(duration, INTEGER, NOTHING)   \
    X(ended, INTEGER, NOTHING)      \
    X(end_record, INTEGER, NOTHING) \
    X(ended_by, TEXT, NOTHING)      \
    X(result, TEXT, NOTHING)

enum { CALL_COLUMNS(TH_SQL_COLUMN_ENUM) CALL_COLUMN_COUNT };
static const struct th_sql_column call_columns[] = {CALL_COLUMNS(TH_SQL_COLUMN_ROW)};

/* An open call. There may be millions. */
struct call {
    uint64_t record; /* 0: none, in struct calls */
    struct th_mfa function;
    struct th_event_time time;
    struct th_sql_tracee tracee;
    struct th_caller caller;
    uint32_t depth; /* 0: unknown */
    char *args;     /* text; NULL: none, or not asked for */
};

struct call_row {
    struct call call;
    const char *ended_by;
    uint64_t end_record; /* 0: not known; else the row leaves at this record */
    struct th_event_time ended;
    bool timed;
    int64_t duration;
};

struct calls {
    struct th_sql_cursor *cursor;
    struct th_call_durations *durations;
    struct call *open; /* by place, from 1 */
    size_t capacity;
    size_t shown;        /* rest(): number of places that were looked at */
    struct call_row row; /* rest(): the row */
};

static void free_call(struct call *call)
{
    th_free(call->tracee.text);
    th_free(call->args);
}

static void free_call_row(void *row)
{
    free_call(&((struct call_row *)row)->call);
}

static const char *ended_by(const struct th_event *event, enum th_call_duration kind)
{
    if (kind == TH_DURATION_DOUBTFUL)
        return "doubtful";
    if (event->tag == TH_TAG_exit)
        return "exit";
    if (kind == TH_DURATION_UNSHOWN)
        return "unshown";
    return event->tag == TH_TAG_return_from      ? "return"
           : event->tag == TH_TAG_exception_from ? "exception"
                                                 : "return_to";
}

/* Queues the row of the call at PLACE, which the current record ends. */
static void end_followed_call(void *context, uint32_t place, enum th_call_duration kind, int64_t ns)
{
    struct calls *calls = context;
    const struct th_event *event = &calls->cursor->event;
    struct call *call = place <= calls->capacity ? &calls->open[place - 1] : NULL;
    struct call_row row;

    if (!call || !call->record)
        return;
    row = (struct call_row){.call = *call,
                            .ended_by = ended_by(event, kind),
                            .timed = kind == TH_DURATION_KNOWN,
                            .duration = ns};
    if (kind == TH_DURATION_KNOWN || kind == TH_DURATION_UNTIMED) {
        row.end_record = event->number;
        row.ended = event->time;
    }
    th_sql_queue(calls->cursor, &row);
    call->record = 0;
}

static void begin_calls_table(struct th_sql_cursor *cursor)
{
    struct calls *calls = th_alloc_zero(sizeof *calls);
    const struct th_call_durations_follow follow = {.ended = end_followed_call,
                                                    .context = calls,
                                                    .recorded_callers =
                                                        cursor->options->recorded_callers};

    calls->cursor = cursor;
    calls->durations = th_replay_call_durations_follow(&follow);
    cursor->state = calls;
    th_sql_scan_calls(cursor);
}

static void end_calls_table(struct th_sql_cursor *cursor)
{
    struct calls *calls = cursor->state;

    for (size_t i = 0; i < calls->capacity; i++)
        if (calls->open[i].record)
            free_call(&calls->open[i]);
    free_call_row(&calls->row);
    th_replay_call_durations_end(calls->durations);
    th_free(calls->open);
    th_free(calls);
}

static void make_room(struct calls *calls, uint32_t place)
{
    size_t capacity = calls->capacity ? calls->capacity : 64;

    while (capacity < place)
        capacity *= 2;
    if (capacity == calls->capacity)
        return;
    calls->open = th_realloc(calls->open, capacity * sizeof *calls->open);
    memset(calls->open + calls->capacity, 0, (capacity - calls->capacity) * sizeof *calls->open);
    calls->capacity = capacity;
}

/* Returns the text of the arguments; NULL if the recording has only their number. Errors: TH_FAILED. */
static enum th_status args_of_call(struct th_sql_cursor *cursor, char **text)
{
    struct th_event *event = &cursor->event;
    enum th_status status = th_trace_event_decode(event, &cursor->env);
    th_term args = status == TH_OK ? th_tuple_elements(event->term)[2] : TH_NONE;

    if (status == TH_OK && !th_is_small(args))
        *text = th_sql_text_of(cursor, args);
    return status;
}

/* Keeps the call that was added last, or queues its row if its end cannot be known. */
static enum th_status keep_call(struct th_sql_cursor *cursor)
{
    struct calls *calls = cursor->state;
    const struct th_event *event = &cursor->event;
    struct th_call_followed followed = th_replay_call_durations_latest(calls->durations);
    struct call call = {.record = event->number, .time = event->time};
    enum th_status status = event->source->function(&cursor->event, &call.function);

    if (status != TH_OK || !th_sql_window_takes_function(&cursor->window, &call.function) ||
        !th_sql_window_takes_time(&cursor->window, &call.time) ||
        call.record < cursor->window.first || call.record > cursor->window.last)
        return status;
    if (th_sql_uses(cursor, COLUMN_args) && (status = args_of_call(cursor, &call.args)) != TH_OK)
        return status;
    call.tracee = th_sql_tracee_of(cursor, event->tracee);
    call.caller = followed.caller;
    call.depth = followed.depth;
    if (followed.place) {
        make_room(calls, followed.place);
        calls->open[followed.place - 1] = call;
    } else {
        th_sql_queue(cursor, &(struct call_row){.call = call, .ended_by = "unknown"});
    }
    return TH_OK;
}

static enum th_status take_call(struct th_sql_cursor *cursor)
{
    struct calls *calls = cursor->state;
    struct th_event *event = &cursor->event;
    enum th_status status = th_replay_call_durations_add(calls->durations, event, &cursor->env);

    if (status == TH_OK && event->kind <= TH_EVENT_TRACE_TS && event->tag == TH_TAG_call)
        status = keep_call(cursor);
    return status;
}

/* The calls that are open, in the order of their places. */
static const void *open_call(struct th_sql_cursor *cursor)
{
    struct calls *calls = cursor->state;

    if (calls->shown == 0)
        th_sql_scan_tell(cursor, "calls whose ends are not known, as too many were open",
                         th_replay_call_durations_counts(calls->durations).forgotten);
    free_call_row(&calls->row);
    calls->row = (struct call_row){.ended_by = "open"};
    while (calls->shown < calls->capacity && !calls->open[calls->shown].record)
        calls->shown++;
    if (calls->shown == calls->capacity)
        return NULL;
    calls->row.call = calls->open[calls->shown];
    calls->open[calls->shown++].record = 0;
    return &calls->row;
}

static void result_column(struct th_sql_cursor *cursor, sqlite3_context *context,
                          const struct call_row *row)
{
    struct th_event *event = &cursor->event;

    if (!row->end_record || event->tag == TH_TAG_return_to)
        return;
    if (th_trace_event_decode(event, &cursor->env) == TH_OK)
        th_sql_cell_term(cursor, context, event->extra);
    else
        th_sql_cell_error(context);
}

static void call_column(struct th_sql_cursor *cursor, sqlite3_context *context, int column)
{
    const struct call_row *row = cursor->row;
    const struct call *call = &row->call;

    switch (column) {
    case COLUMN_recording:
        th_sql_cell_recording(cursor, context);
        break;
    case COLUMN_record:
        sqlite3_result_int64(context, (sqlite3_int64)call->record);
        break;
    case COLUMN_time:
        th_sql_cell_time(context, &call->time);
        break;
    case COLUMN_clock:
        th_sql_cell_clock(context, &call->time);
        break;
    case COLUMN_tracee:
        th_sql_cell_tracee(cursor, context, &call->tracee);
        break;
    case COLUMN_module:
        th_sql_cell_name(cursor, context, call->function.module);
        break;
    case COLUMN_function:
        th_sql_cell_name(cursor, context, call->function.function);
        break;
    case COLUMN_arity:
        sqlite3_result_int64(context, call->function.arity);
        break;
    case COLUMN_args:
        th_sql_cell_text(context, call->args);
        break;
    case COLUMN_caller:
        th_sql_cell_caller(cursor, context, &call->caller);
        break;
    case COLUMN_depth:
        if (call->depth)
            sqlite3_result_int64(context, call->depth);
        break;
    case COLUMN_duration:
        if (row->timed)
            sqlite3_result_int64(context, row->duration);
        break;
    case COLUMN_ended:
        th_sql_cell_time(context, &row->ended);
        break;
    case COLUMN_end_record:
        if (row->end_record)
            sqlite3_result_int64(context, (sqlite3_int64)row->end_record);
        break;
    case COLUMN_ended_by:
        th_sql_cell_constant(context, row->ended_by);
        break;
    case COLUMN_result:
        result_column(cursor, context, row);
        break;
    }
}

static uint64_t call_number(const struct th_sql_cursor *cursor)
{
    return ((const struct call_row *)cursor->row)->call.record;
}

const struct th_sql_table th_sql_calls = {.name = "calls",
                                          .columns = call_columns,
                                          .count = CALL_COLUMN_COUNT,
                                          .row_size = sizeof(struct call_row),
                                          .begin = begin_calls_table,
                                          .take = take_call,
                                          .rest = open_call,
                                          .end = end_calls_table,
                                          .free_row = free_call_row,
                                          .number = call_number,
                                          .column = call_column};
