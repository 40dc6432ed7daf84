/*
 * The table `calls`: a row for each call. A row leaves when the call ends, the rows of open calls leave
 * after the last record. Which record ends a call is decided by replay/call_durations.h alone.
 */
#include "table.h"

/* An open call. There may be millions. It has all members that own memory. */
struct call {
    uint64_t record; /* 0: none */
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
    int64_t duration; /* below 0: not known */
    struct th_sql_term result;
};

#define ROW call_row
#define CALL_COLUMNS(X)                                  \
    X(recording, TEXT, RECORDING, RECORDING, call)       \
    X(record, INTEGER, RECORD, COUNT, call.record)       \
    X(time, INTEGER, TIME, TIME, call.time)              \
    X(clock, TEXT, NOTHING, CLOCK, call.time)            \
    X(tracee, TEXT, TRACEE, TRACEE, call.tracee)         \
    X(module, TEXT, MODULE, MODULE, call.function)       \
    X(function, TEXT, FUNCTION, FUNCTION, call.function) \
    X(arity, INTEGER, ARITY, ARITY, call.function)       \
    X(args, TEXT, NOTHING, TEXT, call.args)              \
    X(caller, TEXT, NOTHING, CALLER, call.caller)        \
    X(depth, INTEGER, NOTHING, DEPTH, call.depth)        \
    X(duration, INTEGER, NOTHING, DURATION, duration)    \
    X(ended, INTEGER, NOTHING, TIME, ended)              \
    X(end_record, INTEGER, NOTHING, NUMBER, end_record)  \
    X(ended_by, TEXT, NOTHING, CONSTANT, ended_by)       \
    X(result, TEXT, NOTHING, TERM, result)

enum { CALL_COLUMNS(TH_SQL_COLUMN_ENUM) CALL_COLUMN_COUNT };
static const struct th_sql_column call_columns[] = {CALL_COLUMNS(TH_SQL_COLUMN_ROW)};

struct calls {
    struct th_sql_open_calls open; /* struct call */
    size_t shown;                  /* rest(): number of places that were looked at */
    enum th_status decoded;        /* whether results could be */
};

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
    struct th_sql_cursor *cursor = context;
    struct calls *calls = cursor->state;
    struct th_event *event = &cursor->event;
    struct call *call = th_sql_open_call(&calls->open, place);
    struct call_row row;

    if (!call || !call->record)
        return;
    row = (struct call_row){.call = *call,
                            .ended_by = ended_by(event, kind),
                            .duration = kind == TH_DURATION_KNOWN ? ns : -1};
    if (kind == TH_DURATION_KNOWN || kind == TH_DURATION_UNTIMED) {
        row.end_record = event->number;
        row.ended = event->time;
        if (th_sql_uses(cursor, COLUMN_result) && event->tag != TH_TAG_return_to) {
            calls->decoded = th_trace_event_decode(event, &cursor->env);
            row.result.term = event->extra;
        }
    }
    th_sql_queue(cursor, &row);
    call->record = 0;
}

static void begin_calls_table(struct th_sql_cursor *cursor)
{
    struct calls *calls = th_alloc_zero(sizeof *calls);

    th_sql_open_calls_begin(&calls->open, cursor, sizeof(struct call), end_followed_call);
    cursor->state = calls;
}

static void end_calls_table(struct th_sql_cursor *cursor)
{
    struct calls *calls = cursor->state;
    const struct call *call;

    for (size_t i = 1; (call = th_sql_open_call(&calls->open, i)); i++)
        if (call->record)
            th_sql_row_free(cursor->table, call);
    th_sql_open_calls_end(&calls->open);
    th_free(calls);
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

/* Keeps the call of the record, or queues its row if its end cannot be known. */
static enum th_status take_call(struct th_sql_cursor *cursor)
{
    struct calls *calls = cursor->state;
    const struct th_event *event = &cursor->event;
    const struct th_sql_window *window = &cursor->window;
    struct call call = {.record = event->number, .time = event->time};
    struct th_call_followed followed;
    bool is_call;
    enum th_status status = th_sql_open_calls_take(&calls->open, cursor, &is_call, &followed);

    if (calls->decoded != TH_OK)
        return TH_FAILED;
    if (status != TH_OK || !is_call || !th_sql_window_takes_function(window, &followed.function) ||
        !th_sql_window_takes_time(window, &call.time) ||
        !th_sql_window_has(window, TH_SQL_ASKS_RECORD, (int64_t)call.record))
        return status;
    if (th_sql_uses(cursor, COLUMN_args) && (status = args_of_call(cursor, &call.args)) != TH_OK)
        return status;
    call.function = followed.function;
    call.tracee = th_sql_tracee_of(cursor, event->tracee);
    call.caller = followed.caller;
    call.depth = followed.depth;
    if (followed.place)
        *(struct call *)th_sql_open_call(&calls->open, followed.place) = call;
    else
        th_sql_queue(cursor,
                     &(struct call_row){.call = call, .ended_by = "unknown", .duration = -1});
    return TH_OK;
}

/* Queues the next call that is open, in the order of their places. */
static bool queue_open_call(struct th_sql_cursor *cursor)
{
    struct calls *calls = cursor->state;
    struct call *call;

    th_sql_open_calls_tell(&calls->open, cursor);
    do
        call = th_sql_open_call(&calls->open, ++calls->shown);
    while (call && !call->record);
    if (!call)
        return false;
    th_sql_queue(cursor, &(struct call_row){.call = *call, .ended_by = "open", .duration = -1});
    call->record = 0;
    return true;
}

const struct th_sql_table th_sql_calls = {.name = "calls",
                                          .columns = call_columns,
                                          .count = CALL_COLUMN_COUNT,
                                          .row_size = sizeof(struct call_row),
                                          .begin = begin_calls_table,
                                          .take = take_call,
                                          .rest = queue_open_call,
                                          .end = end_calls_table,
                                          .owns_rows = true};
