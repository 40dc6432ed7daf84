/* Texts that commands that trace print at their end. */
#ifndef TH_TRACE_SUMMARY_H
#define TH_TRACE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

struct th_tracing;

/* Prints the counts of patterns on stdout: for each session a table, or a line of JSON. IS_PART: there
 * are sessions in other processes. */
void th_cli_trace_results(const struct th_tracing *tracing, bool json, bool is_part);

/* Prints remarks on stderr for COMMAND: lost events, and answers of tracers that may be mistakes.
 * If COMMAND is NULL, prints the counts of all events (--stats), after the command's own rows,
 * which th_cli_trace_stats_row() prints. */
void th_cli_trace_summary(const char *command, const struct th_tracing *tracing);
void th_cli_trace_stats_row(uint64_t count, const char *what);

/* Prints on stderr, for COMMAND, that there are COUNT of WHAT, if COUNT is not 0. */
void th_cli_trace_report(const char *command, const char *what, uint64_t count);

/* Prints on stderr, for COMMAND, the patterns for which no function was loaded. */
void th_cli_trace_waiting(const char *command, const struct th_tracing *tracing);

#endif
