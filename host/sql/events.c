/* The table `events`: a row for each record. Only what the statement uses is decoded. */
#include "table.h"

#include "host/trace/tags.h"

struct event_row {
    uint64_t record;
    struct th_event_time time;
    struct th_sql_term node, tracee;
    const char *tag;
    struct th_mfa function; /* module TH_NONE: none */
    struct th_sql_term args, peer, result, term, extra, match_spec_result, scheduler;
};

#define ROW event_row
#define EVENT_COLUMNS(X)                                         \
    X(recording, TEXT, RECORDING, RECORDING, record)             \
    X(record, INTEGER, RECORD, COUNT, record)                    \
    X(time, INTEGER, TIME, TIME, time)                           \
    X(clock, TEXT, NOTHING, CLOCK, time)                         \
    X(node, TEXT, NOTHING, NAME, node)                           \
    X(tracee, TEXT, TRACEE, TERM, tracee)                        \
    X(tag, TEXT, TAG, CONSTANT, tag)                             \
    X(module, TEXT, MODULE, MODULE, function)                    \
    X(function, TEXT, FUNCTION, FUNCTION, function)              \
    X(arity, INTEGER, ARITY, ARITY, function)                    \
    X(args, TEXT, NOTHING, TERM, args)                           \
    X(peer, TEXT, NOTHING, TERM, peer)                           \
    X(result, TEXT, NOTHING, TERM, result)                       \
    X(term, TEXT, NOTHING, TERM, term)                           \
    X(extra, TEXT, NOTHING, TERM, extra)                         \
    X(match_spec_result, TEXT, NOTHING, TERM, match_spec_result) \
    X(scheduler, INTEGER, NOTHING, TERM, scheduler)

enum { EVENT_COLUMNS(TH_SQL_COLUMN_ENUM) EVENT_COLUMN_COUNT };
static const struct th_sql_column event_columns[] = {EVENT_COLUMNS(TH_SQL_COLUMN_ROW)};

/* Returns whether the event may have a function: as its term, or of a spawn as its extra term. */
static bool may_have_function(const struct th_event *event)
{
    return event->kind <= TH_EVENT_TRACE_TS &&
           (th_trace_tag_has_function(event->tag) || event->tag == TH_TAG_spawn ||
            event->tag == TH_TAG_spawned ||
            (event->tag >= TH_TAG_in && event->tag <= TH_TAG_out_exited));
}

/* Returns the other process or port of the decoded event. */
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

/* Fills what needs the decoded event. */
static void set_event_terms(struct event_row *row, const struct th_event *event)
{
    bool spawns = event->tag == TH_TAG_spawn || event->tag == TH_TAG_spawned;
    bool traces = event->kind <= TH_EVENT_TRACE_TS;
    th_term function = spawns ? event->extra : event->term, args = TH_NONE;

    if (may_have_function(event) && function != TH_NONE &&
        th_trace_event_function_from_term(function, &row->function))
        args = th_tuple_elements(function)[2];
    else
        row->function.module = TH_NONE;
    if (args != TH_NONE && !th_is_small(args))
        row->args.term = args;
    if (traces)
        row->peer.term = peer_of(event);
    if (traces && (event->tag == TH_TAG_return_from || event->tag == TH_TAG_exception_from))
        row->result.term = event->extra;
    row->term.term = event->term;
    row->extra.term = traces ? event->extra : event->label;
    row->match_spec_result.term = event->match_spec_result;
    if (event->scheduler_id != TH_NONE && th_is_small(event->scheduler_id))
        row->scheduler = (struct th_sql_term){event->scheduler_id, true};
}

/* Fills the row of a sound message, as far as the statement uses it. */
static enum th_status set_message_row(struct th_sql_cursor *cursor, struct event_row *row)
{
    struct th_event *event = &cursor->event;
    bool names = th_sql_window_asks_function(&cursor->window) ||
                 th_sql_uses(cursor, COLUMN_module) || th_sql_uses(cursor, COLUMN_function) ||
                 th_sql_uses(cursor, COLUMN_arity);
    enum th_status status = TH_OK;

    row->time = event->time;
    row->tracee.term = event->tracee;
    row->tag = th_trace_tag_name(event->tag);
    if (cursor->used >> COLUMN_args ||
        (names && may_have_function(event) && !th_trace_tag_has_function(event->tag))) {
        status = th_trace_event_decode(event, &cursor->env);
        if (status == TH_OK)
            set_event_terms(row, event);
    } else if (names && may_have_function(event) &&
               event->source->function(event, &row->function) != TH_OK) {
        th_error_clear(); /* a return_to `undefined` */
        row->function.module = TH_NONE;
    }
    return status;
}

/* Queues the row of the record, if it may be one that the statement asks for: the rest of the window. */
static enum th_status take_event(struct th_sql_cursor *cursor)
{
    const struct th_sql_window *window = &cursor->window;
    const struct th_event *event = &cursor->event;
    struct event_row row = {.record = event->number};
    th_term node = th_replay_reader_info(cursor->reader)->node.node;
    bool message = cursor->sound && event->kind != TH_EVENT_DROP;
    enum th_status status = TH_OK;

    if (node != TH_NONE && th_is_atom(node))
        row.node.term = node;
    if (message && !th_sql_window_takes_time(window, &event->time))
        return TH_OK;
    if (message) {
        status = set_message_row(cursor, &row);
    } else {
        bool drops = event->kind == TH_EVENT_DROP;
        row.tag = drops ? "drop" : "other";
        row.term = drops ? (struct th_sql_term){th_small((int64_t)event->dropped), true}
                         : (struct th_sql_term){cursor->whole, false};
        if (window->limits[TH_SQL_ASKS_TIME].bounded || window->limits[TH_SQL_ASKS_TRACEE].bounded)
            return TH_OK;
    }
    if (status == TH_OK &&
        (!th_sql_window_asks_function(window) ||
         (row.function.module != TH_NONE && th_sql_window_takes_function(window, &row.function))))
        th_sql_queue(cursor, &row);
    return status == TH_OK ? TH_OK : TH_FAILED;
}

const struct th_sql_table th_sql_events = {.name = "events",
                                           .columns = event_columns,
                                           .count = EVENT_COLUMN_COUNT,
                                           .row_size = sizeof(struct event_row),
                                           .in_order = true,
                                           .take = take_event};
