/*
 * Recordings as tables that SQLite queries. The room is not part of the program: it is a shared object,
 * tracehost_sql.so, with a private copy of the rooms below it, which links libsqlite3.
 *
 *   SQLite loads the object as an extension: sqlite3_tracehostsql_init() (extension.c) registers a module
 *   for each table, and the functions on terms.
 *   The program opens the object by its name, and uses the functions below: it knows nothing of SQLite.
 *
 * A table reads its recordings anew for each use in a statement, one recording after the other, each a
 * world of its own. The part that a statement asks for is one struct, th_sql_window (window.h), by which the
 * scan (scan.c) skips records. A table (table.h) makes rows of the other records.
 *
 * Thread: one at a time uses a database; th_sql_functions.interrupt may be called by any thread or signal
 * handler meanwhile.
 */
#ifndef TH_SQL_H
#define TH_SQL_H

#include "host/base/error.h"

#include <stdint.h>

struct th_sql;

/* A place of a recording that is damaged. The texts are valid during the call. */
struct th_sql_damage {
    const char *recording;    /* the name as given */
    const char *file;         /* of a wrap set, the file */
    uint64_t record;          /* number of the record at or before the place */
    enum th_status status;    /* TH_MALFORMED: a record was skipped; else a damaged place */
    const char *const *links; /* chain of causes, outermost first; NULL behind the last */
};

struct th_sql_options {
    const char *const *recordings; /* names of files; th_sql_functions.open() copies none */
    size_t count;
    bool scheduler_id;     /* see th_reader_options */
    bool recorded_callers; /* results of match specifications are callers */
    size_t max_memory;     /* see th_reader_options */
    const volatile int *
        stop; /* NULL, or a flag that ends the statement: SQLite sees interrupts between rows only */
    /* NULL, or called for each damage, each time that a table meets it; and with news of a recording, for the
     * user: what a table has not kept. */
    void (*damaged)(void *context, const struct th_sql_damage *damage);
    void (*notice)(void *context, const char *recording, const char *text);
    void *context;
};

enum th_sql_type { TH_SQL_NULL, TH_SQL_INTEGER, TH_SQL_REAL, TH_SQL_TEXT, TH_SQL_BLOB };

/* A cell of a row. The bytes are valid during the call. */
struct th_sql_cell {
    enum th_sql_type type;
    int64_t integer;
    double real;
    const char *text; /* of every type but NULL; UTF-8, but for TH_SQL_BLOB */
    size_t size;      /* of text, in bytes */
};

/* Takes rows. Both functions return false to end the statement. */
struct th_sql_taker {
    bool (*names)(void *context, const char *const *names, size_t count);
    bool (*row)(void *context, const struct th_sql_cell *cells, size_t count);
    void *context;
};

/* The functions of the shared object, which has them as `tracehost_sql`. Texts of errors are freed by
 * free_text(). */
struct th_sql_functions {
    /* Opens a database with the tables of the recordings. OPTIONS must stay until it is closed.
     * Errors: NULL with the text *ERROR. */
    struct th_sql *(*open)(const struct th_sql_options *options, char **error);
    void (*close)(struct th_sql *sql);

    /* Runs the statements in TEXT, and gives the rows to TAKER.
     * Errors: false with the text *ERROR, which is NULL if TAKER ended it. */
    bool (*run)(struct th_sql *sql, const char *text, const struct th_sql_taker *taker,
                char **error);

    /* Returns whether TEXT ends with a whole statement. */
    bool (*is_complete)(const char *text);

    /* Ends the statement that runs. Async-signal-safe. */
    void (*interrupt)(struct th_sql *sql);
    void (*free_text)(char *text);
    const char *(*version)(void); /* of SQLite */
};
extern const struct th_sql_functions tracehost_sql;

#endif
