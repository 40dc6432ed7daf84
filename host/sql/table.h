/*
 * Tables: virtual tables of SQLite whose rows are made of the records of recordings.
 *
 * virtual_table.c is the same for all tables: it takes the constraints of a statement into a window, opens the
 * recordings one after the other, and hands each record that the scan returns to the table. The table either
 * shows the record itself as a row (events), or makes rows of it, which wait in the cursor's queue, or keeps
 * what it has learnt until the recording has ended (rest()).
 */
#ifndef TH_SQL_TABLE_H
#define TH_SQL_TABLE_H

#include "register.h"
#include "sql.h"
#include "window.h"

#include "host/base/buffer.h"
#include "host/replay/call_durations.h"
#include "host/replay/flat_rows.h"
#include "host/replay/reader.h"
#include "host/trace/event.h"

#include <sqlite3ext.h>
#include <stdlib.h>
#include <string.h>
SQLITE_EXTENSION_INIT3

/* The part of records that constraints on a column restrict. */
enum th_sql_asks {
    TH_SQL_ASKS_NOTHING,
    TH_SQL_ASKS_RECORDING,
    TH_SQL_ASKS_RECORD,
    TH_SQL_ASKS_TIME,
    TH_SQL_ASKS_TRACEE,
    TH_SQL_ASKS_TAG,
    TH_SQL_ASKS_MODULE,
    TH_SQL_ASKS_FUNCTION,
    TH_SQL_ASKS_ARITY
};

/* A table lists its columns as X(name, TEXT or INTEGER, what it asks), in the order of the rows. */
struct th_sql_column {
    const char *name, *type;
    enum th_sql_asks asks;
};
#define TH_SQL_COLUMN_ENUM(name, type, asks) COLUMN_##name,
#define TH_SQL_COLUMN_ROW(name, type, asks) {#name, #type, TH_SQL_ASKS_##asks},

struct th_sql_cursor;

struct th_sql_table {
    const char *name;
    const struct th_sql_column *columns;
    size_t count;
    size_t row_size; /* bytes of a row in the queue; 0: the record is the row */

    /* Begins a recording; may restrict what the scan returns (th_sql_cursor.scan). */
    void (*begin)(struct th_sql_cursor *cursor);

    /* Takes the record, which is sound or a drop, unless `row_size` is 0; may queue rows. Returns whether the
     * record is a row. Errors: TH_FAILED; TH_MALFORMED if the record is no row. */
    enum th_status (*take)(struct th_sql_cursor *cursor);

    /* Returns the next row after the last record, valid until the next call; NULL: there is none. NULL: the
     * table has none. */
    const void *(*rest)(struct th_sql_cursor *cursor);

    /* Frees the state of the recording; it may be NULL. */
    void (*end)(struct th_sql_cursor *cursor);
    void (*free_row)(void *row); /* frees what a row of the queue owns; NULL: nothing */

    /* Returns the number of the row, which no other row of the recording has, whatever the window is: SQLite
     * joins the rows of several scans by it, for OR. */
    uint64_t (*number)(const struct th_sql_cursor *cursor);

    /* Gives COLUMN of the row. */
    void (*column)(struct th_sql_cursor *cursor, sqlite3_context *context, int column);
};

extern const struct th_sql_table th_sql_events, th_sql_calls, th_sql_messages, th_sql_processes,
    th_sql_functions_table;

struct th_sql_virtual {
    sqlite3_vtab base;
    const struct th_sql_table *table;
    struct th_sql_options options;
    char **owned; /* names of recordings, if the table was created with them */
};

struct th_sql_cursor {
    sqlite3_vtab_cursor base;
    const struct th_sql_table *table;
    const struct th_sql_options *options;
    struct th_sql_window window; /* what the statement asks */
    uint64_t used;               /* columns that the statement uses; bit 63: all from there on */

    /* The recording that is read. */
    size_t recording;          /* its index */
    struct th_reader *reader;  /* NULL: none */
    struct th_sql_window scan; /* what the scan returns; does not own its sets */
    struct th_event event;     /* the latest record */
    bool sound;                /* false: the record has the tag `other` */
    th_term whole;             /* of such a record */
    bool over;                 /* the last record was read */
    th_env env;
    void *state; /* of the table */

    /* The row. */
    const void *row; /* NULL: the record */
    bool at_end;
    struct th_buffer queue; /* of rows */
    size_t queued;          /* byte of the first row that is left in the queue */
    struct th_buffer text;
};

/* --- The scan (scan.c) ------------------------------------------------------------------------ */

/* Opens the recording CURSOR->recording. Errors: those of th_replay_reader_open(). */
enum th_status th_sql_scan_open(struct th_sql_cursor *cursor);

/* Lets the reader of a packed recording pass over what CURSOR->scan does not take. Order: before the first
 * record. */
void th_sql_scan_select(struct th_sql_cursor *cursor);

/* Reads up to the next record that CURSOR->scan takes, and checks it; a damaged record is reported.
 * Errors: TH_END; TH_FAILED if the statement was interrupted, or without memory. */
enum th_status th_sql_scan_next(struct th_sql_cursor *cursor);

/* Restricts the scan to what shows calls and their ends, of the tracees that the statement asks for. */
void th_sql_scan_calls(struct th_sql_cursor *cursor);

/* Sends the news "TEXT: COUNT" of the recording to the user, unless COUNT is 0. */
void th_sql_scan_tell(struct th_sql_cursor *cursor, const char *text, uint64_t count);

/* --- Rows and cells (cell.c) ------------------------------------------------------------------ */

/* Returns whether the statement uses COLUMN. */
static inline bool th_sql_uses(const struct th_sql_cursor *cursor, int column)
{
    return cursor->used >> (column < 63 ? column : 63) & 1;
}

/* Queues a copy of ROW. Owner: the queue. */
static inline void th_sql_queue(struct th_sql_cursor *cursor, const void *row)
{
    th_buffer_add(&cursor->queue, row, cursor->table->row_size);
}

/* Return T, as Erlang text, that the caller frees. */
char *th_sql_text_of(struct th_sql_cursor *cursor, th_term t);

/* Give a cell: NULL for TH_NONE, NULL, a time of no kind, an unknown caller. */
void th_sql_cell_term(struct th_sql_cursor *cursor, sqlite3_context *context, th_term t);
void th_sql_cell_name(struct th_sql_cursor *cursor, sqlite3_context *context, th_term atom);
void th_sql_cell_function(struct th_sql_cursor *cursor, sqlite3_context *context,
                          const struct th_mfa *function);
void th_sql_cell_caller(struct th_sql_cursor *cursor, sqlite3_context *context,
                        const struct th_caller *caller);
void th_sql_cell_time(sqlite3_context *context, const struct th_event_time *time);
void th_sql_cell_clock(sqlite3_context *context, const struct th_event_time *time);
void th_sql_cell_text(sqlite3_context *context, const char *text); /* stays until the next row */
void th_sql_cell_constant(sqlite3_context *context, const char *text);
void th_sql_cell_recording(struct th_sql_cursor *cursor, sqlite3_context *context);

void th_sql_cell_error(sqlite3_context *context); /* the thread's chain, which is cleared */

/* The tracee of a row that outlives its record: a word, or the text of a tracee of an unknown node. */
struct th_sql_tracee {
    th_term word;
    char *text; /* NULL: none */
};
struct th_sql_tracee th_sql_tracee_of(struct th_sql_cursor *cursor, th_term tracee);
void th_sql_cell_tracee(struct th_sql_cursor *cursor, sqlite3_context *context,
                        const struct th_sql_tracee *tracee);

/* Returns whether both times are of one clock; then *NS is the time from FROM to TO. */
bool th_sql_time_between(const struct th_event_time *from, const struct th_event_time *to,
                         int64_t *ns);

#endif
