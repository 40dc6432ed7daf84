#ifndef TIME_REPORT_H
#define TIME_REPORT_H

#include "../kit/table.h"
#include "../kit/figures.h"

/* Writes at most TOP rows of TABLE (0: all) to FILE, in FORMAT, those with the most own time first.
 * If rows are left out of text, a last row has their sum. An empty TABLE is not written as text. */
TRACER_LOCAL void report(FILE *file, struct figures_table *table, enum table_format format,
                         bool by_process, unsigned top);

#endif
