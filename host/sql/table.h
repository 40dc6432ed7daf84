/*
 * Tables: virtual tables of SQLite whose rows are made of the records of recordings.
 *
 * virtual_table.c is the same for all tables: it takes the constraints of a statement into a window, opens the
 * recordings one after the other, and hands each record that the scan returns to the table. The table queues rows:
 * structs that it has made of this record and of others. The rows of a record leave the queue before the next record is
 * read, so that they may have its terms. What the table has learnt when the recording has ended, it queues then
 * (rest()). Its columns say where in the struct their cells are (cell.c).
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
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
SQLITE_EXTENSION_INIT3

/* Kinds of cells: members of a row's struct. NULL: as said, a time of no kind, an unknown caller. */
enum th_sql_kind {
    TH_SQL_CELL_RECORDING, /* in no struct: the name of the recording */
    TH_SQL_CELL_COUNT,     /* uint64_t */
    TH_SQL_CELL_NUMBER,    /* uint64_t; 0: NULL */
    TH_SQL_CELL_DEPTH,     /* uint32_t; 0: NULL */
    TH_SQL_CELL_DURATION,  /* int64_t; below 0: NULL */
    TH_SQL_CELL_TIME,      /* struct th_event_time */
    TH_SQL_CELL_CLOCK,     /* struct th_event_time: the name of its clock */
    TH_SQL_CELL_TERM,      /* struct th_sql_term: its text */
    TH_SQL_CELL_NAME,      /* struct th_sql_term, an atom: its name */
    TH_SQL_CELL_TRACEE,    /* struct th_sql_tracee */
    TH_SQL_CELL_MODULE,    /* struct th_mfa: its parts; NULL if the module is TH_NONE */
    TH_SQL_CELL_FUNCTION,
    TH_SQL_CELL_ARITY,
    TH_SQL_CELL_CALLER,  /* struct th_caller */
    TH_SQL_CELL_TEXT,    /* char *, freed with the row; NULL: NULL */
    TH_SQL_CELL_CONSTANT /* const char *, valid for ever */
};

struct th_sql_column {
    const char *name, *type;
    enum th_sql_asks asks;
    enum th_sql_kind kind;
    size_t offset; /* in the struct */
};

/* Each table lists its columns as X(name, TEXT or INTEGER, what it asks, kind, member of struct ROW), in the order of the
 * rows. */
#define TH_SQL_COLUMN_ENUM(name, type, asks, kind, member) COLUMN_##name,
#define TH_SQL_COLUMN_ROW(name, type, asks, kind, member) \
    {#name, #type, TH_SQL_ASKS_##asks, TH_SQL_CELL_##kind, offsetof(struct ROW, member)},

struct th_sql_cursor;

struct th_sql_table {
    const char *name;
    const struct th_sql_column *columns;
    size_t count;
    /* Bytes of a row, which begins with a uint64_t: a number that no other row of the recording has, whatever the
     * window is, as SQLite joins the rows of several scans by it, for OR. */
    size_t row_size;
    bool in_order; /* rows are in the order of their numbers, those of records */

    /* Begins a recording; may restrict what the scan returns (th_sql_cursor.scan). */
    void (*begin)(struct th_sql_cursor *cursor);

    /* Takes the record, which may be damaged if the scan has records of the tag `other`; may queue rows.
     * Errors: TH_FAILED; TH_MALFORMED if the record is damaged. */
    enum th_status (*take)(struct th_sql_cursor *cursor);

    /* Queues more rows, after the last record. Returns false if there are none. NULL: the table has none. */
    bool (*rest)(struct th_sql_cursor *cursor);

    /* Frees the state of the recording; it may be NULL. */
    void (*end)(struct th_sql_cursor *cursor);
    bool owns_rows; /* a row of the queue owns its texts */
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
    bool told;   /* the user has the table's news of the recording */

    /* The row. */
    const void *row; /* NULL: none */
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

/* Sends the news "TEXT: COUNT" of the recording to the user, once, unless COUNT is 0. */
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

/* Gives COLUMN of the row in the queue, by its kind. */
void th_sql_cell(struct th_sql_cursor *cursor, sqlite3_context *context,
                 const struct th_sql_column *column);

/* Frees what ROW owns: its texts, and those of its tracees. */
void th_sql_row_free(const struct th_sql_table *table, const void *row);

/* Makes the thread's chain, which is cleared, the error of a function. */
void th_sql_cell_error(sqlite3_context *context);

/* Return T, as Erlang text, that the caller frees. */
char *th_sql_text_of(struct th_sql_cursor *cursor, th_term t);

/* A term, which gives an integer if it is a NUMBER. */
struct th_sql_term {
    th_term term; /* TH_NONE: NULL */
    bool number;
};

/* The tracee of a row that outlives its record: a word, or the text of a tracee of an unknown node. */
struct th_sql_tracee {
    th_term word;
    char *text; /* NULL: none */
};
struct th_sql_tracee th_sql_tracee_of(struct th_sql_cursor *cursor, th_term tracee);

/* --- The state of tables (kept_rows.c) ----------------------------------------------------- */

/* Rows by key, in the order of their first records. Start it as {0}. */
struct th_sql_kept {
    struct th_table table;
    void **rows;
    size_t count, capacity;
    size_t shown; /* by th_sql_kept_next() */
};

/* Returns the latest row of KEY; NULL: none. */
static inline void *th_sql_kept_get(const struct th_sql_kept *kept, uint64_t key)
{
    return th_hash_table_get(&kept->table, key);
}

/* Adds a row of the table, of zeros. */
void *th_sql_kept_add(struct th_sql_kept *kept, const struct th_sql_cursor *cursor, uint64_t key);

/* Returns the next row to show; NULL: none is left. */
static inline const void *th_sql_kept_next(struct th_sql_kept *kept)
{
    return kept->shown < kept->count ? kept->rows[kept->shown++] : NULL;
}
void th_sql_kept_free(struct th_sql_kept *kept, const struct th_sql_cursor *cursor);

/* Open calls: structs of SIZE bytes, by their places in CALLS. */
struct th_sql_open_calls {
    struct th_call_durations *durations;
    struct th_buffer places; /* the structs, from place 1 */
    size_t size;
};

/* Begins to follow calls; ENDED as in th_call_durations_follow. Restricts the scan to what shows calls and their ends,
 * of the tracees that the statement asks for. */
void th_sql_open_calls_begin(struct th_sql_open_calls *calls, struct th_sql_cursor *cursor,
                             size_t size,
                             void (*ended)(void *context, uint32_t place,
                                           enum th_call_duration kind, int64_t ns));

/* Takes the record. *CALL is its call, whose struct is zeros; else *IS_CALL is false.
 * Errors: TH_FAILED without memory. */
enum th_status th_sql_open_calls_take(struct th_sql_open_calls *calls, struct th_sql_cursor *cursor,
                                      bool *is_call, struct th_call_followed *call);

/* Returns the struct at PLACE, from 1; NULL: there has been no call. */
static inline void *th_sql_open_call(const struct th_sql_open_calls *calls, size_t place)
{
    return place && place * calls->size <= calls->places.size
               ? calls->places.data + (place - 1) * calls->size
               : NULL;
}

/* Tells the user how many calls were not followed. */
void th_sql_open_calls_tell(const struct th_sql_open_calls *calls, struct th_sql_cursor *cursor);
void th_sql_open_calls_end(struct th_sql_open_calls *calls);

#endif
