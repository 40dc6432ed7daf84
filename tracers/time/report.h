#ifndef TIME_REPORT_H
#define TIME_REPORT_H

#include "../kit/table.h"
#include "../kit/figures.h"

/* Writes all figures of TABLE to FILE, those that took most time of their own first; as text no
 * more than TOP, unless that is 0. */
TRACER_LOCAL void report(FILE *file, struct figures_table *table, enum table_format format,
                         bool by_process, unsigned top);

#endif
