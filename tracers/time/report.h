#ifndef TIME_REPORT_H
#define TIME_REPORT_H

#include "../kit/table.h"
#include "../kit/figures.h"
#include "../kit/labels.h"

/* Writes at most TOP rows of TABLE (0: all) to FILE, in FORMAT, those with the most own time first.
 * If rows are left out of text, a last row has their sum. An empty TABLE is not written as text.
 * LABELS: of the processes, for figures by process; else NULL. RUNNING: there were events about
 * schedulers. */
TRACER_LOCAL void report(FILE *file, struct figures_table *table, enum table_format format,
                         const struct tracees *labels, bool running, unsigned top);

#endif
