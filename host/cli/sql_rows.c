#include "sql_rows.h"

#include "host/replay/flat_rows.h"
#include "host/term/json.h"
#include "host/term/utf8.h"

#include <string.h>

static const int64_t exact = INT64_C(1) << 53; /* greatest integer that all readers of JSON keep */

static void write_line(struct th_sql_rows *rows)
{
    if (rows->status == TH_OK)
        rows->status = th_output_write(rows->out, rows->line.data, rows->line.size);
    rows->line.size = 0;
}

/* Appends the text of CELL; bytes as hexadecimal digits. */
static void add_cell_text(struct th_buffer *out, const struct th_sql_cell *cell)
{
    if (cell->type == TH_SQL_BLOB)
        for (size_t i = 0; i < cell->size; i++)
            th_buffer_printf(out, "%02X", (unsigned char)cell->text[i]);
    else if (cell->type != TH_SQL_NULL)
        th_buffer_add(out, cell->text, cell->size);
}

static bool is_number(const struct th_sql_cell *cell)
{
    return cell->type == TH_SQL_INTEGER || cell->type == TH_SQL_REAL;
}

/* --- Tables ----------------------------------------------------------------------------------- */

/* Makes TEXT one line, of characters that no terminal obeys. */
static void make_harmless(struct th_buffer *text)
{
    char *bytes = (char *)text->data;
    uint32_t c;

    for (size_t i = 0, step; i < text->size; i += step) {
        step = th_utf8_get(bytes + i, text->size - i, &c);
        if (step > 0 && c >= 0x20 && (c < 0x7F || c >= 0xA0))
            continue;
        step = step ? step : 1;
        memset(bytes + i, '?', step);
    }
}

static size_t kept_width(const struct th_buffer *text)
{
    size_t width = 0;

    for (size_t i = 0; i < text->size; i++)
        width += (text->data[i] & 0xC0) != 0x80;
    return width < TH_SQL_WIDEST ? width : TH_SQL_WIDEST;
}

/* Writes a line of the table. A text that is longer than those of the first rows has its room. */
static void write_cells(struct th_sql_rows *rows, const struct th_sql_kept *cells)
{
    size_t last = rows->columns;

    while (last > 1 && cells[last - 1].text.size == 0)
        last--;
    for (size_t i = 0; i < last; i++) {
        size_t width = kept_width(&cells[i].text);
        if (i)
            th_buffer_add_text(&rows->line, "  ");
        th_replay_flat_table_cell(&rows->line, (const char *)cells[i].text.data, cells[i].text.size,
                                  width > rows->widths[i] ? width : rows->widths[i],
                                  cells[i].number, i + 1 < last);
    }
    th_buffer_add_byte(&rows->line, '\n');
    write_line(rows);
}

static void free_kept(struct th_sql_rows *rows)
{
    for (size_t i = 0; i < rows->kept_count; i++)
        th_buffer_free(&rows->kept[i].text);
    rows->kept_count = 0;
}

/* Writes the rows that were kept for the widths of the columns. The names stand as the cells below them. */
static void write_kept(struct th_sql_rows *rows)
{
    const size_t columns = rows->columns;

    if (!rows->kept_count)
        return;
    for (size_t i = 0; i < rows->kept_count; i++) {
        size_t width = kept_width(&rows->kept[i].text);
        if (width > rows->widths[i % columns])
            rows->widths[i % columns] = width;
        if (i >= columns && i < 2 * columns)
            rows->kept[i - columns].number = rows->kept[i].number;
    }
    for (size_t i = 0; i < rows->kept_count; i += columns)
        write_cells(rows, rows->kept + i);
    free_kept(rows);
}

/* Appends a cell to the kept ones. */
static void keep_cell(struct th_sql_rows *rows, const struct th_sql_cell *cell)
{
    struct th_sql_kept *kept;

    TH_ARRAY_GROW(rows->kept, rows->kept_count, rows->kept_capacity);
    kept = &rows->kept[rows->kept_count++];
    *kept = (struct th_sql_kept){.number = is_number(cell)};
    add_cell_text(&kept->text, cell);
    make_harmless(&kept->text);
}

static void take_table_row(struct th_sql_rows *rows, const struct th_sql_cell *cells)
{
    for (size_t i = 0; i < rows->columns; i++)
        keep_cell(rows, &cells[i]);
    if (rows->count > TH_SQL_FIRST_ROWS) {
        write_cells(rows, rows->kept);
        free_kept(rows);
    } else if (rows->count == TH_SQL_FIRST_ROWS) {
        write_kept(rows);
    }
}

/* --- CSV and JSON ----------------------------------------------------------------------------- */

static void add_sql_csv_cell(struct th_sql_rows *rows, const struct th_sql_cell *cell, bool more)
{
    struct th_buffer text = {0};

    add_cell_text(&text, cell);
    th_replay_flat_csv_cell(&rows->line, (const char *)text.data, text.size,
                            cell->type != TH_SQL_NULL);
    th_buffer_add_byte(&rows->line, more ? ',' : '\n');
    th_buffer_free(&text);
}

/* An integer that some readers would round is a string. */
static void add_sql_json_cell(struct th_sql_rows *rows, const struct th_buffer *name,
                              const struct th_sql_cell *cell)
{
    struct th_buffer text = {0};

    th_json_add_string(&rows->line, (const char *)name->data, name->size);
    th_buffer_add_byte(&rows->line, ':');
    add_cell_text(&text, cell);
    if (cell->type == TH_SQL_NULL || (cell->type == TH_SQL_REAL && strstr(cell->text, "Inf")))
        th_buffer_add_text(&rows->line, "null");
    else if (cell->type == TH_SQL_REAL ||
             (cell->type == TH_SQL_INTEGER && cell->integer <= exact && cell->integer >= -exact))
        th_buffer_add(&rows->line, text.data, text.size);
    else
        th_json_add_string(&rows->line, (const char *)text.data, text.size);
    th_buffer_free(&text);
}

static void write_json_row(struct th_sql_rows *rows, const struct th_sql_cell *cells)
{
    th_buffer_add_text(&rows->line, rows->count == 1 ? "[\n" : ",\n");
    for (size_t i = 0; i < rows->columns; i++) {
        th_buffer_add_byte(&rows->line, i ? ',' : '{');
        add_sql_json_cell(rows, &rows->names[i], &cells[i]);
    }
    th_buffer_add_byte(&rows->line, '}');
    write_line(rows);
}

/* --- The taker -------------------------------------------------------------------------------- */

static void end_statement(struct th_sql_rows *rows, bool failed)
{
    const bool shown = rows->begun && (!failed || rows->count > 0);

    if (shown && rows->format == TH_SQL_TABLE)
        write_kept(rows);
    if (shown && rows->format == TH_SQL_JSON)
        th_buffer_add_text(&rows->line, rows->count ? "\n]\n" : "[]\n");
    if (shown)
        write_line(rows);
    rows->line.size = 0;
    free_kept(rows);
    for (size_t i = 0; i < rows->columns; i++)
        th_buffer_free(&rows->names[i]);
    th_free(rows->names);
    th_free(rows->widths);
    rows->names = NULL;
    rows->widths = NULL;
    rows->columns = 0;
    rows->count = 0;
    rows->begun = false;
}

static bool take_column_names(void *context, const char *const *names, size_t count)
{
    struct th_sql_rows *rows = context;

    end_statement(rows, false);
    if (count == 0)
        return true;
    rows->begun = true;
    rows->columns = count;
    rows->names = th_alloc_zero(count * sizeof *rows->names);
    rows->widths = th_alloc_zero(count * sizeof *rows->widths);
    for (size_t i = 0; i < count; i++) {
        const struct th_sql_cell cell = {
            .type = TH_SQL_TEXT, .text = names[i], .size = strlen(names[i])};
        add_cell_text(&rows->names[i], &cell);
        if (rows->format == TH_SQL_TABLE)
            keep_cell(rows, &cell);
        else if (rows->format == TH_SQL_CSV)
            add_sql_csv_cell(rows, &cell, i + 1 < count);
    }
    return rows->status == TH_OK;
}

static bool take_row(void *context, const struct th_sql_cell *cells, size_t count)
{
    struct th_sql_rows *rows = context;

    rows->count++;
    if (rows->format == TH_SQL_TABLE) {
        take_table_row(rows, cells);
    } else if (rows->format == TH_SQL_JSON) {
        write_json_row(rows, cells);
    } else {
        for (size_t i = 0; i < count; i++)
            add_sql_csv_cell(rows, &cells[i], i + 1 < count);
        write_line(rows);
    }
    return rows->status == TH_OK;
}

struct th_sql_taker th_cli_sql_rows_taker(struct th_sql_rows *rows)
{
    return (struct th_sql_taker){take_column_names, take_row, rows};
}

enum th_status th_cli_sql_rows_end(struct th_sql_rows *rows, bool failed)
{
    end_statement(rows, failed);
    th_free(rows->kept);
    rows->kept = NULL;
    rows->kept_capacity = 0;
    th_buffer_free(&rows->line);
    return rows->status;
}
