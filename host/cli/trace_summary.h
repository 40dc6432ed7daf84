/* What commands that trace say at their end. */
#ifndef TH_TRACE_SUMMARY_H
#define TH_TRACE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

struct th_tracing;

/* Shows what patterns have counted, on stdout: a table for each session, or a line of JSON. */
void th_cli_trace_results(const struct th_tracing *tracing, bool json);

/* Tells on stderr, for COMMAND, what deserves a word: losses, and answers of tracers that are
 * perhaps not meant. COMMAND NULL: what became of all events (--stats), behind rows of the
 * command's own. */
void th_cli_trace_summary(const char *command, const struct th_tracing *tracing);
void th_cli_trace_stats_row(uint64_t count, const char *what);

/* Tells on stderr, for COMMAND, that there are COUNT of WHAT, unless there are none. */
void th_cli_trace_report(const char *command, const char *what, uint64_t count);

/* Tells on stderr, for COMMAND, which patterns have waited in vain for functions to come. */
void th_cli_trace_waiting(const char *command, const struct th_tracing *tracing);

#endif
