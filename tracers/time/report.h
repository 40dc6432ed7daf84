#ifndef TIME_REPORT_H
#define TIME_REPORT_H

#include "../kit/table.h"
#include "../kit/figures.h"

/* Writes all figures of TABLE to FILE, those with the most own time first; as text at most TOP,
 * unless TOP is 0. */
TRACER_LOCAL void report(FILE *file, struct figures_table *table, enum table_format format,
                         bool by_process, unsigned top);

#endif
