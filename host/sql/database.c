/* The functions for the program: a database in memory, whose only tables are those of the recordings. */
#include "register.h"
#include "sql.h"

#include "host/base/memory.h"

#include <sqlite3.h>
#include <string.h>

struct th_sql {
    sqlite3 *db;
};

/* Copies the text of an error, which free_text() frees. */
static char *copied(const char *text)
{
    return th_strdup(text ? text : "out of memory");
}

/* Allows queries alone. */
static int authorize(void *unused, int action, const char *first, const char *second,
                     const char *database, const char *inner)
{
    static const char *const pragmas[] = {
        "table_info",    "table_xinfo", "table_list",      "module_list",
        "function_list", "pragma_list", "compile_options", NULL};

    (void)unused;
    (void)database;
    (void)inner;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        for (size_t i = 0; pragmas[i]; i++)
            if (sqlite3_stricmp(first, pragmas[i]) == 0)
                return SQLITE_OK;
        return SQLITE_DENY;
    case SQLITE_UPDATE: /* what the tables of pragmas do; a statement may not, see DEFENSIVE below */
        return strcmp(first, "sqlite_master") == 0 ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

/* Makes the tables. Returns the text of an error, NULL for success. */
static char *make_tables(struct th_sql *sql, const struct th_sql_options *options)
{
    char *error = NULL, *text;
    int status = th_sql_register(sql->db, options);

    for (size_t i = 0; status == SQLITE_OK && th_sql_table_name(i); i++) {
        text = th_printf("create virtual table %s using tracehost_%s", th_sql_table_name(i),
                         th_sql_table_name(i));
        status = sqlite3_exec(sql->db, text, NULL, NULL, NULL);
        th_free(text);
    }
    if (status != SQLITE_OK)
        error = copied(sqlite3_errmsg(sql->db));
    sqlite3_set_authorizer(sql->db, authorize, NULL);
    sqlite3_limit(sql->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return error;
}

static void close_database(struct th_sql *sql)
{
    sqlite3_close(sql->db);
    th_free(sql);
}

static struct th_sql *open_database(const struct th_sql_options *options, char **error)
{
    struct th_sql *sql = th_alloc_zero(sizeof *sql);

    sqlite3_auto_extension((void (*)(void))sqlite3_tracehostsql_init);
    if (sqlite3_open_v2(":memory:", &sql->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL) !=
        SQLITE_OK)
        *error = copied(sql->db ? sqlite3_errmsg(sql->db) : NULL);
    else
        *error = make_tables(sql, options);
    sqlite3_cancel_auto_extension((void (*)(void))sqlite3_tracehostsql_init);
    if (!*error)
        return sql;
    close_database(sql);
    return NULL;
}

/* --- Statements ------------------------------------------------------------------------------- */

static struct th_sql_cell cell_of(sqlite3_stmt *statement, int column)
{
    struct th_sql_cell cell = {.type = TH_SQL_NULL};

    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        return cell;
    case SQLITE_INTEGER:
        cell.type = TH_SQL_INTEGER;
        cell.integer = sqlite3_column_int64(statement, column);
        break;
    case SQLITE_FLOAT:
        cell.type = TH_SQL_REAL;
        cell.real = sqlite3_column_double(statement, column);
        break;
    case SQLITE_TEXT:
        cell.type = TH_SQL_TEXT;
        break;
    default:
        cell.type = TH_SQL_BLOB;
        cell.text = sqlite3_column_blob(statement, column);
        cell.size = (size_t)sqlite3_column_bytes(statement, column);
        return cell;
    }
    cell.text = (const char *)sqlite3_column_text(statement, column);
    cell.size = (size_t)sqlite3_column_bytes(statement, column);
    return cell;
}

/* Gives the names and rows of STATEMENT to TAKER. Returns a status of SQLite; SQLITE_ABORT if TAKER ended it. */
static int give_rows(sqlite3_stmt *statement, const struct th_sql_taker *taker)
{
    size_t count = (size_t)sqlite3_column_count(statement);
    struct th_sql_cell *cells = th_alloc((count + 1) * sizeof *cells);
    const char **names = th_alloc((count + 1) * sizeof *names);
    int status = SQLITE_ABORT;

    for (size_t i = 0; i < count; i++)
        names[i] = sqlite3_column_name(statement, (int)i);
    if (taker->names(taker->context, names, count))
        do {
            status = sqlite3_step(statement);
            for (size_t i = 0; status == SQLITE_ROW && i < count; i++)
                cells[i] = cell_of(statement, (int)i);
            if (status == SQLITE_ROW && !taker->row(taker->context, cells, count))
                status = SQLITE_ABORT;
        } while (status == SQLITE_ROW);
    th_free(cells);
    th_free(names);
    return status;
}

static bool run_text(struct th_sql *sql, const char *text, const struct th_sql_taker *taker,
                     char **error)
{
    sqlite3_stmt *statement;
    int status = SQLITE_OK;

    *error = NULL;
    while (status == SQLITE_OK && *text) {
        status = sqlite3_prepare_v2(sql->db, text, -1, &statement, &text);
        if (status != SQLITE_OK || !statement)
            continue;
        status = give_rows(statement, taker);
        if (status == SQLITE_DONE)
            status = SQLITE_OK;
        else if (status != SQLITE_ABORT)
            *error = copied(sqlite3_errmsg(sql->db));
        sqlite3_finalize(statement);
    }
    if (status != SQLITE_OK && status != SQLITE_ABORT && !*error)
        *error = copied(sqlite3_errmsg(sql->db));
    return status == SQLITE_OK;
}

static bool is_complete_statement(const char *text)
{
    return sqlite3_complete(text) != 0;
}

static void interrupt_database(struct th_sql *sql)
{
    sqlite3_interrupt(sql->db);
}

static void free_text(char *text)
{
    th_free(text);
}

__attribute__((visibility("default"))) const struct th_sql_functions tracehost_sql = {
    .open = open_database,
    .close = close_database,
    .run = run_text,
    .is_complete = is_complete_statement,
    .interrupt = interrupt_database,
    .free_text = free_text,
    .version = sqlite3_libversion,
};
