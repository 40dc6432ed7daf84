/*
 * The table `processes`: a row for each process and port that the recording shows, by its own records or by
 * those of its parent, in the order in which they appear. An identifier that is used again after its end
 * has a row for each process.
 */
#include "table.h"

#include "host/term/compare.h"
#include "host/term/text.h"

#define PROCESS_COLUMNS(X)            \
    X(recording, TEXT, RECORDING)     \
    X(tracee, TEXT, TRACEE)           \
    X(kind, TEXT, NOTHING)            \
    X(names, TEXT, NOTHING)           \
    X(parent, TEXT, NOTHING)          \
    X(initial_call, TEXT, NOTHING)    \
    X(started, INTEGER, NOTHING)      \
    X(ended, INTEGER, NOTHING)        \
    X(clock, TEXT, NOTHING)           \
    X(reason, TEXT, NOTHING)          \
    X(events, INTEGER, NOTHING)       \
    X(first_record, INTEGER, NOTHING) \
    X(last_record, INTEGER, NOTHING)

enum { PROCESS_COLUMNS(TH_SQL_COLUMN_ENUM) PROCESS_COLUMN_COUNT };
static const struct th_sql_column process_columns[] = {PROCESS_COLUMNS(TH_SQL_COLUMN_ROW)};

/* Records that tell of the beginning. */
enum { BY_PARENT = 1, BY_ITSELF = 2 };

struct process {
    struct th_sql_tracee tracee;
    bool port;
    unsigned begun; /* bits */
    bool gone;
    struct th_buffer names;
    char *parent, *initial_call, *reason;
    struct th_event_time started, ended, seen;
    uint64_t events; /* of its own */
    uint64_t first_record, last_record;
};

struct processes {
    struct th_table table;  /* struct process by identifier */
    struct process **items; /* all, in order */
    size_t count, capacity, shown;
};

static void begin_processes(struct th_sql_cursor *cursor)
{
    cursor->state = th_alloc_zero(sizeof(struct processes));
    th_sql_window_begin(&cursor->scan);
    cursor->scan.tags = ~(UINT64_C(1) << TH_SQL_TAG_OTHER | UINT64_C(1) << TH_SQL_TAG_DROP |
                          UINT64_C(1) << TH_TAG_seq_trace);
}

static void end_processes(struct th_sql_cursor *cursor)
{
    struct processes *processes = cursor->state;

    for (size_t i = 0; i < processes->count; i++) {
        struct process *process = processes->items[i];
        th_free(process->tracee.text);
        th_buffer_free(&process->names);
        th_free(process->parent);
        th_free(process->initial_call);
        th_free(process->reason);
        th_free(process);
    }
    th_hash_table_free(&processes->table);
    th_free(processes->items);
    th_free(processes);
}

/* Words have their two lowest bits set. */
static uint64_t key_of_process(th_term tracee)
{
    return th_is_immediate(tracee) ? tracee : th_internal_hash(tracee, 0) << 2 | 2;
}

/* Returns the process TRACEE, a new one if it is unknown, or if ANEW. */
static struct process *process_entry(struct th_sql_cursor *cursor, th_term tracee, bool anew)
{
    struct processes *processes = cursor->state;
    uint64_t key = key_of_process(tracee);
    struct process *process = th_hash_table_get(&processes->table, key);

    if (process && !anew)
        return process;
    process = th_alloc_zero(sizeof *process);
    process->tracee = th_sql_tracee_of(cursor, tracee);
    process->port = th_is_port(tracee);
    process->first_record = process->last_record = cursor->event.number;
    th_hash_table_set(&processes->table, key, process);
    TH_ARRAY_GROW(processes->items, processes->count, processes->capacity);
    processes->items[processes->count++] = process;
    return process;
}

/* Returns the process TRACEE whose beginning the record BY tells. If it has ended, and such a record has told
 * its beginning already, this is another one. */
static struct process *process_begun(struct th_sql_cursor *cursor, th_term tracee, unsigned by)
{
    struct process *process = process_entry(cursor, tracee, false);

    if (process->gone && process->begun & by)
        process = process_entry(cursor, tracee, true);
    process->begun |= by;
    return process;
}

static char *function_text(struct th_sql_cursor *cursor, th_term term)
{
    struct th_buffer text = {0};
    struct th_mfa function;

    if (!th_trace_event_function_from_term(term, &function))
        return th_sql_text_of(cursor, term);
    th_trace_function_print(&text, &function);
    return th_buffer_take_text(&text);
}

/* Notes the beginning of a process, which PARENT has started with FUNCTION. */
static void note_process_begin(struct th_sql_cursor *cursor, struct process *process,
                               th_term parent, th_term function)
{
    const struct th_event *event = &cursor->event;

    if (!process->parent)
        process->parent = th_sql_text_of(cursor, parent);
    if (!process->initial_call && function != TH_NONE)
        process->initial_call = function_text(cursor, function);
    if (process->started.kind == TH_TIME_NONE)
        process->started = event->time;
}

static void note_process_end(struct th_sql_cursor *cursor, struct process *process)
{
    if (process->gone)
        return;
    process->gone = true;
    process->ended = cursor->event.time;
    process->reason = th_sql_text_of(cursor, cursor->event.term);
}

static void add_registered_name(struct process *process, th_term name)
{
    if (process->names.size)
        th_buffer_add_text(&process->names, ", ");
    th_text_print(&process->names, name);
}

/* Takes what the decoded record tells of the life of PROCESS, its tracee. */
static void note_process_life(struct th_sql_cursor *cursor, struct process *process)
{
    const struct th_event *event = &cursor->event;

    switch (event->tag) {
    case TH_TAG_spawn:
        if (th_is_pid(event->term))
            note_process_begin(cursor, process_begun(cursor, event->term, BY_PARENT), event->tracee,
                               event->extra);
        break;
    case TH_TAG_spawned:
    case TH_TAG_open:
        note_process_begin(cursor, process, event->term, event->extra);
        break;
    case TH_TAG_exit:
    case TH_TAG_closed:
        note_process_end(cursor, process);
        break;
    case TH_TAG_register:
        add_registered_name(process, event->term);
        break;
    default:
        break;
    }
}

static enum th_status take_process(struct th_sql_cursor *cursor)
{
    struct th_event *event = &cursor->event;
    bool begins = event->tag == TH_TAG_spawned || event->tag == TH_TAG_open;
    bool tells = begins || event->tag == TH_TAG_spawn || event->tag == TH_TAG_exit ||
                 event->tag == TH_TAG_closed || event->tag == TH_TAG_register;
    struct process *process;
    enum th_status status;

    if (tells && (status = th_trace_event_decode(event, &cursor->env)) != TH_OK)
        return status;
    process = begins ? process_begun(cursor, event->tracee, BY_ITSELF)
                     : process_entry(cursor, event->tracee, false);
    process->events++;
    process->last_record = event->number;
    if (process->seen.kind == TH_TIME_NONE)
        process->seen = event->time;
    if (tells)
        note_process_life(cursor, process);
    return TH_OK;
}

static const void *next_process(struct th_sql_cursor *cursor)
{
    struct processes *processes = cursor->state;
    struct process *process;

    while (processes->shown < processes->count) {
        process = processes->items[processes->shown++];
        if (process->tracee.text || th_sql_set_takes(&cursor->window.tracees, process->tracee.word))
            return process;
    }
    return NULL;
}

static void process_column(struct th_sql_cursor *cursor, sqlite3_context *context, int column)
{
    const struct process *process = cursor->row;

    switch (column) {
    case COLUMN_recording:
        th_sql_cell_recording(cursor, context);
        break;
    case COLUMN_tracee:
        th_sql_cell_tracee(cursor, context, &process->tracee);
        break;
    case COLUMN_kind:
        th_sql_cell_constant(context, process->port ? "port" : "process");
        break;
    case COLUMN_names:
        if (process->names.size)
            sqlite3_result_text64(context, (const char *)process->names.data, process->names.size,
                                  SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case COLUMN_parent:
        th_sql_cell_text(context, process->parent);
        break;
    case COLUMN_initial_call:
        th_sql_cell_text(context, process->initial_call);
        break;
    case COLUMN_started:
        th_sql_cell_time(context, &process->started);
        break;
    case COLUMN_ended:
        th_sql_cell_time(context, &process->ended);
        break;
    case COLUMN_clock:
        th_sql_cell_clock(context, process->started.kind ? &process->started : &process->seen);
        break;
    case COLUMN_reason:
        th_sql_cell_text(context, process->reason);
        break;
    case COLUMN_events:
        sqlite3_result_int64(context, (sqlite3_int64)process->events);
        break;
    case COLUMN_first_record:
        sqlite3_result_int64(context, (sqlite3_int64)process->first_record);
        break;
    case COLUMN_last_record:
        sqlite3_result_int64(context, (sqlite3_int64)process->last_record);
        break;
    }
}

static uint64_t process_number(const struct th_sql_cursor *cursor)
{
    return ((const struct processes *)cursor->state)->shown;
}

const struct th_sql_table th_sql_processes = {.name = "processes",
                                              .columns = process_columns,
                                              .count = PROCESS_COLUMN_COUNT,
                                              .row_size = sizeof(struct process),
                                              .begin = begin_processes,
                                              .take = take_process,
                                              .rest = next_process,
                                              .end = end_processes,
                                              .number = process_number,
                                              .column = process_column};
