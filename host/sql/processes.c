/*
 * The table `processes`: a row for each process and port that the recording shows, by its own records or by
 * those of its parent, in the order in which they appear. An identifier that is used again after its end
 * has a row for each process.
 */
#include "table.h"

#include "host/term/compare.h"
#include "host/term/text.h"

/* Records that tell of the beginning. */
enum { BY_PARENT = 1, BY_ITSELF = 2 };

struct process {
    uint64_t number; /* from 1 */
    struct th_sql_tracee tracee;
    const char *kind;
    unsigned begun; /* bits */
    bool gone;
    char *names, *parent, *initial_call, *reason; /* NULL: none */
    struct th_event_time started, ended;
    struct th_event_time seen; /* `started`, or that of the first record of its own */
    uint64_t events;           /* of its own */
    uint64_t first_record, last_record;
};

#define ROW process
#define PROCESS_COLUMNS(X)                                 \
    X(recording, TEXT, RECORDING, RECORDING, number)       \
    X(tracee, TEXT, TRACEE, TRACEE, tracee)                \
    X(kind, TEXT, NOTHING, CONSTANT, kind)                 \
    X(names, TEXT, NOTHING, TEXT, names)                   \
    X(parent, TEXT, NOTHING, TEXT, parent)                 \
    X(initial_call, TEXT, NOTHING, TEXT, initial_call)     \
    X(started, INTEGER, NOTHING, TIME, started)            \
    X(ended, INTEGER, NOTHING, TIME, ended)                \
    X(clock, TEXT, NOTHING, CLOCK, seen)                   \
    X(reason, TEXT, NOTHING, TEXT, reason)                 \
    X(events, INTEGER, NOTHING, COUNT, events)             \
    X(first_record, INTEGER, NOTHING, COUNT, first_record) \
    X(last_record, INTEGER, NOTHING, COUNT, last_record)

enum { PROCESS_COLUMNS(TH_SQL_COLUMN_ENUM) PROCESS_COLUMN_COUNT };
static const struct th_sql_column process_columns[] = {PROCESS_COLUMNS(TH_SQL_COLUMN_ROW)};

static void begin_processes(struct th_sql_cursor *cursor)
{
    cursor->state = th_alloc_zero(sizeof(struct th_sql_kept));
    th_sql_window_begin(&cursor->scan);
    cursor->scan.tags = ~(UINT64_C(1) << TH_SQL_TAG_OTHER | UINT64_C(1) << TH_SQL_TAG_DROP |
                          UINT64_C(1) << TH_TAG_seq_trace);
}

static void end_processes(struct th_sql_cursor *cursor)
{
    th_sql_kept_free(cursor->state, cursor);
    th_free(cursor->state);
}

/* Words have their two lowest bits set. */
static uint64_t key_of_process(th_term tracee)
{
    return th_is_immediate(tracee) ? tracee : th_internal_hash(tracee, 0) << 2 | 2;
}

/* Returns the process TRACEE, a new one if it is unknown, or if ANEW. */
static struct process *process_entry(struct th_sql_cursor *cursor, th_term tracee, bool anew)
{
    struct th_sql_kept *processes = cursor->state;
    uint64_t key = key_of_process(tracee);
    struct process *process = th_sql_kept_get(processes, key);

    if (process && !anew)
        return process;
    process = th_sql_kept_add(processes, cursor, key);
    process->number = processes->count;
    process->tracee = th_sql_tracee_of(cursor, tracee);
    process->kind = th_is_port(tracee) ? "port" : "process";
    process->first_record = process->last_record = cursor->event.number;
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
    if (process->started.kind == TH_TIME_NONE && event->time.kind != TH_TIME_NONE)
        process->started = process->seen = event->time;
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
    struct th_buffer names = {0};

    if (process->names)
        th_buffer_printf(&names, "%s, ", process->names);
    th_text_print(&names, name);
    th_free(process->names);
    process->names = th_buffer_take_text(&names);
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

static bool queue_process(struct th_sql_cursor *cursor)
{
    const struct process *process;

    do
        process = th_sql_kept_next(cursor->state);
    while (process && !process->tracee.text &&
           !th_sql_window_takes(&cursor->window, TH_SQL_ASKS_TRACEE, process->tracee.word));
    if (process)
        th_sql_queue(cursor, process);
    return process;
}

const struct th_sql_table th_sql_processes = {.name = "processes",
                                              .columns = process_columns,
                                              .count = PROCESS_COLUMN_COUNT,
                                              .row_size = sizeof(struct process),
                                              .begin = begin_processes,
                                              .take = take_process,
                                              .rest = queue_process,
                                              .end = end_processes};
