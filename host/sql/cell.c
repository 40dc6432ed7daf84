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

void th_sql_cell_term(struct th_sql_cursor *cursor, sqlite3_context *context, th_term t)
{
    if (t == TH_NONE)
        return;
    cursor->text.size = 0;
    th_text_print(&cursor->text, t);
    cell_printed(cursor, context);
}

/* The name of an atom stays for ever. */
void th_sql_cell_name(struct th_sql_cursor *cursor, sqlite3_context *context, th_term atom)
{
    const struct th_atom_name *name = th_atom_name(atom);

    if (th_replay_flat_is_plain(atom))
        sqlite3_result_text(context, name->text, name->bytes, SQLITE_STATIC);
    else
        th_sql_cell_term(cursor, context, atom);
}

void th_sql_cell_function(struct th_sql_cursor *cursor, sqlite3_context *context,
                          const struct th_mfa *function)
{
    cursor->text.size = 0;
    th_trace_function_print(&cursor->text, function);
    cell_printed(cursor, context);
}

void th_sql_cell_caller(struct th_sql_cursor *cursor, sqlite3_context *context,
                        const struct th_caller *caller)
{
    if (caller->kind == TH_CALLER_FUNCTION)
        th_sql_cell_function(cursor, context, &caller->function);
    else if (caller->kind == TH_CALLER_UNDEFINED)
        th_sql_cell_constant(context, "undefined");
}

void th_sql_cell_time(sqlite3_context *context, const struct th_event_time *time)
{
    if (time->kind != TH_TIME_NONE)
        sqlite3_result_int64(context, time->ns);
}

/* The names are those of tracehost-jsonl(5). */
void th_sql_cell_clock(sqlite3_context *context, const struct th_event_time *time)
{
    static const char *const names[] = {[TH_TIME_TIMESTAMP] = "timestamp",
                                        [TH_TIME_CPU] = "cpu_timestamp",
                                        [TH_TIME_MONOTONIC] = "monotonic",
                                        [TH_TIME_STRICT_MONOTONIC] = "strict_monotonic"};

    if (time->kind != TH_TIME_NONE)
        th_sql_cell_constant(context, names[time->kind]);
}

void th_sql_cell_text(sqlite3_context *context, const char *text)
{
    if (text)
        sqlite3_result_text64(context, text, strlen(text), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void th_sql_cell_constant(sqlite3_context *context, const char *text)
{
    sqlite3_result_text(context, text, -1, SQLITE_STATIC);
}

void th_sql_cell_recording(struct th_sql_cursor *cursor, sqlite3_context *context)
{
    th_sql_cell_text(context, cursor->options->recordings[cursor->recording]);
}

struct th_sql_tracee th_sql_tracee_of(struct th_sql_cursor *cursor, th_term tracee)
{
    if (tracee == TH_NONE || th_is_immediate(tracee))
        return (struct th_sql_tracee){.word = tracee};
    return (struct th_sql_tracee){.text = th_sql_text_of(cursor, tracee)};
}

void th_sql_cell_tracee(struct th_sql_cursor *cursor, sqlite3_context *context,
                        const struct th_sql_tracee *tracee)
{
    th_sql_cell_term(cursor, context, tracee->word);
    if (tracee->text)
        th_sql_cell_text(context, tracee->text);
}

bool th_sql_time_between(const struct th_event_time *from, const struct th_event_time *to,
                         int64_t *ns)
{
    return from->kind != TH_TIME_NONE && to->kind != TH_TIME_NONE &&
           th_trace_time_clock(from->kind) == th_trace_time_clock(to->kind) &&
           !__builtin_sub_overflow(to->ns, from->ns, ns) && *ns >= 0;
}

void th_sql_cell_error(sqlite3_context *context)
{
    sqlite3_result_error(context, th_error_link(0), -1);
    th_error_clear();
}
