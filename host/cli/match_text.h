/* How a match specification came out, as text and as JSON. */
#ifndef TH_CLI_MATCH_REPORT_H
#define TH_CLI_MATCH_REPORT_H

#include "host/trace/trace.h"

/* On stdout. */
void th_cli_match_report_text(const struct th_match_report *report);
void th_cli_match_report_json(const struct th_match_report *report);

/* The faults of a specification: {error,[{error,Text},...]} or {"errors": [...]}. */
void th_cli_match_report_faults_text(const struct th_match_faults *faults);
void th_cli_match_report_faults_json(const struct th_match_faults *faults);

#endif
