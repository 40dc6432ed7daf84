/* Cells of rows. */
#include "table.h"

#include "host/term/text.h"

char *th_sql_text_of(struct th_sql_cursor *cursor, th_term t)
{
    cursor->text.size = 0;
    th_text_print(&cursor->text, t);
    return th_strdup(th_buffer_text(&cursor->text));
}

/* Gives the printed text. */
static void cell_printed(struct th_sql_cursor *cursor, sqlite3_context *context)
{
    sqlite3_result_text64(context, (const char *)cursor->text.data, cursor->text.size,
                          SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void cell_term(struct th_sql_cursor *cursor, sqlite3_context *context, th_term t)
{
    if (t == TH_NONE)
        return;
    cursor->text.size = 0;
    th_text_print(&cursor->text, t);
    cell_printed(cursor, context);
}

/* The name of an atom stays for ever. */
static void cell_name(struct th_sql_cursor *cursor, sqlite3_context *context, th_term atom)
{
    const struct th_atom_name *name;

    if (atom == TH_NONE)
        return;
    name = th_atom_name(atom);
    if (th_replay_flat_is_plain(atom))
        sqlite3_result_text(context, name->text, name->bytes, SQLITE_STATIC);
    else
        cell_term(cursor, context, atom);
}

static void cell_constant(sqlite3_context *context, const char *text)
{
    sqlite3_result_text(context, text, -1, SQLITE_STATIC);
}

static void cell_caller(struct th_sql_cursor *cursor, sqlite3_context *context,
                        const struct th_caller *caller)
{
    if (caller->kind == TH_CALLER_FUNCTION) {
        cursor->text.size = 0;
        th_trace_function_print(&cursor->text, &caller->function);
        cell_printed(cursor, context);
    } else if (caller->kind == TH_CALLER_UNDEFINED) {
        cell_constant(context, "undefined");
    }
}

static void cell_time(sqlite3_context *context, const struct th_event_time *time)
{
    if (time->kind != TH_TIME_NONE)
        sqlite3_result_int64(context, time->ns);
}

/* The names are those of tracehost-jsonl(5). */
static void cell_clock(sqlite3_context *context, const struct th_event_time *time)
{
    static const char *const names[] = {[TH_TIME_TIMESTAMP] = "timestamp",
                                        [TH_TIME_CPU] = "cpu_timestamp",
                                        [TH_TIME_MONOTONIC] = "monotonic",
                                        [TH_TIME_STRICT_MONOTONIC] = "strict_monotonic"};

    if (time->kind != TH_TIME_NONE)
        cell_constant(context, names[time->kind]);
}

static void cell_text(sqlite3_context *context, const char *text)
{
    if (text)
        sqlite3_result_text64(context, text, strlen(text), SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void cell_recording(struct th_sql_cursor *cursor, sqlite3_context *context)
{
    cell_text(context, cursor->options->recordings[cursor->recording]);
}

struct th_sql_tracee th_sql_tracee_of(struct th_sql_cursor *cursor, th_term tracee)
{
    if (tracee == TH_NONE || th_is_immediate(tracee))
        return (struct th_sql_tracee){.word = tracee};
    return (struct th_sql_tracee){.text = th_sql_text_of(cursor, tracee)};
}

void th_sql_cell_error(sqlite3_context *context)
{
    sqlite3_result_error(context, th_error_link(0), -1);
    th_error_clear();
}

void th_sql_cell(struct th_sql_cursor *cursor, sqlite3_context *context,
                 const struct th_sql_column *column)
{
    const void *at = (const char *)cursor->row + column->offset;
    const struct th_sql_term *term;
    const struct th_sql_tracee *tracee;

    switch (column->kind) {
    case TH_SQL_CELL_RECORDING:
        cell_recording(cursor, context);
        break;
    case TH_SQL_CELL_COUNT:
    case TH_SQL_CELL_NUMBER:
        if (*(const uint64_t *)at || column->kind == TH_SQL_CELL_COUNT)
            sqlite3_result_int64(context, *(const sqlite3_int64 *)at);
        break;
    case TH_SQL_CELL_DEPTH:
        if (*(const uint32_t *)at)
            sqlite3_result_int64(context, *(const uint32_t *)at);
        break;
    case TH_SQL_CELL_DURATION:
        if (*(const int64_t *)at >= 0)
            sqlite3_result_int64(context, *(const int64_t *)at);
        break;
    case TH_SQL_CELL_TIME:
        cell_time(context, at);
        break;
    case TH_SQL_CELL_CLOCK:
        cell_clock(context, at);
        break;
    case TH_SQL_CELL_TERM:
        term = at;
        if (term->number)
            sqlite3_result_int64(context, th_small_value(term->term));
        else
            cell_term(cursor, context, term->term);
        break;
    case TH_SQL_CELL_NAME:
        cell_name(cursor, context, ((const struct th_sql_term *)at)->term);
        break;
    case TH_SQL_CELL_TRACEE:
        tracee = at;
        cell_term(cursor, context, tracee->word);
        cell_text(context, tracee->text);
        break;
    case TH_SQL_CELL_MODULE:
        cell_name(cursor, context, ((const struct th_mfa *)at)->module);
        break;
    case TH_SQL_CELL_FUNCTION:
        if (((const struct th_mfa *)at)->module != TH_NONE)
            cell_name(cursor, context, ((const struct th_mfa *)at)->function);
        break;
    case TH_SQL_CELL_ARITY:
        if (((const struct th_mfa *)at)->module != TH_NONE)
            sqlite3_result_int64(context, ((const struct th_mfa *)at)->arity);
        break;
    case TH_SQL_CELL_CALLER:
        cell_caller(cursor, context, at);
        break;
    case TH_SQL_CELL_TEXT:
        cell_text(context, *(char *const *)at);
        break;
    case TH_SQL_CELL_CONSTANT:
        cell_constant(context, *(const char *const *)at);
        break;
    }
}

void th_sql_row_free(const struct th_sql_table *table, const void *row)
{
    for (size_t i = 0; i < table->count; i++) {
        const void *at = (const char *)row + table->columns[i].offset;
        if (table->columns[i].kind == TH_SQL_CELL_TEXT)
            th_free(*(char *const *)at);
        else if (table->columns[i].kind == TH_SQL_CELL_TRACEE)
            th_free(((const struct th_sql_tracee *)at)->text);
    }
}
