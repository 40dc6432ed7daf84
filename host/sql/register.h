/* Registers the module of each table, and the functions on terms, with a connection of SQLite. */
#ifndef TH_SQL_REGISTER_H
#define TH_SQL_REGISTER_H

#include <stddef.h>

struct sqlite3;
struct sqlite3_api_routines;
struct th_sql_options;

/* Registers all with DB. OPTIONS: of tables that are created without recordings; NULL: there are none. It must
 * stay as long as DB. Returns a status of SQLite. */
int th_sql_register(struct sqlite3 *db, const struct th_sql_options *options);

/* Returns the name of table NUMBER, from 0; NULL: there is none. Its module is tracehost_NAME. */
const char *th_sql_table_name(size_t number);

/* Registers the modules (virtual_table.c) and the functions on terms (term_functions.c). */
int th_sql_register_modules(struct sqlite3 *db, const struct th_sql_options *options);
int th_sql_register_term_functions(struct sqlite3 *db);

/* The entry of the extension. Errors: a status of SQLite with the text *ERROR. */
int sqlite3_tracehostsql_init(struct sqlite3 *db, char **error,
                              const struct sqlite3_api_routines *api);

#endif
