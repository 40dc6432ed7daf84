/* The extension of SQLite: what is registered with a connection, and the function tracehost_open(). */
#include "table.h"

SQLITE_EXTENSION_INIT1

enum { OLDEST = 3038000 }; /* the version of SQLite that has sqlite3_vtab_in() */

/* tracehost_open(RECORDING, ...): makes the tables, as temporary ones. */
static void open_recordings(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    sqlite3 *db = sqlite3_context_db_handle(context);
    struct th_buffer names = {0};
    char *error = NULL, *made;

    for (int i = 0; i < argc; i++) {
        made = sqlite3_mprintf("%s%Q", i ? ", " : "", sqlite3_value_text(argv[i]));
        th_buffer_add_text(&names, made ? made : "");
        sqlite3_free(made);
    }
    for (size_t i = 0; th_sql_table_name(i) && !error; i++) {
        made = sqlite3_mprintf("create virtual table temp.%s using tracehost_%s(%s)",
                               th_sql_table_name(i), th_sql_table_name(i), th_buffer_text(&names));
        if (sqlite3_exec(db, made, NULL, NULL, &error) != SQLITE_OK && !error)
            error = sqlite3_mprintf("out of memory");
        sqlite3_free(made);
    }
    if (error)
        sqlite3_result_error(context, error, -1);
    else
        sqlite3_result_int(context, argc);
    sqlite3_free(error);
    th_buffer_free(&names);
}

int th_sql_register(sqlite3 *db, const struct th_sql_options *options)
{
    int status = th_sql_register_modules(db, options);

    if (status == SQLITE_OK)
        status = th_sql_register_term_functions(db);
    if (status == SQLITE_OK && !options)
        status =
            sqlite3_create_function_v2(db, "tracehost_open", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                       NULL, open_recordings, NULL, NULL, NULL);
    return status;
}

__attribute__((visibility("default"))) int
sqlite3_tracehostsql_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api);
    if (sqlite3_libversion_number() < OLDEST) {
        *error = sqlite3_mprintf("tracehost needs SQLite 3.38 or later; this is %s",
                                 sqlite3_libversion());
        return SQLITE_ERROR;
    }
    if (!th_memory_last()) { /* a lack of memory must not end the program */
        *error = sqlite3_mprintf("no memory for the reserve");
        return SQLITE_ERROR;
    }
    return th_sql_register(db, NULL);
}
