/* The module of all tables: from constraints to a window, from records to rows. */
#include "table.h"

#include <math.h>

/* --- Tables ----------------------------------------------------------------------------------- */

/* A module with what its tables have in common. */
struct module {
    const struct th_sql_table *table;
    const struct th_sql_options *options;
};

static const struct th_sql_options no_options;

/* Copies WORD, without its quotes if it has any. */
static char *unquoted(const char *word)
{
    size_t size = strlen(word);
    char *text = th_strdup(word), *to = text;

    if (size < 2 || !strchr("'\"", word[0]) || word[size - 1] != word[0])
        return text;
    for (const char *from = word + 1; from < word + size - 1; from++) {
        *to++ = *from;
        from += *from == word[0] && from[1] == word[0];
    }
    *to = 0;
    return text;
}

/* Takes a word behind the name of the module: a recording, in quotes, or an option. Returns false if the word is
 * neither. */
static bool take_word(struct th_sql_virtual *made, const char *word)
{
    static const char memory[] = "max_memory=";
    struct th_sql_options *options = &made->options;
    char *end;

    if (strcmp(word, "scheduler_id") == 0) {
        options->scheduler_id = true;
    } else if (strcmp(word, "recorded_callers") == 0) {
        options->recorded_callers = true;
    } else if (strncmp(word, memory, sizeof memory - 1) == 0) {
        options->max_memory = strtoull(word + sizeof memory - 1, &end, 10);
        return !*end && options->max_memory >= TH_READER_LEAST_MEMORY;
    } else if (strchr("'\"", word[0])) {
        made->owned = th_realloc(made->owned, (options->count + 1) * sizeof *made->owned);
        made->owned[options->count++] = unquoted(word);
        options->recordings = (const char *const *)made->owned;
    } else {
        return false;
    }
    return true;
}

static int disconnect_table(sqlite3_vtab *table)
{
    struct th_sql_virtual *made = (struct th_sql_virtual *)table;

    for (size_t i = 0; made->owned && i < made->options.count; i++)
        th_free(made->owned[i]);
    th_free(made->owned);
    th_free(made);
    return SQLITE_OK;
}

static int declare_table(sqlite3 *db, const struct th_sql_table *table)
{
    struct th_buffer text = {0};
    int status;

    th_buffer_add_text(&text, "create table t(");
    for (size_t i = 0; i < table->count; i++)
        th_buffer_printf(&text, "%s\"%s\" %s", i ? ", " : "", table->columns[i].name,
                         table->columns[i].type);
    th_buffer_add_text(&text, ")");
    status = sqlite3_declare_vtab(db, th_buffer_text(&text));
    th_buffer_free(&text);
    return status;
}

static int connect_table(sqlite3 *db, void *context, int argc, const char *const *argv,
                         sqlite3_vtab **table, char **error)
{
    const struct module *module = context;
    struct th_sql_virtual *made = th_alloc_zero(sizeof *made);
    int status = declare_table(db, module->table);

    made->table = module->table;
    made->options = argc > 3 || !module->options ? no_options : *module->options;
    for (int i = 3; i < argc && status == SQLITE_OK; i++)
        if (!take_word(made, argv[i])) {
            *error =
                sqlite3_mprintf("%s: neither the name of a recording, in quotes, nor scheduler_id, "
                                "recorded_callers or max_memory=BYTES of at least 1048576",
                                argv[i]);
            status = SQLITE_ERROR;
        }
    if (status == SQLITE_OK && made->options.count == 0) {
        *error = sqlite3_mprintf(
            "no recordings: create virtual table temp.%s using tracehost_%s('FILE', ...)",
            module->table->name, module->table->name);
        status = SQLITE_ERROR;
    }
    sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY); /* no view of a foreign database reads files */
    if (status == SQLITE_OK)
        *table = &made->base;
    else
        disconnect_table(&made->base);
    return status;
}

/* --- Constraints ------------------------------------------------------------------------------ */

/* A plan is a text: the columns that are used, in hexadecimal; then two characters for each constraint, '0' +
 * enum th_sql_asks and an operator of `operators`. */
static const char operators[] =
    "=<[>]i"; /* '[' is <=, ']' is >=, 'i' is IN with all values at once */

static char operator_of(unsigned char op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return operators[0];
    case SQLITE_INDEX_CONSTRAINT_LT:
        return operators[1];
    case SQLITE_INDEX_CONSTRAINT_LE:
        return operators[2];
    case SQLITE_INDEX_CONSTRAINT_GT:
        return operators[3];
    case SQLITE_INDEX_CONSTRAINT_GE:
        return operators[4];
    default:
        return 0;
    }
}

static bool asks_text(enum th_sql_asks asks)
{
    return asks != TH_SQL_ASKS_RECORD && asks != TH_SQL_ASKS_TIME && asks != TH_SQL_ASKS_ARITY;
}

/* The share of all rows that a constraint leaves. SQLite only compares plans by it. */
static double share_of(enum th_sql_asks asks, char op)
{
    if (op != '=' && op != 'i')
        return 0.3;
    return asks == TH_SQL_ASKS_RECORD                                   ? 1e-6
           : asks == TH_SQL_ASKS_TIME                                   ? 1e-4
           : asks == TH_SQL_ASKS_TRACEE || asks == TH_SQL_ASKS_FUNCTION ? 0.05
                                                                        : 0.2;
}

/* Adds constraint NUMBER to PLAN, and returns the share of rows that it leaves; 1: the table does not use it. */
static double plan_constraint(const struct th_sql_table *table, sqlite3_index_info *info,
                              int number, struct th_buffer *plan)
{
    const struct sqlite3_index_constraint *constraint = &info->aConstraint[number];
    const char *collation = sqlite3_vtab_collation(info, number);
    enum th_sql_asks asks;
    char op = operator_of(constraint->op);

    if (!constraint->usable || !op || constraint->iColumn < 0)
        return 1;
    asks = table->columns[constraint->iColumn].asks;
    if (asks == TH_SQL_ASKS_NOTHING ||
        (asks_text(asks) &&
         (op != '=' || (collation && sqlite3_stricmp(collation, "BINARY") != 0))))
        return 1;
    if (op == '=' && sqlite3_vtab_in(info, number, -1)) {
        sqlite3_vtab_in(info, number, 1);
        op = 'i';
    }
    info->aConstraintUsage[number].argvIndex = (int)(plan->size / 2) + 1;
    th_buffer_add_byte(plan, (unsigned char)('0' + asks));
    th_buffer_add_byte(plan, (unsigned char)op);
    return share_of(asks, op);
}

/* Rows are in the order of records if the table's are, and if they are of one recording. */
static bool is_in_order(const struct th_sql_virtual *made, const sqlite3_index_info *info)
{
    return made->table->in_order && made->options.count == 1 && info->nOrderBy == 1 &&
           !info->aOrderBy[0].desc && info->aOrderBy[0].iColumn >= 0 &&
           made->table->columns[info->aOrderBy[0].iColumn].asks == TH_SQL_ASKS_RECORD;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    struct th_sql_virtual *made = (struct th_sql_virtual *)base;
    struct th_buffer plan = {0};
    double share = 1;

    for (int i = 0; i < info->nConstraint; i++)
        share *= plan_constraint(made->table, info, i, &plan);
    info->idxStr =
        sqlite3_mprintf("%llx:%s", (unsigned long long)info->colUsed, th_buffer_text(&plan));
    info->needToFreeIdxStr = 1;
    info->orderByConsumed = is_in_order(made, info);
    info->estimatedRows = (sqlite3_int64)(1e6 * share) + 1;
    info->estimatedCost = 1e6 + 1e7 * share; /* all records are read; rows cost more */
    th_buffer_free(&plan);
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* Takes a constraint on numbers. */
static void take_number(struct th_sql_limit *limit, char op, sqlite3_value *value)
{
    int64_t low = INT64_MIN, high = INT64_MAX;
    double real = sqlite3_value_double(value);

    if (op == 'i')
        return; /* SQLite tests each row */
    if (sqlite3_value_type(value) == SQLITE_INTEGER) {
        low = high = sqlite3_value_int64(value);
    } else if (sqlite3_value_type(value) == SQLITE_FLOAT && fabs(real) < 9e18) {
        low = (int64_t)floor(real);
        high = (int64_t)ceil(real);
    }
    limit->bounded = true;
    if (strchr("=>]", op) && low > limit->least)
        limit->least = low;
    if (strchr("=<[", op) && high < limit->most)
        limit->most = high;
}

/* Adds the text VALUE to what the window takes. A value of another type is equal to no text, or to that of its
 * number. */
static void add_text_to_window(struct th_sql_cursor *cursor, enum th_sql_asks asks,
                               sqlite3_value *value, uint64_t *tags)
{
    const char *text = (const char *)sqlite3_value_text(value);
    size_t size = (size_t)sqlite3_value_bytes(value);

    if (!text)
        return;
    if (asks == TH_SQL_ASKS_TAG)
        *tags |= th_sql_window_tag(text, size);
    else if (asks != TH_SQL_ASKS_RECORDING)
        th_sql_window_text(&cursor->window, asks, text, size);
    for (size_t i = 0; asks == TH_SQL_ASKS_RECORDING && i < cursor->options->count; i++)
        if (strcmp(cursor->options->recordings[i], text) == 0)
            th_sql_window_add(&cursor->window, asks, th_small((int64_t)i));
}

/* Takes a constraint on texts. If there are several on a column, the window takes the first alone. */
static void take_texts(struct th_sql_cursor *cursor, enum th_sql_asks asks, char op,
                       sqlite3_value *value)
{
    struct th_sql_limit *limit = &cursor->window.limits[asks];
    sqlite3_value *item;
    uint64_t tags = 0;

    if (limit->bounded)
        return;
    limit->bounded = true;
    if (op == '=')
        add_text_to_window(cursor, asks, value, &tags);
    for (int more = op == 'i' ? sqlite3_vtab_in_first(value, &item) : SQLITE_DONE;
         more == SQLITE_OK && item; more = sqlite3_vtab_in_next(value, &item))
        add_text_to_window(cursor, asks, item, &tags);
    if (asks == TH_SQL_ASKS_TAG)
        cursor->window.tags &= tags;
}

/* --- Cursors ---------------------------------------------------------------------------------- */

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
    struct th_sql_virtual *made = (struct th_sql_virtual *)table;
    struct th_sql_cursor *opened = th_alloc_zero(sizeof *opened);

    opened->table = made->table;
    opened->options = &made->options;
    th_sql_window_begin(&opened->window);
    th_env_init(&opened->env, TH_ENV_PLAIN);
    *cursor = &opened->base;
    return SQLITE_OK;
}

/* Drops the first row of the queue. */
static void drop_row(struct th_sql_cursor *cursor)
{
    if (cursor->table->owns_rows)
        th_sql_row_free(cursor->table, cursor->queue.data + cursor->queued);
    cursor->queued += cursor->table->row_size;
}

static void end_recording(struct th_sql_cursor *cursor)
{
    while (cursor->queued < cursor->queue.size)
        drop_row(cursor);
    cursor->queue.size = cursor->queued = 0;
    if (cursor->reader && cursor->table->end)
        cursor->table->end(cursor);
    cursor->state = NULL;
    th_replay_reader_close(cursor->reader);
    cursor->reader = NULL;
    cursor->row = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct th_sql_cursor *cursor = (struct th_sql_cursor *)base;

    end_recording(cursor);
    th_sql_window_free(&cursor->window);
    th_env_release(&cursor->env);
    th_buffer_free(&cursor->queue);
    th_buffer_free(&cursor->text);
    th_free(cursor);
    return SQLITE_OK;
}

/* Makes the thread's chain the error of the statement. */
static int fail_statement(struct th_sql_cursor *cursor)
{
    sqlite3_vtab *table = cursor->base.pVtab;
    struct th_buffer text = {0};
    int status = SQLITE_ERROR;

    sqlite3_free(table->zErrMsg);
    for (size_t i = 0; th_error_link(i); i++)
        th_buffer_printf(&text, "%s%s", i ? ": " : "", th_error_link(i));
    if (text.size == 0)
        status = SQLITE_INTERRUPT;
    table->zErrMsg = text.size ? sqlite3_mprintf("%s", th_buffer_text(&text)) : NULL;
    th_buffer_free(&text);
    th_error_clear();
    return status;
}

/* Opens the next recording that the statement asks for. Errors: TH_END if there is none. */
static enum th_status next_recording(struct th_sql_cursor *cursor)
{
    enum th_status status;

    while (cursor->recording < cursor->options->count &&
           !th_sql_window_takes(&cursor->window, TH_SQL_ASKS_RECORDING,
                                th_small((int64_t)cursor->recording)))
        cursor->recording++;
    if (cursor->recording == cursor->options->count)
        return TH_END;
    status = th_sql_scan_open(cursor);
    if (status != TH_OK)
        return status;
    cursor->scan = cursor->window;
    if (cursor->table->begin)
        cursor->table->begin(cursor);
    th_sql_scan_select(cursor);
    return TH_OK;
}

/* Finds the row that waits: in the queue, also behind the last record. */
static bool find_waiting(struct th_sql_cursor *cursor)
{
    const struct th_sql_table *table = cursor->table;

    if (cursor->queued == cursor->queue.size) {
        cursor->queue.size = cursor->queued = 0;
        if (!cursor->over || !table->rest || !table->rest(cursor))
            return false;
    }
    cursor->row = cursor->queue.data + cursor->queued;
    return true;
}

static int next_row(sqlite3_vtab_cursor *base)
{
    struct th_sql_cursor *cursor = (struct th_sql_cursor *)base;
    enum th_status status;

    if (cursor->row)
        drop_row(cursor);
    cursor->row = NULL;
    for (;;) {
        if (cursor->reader && find_waiting(cursor))
            return SQLITE_OK;
        if (cursor->over) {
            end_recording(cursor);
            cursor->recording++;
            cursor->over = false;
        }
        status = cursor->reader ? TH_OK : next_recording(cursor);
        if (status == TH_END) {
            cursor->at_end = true;
            return SQLITE_OK;
        }
        status = status == TH_OK ? th_sql_scan_next(cursor) : status;
        cursor->over = status == TH_END;
        status = status == TH_OK ? cursor->table->take(cursor) : status;
        if (status == TH_MALFORMED && cursor->reader)
            th_error_clear();
        else if (status != TH_OK && status != TH_END)
            return fail_statement(cursor);
    }
}

static int begin_rows_of_plan(sqlite3_vtab_cursor *base, int unused, const char *plan, int argc,
                              sqlite3_value **argv)
{
    struct th_sql_cursor *cursor = (struct th_sql_cursor *)base;
    const char *pair = strchr(plan, ':') + 1;
    enum th_sql_asks asks;

    (void)unused;
    end_recording(cursor);
    th_sql_window_free(&cursor->window);
    cursor->used = strtoull(plan, NULL, 16);
    for (int i = 0; i < argc; i++, pair += 2) {
        asks = (enum th_sql_asks)(pair[0] - '0');
        if (asks_text(asks))
            take_texts(cursor, asks, pair[1], argv[i]);
        else
            take_number(&cursor->window.limits[asks], pair[1], argv[i]);
    }
    cursor->recording = 0;
    cursor->at_end = cursor->over = false;
    th_memory_refused = false;
    return next_row(base);
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return ((struct th_sql_cursor *)base)->at_end;
}

static int get_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct th_sql_cursor *cursor = (struct th_sql_cursor *)base;

    th_sql_cell(cursor, context, &cursor->table->columns[column]);
    return SQLITE_OK;
}

enum { RECORD_BITS = 44 }; /* of the number of a row */

static int get_number(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
    const struct th_sql_cursor *cursor = (struct th_sql_cursor *)base;

    *number = (sqlite3_int64)(cursor->recording << RECORD_BITS | *(const uint64_t *)cursor->row);
    return SQLITE_OK;
}

static const sqlite3_module module_functions = {.iVersion = 1,
                                                .xCreate = connect_table,
                                                .xConnect = connect_table,
                                                .xBestIndex = best_index,
                                                .xDisconnect = disconnect_table,
                                                .xDestroy = disconnect_table,
                                                .xOpen = open_cursor,
                                                .xClose = close_cursor,
                                                .xFilter = begin_rows_of_plan,
                                                .xNext = next_row,
                                                .xEof = at_end,
                                                .xColumn = get_column,
                                                .xRowid = get_number};

static const struct th_sql_table *const tables[] = {&th_sql_events,          &th_sql_calls,
                                                    &th_sql_messages,        &th_sql_processes,
                                                    &th_sql_functions_table, NULL};

const char *th_sql_table_name(size_t number)
{
    return tables[number] ? tables[number]->name : NULL;
}

int th_sql_register_modules(sqlite3 *db, const struct th_sql_options *options)
{
    int status = SQLITE_OK;

    for (size_t i = 0; tables[i] && status == SQLITE_OK; i++) {
        struct module *module = th_alloc_zero(sizeof *module);
        char *name = th_printf("tracehost_%s", tables[i]->name);
        module->table = tables[i];
        module->options = options;
        status = sqlite3_create_module_v2(db, name, &module_functions, module, th_free);
        th_free(name);
    }
    return status;
}
