/*
 * Tables: aligned text for people, JSON or CSV for programs.
 *
 *     {"functions":[
 *     {"calls":3,"errors":0,"function":"m:f/1"}
 *     ]}
 *
 * A document has tables, a table has rows, a row has one cell for each column. JSON is one object,
 * with a list for each table; CSV, quoted as in RFC 4180, can have one table. Times are in
 * nanoseconds there, and in microseconds in text.
 *
 * For one thread at a time; allocates no more than the current line.
 */
#ifndef TRACER_TABLE_H
#define TRACER_TABLE_H

#include "line.h"

#include <stdbool.h>
#include <stdint.h>

/* In the order of the words of settings: "table json csv". */
enum table_format { TABLE_TEXT, TABLE_JSON, TABLE_CSV };

enum column_kind {
    COLUMN_COUNT, /* cell: count */
    COLUMN_TIME,  /* count: time in nanoseconds */
    COLUMN_PART,  /* part: percent; in text only */
    COLUMN_NAME,  /* text; NULL: unknown */
    COLUMN_ABSENT /* column that this table lacks */
};

struct column {
    const char *name;    /* name in JSON and CSV */
    const char *heading; /* heading in text; NULL: not shown in text */
    enum column_kind kind;
    int width; /* width in text; of the last column 0 */
};

/* An unknown count or time. */
#define CELL_NONE UINT64_MAX

union cell {
    uint64_t count;
    double part;
    const char *text;
};

struct document {
    FILE *file;
    enum table_format format;
    bool fractions; /* text shows fractions of microseconds */
    unsigned tables;
};

struct table {
    struct document *document;
    const struct column *columns;
    size_t count; /* number of columns */
    size_t rows;  /* number of rows so far */
};

static inline void document_begin(struct document *document, FILE *file, enum table_format format)
{
    *document = (struct document){.file = file, .format = format};
    if (format == TABLE_JSON)
        fputc('{', file);
}

static inline void document_end(struct document *document)
{
    if (document->format == TABLE_JSON)
        fputs("}\n", document->file);
}

/* --- JSON and CSV --- */

static inline bool table_is_data(const struct column *column)
{
    return column->kind != COLUMN_PART && column->kind != COLUMN_ABSENT;
}

/* Returns the length in bytes of the UTF-8 character at TEXT; 0 if it is invalid. */
static inline int table_utf8(const unsigned char *text)
{
    int length = *text < 0x80 ? 1 : *text < 0xC2 ? 0 : *text < 0xE0 ? 2 : *text < 0xF0 ? 3 : 4;

    if (*text > 0xF4 || (*text == 0xE0 && text[1] < 0xA0) || (*text == 0xED && text[1] > 0x9F) ||
        (*text == 0xF0 && text[1] < 0x90) || (*text == 0xF4 && text[1] > 0x8F))
        return 0;
    for (int i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

/* Writes TEXT as a JSON string; bytes that are no UTF-8 count as Latin-1. */
static inline void table_json_text(FILE *file, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    int length;

    fputc('"', file);
    for (; *at; at += length ? length : 1) {
        length = table_utf8(at);
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20 || !length)
            fprintf(file, "\\u%04x", *at);
        else
            fwrite(at, 1, (size_t)length, file);
    }
    fputc('"', file);
}

static inline void table_csv_text(FILE *file, const char *text)
{
    bool quoted = strpbrk(text, "\",\r\n");

    if (quoted)
        fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    if (quoted)
        fputc('"', file);
}

static inline void table_json_row(struct table *table, const union cell *cells)
{
    FILE *file = table->document->file;
    const char *before = table->rows ? ",\n{" : "\n{";

    for (size_t i = 0; i < table->count; i++) {
        const struct column *column = &table->columns[i];
        if (!table_is_data(column))
            continue;
        fprintf(file, "%s\"%s\":", before, column->name);
        before = ",";
        if (column->kind == COLUMN_NAME ? !cells[i].text : cells[i].count == CELL_NONE)
            fputs("null", file);
        else if (column->kind == COLUMN_NAME)
            table_json_text(file, cells[i].text);
        else
            fprintf(file, "%llu", (unsigned long long)cells[i].count);
    }
    fputc('}', file);
}

static inline void table_csv_row(struct table *table, const union cell *cells)
{
    FILE *file = table->document->file;
    const char *before = "";

    for (size_t i = 0; i < table->count; i++) {
        if (!table_is_data(&table->columns[i]))
            continue;
        fputs(before, file);
        before = ",";
        if (table->columns[i].kind == COLUMN_NAME)
            table_csv_text(file, cells[i].text ? cells[i].text : "");
        else if (cells[i].count != CELL_NONE)
            fprintf(file, "%llu", (unsigned long long)cells[i].count);
    }
    fputc('\n', file);
}

/* --- Text --- */

static inline void table_text_cell(const struct table *table, struct line *line,
                                   const struct column *column, union cell cell)
{
    const char *space = line->used == 0 ? "" : column->kind == COLUMN_NAME ? "  " : " ";
    unsigned long long count = cell.count;
    int width = column->width;

    if (column->kind == COLUMN_NAME)
        line_add(line, "%s%-*s", space, width, cell.text);
    else if (column->kind == COLUMN_PART)
        line_add(line, "%s%*.2f", space, width, cell.part);
    else if (cell.count == CELL_NONE)
        line_add(line, "%s%*s", space, width, "-");
    else if (column->kind == COLUMN_COUNT)
        line_add(line, "%s%*llu", space, width, count);
    else if (table->document->fractions)
        line_add(line, "%s%*llu.%03llu", space, width - 4, count / 1000, count % 1000);
    else
        line_add(line, "%s%*llu", space, width, count / 1000);
}

/* Writes a row that only text has: sums, a note about omitted rows. */
static inline void table_text_row(struct table *table, const union cell *cells)
{
    struct line line;

    line_start(&line);
    for (size_t i = 0; i < table->count; i++)
        if (table->columns[i].heading)
            table_text_cell(table, &line, &table->columns[i], cells[i]);
    line_end(&line, table->document->file);
}

static inline void table_headings(struct table *table)
{
    struct line line;

    line_start(&line);
    for (size_t i = 0; i < table->count; i++) {
        const struct column *column = &table->columns[i];
        bool name = column->kind == COLUMN_NAME;
        if (column->heading)
            line_add(&line, "%s%*s",
                     line.used == 0 ? ""
                     : name         ? "  "
                                    : " ",
                     name ? -column->width : column->width, column->heading);
    }
    line_end(&line, table->document->file);
}

/* --- Tables --- */

/* Begins a table. NAME is the name of its rows in JSON. COLUMNS must stay valid as long as the
 * table. */
static inline void table_begin(struct table *table, struct document *document, const char *name,
                               const struct column *columns, size_t count)
{
    *table = (struct table){document, columns, count, 0};
    if (document->format == TABLE_JSON) {
        fprintf(document->file, "%s\"%s\":[", document->tables ? ",\n" : "", name);
    } else if (document->format == TABLE_TEXT) {
        if (document->tables)
            fputc('\n', document->file);
        table_headings(table);
    } else {
        for (size_t i = 0, n = 0; i < count; i++)
            if (table_is_data(&columns[i]))
                fprintf(document->file, "%s%s", n++ ? "," : "", columns[i].name);
        fputc('\n', document->file);
    }
    document->tables++;
}

static inline void table_row(struct table *table, const union cell *cells)
{
    if (table->document->format == TABLE_JSON)
        table_json_row(table, cells);
    else if (table->document->format == TABLE_CSV)
        table_csv_row(table, cells);
    else
        table_text_row(table, cells);
    table->rows++;
}

static inline void table_end(struct table *table)
{
    if (table->document->format == TABLE_JSON)
        fputs("\n]", table->document->file);
}

#endif
