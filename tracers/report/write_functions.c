/* Writes the figures of functions. */
#include "page.h"

static void write_row(struct writing *writing, long name, const struct figures *figures)
{
    const struct histogram *times = &figures->times;
    FILE *file = writing->file;
    bool known = times->count > 0;

    fprintf(file, "[%ld,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", name, figures->calls,
            figures->errors, figures->calls - figures->ended - figures->untold, figures->untold);
    write_count(file, figures->total, known && name >= 0);
    fputc(',', file);
    write_count(file, figures->own, known);
    for (unsigned i = 0; i < 3; i++) {
        static const unsigned percents[] = {50, 90, 99};
        fputc(',', file);
        write_count(file, known ? histogram_percentile(times, percents[i]) : 0, known);
    }
    fputc(',', file);
    write_count(file, times->max, known);
    if (writing->report->scheduling) {
        fputc(',', file);
        write_count(file, figures->spent.on, known && name >= 0);
        fputc(',', file);
        write_count(file, figures->spent.off, known && name >= 0);
        fputc(',', file);
        write_count(file, figures->own_spent.on, known);
    }
    fputc(']', file);
}

/* Total times cannot be added, as they contain those of callees. */
static void add_to_rest(struct figures *rest, struct figures *figures)
{
    rest->calls += figures->calls;
    rest->errors += figures->errors;
    rest->ended += figures->ended;
    rest->untold += figures->untold;
    rest->own += figures->own;
    rest->own_spent.on += figures->own_spent.on;
    histogram_move(&rest->times, &figures->times);
}

void write_functions(struct writing *writing)
{
    struct figures_table *table = &writing->report->functions;
    struct figures **rows = table->slots;
    size_t used = table->used;

    figures_sort(table);
    fputc('[', writing->file);
    for (size_t i = 0; i < used; i++) {
        if (i >= FUNCTIONS_SHOWN) {
            add_to_rest(&table->rest, rows[i]);
            continue;
        }
        fputs(i ? ",\n" : "\n", writing->file);
        write_row(writing,
                  name_number(&writing->names, &(struct count){.module = rows[i]->module,
                                                               .function = rows[i]->function,
                                                               .arity = rows[i]->arity}),
                  rows[i]);
    }
    if (used > FUNCTIONS_SHOWN || table->rest.calls) {
        fputs(",\n", writing->file);
        write_row(writing, -1, &table->rest);
    }
    fputc(']', writing->file);
}
