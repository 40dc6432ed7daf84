/* Writes the rows of a statement: as a table, as CSV, or as a JSON array of objects. */
#ifndef TH_SQL_ROWS_H
#define TH_SQL_ROWS_H

#include "host/base/buffer.h"
#include "host/base/output.h"
#include "host/sql/sql.h"

enum th_sql_format { TH_SQL_TABLE, TH_SQL_CSV, TH_SQL_JSON };

/* Widths of a table: its first rows decide. Longer texts are cut. */
enum { TH_SQL_WIDEST = 60, TH_SQL_FIRST_ROWS = 500 };

/* Begin as {.out = ..., .format = ...}; each statement begins anew. */
struct th_sql_rows {
    struct th_output *out;
    enum th_sql_format format;
    enum th_status status; /* of writing */
    bool begun;            /* the statement has columns */

    /* The statement that runs. */
    size_t columns;
    uint64_t count; /* rows so far */
    struct th_buffer *names;
    struct th_sql_kept { /* the first rows of a table: cells, row by row */
        struct th_buffer text;
        bool number;
    } * kept;
    size_t kept_count, kept_capacity;
    size_t *widths;
    struct th_buffer line;
};

/* Returns the taker that writes to ROWS. */
struct th_sql_taker th_cli_sql_rows_taker(struct th_sql_rows *rows);

/* Writes the rest of the statement; if it has FAILED before its first row, nothing. Returns the status of writing: TH_FAILED with the cause. */
enum th_status th_cli_sql_rows_end(struct th_sql_rows *rows, bool failed);

#endif
