/* The table `events`: a row for each record, decoded when a column is asked for. */
#include "table.h"

#include "host/trace/tags.h"

#define ROW th_sql_cursor /* there is none */
#define EVENT_COLUMNS(X)                          \
    X(recording, TEXT, RECORDING, RECORDING, row) \
    X(record, INTEGER, RECORD, OWN, row)          \
    X(time, INTEGER, TIME, OWN, row)              \
    X(clock, TEXT, NOTHING, OWN, row)             \
    X(node, TEXT, NOTHING, OWN, row)              \
    X(tracee, TEXT, TRACEE, OWN, row)             \
    X(tag, TEXT, TAG, OWN, row)                   \
    X(module, TEXT, MODULE, OWN, row)             \
    X(function, TEXT, FUNCTION, OWN, row)         \
    X(arity, INTEGER, ARITY, OWN, row)            \
    X(args, TEXT, NOTHING, OWN, row)              \
    X(peer, TEXT, NOTHING, OWN, row)              \
    X(result, TEXT, NOTHING, OWN, row)            \
    X(term, TEXT, NOTHING, OWN, row)              \
    X(extra, TEXT, NOTHING, OWN, row)             \
    X(match_spec_result, TEXT, NOTHING, OWN, row) \
    X(scheduler, INTEGER, NOTHING, OWN, row)

enum { EVENT_COLUMNS(TH_SQL_COLUMN_ENUM) EVENT_COLUMN_COUNT };
static const struct th_sql_column event_columns[] = {EVENT_COLUMNS(TH_SQL_COLUMN_ROW)};

/* Returns whether the term that EVENTS has as its function may be one. */
static bool may_have_function(const struct th_event *event)
{
    return th_trace_tag_has_function(event->tag) || event->tag == TH_TAG_spawn ||
           event->tag == TH_TAG_spawned ||
           (event->tag >= TH_TAG_in && event->tag <= TH_TAG_out_exited);
}

/* Returns the term with the function of the decoded event, {M, F, Arity} or {M, F, Args}; TH_NONE: none. */
static th_term function_term(const struct th_event *event)
{
    th_term term =
        event->tag == TH_TAG_spawn || event->tag == TH_TAG_spawned ? event->extra : event->term;
    struct th_mfa function;

    return may_have_function(event) && term != TH_NONE &&
                   th_trace_event_function_from_term(term, &function)
               ? term
               : TH_NONE;
}

/* Finds the function of the event, as flat rows have it. Decodes terms only if necessary. */
static bool event_function(struct th_sql_cursor *cursor, struct th_mfa *function)
{
    struct th_event *event = &cursor->event;
    th_term term;

    if (event->kind > TH_EVENT_TRACE_TS || !may_have_function(event))
        return false;
    if (th_trace_tag_has_function(event->tag)) {
        if (event->source->function(event, function) == TH_OK)
            return true;
        th_error_clear();
        return false;
    }
    if (th_trace_event_decode(event, &cursor->env) != TH_OK)
        return false;
    term = function_term(event);
    return term != TH_NONE && th_trace_event_function_from_term(term, function);
}

static bool asks_function(const struct th_sql_window *window)
{
    return window->modules.bounded || window->functions.bounded ||
           window->least_arity > INT64_MIN || window->most_arity < INT64_MAX;
}

/* Returns whether the record may be one that the statement asks for: the rest of the window. */
static enum th_status take_event(struct th_sql_cursor *cursor)
{
    const struct th_sql_window *window = &cursor->window;
    struct th_event *event = &cursor->event;
    struct th_mfa function;

    if (!cursor->sound || event->kind == TH_EVENT_DROP)
        return window->timed || window->tracees.bounded || asks_function(window) ? TH_MALFORMED
                                                                                 : TH_OK;
    if (window->timed && !th_sql_window_takes_time(window, &event->time))
        return TH_MALFORMED;
    if (!asks_function(window))
        return TH_OK;
    return event_function(cursor, &function) && th_sql_window_takes_function(window, &function)
               ? TH_OK
               : TH_MALFORMED;
}

/* The other process or port of the decoded event. */
static th_term peer_of(const struct th_event *event)
{
    switch (event->tag) {
    case TH_TAG_send:
    case TH_TAG_send_to_non_existing_process:
        return event->extra;
    case TH_TAG_spawn:
    case TH_TAG_spawned:
    case TH_TAG_link:
    case TH_TAG_unlink:
    case TH_TAG_getting_linked:
    case TH_TAG_getting_unlinked:
    case TH_TAG_open:
        return event->term;
    default:
        return TH_NONE;
    }
}

static th_term args_of(const struct th_event *event)
{
    th_term term = event->kind > TH_EVENT_TRACE_TS ? TH_NONE : function_term(event);
    th_term args = term == TH_NONE ? TH_NONE : th_tuple_elements(term)[2];

    return args != TH_NONE && th_is_small(args) ? TH_NONE : args;
}

/* Gives a column that takes a decoded event. */
static void decoded_column(struct th_sql_cursor *cursor, sqlite3_context *context, int column)
{
    struct th_event *event = &cursor->event;
    bool traces = event->kind <= TH_EVENT_TRACE_TS;
    th_term t = TH_NONE;

    if (th_trace_event_decode(event, &cursor->env) != TH_OK) {
        th_sql_cell_error(context);
        return;
    }
    if (column == COLUMN_args)
        t = args_of(event);
    else if (column == COLUMN_peer && traces)
        t = peer_of(event);
    else if (column == COLUMN_result && traces &&
             (event->tag == TH_TAG_return_from || event->tag == TH_TAG_exception_from))
        t = event->extra;
    else if (column == COLUMN_term)
        t = event->term;
    else if (column == COLUMN_extra)
        t = traces ? event->extra : event->label;
    else if (column == COLUMN_match_spec_result)
        t = event->match_spec_result;
    else if (column == COLUMN_scheduler && event->scheduler_id != TH_NONE &&
             th_is_small(event->scheduler_id))
        sqlite3_result_int64(context, th_small_value(event->scheduler_id));
    th_sql_cell_term(cursor, context, t);
}

/* Gives a column of a record that is no sound message: its tag, and `term`. */
static void other_column(struct th_sql_cursor *cursor, sqlite3_context *context, int column)
{
    bool drops = cursor->event.kind == TH_EVENT_DROP;

    if (column == COLUMN_tag)
        th_sql_cell_constant(context, drops ? "drop" : "other");
    else if (column == COLUMN_term && drops)
        sqlite3_result_int64(context, (int64_t)cursor->event.dropped);
    else if (column == COLUMN_term)
        th_sql_cell_term(cursor, context, cursor->whole);
}

static void cell_node(struct th_sql_cursor *cursor, sqlite3_context *context)
{
    th_term node = th_replay_reader_info(cursor->reader)->node.node;

    if (node != TH_NONE && th_is_atom(node))
        th_sql_cell_name(cursor, context, node);
}

static void function_column(struct th_sql_cursor *cursor, sqlite3_context *context, int column)
{
    struct th_mfa function;

    if (!event_function(cursor, &function))
        return;
    if (column == COLUMN_arity)
        sqlite3_result_int64(context, function.arity);
    else
        th_sql_cell_name(cursor, context,
                         column == COLUMN_module ? function.module : function.function);
}

static void event_column(struct th_sql_cursor *cursor, sqlite3_context *context, int column)
{
    struct th_event *event = &cursor->event;

    switch (column) {
    case COLUMN_record:
        sqlite3_result_int64(context, (sqlite3_int64)event->number);
        return;
    case COLUMN_node:
        cell_node(cursor, context);
        return;
    }
    if (!cursor->sound || event->kind == TH_EVENT_DROP) {
        other_column(cursor, context, column);
        return;
    }
    switch (column) {
    case COLUMN_time:
        th_sql_cell_time(context, &event->time);
        return;
    case COLUMN_clock:
        th_sql_cell_clock(context, &event->time);
        return;
    case COLUMN_tracee:
        th_sql_cell_term(cursor, context, event->tracee);
        return;
    case COLUMN_tag:
        th_sql_cell_constant(context, th_trace_tag_name(event->tag));
        return;
    case COLUMN_module:
    case COLUMN_function:
    case COLUMN_arity:
        function_column(cursor, context, column);
        return;
    default:
        decoded_column(cursor, context, column);
    }
}

const struct th_sql_table th_sql_events = {.name = "events",
                                           .columns = event_columns,
                                           .count = EVENT_COLUMN_COUNT,
                                           .take = take_event,
                                           .column = event_column};
