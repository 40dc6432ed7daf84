/* Prints the table at the end. */
#include "report.h"

/* Columns, in the order of the cells. */
enum {
    CALLS,
    ERRORS,
    OPEN,
    UNTOLD,
    TOTAL,
    ON,
    OFF,
    UNKNOWN,
    OWN,
    OWN_ON,
    OWN_OFF,
    PART,
    P50,
    P90,
    P99,
    MAX,
    PROCESS,
    LABEL,
    NAME,
    COLUMNS
};

static const struct column all_columns[COLUMNS] = {
    [CALLS] = {"calls", "calls", COLUMN_COUNT, 10},
    [ERRORS] = {"errors", "errors", COLUMN_COUNT, 8},
    [OPEN] = {"open", "open", COLUMN_COUNT, 8},
    [UNTOLD] = {"untold", "untold", COLUMN_COUNT, 8},
    [TOTAL] = {"total_ns", "total us", COLUMN_TIME, 12},
    [ON] = {"on_ns", "on us", COLUMN_TIME, 12},
    [OFF] = {"off_ns", "off us", COLUMN_TIME, 12},
    [UNKNOWN] = {"unknown_ns", "unknown us", COLUMN_TIME, 12},
    [OWN] = {"own_ns", "own us", COLUMN_TIME, 12},
    [OWN_ON] = {"own_on_ns", "own on us", COLUMN_TIME, 12},
    [OWN_OFF] = {"own_off_ns", NULL, COLUMN_TIME, 0},
    [PART] = {"", "%", COLUMN_PART, 6},
    [P50] = {"p50_ns", "p50 us", COLUMN_TIME, 9},
    [P90] = {"p90_ns", "p90 us", COLUMN_TIME, 9},
    [P99] = {"p99_ns", "p99 us", COLUMN_TIME, 9},
    [MAX] = {"max_ns", "max us", COLUMN_TIME, 9},
    [PROCESS] = {"process", "process", COLUMN_NAME, 10},
    [LABEL] = {"name", NULL, COLUMN_NAME, 0},
    [NAME] = {"function", "function", COLUMN_NAME, 0},
};

static uint64_t open(const struct figures *figures)
{
    return figures->calls - figures->ended - figures->untold;
}

/* Sums the figures, except percentiles and total times: totals include those of callees. */
static void fill_sum(union cell cells[COLUMNS], struct figures *const *figures, size_t count,
                     uint64_t own)
{
    struct spent spent = {0};
    uint64_t part = 0, timed = 0;

    for (size_t i = 0; i < COLUMNS; i++)
        cells[i].count = i >= TOTAL ? CELL_NONE : 0;
    for (size_t i = 0; i < count; i++) {
        cells[CALLS].count += figures[i]->calls;
        cells[ERRORS].count += figures[i]->errors;
        cells[OPEN].count += open(figures[i]);
        cells[UNTOLD].count += figures[i]->untold;
        part += figures[i]->own;
        schedule_add(&spent, figures[i]->own_spent);
        timed += figures[i]->times.count;
    }
    if (timed) {
        cells[OWN].count = part;
        cells[OWN_ON].count = spent.on;
        cells[OWN_OFF].count = spent.off;
    }
    cells[PART].part = own ? 100.0 * (double)part / (double)own : 0.0;
}

static void fill_times(union cell cells[COLUMNS], const struct figures *figures)
{
    const struct histogram *times = &figures->times;

    if (!times->count)
        return;
    cells[TOTAL].count = figures->total;
    cells[ON].count = figures->spent.on;
    cells[OFF].count = figures->spent.off;
    cells[UNKNOWN].count = figures->total - figures->spent.on - figures->spent.off;
    cells[P50].count = histogram_percentile(times, 50);
    cells[P90].count = histogram_percentile(times, 90);
    cells[P99].count = histogram_percentile(times, 99);
    cells[MAX].count = times->max;
}

/* Starts the three lines with the names of FIGURES; returns the text of LABEL, NULL if there is none.
 * LABELS NULL: the figures are of no process. */
static const char *start_names(const struct figures *figures, const struct tracees *labels,
                               enum table_format format, struct line *name, struct line *process,
                               struct line *label)
{
    line_start(name);
    line_start(process);
    line_start(label);
    name->for_people = process->for_people = format == TABLE_TEXT;
    name->for_programs = process->for_programs = format != TABLE_TEXT;
    line_add_function(name, figures->module, figures->function, figures->arity);
    return labels ? labels_add(process, label, labels, figures->process) : NULL;
}

static void print_row(struct table *table, struct figures *figures, const struct tracees *labels,
                      uint64_t own)
{
    struct line name, process, label;
    union cell cells[COLUMNS];

    fill_sum(cells, &figures, 1, own);
    fill_times(cells, figures);
    cells[LABEL].text =
        start_names(figures, labels, table->document->format, &name, &process, &label);
    cells[PROCESS].text = process.text;
    cells[NAME].text = name.text;
    table_row(table, cells);
    line_drop(&name);
    line_drop(&process);
    line_drop(&label);
}

static void print_rest(struct table *table, struct figures *const *figures, size_t count,
                       uint64_t own)
{
    union cell cells[COLUMNS];
    struct line name;

    line_start(&name);
    line_add(&name, "%lu more", (unsigned long)count);
    fill_sum(cells, figures, count, own);
    cells[PROCESS].text = "";
    cells[NAME].text = name.text;
    table_text_row(table, cells);
    line_drop(&name);
}

/* Returns whether it is unknown of some time in TABLE whether it was on a scheduler. */
static bool has_unknown_times(const struct figures_table *table)
{
    for (size_t i = 0; i < table->used; i++)
        if (table->slots[i]->total != table->slots[i]->spent.on + table->slots[i]->spent.off)
            return true;
    return false;
}

/* Omits columns of zeros, those of processes, and without events about schedulers those of them. */
static void choose(struct column columns[COLUMNS], const union cell sums[COLUMNS], bool by_process,
                   bool running, const struct figures_table *table)
{
    static const size_t of_schedulers[] = {ON, OFF, UNKNOWN, OWN_ON, OWN_OFF};

    memcpy(columns, all_columns, sizeof all_columns);
    for (size_t i = ERRORS; i <= UNTOLD; i++)
        if (!sums[i].count)
            columns[i].heading = NULL;
    if (!has_unknown_times(table))
        columns[UNKNOWN].heading = NULL;
    for (size_t i = 0; !running && i < sizeof of_schedulers / sizeof *of_schedulers; i++)
        columns[of_schedulers[i]] = (struct column){.kind = COLUMN_ABSENT};
    if (!by_process)
        columns[PROCESS] = columns[LABEL] = (struct column){.kind = COLUMN_ABSENT};
}

/* Returns the width of the column of processes. */
static int width_of_processes(struct figures *const *figures, size_t count,
                              const struct tracees *labels)
{
    int width = all_columns[PROCESS].width;
    struct line process, label;

    for (size_t i = 0; i < count && labels->used; i++) {
        line_start(&process);
        labels_add(&process, &label, labels, figures[i]->process);
        width = (int)process.used > width ? (int)process.used : width;
        line_drop(&process);
        line_drop(&label);
    }
    return width;
}

static bool has_fractions(const struct figures_table *table)
{
    for (size_t i = 0; i < table->used; i++)
        if (table->slots[i]->total % 1000 || table->slots[i]->own % 1000 ||
            table->slots[i]->times.max % 1000)
            return true;
    return false;
}

void report(FILE *file, struct figures_table *table, enum table_format format,
            const struct tracees *labels, bool running, unsigned top)
{
    size_t shown = top && top < table->used ? top : table->used;
    struct column columns[COLUMNS];
    struct document document;
    union cell sums[COLUMNS];
    struct table printed;

    if (!table->used && format == TABLE_TEXT)
        return;
    figures_sort(table);
    fill_sum(sums, table->slots, table->used, 0);
    choose(columns, sums, labels != NULL, running, table);
    if (labels)
        columns[PROCESS].width = width_of_processes(table->slots, shown, labels);
    document_begin(&document, file, format);
    document.fractions = has_fractions(table);
    table_begin(&printed, &document, "functions", columns, COLUMNS);
    for (size_t i = 0; i < shown; i++)
        print_row(&printed, table->slots[i], labels, sums[OWN].count);
    table_end(&printed);
    if (format == TABLE_TEXT && shown < table->used)
        print_rest(&printed, table->slots + shown, table->used - shown, sums[OWN].count);
    document_end(&document);
}
