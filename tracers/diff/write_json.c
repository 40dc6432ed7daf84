/* Writes the comparison as JSON: one object with lists of rows, as table.h writes them. */
#include "write.h"

#include <inttypes.h>
#include <string.h>

static void write_summary(struct document *document, const struct comparison *comparison)
{
    static const struct column columns[] = {
        {"calls_before", NULL, COLUMN_COUNT, 0},
        {"calls_after", NULL, COLUMN_COUNT, 0},
        {"processes_matched", NULL, COLUMN_COUNT, 0},
        {"processes_before", NULL, COLUMN_COUNT, 0},
        {"processes_after", NULL, COLUMN_COUNT, 0},
        {"dropped", NULL, COLUMN_COUNT, 0},
        {"new", NULL, COLUMN_COUNT, 0},
        {"arguments", NULL, COLUMN_COUNT, 0},
        {"result", NULL, COLUMN_COUNT, 0},
        {"exception", NULL, COLUMN_COUNT, 0},
        {"order", NULL, COLUMN_COUNT, 0},
        {"undecided", NULL, COLUMN_COUNT, 0},
    };
    const uint64_t *counts = comparison->counts;
    const union cell cells[] = {
        {comparison->sides[0].side->calls_used},
        {comparison->sides[1].side->calls_used},
        {comparison->matched},
        {comparison->unmatched[0]},
        {comparison->unmatched[1]},
        {counts[KIND_DROPPED]},
        {counts[KIND_NEW]},
        {counts[KIND_ARGUMENTS]},
        {counts[KIND_RESULT]},
        {counts[KIND_EXCEPTION]},
        {counts[KIND_ORDER]},
        {comparison->undecided},
    };
    struct table table;

    table_begin(&table, document, "summary", columns, sizeof columns / sizeof columns[0]);
    table_row(&table, cells);
    table_end(&table);
}

/* Starts LINE with the callers of CALL, the outermost first, a semicolon between two. */
static void start_path(struct line *line, const struct comparison *comparison,
                       const struct difference *difference)
{
    const struct side *side = comparison->sides[!difference->before].side;
    uint32_t call = difference->before ? difference->before : difference->after, callers[12];
    size_t count = 0;

    line_start(line);
    for (call = side->calls[call - 1].parent; call && !comparison->flat && count < 12; count++) {
        callers[count] = call;
        call = side->calls[call - 1].parent;
    }
    while (count-- > 0) {
        add_call_text(line, side, callers[count]);
        line_add(line, "%s", count ? ";" : "");
    }
}

enum { CELL_KIND, CELL_CALLERS, CELL_PROCESS, CELL_CALL = 4, CELL_OUTCOME = 6, CELLS = 8 };

static void write_row(struct table *table, const struct comparison *comparison,
                      const struct difference *difference)
{
    const uint32_t calls[2] = {difference->before, difference->after};
    struct line path, texts[2], outcomes[2];
    union cell cells[CELLS];

    start_path(&path, comparison, difference);
    cells[CELL_KIND].text = kind_names[difference->kind];
    cells[CELL_CALLERS].text = path.text;
    for (size_t i = 0; i < 2; i++) {
        line_start(&texts[i]);
        line_start(&outcomes[i]);
        if (calls[i]) {
            add_call_text(&texts[i], comparison->sides[i].side, calls[i]);
            add_outcome(&outcomes[i], comparison->sides[i].side, calls[i]);
        }
        cells[CELL_PROCESS + i].text = process_of(comparison, difference, i);
        cells[CELL_CALL + i].text = calls[i] ? texts[i].text : NULL;
        cells[CELL_OUTCOME + i].text = calls[i] ? outcomes[i].text : NULL;
    }
    table_row(table, cells);
    line_drop(&path);
    for (size_t i = 0; i < 2; i++) {
        line_drop(&texts[i]);
        line_drop(&outcomes[i]);
    }
}

static void write_rows(struct document *document, const struct comparison *comparison)
{
    static const struct column columns[CELLS] = {
        {"kind", NULL, COLUMN_NAME, 0},           {"callers", NULL, COLUMN_NAME, 0},
        {"process_before", NULL, COLUMN_NAME, 0}, {"process_after", NULL, COLUMN_NAME, 0},
        {"before", NULL, COLUMN_NAME, 0},         {"after", NULL, COLUMN_NAME, 0},
        {"outcome_before", NULL, COLUMN_NAME, 0}, {"outcome_after", NULL, COLUMN_NAME, 0},
    };
    struct table table;

    table_begin(&table, document, "differences", columns, CELLS);
    for (size_t i = 0; i < comparison->shown_used; i++)
        write_row(&table, comparison, &comparison->shown[i]);
    table_end(&table);
}

static void write_processes(struct document *document, const struct comparison *comparison)
{
    static const struct column columns[] = {{"side", NULL, COLUMN_NAME, 0},
                                            {"process", NULL, COLUMN_NAME, 0},
                                            {"calls", NULL, COLUMN_COUNT, 0}};
    struct table table;

    table_begin(&table, document, "unmatched", columns, 3);
    for (size_t i = 0; i < 2; i++) {
        const struct woods *woods = &comparison->sides[i];
        for (size_t k = 0; k < woods->side->parties_used; k++) {
            const struct party *party = &woods->side->parties[k];
            const union cell cells[] = {{.text = i ? "after" : "before"},
                                        {.text = text_at(woods->side, party->label)},
                                        {.count = party->calls}};
            if (party->calls && !woods->partner[k])
                table_row(&table, cells);
        }
    }
    table_end(&table);
}

/* Writes the functions whose slowest calls differ much. */
static void write_slowest_rows(struct document *document, const struct comparison *comparison)
{
    static const struct column columns[] = {
        {"function", NULL, COLUMN_NAME, 0},     {"own_before_ns", NULL, COLUMN_TIME, 0},
        {"own_after_ns", NULL, COLUMN_TIME, 0}, {"before", NULL, COLUMN_NAME, 0},
        {"after", NULL, COLUMN_NAME, 0},
    };
    struct table table;

    table_begin(&table, document, "slowest", columns, 5);
    for (size_t i = 0; i < comparison->functions_used; i++) {
        const struct compared *compared = &comparison->functions[i];
        union cell cells[5] = {{.text = compared->name}};
        struct line calls[2];
        if (!slowest_differ(comparison, compared))
            continue;
        for (size_t k = 0; k < 2; k++) {
            const struct side *side = comparison->sides[k].side;
            cells[1 + k].count = side->calls[compared->slowest[k] - 1].own;
            line_start(&calls[k]);
            add_call_text(&calls[k], side, compared->slowest[k]);
            cells[3 + k].text = calls[k].text;
        }
        table_row(&table, cells);
        line_drop(&calls[0]);
        line_drop(&calls[1]);
    }
    table_end(&table);
}

static void write_losses(struct document *document, const struct comparison *comparison)
{
    static const struct column columns[] = {{"side", NULL, COLUMN_NAME, 0},
                                            {"what", NULL, COLUMN_NAME, 0},
                                            {"count", NULL, COLUMN_COUNT, 0}};
    struct table table;

    table_begin(&table, document, "lost", columns, 3);
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < LOSSES; k++) {
            const union cell cells[] = {{.text = i ? "after" : "before"},
                                        {.text = loss_names[k]},
                                        {.count = comparison->sides[i].side->lost[k]}};
            if (cells[2].count)
                table_row(&table, cells);
        }
    table_end(&table);
}

void write_json(FILE *file, const struct comparison *comparison)
{
    struct document document;

    document_begin(&document, file, TABLE_JSON);
    write_summary(&document, comparison);
    write_rows(&document, comparison);
    write_processes(&document, comparison);
    write_functions(&document, comparison, false, SIZE_MAX);
    write_slowest_rows(&document, comparison);
    write_losses(&document, comparison);
    document_end(&document);
}
